// EchoServer, Talker and CalmTest: shared by the tests of the simulated engine.
//
// Owns       its engine, its clients and their blocks.
// Borrows    the network, which must outlive them.
// Thread     the network's.
// Fails      by failing the test that runs it.
// Invariant  a client is in the table from on_accepted() until the server closes its link.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/memory/block_pool.hpp"
#include "katana/base/memory/outbox.hpp"
#include "katana/net/engine/sim/sim_engine.hpp"

namespace katana::engine {

// Answers with the bytes that it receives. A client whose echo waits in its outbox is paused; now
// and then one is paused for no reason.
class EchoServer {
 public:
  struct Client {
    Client(Link own, BlockPool& blocks) : link(own), outbox(blocks) {}
    Link link;
    Outbox outbox;
    std::size_t received = 0;
    bool sending = false;
    bool paused = false;
    bool ended = false;
    bool gone = false;    // to be closed in a later turn; no event may come until then
    bool broken = false;  // and read to its end: its output is dropped, as the reactor does
  };

  explicit EchoServer(SimNetwork& network, const Options& options = {},
                      const ListenOptions& listen = {})
      : network_(network), engine(options, *this, network) {
    EXPECT_TRUE(engine.start());
    port = engine.port(*engine.listen(listen));
  }

  bool on_accepted(Link link, Listener, const PeerEndpoint& peer) {
    ++accepted;
    peers.emplace_back(peer.text().bytes());
    if (refuse) return false;
    if (detaches) {
      detached.push_back(engine.detach(link));
      return true;
    }
    add_client(link);
    return true;
  }
  // A socket that another owner has detached belongs to that one.
  void adopt(int socket) { add_client(*engine.adopt(socket)); }
  void add_client(Link link) {
    if (clients.size() <= link.index) clients.resize(link.index + 1);
    EXPECT_FALSE(clients[link.index]);
    clients[link.index] = std::make_unique<Client>(link, blocks_);
  }

  void on_bytes(Link link, Bytes bytes) {
    Client& client = at(link);
    EXPECT_FALSE(client.paused || client.ended || client.gone);
    EXPECT_FALSE(bytes.empty());
    client.received += bytes.size();
    received += bytes.size();
    EXPECT_TRUE(client.outbox.write(bytes));
    const bool whim = pauses && network_.chance(64);
    if (whim || client.outbox.pending() > outbox_high) pause(client);
    if (flush(client)) on_echo(client);
  }

  void on_sent(Link link, std::size_t count) {
    Client& client = at(link);
    EXPECT_TRUE(client.sending && !client.gone);
    client.sending = false;
    client.outbox.advance(count);
    flush(client);
  }

  void on_closed(Link link, Closed closed) {
    Client& client = at(link);
    EXPECT_FALSE(client.gone);
    ++(closed == Closed::input ? ends : breaks);
    if (closed == Closed::link) {
      client.sending = false;
      client.outbox.clear();
      const bool keeps = std::exchange(keeps_next, false) || (keeps_paused && client.paused);
      client.broken = keeps;
      if (!keeps) lose(client);
      return;
    }
    EXPECT_FALSE(client.paused);
    client.ended = true;
    flush(client);
  }

  void on_accept_failed(AcceptFailure) {
    ++accept_failures;
    resume_accept_at = engine.now() + milliseconds(5);
  }

  void on_turn(Instant now) {
    EXPECT_GE(now, last_turn);
    last_turn = now;
    if (now >= resume_accept_at) {
      resume_accept_at = never;
      engine.resume_accept();
    }
    for (const auto& client : clients) {
      if (client) run_pending(*client);
    }
  }

  void run_pending(Client& client) {
    if (client.gone) {
      if (network_.chance(close_gone)) close(client);
    } else if (client.paused && client.outbox.pending() <= outbox_high / 2) {
      client.paused = false;
      engine.resume_receive(client.link);
    } else if (!client.paused && pauses && network_.chance(32)) {
      pause(client);  // bytes in transit to it must turn back
    }
  }

  Client& at(Link link) {
    EXPECT_TRUE(link.index < clients.size() && clients[link.index]);
    EXPECT_EQ(clients[link.index]->link, link);
    return *clients[link.index];
  }

  void pause(Client& client) {
    client.paused = true;
    engine.pause_receive(client.link);
  }

  // False: the client is closed.
  bool flush(Client& client) {
    std::array<iovec, 8> parts;
    if (client.broken) client.outbox.clear();
    while (!client.sending && !client.outbox.empty()) {
      std::size_t accepted_bytes = 0;
      const std::size_t count = client.outbox.gather(parts);
      const Sent sent = engine.send(client.link, {parts.data(), count}, accepted_bytes);
      if (sent == Sent::failed) {
        lose(client);
        return false;
      }
      client.outbox.advance(accepted_bytes);
      client.sending = sent == Sent::pending;
    }
    if (client.ended && client.outbox.empty()) {
      close(client);
      return false;
    }
    return true;
  }

  // The connection is gone; the server still owns the link until it closes it.
  void lose(Client& client) {
    client.gone = true;
    if (network_.chance(close_gone)) close(client);
  }

  void close(Client& client) {
    const Link link = client.link;
    engine.close(link);
    clients[link.index].reset();
  }

  // Turns until nothing happens without time passing. False: it never becomes quiescent.
  bool run_until_quiescent() {
    int quiet = 0;  // turns: on_turn() may resume paused clients
    for (int turns = 0; turns < 200'000 && quiet < 2; ++turns) {
      engine.turn(milliseconds(10));
      const bool paused = std::ranges::any_of(
          clients, [](const auto& each) { return each && (each->paused || each->gone); });
      const bool still = network_.quiescent() && resume_accept_at == never && !paused;
      quiet = still ? quiet + 1 : 0;
    }
    return quiet == 2;
  }

  std::uint64_t accepted = 0;
  std::vector<std::string> peers;  // of all that were accepted
  std::uint64_t received = 0;
  std::uint64_t ends = 0;
  std::uint64_t breaks = 0;
  std::uint64_t accept_failures = 0;
  bool refuse = false;
  bool detaches = false;  // whatever it accepts
  std::vector<int> detached;
  bool pauses = true;
  bool keeps_paused = false;        // a link that breaks while paused is read to its end
  bool keeps_next = false;          // and so is the link that breaks next
  std::uint32_t close_gone = 1024;  // chance in 1/1024 per turn that a gone link is closed
  std::size_t outbox_high = 16 * 1024;
  Instant resume_accept_at = never;
  Instant last_turn{};
  std::function<void(Client&)> on_echo = [](Client&) {};

 private:
  SimNetwork& network_;
  BlockPool blocks_{4096, 4096};

 public:
  std::vector<std::unique_ptr<Client>> clients;
  std::uint16_t port = 0;
  SimEngine<EchoServer> engine;
};

// A client that sends its text in pieces at moments that it chooses, then ends.
struct Talker {
  Talker(SimNetwork& network, std::uint16_t port) : network_(network), peer(network) {
    Random& random = network.random();
    text.resize(random.below(8) == 0 ? random.below(100'000) : random.below(5'000));
    for (char& each : text) each = static_cast<char>(random.below(256));
    peer.connect(port);
    peer.on_received = [this] { react(); };
    say();
  }

  void say() {
    Random& random = network_.random();
    const std::size_t count = std::min(text.size() - said, random.below(text.size() + 1));
    peer.send(Bytes(text).substr(said, count));
    said += count;
    if (said == text.size()) return peer.finish();
    const Duration silence = microseconds(static_cast<std::int64_t>(random.below(3'000)));
    network_.after(silence, [this] { say(); });
  }

  // Now and then it stops reading for a while.
  void react() {
    if (!network_.chance(64)) return;
    peer.stop_reading();
    network_.after(milliseconds(3), [this] { peer.start_reading(); });
  }

  SimNetwork& network_;
  SimPeer peer;
  std::string text;
  std::size_t said = 0;
};

using Talkers = std::vector<std::unique_ptr<Talker>>;

inline Talkers talk(SimNetwork& network, std::uint16_t port) {
  Talkers talkers;
  const std::uint64_t count = network.random().between(1, 6);
  while (talkers.size() < count) talkers.push_back(std::make_unique<Talker>(network, port));
  return talkers;
}

// The fixture of a test of one case: no faults, one server, one client.
class CalmTest : public ::testing::Test {
 protected:
  CalmTest() { server.pauses = false; }

  bool turn_until(const std::function<bool()>& done, Duration most = seconds(10)) {
    const Instant deadline = network.now() + most;
    while (!done()) {
      if (network.now() >= deadline) return false;
      server.engine.turn(milliseconds(1));
    }
    return true;
  }
  void pass(Duration time) {
    EXPECT_FALSE(turn_until([] { return false; }, time));
  }
  EchoServer::Client& only_client() {
    const auto place =
        std::ranges::find_if(server.clients, [](auto& each) { return each != nullptr; });
    return **place;
  }
  // The server has accepted the client and echoed "hello".
  void greet() {
    peer.connect(server.port);
    peer.send("hello");
    ASSERT_TRUE(turn_until([&] { return peer.received() == "hello"; })) << network.explain();
  }

  SimNetwork network{1, SimFaults::calm()};
  EchoServer server{network};
  SimPeer peer{network};
};

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
