// NatsServer: a nats-server for one test, on a free port, in a temporary folder.
// NatsTest: buses on reactors of the machine's network.
//
// Owns       the process, which ends with the test; the folder.
// Thread     one.
// Fails      by failing the test.
// Invariant  time is real: a test waits for a condition, with a time limit that only a defect
//            reaches.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "katana/base/system/program_fixture_test.hpp"
#include "katana/net/engine/epoll/epoll_engine.hpp"
#include "katana/net/reactor/reactor_on.hpp"
#include "katana/stores/bus/nats/nats_bus.hpp"

namespace katana::bus {

class NatsServer {
 public:
  // `config`: lines of a configuration file, behind those for port and store.
  explicit NatsServer(std::string config = {}, std::uint16_t port = find_free_port());
  ~NatsServer();
  NatsServer(const NatsServer&) = delete;
  NatsServer& operator=(const NatsServer&) = delete;

  std::uint16_t port() const noexcept { return port_; }
  upstream::Server place() const { return {.host = "127.0.0.1", .port = port_}; }
  const std::string& folder() const noexcept { return folder_; }
  void start();
  // kill -9, and until it is gone.
  void kill();
  void signal(int number) const;
  std::string log() const;

 private:
  std::string config_;
  std::uint16_t port_;
  std::string folder_;
  int process_ = -1;
};

// Three of a cluster, with JetStream.
std::vector<std::unique_ptr<NatsServer>> make_cluster(const std::string& config = {});

class NatsTest : public testing::Test {
 protected:
  using TestReactor = net::ReactorOn<engine::EpollEdgeEngine>;

  // A process: a bus and its reactors.
  struct Node {
    std::unique_ptr<NatsBus> bus;
    std::vector<std::unique_ptr<TestReactor>> reactors;
    ~Node() { reactors.clear(); }
    net::Reactor& on(std::size_t index = 0) {
      reactors[index]->turn({});
      return *reactors[index];
    }
  };

  static NatsOptions options_for(const std::vector<const NatsServer*>& servers);
  // Adds a node, and waits for its connection unless `waits` is false.
  Node& add(NatsOptions options, std::size_t reactors = 1, bool waits = true);
  // Turns all reactors until it holds. False: it did not within `limit`.
  bool turn_until(const std::function<bool()>& holds, Duration limit = seconds(20));
  void turn_for(Duration time);
  // Waits until the server knows the subscriptions that the node has made. Another client sends
  // "settled" to the node until that arrives: the server reads SUB in the order of a connection.
  // Queue groups have another connection, which this does not wait for.
  void settle(Node& node, const NatsServer& server, Bytes prefix = "");

  Subscription subscribe(Node& node, Bytes pattern, std::vector<std::string>& to,
                         std::string group = {}, std::size_t reactor = 0);
  static std::string note_of(const Notice& notice);
  // Runs the task on the first reactor of the node, and returns its result.
  template <class T>
  T done(Node& node, Task<T> task) {
    node.on();
    task.start();
    EXPECT_TRUE(turn_until([&] { return task.done(); }));
    return task.result();
  }

  std::vector<std::unique_ptr<Node>> nodes_;
};

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
