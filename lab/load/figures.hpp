// Statistics: what one thread saw during one interval. Added up over intervals and threads they are
// the result of the run.
//
// Owns       its counts. Thread: one at a time; see Worker for how it changes hands.
// Allocates  the histograms, when made.
#pragma once

#include <array>
#include <cstdint>

#include "lab/load/failure.hpp"
#include "lab/load/histogram.hpp"

namespace katana::load {

struct Counts {
  std::uint64_t sent = 0;         // requests written, whole or in part, in the measured window
  std::uint64_t requests = 0;     // the part answered as expected
  std::uint64_t warm_up = 0;      // requests sent before the window, however they ended
  std::uint64_t completions = 0;  // good replies that arrived within the window
  std::uint64_t bytes_received = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t content_bytes = 0;
  std::uint64_t connects = 0;    // connections established
  std::uint64_t handshakes = 0;  // complete handshakes of TLS
  std::uint64_t resumed = 0;     // the resumed ones
  std::uint64_t handshakes_in_window = 0;
  std::uint64_t closed_idle = 0;  // by the server, without a request on them
  std::uint64_t interims = 0;     // 1xx replies
  std::array<std::uint64_t, failure_count> failures{};
  std::array<std::uint64_t, 600> statuses{};  // statuses of whole replies, as expected or not

  void add(const Counts& other) noexcept;
  void count(Failure failure) noexcept { ++failures[static_cast<std::size_t>(failure)]; }
  std::uint64_t failure(Failure which) const noexcept {
    return failures[static_cast<std::size_t>(which)];
  }
  std::uint64_t all_failures() const noexcept;
};

struct Statistics {
  Counts counts;
  Histogram latency;      // latency of `requests`
  Histogram connect;      // connect() to established
  Histogram handshake;    // established to the end of the TLS handshake
  Histogram send_lag;     // open loop: how much later than it could have been a request was sent
  Histogram receive_lag;  // how long a reply may have waited to be read since epoll told of it

  void add(const Statistics& other) noexcept;
  void reset() noexcept;
};

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
