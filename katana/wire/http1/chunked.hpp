// ChunkedDecoder: the chunked transfer coding (RFC 9112 §7.1), byte by byte where it is coding,
// in runs where it is content. Extensions and trailer fields are checked and dropped, both within
// limits.
//
// Owns       nothing but its place in the coding; content is borrowed from the input.
// Allocates  never.
// Fails      a Refusal, and REQUIRES not to be used after it.
// Invariant  content, consumed bytes and refusal do not depend on how the input is cut. Every
//            byte but those of content is paid for by a limit.
//
//   size_first ──hex──▶ size ──CR──▶ size_end ──LF──▶ data (or trailer_start)
//                       │ ├──SP──▶ white_space ──";"──▶ extension
//                       │ └──";"──▶ extension
//                       └──hex──▶ size
//   extension ──token──▶ extension_name ──"="──▶ value_first ──token──▶ value
//                                                            └──DQUOTE──▶ quoted ◀──▶ escaped
//   quoted ──DQUOTE──▶ value_end. Behind a name or a value: CR ──▶ size_end, ";" ──▶ extension,
//   SP ──▶ name_space or value_space. SP keeps extension, value_first.
//   In a reply only: behind white_space, name_space and value_space CR ──▶ size_end.
//   data ──▶ data_cr ──CR──▶ data_lf ──LF──▶ size_first
//   trailer_start ──token──▶ trailer_name ──":"──▶ trailer_value ──CR──▶ trailer_lf
//                 └──CR──▶ last_lf ──LF──▶ done
//   trailer_lf ──LF──▶ trailer_start, where SP continues the value of a folded trailer
#pragma once

#include <cstdint>

#include "katana/base/text/bytes.hpp"
#include "katana/wire/http1/limits.hpp"
#include "katana/wire/http1/refusal.hpp"

namespace katana::http1 {

class ChunkedDecoder {
 public:
  // The result of one call of next().
  struct Step {
    std::size_t consumed;  // bytes of the input that are done with
    Bytes content;         // in the consumed input; empty: more input is needed, or the end
    bool done;             // the last chunk and the trailers were read
    Refusal refusal;       // none: it may be called again
  };

  // `of_reply`: a user agent reads what a server refuses. Trailers may be folded (RFC 9112 §5.2),
  // and spaces may end the line of a chunk's size: some servers pad it to a fixed width.
  void begin(bool of_reply = false) noexcept {
    *this = ChunkedDecoder();
    of_reply_ = of_reply;
  }
  // Consumes up to the end of the next run of content. `content_left`: the bytes of content that
  // are still allowed; a chunk that is larger is refused at its size.
  Step next(Bytes input, const Limits& limits, std::uint64_t content_left) noexcept;

 private:
  enum class State : std::uint8_t {
    size_first,
    size,
    white_space,
    extension,
    extension_name,
    name_space,
    value_first,
    value,
    quoted,
    escaped,
    value_end,
    value_space,
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

  std::size_t eat_whole(Bytes input, const Limits& limits) noexcept;
  Refusal eat(char c, const Limits& limits) noexcept;
  Refusal eat_size_line(char c, const Limits& limits) noexcept;
  Refusal eat_size(char c, const Limits& limits) noexcept;
  Refusal eat_extension(char c, const Limits& limits) noexcept;
  // Where a byte of an extension leads; `done` stands for nowhere.
  static State next_of_extension(State state, char c) noexcept;
  Refusal eat_trailer(char c, const Limits& limits) noexcept;
  // Bytes that a sender may add to a chunk at will.
  Refusal count_overhead(const Limits& limits) noexcept {
    return ++overhead_bytes_ > limits.chunk_overhead_bytes_max ? Refusal::chunk_line_too_long
                                                               : Refusal::none;
  }

  std::uint64_t left_ = 0;  // of the present chunk
  std::uint32_t overhead_bytes_ = 0;
  std::uint16_t line_bytes_ = 0;
  std::uint16_t trailer_bytes_ = 0;
  std::uint16_t trailer_fields_ = 0;
  State state_ = State::size_first;
  bool of_reply_ = false;
};

}  // namespace katana::http1

// SPDX-License-Identifier: Apache-2.0
