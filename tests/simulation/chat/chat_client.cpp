#include "tests/simulation/chat/chat_client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace katana::simulation {
namespace {

// Unlike any other for a while, so that two messages that got mixed up show.
char letter_of(std::uint32_t sender, std::uint32_t sequence, std::size_t at) {
  return static_cast<char>('a' + (sender * 7 + sequence * 3 + at) % 26);
}

bool take_number(std::string_view& text, std::uint32_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

constexpr const char* garbage[] = {"\xff\xfe",  "a\tb",     "\x1b[2J", "/dance", "/join",
                                   "/nick a b", "\xc0\xaf", "/leave",  "",       "/leave now"};

}  // namespace

std::string message_text(std::uint32_t sender, std::uint32_t sequence, std::size_t bytes_max) {
  std::string text = fmt::format("c{} s{} ", sender, sequence);
  const std::size_t size =
      text.size() + (sender * 131 + sequence * 977) % std::max<std::size_t>(1, bytes_max);
  for (std::size_t at = text.size(); at < size; ++at) text += letter_of(sender, sequence, at);
  return text + ".";
}

ChatClient::ChatClient(SimNetwork& network, std::uint16_t port, const ChatPlan& plan,
                       std::uint64_t seed)
    : network_(network), port_(port), plan_(plan), random_(seed), peer_(network) {
  plan_lines();
  network_.after(plan.start, [this] {
    peer_.connect(port_);
    if (plan_.habit != Habit::reads) peer_.stop_reading();
    if (plan_.habit == Habit::pauses) {
      network_.after(milliseconds(static_cast<std::int64_t>(random_.between(1, 2000))),
                     [this] { peer_.start_reading(); });
    }
    if (plan_.waits_to_talk) return;
    network_.after(plan_.talks_after, [this] { talk(); });
  });
}

void ChatClient::plan_lines() {
  for (std::uint32_t sequence = 0; sequence < plan_.messages; ++sequence) {
    if (random_.chance(plan_.garbage_per_1024)) {
      lines_.push_back(random_.below(8) == 0 ? std::string(9000, 'x') + "\n"
                                             : std::string(garbage[random_.below(10)]) + "\n");
    }
    if (random_.chance(plan_.commands_per_1024)) {
      constexpr const char* commands[] = {"/join red\n", "/join lobby\r\n", "/who\n", "/leave\n"};
      lines_.push_back(random_.below(5) == 0 ? fmt::format("/nick n{}\n", random_.below(5))
                                             : commands[random_.below(4)]);
    }
    lines_.push_back(message_text(plan_.number, sequence, plan_.text_bytes_max) + "\n");
  }
}

void ChatClient::talk() {
  if (over()) {
    lines_.clear();
    talking_ = false;
    return;
  }
  if (lines_.empty()) {
    leave();
    talking_ = false;
    return;
  }
  std::string& line = lines_.front();
  const std::size_t size =
      plan_.slice_bytes_max == 0
          ? line.size()
          : std::min<std::size_t>(line.size(), random_.between(1, plan_.slice_bytes_max));
  peer_.send(line.substr(0, size));
  line.erase(0, size);
  if (line.empty()) lines_.pop_front();
  const auto pause_us = static_cast<std::int64_t>(random_.below(
      static_cast<std::uint64_t>(std::max<std::int64_t>(1, plan_.pause_max.ns / 1000))));
  network_.after(microseconds(pause_us), [this] { talk(); });
}

void ChatClient::leave() {
  switch (plan_.leaving) {
    case Leaving::stays: return;
    case Leaving::quits: peer_.send("/quit\n"); return;
    case Leaving::half_closes: peer_.finish(); return;
    case Leaving::closes: peer_.close(); break;
    case Leaving::resets: peer_.reset(); break;
  }
  left_ = true;
}

void ChatClient::judge(bool all) {
  const std::string& text = peer_.received();
  for (;;) {
    const std::size_t end = text.find('\n', judged_);
    if (end == std::string::npos) break;
    read_line(std::string_view(text).substr(judged_, end - judged_));
    judged_ = end + 1;
  }
  // After an orderly end by the server, no line is incomplete. After another end, one may be.
  if (all && judged_ != text.size() && peer_.saw_end() && !left_) {
    complain(fmt::format("the stream ends with '{}'", text.substr(judged_, 40)));
  }
}

void ChatClient::read_line(std::string_view line) {
  last_line_ = line;
  if (line.starts_with("* ") || line.starts_with("! ")) {
    std::uint32_t count = 0;
    std::string_view rest = line.substr(2);
    const auto is_about = [line](std::string_view what) {
      return line.find(what) != std::string_view::npos;
    };
    const bool is_dropped = is_about("because you read too slowly");
    if (is_dropped || is_about("lost on the way from another server")) {
      if (!take_number(rest, count)) complain(fmt::format("no number in '{}'", line));
      (is_dropped ? told_dropped_ : told_lost_) += count;
    } else if (line.starts_with("* The last ")) {
      rest.remove_prefix(std::string_view("The last ").size());
      if (!take_number(rest, history_left_)) complain(fmt::format("no number in '{}'", line));
    } else if (is_about(" is somebody else on another server.")) {
      ++renamed_;
    }
    return;
  }
  const std::size_t name_end = line.find("] ");
  std::string_view text = name_end == std::string_view::npos ? "" : line.substr(name_end + 2);
  const std::string_view whole = text;
  std::uint32_t sender = 0;
  std::uint32_t sequence = 0;
  if (!line.starts_with('[') || !text.starts_with('c')) {
    complain(fmt::format("no message: '{}'", line.substr(0, 60)));
    return;
  }
  text.remove_prefix(1);
  if (!take_number(text, sender) || !text.starts_with(" s")) {
    complain(fmt::format("no message: '{}'", line.substr(0, 60)));
    return;
  }
  text.remove_prefix(2);
  if (!take_number(text, sequence) ||
      whole != message_text(sender, sequence, plan_.text_bytes_max)) {
    complain(
        fmt::format("message {} of {} was changed: '{}'", sequence, sender, line.substr(0, 60)));
    return;
  }
  if (history_left_ > 0) {
    --history_left_;
    ++recalled_;
    return;
  }
  if (sender == plan_.number) complain("it got a message of its own");
  if (sequence < next_[sender]) {
    complain(fmt::format("message {} of {} came behind {}", sequence, sender, next_[sender] - 1));
  }
  next_[sender] = sequence + 1;
  ++received_;
}

void ChatClient::complain(std::string what) {
  if (faults_.size() < 3) faults_.push_back(fmt::format("client {}: {}", plan_.number, what));
}

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
