// Crash facts of an HTTP server: the state of each reactor, and the requests in flight with their
// age, id and route. A crash report (observe/crash) has no path, query, header or body.
//
//   reactor 0 busy-ms=12 connections=3 tasks=1 on GET /users/{id}
//   in-flight age-ms=12 request=01J… on GET /users/{id}
//
// Owns       a place in the list of its thread, or in the list of sections.
// Borrows    the activity of the request; the reactor.
// Thread     RequestInFlight its reactor's. The lines are written in a signal handler: a thread
//            writes those of its own requests.
// Allocates  never.
// Fails      never: the requests of the threads after the first 256 are left out.
// Invariant  a signal handler that interrupts a change of the list sees it before or after the
//            change.
#pragma once

#include <cstddef>

#include "katana/base/coroutine/activity.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/observe/crash/facts.hpp"

namespace katana::server {

// The most requests of a thread that are listed; the rest is counted.
inline constexpr std::size_t in_flight_told_max = 32;

class RequestInFlight {
 public:
  // `began`: by the clock of monotonic_now(), or of a test.
  RequestInFlight(const Activity& activity, Instant began) noexcept;
  ~RequestInFlight();
  RequestInFlight(const RequestInFlight&) = delete;
  RequestInFlight& operator=(const RequestInFlight&) = delete;

 private:
  friend void tell_requests_in_flight(crash::ThreadText& text) noexcept;

  RequestInFlight* next_ = nullptr;
  RequestInFlight** link_ = nullptr;  // the pointer to this; null: it is in no list
  const Activity& activity_;
  const Instant began_;
};

// Adds the lines about the requests of the calling thread: the function for set_thread_facts().
void tell_requests_in_flight(crash::ThreadText& text) noexcept;

class ReactorFacts final : public crash::Section {
 public:
  ReactorFacts(const net::Reactor& reactor, std::size_t number) noexcept;
  ~ReactorFacts();
  ReactorFacts(const ReactorFacts&) = delete;
  ReactorFacts& operator=(const ReactorFacts&) = delete;

  void write(crash::ReportWriter& report) noexcept override;

 private:
  const net::Reactor& reactor_;
  const std::size_t number_;
};

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
