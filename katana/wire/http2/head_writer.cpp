#include "katana/wire/http2/head_writer.hpp"

#include <charconv>
#include <cstring>

#include "katana/wire/http/characters.hpp"

namespace katana::http2 {
namespace {

// An integer with a prefix (RFC 7541 §5.1) behind the bits that stand in the same octet.
char* put_integer(char* to, unsigned bits, unsigned prefix, std::size_t value) noexcept {
  const std::size_t all = (std::size_t{1} << prefix) - 1;
  if (value < all) {
    *to++ = static_cast<char>(bits | value);
    return to;
  }
  *to++ = static_cast<char>(bits | all);
  for (value -= all; value >= 128; value >>= 7) *to++ = static_cast<char>(0x80 | (value & 0x7f));
  *to++ = static_cast<char>(value);
  return to;
}

// As it is: Huffman's code saves a quarter of the bytes and costs more than all the rest.
char* put_string(char* to, Bytes text) noexcept {
  to = put_integer(to, 0, 7, text.size());
  if (!text.empty()) std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

char* put_status(char* to, unsigned status) noexcept {
  // RFC 7541 Appendix A, 8 to 14.
  constexpr std::array<unsigned, 7> indexed = {200, 204, 206, 304, 400, 404, 500};
  for (unsigned index = 0; index < indexed.size(); ++index) {
    if (indexed[index] == status) return put_integer(to, 0x80, 7, 8 + index);
  }
  const std::array<char, 3> digits = {static_cast<char>('0' + status / 100),
                                      static_cast<char>('0' + status / 10 % 10),
                                      static_cast<char>('0' + status % 10)};
  return put_field(to, StaticName::status, {digits.data(), digits.size()});
}

// RFC 9113 §8.2.2.
bool stays_at_home(Bytes name) noexcept {
  for (const Bytes each :
       {"connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"}) {
    if (http::equals_ignoring_case(name, each)) return true;
  }
  return false;
}

// `lines` passed valid_field(): each is "name: value" CRLF.
char* put_lines(char* to, Bytes lines) noexcept {
  while (!lines.empty()) {
    const std::size_t colon = lines.find(':');
    const std::size_t end = lines.find("\r\n");
    const Bytes name = lines.substr(0, colon);
    const Bytes value = lines.substr(colon + 2, end - colon - 2);
    lines.remove_prefix(end + 2);
    if (stays_at_home(name)) continue;
    *to++ = 0;  // a literal with a new name, not to be indexed
    to = put_integer(to, 0, 7, name.size());
    for (const char c : name) *to++ = http::to_lower(c);
    to = put_string(to, value);
  }
  return to;
}

}  // namespace

char* put_field(char* to, StaticName name, Bytes value) noexcept {
  return put_string(put_integer(to, 0, 4, static_cast<std::size_t>(name)), value);
}

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
  if (content_length >= 0) {
    std::array<char, 20> digits;
    char* const end =
        std::to_chars(digits.data(), digits.data() + digits.size(), content_length).ptr;
    to = put_field(to, StaticName::content_length,
                   {digits.data(), static_cast<std::size_t>(end - digits.data())});
  }
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
