// Client: load on a server over the loopback, by katana-load's own workers.
//
// Owns       nothing.
// Thread     the caller's, which waits, and one for the load. SIGINT ends the program.
// Allocates  freely, outside of the timed code.
// Fails      by ending the program when no load can be made. Wrong replies of the server are
//            counted.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/load/histogram.hpp"
#include "lab/load/target.hpp"
#include "lab/process/server_process.hpp"

namespace e2e {

struct Ask {
  std::string method = "GET";
  std::string path;
  std::string body = {};  // JSON
};

struct Drive {
  std::uint64_t requests = 1;
  std::uint32_t connections = 64;
  std::vector<Ask> asks = {};  // sent in turn, over and over
};

// The result of a load, with the resources that the server used meanwhile.
struct Driven {
  std::uint64_t requests = 0;  // answered with 2xx
  std::uint64_t failures = 0;
  double seconds = 0;
  double cpu_s = 0;
  double generator_share = 0;  // of the generator's CPU; above 0.9 it was the limit
  std::uint64_t bytes = 0;     // received
  katana::lab::Usage after = {};
  katana::load::Histogram latency;

  double rate() const { return seconds > 0 ? static_cast<double>(requests) / seconds : 0; }
  double cpu_us() const { return requests > 0 ? 1e6 * cpu_s / static_cast<double>(requests) : 0; }
  double percentile_us(double percent) const {
    return static_cast<double>(latency.percentile_ns(percent)) / 1e3;
  }
};

Driven drive(const katana::lab::ServerProcess& server, const Drive& what);

// One request on its own connection; the content of a 2xx reply, or empty.
std::string fetch(std::uint16_t port, const Ask& ask);
// A number of GET /statistics.
double statistic(std::uint16_t port, std::string_view key);

}  // namespace e2e

// SPDX-License-Identifier: Apache-2.0
