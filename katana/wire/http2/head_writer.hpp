// HeadWriter: reply heads as header blocks, see block_writer.hpp.
//
// Owns       the block it wrote last, in which nearly all replies of a service are alike.
// Borrows    the fields that every reply has (Server, Date), until they are set anew.
// Thread     its reactor's.
// Allocates  never.
// Fails      never; the caller brings bytes_max() bytes of room.
// Invariant  names are in lower case, and none is about a connection.
#pragma once

#include <array>
#include <cstdint>

#include "katana/base/system/hints.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/wire/http/reply_head.hpp"
#include "katana/wire/http2/block_writer.hpp"

namespace katana::http2 {

class HeadWriter {
 public:
  // Fields, as put_field() writes them, that stand in every head. They may change in place if they
  // are set again.
  void set_server_and_date(Bytes block) noexcept {
    server_and_date_ = block;
    kept_size_ = 0;
  }

  // Room that write() needs for `head`.
  std::size_t bytes_max(const http::ReplyHead& head) const noexcept {
    return kept_capacity + server_and_date_.size() + head.content_type.size() +
           lines_bytes_max(head.fields) + lines_bytes_max(head.more_fields) + 64;
  }

  // Writes a block with a Content-Length if that is not negative. Returns its end.
  // REQUIRES a status of three digits.
  char* write(char* to, const http::ReplyHead& head, std::int64_t content_length) noexcept;

 private:
  static constexpr std::size_t kept_capacity = 160;
  static constexpr std::size_t type_capacity = 48;

  bool is_alike(const http::ReplyHead& head, std::int64_t content_length) const noexcept;
  [[gnu::noinline]] char* write_anew(char* to, const http::ReplyHead& head,
                                     std::int64_t content_length) noexcept;

  Bytes server_and_date_;
  std::int64_t kept_length_ = 0;
  std::uint16_t kept_size_ = 0;  // 0: none is kept
  std::uint16_t kept_status_ = 0;
  std::uint16_t kept_type_size_ = 0;
  std::array<char, type_capacity> kept_type_;
  alignas(32) std::array<char, kept_capacity> kept_;
};

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
