// Writers of header blocks (RFC 7541 §6). They use the static table, literals that are not indexed
// and no Huffman code. Therefore no connection has state for the blocks that it sends, and a block
// may be written once and sent on many connections (decision 0053).
//
// Owns       nothing but, in OwnTable, a table size that the other side is still to be told.
// Thread     any.
// Allocates  never.
// Fails      never; the caller brings the room.
// Invariant  names are in lower case, and none is about a connection.
#pragma once

#include <cstdint>

#include "katana/base/text/bytes.hpp"

namespace katana::http2 {

// Indexes in the static table (RFC 7541, appendix A). A pseudo-header field has the value that is
// named here; a header has none.
enum class StaticName : std::uint8_t {
  authority = 1,  // :authority
  method = 2,     // :method GET
  path = 4,       // :path /
  scheme = 6,     // :scheme http
  status = 8,     // :status 200
  content_length = 28,
  content_type = 31,
  date = 33,
  server = 54,
  strict_transport_security = 56,
};

// The room that put_lines() needs: a field's line is longer than its block, unless its strings are
// long.
constexpr std::size_t lines_bytes_max(Bytes lines) noexcept {
  return lines.size() + lines.size() / 32;
}

// An integer with a prefix (RFC 7541 §5.1) behind the bits that stand in the same byte.
char* put_integer(char* to, unsigned bits, unsigned prefix, std::size_t value) noexcept;

// A field that the static table has as a whole.
inline char* put_indexed(char* to, unsigned index) noexcept {
  return put_integer(to, 0x80, 7, index);
}

// A field whose name the static table has, not to be indexed. At most bytes of value + 5.
char* put_field(char* to, StaticName name, Bytes value) noexcept;

// Content-Length, in at most 24 bytes.
char* put_content_length(char* to, std::int64_t length) noexcept;

// `lines` passed valid_field(): each is "name: value" CRLF. Those about a connection are left out,
// and Host, which :authority stands for.
char* put_lines(char* to, Bytes lines) noexcept;

// The table that the other side keeps for our blocks, which is empty whatever its size. If the
// other side made it smaller, the next block begins once with a confirmation (RFC 7541 §4.2).
class OwnTable {
 public:
  // The other side's SETTINGS_HEADER_TABLE_SIZE.
  void on_setting(std::uint32_t header_table_size) noexcept {
    if (header_table_size < 4096 && !is_off_) is_due_ = true;
  }
  bool is_due() const noexcept { return is_due_; }  // put() has something to write
  // Writes the confirmation if it is due: at most one byte.
  char* put(char* to) noexcept {
    if (!is_due_) [[likely]] {
      return to;
    }
    *to++ = 0x20;
    is_due_ = false;
    is_off_ = true;
    return to;
  }

 private:
  bool is_due_ = false;
  bool is_off_ = false;
};

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
