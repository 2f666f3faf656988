#include "katana/stores/database/postgres/notifications.hpp"

#include <signal.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "katana/base/coroutine/when.hpp"
#include "katana/stores/database/postgres/postgres_fixture_test.hpp"

namespace katana::database::postgres {
namespace {

using testing::HasSubstr;

class NotificationsTest : public PostgresTest {
 protected:
  void listen(std::size_t queue_max = notification_queue_max, OutageObserver observer = {}) {
    open();
    auto opened = Notifications::open(options_, queue_max, std::move(observer));
    ASSERT_TRUE(opened) << opened.error().describe();
    notifications_ = *std::move(opened);
  }
  Subscription subscribe(std::string channel) {
    auto made = notifications_->subscribe(std::move(channel));
    EXPECT_TRUE(made) << made.error().describe();
    return *std::move(made);
  }
  // "gap", the payload, or the kind of an error.
  Task<std::string> next(Subscription& from) {
    const auto item = co_await from.next();
    if (!item) co_return std::string(kind_name(item.error().kind()));
    co_return item->may_have_missed ? "gap" : item->payload;
  }
  Task<void> send(std::string channel, std::string payload) {
    const auto sent = co_await notify(db(), std::move(channel), std::move(payload));
    EXPECT_TRUE(sent) << sent.error().describe();
  }
  void end_sessions_that_listen() {
    (void)ask(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND "
        "datname = current_database()");
  }

  std::unique_ptr<Notifications> notifications_;
};

TEST_F(NotificationsTest, what_a_transaction_notifies_comes_when_it_is_committed) {
  listen();
  auto orders = subscribe("Orders \"new\"; ü");
  const auto body = [&]() -> Task<void> {
    EXPECT_EQ(co_await next(orders), "gap");
    {
      auto undone = co_await db().begin();
      EXPECT_TRUE(co_await notify(*undone, "Orders \"new\"; ü", "undone"));
      EXPECT_TRUE(co_await undone->rollback());
      auto done = co_await db().begin();
      EXPECT_TRUE(co_await notify(*done, "Orders \"new\"; ü", "first"));
      co_await send("Orders \"new\"; ü", "before it");
      co_await send("orders \"new\"; ü", "another channel");
      EXPECT_TRUE(co_await done->commit());
    }
    EXPECT_EQ(co_await next(orders), "before it");
    EXPECT_EQ(co_await next(orders), "first");
    co_await send("Orders \"new\"; ü", "");
    const auto empty = co_await orders.next();
    EXPECT_TRUE(empty && !empty->may_have_missed && empty->payload.empty() && empty->sender > 0);
  };
  run(body());
  EXPECT_TRUE(notifications_->health());
  EXPECT_EQ(notifications_->statistics().received, 3u);
}

TEST_F(NotificationsTest, a_session_that_is_killed_is_begun_again_and_every_reader_is_told) {
  listen();
  auto first = subscribe("a");
  auto second = subscribe("b");
  const auto begin = [&]() -> Task<void> {
    EXPECT_EQ(co_await next(first), "gap");
    EXPECT_EQ(co_await next(second), "gap");
    co_await send("a", "one");
    EXPECT_EQ(co_await next(first), "one");
  };
  run(begin());
  for (int round = 0; round < 3; ++round) {
    end_sessions_that_listen();
    const auto body = [&]() -> Task<void> {
      EXPECT_EQ(co_await next(first), "gap");
      EXPECT_EQ(co_await next(second), "gap");
      co_await send("b", "again");
      EXPECT_EQ(co_await next(second), "again");
    };
    run(body());
  }
  EXPECT_EQ(notifications_->statistics().sessions, 4u);
}

// The items that a handler was called with, for a thread that waits for them.
class Called {
 public:
  OnNotification handler() {
    return [this](const Notification& each) {
      const std::lock_guard lock(mutex_);
      items_.push_back(each.may_have_missed ? "gap" : each.payload);
      changed_.notify_all();
    };
  }
  std::vector<std::string> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(20), [&] { return items_.size() >= count; });
    return items_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> items_;
};

TEST_F(NotificationsTest, a_handler_is_called_in_order_and_told_of_each_loss_until_it_is_gone) {
  listen(1);  // which bounds no handler
  Called called;
  {
    auto handler = notifications_->handle("a", called.handler());
    ASSERT_TRUE(handler);
    const NotificationHandler moved = *std::move(handler);
    EXPECT_THAT(called.wait_for(1), testing::ElementsAre("gap"));
    const auto body = [&]() -> Task<void> {
      for (const char* payload : {"1", "2", "3"}) co_await send("a", payload);
    };
    run(body());
    EXPECT_THAT(called.wait_for(4), testing::ElementsAre("gap", "1", "2", "3"));
    end_sessions_that_listen();
    EXPECT_THAT(called.wait_for(5), testing::ElementsAre("gap", "1", "2", "3", "gap"));
  }
  auto other = subscribe("a");
  const auto body = [&]() -> Task<void> {
    EXPECT_EQ(co_await next(other), "gap");
    co_await send("a", "4");
    EXPECT_EQ(co_await next(other), "4");
  };
  run(body());
  EXPECT_EQ(called.wait_for(5).size(), 5u);
  EXPECT_FALSE(notifications_->handle("", called.handler()));
}

TEST_F(NotificationsTest, who_subscribes_while_the_last_one_leaves_is_told_everything) {
  listen();
  auto other = subscribe("other");  // which keeps the session
  const auto body = [&]() -> Task<void> {
    EXPECT_EQ(co_await next(other), "gap");
    for (int round = 0; round < 200; ++round) {
      auto orders = subscribe("a");
      EXPECT_EQ(co_await next(orders), "gap") << round;
      const std::string payload = std::to_string(round);
      co_await send("a", payload);
      EXPECT_EQ(co_await next(orders), payload) << round;
    }
  };
  run(body());
  EXPECT_EQ(notifications_->statistics().sessions, 1u);
}

TEST_F(NotificationsTest, a_queue_that_is_full_says_so_where_something_is_missing) {
  listen(2);
  auto lagging = subscribe("a");
  auto quick = subscribe("b");
  const auto body = [&]() -> Task<void> {
    EXPECT_EQ(co_await next(lagging), "gap");
    EXPECT_EQ(co_await next(quick), "gap");
    for (const char* payload : {"1", "2", "3", "4"}) co_await send("a", payload);
    co_await send("b", "behind them");
    EXPECT_EQ(co_await next(quick), "behind them");
    EXPECT_EQ(co_await next(lagging), "1");
    EXPECT_EQ(co_await next(lagging), "2");
    EXPECT_EQ(co_await next(lagging), "gap");
    co_await send("a", "5");
    EXPECT_EQ(co_await next(lagging), "5");
  };
  run(body());
  EXPECT_EQ(notifications_->statistics().dropped, 2u);
}

TEST_F(NotificationsTest, a_payload_or_a_channel_that_the_server_would_not_take_is_refused) {
  listen();
  auto longest = subscribe(std::string(63, 'x'));
  const auto body = [&]() -> Task<void> {
    EXPECT_EQ(co_await next(longest), "gap");
    co_await send(std::string(63, 'x'), std::string(7999, 'p'));
    EXPECT_EQ(co_await next(longest), std::string(7999, 'p'));
    const auto too_long = co_await notify(db(), "a", std::string(8000, 'p'));
    EXPECT_EQ(kind_of(too_long), "invalid value");
    EXPECT_TRUE(!too_long && too_long.error().describe().contains("7999 bytes at most"));
    EXPECT_EQ(kind_of(co_await notify(db(), "", "p")), "invalid value");
    EXPECT_EQ(kind_of(co_await notify(db(), std::string(64, 'x'), "p")), "invalid value");
    EXPECT_EQ(kind_of(co_await notify(db(), "a", std::string("a\0b", 3))), "invalid value");
  };
  run(body());
  EXPECT_EQ(kind_of(notifications_->subscribe(std::string(64, 'x'))), "invalid value");
  EXPECT_EQ(kind_of(notifications_->subscribe(std::string("a\0b", 3))), "invalid value");
}

TEST_F(NotificationsTest, a_call_that_is_destroyed_takes_nothing_with_it) {
  listen();
  auto orders = subscribe("a");
  const auto gap = [&]() -> Task<void> { EXPECT_EQ(co_await next(orders), "gap"); };
  run(gap());
  for (int round = 0; round < 20; ++round) {
    {
      Task<std::string> waits = next(orders);
      EXPECT_FALSE(loop_.start(waits));
      // Does not use the loop of this thread: items that are on their way here have not arrived.
      (void)ask("NOTIFY a, '" + std::to_string(round) + "'");
      // Half of the calls end before their item arrives; either order passes.
      if (round % 2 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    EXPECT_EQ(run(next(orders)), std::to_string(round));
  }
}

TEST_F(NotificationsTest, closing_ends_who_waits_once_everything_was_read) {
  listen();
  auto orders = subscribe("a");
  auto others = subscribe("b");
  const auto body = [&]() -> Task<void> {
    EXPECT_EQ(co_await next(orders), "gap");
    EXPECT_EQ(co_await next(others), "gap");
    co_await send("a", "last");
    co_await send("b", "behind it");
    EXPECT_EQ(co_await next(others), "behind it");
  };
  run(body());
  Task<std::string> waits = next(others);
  EXPECT_FALSE(loop_.start(waits));
  notifications_->close();
  while (!waits.done()) loop_.turn();
  EXPECT_EQ(waits.result(), "cancelled");
  notifications_.reset();
  EXPECT_EQ(run(next(orders)), "last");
  EXPECT_EQ(run(next(orders)), "cancelled");
}

TEST_F(NotificationsTest, a_channel_that_nobody_reads_is_left_and_the_session_with_the_last) {
  open([](Options& options) { options.probe_interval = seconds(60); });  // its LISTEN is seen too
  notifications_ = *Notifications::open(options_);
  const auto told = [&](Subscription& from) { EXPECT_EQ(run(next(from)), "gap"); };
  auto kept = subscribe("kept");
  told(kept);
  {
    auto left = subscribe("left");
    told(left);
  }
  const auto wait_for = [&](const std::string& statement, const std::string& wanted) {
    std::string found;
    for (int round = 0; round < 2000 && (found = ask(statement)) != wanted; ++round) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    EXPECT_EQ(found, wanted);
  };
  wait_for(
      "SELECT max(query) FROM pg_stat_activity WHERE query LIKE '%LISTEN \"%' AND pid <> "
      "pg_backend_pid() AND datname = current_database()",
      "UNLISTEN \"left\"");
  {
    const auto gone = std::move(kept);
  }
  wait_for(
      "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%LISTEN \"%' AND pid <> "
      "pg_backend_pid() AND datname = current_database()",
      "0");
  EXPECT_TRUE(notifications_->health());  // none is wanted
  auto again = subscribe("again");
  told(again);
}

// The outages that an observer was told of, for a test that waits for them.
class ToldOutages {
 public:
  OutageObserver observer() {
    return [this](const Outage& outage) {
      const std::lock_guard lock(mutex_);
      told_.push_back(outage.why.empty() ? "again" : std::string(outage.why));
    };
  }
  std::vector<std::string> all() const {
    const std::lock_guard lock(mutex_);
    return told_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> told_;
};

TEST_F(NotificationsTest, a_session_whose_server_hangs_is_begun_again_and_the_gap_is_told) {
  ToldOutages told;
  open([](Options& options) {
    options.probe_interval = milliseconds(20);
    options.probe_timeout = milliseconds(200);
  });
  notifications_ = *Notifications::open(options_, 16, told.observer());
  auto orders = subscribe("a");
  EXPECT_EQ(run(next(orders)), "gap");
  const auto silent =
      std::stoi(ask("SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = "
                    "current_database()"));
  ASSERT_EQ(::kill(silent, SIGSTOP), 0);
  EXPECT_EQ(run(next(orders)), "gap");
  EXPECT_TRUE(notifications_->health());
  run(send("a", "behind it"));
  EXPECT_EQ(run(next(orders)), "behind it");
  ASSERT_EQ(::kill(silent, SIGCONT), 0);
  EXPECT_EQ(told.all(),
            (std::vector<std::string>{"the server has not answered for 200 ms", "again"}));
}

TEST_F(NotificationsTest, the_kill_of_a_server_and_its_restart_are_told_once_each) {
  Cluster own;
  Options options = own.options();
  options.backoff_max = milliseconds(100);
  ToldOutages told;
  const auto opened = Notifications::open(options, 16, told.observer());
  ASSERT_TRUE(opened);
  auto orders = (*opened)->subscribe("a");
  ASSERT_TRUE(orders);
  EXPECT_EQ(run(next(*orders)), "gap");
  for (std::size_t round = 1; round <= 2; ++round) {
    own.stop(true);
    katana::Result<void> health;
    // Killed, and then refused again and again.
    for (int tries = 0; tries < 2000 && (health || !health.error().describe().contains("failed: "));
         ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      health = (*opened)->health();
    }
    ASSERT_FALSE(health);
    EXPECT_THAT(health.error().describe(), HasSubstr("notifications may be missed"));
    own.start();
    EXPECT_EQ(run(next(*orders)), "gap");
    (void)own.ask("NOTIFY a, 'again'", options.database);
    EXPECT_EQ(run(next(*orders)), "again");
    EXPECT_TRUE((*opened)->health());
    EXPECT_EQ(told.all().size(), 2 * round) << testing::PrintToString(told.all());
  }
}

TEST_F(NotificationsTest, a_server_that_is_not_there_is_tried_again_and_health_says_why) {
  listen();
  options_.hosts = {{"/nowhere", 5432}};
  options_.backoff_max = milliseconds(50);
  auto opened = Notifications::open(options_);
  ASSERT_TRUE(opened);
  auto orders = (*opened)->subscribe("a");
  ASSERT_TRUE(orders);
  katana::Result<void> health;
  for (int round = 0; round < 2000; ++round) {
    health = (*opened)->health();
    if (!health && health.error().describe().contains("/nowhere")) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ASSERT_FALSE(health);
  EXPECT_THAT(health.error().describe(), HasSubstr("/nowhere"));
  opened->reset();  // at once, also in the midst of a back-off
  EXPECT_EQ(run(next(*orders)), "cancelled");
}

}  // namespace
}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
