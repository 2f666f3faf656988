#include "katana/wire/nats/machine.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace katana::nats {
namespace {

constexpr Bytes content_line_end = "\r\n";
constexpr std::size_t arguments_max = 5;

constexpr char upper(char octet) noexcept {
  return octet >= 'a' && octet <= 'z' ? static_cast<char>(octet - ('a' - 'A')) : octet;
}

// Names of operations are compared without regard to case, as servers do.
bool is_operation(Bytes text, Bytes name) noexcept {
  if (text.size() != name.size()) return false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (upper(text[at]) != name[at]) return false;
  }
  return true;
}

constexpr bool is_blank(char octet) noexcept { return octet == ' ' || octet == '\t'; }

Bytes without_blanks(Bytes text) noexcept {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

struct Arguments {
  std::array<Bytes, arguments_max> at;
  std::size_t count = 0;  // one more than there is room for: too many
};

Arguments split(Bytes text) noexcept {
  Arguments arguments;
  while (!text.empty()) {
    if (is_blank(text.front())) {
      text.remove_prefix(1);
      continue;
    }
    std::size_t end = 0;
    while (end < text.size() && !is_blank(text[end])) ++end;
    if (arguments.count == arguments_max) {
      ++arguments.count;
      break;
    }
    arguments.at[arguments.count++] = text.substr(0, end);
    text.remove_prefix(end);
  }
  return arguments;
}

// REQUIRES that the text is not empty.
std::optional<std::uint64_t> number_of(Bytes text) noexcept {
  if (text.size() > 19) return std::nullopt;  // a longer number does not fit
  std::uint64_t number = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '9') return std::nullopt;
    number = number * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  return number;
}

// A subject that would not be one for its receiver is no subject: it has no controls.
bool is_text(Bytes text) noexcept {
  return std::ranges::none_of(
      text, [](char octet) { return static_cast<unsigned char>(octet) < ' ' || octet == 0x7f; });
}

}  // namespace

Bytes sentence_of(Refusal refusal) noexcept {
  switch (refusal) {
    case Refusal::none: return "nothing is wrong";
    case Refusal::unknown_operation: return "a line does not begin with an operation of NATS";
    case Refusal::line_too_long: return "a line is longer than it may be";
    case Refusal::bad_arguments: return "an operation does not have the arguments that it should";
    case Refusal::bad_size: return "the size of a message is no number, or less than its headers'";
    case Refusal::message_too_large: return "a message is larger than it may be";
    case Refusal::no_line_end: return "there is no line end behind the bytes of a message";
    case Refusal::count_: break;
  }
  return "unknown";
}

Step Machine::refuse(Refusal refusal) noexcept {
  state_ = State::refused;
  refusal_ = refusal;
  return {.event = Event::refused};
}

Step Machine::next(Bytes input) noexcept {
  switch (state_) {
    case State::line: return next_line(input);
    case State::content: return next_content(input);
    case State::content_end: return next_content_end(input);
    case State::refused: break;
  }
  return {.event = Event::refused};
}

Step Machine::next_line(Bytes input) noexcept {
  const std::size_t from = std::min(searched_, input.size());
  const std::size_t found = input.find('\n', from);
  const std::size_t size = found != Bytes::npos ? found : input.size();
  const bool is_info = is_operation(input.substr(0, std::min<std::size_t>(4, size)), "INFO");
  const std::size_t bytes_max = is_info ? limits_.info_bytes_max : limits_.line_bytes_max;
  if (found == Bytes::npos) {
    searched_ = input.size();
    if (size > bytes_max + 1) return refuse(Refusal::line_too_long);  // one may be '\r'
    return {};
  }
  searched_ = 0;
  Bytes line = input.substr(0, found);
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.size() > bytes_max) return refuse(Refusal::line_too_long);
  return read_line(line, found + 1);
}

Step Machine::read_line(Bytes line, std::size_t consumed) noexcept {
  std::size_t name_size = 0;
  while (name_size < line.size() && !is_blank(line[name_size])) ++name_size;
  const Bytes name = line.substr(0, name_size);
  const Bytes rest = without_blanks(line.substr(name_size));
  if (is_operation(name, "MSG")) return read_head(rest, false, consumed);
  if (is_operation(name, "HMSG")) return read_head(rest, true, consumed);
  if (is_operation(name, "PING")) return {.event = Event::ping, .consumed = consumed};
  if (is_operation(name, "PONG")) return {.event = Event::pong, .consumed = consumed};
  if (is_operation(name, "+OK")) return {.event = Event::ok, .consumed = consumed};
  if (is_operation(name, "-ERR")) {
    return {.event = Event::error, .consumed = consumed, .text = rest};
  }
  if (is_operation(name, "INFO")) {
    return {.event = Event::info, .consumed = consumed, .text = rest};
  }
  return refuse(Refusal::unknown_operation);
}

Step Machine::read_head(Bytes text, bool has_headers, std::size_t consumed) noexcept {
  const Arguments arguments = split(text);
  const std::size_t least = has_headers ? 4 : 3;
  if (arguments.count != least && arguments.count != least + 1) {
    return refuse(Refusal::bad_arguments);
  }
  const bool has_reply = arguments.count == least + 1;
  MessageHead head;
  head.subject = arguments.at[0];
  if (has_reply) head.reply_to = arguments.at[2];
  const auto subscription = number_of(arguments.at[1]);
  if (!subscription || !is_text(head.subject) || !is_text(head.reply_to)) {
    return refuse(Refusal::bad_arguments);
  }
  head.subscription = *subscription;
  const auto size = number_of(arguments.at[arguments.count - 1]);
  if (!size) return refuse(Refusal::bad_size);
  if (*size > limits_.message_bytes_max) return refuse(Refusal::message_too_large);
  head.size = static_cast<std::uint32_t>(*size);
  if (has_headers) {
    const auto header_size = number_of(arguments.at[arguments.count - 2]);
    if (!header_size || *header_size > *size) return refuse(Refusal::bad_size);
    head.header_size = static_cast<std::uint32_t>(*header_size);
  }
  left_ = head.size;
  is_empty_ = left_ == 0;
  state_ = State::content;
  return {.event = Event::message, .consumed = consumed, .head = head};
}

Step Machine::next_content(Bytes input) noexcept {
  if (input.empty() && !is_empty_) return {};
  is_empty_ = false;
  const Bytes piece = input.substr(0, left_);
  left_ -= static_cast<std::uint32_t>(piece.size());
  const bool is_last = left_ == 0;
  if (is_last) state_ = State::content_end;
  return {.event = Event::piece, .consumed = piece.size(), .text = piece, .is_last = is_last};
}

Step Machine::next_content_end(Bytes input) noexcept {
  const std::size_t compared = std::min(content_line_end.size(), input.size());
  if (input.substr(0, compared) != content_line_end.substr(0, compared)) {
    return refuse(Refusal::no_line_end);
  }
  if (input.size() < content_line_end.size()) return {};
  state_ = State::line;
  Step step = next_line(input.substr(content_line_end.size()));
  if (step.event != Event::refused) step.consumed += content_line_end.size();
  return step;
}

}  // namespace katana::nats

// SPDX-License-Identifier: Apache-2.0
