#include "load/chunks.hpp"

#include <algorithm>

namespace katana::load {
namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Chunks::Step Chunks::next(Bytes input) noexcept {
  std::size_t at = 0;
  while (state_ != State::done && at < input.size()) {
    if (state_ == State::data) {
      const Bytes content = input.substr(at, std::min<std::uint64_t>(input.size() - at, left_));
      left_ -= content.size();
      if (left_ == 0) state_ = State::data_cr;
      return {at + content.size(), content, false, nullptr};
    }
    if (const char* problem = eat(input[at++])) return {at, {}, false, problem};
  }
  return {at, {}, state_ == State::done, nullptr};
}

const char* Chunks::eat(char c) noexcept {
  switch (state_) {
    case State::data_cr: state_ = State::data_lf; return c == '\r' ? nullptr : "a chunk has no end";
    case State::data_lf:
      state_ = State::size_first;
      line_bytes_ = 0;
      return c == '\n' ? nullptr : "a chunk has no end";
    case State::size_first:
    case State::size:
    case State::extension:
    case State::size_lf:
      return ++line_bytes_ > line_bytes_max ? "a chunk's size line is too long" : eat_size_line(c);
    default:
      return ++line_bytes_ > trailer_bytes_max ? "the trailers are too long" : eat_trailer(c);
  }
}

const char* Chunks::eat_size_line(char c) noexcept {
  if (state_ == State::size_lf) {
    state_ = left_ == 0 ? State::line_start : State::data;
    line_bytes_ = 0;
    return c == '\n' ? nullptr : "CR without LF in a chunk's size line";
  }
  if (state_ == State::extension) {
    if (c == '\r') state_ = State::size_lf;
    return c == '\n' ? "LF without CR in a chunk's size line" : nullptr;
  }
  if (const int digit = hex_value(c); digit >= 0) {
    if (left_ >> 59 != 0) return "a chunk's size is beyond 2^63";
    left_ = left_ << 4 | static_cast<unsigned>(digit);
    state_ = State::size;
    return nullptr;
  }
  if (state_ == State::size_first) return "a chunk has no size";
  switch (c) {
    case '\r': state_ = State::size_lf; return nullptr;
    case ';':
    case ' ':
    case '\t': state_ = State::extension; return nullptr;
    default: return "a chunk's size is no hexadecimal number";
  }
}

const char* Chunks::eat_trailer(char c) noexcept {
  switch (state_) {
    case State::line_start: state_ = c == '\r' ? State::end_lf : State::line; break;
    case State::line:
      if (c == '\r') state_ = State::line_lf;
      break;
    case State::line_lf:
      state_ = State::line_start;
      return c == '\n' ? nullptr : "CR without LF in a trailer";
    default: state_ = State::done; return c == '\n' ? nullptr : "CR without LF in a trailer";
  }
  return c == '\n' ? "LF without CR in a trailer" : nullptr;
}

}  // namespace katana::load
