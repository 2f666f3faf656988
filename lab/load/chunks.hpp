// Chunks: takes the chunked transfer coding off content (RFC 9112 §7.1). Extensions and trailers
// are skipped, within limits.
//
// Owns       its place in the coding.
// Allocates  never.
// Fails      `problem` says how; REQUIRES begin() after that.
// Invariant  the content in sum does not depend on how the input is cut; every call with input
//            consumes some.
//
//   size ──hex──▶ size ──";"──▶ extension ──CR──▶ size_lf ──LF──▶ data, or line_start after size 0
//        └──CR──▶ size_lf
//   data ──▶ data_cr ──CR──▶ data_lf ──LF──▶ size
//   line_start ──CR──▶ end_lf ──LF──▶ done
//              └──▶ line ──CR──▶ line_lf ──LF──▶ line_start
#pragma once

#include <cstdint>

#include "katana/base/bytes.hpp"

namespace katana::load {

class Chunks {
 public:
  static constexpr std::uint32_t line_bytes_max = 4 * 1024;      // of a size with its extensions
  static constexpr std::uint32_t trailer_bytes_max = 16 * 1024;  // of all trailers

  struct Step {
    std::size_t consumed;
    Bytes content;
    bool done;
    const char* problem;  // null: none
  };

  void begin() noexcept { *this = Chunks(); }
  // Up to the end of the next run of content.
  Step next(Bytes input) noexcept;

 private:
  enum class State : std::uint8_t {
    size_first,
    size,
    extension,
    size_lf,
    data,
    data_cr,
    data_lf,
    line_start,
    line,
    line_lf,
    end_lf,
    done,
  };

  const char* eat(char c) noexcept;
  const char* eat_size_line(char c) noexcept;
  const char* eat_trailer(char c) noexcept;

  std::uint64_t left_ = 0;
  std::uint32_t line_bytes_ = 0;
  State state_ = State::size_first;
};

}  // namespace katana::load
