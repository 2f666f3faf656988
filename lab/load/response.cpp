#include "load/response.hpp"

#include <algorithm>
#include <cstring>

#include "katana/base/check.hpp"
#include "katana/wire/http/characters.hpp"

namespace katana::load {
namespace {

using http::is;

bool is_digit(char c) { return is(c, http::digit_character); }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

bool equals_lower(Bytes text, Bytes wanted) { return std::ranges::equal(text, wanted, {}, lower); }

Bytes trimmed(Bytes text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == Bytes::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Calls `take(element)` for each element of a list that is not empty (RFC 9110 §5.6.1).
template <class Take>
void for_each_element(Bytes list, Take&& take) {
  while (!list.empty()) {
    const auto comma = std::min(list.find(','), list.size());
    if (const Bytes element = trimmed(list.substr(0, comma)); !element.empty()) take(element);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
}

// One number, or the same number several times (RFC 9110 §8.6).
const char* read_length(Bytes value, ReplyFacts& facts) {
  const char* problem = nullptr;
  bool any = false;
  for_each_element(value, [&](Bytes element) {
    any = true;
    std::uint64_t length = 0;
    for (const char c : element) {
      if (!is_digit(c) || length > (UINT64_MAX >> 5)) {
        problem = "Content-Length is no number";
        return;
      }
      length = length * 10 + static_cast<unsigned>(c - '0');
    }
    const auto known = facts.content_length;
    if (length > INT64_MAX) {
      problem = "Content-Length is no number";
    } else if (known != ReplyFacts::no_length && known != static_cast<std::int64_t>(length)) {
      problem = "two values of Content-Length";
    }
    facts.content_length = static_cast<std::int64_t>(length);
  });
  return any ? problem : "Content-Length is no number";
}

}  // namespace

const char* read_status_line(Bytes line, ReplyFacts& facts) noexcept {
  constexpr std::size_t status_end = 12;  // of "HTTP/1.1 200"
  if (line.size() < status_end || !line.starts_with("HTTP/1.") || !is_digit(line[7]) ||
      line[8] != ' ') {
    return "no HTTP/1.x status line";
  }
  const Bytes digits = line.substr(9, 3);
  if (!std::ranges::all_of(digits, is_digit) || digits[0] == '0' || digits[0] > '5') {
    return "the status is no number from 100 to 599";
  }
  // The space is due even without a reason (RFC 9112 §4); servers that leave it out are understood.
  if (line.size() > status_end && line[status_end] != ' ') return "no space after the status";
  facts.old_version = line[7] == '0';
  facts.status = static_cast<std::uint16_t>((digits[0] - '0') * 100 + (digits[1] - '0') * 10 +
                                            (digits[2] - '0'));
  return "";
}

const char* read_field_line(Bytes line, ReplyFacts& facts) noexcept {
  const auto colon = line.find(':');
  if (colon == Bytes::npos || colon == 0) return "a field without a name";
  const Bytes name = line.substr(0, colon);
  if (!std::ranges::all_of(name, [](char c) { return is(c, http::token_character); })) {
    return "a field's name is no token";
  }
  const Bytes value = trimmed(line.substr(colon + 1));
  if (value.find('\0') != Bytes::npos) return "a field's value has a NUL";
  if (equals_lower(name, "content-length")) {
    if (const char* problem = read_length(value, facts)) return problem;
  } else if (equals_lower(name, "transfer-encoding")) {
    facts.has_coding = true;
    for_each_element(value, [&](Bytes coding) { facts.chunked = equals_lower(coding, "chunked"); });
  } else if (equals_lower(name, "connection")) {
    for_each_element(value, [&](Bytes option) {
      facts.closes = facts.closes || equals_lower(option, "close");
      facts.keeps_alive = facts.keeps_alive || equals_lower(option, "keep-alive");
    });
  }
  return "";
}

void HeadMemo::remember(Bytes head, const ReplyFacts& facts) noexcept {
  if (head.size() > text_.size()) return;
  std::memcpy(text_.data(), head.data(), head.size());
  size_ = head.size();
  facts_ = facts;
}

ResponseMachine::Step ResponseMachine::next(Bytes input, bool to_head, HeadMemo& memo) noexcept {
  switch (state_) {
    case State::head:
      if (head_bytes_ == 0 && memo.matches(input)) {
        reading_ = memo.facts();
        return end_head(input, memo.size(), to_head);
      }
      return next_line(input, to_head, memo);
    case State::length: return next_length(input, 0);
    case State::chunks: return next_chunks(input);
    case State::until_close: break;
  }
  return {input.empty() ? Event::needs_more : Event::content, input.size(), input};
}

ResponseMachine::Step ResponseMachine::next_line(Bytes input, bool to_head,
                                                 HeadMemo& memo) noexcept {
  const bool begins_here = head_bytes_ == 0;
  std::size_t at = 0;
  while (true) {
    const Bytes rest = input.substr(at);
    const auto end = rest.find('\n');
    const std::size_t line_bytes = end == Bytes::npos ? rest.size() : end + 1;
    if (head_bytes_ + line_bytes > head_bytes_max) return malformed("the head is too long");
    if (head_bytes_ == 0) {
      // Garbage is known by its first octets; it might never have a line end.
      constexpr Bytes version = "HTTP/1.";
      if (!version.starts_with(rest.substr(0, version.size()))) {
        return malformed("no HTTP/1.x status line");
      }
    }
    if (end == Bytes::npos) return {Event::needs_more, at, {}};
    if (end == 0 || rest[end - 1] != '\r') return malformed("LF without CR in the head");
    const Bytes line = rest.substr(0, end - 1);
    if (line.find('\r') != Bytes::npos) return malformed("CR without LF in the head");
    at += line_bytes;
    const bool is_first = head_bytes_ == 0;
    if (line.empty() && !is_first) break;
    if (is_first) reading_ = {};
    const char* problem =
        is_first ? read_status_line(line, reading_) : read_field_line(line, reading_);
    if (*problem != '\0') return malformed(problem);
    head_bytes_ += static_cast<std::uint32_t>(line_bytes);
  }
  if (begins_here) memo.remember(input.substr(0, at), reading_);
  return end_head(input, at, to_head);
}

ResponseMachine::Step ResponseMachine::end_head(Bytes input, std::size_t consumed,
                                                bool to_head) noexcept {
  head_bytes_ = 0;
  if (reading_.status < 200) {
    if (reading_.status == 101) return malformed("101, and no upgrade was asked for");
    if (++interims_ > interim_max) return malformed("too many interim replies");
    return {Event::interim, consumed, {}};
  }
  interims_ = 0;
  facts_ = reading_;
  if (const char* problem = frame(to_head)) return malformed(problem);
  if (state_ == State::head) return complete(consumed, {});
  if (state_ == State::length) return next_length(input, consumed);
  return {Event::content, consumed, {}};
}

// RFC 9112 §6.3. Null, or what is wrong.
const char* ResponseMachine::frame(bool to_head) noexcept {
  const ReplyFacts& facts = facts_;
  keeps_open_ = !facts.closes && (!facts.old_version || facts.keeps_alive);
  if (facts.has_coding && facts.old_version) return "Transfer-Encoding in HTTP/1.0";
  if (facts.has_coding && facts.content_length != ReplyFacts::no_length) {
    return "both Transfer-Encoding and Content-Length";
  }
  if (to_head || facts.status == 204 || facts.status == 304) return nullptr;
  if (facts.chunked) {
    chunks_.begin();
    state_ = State::chunks;
  } else if (facts.content_length == ReplyFacts::no_length) {
    keeps_open_ = false;
    state_ = State::until_close;
  } else if (facts.content_length > 0) {
    left_ = static_cast<std::uint64_t>(facts.content_length);
    state_ = State::length;
  }
  return nullptr;
}

ResponseMachine::Step ResponseMachine::next_length(Bytes input, std::size_t consumed) noexcept {
  const Bytes content =
      input.substr(consumed, std::min<std::uint64_t>(input.size() - consumed, left_));
  left_ -= content.size();
  consumed += content.size();
  if (left_ == 0) return complete(consumed, content);
  return {consumed == 0 ? Event::needs_more : Event::content, consumed, content};
}

ResponseMachine::Step ResponseMachine::next_chunks(Bytes input) noexcept {
  const Chunks::Step step = chunks_.next(input);
  if (step.problem != nullptr) return malformed(step.problem);
  if (step.done) return complete(step.consumed, step.content);
  const bool is_all = step.content.empty();
  return {is_all ? Event::needs_more : Event::content, step.consumed, step.content};
}

ResponseMachine::Step ResponseMachine::complete(std::size_t consumed, Bytes content) noexcept {
  state_ = State::head;
  return {Event::complete, consumed, content};
}

ResponseMachine::Step ResponseMachine::malformed(const char* problem) noexcept {
  problem_ = problem;
  keeps_open_ = false;
  return {Event::malformed, 0, {}};
}

ResponseMachine::Event ResponseMachine::end_of_input() noexcept {
  if (state_ != State::until_close) {
    problem_ = "the connection ended before the reply was whole";
    return Event::malformed;
  }
  state_ = State::head;
  return Event::complete;
}

}  // namespace katana::load
