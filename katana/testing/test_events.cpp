#include "katana/testing/test_events.hpp"

#include <fmt/format.h>

#include <charconv>
#include <deque>
#include <utility>

namespace katana::testing {

struct TestEvents::Inner {
  explicit Inner(PendingReply given) : pending(std::move(given)) {}
  ~Inner() { pending.reset(); }

  bool is_stream() const {
    const auto type = pending.header("content-type");
    return pending.status() == 200 && type && type->starts_with("text/event-stream");
  }
  void take() {
    if (!is_stream()) return;
    input += pending.take_content();
    std::size_t at = 0;
    for (std::size_t end; (end = input.find_first_of("\r\n", at)) != std::string::npos;) {
      // It is not known yet whether a line feed follows.
      if (input[end] == '\r' && end + 1 == input.size() && !pending.is_done()) break;
      take_line(std::string_view(input).substr(at, end - at));
      at = end + (std::string_view(input).substr(end).starts_with("\r\n") ? 2 : 1);
    }
    input.erase(0, at);
  }
  void take_line(std::string_view line) {
    if (std::exchange(is_first, false) && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
    if (line.empty()) return dispatch();
    const std::size_t colon = line.find(':');
    if (colon == 0) {
      ++comments;
      return;
    }
    const std::string_view name = line.substr(0, colon);
    std::string_view value = colon == std::string_view::npos ? "" : line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (name == "data") data.append(value).push_back('\n');
    if (name == "event") event_name = value;
    if (name == "id" && value.find('\0') == std::string_view::npos) last_id = value;
    if (name == "retry") take_retry(value);
  }
  void take_retry(std::string_view value) {
    std::int64_t ms = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), ms);
    if (error == std::errc() && end == value.data() + value.size()) retry = milliseconds(ms);
  }
  void dispatch() {
    std::string name = std::exchange(event_name, {});
    if (data.empty()) return;
    data.pop_back();
    if (name.empty()) name = "message";
    events.push_back({.id = last_id, .name = std::move(name), .data = std::exchange(data, {})});
  }

  PendingReply pending;
  std::string input, data, event_name, last_id;
  std::deque<TestEvent> events;
  std::size_t comments = 0;
  std::size_t taken = 0;
  std::optional<Duration> retry;
  bool is_first = true;
};

TestEvents::TestEvents(PendingReply pending) : inner_(std::make_unique<Inner>(std::move(pending))) {
  inner_->pending.wait_for_head();
}
TestEvents::TestEvents(TestEvents&&) noexcept = default;
TestEvents& TestEvents::operator=(TestEvents&&) noexcept = default;
TestEvents::~TestEvents() = default;

unsigned TestEvents::status() const noexcept { return inner_->pending.status(); }

std::optional<std::string_view> TestEvents::header(std::string_view name) const noexcept {
  return inner_->pending.header(name);
}

TestReply TestEvents::reply() { return inner_->pending.reply(); }

Result<TestEvent> TestEvents::next(Duration limit) {
  Inner& inner = *inner_;
  inner.pending.wait_for(
      [&] {
        inner.take();
        return !inner.events.empty() || (inner.pending.status() != 0 && !inner.is_stream());
      },
      limit);
  inner.take();
  if (!inner.events.empty()) {
    TestEvent oldest = std::move(inner.events.front());
    inner.events.pop_front();
    ++inner.taken;
    return oldest;
  }
  const bool is_late = !is_over() && inner.is_stream();
  return fail(is_late ? Code::deadline_exceeded : Code::unavailable, describe());
}

std::size_t TestEvents::waiting() {
  inner_->take();
  return inner_->events.size();
}

std::size_t TestEvents::comments() {
  inner_->take();
  return inner_->comments;
}

std::optional<Duration> TestEvents::retry() {
  inner_->take();
  return inner_->retry;
}

const std::string& TestEvents::last_event_id() {
  inner_->take();
  return inner_->last_id;
}

bool TestEvents::is_over() const noexcept { return inner_->pending.is_done(); }

bool TestEvents::wait_for_end(Duration limit) {
  inner_->pending.wait_for([] { return false; }, limit);
  return is_over();
}

void TestEvents::pause_reading() { inner_->pending.pause_reading(); }
void TestEvents::resume_reading() { inner_->pending.resume_reading(); }
void TestEvents::reset() { inner_->pending.reset(); }

std::string TestEvents::describe() {
  inner_->take();
  const std::string& request = inner_->pending.state_->request;
  if (is_over() && !reply().problem().empty()) return reply().problem();
  if (!inner_->is_stream()) {
    return fmt::format("{}: no stream of events: {} {} (seed {})", request, status(),
                       header("content-type").value_or("no type"), inner_->pending.state_->seed);
  }
  return fmt::format("{}: {}, {} events taken, {} waiting, {} comments (seed {})", request,
                     is_over() ? "the stream ended" : "the stream goes on", inner_->taken,
                     inner_->events.size(), inner_->comments, inner_->pending.state_->seed);
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
