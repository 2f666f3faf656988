// A database that is not there when a program starts.
#include "katana/app/database_start.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace katana::app {
namespace {

using testing::HasSubstr;

class NoBackend final : public database::Backend {
 public:
  database::Attempt try_here(const database::Request&, database::Outcome&) noexcept override {
    return database::Attempt::elsewhere;
  }
  void submit(database::Work& work) noexcept override { database::Completions().add(work); }
  void withdraw(database::Work& work) noexcept override { work.abandon(); }
  void roll_back(std::uint64_t) noexcept override {}
  void close(database::Cursor&) noexcept override {}
  Result<void> health() const override { return {}; }
  database::Statistics statistics() const override { return {}; }
  Duration timeout_default() const noexcept override { return seconds(1); }
};

// A server whose state the test sets, and the reports to the program.
class DatabaseStartTest : public testing::Test {
 protected:
  DatabaseStartOptions options(Duration wait_max) {
    DatabaseStartOptions how;
    how.open = [this](const database::Opening& opening) { return open(opening); };
    how.wait_max = wait_max;
    how.timeout = seconds(1);
    how.system = "test";
    how.backoff_min = how.backoff_max = milliseconds(1);
    return how;
  }
  Result<database::Database> open(const database::Opening& opening) {
    std::unique_lock lock(mutex_);
    ++attempts_;
    changed_.notify_all();
    if (reaches_ && opening.on_reached) opening.on_reached();
    // Waits like an attempt that hangs in a connect.
    changed_.wait(lock, [&] { return !hangs_ || opening.stop.stop_requested(); });
    if (opening.stop.stop_requested()) return fail(Code::cancelled, "stopped");
    if (!there_) return fail(code_, why_);
    return database::Database(std::make_unique<NoBackend>());
  }
  void set(const std::function<void()>& change) {
    const std::lock_guard lock(mutex_);
    change();
    changed_.notify_all();
  }
  void wait_attempts(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return attempts_ >= count; });
  }
  DatabaseNews news() {
    return {.on_there = [this] { tell("there"); },
            .on_failed = [this](const Error& error) { tell(error.describe()); }};
  }
  void tell(const std::string& what) {
    const std::lock_guard lock(mutex_);
    told_ = what;
    changed_.notify_all();
  }
  std::string told() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !told_.empty(); });
    return told_;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool there_ = false, hangs_ = false, reaches_ = false;
  Code code_ = Code::unavailable;
  std::string why_ = "connection refused";
  int attempts_ = 0;
  std::string told_;
};

constexpr Duration for_long = seconds(3600);

TEST_F(DatabaseStartTest, one_that_is_there_is_opened_once) {
  there_ = true;
  DatabaseStart start(options(for_long));
  const auto opened = start.start();
  ASSERT_TRUE(opened);
  EXPECT_TRUE(opened->health());
  EXPECT_FALSE(start.awaits());
  start.go_on(news());
  EXPECT_EQ(attempts_, 1);
  start.stop();  // before the database goes
}

TEST_F(DatabaseStartTest, one_that_is_not_there_is_awaited_and_used_once_it_has_come) {
  DatabaseStart start(options(for_long));
  const auto opened = start.start();
  ASSERT_TRUE(opened);
  EXPECT_THAT(opened->health().error().describe(), HasSubstr("connection refused"));
  EXPECT_THAT(start.awaits().value_or("nothing"), HasSubstr("connection refused"));
  start.go_on(news());
  wait_attempts(4);
  EXPECT_FALSE(opened->health());
  set([this] { there_ = true; });
  EXPECT_EQ(told(), "there");
  EXPECT_TRUE(opened->health());
  EXPECT_FALSE(start.awaits());
  start.stop();  // before the database goes
}

// Statements are observed from then on.
TEST_F(DatabaseStartTest, one_that_comes_while_the_program_starts_is_used_when_it_has_started) {
  DatabaseStart start(options(for_long));
  const auto opened = start.start();
  ASSERT_TRUE(opened);
  set([this] { there_ = true; });
  wait_attempts(2);
  EXPECT_FALSE(opened->health());
  start.go_on(news());
  EXPECT_EQ(told(), "there");
  EXPECT_TRUE(opened->health());
  start.stop();  // before the database goes
}

TEST_F(DatabaseStartTest, what_waiting_cannot_mend_is_an_error_at_once) {
  code_ = Code::permission_denied;
  why_ = "wrong password";
  DatabaseStart start(options(for_long));
  const auto opened = start.start();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().describe(), "wrong password");
  EXPECT_EQ(attempts_, 1);
  start.stop();  // before the database goes
}

TEST_F(DatabaseStartTest, what_waiting_cannot_mend_ends_a_wait_too) {
  DatabaseStart start(options(for_long));
  const auto opened = start.start();
  ASSERT_TRUE(opened);
  start.go_on(news());
  set([this] {
    code_ = Code::internal;
    why_ = "0002_a.sql was changed";
  });
  EXPECT_EQ(told(), "0002_a.sql was changed");
  start.stop();  // before the database goes
}

TEST_F(DatabaseStartTest, a_wait_that_has_an_end_says_how_long_it_was) {
  DatabaseStart start(options(milliseconds(5)));
  const auto opened = start.start();
  if (opened) {
    start.go_on(news());
    EXPECT_THAT(told(), HasSubstr("(database.start_wait): connection refused"));
  } else {
    EXPECT_THAT(opened.error().describe(), HasSubstr("(database.start_wait)"));
  }
  start.stop();  // before the database goes
}

TEST_F(DatabaseStartTest, without_a_wait_there_is_one_attempt) {
  DatabaseStart start(options({}));
  EXPECT_EQ(start.start().error().describe(), "connection refused");
  EXPECT_EQ(attempts_, 1);
}

TEST_F(DatabaseStartTest, an_attempt_that_hangs_holds_up_neither_the_start_nor_the_end) {
  hangs_ = true;
  DatabaseStartOptions how = options(for_long);
  how.answer_max = milliseconds(1);
  DatabaseStart start(std::move(how));
  const auto opened = start.start();
  ASSERT_TRUE(opened);
  EXPECT_THAT(opened->health().error().describe(), HasSubstr("it has not answered yet"));
  start.go_on(news());
  std::thread ending([&] { start.stop(); });
  // An attempt that hangs looks at its stop token in its own time.
  set([] {});
  for (bool ended = false; !ended;) {
    set([] {});
    ended = !start.awaits();
  }
  ending.join();
  EXPECT_EQ(told_, "");
}

TEST_F(DatabaseStartTest, a_start_waits_for_migrations_that_it_has_reached) {
  hangs_ = reaches_ = true;
  DatabaseStartOptions how = options(for_long);
  how.answer_max = seconds(60);
  DatabaseStart start(std::move(how));
  std::thread later([&] {
    wait_attempts(1);
    set([this] {
      there_ = true;
      hangs_ = false;
    });
  });
  const auto opened = start.start();
  later.join();
  ASSERT_TRUE(opened);
  EXPECT_TRUE(opened->health());
  start.stop();  // before the database goes
}

TEST(DatabaseWait, is_as_told_or_for_ever_where_something_restarts_the_program) {
  std::map<std::string, std::string> set;
  const auto variables = [&](const char* name) {
    const auto found = set.find(name);
    return found == set.end() ? nullptr : found->second.c_str();
  };
  EXPECT_EQ(database_wait({}, variables), seconds(5));
  for (const char* name : {"NOTIFY_SOCKET", "INVOCATION_ID", "KUBERNETES_SERVICE_HOST"}) {
    set = {{name, "x"}};
    EXPECT_EQ(database_wait({}, variables).ns, never.ns) << name;
    EXPECT_EQ(database_wait(seconds(7), variables), seconds(7));
    EXPECT_EQ(database_wait(Duration{}, variables), Duration{});
    set = {{name, ""}};
    EXPECT_EQ(database_wait({}, variables), seconds(5));
  }
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
