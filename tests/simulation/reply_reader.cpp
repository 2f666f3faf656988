#include "tests/simulation/reply_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace katana::simulation {
namespace {

constexpr std::size_t date_octets = 29;
constexpr Bytes head_begin = "HTTP/1.1 ";

bool starts(const std::string& text, Bytes prefix) { return text.starts_with(prefix); }

// All of `text` is a number.
bool parse(Bytes text, int base, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

std::string ReceivedReply::head_without_framing() const {
  std::string rest;
  for (std::size_t at = 0; at < head.size();) {
    const std::size_t end = head.find("\r\n", at) + 2;
    const std::string line = head.substr(at, end - at);
    if (!starts(line, "Content-Length:") && !starts(line, "Transfer-Encoding:")) rest += line;
    at = end;
  }
  return rest;
}

bool ReplyReader::fail(std::string what) {
  error_ = std::move(what);
  state_ = State::broken;
  return false;
}

void ReplyReader::feed(Bytes bytes) {
  buffer_.append(bytes);
  while (step()) {
  }
  buffer_.erase(0, std::exchange(at_, 0));
}

// True: it got on.
bool ReplyReader::step() {
  switch (state_) {
    case State::head: return read_head();
    case State::content:
      take_content();
      if (left_ > 0 || partial_.framing == Framing::end) return false;
      complete();
      return true;
    case State::chunk_size: return read_chunk_size();
    case State::chunk:
      take_content();
      if (left_ > 0) return false;
      state_ = State::chunk_end;
      return true;
    case State::chunk_end: {
      if (buffer_.size() - at_ < 2) return false;
      if (buffer_.compare(at_, 2, "\r\n") != 0) return fail("a chunk does not end where it should");
      at_ += 2;
      state_ = State::chunk_size;
      if (last_chunk_) complete();
      return true;
    }
    case State::broken: break;
  }
  return false;
}

bool ReplyReader::read_line(std::string& line) {
  const std::size_t end = buffer_.find("\r\n", at_);
  if (end == std::string::npos) return false;
  line = buffer_.substr(at_, end - at_);
  at_ = end + 2;
  return true;
}

bool ReplyReader::read_head() {
  const std::size_t end = buffer_.find("\r\n\r\n", at_);
  if (end == std::string::npos) {
    const std::size_t begun = std::min(buffer_.size() - at_, head_begin.size());
    const bool may_be_one = buffer_.compare(at_, begun, head_begin.substr(0, begun)) == 0;
    return may_be_one ? false : fail("what comes next is no reply: " + buffer_.substr(at_, 40));
  }
  std::string line;
  if (!read_line(line) || !starts(line, head_begin)) return fail("no status line: " + line);
  std::uint64_t status = 0;
  if (!parse(Bytes(line).substr(9, 3), 10, status)) return fail("no status: " + line);
  partial_.status = static_cast<unsigned>(status);
  partial_.head = line + "\r\n";
  if (status == 100) {
    if (at_ != end + 2) return fail("100 (Continue) with fields");
    at_ = end + 4;
    partial_ = {};
    ++continues_;
    ++continues_in_all_;
    return expected_.empty() ? fail("100 (Continue) that nobody asked for") : true;
  }
  if (expected_.empty()) return fail("a reply that nothing asked for: " + line);
  std::int64_t length = -1;
  has_date_ = false;
  while (read_line(line) && !line.empty()) read_field(line, length);
  if (state_ == State::broken) return false;
  if (!has_date_) return fail("a reply without Date");
  begin_content(length);
  return true;
}

void ReplyReader::read_field(const std::string& line, std::int64_t& length) {
  if (starts(line, "Date: ")) {
    if (line.size() != 6 + date_octets || has_date_) fail("not one Date: " + line);
    has_date_ = true;
    partial_.head += "Date: masked\r\n";
    return;
  }
  partial_.head += line + "\r\n";
  std::uint64_t number = 0;
  if (starts(line, "Content-Length: ")) {
    if (length >= 0 || partial_.framing == Framing::chunked || !parse(line.substr(16), 10, number))
      fail("not one Content-Length: " + line);
    length = static_cast<std::int64_t>(number);
    partial_.framing = Framing::length;
  } else if (starts(line, "Transfer-Encoding: ")) {
    if (partial_.framing != Framing::none || line.substr(19) != "chunked")
      fail("not one chunked Transfer-Encoding: " + line);
    partial_.framing = Framing::chunked;
  } else if (line == "Connection: close") {
    partial_.closes = true;
  } else if (line.find(": ") == std::string::npos) {
    fail("no field line: " + line);
  }
}

void ReplyReader::begin_content(std::int64_t length) {
  const bool without = expected_.front() || partial_.status == 204 || partial_.status == 304;
  last_chunk_ = false;
  if (without) {
    left_ = 0;
    state_ = State::content;
    if (partial_.framing == Framing::none) partial_.framing = Framing::length;  // it is complete
  } else if (partial_.framing == Framing::chunked) {
    state_ = State::chunk_size;
  } else if (length >= 0) {
    left_ = static_cast<std::uint64_t>(length);
    state_ = State::content;
  } else {
    partial_.framing = Framing::end;
    left_ = UINT64_MAX;
    state_ = State::content;
    if (!partial_.closes) fail("a reply of unknown length that does not close");
  }
}

bool ReplyReader::read_chunk_size() {
  std::string line;
  if (!read_line(line)) return false;
  if (!parse(line, 16, left_)) return fail("no size of a chunk: " + line);
  last_chunk_ = left_ == 0;
  state_ = last_chunk_ ? State::chunk_end : State::chunk;
  return true;
}

void ReplyReader::take_content() {
  const std::size_t count = std::min<std::uint64_t>(left_, buffer_.size() - at_);
  partial_.content.append(buffer_, at_, count);
  at_ += count;
  if (partial_.framing != Framing::end) left_ -= count;
}

void ReplyReader::complete() {
  replies_.push_back(std::exchange(partial_, {}));
  expected_.pop_front();
  continues_ = 0;
  state_ = State::head;
}

void ReplyReader::end() {
  if (state_ == State::content && partial_.framing == Framing::end) complete();
}

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
