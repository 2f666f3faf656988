// UpstreamTest: connections to servers on net/reactor's FakeEngine; the test plays the servers.
// Recorder: an owner that records its calls.
//
// Owns       the reactor; connections and their owners are the test's.
// Thread     one.
// Invariant  all events come from the test: no clock, no kernel, no chance but the seed's.
#pragma once

#include <gmock/gmock.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "katana/net/reactor/reactor_fixture_test.hpp"
#include "katana/net/upstream/connection.hpp"

namespace katana::upstream {

struct Recorder final : Owner {
  void on_open() noexcept override {
    ++opened;
    if (connection != nullptr && !greeting.empty()) {
      EXPECT_TRUE(connection->write(greeting));
    }
    if (at_open) at_open();
  }
  std::size_t on_bytes(Bytes input) noexcept override {
    received += input;
    if (at_bytes) at_bytes();
    return input.size();
  }
  void on_closed(const Error& why) noexcept override {
    closed.push_back(why.describe());
    if (at_closed) at_closed();
  }
  void on_unreachable(const Error& why) noexcept override { unreachable.push_back(why.describe()); }
  void on_writable() noexcept override { ++writable; }
  tls::Prelude* prelude() noexcept override { return first; }

  Connection* connection = nullptr;
  std::string greeting;
  std::function<void()> at_open, at_bytes, at_closed;
  tls::Prelude* first = nullptr;
  std::string received;
  int opened = 0, writable = 0;
  std::vector<std::string> closed, unreachable;
};

struct Outages final : Observer {
  void on_down(const std::string& server, const Error& why) noexcept override {
    notes.push_back("down " + server + ": " + why.describe());
  }
  void on_still_down(const std::string& server, const Error& why) noexcept override {
    others.push_back(server + ": " + why.describe());
  }
  void on_recovered(const std::string& server, Duration down_for) noexcept override {
    notes.push_back("up " + server + " after " + std::to_string(down_for.count_ms()) + " ms");
  }
  std::vector<std::string> notes;
  std::vector<std::string> others;  // further reasons
};

inline Options test_options() {
  Options options;
  options.kind = "Test";
  options.servers = {{.host = "192.0.2.1", .port = 4000}, {.host = "192.0.2.2", .port = 4000}};
  options.order = Order::listed;
  options.seed = 7;
  return options;
}

class UpstreamTest : public net::ReactorTest {
 protected:
  UpstreamTest() : net::ReactorTest(with_room()) {
    turn();  // the reactor of this thread
  }

  static net::ReactorOptions with_room() {
    net::ReactorOptions options = small_options();
    options.engine.receive_bytes_max = 16 * 1024;
    return options;
  }

  std::shared_ptr<Shared> shared_of(const Options& options) {
    auto made = Shared::make(options);
    EXPECT_TRUE(made) << made.error().describe();
    return *std::move(made);
  }
  // From now on the server at the link `index` receives bytes.
  void answer(std::uint32_t index) {
    world_.links[index].writable = SIZE_MAX;
    if (world_.links[index].sending) complete(index);
    turn();
  }
  void say(std::uint32_t index, const std::string& text) {
    bytes(index, text);
    turn();
  }
  void lose(std::uint32_t index, int failure) {
    world_.links[index].failure = failure;
    broken(index);
    turn();
  }
  std::size_t links() const { return world_.links.size(); }
  const std::string& target(std::size_t index) const { return world_.links[index].connected_to; }
  bool is_open(std::size_t index) const { return world_.links[index].open; }
  // The time until another link is begun, in steps of a millisecond; never: none within `limit`.
  Duration wait_for_link(Duration limit = seconds(60)) {
    const std::size_t before = links();
    const Instant since = world_.now;
    while (links() == before) {
      if (world_.now - since > limit) return Duration{never.ns};
      turn(milliseconds(1));
    }
    return world_.now - since;
  }
};

}  // namespace katana::upstream

// SPDX-License-Identifier: Apache-2.0
