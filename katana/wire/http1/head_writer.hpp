// HeadWriter: reply heads as bytes.
//
// Owns       the head it wrote last, in two parts. Its opening has the status line, Server, Date
//            and Content-Type, and is the same in nearly all replies of a service. The rest is a
//            length and an empty line, and is the same in many. An equal part is one copy.
// Borrows    the Server and Date lines, until they are set anew.
// Thread     its reactor's.
// Allocates  never.
// Fails      never; the caller brings bytes_max() bytes of room.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "katana/base/system/hints.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/wire/http/reply_head.hpp"

namespace katana::http1 {

class HeadWriter {
 public:
  // How the client finds the end of the content (RFC 9112 §6).
  enum class Length : std::uint8_t { none, content_length, chunked };
  // The Connection field of the reply (RFC 9112 §9.3).
  enum class Persistence : std::uint8_t { implied, close, keep_alive };

  // Complete field lines that stand in every head. They may change in place if they are set again.
  void set_server_and_date(Bytes lines) noexcept {
    server_and_date_ = lines;
    forget();
  }

  // Whether the head is the same as the kept one, which is the last ordinary head. An ordinary head
  // is HTTP/1.1 without further fields and without a Connection field.
  bool keeps(const http::ReplyHead& head, std::uint64_t content_length) const noexcept {
    return kept_size_ != 0 && content_length == kept_length_ && !has_fields(head) &&
           is_opening_of(head);
  }
  // The end of that head. REQUIRES keeps(), and room for kept_capacity bytes. All of them are
  // copied, whatever the size: a copy of constant length is a few wide moves.
  char* put_kept(char* to) const noexcept {
    // A vector of the compiler's, because memcpy is expanded to moves of 16 bytes.
    using Wide [[gnu::vector_size(32), gnu::aligned(1), gnu::may_alias]] = char;
    static_assert(kept_capacity % sizeof(Wide) == 0);
    for (std::size_t at = 0; at < kept_capacity; at += sizeof(Wide)) {
      *reinterpret_cast<Wide*>(to + at) = *reinterpret_cast<const Wide*>(kept_.data() + at);
    }
    return to + kept_size_;
  }
  // The most bytes of the head that is kept.
  static constexpr std::size_t kept_capacity = 160;

  // Room that write() needs for `head`.
  std::size_t bytes_max(const http::ReplyHead& head) const noexcept {
    return kept_capacity + rest_bytes_max + server_and_date_.size() + head.content_type.size() +
           head.fields.size() + head.more_fields.size();
  }

  // Writes a head whose Content-Length, if it has one, is `content_length`. Returns its end.
  // REQUIRES a status of three digits.
  char* write(char* to, const http::ReplyHead& head, Length length, std::uint64_t content_length,
              Persistence persistence) noexcept;

 private:
  static constexpr std::size_t type_capacity = 48;
  static constexpr std::size_t rest_bytes_max = 128;  // status line, names, length, Connection

  void forget() noexcept {
    opening_size_ = 0;
    kept_size_ = 0;
  }
  static bool has_fields(const http::ReplyHead& head) noexcept {
    return (head.fields.size() | head.more_fields.size()) != 0;
  }
  // Most types are "text/plain" or the like, and a call of memcmp would cost more than they do.
  static bool are_equal(const char* one, const char* other, std::size_t size) noexcept {
    if (size < 8 || size > 16) return Bytes(one, size) == Bytes(other, size);
    const auto differ = [&](std::size_t at) {
      std::uint64_t left, right;
      std::memcpy(&left, one + at, 8);
      std::memcpy(&right, other + at, 8);
      return left ^ right;
    };
    return (differ(0) | differ(size - 8)) == 0;
  }
  // REQUIRES that an opening is kept. The type is compared by its bytes: the same address may hold
  // another type by now.
  bool is_opening_of(const http::ReplyHead& head) const noexcept {
    return opening_status_ == head.status && opening_type_size_ == head.content_type.size() &&
           are_equal(opening_type_.data(), head.content_type.data(), opening_type_size_);
  }
  KATANA_RARE char* write_opening(char* to, const http::ReplyHead& head) noexcept;
  [[gnu::noinline]] char* write_anew(char* to, const http::ReplyHead& head, Length length,
                                     std::uint64_t content_length,
                                     Persistence persistence) noexcept;
  // `rest` stands behind the opening that is kept.
  void keep_rest(Bytes rest, std::uint64_t content_length) noexcept;

  Bytes server_and_date_;
  std::uint16_t opening_size_ = 0;  // 0: none is kept
  std::uint16_t kept_size_ = 0;     // with the rest for kept_length_; 0: that is not kept
  std::uint16_t opening_status_ = 0;
  std::uint16_t opening_type_size_ = 0;
  std::uint64_t kept_length_ = 0;
  std::array<char, type_capacity> opening_type_;
  alignas(32) std::array<char, kept_capacity> kept_;
};

}  // namespace katana::http1

// SPDX-License-Identifier: Apache-2.0
