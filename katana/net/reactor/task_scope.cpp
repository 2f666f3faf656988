#include "katana/net/reactor/task_scope.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "katana/base/coroutine/executor.hpp"
#include "katana/base/system/check.hpp"
#include "katana/base/system/printing.hpp"

namespace katana::net {
namespace {

std::string copy_of(Bytes Activity::* member) {
  return current_activity != nullptr ? std::string(current_activity->*member) : std::string();
}

FailureObserver* observer_of_executor() noexcept {
  const Executor* const executor = Executor::current();
  return executor != nullptr ? executor->failure_observer() : nullptr;
}

}  // namespace

TaskScope::Entry::Entry(TaskScope& of, std::string called)
    : scope(of),
      name(called.empty() ? std::string("a spawned task") : std::move(called)),
      request_id(copy_of(&Activity::name)),
      trace(copy_of(&Activity::trace)),
      // Sites outlive the executor: the spawner's may be kept.
      activity{.site = current_activity != nullptr ? current_activity->site : nullptr,
               .name = request_id,
               .trace = trace} {}

Result<void> TaskScope::admit() {
  if (closed_ || cancelling_) {
    ++counts_.refused;
    return fail(Code::cancelled, "no task is spawned any more: its scope has ended");
  }
  if (!takes()) {
    ++counts_.refused;
    return fail(Code::resource_exhausted,
                fmt::format("{} spawned tasks are running, which is the limit (tasks_max)",
                            options_.tasks_max));
  }
  over_.reset();
  ++counts_.spawned;
  return {};
}

void TaskScope::note_failure(const Entry& entry, std::exception_ptr thrown,
                             const Error* error) noexcept {
  ++counts_.failed;
  const Failure failure{.what = thrown ? "it threw" : "it failed",
                        .exception = std::move(thrown),
                        .error = error,
                        .place = entry.name,
                        .request_id = entry.request_id,
                        .trace_id = entry.trace};
  FailureObserver* const observer =
      options_.failures != nullptr ? options_.failures : observer_of_executor();
  if (observer != nullptr) return observer->on_failure(failure);
  try {
    print_error_line(describe(failure));
  } catch (...) {
    // Without memory there is no line; the failure is counted.
  }
}

void TaskScope::forget(Entry& entry) noexcept {
  tasks_.remove(entry);
  delete &entry;
  if (size() == 0) over_.set();
}

std::size_t TaskScope::cancel() noexcept {
  // The destructor of a frame may try to spawn: it is refused, or this would not end.
  const bool outer = std::exchange(cancelling_, true);
  std::size_t count = 0;
  for (; size() > 0; ++count) {
    Entry& entry = tasks_.pop_front();
    KATANA_REQUIRE(current_activity != &entry.activity);  // a running task cannot be destroyed
    delete &entry;
  }
  counts_.cancelled += count;
  cancelling_ = outer;
  over_.set();
  return count;
}

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
