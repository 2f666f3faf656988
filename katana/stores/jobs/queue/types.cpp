#include "katana/stores/jobs/queue/types.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace katana::queue {
namespace {

bool is_name_octet(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.';
}

constexpr Duration day = seconds(24 * 3600);

struct DurationRule {
  const char* name;
  Duration value;
  Duration least;
  Duration most;
};

}  // namespace

Result<void> check_name(const std::string& queue) {
  if (!queue.empty() && queue.size() <= name_bytes_max &&
      std::ranges::all_of(queue, is_name_octet)) {
    return {};
  }
  return fail(Code::invalid_argument,
              fmt::format("'{}' is no name of a queue: give 1 to {} letters, digits, '-', '_', '.'",
                          queue.substr(0, name_bytes_max), name_bytes_max));
}

Result<void> EnqueueOptions::check() const {
  if (priority < -priority_max || priority > priority_max) {
    return fail(Code::invalid_argument, fmt::format("a job's priority {} is not from {} to {}",
                                                    priority, -priority_max, priority_max));
  }
  if (delay < Duration{} || delay > day * 3660) {
    return fail(Code::invalid_argument, "a job's delay is not between nothing and ten years");
  }
  if (key.size() > key_bytes_max || key.find('\0') != std::string::npos) {
    return fail(Code::invalid_argument,
                fmt::format("a job's key has a zero byte or {} bytes, more than {}", key.size(),
                            key_bytes_max));
  }
  return {};
}

Result<void> HandlerOptions::check(const std::string& queue) const {
  if (auto name = check_name(queue); !name) return name;
  if (concurrency < 1 || concurrency > 10'000) {
    return fail(
        Code::invalid_argument,
        fmt::format("queue '{}': concurrency {} is not from 1 to 10000", queue, concurrency));
  }
  if (attempts_max < 1 || attempts_max > 1000) {
    return fail(
        Code::invalid_argument,
        fmt::format("queue '{}': attempts_max {} is not from 1 to 1000", queue, attempts_max));
  }
  const DurationRule rules[] = {
      {"timeout", timeout, milliseconds(1), day * 7},
      {"lease", lease, milliseconds(100), day},
      {"backoff_min", backoff_min, milliseconds(1), day},
      {"backoff_max", backoff_max, backoff_min, day * 30},
      {"poll", poll, milliseconds(1), seconds(3600)},
      {"stop_grace", stop_grace, Duration{}, Duration{lease.ns / 2}},
      {"drain_grace", drain_grace, Duration{}, day},
      {"done_kept", done_kept, Duration{}, day * 3660},
      {"dead_kept", dead_kept, Duration{}, day * 3660},
  };
  for (const DurationRule& rule : rules) {
    if (rule.value >= rule.least && rule.value <= rule.most) continue;
    return fail(Code::invalid_argument,
                fmt::format("queue '{}': {} of {} ms is not from {} ms to {} ms", queue, rule.name,
                            milliseconds_of(rule.value), milliseconds_of(rule.least),
                            milliseconds_of(rule.most)));
  }
  return {};
}

Duration backoff_of(const HandlerOptions& options, std::uint64_t failures,
                    std::uint64_t random) noexcept {
  std::int64_t ns = options.backoff_min.ns;
  for (std::uint64_t count = 1; count < failures && ns < options.backoff_max.ns; ++count) ns *= 2;
  ns = std::max<std::int64_t>(std::min(ns, options.backoff_max.ns), 2);
  return nanoseconds(ns / 2 +
                     static_cast<std::int64_t>(random % static_cast<std::uint64_t>(ns / 2 + 1)));
}

}  // namespace katana::queue

// SPDX-License-Identifier: Apache-2.0
