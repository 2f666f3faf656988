#include "katana/app/startup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <system_error>
#include <utility>

#include "katana/base/system/monotonic_clock.hpp"

namespace katana::app {
namespace {

Result<void> call(const std::function<Result<void>()>& start) {
  try {
    return start();
  } catch (const std::exception& thrown) {
    return fail(Code::internal, thrown.what());
  } catch (...) {
    return fail(Code::internal, "it threw an object that is not a std::exception");
  }
}

// One is as it is; of several each has a line.
Error all_of(const std::vector<Error>& failures) {
  if (failures.size() == 1) return failures.front();
  std::string text = fmt::format("{} parts did not start:", failures.size());
  for (const Error& failure : failures) text += "\n  " + failure.describe();
  return {failures.front().code(), std::move(text)};
}

}  // namespace

double short_ms(Duration duration) {
  const double ms = milliseconds_of(duration);
  if (ms >= 10) return std::round(ms);
  double scale = 10;
  while (ms > 0 && ms * scale < 10) scale *= 10;
  return std::round(ms * scale) / scale;
}

Startup::Startup(Clock clock) : clock_(clock ? std::move(clock) : monotonic_now) {}

Startup::~Startup() { stop(); }

void Startup::add(StartStep part) { parts_.push_back({std::move(part), {}, State::waiting}); }

// Resolves the names of needs. A wrong name is the program's mistake, and the Error names it.
Result<void> Startup::resolve() {
  std::vector<Error> mistakes;
  for (Held& held : parts_) {
    held.needs.clear();
    const auto same = [&](const Held& other) { return other.part.name == held.part.name; };
    if (std::ranges::count_if(parts_, same) != 1) {
      mistakes.emplace_back(
          Code::already_exists,
          fmt::format("part '{}' is there twice: give one another name", held.part.name));
    }
    for (const std::string& need : held.part.needs) {
      const auto found =
          std::ranges::find_if(parts_, [&](const Held& other) { return other.part.name == need; });
      if (found == parts_.end()) {
        mistakes.emplace_back(
            Code::not_found,
            fmt::format("part '{}' needs '{}', which is not there: add it", held.part.name, need));
        continue;
      }
      held.needs.push_back(static_cast<std::size_t>(found - parts_.begin()));
    }
  }
  if (!mistakes.empty()) return std::unexpected(all_of(mistakes));
  return {};
}

Result<void> Startup::start() {
  if (auto resolved = resolve(); !resolved) return resolved;
  began_ = clock_();
  work();
  for (std::thread& worker : workers_) worker.join();
  workers_.clear();
  if (failures_.empty()) {
    const auto left = std::ranges::find(parts_, State::waiting, &Held::state);
    if (left == parts_.end()) return {};
    failures_.emplace_back(Code::invalid_argument,
                           fmt::format("part '{}' was never begun: it is one of several that need "
                                       "one another in a circle",
                                       left->part.name));
  }
  stop();
  return std::unexpected(all_of(failures_));
}

bool Startup::may_begin(const Held& held) const {
  return held.state == State::waiting && std::ranges::all_of(held.needs, [&](std::size_t need) {
           return parts_[need].state == State::started;
         });
}

Startup::Held* Startup::take_ready() {
  const auto found =
      std::ranges::find_if(parts_, [&](const Held& held) { return may_begin(held); });
  if (found == parts_.end()) return nullptr;
  found->state = State::running;
  ++running_;
  return &*found;
}

// The work of the caller's thread and of every other one: starts the next part that may begin,
// until none is left.
void Startup::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    Held* const held = take_ready();
    if (held == nullptr) {
      if (running_ == 0) break;
      changed_.wait(lock);
      continue;
    }
    if (threads_ &&
        std::ranges::any_of(parts_, [&](const Held& other) { return may_begin(other); })) {
      add_worker();
    }
    run(*held, lock);
  }
  changed_.notify_all();
}

void Startup::add_worker() {
  try {
    workers_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    // Without another thread the parts start one after another, which is only slower.
  }
}

void Startup::run(Held& held, std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  const Instant began = clock_();
  const Result<void> result = call(held.part.start);
  const Instant ended = clock_();
  lock.lock();
  --running_;
  if (result) {
    held.state = State::started;
    started_.push_back(static_cast<std::size_t>(&held - parts_.data()));
    reports_.push_back({held.part.name, began - began_, ended - began});
  } else {
    held.state = State::failed;
    failures_.push_back(error_of(held.part, result.error()));
  }
  changed_.notify_all();
}

Error Startup::error_of(const StartStep& part, const Error& cause) const {
  const std::string context = fmt::format("'{}' did not start", part.name);
  if (part.remedy.empty()) return cause.within(context);
  return Error(cause.code(), fmt::format("{}: {}. {}", context, cause.describe(), part.remedy));
}

void Startup::stop() noexcept {
  for (; !started_.empty(); started_.pop_back()) {
    const StartStep& part = parts_[started_.back()].part;
    if (part.stop) part.stop();
  }
}

std::string Startup::describe() const {
  std::string text;
  for (const PartReport& report : reports_) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {:.1f} ms", report.name, milliseconds_of(report.took));
  }
  return text;
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
