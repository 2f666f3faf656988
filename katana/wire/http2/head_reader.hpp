// HeadReader: a header block as the head of a request, or as trailers.
//
// Owns       the bytes of the head that it read last, decoded: Head's slices point to them.
// Borrows    the block, for the call.
// Thread     its reactor's, whose machines share it.
// Allocates  never.
// Fails      by verdict. A block is always decoded to its end, or the connection ends: its fields
//            change the compression's table.
// Invariant  an accepted head has one meaning in HTTP/1.1 too: one authority and one path. It has
//            no field that is about a connection, and no byte that could begin a line (RFC 9113
//            §8.2, §8.3, §10.3).
#pragma once

#include <array>
#include <cstdint>

#include "katana/base/memory/poison.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/wire/http/head.hpp"
#include "katana/wire/http2/field_rules.hpp"
#include "katana/wire/http2/inflater.hpp"
#include "katana/wire/http2/kept_block.hpp"
#include "katana/wire/http2/limits.hpp"

namespace katana::http2 {

// RFC 9218 §4.
struct Priority {
  std::uint8_t urgency = 3;  // 0, the most urgent, to 7
  bool incremental = false;  // pieces of it are of use at once
};

// A value of the field Priority. A missing or wrong parameter keeps its default (RFC 9218 §4).
Priority parse_priority(Bytes value) noexcept;

class HeadReader {
 public:
  // `extended_connect`: requests may ask for another protocol on their stream (RFC 8441).
  explicit HeadReader(const Limits& limits, bool extended_connect = false) noexcept
      : limits_(limits), extended_connect_(extended_connect) {}
  HeadReader(const HeadReader&) = delete;

  // Reads HEADERS of a new stream. The block is always decoded.
  HeadVerdict read_request(Inflater& inflater, Bytes block) noexcept;
  // Reads HEADERS that end a stream; the fields are checked and dropped.
  HeadVerdict read_trailers(Inflater& inflater, Bytes block) noexcept;
  ~HeadReader() { unpoison(bytes_.data(), bytes_.size()); }
  // While the result lives, the head that was read last can be looked at; see Lending.
  Lending lend() const noexcept { return {bytes_.data(), bytes_.size()}; }
  // A connection begins: see KeptBlock.
  void forget() noexcept { kept_.forget(); }

  // ---- of the request read last ----
  const http::Head& head() const noexcept { return head_; }
  // Result of content_length() if none was announced.
  static constexpr std::int64_t no_length = http2::no_length;
  // Length of the body; no_length: none was announced.
  std::int64_t content_length() const noexcept { return content_length_; }
  bool expects_continue() const noexcept { return expects_continue_; }  // Expect: 100-continue
  // From the header Priority; the default if there is none.
  Priority priority() const noexcept { return priority_; }
  // An extended CONNECT. Its head reads as in HTTP/1.1: a GET with the field Upgrade, which no
  // other request has. Therefore the same routes and middleware serve it.
  bool asks_upgrade() const noexcept { return (seen_ & protocol) != 0; }
  // The status of the reply after HeadVerdict::refused.
  unsigned status() const noexcept { return status_; }
  Bytes detail() const noexcept { return detail_; }

 private:
  enum Seen : std::uint8_t {
    method = 1,
    scheme = 2,
    authority = 4,
    path = 8,
    protocol = 16,
    host = 32
  };

  HeadVerdict read(Inflater& inflater, Bytes block, bool trailers) noexcept;
  void begin() noexcept;
  void take(Bytes name, Bytes value, bool trailers) noexcept;
  void take_pseudo(Bytes name, Bytes value) noexcept;
  void take_field(Bytes name, Bytes value) noexcept;
  // False: the field is not kept as it is.
  bool note(Bytes name, Bytes value) noexcept;
  bool note_host(Bytes value) noexcept;
  void judge() noexcept;
  // False: there is no such request.
  bool judge_target(http::Method known) noexcept;
  void join_cookies() noexcept;
  http::Slice keep(Bytes bytes) noexcept;
  void refuse(unsigned status, Bytes detail) noexcept;
  void spoil() noexcept { malformed_ = true; }

  const Limits& limits_;
  const bool extended_connect_;
  http::Head head_;
  Priority priority_;
  std::int64_t content_length_ = no_length;
  std::size_t listed_bytes_ = 0;  // as SETTINGS_MAX_HEADER_LIST_SIZE counts
  std::size_t kept_bytes_ = 0;
  std::size_t cookies_ = 0;
  std::uint16_t status_ = 0;
  std::uint8_t seen_ = 0;
  bool regular_seen_ = false;
  bool malformed_ = false;
  bool expects_continue_ = false;
  Bytes detail_;
  KeptBlock kept_;  // clients ask for the same again and again
  Bytes host_;
  Bytes scheme_text_;  // static; empty: none was sent
  http::Slice method_text_;
  http::Slice target_;
  http::Slice authority_;
  std::array<http::Slice, http::fields_capacity> cookie_slices_;
  // A joined cookie stands beside its parts.
  std::array<char, http::head_bytes_capacity> bytes_;
};

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
