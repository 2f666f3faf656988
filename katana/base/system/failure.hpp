// Failure: what went wrong where the caller gets no reason, for the search of the cause.
// FailureObserver: records it. A module that answers a failure (500, 1011, a failed job)
// reports it here; the server connects that to the log (http/server/failure_log.hpp).
//
// Owns       an exception's reference; nothing else.
// Borrows    everything else, for the call of on_failure().
// Thread     on_failure() is called by any.
// Allocates  only the functions that return a std::string. Nothing unless something fails.
// Fails      never: on_failure() must not throw.
//
// There is no stack of the throw: at the handler that catches it is unwound, and to keep it means
// to replace __cxa_throw in every program and to walk the stack for each throw, caught or not. The
// type of the exception and its chain are there instead; a debugger has "catch throw".
#pragma once

#include <cstdint>
#include <exception>
#include <string>

#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"

namespace katana {

// How a failure is logged.
enum class Severity : std::uint8_t {
  error,    // a defect of the program, or of what it depends on: 500
  warning,  // may work later: 503, 504
};

struct Failure {
  Bytes what;                           // "the handler threw", "a job threw": a phrase
  std::exception_ptr exception = {};    // the cause; null: see `error`
  const Error* error = nullptr;         // the cause; null: `what` says all of it
  Bytes place = {};                     // "GET /users/{id}", "pool 'work'"; empty: none is known
  Bytes method = {};                    // of the route; "ANY" if it serves every method
  Bytes request_id = {};                // empty: none
  Bytes trace_id = {};                  // of W3C Trace Context; empty: none
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

// What the exception says, from the outermost to the innermost (std::nested_exception), joined by
// ": ". Empty for null.
std::string describe(const std::exception_ptr& exception);
// "std::runtime_error"; of a nested one that of the outermost. Empty for null.
std::string type_name(const std::exception_ptr& exception);
// "GET /users/{id}: the handler threw: std::runtime_error: no such user", without line ends and at
// most failure_bytes_max bytes.
std::string describe(const Failure& failure);
// The cause alone: exception or error.
std::string cause_of(const Failure& failure);
inline constexpr std::size_t failure_bytes_max = 4096;  // of describe(); a longer text is cut

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
