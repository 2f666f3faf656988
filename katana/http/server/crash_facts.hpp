// Crash facts of an HTTP server: the state of each reactor, and the requests in flight with their
// age, id and route. A crash report (observe/crash) has no path, query, header or body.
//
//   reactor 0 busy-ms=12 connections=3 tasks=1 on GET /users/{id}
//   in-flight age-ms=12 request=01J… on GET /users/{id}
//
// Owns       a place in the list of sections.
// Borrows    the reactor.
// Thread     the lines are written in a signal handler: a thread writes those of its own requests
//            (requests_in_flight.hpp).
// Allocates  never.
// Fails      never.
// Invariant  a signal handler that interrupts a change of a list sees it before or after the
//            change.
#pragma once

#include <cstddef>

#include "katana/net/reactor/reactor.hpp"
#include "katana/observe/crash/facts.hpp"

namespace katana::server {

// The most requests of a thread that are listed, the oldest ones; the rest is counted.
inline constexpr std::size_t in_flight_told_max = 32;

// Adds the lines about the requests of the calling thread: the function for set_thread_facts().
void tell_requests_in_flight(crash::ThreadText& text) noexcept;

// The state of one reactor in crash reports.
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
