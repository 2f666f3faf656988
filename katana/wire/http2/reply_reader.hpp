// ReplyReader: a header block as the head of a reply, or as trailers.
//
// Owns       the bytes of the block that it read last, decoded.
// Borrows    the block, for the call.
// Thread     its reactor's, whose machines share it.
// Allocates  never.
// Fails      by verdict: refused is a head larger than the limits accept. A block is always decoded
//            to its end, or the connection ends: its fields change the compression's table.
// Invariant  an accepted head has one meaning in HTTP/1.1 too: one status, at most one length. It
//            has no field that is about a connection, and no byte that could begin a line (RFC 9113
//            §8.2).
#pragma once

#include <array>
#include <cstdint>

#include "katana/base/text/bytes.hpp"
#include "katana/wire/http/head.hpp"
#include "katana/wire/http2/field_rules.hpp"
#include "katana/wire/http2/inflater.hpp"
#include "katana/wire/http2/kept_block.hpp"
#include "katana/wire/http2/limits.hpp"

namespace katana::http2 {

class ReplyReader {
 public:
  explicit ReplyReader(const Limits& limits) noexcept : limits_(limits) {}
  ReplyReader(const ReplyReader&) = delete;

  // Reads HEADERS of a reply, interim ones included. The block is always decoded.
  HeadVerdict read_head(Inflater& inflater, Bytes block) noexcept;
  // Reads HEADERS that end a stream; the fields are checked and dropped.
  HeadVerdict read_trailers(Inflater& inflater, Bytes block) noexcept;
  // A connection begins: see KeptBlock.
  void forget() noexcept { kept_.forget(); }

  // ---- of the block read last ----
  unsigned status() const noexcept { return status_; }
  // Its fields; a reply has no method and no target.
  const http::Head& fields() const noexcept { return head_; }
  std::int64_t content_length() const noexcept { return content_length_; }

 private:
  HeadVerdict read(Inflater& inflater, Bytes block, bool trailers) noexcept;
  void take(Bytes name, Bytes value, bool trailers) noexcept;
  void take_status(Bytes value) noexcept;
  http::Slice keep(Bytes bytes) noexcept;

  const Limits& limits_;
  http::Head head_;
  std::int64_t content_length_ = no_length;
  std::size_t listed_bytes_ = 0;
  std::size_t kept_bytes_ = 0;
  std::uint16_t status_ = 0;
  bool regular_seen_ = false;
  bool malformed_ = false;
  bool too_large_ = false;
  KeptBlock kept_;  // replies of a service are alike for a second, until their Date changes
  std::array<char, http::head_bytes_capacity> bytes_;
};

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
