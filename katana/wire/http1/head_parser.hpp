// HeadParser: request heads, parsed in place and strictly (RFC 9112 §2–§6).
//
// Owns       nothing; slices of the Head point into `input`.
// Thread     any; no state but the choice of kernels made once at start.
// Allocates  never.
// Fails      a Refusal.
// Invariant  the verdict is a function of the bytes alone: however they are cut into pieces, the
//            same head is accepted or the same refusal given.
//
// The parser keeps that invariant by finding errors in two steps. *Form* is judged line by line in
// the order of the bytes, and the first error wins. It comprises the limits, line ends, controls,
// and the grammar of the request line and of each field line. *Meaning* comprises Host, lengths,
// codings and expectations. It is judged when the head is complete and its form is right. Nearly
// every head is complete and right: parse_whole() judges both in one pass. When it does not
// succeed, check_lines() judges the form, from the first line that has not been judged before.
// Therefore a head that arrives byte by byte costs a constant number of visits per byte.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "katana/base/system/hints.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/wire/http/head.hpp"
#include "katana/wire/http1/limits.hpp"
#include "katana/wire/http1/refusal.hpp"

namespace katana::http1 {

// The kind of body behind the head: none, Content-Length bytes, or chunks.
enum class ContentKind : std::uint8_t { none, length, chunked };

// The facts of a head about its body and its connection.
struct Framing {
  ContentKind content = ContentKind::none;  // decides whether content_length counts
  bool keep_alive = true;                   // the client would send another request
  bool expects_continue = false;            // Expect: 100-continue
  bool wants_upgrade = false;               // Upgrade with Connection: upgrade
  std::uint64_t content_length = 0;         // of ContentKind::length
};

// Whether the head is accepted, needs more bytes, or is answered with an error.
enum class HeadVerdict : std::uint8_t { complete, incomplete, refused };

// How far check_lines() has come in a head that is not complete. Kept by the machine between reads.
struct LineProgress {
  std::uint16_t line_at = 0;   // where the first line that was not judged begins
  std::uint16_t searched = 0;  // bytes known to hold no end of that line
  std::uint16_t lines = 0;     // judged so far
};

// Result of the parser.
struct HeadResult {
  HeadVerdict verdict;              // decides which of the members below count
  Refusal refusal = Refusal::none;  // of HeadVerdict::refused
  std::size_t bytes = 0;            // of a head that is right in form, with its last CRLF; else 0
};

// The last Host that was plain (plain_host_end()). A server has few hosts: the next one is nearly
// always the same. Comparing it is cheaper than examining each character again.
struct KnownHost {
  static constexpr std::size_t bytes_min = 8;   // a shorter line is not worth a comparison
  static constexpr std::size_t bytes_max = 32;  // a longer line is not kept
  std::array<char, bytes_max> line;             // the value and its CRLF
  std::size_t size = SIZE_MAX;                  // SIZE_MAX: no host is known; no input is so long
};

class HeadParser {
 public:
  // REQUIRES are_valid(limits) and supported(kernels). Borrows `limits`.
  explicit HeadParser(const Limits& limits, Kernels kernels = best_kernels()) noexcept;

  // `input` starts at the head's first byte. `progress` is {} for a new head and is to be given
  // back as it was left, with the same bytes and what followed them.
  HeadResult parse(Bytes input, LineProgress& progress, http::Head& head,
                   Framing& framing) noexcept {
    if (progress.searched == 0) {
      const HeadResult whole = parse_whole(input, head, framing);
      if (whole.verdict == HeadVerdict::complete) return whole;
    }
    return parse_in_pieces(input, progress, head, framing);
  }

  // The first step of parse(), for a caller that keeps nothing in registers for the second. It
  // accepts only a head that is complete; after any other verdict take the second step.
  HeadResult parse_whole(Bytes input, http::Head& head, Framing& framing) noexcept {
    return whole_(limits_, input, head, framing, host_);
  }
  KATANA_RARE HeadResult parse_in_pieces(Bytes input, LineProgress& progress, http::Head& head,
                                         Framing& framing) noexcept;

 private:
  const Limits& limits_;
  HeadResult (*whole_)(const Limits&, Bytes, http::Head&, Framing&, KnownHost&) noexcept;
  KnownHost host_;
};

// The one-pass parser in its builds; a processor can run some of them. `incomplete` also stands for
// "not right": check_lines() decides which.
HeadResult parse_whole_scalar(const Limits&, Bytes, http::Head&, Framing&, KnownHost&) noexcept;
HeadResult parse_whole_sse42(const Limits&, Bytes, http::Head&, Framing&, KnownHost&) noexcept;
HeadResult parse_whole_avx2(const Limits&, Bytes, http::Head&, Framing&, KnownHost&) noexcept;
HeadResult parse_whole_neon(const Limits&, Bytes, http::Head&, Framing&, KnownHost&) noexcept;

// Judges the form of the lines that are complete. `bytes` of a complete verdict is the size of the
// head.
HeadResult check_lines(const Limits& limits, Bytes input, LineProgress& progress) noexcept;

}  // namespace katana::http1

// SPDX-License-Identifier: Apache-2.0
