#include "katana/wire/nats/writer.hpp"

#include <charconv>
#include <cstring>

namespace katana::nats {
namespace {

char* put(char* to, Bytes text) noexcept {
  if (!text.empty()) std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

char* put_word(char* to, Bytes text) noexcept {
  if (text.empty()) return to;
  to = put(to, text);
  *to = ' ';
  return to + 1;
}

}  // namespace

char* write_number(char* to, std::uint64_t number) noexcept {
  return std::to_chars(to, to + number_bytes_max, number).ptr;
}

char* write_publish(char* to, Bytes subject, Bytes reply_to, std::size_t header_size,
                    std::size_t size) noexcept {
  to = put(to, header_size != 0 ? Bytes("HPUB ") : Bytes("PUB "));
  to = put_word(put_word(to, subject), reply_to);
  if (header_size != 0) {
    to = write_number(to, header_size);
    *to++ = ' ';
  }
  return put(write_number(to, size), line_end);
}

char* write_subscribe(char* to, Bytes subject, Bytes group, std::uint64_t subscription) noexcept {
  to = put_word(put_word(put(to, "SUB "), subject), group);
  return put(write_number(to, subscription), line_end);
}

char* write_unsubscribe(char* to, std::uint64_t subscription) noexcept {
  return put(write_number(put(to, "UNSUB "), subscription), line_end);
}

}  // namespace katana::nats

// SPDX-License-Identifier: Apache-2.0
