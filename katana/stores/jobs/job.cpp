#include "katana/stores/jobs/job.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "katana/data/config/units.hpp"

namespace katana::jobs {
namespace {

bool is_name_octet(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.';
}

}  // namespace

Result<void> Job::check() const {
  const auto wrong = [this](const std::string& what) {
    return fail(Code::invalid_argument,
                fmt::format("job '{}': {}", name.substr(0, job_name_bytes_max), what));
  };
  if (name.empty() || name.size() > job_name_bytes_max ||
      !std::ranges::all_of(name, is_name_octet)) {
    return wrong(
        fmt::format("a name has 1 to {} letters, digits and '-', '_', '.'", job_name_bytes_max));
  }
  if (!run) return wrong("it has no function");
  if (auto checked = schedule.check(); !checked) return wrong(checked.error().describe());
  if (options.timeout <= Duration{}) return wrong("its timeout must be above zero");
  if (options.jitter < Duration{} || options.backoff < Duration{}) {
    return wrong("jitter and backoff must not be negative");
  }
  if (schedule.kind() == Schedule::Kind::every && options.jitter >= schedule.interval()) {
    return wrong(fmt::format("its jitter {} must be below its interval {}",
                             config::write_duration(options.jitter),
                             config::write_duration(schedule.interval())));
  }
  if (auto checked = options.retry.check(); !checked) {
    return wrong("retry: " + checked.error().describe());
  }
  return {};
}

Result<void> JobRetry::check() const {
  if (retries_max > attempts_bound) {
    return fail(Code::invalid_argument,
                fmt::format("retries_max must be {} at most", attempts_bound));
  }
  if (retries_max > 0 && (delay <= Duration{} || delay_max < delay)) {
    return fail(Code::invalid_argument, "delay must be above zero, and delay_max not below it");
  }
  return {};
}

}  // namespace katana::jobs

// SPDX-License-Identifier: Apache-2.0
