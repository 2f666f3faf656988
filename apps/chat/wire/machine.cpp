#include "apps/chat/wire/machine.hpp"

#include <algorithm>

#include "apps/chat/wire/line_text.hpp"

namespace katana::chat {
namespace {

enum class Argument : std::uint8_t { none, optional, required };

struct Command {
  Bytes name;
  Event event;
  Argument argument;
};

constexpr Command commands[] = {{"/join", Event::join, Argument::required},
                                {"/leave", Event::leave, Argument::none},
                                {"/who", Event::who, Argument::optional},
                                {"/nick", Event::nick, Argument::required},
                                {"/quit", Event::quit, Argument::none}};

Step refuse(Refusal refusal, std::size_t consumed) noexcept {
  return {Event::refused, refusal, consumed, {}};
}

// Spaces between a command and its argument, and behind that, mean nothing.
Bytes trim(Bytes text) noexcept {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

Step read_command(Bytes line, std::size_t consumed) noexcept {
  const Bytes name = line.substr(0, line.find(' '));
  const auto* const found = std::ranges::find(commands, name, &Command::name);
  if (found == std::end(commands)) return refuse(Refusal::unknown_command, consumed);
  const Bytes argument = trim(line.substr(name.size()));
  if (argument.empty()) {
    if (found->argument == Argument::required) return refuse(Refusal::missing_name, consumed);
    return {found->event, Refusal::none, consumed, {}};
  }
  if (found->argument == Argument::none) return refuse(Refusal::unwanted_argument, consumed);
  if (!is_name(argument)) return refuse(Refusal::bad_name, consumed);
  return {found->event, Refusal::none, consumed, argument};
}

}  // namespace

Step Machine::next(Bytes input, Instant now) noexcept {
  if (timed_out_) {
    timed_out_ = false;
    go(Cause::end);
    return {Event::timed_out, Refusal::none, 0, {}};
  }
  if (ping_due_) {
    ping_due_ = false;
    return {Event::ping_due, Refusal::none, 0, {}};
  }
  if (state_ == State::closed) return {Event::closed, Refusal::none, input.size(), {}};
  return state_ == State::skipping ? skip(input, now) : next_line(input, now);
}

Step Machine::next_line(Bytes input, Instant now) noexcept {
  const std::size_t line_max = limits_->line_bytes_max;
  // The line end, "\r\n" at most, is not part of the line; further than that it need not be sought.
  const Bytes window = input.substr(0, line_max + 2);
  const std::size_t end = window.find('\n', searched_);
  if (end != Bytes::npos) {
    searched_ = 0;
    Bytes line = window.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    note_line(now);
    if (state_ == State::line) go(Cause::line_ends);
    if (line.size() > line_max) return refuse(Refusal::line_too_long, end + 1);
    return read_line(line, end + 1);
  }
  const bool is_full = window.size() == line_max + 2;
  // One byte less, and only a line feed behind a carriage return can still make it a line.
  if (is_full || (window.size() == line_max + 1 && window.back() != '\r')) {
    searched_ = 0;
    go(Cause::too_long);
    return refuse(Refusal::line_too_long, window.size());
  }
  if (state_ == State::idle && !window.empty()) go(Cause::line_begins);
  searched_ = static_cast<std::uint32_t>(window.size());
  return {};
}

Step Machine::skip(Bytes input, Instant now) noexcept {
  const std::size_t end = input.find('\n');
  if (end == Bytes::npos) return {Event::need_bytes, Refusal::none, input.size(), {}};
  note_line(now);
  go(Cause::line_ends);
  Step step = next_line(input.substr(end + 1), now);
  step.consumed += end + 1;
  return step;
}

Step Machine::read_line(Bytes line, std::size_t consumed) noexcept {
  if (const Refusal refusal = check_text(line); refusal != Refusal::none) {
    return refuse(refusal, consumed);
  }
  if (line.empty()) return {Event::empty, Refusal::none, consumed, {}};
  if (line.front() != '/') return {Event::message, Refusal::none, consumed, line};
  if (line.starts_with("//")) return {Event::message, Refusal::none, consumed, line.substr(1)};
  const Step step = read_command(line, consumed);
  if (step.event == Event::quit) go(Cause::quit);
  return step;
}

void Machine::end_of_input() noexcept { go(Cause::end); }

void Machine::note_line(Instant now) noexcept {
  const auto after = [now](Duration duration) {
    return duration == Duration{} ? never : now + duration;
  };
  pinged_ = ping_due_ = timed_out_ = false;
  ends_at_ = after(limits_->idle_timeout);
  deadline_ = std::min(ends_at_, after(limits_->ping_after));
}

void Machine::on_deadline(Instant now) noexcept {
  if (now < deadline_ || state_ == State::closed) return;
  if (now >= ends_at_) {
    timed_out_ = true;
    deadline_ = never;
  } else {
    ping_due_ = !pinged_;
    pinged_ = true;
    deadline_ = ends_at_;
  }
}

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
