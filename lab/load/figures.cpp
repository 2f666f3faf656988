#include "lab/load/figures.hpp"

#include <numeric>

namespace katana::load {

void Counts::add(const Counts& other) noexcept {
  sent += other.sent;
  requests += other.requests;
  warm_up += other.warm_up;
  completions += other.completions;
  bytes_received += other.bytes_received;
  bytes_sent += other.bytes_sent;
  content_bytes += other.content_bytes;
  connects += other.connects;
  handshakes += other.handshakes;
  resumed += other.resumed;
  handshakes_in_window += other.handshakes_in_window;
  closed_idle += other.closed_idle;
  interims += other.interims;
  for (std::size_t index = 0; index < failures.size(); ++index) {
    failures[index] += other.failures[index];
  }
  for (std::size_t index = 0; index < statuses.size(); ++index) {
    statuses[index] += other.statuses[index];
  }
}

std::uint64_t Counts::all_failures() const noexcept {
  return std::accumulate(failures.begin(), failures.end(), std::uint64_t{0});
}

void Statistics::add(const Statistics& other) noexcept {
  counts.add(other.counts);
  latency.add(other.latency);
  connect.add(other.connect);
  handshake.add(other.handshake);
  send_lag.add(other.send_lag);
  receive_lag.add(other.receive_lag);
}

void Statistics::reset() noexcept {
  counts = {};
  latency.reset();
  connect.reset();
  handshake.reset();
  send_lag.reset();
  receive_lag.reset();
}

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
