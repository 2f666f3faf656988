// Failure: a description of an error whose reason the caller does not get, for the search of the
// cause. FailureObserver: records failures. A module that answers a failure (500, 1011, a failed
// job) reports it here. The server connects the observer to the log (http/server/failure_log.hpp).
//
// Owns       an exception's reference; nothing else.
// Borrows    everything else, for the call of on_failure().
// Thread     on_failure() is called by any.
// Allocates  only the functions that return a std::string. Nothing unless something fails.
// Fails      never: on_failure() must not throw.
//
// A failure has no stack trace of the throw: the stack is unwound before a handler catches. To keep
// it, every program must replace __cxa_throw and walk the stack for each throw. A failure has the
// type of the exception and its chain instead. A debugger has "catch throw".
#pragma once

#include <cstdint>
#include <exception>
#include <string>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"

namespace katana {

// The level at which a failure is logged.
enum class Severity : std::uint8_t {
  error,    // a defect of the program or of a dependency: 500
  warning,  // a retry may succeed later: 503, 504
};

struct Failure {
  Bytes what;                           // "the handler threw", "a job threw": a phrase
  std::exception_ptr exception = {};    // the cause; null: see `error`
  const Error* error = nullptr;         // the cause; null: `what` says all of it
  Bytes place = {};                     // "GET /users/{id}", "pool 'work'"; empty: none is known
  Bytes method = {};                    // the method of the route; "ANY" if it serves all methods
  Bytes request_id = {};                // empty: none
  Bytes trace_id = {};                  // the trace ID of W3C Trace Context; empty: none
  Severity severity = Severity::error;  // decides the level of the log record
};

// Receives failures. One is set for a whole server.
class FailureObserver {
 public:
  // Called on the thread where the failure happened. Must neither throw nor block.
  virtual void on_failure(const Failure& failure) noexcept = 0;

 protected:
  ~FailureObserver() = default;
};

// The messages of the exception and of its nested exceptions (std::nested_exception), outermost
// first, joined by ": ". Empty for null.
std::string describe(const std::exception_ptr& exception);
// The type of the outermost exception: "std::runtime_error". Empty for null.
std::string type_name(const std::exception_ptr& exception);
// "GET /users/{id}: the handler threw: std::runtime_error: no such user", without line ends and at
// most failure_bytes_max bytes.
std::string describe(const Failure& failure);
// The description of the cause alone: the exception or the error.
std::string cause_of(const Failure& failure);
inline constexpr std::size_t failure_bytes_max = 4096;  // describe() cuts a longer text

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
