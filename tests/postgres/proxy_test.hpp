// Proxy: a wire to a server that a test cuts.
//
//   Proxy proxy(cluster.port());      // connect to proxy.port()
//   proxy.set(Proxy::Mode::stalls);   // nothing passes, in either direction; nothing is closed
//
// Owns       its sockets and its thread.
// Thread     any.
// Fails      by std::runtime_error when it is made.
// Invariant  bytes that pass are passed in order and whole.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace katana::database::postgres {

class Proxy {
 public:
  enum class Mode : std::uint8_t {
    passes,
    stalls,     // as a network that drops everything
    half_open,  // connections of before stall, new ones pass
    resets,     // every connection, present and new
  };

  explicit Proxy(std::uint16_t to);
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  std::uint16_t port() const noexcept { return port_; }
  // Returns when the mode is in force.
  void set(Mode mode);

 private:
  struct Pair {
    int client = -1;
    int server = -1;
    bool stalled = false;
  };
  void run();
  void apply(Mode mode);
  void take();
  static bool pass(int from, int to);
  static void reset(Pair& pair);

  const std::uint16_t to_;
  std::uint16_t port_ = 0;
  int listener_ = -1;
  std::vector<Pair> pairs_;
  std::atomic<Mode> wanted_ = Mode::passes;
  std::atomic<int> asked_ = 0;
  std::atomic<int> applied_ = 0;
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
