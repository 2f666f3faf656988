// ScriptedClient: one connection of a test that controls its client byte by byte and moment by
// moment.
//
// Owns       its end of the connection, and the received bytes.
// Borrows    the world, which must outlive it.
// Thread     one.
// Invariant  connected from construction on; reads whatever comes unless told otherwise.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/simulation/client.hpp"
#include "tests/simulation/reply_reader.hpp"
#include "tests/simulation/world.hpp"

namespace katana::simulation {

class ScriptedClient {
 public:
  // `window`: bytes that the server may have on their way to this client, unread.
  explicit ScriptedClient(World& world, Site site = Site::trial, std::size_t window = 64 * 1024)
      : world_(world), peer_(world.network()) {
    peer_.set_window(window);
    peer_.on_received = [this] {
      octets_ += peer_.received().size();
      received_at_ = world_.now();
      reader_.feed(peer_.take_received());
    };
    peer_.on_over = [this] {
      over_at_ = world_.now();
      if (!peer_.saw_end()) return;
      reader_.end();
      if (closes_) peer_.close();
    };
    peer_.connect(world.port(site));
    // In short turns, because a connection that says nothing is delivered after a while, too.
    for (int turns = 0; turns < 1'000 && !peer_.connected(); ++turns) {
      world.run_for(microseconds(50));
    }
  }

  SimPeer& peer() noexcept { return peer_; }
  // Does not end its own side when the server has ended its.
  void stay_open() noexcept { closes_ = false; }

  void send(const Planned& request) {
    reader_.expect(request.to_head);
    peer_.send(request.head + request.content);
  }
  // Sends part of a request, or bytes that are none.
  void send_bytes(Bytes bytes) { peer_.send(bytes); }
  void expect_reply() { reader_.expect(false); }

  const std::vector<ReceivedReply>& replies() const noexcept { return reader_.replies(); }
  // For the last reply; 0 if there is none.
  unsigned status() const noexcept { return replies().empty() ? 0 : replies().back().status; }
  std::string content() const { return replies().empty() ? "" : replies().back().content; }
  const ReplyReader& reader() const noexcept { return reader_; }
  std::uint64_t octets() const noexcept { return octets_; }
  Instant received_at() const noexcept { return received_at_; }
  Instant over_at() const noexcept { return over_at_; }
  // Turns until so many replies are here. False: they are not, and time is up.
  bool wait_for(std::size_t count, Duration limit = seconds(600)) {
    return world_.run_while_not([&] { return replies().size() >= count; }, limit);
  }
  // Turns until nothing more will be received.
  bool wait_for_end(Duration limit = seconds(600)) {
    return world_.run_while_not([&] { return peer_.over(); }, limit);
  }

 private:
  World& world_;
  SimPeer peer_;
  ReplyReader reader_;
  std::uint64_t octets_ = 0;
  Instant received_at_;
  Instant over_at_;
  bool closes_ = true;
};

// Runs until nothing happens any more; by then the server must have given everything back.
inline void expect_rest(World& world) {
  world.run_to_rest();
  EXPECT_EQ(world.faults_at_rest(), std::vector<std::string>());
}

// True if the event due at `due` happened then, give or take a tick of the wheel and the network.
inline bool happened_at(Instant moment, Instant due) {
  return moment >= due && moment <= due + milliseconds(3);
}

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
