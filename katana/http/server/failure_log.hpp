// FailureLog: one record for each failure of a handler, a job or a middleware, at most so many of
// each kind and place, with the number of those that were left out; and the program's own hook.
//
//   error  GET /users/{id}: the handler threw: std::runtime_error: no such user
//          place="GET /users/{id}" method=GET cause=std::runtime_error left_out=3
//          request_id=… trace_id=…
//
// A kind is what failed and, of an exception, its type. Without a log a record is one line on
// standard error.
//
// Owns       the counts, for places_max kinds and places; the rest share one.
// Borrows    the Log behind the logger.
// Thread     any.
// Allocates  for each failure.
// Fails      never: what the hook throws is dropped, and the next record says that it did.
// Invariant  at most records_max records of one kind and place in a period; the hook has every
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

// For programs: called with every failure, on the thread where it happened, which is a reactor's
// for requests: it must not block. Its arguments are borrowed for the call.
using OnError = std::function<void(const Failure&)>;

// Where failures go, and how many of a kind are written.
struct FailureLogOptions {
  std::optional<log::Logger> logger = {};  // none: standard error
  OnError on_error = {};          // called for every failure, also for those that are not written
  std::uint32_t records_max = 5;  // of one kind and place, in each period; 0: none is written
  Duration period = seconds(10);  // after which records_max counts anew
  // Kinds and places that are counted apart; further ones share one count.
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
  // Nullopt: not this one. Otherwise how many were left out before it.
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
