#include "katana/http/server/failure_log.hpp"

#include <fmt/format.h>

#include <utility>

#include "katana/base/coroutine/activity.hpp"
#include "katana/base/system/monotonic_clock.hpp"
#include "katana/base/system/printing.hpp"
#include "katana/observe/log/context.hpp"

namespace katana::server {

FailureLog::FailureLog(FailureLogOptions options) : options_(std::move(options)) {}

void FailureLog::on_failure(const Failure& failure) noexcept {
  call_hook(failure);
  try {
    record(failure);
  } catch (...) {
    // Without memory there is no record; the failure is still counted at its place.
  }
}

void FailureLog::call_hook(const Failure& failure) noexcept {
  if (!options_.on_error) return;
  try {
    options_.on_error(failure);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    hook_threw_ = true;
  }
}

std::optional<std::uint64_t> FailureLog::admit(std::string kind) {
  const Instant now = options_.clock != nullptr ? options_.clock() : monotonic_now();
  const std::lock_guard lock(mutex_);
  if (allowances_.size() >= options_.places_max && !allowances_.contains(kind)) kind.clear();
  const auto [found, is_new] = allowances_.try_emplace(std::move(kind));
  Allowance& allowance = found->second;
  if (is_new || now - allowance.began >= options_.period) {
    allowance.began = now;
    allowance.written = 0;
  }
  if (allowance.written >= options_.records_max) {
    ++allowance.left_out;
    return std::nullopt;
  }
  ++allowance.written;
  return std::exchange(allowance.left_out, 0);
}

void FailureLog::record(const Failure& failure) {
  const std::string type = type_name(failure.exception);
  const auto left_out =
      admit(fmt::format("{}\n{}\n{}", failure.place, failure.exception ? failure.what : "", type));
  if (!left_out) return;
  std::string text = describe(failure);
  bool hook_threw = false;
  {
    const std::lock_guard lock(mutex_);
    hook_threw = std::exchange(hook_threw_, false);
  }
  if (hook_threw) text += " (and on_error threw)";
  if (!options_.logger) {
    if (*left_out > 0) text += fmt::format(" (and {} like it that were left out)", *left_out);
    if (!failure.request_id.empty()) text += fmt::format(" (request {})", failure.request_id);
    if (options_.print) return options_.print(text);
    return print_error_line(text);
  }
  // request_id and trace_id are among the fields of the thread's activity, unless their request has
  // ended. A WebSocket connection has those of its upgrade, a spawned task those of the request
  // that spawned it.
  log::Context ids;
  const bool known = current_activity != nullptr && current_activity->log_context != nullptr &&
                     current_activity->name == failure.request_id;
  if (!known && !failure.request_id.empty()) ids.add(log::field("request_id", failure.request_id));
  if (!known && !failure.trace_id.empty()) ids.add(log::field("trace_id", failure.trace_id));
  const Activity named{.log_context = &ids, .name = failure.request_id, .trace = failure.trace_id};
  const ActivityScope scope(known || failure.request_id.empty() ? current_activity : &named);
  const Bytes place = failure.place.empty() ? Bytes("-") : failure.place;
  const Bytes method = failure.method.empty() ? Bytes("-") : failure.method;
  const Bytes kind = failure.exception != nullptr ? Bytes(type)
                     : failure.error != nullptr   ? Bytes(code_name(failure.error->code()))
                                                  : Bytes("-");
  if (failure.severity == Severity::error) {
    options_.logger->error("{}", text, log::field("place", place), log::field("method", method),
                           log::field("cause", kind), log::field("left_out", *left_out));
  } else {
    options_.logger->warn("{}", text, log::field("place", place), log::field("method", method),
                          log::field("cause", kind), log::field("left_out", *left_out));
  }
}

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
