// ProtobufWriter and ProtobufReader: the wire format of Protocol Buffers, as far as OTLP and pprof
// need it.
//
//   field: tag (number << 3 | type), then
//          a varint (type 0), 8 bytes (1), a length and bytes (2), or 4 bytes (5)
//
//   ProtobufWriter out(text);
//   const auto span = out.begin(2);        // a message in field 2
//   out.string(5, "GET /users");
//   out.end(span);
//
// Owns       nothing.
// Borrows    the text that is written or read.
// Thread     one.
// Allocates  as the text grows.
// Fails      the writer never. The reader stops at bytes that are not a field; is_good() reports
//            it.
// Invariant  strings of the writer are UTF-8, whatever it was given: a decoder refuses a whole
//            message for one wrong byte.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

#include "katana/base/text/bytes.hpp"
#include "katana/base/text/utf8.hpp"

namespace katana {

class ProtobufWriter {
 public:
  explicit ProtobufWriter(std::string& out) noexcept : out_(out) {}

  // Zero and false are the values of an absent field; they are left out, except in a oneof
  // (`always`).
  void varint(std::uint32_t number, std::uint64_t value, bool always = false) {
    if (value == 0 && !always) return;
    tag(number, 0);
    raw_varint(value);
  }
  void fixed64(std::uint32_t number, std::uint64_t value, bool always = false) {
    if (value == 0 && !always) return;
    tag(number, 1);
    raw_fixed(value);
  }
  void fixed32(std::uint32_t number, std::uint32_t value) {
    if (value == 0) return;
    tag(number, 5);
    raw_fixed(value);
  }
  void number(std::uint32_t field, double value, bool always = false) {
    fixed64(field, std::bit_cast<std::uint64_t>(value), always);
  }
  void bytes(std::uint32_t number, Bytes value) {
    if (!value.empty()) whole(number, value);
  }
  // Bytes that are not UTF-8 become U+FFFD.
  void string(std::uint32_t number, Bytes value, bool always = false) {
    if (value.empty() && !always) return;
    if (is_utf8(value)) [[likely]]
      return whole(number, value);
    const std::size_t at = begin(number);
    while (!value.empty()) out_ += take_character(value);
    end(at);
  }
  // Writes a big-endian id.
  void id(std::uint32_t number, std::uint64_t high, std::uint64_t low) {
    tag(number, 2);
    raw_varint(16);
    raw_big_endian(high);
    raw_big_endian(low);
  }
  void id(std::uint32_t number, std::uint64_t value) {
    tag(number, 2);
    raw_varint(8);
    raw_big_endian(value);
  }

  // Begins a message. Its end() takes the result.
  std::size_t begin(std::uint32_t number) {
    tag(number, 2);
    out_ += '\0';  // for a length below 128
    return out_.size();
  }
  void end(std::size_t begun) {
    const std::uint64_t size = out_.size() - begun;
    if (size < 0x80) [[likely]] {
      out_[begun - 1] = static_cast<char>(size);
      return;
    }
    char length[varint_bytes_max];
    out_.replace(begun - 1, 1, length, static_cast<std::size_t>(put_varint(length, size) - length));
  }
  // A message of two fields: `key` in field 1, and in field 2 a message with `value` in its field
  // 1. The form of an attribute of text, and much cheaper than its parts.
  void pair(std::uint32_t number, Bytes key, Bytes value) {
    if (!is_utf8(key) || !is_utf8(value)) [[unlikely]] {
      const std::size_t all = begin(number);
      string(1, key);
      const std::size_t inner = begin(2);
      string(1, value, true);
      end(inner);
      return end(all);
    }
    const std::size_t of_value = 1 + varint_bytes(value.size()) + value.size();
    const std::size_t of_key = key.empty() ? 0 : 1 + varint_bytes(key.size()) + key.size();
    const std::size_t size = of_key + 1 + varint_bytes(of_value) + of_value;
    append(2 * varint_bytes_max + size, [&](char* to) {
      to = put_head(to, number, size);
      if (!key.empty()) to = put_bytes(put_head(to, 1, key.size()), key);
      to = put_head(to, 2, of_value);
      return put_bytes(put_head(to, 1, value.size()), value);
    });
  }

  // An element of a packed field, which begin() and end() enclose.
  void raw_varint(std::uint64_t value) {
    if (value < 0x80) [[likely]] {
      out_.push_back(static_cast<char>(value));
      return;
    }
    char octets[varint_bytes_max];
    out_.append(octets, static_cast<std::size_t>(put_varint(octets, value) - octets));
  }

 private:
  static constexpr std::size_t varint_bytes_max = 10;

  static constexpr std::size_t varint_bytes(std::uint64_t value) noexcept {
    return (static_cast<std::size_t>(std::bit_width(value | 1)) + 6) / 7;
  }
  static char* put_varint(char* to, std::uint64_t value) noexcept {
    for (; value >= 0x80; value >>= 7) *to++ = static_cast<char>(value | 0x80);
    *to++ = static_cast<char>(value);
    return to;
  }
  // Tag and length of a field that has a length.
  static char* put_head(char* to, std::uint32_t number, std::size_t size) noexcept {
    return put_varint(put_varint(to, number << 3 | 2), size);
  }
  static char* put_bytes(char* to, Bytes bytes) noexcept {
    if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
    return to + bytes.size();
  }
  // f(char* to) writes at most `bytes_max` bytes, and returns their end.
  template <class F>
  void append(std::size_t bytes_max, const F& f) {
    const std::size_t before = out_.size();
    out_.resize_and_overwrite(before + bytes_max, [&](char* all, std::size_t) {
      return static_cast<std::size_t>(f(all + before) - all);
    });
  }
  void whole(std::uint32_t number, Bytes value) {
    append(2 * varint_bytes_max + value.size(),
           [&](char* to) { return put_bytes(put_head(to, number, value.size()), value); });
  }
  void tag(std::uint32_t number, std::uint32_t type) { raw_varint(number << 3 | type); }
  template <class Word>
  void raw_fixed(Word value) {
    char octets[sizeof value];
    std::memcpy(octets, &value, sizeof value);
    static_assert(std::endian::native == std::endian::little);
    out_.append(octets, sizeof value);
  }
  void raw_big_endian(std::uint64_t value) { raw_fixed(__builtin_bswap64(value)); }

  std::string& out_;
};

class ProtobufReader {
 public:
  explicit ProtobufReader(Bytes in) noexcept : in_(in) {}

  // Takes the next field. False: there is none.
  bool next() noexcept {
    if (in_.empty() || !is_good_) return false;
    std::uint64_t tag = 0;
    is_good_ = take_varint(tag) && (tag >> 3) != 0 && take_value(tag & 7);
    number_ = static_cast<std::uint32_t>(tag >> 3);
    type_ = tag & 7;
    return is_good_;
  }
  std::uint32_t number() const noexcept { return number_; }
  std::uint64_t value() const noexcept { return value_; }   // of a varint; else 0
  Bytes bytes() const noexcept { return bytes_; }           // of a field with a length; else empty
  bool has_length() const noexcept { return type_ == 2; }   // as bytes and packed fields have
  std::size_t rest() const noexcept { return in_.size(); }  // bytes behind the field
  bool is_good() const noexcept { return is_good_; }

 private:
  bool take_varint(std::uint64_t& value) noexcept {
    value = 0;
    for (unsigned shift = 0; shift < 64 && !in_.empty(); shift += 7) {
      const auto octet = static_cast<std::uint8_t>(in_.front());
      in_.remove_prefix(1);
      value |= std::uint64_t{octet & 0x7fu} << shift;
      if (octet < 0x80) return true;
    }
    return false;
  }
  bool take_bytes(std::uint64_t size) noexcept {
    if (size > in_.size()) return false;
    bytes_ = in_.substr(0, size);
    in_.remove_prefix(size);
    return true;
  }
  bool take_value(std::uint64_t type) noexcept {
    value_ = 0;
    bytes_ = {};
    std::uint64_t size = 0;
    switch (type) {
      case 0: return take_varint(value_);
      case 1: return take_bytes(8);
      case 2: return take_varint(size) && take_bytes(size);
      case 5: return take_bytes(4);
      default: return false;  // groups, which neither has
    }
  }

  Bytes in_;
  Bytes bytes_;
  std::uint64_t value_ = 0;
  std::uint64_t type_ = 0;
  std::uint32_t number_ = 0;
  bool is_good_ = true;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
