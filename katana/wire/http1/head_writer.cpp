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

// Most types are "text/plain" or the like, and a call of memcmp would cost more than they do.
inline bool are_equal(const char* one, const char* other, std::size_t size) noexcept {
  if (size < 8 || size > 16) return Bytes(one, size) == Bytes(other, size);
  const auto differ = [&](std::size_t at) {
    std::uint64_t left, right;
    std::memcpy(&left, one + at, 8);
    std::memcpy(&right, other + at, 8);
    return left ^ right;
  };
  return (differ(0) | differ(size - 8)) == 0;
}

inline bool has_fields(const http::ReplyHead& head) noexcept {
  return (head.fields.size() | head.more_fields.size()) != 0;
}

}  // namespace

// The type is compared by its bytes: the same address may hold another type by now.
inline bool HeadWriter::opens_alike(const http::ReplyHead& head) const noexcept {
  return opening_size_ != 0 && opening_status_ == head.status &&
         opening_type_size_ == head.content_type.size() &&
         are_equal(opening_type_.data(), head.content_type.data(), opening_type_size_);
}

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
  const bool ordinary =
      length == Length::content_length && !has_fields(head) && persistence == Persistence::implied;
  if (ordinary && kept_size_ != 0 && content_length == kept_length_ && opens_alike(head))
      [[likely]] {
    // All of it, whatever the size: a copy of constant length is a few wide moves, and there is
    // room.
    std::memcpy(to, kept_.data(), kept_capacity);
    return to + kept_size_;
  }
  return write_anew(to, head, length, content_length, persistence);
}

char* HeadWriter::write_anew(char* to, const http::ReplyHead& head, Length length,
                             std::uint64_t content_length, Persistence persistence) noexcept {
  if (opens_alike(head)) {
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
