#include "katana/wire/http2/head_writer.hpp"

#include <cstring>

namespace katana::http2 {
namespace {

char* put_status(char* to, unsigned status) noexcept {
  // RFC 7541 Appendix A, 8 to 14.
  constexpr std::array<unsigned, 7> indexed = {200, 204, 206, 304, 400, 404, 500};
  for (unsigned index = 0; index < indexed.size(); ++index) {
    if (indexed[index] == status) return put_indexed(to, 8 + index);
  }
  const std::array<char, 3> digits = {static_cast<char>('0' + status / 100),
                                      static_cast<char>('0' + status / 10 % 10),
                                      static_cast<char>('0' + status % 10)};
  return put_field(to, StaticName::status, {digits.data(), digits.size()});
}

}  // namespace

// The type is compared by its bytes: the same address may hold another type by now.
bool HeadWriter::is_alike(const http::ReplyHead& head, std::int64_t content_length) const noexcept {
  return kept_size_ != 0 && kept_status_ == head.status && kept_length_ == content_length &&
         (head.fields.size() | head.more_fields.size()) == 0 &&
         Bytes(kept_type_.data(), kept_type_size_) == head.content_type;
}

char* HeadWriter::write(char* to, const http::ReplyHead& head,
                        std::int64_t content_length) noexcept {
  if (is_alike(head, content_length)) [[likely]] {
    // All of it, whatever the size: a copy of constant length is a few wide moves.
    std::memcpy(to, kept_.data(), kept_capacity);
    return to + kept_size_;
  }
  return write_anew(to, head, content_length);
}

char* HeadWriter::write_anew(char* to, const http::ReplyHead& head,
                             std::int64_t content_length) noexcept {
  char* const begin = to;
  to = put_status(to, head.status);
  if (!server_and_date_.empty()) {
    std::memcpy(to, server_and_date_.data(), server_and_date_.size());
    to += server_and_date_.size();
  }
  if (!head.content_type.empty()) to = put_field(to, StaticName::content_type, head.content_type);
  if (content_length >= 0) to = put_content_length(to, content_length);
  to = put_lines(put_lines(to, head.fields), head.more_fields);
  const auto size = static_cast<std::size_t>(to - begin);
  const bool has_fields = (head.fields.size() | head.more_fields.size()) != 0;
  if (!has_fields && size <= kept_capacity && head.content_type.size() <= type_capacity) {
    std::memcpy(kept_.data(), begin, size);
    if (!head.content_type.empty()) {
      std::memcpy(kept_type_.data(), head.content_type.data(), head.content_type.size());
    }
    kept_type_size_ = static_cast<std::uint16_t>(head.content_type.size());
    kept_size_ = static_cast<std::uint16_t>(size);
    kept_status_ = static_cast<std::uint16_t>(head.status);
    kept_length_ = content_length;
  }
  return to;
}

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
