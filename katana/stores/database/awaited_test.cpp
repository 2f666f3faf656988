// A database that is not there yet: its calls fail at once, and are its own once it has come.
#include "katana/stores/database/awaited.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

#include "katana/base/thread/loop.hpp"
#include "katana/stores/database/scripted_backend_test.hpp"

namespace katana::database {
namespace {

using testing::HasSubstr;

// Does every call with three rows changed, on its caller's thread.
class Ready final : public Backend {
 public:
  explicit Ready(int& calls) : calls_(calls) {}
  Attempt try_here(const Request&, Outcome&) noexcept override { return Attempt::elsewhere; }
  void submit(Work& work) noexcept override {
    ++calls_;
    work.outcome.rows_changed = 3;
    Completions().add(work);
  }
  void withdraw(Work& work) noexcept override { work.abandon(); }
  void roll_back(std::uint64_t) noexcept override {}
  void close(Cursor&) noexcept override {}
  void observe_outages(OutageObserver observer) override { observer({.where = "ready"}); }
  Bytes system() const noexcept override { return "ready"; }
  katana::Result<void> health() const override { return {}; }
  Statistics statistics() const override {
    Statistics statistics;
    statistics.usable = true;
    statistics.refused_unusable = 5;
    return statistics;
  }
  Duration timeout_default() const noexcept override { return seconds(1); }

 private:
  int& calls_;
};

class AwaitedTest : public testing::Test {
 protected:
  std::string written() {
    const auto body = [&]() -> Task<std::string> {
      const auto done = co_await database_.execute("UPDATE t SET a = 1");
      if (done) co_return std::to_string(*done);
      EXPECT_EQ(done.error().kind(), Kind::unavailable);
      co_return done.error().describe();
    };
    return loop_.run(body());
  }
  std::string read() {
    const auto body = [&]() -> Task<std::string> {
      const auto done = co_await database_.query_one<int>("SELECT 1");
      co_return done ? "done" : done.error().describe();
    };
    return loop_.run(body());
  }

  thread::Loop loop_;
  int calls_ = 0;
  std::unique_ptr<AwaitedBackend> made_ =
      std::make_unique<AwaitedBackend>("later", seconds(2), "it is awaited: refused");
  AwaitedBackend& place_ = *made_;
  Database database_{std::move(made_)};
};

TEST_F(AwaitedTest, a_call_that_is_withdrawn_is_withdrawn_from_the_database_that_has_it) {
  Script script;
  script.holds = true;
  place_.adopt(Database(std::make_unique<ScriptedBackend>(script)));
  const auto body = [&]() -> Task<void> { (void)co_await database_.execute("UPDATE t SET a = 1"); };
  {
    auto waiting = body();
    EXPECT_FALSE(loop_.start(waiting));
    EXPECT_EQ(script.calls.size(), 1u);
  }
  EXPECT_EQ(script.withdrawn, 1u);
}

TEST_F(AwaitedTest, calls_fail_at_once_with_the_reason_until_it_has_come) {
  EXPECT_THAT(written(), HasSubstr("not usable at present: it is awaited: refused"));
  EXPECT_THAT(read(), HasSubstr("it is awaited: refused"));
  place_.set_reason("no such host");
  EXPECT_THAT(written(), HasSubstr("no such host"));
  EXPECT_THAT(database_.health().error().describe(), HasSubstr("no such host"));
  EXPECT_EQ(database_.statistics().refused_unusable, 3u);
  EXPECT_FALSE(database_.statistics().usable);
  EXPECT_EQ(&database_.backend().replica(), &place_);
  place_.adopt(Database(std::make_unique<Ready>(calls_)));
  EXPECT_EQ(written(), "3");
  EXPECT_EQ(read(), "done");
  EXPECT_EQ(calls_, 2);
  EXPECT_TRUE(database_.health());
  EXPECT_EQ(database_.statistics().refused_unusable, 8u);
  EXPECT_NE(&database_.backend().replica(), &place_);
}

TEST_F(AwaitedTest, transactions_and_streams_fail_likewise) {
  const auto body = [&]() -> Task<void> {
    const auto begun = co_await database_.begin();
    EXPECT_EQ(begun ? Kind::busy : begun.error().kind(), Kind::unavailable);
    auto rows = database_.stream<int>("SELECT 1");
    const auto first = co_await rows.next();
    EXPECT_EQ(first ? Kind::busy : first.error().kind(), Kind::unavailable);
  };
  loop_.run(body());
}

TEST_F(AwaitedTest, who_observes_outages_is_handed_on) {
  std::string where;
  database_.backend().observe_outages([&](const Outage& outage) { where = outage.where; });
  EXPECT_EQ(where, "");
  place_.adopt(Database(std::make_unique<Ready>(calls_)));
  EXPECT_EQ(where, "ready");
}

// The database comes between the refusal of a call and the moment in which its coroutine hears of
// it, and the coroutine is destroyed there.
TEST_F(AwaitedTest, a_refused_call_is_not_the_databases_that_came_meanwhile) {
  {
    const auto body = [&]() -> Task<void> {
      (void)co_await database_.begin();
      ADD_FAILURE() << "it was destroyed before";
    };
    Task<void> task = body();
    EXPECT_FALSE(loop_.start(task));
    place_.adopt(Database(std::make_unique<Ready>(calls_)));
  }
  while (loop_.run_messages()) {
  }
  EXPECT_EQ(calls_, 0);
  EXPECT_EQ(written(), "3");
}

TEST_F(AwaitedTest, it_comes_on_another_thread_while_calls_are_made) {
  std::thread other([&] { place_.adopt(Database(std::make_unique<Ready>(calls_))); });
  while (written() != "3") {
  }
  other.join();
}

}  // namespace
}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
