// ChunkedDecoder: the chunked transfer coding (RFC 9112 §7.1), octet by octet where it is coding,
// in runs where it is content. Extensions are skipped and trailer fields are checked and dropped,
// both within limits.
//
// Owns       nothing but its place in the coding; content is borrowed from the input.
// Allocates  never.
// Fails      a Refusal.
// Invariant  the result does not depend on how the input is cut.
//
//   size ──hex──▶ size ──";"──▶ extension ──CR──▶ size_end ──LF──▶ data ──▶ data_cr ──▶ data_lf ──▶
//   size
//                  └────CR──────────────────────────▲   └─ size 0 ─▶ trailer_start
//   trailer_start ──token──▶ trailer_name ──":"──▶ trailer_value ──CR──▶ trailer_lf ──▶
//   trailer_start
//        └──CR──▶ last_lf ──LF──▶ done
#pragma once

#include <cstdint>

#include "katana/base/bytes.hpp"
#include "katana/wire/http1/limits.hpp"
#include "katana/wire/http1/refusal.hpp"

namespace katana::http1 {

class ChunkedDecoder {
 public:
  struct Step {
    std::size_t consumed;
    Bytes content;  // in the consumed input; empty: more input is needed, or the end
    bool done;
    Refusal refusal;
  };

  void begin() noexcept { *this = ChunkedDecoder(); }
  // Consumes up to the end of the next run of content.
  Step next(Bytes input, const Limits& limits) noexcept;

 private:
  enum class State : std::uint8_t {
    size_first,
    size,
    white_space,
    extension,
    size_end,
    data,
    data_cr,
    data_lf,
    trailer_start,
    trailer_name,
    trailer_value,
    trailer_lf,
    last_lf,
    done,
  };

  Refusal eat(char c, const Limits& limits) noexcept;
  Refusal eat_size_line(char c, const Limits& limits) noexcept;
  Refusal eat_size(char c) noexcept;
  Refusal eat_trailer(char c, const Limits& limits) noexcept;

  std::uint64_t left_ = 0;  // of the present chunk
  std::uint32_t overhead_bytes_ = 0;
  std::uint16_t line_bytes_ = 0;
  std::uint16_t trailer_bytes_ = 0;
  std::uint16_t trailer_fields_ = 0;
  State state_ = State::size_first;
};

}  // namespace katana::http1
