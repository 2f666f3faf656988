// CacheTest: reactors in virtual time that share a cache, and loaders that a test holds back.
//
// Owns       the reactors; a test turns them by hand.
// Thread     one.
// Invariant  nothing happens but what a test asked for.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/values/described.hpp"
#include "katana/net/reactor/reactor_fixture_test.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/net/reactor/timeout.hpp"
#include "katana/stores/cache/cache.hpp"

namespace katana::cache {

struct User {
  std::int64_t id = 0;
  std::string name;
  std::vector<std::string> roles;
};
KATANA_DESCRIBE(User, id, name, roles)

struct KeptFailures final : FailureObserver {
  void on_failure(const Failure& failure) noexcept override { lines.push_back(describe(failure)); }
  std::vector<std::string> lines;
};

// A reactor and its time.
class Node {
 public:
  Node() { reset(); }
  void turn(Duration later = {}) {
    world.now = world.now + later;
    reactor->turn({});
  }
  // All entries are gone, as at the end of the program.
  void end() { reactor.reset(); }
  void reset() {
    net::ReactorOptions options;
    options.engine.links_max = 4;
    options.output_blocks_max = 64;
    options.output_blocks_reserve = 8;
    options.output_block_bytes = 512;
    options.outbox_high_bytes = 2048;
    options.outbox_low_bytes = 1024;
    reactor =
        std::make_unique<net::ReactorOn<net::FakeEngine>>(options, sizeof(net::TestSession), world);
    reactor->tasks().set_failures(&failures);
    EXPECT_TRUE(reactor->start());
  }

  net::World world;
  KeptFailures failures;
  std::unique_ptr<net::ReactorOn<net::FakeEngine>> reactor;
};

class CacheTest : public testing::Test {
 protected:
  using Users = Cache<std::int64_t, User>;
  using Answer = Result<Cached<User>>;

  static Users make_users(Options options = {}, std::shared_ptr<SecondLevel> level = nullptr) {
    options.name = "users";
    options.ttl_jitter_percent = jitter_percent;
    auto made = level != nullptr ? Users::make(options, std::move(level)) : Users::make(options);
    EXPECT_TRUE(made) << made.error().describe();
    return *std::move(made);
  }

  // The loader of a test: each load takes this time, and returns the value of `found`.
  struct Source {
    Task<Result<std::optional<User>>> load(std::int64_t id) {
      ++loads;
      ++running;
      running_max = std::max(running_max, running);
      struct End {
        explicit End(Source& of) : source(of) {}
        ~End() { --source.running; }
        Source& source;
      };
      const End end(*this);
      if (takes > Duration{}) co_await net::sleep_for(takes);
      if (throws) throw std::runtime_error("the disk is gone");
      if (error) co_return std::unexpected(*error);
      if (!exists) co_return std::nullopt;
      co_return User{.id = id, .name = name, .roles = {}};
    }
    Duration takes = milliseconds(10);
    std::string name = "ada";
    bool exists = true;
    bool throws = false;
    std::optional<Error> error;
    int loads = 0;
    int running = 0;
    int running_max = 0;
  };

  Task<void> ask(Users users, std::int64_t id, std::optional<Answer>& answer) {
    auto load = [from = &source](std::int64_t key) { return from->load(key); };
    answer.emplace(co_await users.get_or_load(id, load));
  }
  // A caller on a node: begun, and kept by the test.
  struct Asker {
    std::unique_ptr<std::optional<Answer>> answer = std::make_unique<std::optional<Answer>>();
    std::optional<Task<void>> task;
    bool is_done() const { return answer->has_value(); }
    std::string says() const {
      if (!is_done()) return "waits";
      if (!**answer) return (*answer)->error().describe();
      if ((**answer)->is_absent()) return "none";
      return (***answer)->name;
    }
  };
  Asker begin(Node& on, const Users& users, std::int64_t id) {
    on.turn();
    Asker asker;
    asker.task.emplace(ask(users, id, *asker.answer));
    asker.task->start();
    return asker;
  }
  // All nodes have one time.
  void pass(Duration time) {
    node.turn(time);
    if (other.reactor != nullptr) other.turn(time);
    node.turn();
    if (other.reactor != nullptr) other.turn();
    node.turn();
  }

  static constexpr unsigned jitter_percent = 0;
  Node other;
  Node node;  // takes its turns last: what a test calls runs on it
  Source source;
};

}  // namespace katana::cache

// SPDX-License-Identifier: Apache-2.0
