#include "katana/wire/http1/head_writer.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "katana/wire/http/status.hpp"

namespace katana::http1 {
namespace {

inline char* put(char* to, Bytes text) noexcept {
  if (!text.empty()) std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

template <std::size_t bytes>
inline char* put_literal(char* to, const char (&text)[bytes]) noexcept {
  std::memcpy(to, text, bytes - 1);
  return to + bytes - 1;
}

inline char* put_number(char* to, std::uint64_t value) noexcept {
  return std::to_chars(to, to + 20, value).ptr;
}

char* put_status_line(char* to, unsigned status) noexcept {
  if (const Bytes line = http::status_line(status); !line.empty()) return put(to, line);
  to = put_number(put_literal(to, "HTTP/1.1 "), status);
  return put_literal(to, " \r\n");
}

}  // namespace

char* HeadWriter::write_opening(char* to, const http::ReplyHead& head) noexcept {
  char* const begin = to;
  to = put_status_line(to, head.status);
  to = put(to, server_and_date_);
  if (!head.content_type.empty()) {
    to = put_literal(to, "Content-Type: ");
    to = put(to, head.content_type);
    to = put_literal(to, "\r\n");
  }
  const auto size = static_cast<std::size_t>(to - begin);
  forget();
  if (size <= kept_capacity && head.content_type.size() <= type_capacity) {
    std::memcpy(kept_.data(), begin, size);
    put(opening_type_.data(), head.content_type);
    opening_size_ = static_cast<std::uint16_t>(size);
    opening_status_ = static_cast<std::uint16_t>(head.status);
    opening_type_size_ = static_cast<std::uint16_t>(head.content_type.size());
  }
  return to;
}

void HeadWriter::keep_rest(Bytes rest, std::uint64_t content_length) noexcept {
  if (opening_size_ == 0 || opening_size_ + rest.size() > kept_capacity) return;
  put(kept_.data() + opening_size_, rest);
  kept_size_ = static_cast<std::uint16_t>(opening_size_ + rest.size());
  kept_length_ = content_length;
}

char* HeadWriter::write(char* to, const http::ReplyHead& head, Length length,
                        std::uint64_t content_length, Persistence persistence) noexcept {
  const bool ordinary = length == Length::content_length && persistence == Persistence::implied;
  if (ordinary && keeps(head, content_length)) return put_kept(to);
  return write_anew(to, head, length, content_length, persistence);
}

char* HeadWriter::write_anew(char* to, const http::ReplyHead& head, Length length,
                             std::uint64_t content_length, Persistence persistence) noexcept {
  if (opening_size_ != 0 && is_opening_of(head)) {
    std::memcpy(to, kept_.data(), kept_capacity);
    to += opening_size_;
  } else {
    to = write_opening(to, head);
  }
  char* const rest = to;
  if (length == Length::content_length) {
    to = put_literal(to, "Content-Length: ");
    to = put_number(to, content_length);
    to = put_literal(to, "\r\n");
  } else if (length == Length::chunked) {
    to = put_literal(to, "Transfer-Encoding: chunked\r\n");
  }
  to = put(to, head.fields);
  to = put(to, head.more_fields);
  if (persistence == Persistence::close) to = put_literal(to, "Connection: close\r\n");
  if (persistence == Persistence::keep_alive) to = put_literal(to, "Connection: keep-alive\r\n");
  to = put_literal(to, "\r\n");
  if (length == Length::content_length && !has_fields(head) &&
      persistence == Persistence::implied) {
    keep_rest({rest, static_cast<std::size_t>(to - rest)}, content_length);
  }
  return to;
}

}  // namespace katana::http1

// SPDX-License-Identifier: Apache-2.0
