// DirectEngine: the engine contract without a kernel and without the heap: bytes go from a test's
// hand to the reactor and back.
//
// Owns       nothing; Wire is the test's end of its one connection.
// Thread     one.
// Allocates  never: the heap calls of a request are then those of the stack.
// Fails      never.
// Invariant  a turn takes the time that it was given to wait, and delivers the bytes on the wire.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "katana/net/engine/engine.hpp"

namespace katana::simulation {

struct Wire {
  Instant now{seconds(1'000).ns};
  bool opens = true;  // a connection that waits to be accepted
  Bytes input;        // borrowed; delivered in the next turn
  std::array<char, 256 * 1024> output;
  std::size_t octets = 0;  // bytes of output

  void send(engine::Link, std::span<const iovec> parts, std::size_t& accepted) noexcept {
    accepted = 0;
    for (const iovec& part : parts) {
      const std::size_t count = std::min(part.iov_len, output.size() - octets);
      std::memcpy(output.data() + octets, part.iov_base, count);
      octets += count;
      accepted += part.iov_len;
    }
  }
  Bytes sent() const noexcept { return {output.data(), octets}; }
};

template <class S>
class DirectEngine {
 public:
  DirectEngine(const engine::Options&, S& sink, Wire& wire) : sink_(sink), wire_(wire) {}

  Result<void> start() { return {}; }
  Result<engine::Listener> listen(const engine::ListenOptions&) { return 0u; }
  std::uint16_t port(engine::Listener) const { return 1; }
  int socket(engine::Listener) const { return -1; }
  Result<engine::Link> connect(const engine::ConnectOptions&) {
    return fail(Code::unsupported, "nobody is there");
  }
  int failure(engine::Link) { return 0; }
  void pause_accept() {}
  void resume_accept() {}
  void close_listeners() { accepting_ = false; }
  void hand_over(engine::Listener) {}
  int detach(engine::Link) { return -1; }
  Result<engine::Link> adopt(int) { return fail(Code::unsupported, "it is alone"); }
  void discard(int) {}
  bool accepting() const { return accepting_; }
  engine::Sent send(engine::Link link, std::span<const iovec> parts, std::size_t& accepted) {
    wire_.send(link, parts, accepted);
    return engine::Sent::completed;
  }
  engine::Sent send_file(engine::Link link, std::span<const iovec> parts, const FilePart& file,
                         std::size_t& accepted) {
    wire_.send(link, parts, accepted);
    const std::size_t count = std::min<std::size_t>(file.size, wire_.output.size() - wire_.octets);
    if (!file.read_all({wire_.output.data() + wire_.octets, count})) return engine::Sent::failed;
    wire_.octets += count;
    accepted += file.size;
    return engine::Sent::completed;
  }
  void pause_receive(engine::Link) {}
  void resume_receive(engine::Link) {}
  void limit_receive(engine::Link, std::size_t) {}
  void shutdown_send(engine::Link) {}
  void close(engine::Link) {}
  void reset(engine::Link) {}
  Result<void> watch(int, engine::Readiness, engine::Watcher&) { return {}; }
  void unwatch(int) {}
  void wake() {}
  void turn(Duration wait_max) {
    wire_.now = wire_.now + wait_max;
    sink_.on_turn(wire_.now);
    if (std::exchange(wire_.opens, false)) sink_.on_accepted(link_, 0, peer_);
    if (const Bytes input = std::exchange(wire_.input, {}); !input.empty()) {
      sink_.on_bytes(link_, input);
    }
  }
  Instant now() const { return wire_.now; }
  std::int64_t wall_clock_s() const { return 1'800'000'000 + wire_.now.ns / 1'000'000'000; }
  std::size_t memory_bytes() const { return 0; }
  std::size_t memory_used() const { return 0; }

 private:
  static constexpr engine::Link link_{0, 1};
  static constexpr engine::PeerEndpoint peer_{
      .address = {192, 0, 2, 1}, .port = 1000, .family = engine::PeerEndpoint::Family::v4};
  S& sink_;
  Wire& wire_;
  bool accepting_ = true;
};

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
