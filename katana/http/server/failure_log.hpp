// FailureLog: one record for each failure of a handler, a job or a middleware. It limits the
// records of each kind and place, and counts the failures that were left out. It also calls the
// program's hook.
//
//   error  GET /users/{id}: the handler threw: std::runtime_error: no such user
//          place="GET /users/{id}" method=GET cause=std::runtime_error left_out=3
//          request_id=… trace_id=…
//
// A kind is the failed part and, of an exception, its type. Without a log a record is one line on
// standard error.
//
// Owns       the counts, for places_max kinds and places; the others share one count.
// Borrows    the Log behind the logger.
// Thread     any.
// Allocates  for each failure.
// Fails      never: an exception of the hook is dropped, and the next record mentions it.
// Invariant  at most records_max records of one kind and place in a period; the hook gets every
//            failure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "katana/base/system/failure.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/observe/log/logger.hpp"

namespace katana::server {

// A hook of the program that is called with every failure. It runs on the thread of the failure,
// for requests a reactor's, and must not block. Its arguments are borrowed for the call.
using OnError = std::function<void(const Failure&)>;

// The destination of failures, and the limits of their records.
struct FailureLogOptions {
  std::optional<log::Logger> logger = {};  // none: standard error
  OnError on_error = {};          // called for every failure, also for those that are not written
  std::uint32_t records_max = 5;  // of one kind and place, in each period; 0: none is written
  Duration period = seconds(10);  // records_max counts anew after this time
  // Kinds and places that are counted separately; all others share one count.
  std::size_t places_max = 1024;
  Instant (*clock)() = nullptr;                        // null: the machine's monotonic one
  std::function<void(const std::string&)> print = {};  // in place of standard error
};

class FailureLog final : public FailureObserver {
 public:
  explicit FailureLog(FailureLogOptions options);

  void on_failure(const Failure& failure) noexcept override;

 private:
  struct Allowance {
    Instant began;
    std::uint32_t written = 0;
    std::uint64_t left_out = 0;
  };
  // Returns nothing if this record is left out, otherwise the number that were left out before it.
  std::optional<std::uint64_t> admit(std::string kind);
  void record(const Failure& failure);
  void call_hook(const Failure& failure) noexcept;

  const FailureLogOptions options_;
  std::mutex mutex_;  // guards the rest
  std::map<std::string, Allowance> allowances_;
  bool hook_threw_ = false;
};

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
