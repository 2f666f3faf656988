// Tests of the pool of readers alone: its slots, and the connections that it keeps.
#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "katana/base/system/alarm.hpp"
#include "katana/stores/database/sqlite/bare_test.hpp"
#include "katana/stores/database/sqlite/folder_test.hpp"
#include "katana/stores/database/sqlite/readers.hpp"

namespace katana::database::sqlite {
namespace {

// Runs what was posted when a test says so.
class Posts final : public Executor {
 public:
  void post(Message& message) noexcept override { posted.push_back(&message); }
  void run() {
    for (std::size_t index = 0; index < posted.size(); ++index) posted[index]->run(*posted[index]);
    posted.clear();
  }
  std::vector<Message*> posted;
};

// Rows of a read, or those of a stream, whose batch is one row.
class Rows final : public Outcome {
 public:
  explicit Rows(bool of_stream) : of_stream_(of_stream) {}
  TypeMismatch take(const Row&) override {
    has_row_ = true;
    return {};
  }
  void clear() noexcept override {}
  bool wants_more() const noexcept override { return !of_stream_ || !has_row_; }

 private:
  const bool of_stream_;
  bool has_row_ = false;
};

class ReadersTest : public testing::Test {
 protected:
  void SetUp() override {
    options_.path = folder_ / "a.db";
    Bare(options_.path).run("PRAGMA journal_mode = WAL; CREATE TABLE t (id INTEGER PRIMARY KEY)");
  }
  void open(unsigned readers) {
    options_.readers = readers;
    readers_ = std::make_unique<Readers>(options_, watch_, clock_);
    readers_->run_on(threads_);
  }
  Outcome& submit(Order order, const Sql& sql) {
    Request request;
    request.order = order;
    request.sql = &sql;
    Rows& outcome = outcomes_.emplace_back(order == Order::open);
    WorkList list;
    list.push(works_.emplace_back(home_, request, outcome, [](Work*) noexcept {}));
    readers_->submit(list);
    return outcome;
  }
  int open_files() const { return sqlite::open_files(options_.path); }

  Folder folder_;
  Options options_;
  Instant now_{seconds(1000).ns};
  const std::function<Instant()> clock_ = [this] { return now_; };
  Watch watch_{folder_ / "a.db", clock_};
  Posts home_, threads_;
  std::deque<Rows> outcomes_;
  std::deque<Work> works_;
  const Sql count_{"SELECT count(*) FROM t"};
  const Sql endless_{
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"};
  std::unique_ptr<Readers> readers_;
};

TEST_F(ReadersTest, a_reader_that_is_about_to_run_is_not_posted_again) {
  open(1);
  const Outcome& first = submit(Order::read, count_);
  const Outcome& second = submit(Order::read, count_);
  EXPECT_EQ(threads_.posted.size(), 1u);
  threads_.run();
  EXPECT_FALSE(first.error);
  EXPECT_FALSE(second.error);
  submit(Order::read, count_);
  EXPECT_EQ(threads_.posted.size(), 1u) << "at rest it is";
  threads_.run();
  readers_->stop();
}

TEST_F(ReadersTest, a_read_that_comes_after_the_stop_is_refused_and_runs_nothing) {
  open(1);
  readers_->stop();
  const Outcome& late = submit(Order::read, count_);
  ASSERT_TRUE(late.error);
  EXPECT_EQ(late.error->kind(), Kind::unavailable);
  EXPECT_NE(late.error->describe().find("the database is closing"), std::string::npos)
      << late.error->describe();
  EXPECT_TRUE(threads_.posted.empty());
  EXPECT_EQ(home_.posted.size(), 1u);
}

TEST_F(ReadersTest, the_connection_of_a_read_is_kept_for_the_next_read_until_the_stop) {
  open(1);
  EXPECT_EQ(open_files(), 0);
  for (int read = 0; read < 3; ++read) {
    submit(Order::read, count_);
    threads_.run();
    EXPECT_EQ(open_files(), 1);
  }
  readers_->stop();
  EXPECT_EQ(open_files(), 0);
}

TEST_F(ReadersTest, a_stream_that_is_closed_gives_its_connection_back) {
  open(1);
  const Outcome& stream = submit(Order::open, endless_);
  threads_.run();
  ASSERT_NE(stream.cursor, nullptr);
  EXPECT_EQ(open_files(), 1);
  readers_->close(*stream.cursor);
  EXPECT_EQ(open_files(), 1);
  submit(Order::read, count_);
  threads_.run();
  EXPECT_EQ(open_files(), 1);
  readers_->stop();
}

TEST_F(ReadersTest, a_lock_that_is_reported_wakes_the_supervisor_at_once) {
  ASSERT_TRUE(watch_.alarm().open());
  watch_.alarm().set(now_ + seconds(100));
  watch_.report_locked(seconds(5));
  EXPECT_EQ(watch_.alarm().due_ns().load(), now_.ns) << "it refuses the writes that wait";
}

TEST_F(ReadersTest, the_first_use_after_a_rest_wakes_the_supervisor_at_once) {
  ASSERT_TRUE(watch_.alarm().open());
  watch_.alarm().set(now_ + seconds(100));
  EXPECT_TRUE(watch_.go_on_looking(true)) << "it was used at the start";
  EXPECT_FALSE(watch_.go_on_looking(true));
  EXPECT_EQ(watch_.alarm().due_ns().load(), (now_ + seconds(100)).ns);
  watch_.note_use();
  EXPECT_EQ(watch_.alarm().due_ns().load(), now_.ns);
}

}  // namespace
}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
