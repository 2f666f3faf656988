// FakeRedis: a Redis server that the programs of a World share, in virtual time. Its faults: an
// outage, a fail-over that loses writes, an eviction, a clock that jumps.
//
//   auto& redis = world.add_server<testing::FakeRedis>("redis");
//   world.add("api", shop::options(), shop::configure, {.settings = {"redis.url=redis://redis"}});
//   redis.fail_over();                  // writes of the last 500 ms are lost
//
// The program's client is the real one: pipelines, timeouts, reconnects, scripts by digest. Scripts
// run: a Lua of the simulator's own, with redis.call(), in one step. Commands: keys with ends,
// texts, hashes, sorted sets, sets, lists, publish and subscribe, CLIENT TRACKING with prefixes.
// docs/guides/simulate.md says how it is weaker than Redis.
//
// Owns       its keys; the server's end of connections.
// Borrows    the loop of its host, which must outlive it.
// Thread     the loop's.
// Allocates  for each command.
// Fails      a command that it does not have gets an error reply that names it.
// Invariant  a command that was read is executed, also when its connection has broken meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "katana/base/values/instant.hpp"
#include "katana/testing/redis/fake/redis_data.hpp"
#include "katana/testing/shared_server.hpp"

namespace katana::testing {

// How a FakeRedis keeps its keys.
struct FakeRedisOptions {
  // The replica has writes so much later: fail_over() loses the younger ones.
  Duration replica_lag = milliseconds(500);
  // Keys outlive go_down(). False: a server without a file.
  bool keeps_keys = true;
  std::uint16_t port = 6379;
};

class FakeRedis final : public SharedServer {
 public:
  explicit FakeRedis(TestHost host, FakeRedisOptions options = {});
  ~FakeRedis() override;

  std::string_view kind() const noexcept override { return "redis"; }
  void go_down() override;
  // Connections are reset: the replica is the server from now on.
  std::string fail_over() override;
  // Removes a key as a full server does. False: it is not there.
  bool evict(const std::string& key);

  // Runs a command of the test: {"GET", "stock:7"}.
  RedisValue execute(const RedisWords& words);
  // The text of a key; nothing: it is not there, or no text.
  std::optional<std::string> text(const std::string& key);
  // Number of keys.
  std::size_t size();
  // Commands of clients so far.
  std::size_t commands() const noexcept { return commands_; }

 private:
  class Session;
  std::shared_ptr<SharedSession> make_session() override;
  // Tells the sessions that asked for it which keys have changed.
  void tell_changed();
  std::size_t publish(const std::string& channel, const std::string& message);

  const FakeRedisOptions options_;
  RedisData data_;
  std::vector<std::weak_ptr<Session>> clients_;
  std::size_t commands_ = 0;
  std::int64_t last_id_ = 0;
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
