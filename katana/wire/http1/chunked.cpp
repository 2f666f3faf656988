#include "katana/wire/http1/chunked.hpp"

#include <algorithm>

#include "katana/wire/http/characters.hpp"

namespace katana::http1 {

ChunkedDecoder::Step ChunkedDecoder::next(Bytes input, const Limits& limits,
                                          std::uint64_t content_left) noexcept {
  std::size_t at = 0;
  while (state_ != State::done) {
    const bool in_data = state_ == State::data;
    if (in_data && left_ > content_left) return {at, {}, false, Refusal::content_too_large};
    if (at == input.size()) break;
    if (in_data) {
      const Bytes content = input.substr(at, std::min<std::uint64_t>(input.size() - at, left_));
      left_ -= content.size();
      if (left_ == 0) state_ = State::data_cr;
      return {at + content.size(), content, false, Refusal::none};
    }
    if (const std::size_t taken = eat_whole(input.substr(at), limits); taken != 0) {
      at += taken;
      continue;
    }
    const Refusal refusal = eat(input[at++], limits);
    if (refusal != Refusal::none) return {at, {}, false, refusal};
  }
  return {at, {}, state_ == State::done, Refusal::none};
}

// Reads the end of a chunk, and a size line without extensions, as nearly every sender sends them.
// The result is that of eat(), byte by byte.
std::size_t ChunkedDecoder::eat_whole(Bytes input, const Limits& limits) noexcept {
  if (state_ == State::data_cr) {
    if (!input.starts_with("\r\n")) return 0;
    state_ = State::size_first;
    line_bytes_ = 0;
    return 2;
  }
  if (state_ != State::size_first) return 0;
  constexpr std::size_t digits_max = 8;
  std::uint64_t size = 0;
  std::size_t digits = 0;
  for (; digits < std::min(digits_max, input.size()); ++digits) {
    const int digit = http::hex_value(input[digits]);
    if (digit < 0) break;
    size = size << 4 | static_cast<unsigned>(digit);
  }
  const std::size_t line = digits + 2;
  if (digits == 0 || line > std::min(input.size(), limits.chunk_line_bytes_max)) return 0;
  if (input[digits] != '\r' || input[digits + 1] != '\n') return 0;
  if (input[0] == '0' && digits > 1) return 0;  // its zeros are to be counted
  left_ = size;
  line_bytes_ = static_cast<std::uint16_t>(line);
  state_ = size == 0 ? State::trailer_start : State::data;
  return line;
}

Refusal ChunkedDecoder::eat(char c, const Limits& limits) noexcept {
  if (state_ <= State::size_end) return eat_size_line(c, limits);
  switch (state_) {
    case State::data_cr:
      state_ = State::data_lf;
      return c == '\r' ? Refusal::none : Refusal::bad_chunk_end;
    case State::data_lf:
      state_ = State::size_first;
      line_bytes_ = 0;
      return c == '\n' ? Refusal::none : Refusal::bad_chunk_end;
    default: return eat_trailer(c, limits);
  }
}

Refusal ChunkedDecoder::eat_size_line(char c, const Limits& limits) noexcept {
  if (++line_bytes_ > limits.chunk_line_bytes_max) return Refusal::chunk_line_too_long;
  switch (state_) {
    case State::size_first:
    case State::size: return eat_size(c, limits);
    case State::white_space:  // BWS may precede ";", and in a reply the end of the line
      if (c == ';') state_ = State::extension;
      if (c == '\r' && of_reply_) {
        state_ = State::size_end;
        return Refusal::none;
      }
      if (c != ';' && c != ' ' && c != '\t') return Refusal::bad_chunk_size;
      return count_overhead(limits);
    case State::size_end:
      state_ = left_ == 0 ? State::trailer_start : State::data;
      return c == '\n' ? Refusal::none : Refusal::bare_line_break;
    default: return eat_extension(c, limits);
  }
}

Refusal ChunkedDecoder::eat_size(char c, const Limits& limits) noexcept {
  if (const int digit = http::hex_value(c); digit >= 0) {
    // Content beyond 2^60 bytes cannot be counted here, and will not come.
    if (left_ >> 56 != 0) return Refusal::bad_chunk_size;
    const bool leading_zero = state_ == State::size && left_ == 0;
    left_ = left_ << 4 | static_cast<unsigned>(digit);
    state_ = State::size;
    return leading_zero ? count_overhead(limits) : Refusal::none;
  }
  if (state_ == State::size_first) return Refusal::bad_chunk_size;
  switch (c) {
    case '\r': state_ = State::size_end; return Refusal::none;
    case ';': state_ = State::extension; return count_overhead(limits);
    case ' ':
    case '\t': state_ = State::white_space; return count_overhead(limits);
    default: return Refusal::bad_chunk_size;
  }
}

Refusal ChunkedDecoder::eat_extension(char c, const Limits& limits) noexcept {
  if (c == '\n') return Refusal::bare_line_break;
  if (c != '\r' && !http::is(c, http::value_character)) return Refusal::control_character;
  const bool pads = state_ == State::name_space || state_ == State::value_space;
  state_ = pads && c == '\r' && of_reply_ ? State::size_end : next_of_extension(state_, c);
  if (state_ == State::done) return Refusal::bad_chunk_extension;
  return c == '\r' ? Refusal::none : count_overhead(limits);
}

// chunk-ext = *( BWS ";" BWS chunk-ext-name [ BWS "=" BWS chunk-ext-val ] ), RFC 9112 §7.1.1.
// Extensions are not used here, but they are read strictly. Otherwise another parser on the way
// might read a quoted string differently and find the end of this line elsewhere.
ChunkedDecoder::State ChunkedDecoder::next_of_extension(State state, char c) noexcept {
  const bool white_space = c == ' ' || c == '\t';
  const bool token = http::is(c, http::token_character);
  switch (state) {
    case State::extension:
      if (token) return State::extension_name;
      return white_space ? state : State::done;
    case State::value_first:
      if (token) return State::value;
      if (c == '"') return State::quoted;
      return white_space ? state : State::done;
    case State::quoted:
      if (c == '"') return State::value_end;
      if (c == '\r') return State::done;
      return c == '\\' ? State::escaped : state;
    case State::escaped: return c == '\r' ? State::done : State::quoted;
    default: break;
  }
  // The place is behind a name or a value, or within one that is a token.
  if (c == ';') return State::extension;
  const bool of_name = state == State::extension_name || state == State::name_space;
  if (c == '=' && of_name) return State::value_first;
  if (white_space) return of_name ? State::name_space : State::value_space;
  if (state == State::name_space || state == State::value_space) return State::done;
  if (c == '\r') return State::size_end;
  return token && state != State::value_end ? state : State::done;
}

Refusal ChunkedDecoder::eat_trailer(char c, const Limits& limits) noexcept {
  if (++trailer_bytes_ > limits.trailer_bytes_max) return Refusal::trailer_too_long;
  switch (state_) {
    case State::trailer_start:
      if (c == '\r') {
        state_ = State::last_lf;
        return Refusal::none;
      }
      if (of_reply_ && trailer_fields_ != 0 && (c == ' ' || c == '\t')) {
        state_ = State::trailer_value;
        return Refusal::none;
      }
      if (++trailer_fields_ > limits.trailer_fields_max) return Refusal::trailer_too_long;
      state_ = State::trailer_name;
      return http::is(c, http::token_character) ? Refusal::none : Refusal::bad_trailer;
    case State::trailer_name:
      if (c == ':') state_ = State::trailer_value;
      return c == ':' || http::is(c, http::token_character) ? Refusal::none : Refusal::bad_trailer;
    case State::trailer_value:
      if (c == '\r') {
        state_ = State::trailer_lf;
        return Refusal::none;
      }
      return http::is(c, http::value_character) ? Refusal::none : Refusal::bad_trailer;
    case State::trailer_lf:
      state_ = State::trailer_start;
      return c == '\n' ? Refusal::none : Refusal::bare_line_break;
    default:  // last_lf
      state_ = State::done;
      return c == '\n' ? Refusal::none : Refusal::bare_line_break;
  }
}

}  // namespace katana::http1

// SPDX-License-Identifier: Apache-2.0
