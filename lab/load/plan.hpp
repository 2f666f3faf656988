// LoadPlan: the description of a run, apart from its target. Made from flags, or by a program.
//
// Thread     made by one, then read by all.
// Invariant  a run REQUIRES threads and connections > 0, and threads <= connections. An open loop
//            has a rate plan that covers warm-up and duration. With a ramp of connections the loop
//            is closed, and `connections` is the most of it.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <string>

#include "katana/base/values/instant.hpp"
#include "lab/load/connection_ramp.hpp"
#include "lab/load/schedule.hpp"

namespace katana::load {

struct Expectation {
  std::bitset<600> statuses;                  // 2xx and 3xx unless told otherwise
  std::optional<std::uint64_t> length_bytes;  // of the request body
  std::optional<std::string> body;

  Expectation() {
    for (std::size_t status = 200; status < 400; ++status) statuses.set(status);
  }
};

struct LoadPlan {
  std::uint32_t threads = 1;
  std::uint32_t connections = 10;  // of all threads together
  bool http2 = false;              // over TLS by ALPN, otherwise by prior knowledge
  bool websocket = false;          // a request is a message, its reply the message that comes back
  bool reset_on_close = false;     // by RST and not by FIN, which leaves no port in TIME_WAIT
  bool tls_resume = false;         // handshakes after a connection's first are resumed
  std::uint32_t pipeline = 1;      // requests, or streams, in flight on one connection
  std::uint32_t requests_per_connection = 0;  // 0: as many as the server takes
  std::uint64_t requests_max = 0;             // in all; 0: until time is up
  ConnectionRamp connection_ramp;  // in the measured window; empty: all of them all the time
  Duration warm_up;
  Duration duration = seconds(10);
  RatePlan rates;  // empty: closed loop. Begins with the warm-up
  bool poisson = false;
  std::uint32_t burst = 1;
  std::uint64_t seed = 1;
  Duration timeout = seconds(5);  // from sending to the whole reply
  Duration connect_timeout = seconds(3);
  Duration busy_tail;  // before a request is due, do not sleep
  Duration interval = seconds(1);
  Duration send_lag_max = milliseconds(1);  // at p99; beyond it an open loop is void
  bool pin = false;
  Expectation expect;

  bool is_open_loop() const { return !rates.empty(); }
};

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
