// One Client, one Listener and one SharedRate, used by two reactors on their own threads.
#include <algorithm>
#include <atomic>

#include "katana/stores/redis/listener.hpp"
#include "katana/stores/redis/redis_fixture_test.hpp"
#include "katana/stores/redis/shared_rate.hpp"

namespace katana::redis {
namespace {

struct Counted final : Hearer {
  void on_message(Bytes, Bytes) noexcept override { ++messages; }
  void on_changed(Bytes) noexcept override { ++changes; }
  void on_missed() noexcept override { ++missed; }
  std::atomic<int> messages = 0, changes = 0, missed = 0;
};

class ThreadsTest : public RedisTest {
 protected:
  // `work(reactor)` on a thread with its own reactor, which ends with it.
  template <class Work>
  static std::jthread begin(Work work) {
    return std::jthread([work] {
      EpollReactor reactor(reactor_options(), 4096);
      ASSERT_TRUE(reactor.start());
      reactor.turn(Duration{});
      work(reactor);
    });
  }
  static void start(net::Reactor& reactor, Listener& listener) {
    run_on(reactor, [](Listener& of) -> Task<void> {
      of.start();
      co_return;
    }(listener));
  }

  RedisServer server;
  Client redis = client_of(server);
};

TEST_F(ThreadsTest, a_limit_is_one_for_all_reactors) {
  SharedRate rate(redis, {.per_second = 0.01, .burst = 60, .lease = 5, .lease_time = seconds(30)});
  std::atomic<int> passing = 0;
  {
    const auto work = [&](net::Reactor& reactor) {
      for (int each = 0; each < 200; ++each) {
        passing += run_on(reactor, rate.take(each % 2 == 0 ? "a" : "b")).passes ? 1 : 0;
        if (each == 100) rate.set_rate(0.01, 60);
      }
    };
    const std::jthread one = begin(work), other = begin(work);
  }
  EXPECT_EQ(passing, 120);
}

TEST_F(ThreadsTest, a_listener_outlives_its_reactor_and_hears_for_those_who_come_at_any_time) {
  Listener listener(redis);
  const auto heard = std::make_shared<Counted>();
  listener.track("app:", heard);
  std::atomic<bool> first_ends = false, second_ends = false;
  std::jthread first = begin([&](net::Reactor& reactor) {
    start(reactor, listener);
    turn_until(reactor, [&] { return first_ends.load(); });
  });
  ASSERT_TRUE(turn_until(reactor(), [&] { return listener.hears(); }));
  // This thread adds hearers while the other thread hears.
  std::vector<std::shared_ptr<Counted>> more;
  for (int each = 0; each < 20; ++each) {
    listener.subscribe("news" + std::to_string(each), more.emplace_back(new Counted));
  }
  ASSERT_TRUE(turn_until(reactor(), [&] { return listener.hears(); }));
  for (int each = 0; each < 20; ++each) {
    run(wait(redis.publish("news" + std::to_string(each), "x")));
    run(wait(redis.set("app:" + std::to_string(each), "x")));
  }
  ASSERT_TRUE(turn_until(reactor(), [&] {
    return heard->changes == 20 &&
           std::ranges::all_of(more, [](const auto& of) { return of->messages == 1; });
  }));
  first_ends = true;
  first.join();
  EXPECT_FALSE(listener.hears());
  const std::jthread second = begin([&](net::Reactor& reactor) {
    start(reactor, listener);
    turn_until(reactor, [&] { return second_ends.load(); });
  });
  ASSERT_TRUE(turn_until(reactor(), [&] { return listener.hears() && heard->missed == 2; }));
  run(wait(redis.set("app:end", "x")));
  EXPECT_TRUE(turn_until(reactor(), [&] { return heard->changes == 21; }));
  second_ends = true;
}

TEST_F(ThreadsTest, figures_are_read_while_reactors_count) {
  std::atomic<int> running = 2;
  const auto work = [&](net::Reactor& reactor) {
    for (int each = 0; each < 300; ++each) run_on(reactor, wait(redis.increment("n")));
    --running;
  };
  const std::jthread one = begin(work), other = begin(work);
  Totals totals;
  while (running > 0) totals = redis.totals();
  totals = redis.totals();
  EXPECT_EQ(totals.commands, 600u);
  EXPECT_EQ(totals.replies, 600u);
  EXPECT_EQ(totals.waiting, 0u);
  EXPECT_EQ(totals.waiting_bytes, 0u);
}

}  // namespace
}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
