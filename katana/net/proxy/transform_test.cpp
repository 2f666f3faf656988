#include "katana/net/proxy/transform.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <string>

#include "katana/net/reactor/reactor_fixture_test.hpp"

namespace katana::proxy {
namespace {

using net::Transform;
using net::TransformEvent;

// The transform behind the header: once it has seen "!", it passes bytes on, each time in its own
// call.
class LaterTransform final : public Transform {
 public:
  using Transform::Transform;
  net::TransformStep receive(Bytes input, std::span<char> plain, Instant) noexcept override {
    if (!open_) {
      if (input.empty()) return {};
      open_ = true;
      return {TransformEvent::opened, 1, 0};
    }
    const std::size_t size = std::min(input.size(), plain.size());
    std::copy_n(input.begin(), size, plain.begin());
    return {size == 0 ? TransformEvent::need_bytes : TransformEvent::bytes, size, size};
  }
  void admit() noexcept override {}
  std::size_t seal(Bytes plain) noexcept override {
    output_.write(plain);
    return plain.size();
  }
  bool can_seal() const noexcept override { return true; }
  void seal_end() noexcept override {}
  void cut(net::TransformCut) noexcept override {}
  Bytes application_protocol() const noexcept override { return "later"; }

 private:
  bool open_ = false;
};

class LaterTransforms final : public net::TransformFactory {
 public:
  std::unique_ptr<Transform> make(BlockPool& blocks) noexcept override {
    if (refuses) return nullptr;
    return std::make_unique<LaterTransform>(blocks);
  }
  bool refuses = false;
};

constexpr const char* line = "PROXY TCP4 198.51.100.7 203.0.113.1 5000 443\r\n";

class ProxyTransformTest : public net::ReactorTest {
 protected:
  ProxyTransformTest() {
    EXPECT_TRUE(reactor().listen_transformed({}, protocol_, plain_));
    EXPECT_TRUE(reactor().listen_transformed({}, protocol_, sealed_));
  }
  ~ProxyTransformTest() override { reactor_.reset(); }  // before the transforms

  net::TestSession* session() {
    return protocol_.sessions.empty() ? nullptr : protocol_.sessions.back();
  }
  std::string peer() { return std::string(session()->connection.peer().text().bytes()); }

  ProxyCounters counted_;
  LaterTransforms later_;
  ProxyTransforms plain_{seconds(3), nullptr, counted_};
  ProxyTransforms sealed_{seconds(3), &later_, counted_};
};

TEST_F(ProxyTransformTest, the_session_is_opened_behind_the_header_and_knows_the_client) {
  accept(1);
  EXPECT_EQ(session(), nullptr);
  bytes(0, std::string(line) + "GET /");
  turn();
  ASSERT_NE(session(), nullptr);
  EXPECT_EQ(session()->consumed, "GET /");
  EXPECT_EQ(peer(), "198.51.100.7:5000");
  EXPECT_EQ(session()->connection.transform(), nullptr) << "it costs what any connection does";
  bytes(0, " HTTP");
  turn();
  EXPECT_EQ(session()->consumed, "GET / HTTP");
  EXPECT_EQ(counted_.named, 1u);
}

TEST_F(ProxyTransformTest, a_header_in_pieces_is_taken_together) {
  accept(1);
  for (const char c : std::string(line) + "ab") {
    bytes(0, std::string(1, c));
    turn();
  }
  ASSERT_NE(session(), nullptr);
  EXPECT_EQ(session()->consumed, "ab");
  EXPECT_EQ(peer(), "198.51.100.7:5000");
}

TEST_F(ProxyTransformTest, another_transform_goes_on_behind_it) {
  for (const bool together : {false, true}) {
    const auto index = static_cast<std::uint32_t>(world_.links.size());
    accept(2);
    if (together) {
      bytes(index, std::string(line) + "!hello");
      turn();
    } else {
      bytes(index, line);
      turn();
      bytes(index, "!");
      turn();
      bytes(index, "hello");
      turn();
    }
    ASSERT_NE(session(), nullptr);
    EXPECT_EQ(session()->consumed, "hello");
    EXPECT_EQ(session()->connection.application_protocol(), "later");
    EXPECT_EQ(peer(), "198.51.100.7:5000");
  }
}

TEST_F(ProxyTransformTest, of_a_proxy_that_speaks_for_itself_the_peer_stays) {
  accept(1);
  bytes(0, "PROXY UNKNOWN\r\nx");
  turn();
  EXPECT_EQ(peer(), "192.0.2.0:1000");
  EXPECT_EQ(counted_.unnamed, 1u);
}

TEST_F(ProxyTransformTest, what_is_no_header_ends_the_connection_and_opens_no_session) {
  accept(1);
  bytes(0, "GET / HTTP/1.1\r\n\r\n");
  turn();
  input_end(0);
  turn();
  EXPECT_EQ(session(), nullptr);
  EXPECT_FALSE(link_state(0).open);
  EXPECT_TRUE(sent(0).empty());
  EXPECT_EQ(counted_.refused[static_cast<std::size_t>(Refusal::signature)], 1u);
  EXPECT_EQ(counted_.refused_in_all(), 1u);
}

TEST_F(ProxyTransformTest, a_header_has_a_time_and_what_follows_has_its_own) {
  accept(1);
  bytes(0, "PROXY TCP4 ");
  turn(seconds(2));
  turn(seconds(2));
  EXPECT_FALSE(link_state(0).open);
  EXPECT_EQ(counted_.late, 1u);
  accept(2);
  turn(milliseconds(2900));
  bytes(1, line);
  turn();
  turn(seconds(9));
  EXPECT_TRUE(link_state(1).open) << "opening_timeout is ten seconds";
  turn(seconds(2));
  EXPECT_FALSE(link_state(1).open);
}

TEST_F(ProxyTransformTest, a_proxy_that_leaves_within_the_header_is_counted) {
  accept(1);
  bytes(0, "PROXY TCP4 ");
  input_end(0);
  turn();
  EXPECT_FALSE(link_state(0).open);
  EXPECT_EQ(counted_.cut, 1u);
}

TEST_F(ProxyTransformTest, without_memory_for_what_follows_the_connection_is_reset) {
  later_.refuses = true;
  accept(2);
  bytes(0, line);
  turn();
  EXPECT_FALSE(link_state(0).open);
  EXPECT_TRUE(link_state(0).was_reset);
}

TEST_F(ProxyTransformTest, limits_hold_for_whom_the_proxy_names) {
  net::ClientLimits limits({.connections_max = 1, .handshakes_max = 1}, 1);
  for (const engine::Listener listener : {1u, 2u}) {
    reactor().guard(listener, {.limits = &limits, .is_proxied = true});
  }
  accept(1);
  bytes(0, std::string(line) + "a");
  turn();
  accept(1);
  bytes(1, std::string(line) + "a");
  turn();
  EXPECT_TRUE(link_state(0).open);
  EXPECT_FALSE(link_state(1).open) << "a second connection of the same client";
  accept(1);
  bytes(2, "PROXY TCP4 198.51.100.8 203.0.113.1 5000 443\r\na");
  turn();
  EXPECT_TRUE(link_state(2).open) << "another client of the same proxy";
  accept(2);
  bytes(3, "PROXY TCP4 198.51.100.9 203.0.113.1 5000 443\r\n");
  turn();
  EXPECT_TRUE(link_state(3).open);
  reactor_.reset();
  EXPECT_EQ(limits.clients(world_.now), 0u);
}

}  // namespace
}  // namespace katana::proxy

// SPDX-License-Identifier: Apache-2.0
