#include "katana/data/container/json_items.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace katana::container {
namespace {

constexpr Bytes spaces = " \t\n\r";

}  // namespace

void JsonItems::append(Bytes piece) {
  if (begin_ != 0) {
    Text rest(kept_.bytes().substr(begin_));
    kept_ = std::move(rest);
    at_ -= begin_;
    begin_ = 0;
  }
  kept_.append(piece);
}

Result<std::optional<Bytes>> JsonItems::next() {
  if (error_) return std::unexpected(*error_);
  return form_ == Form::lines ? next_line() : next_in_array();
}

Result<std::optional<Bytes>> JsonItems::next_line() {
  for (;;) {
    const Bytes all = kept_.bytes();
    const std::size_t found = all.substr(at_).find('\n');
    const bool is_whole = found != Bytes::npos;
    const std::size_t end = is_whole ? at_ + found : all.size();
    if (end - begin_ > item_bytes_max_) return too_long();
    at_ = is_whole ? end + 1 : end;
    if (!is_whole && !is_ended_) return std::nullopt;
    if (!is_whole && begin_ == end) {
      state_ = State::done;
      return std::nullopt;
    }
    ++line_;
    Bytes line = all.substr(begin_, end - begin_);
    begin_ = at_;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(spaces) == Bytes::npos) continue;
    ++count_;
    return line;
  }
}

std::optional<char> JsonItems::look() noexcept {
  const Bytes all = kept_.bytes();
  at_ = std::min(all.find_first_not_of(spaces, at_), all.size());
  begin_ = at_;
  return at_ == all.size() ? std::nullopt : std::optional(all[at_]);
}

Result<std::optional<Bytes>> JsonItems::next_in_array() {
  for (;;) {
    if (state_ == State::done) return std::nullopt;
    if (state_ == State::in_item) {
      const bool is_whole = find_item_end();
      if (at_ - begin_ > item_bytes_max_) return too_long();
      if (is_whole) return take_item(at_);
      if (is_ended_) return wrong(fmt::format("{}: the content ends within it", place_of(count_)));
      return std::nullopt;
    }
    const std::optional<char> c = look();
    if (!c) {
      if (!is_ended_) return std::nullopt;
      if (state_ != State::behind)
        return wrong("expected an array, and the content ends before it does");
      state_ = State::done;
      continue;
    }
    switch (state_) {
      case State::before_array:
        if (*c != '[') return wrong("expected an array");
        ++at_;
        state_ = State::before_item;
        break;
      case State::behind_item:
        if (*c != ',' && *c != ']')
          return wrong(place_of(count_ - 1) + ": expected a comma behind it");
        ++at_;
        state_ = *c == ']' ? State::behind : State::before_item;
        break;
      case State::before_item:
        if (*c == ']' && count_ == 0) {
          ++at_;
          state_ = State::behind;
          break;
        }
        if (*c == ',' || *c == ']') return wrong(place_of(count_) + ": expected a value");
        state_ = State::in_item;
        break;
      default: return wrong("something follows the array");
    }
  }
}

bool JsonItems::find_item_end() noexcept {
  const Bytes all = kept_.bytes();
  for (; at_ < all.size(); ++at_) {
    const char c = all[at_];
    if (in_text_) {
      if (is_escaped_) {
        is_escaped_ = false;
      } else if (c == '\\') {
        is_escaped_ = true;
      } else if (c == '"') {
        in_text_ = false;
      }
      continue;
    }
    const bool closes = c == ']' || c == '}';
    if (depth_ == 0 && (c == ',' || closes)) return true;
    if (c == '"') in_text_ = true;
    if (c == '[' || c == '{') ++depth_;
    if (closes) --depth_;
  }
  return false;
}

Bytes JsonItems::take_item(std::size_t end) noexcept {
  const Bytes item = kept_.bytes().substr(begin_, end - begin_);
  begin_ = end;
  ++count_;
  state_ = State::behind_item;
  return item;
}

std::string JsonItems::place_of(std::size_t index) const {
  return form_ == Form::array ? fmt::format("/{}", index) : fmt::format("line {}", line_);
}

std::unexpected<Error> JsonItems::wrong(std::string words) {
  error_.emplace(Code::invalid_argument, std::move(words));
  return std::unexpected(*error_);
}

std::unexpected<Error> JsonItems::too_long() {
  const std::string place =
      form_ == Form::array ? place_of(count_) : fmt::format("line {}", line_ + 1);
  return wrong(fmt::format("{}: is longer than {} bytes", place, item_bytes_max_));
}

}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
