#include "katana/wire/resp/machine.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

#include "katana/base/system/check.hpp"

namespace katana::resp {
namespace {

constexpr std::array<Bytes, static_cast<std::size_t>(Kind::count_)> kind_names = {
    "a null",   "a simple string", "an error",      "an integer",   "a boolean",
    "a number", "a big number",    "a bulk string", "a bulk error", "a verbatim string",
    "an array", "a set",           "a map",         "a push",       "an attribute"};

// Kind::count_: no type.
constexpr std::array<Kind, 256> kinds_by_octet = [] {
  std::array<Kind, 256> kinds{};
  kinds.fill(Kind::count_);
  kinds['+'] = Kind::simple_string;
  kinds['-'] = Kind::simple_error;
  kinds[':'] = Kind::integer;
  kinds['_'] = Kind::null;
  kinds['#'] = Kind::boolean;
  kinds[','] = Kind::number;
  kinds['('] = Kind::big_number;
  kinds['$'] = Kind::bulk_string;
  kinds['!'] = Kind::bulk_error;
  kinds['='] = Kind::verbatim;
  kinds['*'] = Kind::array;
  kinds['~'] = Kind::set;
  kinds['%'] = Kind::map;
  kinds['>'] = Kind::push;
  kinds['|'] = Kind::attribute;
  return kinds;
}();

constexpr std::uint32_t verbatim_prefix_bytes = 4;

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// Parses an integer with a sign or without; std::from_chars() takes no plus.
bool parse_integer(Bytes text, std::int64_t& value) noexcept {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return false;
  }
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
}

bool parse_number(Bytes text, double& value) noexcept {
  if (text == "nan" || text == "-nan") {
    value = std::numeric_limits<double>::quiet_NaN();
    return true;
  }
  if (text.starts_with('+')) text.remove_prefix(1);
  const bool is_negative = text.starts_with('-');
  const Bytes magnitude = text.substr(is_negative ? 1 : 0);
  if (magnitude == "inf") {
    value = std::numeric_limits<double>::infinity();
    if (is_negative) value = -value;
    return true;
  }
  if (magnitude.empty() || !(is_digit(magnitude[0]) || magnitude[0] == '.')) return false;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
}

bool is_big_number(Bytes text) noexcept {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

// Digits alone.
bool parse_length(Bytes text, std::uint64_t& length) noexcept {
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), length);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
}

bool is_string(Kind kind) noexcept { return kind >= Kind::bulk_string && kind <= Kind::verbatim; }

}  // namespace

Bytes name_of(Kind kind) noexcept { return kind_names[static_cast<std::size_t>(kind)]; }

Machine::Machine(const Limits& limits) noexcept : limits_(limits) {
  KATANA_REQUIRE(limits.depth_max >= 1 && limits.depth_max <= depth_limit);
}

Step Machine::refuse(Refusal why) noexcept {
  state_ = State::refused;
  refusal_ = why;
  return {.event = Event::refused};
}

Step Machine::next(Bytes input) noexcept {
  if (state_ == State::refused) return {.event = Event::refused};
  if (input.empty()) return {};
  return state_ == State::value ? read_value(input) : read_content(input);
}

// ---- a line ------------------------------------------------------------------------------------

Step Machine::read_value(Bytes input) noexcept {
  const Kind kind = kinds_by_octet[static_cast<unsigned char>(input[0])];
  if (kind == Kind::count_) return refuse(Refusal::unknown_type);
  const void* const found = searched_ < input.size() ? std::memchr(input.data() + searched_, '\n',
                                                                   input.size() - searched_)
                                                     : nullptr;
  if (found == nullptr) {
    // The line has its type in front, and a CR behind it.
    if (input.size() > limits_.line_bytes_max + 2) return refuse(Refusal::line_too_long);
    searched_ = input.size();
    return {};
  }
  searched_ = 0;
  const auto end = static_cast<std::size_t>(static_cast<const char*>(found) - input.data());
  // First, as where the end had not come yet.
  if (end > limits_.line_bytes_max + 2) return refuse(Refusal::line_too_long);
  if (end < 2 || input[end - 1] != '\r') return refuse(Refusal::bad_line_end);
  const Bytes line = input.substr(1, end - 2);
  if (std::memchr(line.data(), '\r', line.size()) != nullptr) return refuse(Refusal::bad_line_end);
  if (!is_place_for(kind)) return refuse(Refusal::misplaced_push);
  if (!count_value(end + 1)) return {.event = Event::refused};
  Step step = is_string(kind)       ? begin_string(kind, line, input.substr(end + 1))
              : kind >= Kind::array ? begin_aggregate(kind, line)
                                    : read_line(kind, line);
  if (step.event != Event::refused) step.consumed += end + 1;
  return step;
}

bool Machine::is_place_for(Kind kind) const noexcept {
  if (kind == Kind::push) return depth_ == 0 && !follows_attribute_;
  return kind != Kind::attribute || !follows_attribute_;
}

bool Machine::count_value(std::size_t bytes) noexcept {
  bytes_ += bytes;
  if (bytes_ > limits_.reply_bytes_max) {
    (void)refuse(Refusal::too_large);
  } else if (++elements_ > limits_.elements_max) {
    (void)refuse(Refusal::too_many_elements);
  }
  return state_ != State::refused;
}

Step Machine::read_line(Kind kind, Bytes line) noexcept {
  Step step{.event = Event::value, .kind = kind, .text = line};
  switch (kind) {
    case Kind::integer:
      if (!parse_integer(line, step.integer)) return refuse(Refusal::bad_number);
      break;
    case Kind::number:
      if (!parse_number(line, step.number)) return refuse(Refusal::bad_number);
      break;
    case Kind::big_number:
      if (!is_big_number(line)) return refuse(Refusal::bad_number);
      break;
    case Kind::boolean:
      if (line != "t" && line != "f") return refuse(Refusal::bad_boolean);
      step.integer = line == "t" ? 1 : 0;
      break;
    case Kind::null:
      if (!line.empty()) return refuse(Refusal::bad_null);
      break;
    default: break;
  }
  end_value(step);
  return step;
}

// ---- aggregates --------------------------------------------------------------------------------

Step Machine::begin_aggregate(Kind kind, Bytes line) noexcept {
  if (line == "?") return refuse(Refusal::streamed);
  if (kind == Kind::array && line == "-1") return read_line(Kind::null, {});
  std::uint64_t count = 0;
  if (!parse_length(line, count)) return refuse(Refusal::bad_length);
  if (count > limits_.elements_max - elements_) return refuse(Refusal::too_many_elements);
  if (kind == Kind::map || kind == Kind::attribute) count *= 2;
  // A push has to say of what kind it is.
  if (kind == Kind::push && count == 0) return refuse(Refusal::bad_length);
  Step step{.event = Event::value, .kind = kind, .count = count};
  if (depth_ >= limits_.depth_max) return refuse(Refusal::too_deep);
  open_[depth_++] = {count, kind == Kind::attribute};
  follows_attribute_ = false;
  if (count == 0) {
    // An empty aggregate is complete: end_value() closes it like one whose last value came.
    open_[depth_ - 1].left = 1;
    end_value(step);
  }
  return step;
}

void Machine::end_value(Step& step) noexcept {
  follows_attribute_ = false;
  while (depth_ > 0) {
    Open& innermost = open_[depth_ - 1];
    if (--innermost.left > 0) return;
    --depth_;
    ++step.ended;
    if (innermost.is_attribute) {  // its value is to come
      follows_attribute_ = true;
      return;
    }
  }
  step.reply_ended = true;
  elements_ = 0;
  bytes_ = 0;
}

// ---- strings -----------------------------------------------------------------------------------

Step Machine::begin_string(Kind kind, Bytes line, Bytes rest) noexcept {
  if (line == "?") return refuse(Refusal::streamed);
  if (kind == Kind::bulk_string && line == "-1") return read_line(Kind::null, {});
  std::uint64_t size = 0;
  if (!parse_length(line, size)) return refuse(Refusal::bad_length);
  if (size > limits_.reply_bytes_max - bytes_) return refuse(Refusal::too_large);
  if (kind == Kind::verbatim && size < verbatim_prefix_bytes) return refuse(Refusal::bad_verbatim);
  bytes_ += size;
  left_ = size;
  prefix_left_ = kind == Kind::verbatim ? verbatim_prefix_bytes : 0;
  string_ = kind;
  state_ = State::content;
  follows_attribute_ = false;
  Step step = read_content(rest);
  if (step.event == Event::refused) return step;
  step.event = Event::value;
  step.count = size;
  return step;
}

// Reads the content that is here, and its end if that is here as well.
Step Machine::read_content(Bytes input) noexcept {
  Step step{.event = Event::part, .kind = string_, .complete = false};
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, input.size()));
  step.text = input.substr(0, size);
  step.consumed = size;
  left_ -= size;
  if (prefix_left_ > 0 && size > 0) {
    if (size >= prefix_left_ && step.text[prefix_left_ - 1] != ':') {
      return refuse(Refusal::bad_verbatim);
    }
    prefix_left_ -= static_cast<std::uint32_t>(std::min<std::size_t>(size, prefix_left_));
  }
  if (left_ > 0) return step;
  const Bytes rest = input.substr(size);
  if (!rest.empty() && rest[0] != '\r') return refuse(Refusal::bad_string_end);
  if (rest.size() < 2) {
    if (size == 0) step.event = Event::need_bytes;  // only the end is missing
    return step;
  }
  if (rest[1] != '\n') return refuse(Refusal::bad_string_end);
  step.consumed += 2;
  step.complete = true;
  state_ = State::value;
  end_value(step);
  return step;
}

}  // namespace katana::resp

// SPDX-License-Identifier: Apache-2.0
