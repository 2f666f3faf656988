// PostgreSQL asked by several reactors, each on its thread.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "katana/base/coroutine/when.hpp"
#include "katana/net/engine/epoll/epoll_engine.hpp"
#include "katana/net/engine/uring/uring_engine.hpp"
#include "katana/net/reactor/reactor_on.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/stores/database/postgres/cluster_test.hpp"
#include "katana/stores/database/postgres/postgres.hpp"

namespace katana::database::postgres {

struct Wide {
  int id = 0;
  std::string text;
};
KATANA_DESCRIBE(Wide, id, text)

namespace {

struct Epoll {
  using Reactor = net::ReactorOn<engine::EpollLevelEngine>;
};
struct Uring {
  using Reactor = net::ReactorOn<engine::UringEngine>;
};

// A reactor that runs one task after another until it is told to end.
template <class Engine>
class ReactorThread {
 public:
  using Body = std::function<Task<void>()>;

  explicit ReactorThread(Body body) : thread_([this, body = std::move(body)] { run(body); }) {}
  ~ReactorThread() { join(); }
  // Returns when the reactor has ended.
  void join() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  void run(const Body& body) {
    net::ReactorOptions options;
    options.engine.links_max = 64;
    typename Engine::Reactor reactor(options, 64);
    const auto started = reactor.start();
    EXPECT_TRUE(started) << started.error().describe();
    if (!started) return;
    reactor.turn({});
    Begin begin(body);
    reactor.post(begin);
    while (!begin.task || !begin.task->done()) reactor.turn(seconds(1));
  }
  // Begins the task within a turn, as a handler is begun.
  struct Begin : Message {
    explicit Begin(const Body& of) noexcept : Message(&arrive), body(of) {}
    static void arrive(Message& message) noexcept {
      auto& begin = static_cast<Begin&>(message);
      begin.task.emplace(begin.body());
      (void)begin.task->start();
    }
    const Body& body;
    std::optional<Task<void>> task;
  };

  std::thread thread_;
};

template <class Engine>
class PostgresReactors : public testing::Test {
 protected:
  void open(unsigned connections_max, const std::function<void(Options&)>& change = {}) {
    options_ = Cluster::shared().options();
    options_.connections_max = connections_max;
    options_.wait_max = seconds(30);
    if (change) change(options_);
    auto opened = postgres::open(options_);
    ASSERT_TRUE(opened) << opened.error().describe();
    database_.emplace(*std::move(opened));
    (void)Cluster::shared().ask("CREATE TABLE counts (id INT PRIMARY KEY, n INT)",
                                options_.database);
  }
  Database& db() { return *database_; }
  // Reads, writes, transactions and a stream, several times.
  Task<void> work(int id) {
    const auto made = co_await db().execute("INSERT INTO counts VALUES ($1, 0)", id);
    EXPECT_TRUE(made) << made.error().describe();
    for (int round = 0; round < 20; ++round) {
      const auto added = co_await db().execute("UPDATE counts SET n = n + 1 WHERE id = $1", id);
      EXPECT_TRUE(added) << added.error().describe();
      auto transaction = co_await db().begin();
      EXPECT_TRUE(transaction);
      if (!transaction) co_return;
      const auto within =
          co_await transaction->execute("UPDATE counts SET n = n + 1 WHERE id = $1", id);
      EXPECT_TRUE(within) << within.error().describe();
      const auto committed = co_await transaction->commit();
      EXPECT_TRUE(committed) << committed.error().describe();
      auto rows = db().template stream<int>("SELECT generate_series(1, 300)");
      int read = 0;
      while (true) {
        const auto row = co_await rows.next();
        EXPECT_TRUE(row) << row.error().describe();
        if (!row || !*row) break;
        ++read;
      }
      EXPECT_EQ(read, 300);
    }
    finished_.fetch_add(1);
  }
  void run_on(int reactors) {
    std::vector<std::unique_ptr<ReactorThread<Engine>>> threads;
    for (int id = 0; id < reactors; ++id) {
      threads.push_back(
          std::make_unique<ReactorThread<Engine>>([this, id] { return this->work(id); }));
    }
    threads.clear();
    EXPECT_EQ(finished_.load(), reactors);
    const std::string sum = Cluster::shared().ask("SELECT sum(n) FROM counts", options_.database);
    EXPECT_EQ(sum, std::to_string(40 * reactors));
  }

  // In how many of the server's transactions 8 reads of a turn are.
  std::size_t transactions_of_reads(unsigned reads_per_sync) {
    this->open(2, [&](Options& options) {
      options.reads_per_sync = reads_per_sync;
      options.slow_after = seconds(10);  // nothing is slow here, however slow the machine is
    });
    std::set<std::string> begun;
    const auto ask = [&]() -> Task<int> {
      const auto at =
          co_await this->db().template query_one<std::string>("SELECT current_timestamp::text");
      EXPECT_TRUE(at) << at.error().describe();
      if (at && *at) begun.insert(**at);
      co_return 0;
    };
    {
      ReactorThread<Engine> reactor([&]() -> Task<void> {
        (void)co_await ask();  // it is known to be quick from now on
        begun.clear();
        std::vector<Task<int>> asks;
        for (int caller = 0; caller < 8; ++caller) asks.push_back(ask());
        (void)co_await when_all(std::move(asks));
      });
    }
    return begun.size();
  }

  Options options_;
  std::optional<Database> database_;
  std::atomic<int> finished_ = 0;
};

using Engines = testing::Types<Epoll, Uring>;
TYPED_TEST_SUITE(PostgresReactors, Engines);

TYPED_TEST(PostgresReactors, each_has_connections_of_its_own) {
  this->open(16);
  this->run_on(3);
  EXPECT_TRUE(this->db().health());
}

TYPED_TEST(PostgresReactors, more_of_them_than_connections_are_served) {
  this->open(1);
  this->run_on(4);
  EXPECT_LE(this->db().statistics().readers, 1u);
}

// Two connections, of which one is that of the backend's own thread; every reactor asks for more
// than both can carry.
TYPED_TEST(PostgresReactors, few_connections_are_shared_fairly_under_load) {
  this->open(2, [](Options& options) { options.pipeline_depth = 4; });
  constexpr int reactors = 4;
  constexpr int enough = 2000;
  std::array<std::atomic<int>, reactors> answered = {};
  std::atomic<bool> ends = false;
  std::atomic<unsigned> seen = 0;
  std::atomic<int> done = 0;
  const auto ask = [&](int id) -> Task<void> {
    while (!ends) {
      const auto got = co_await this->db().template query_one<int>("SELECT $1::int", id);
      EXPECT_TRUE(got) << got.error().describe();
      if (!got) co_return;
      // Counted from when every reactor has been answered: a busy machine may start one late.
      seen |= 1u << id;
      if (seen == (1u << reactors) - 1 && ++answered[static_cast<std::size_t>(id)] >= enough) {
        ends = true;
      }
    }
  };
  {
    std::vector<std::unique_ptr<ReactorThread<TypeParam>>> threads;
    for (int id = 0; id < reactors; ++id) {
      const auto body = [&ask, &ends, &done, id, this]() -> Task<void> {
        std::vector<Task<void>> callers;
        for (int caller = 0; caller < 64; ++caller) {
          callers.push_back(ask(id));
          (void)callers.back().start();
        }
        while (!ends) {
          EXPECT_LE(this->db().statistics().readers, 2u);
          co_await net::sleep_for(milliseconds(1));
        }
        for (const Task<void>& caller : callers) {
          while (!caller.done()) co_await net::sleep_for(milliseconds(1));
        }
        // A reactor that ended earlier would take calls of the others with it.
        ++done;
        while (done < reactors) co_await net::sleep_for(milliseconds(1));
      };
      threads.push_back(std::make_unique<ReactorThread<TypeParam>>(body));
    }
  }
  std::printf("answered: %d %d %d %d\n", answered[0].load(), answered[1].load(), answered[2].load(),
              answered[3].load());
  int least = enough;
  for (const auto& each : answered) least = std::min(least, each.load());
  EXPECT_GT(least * 4, enough) << answered[0] << " " << answered[1] << " " << answered[2] << " "
                               << answered[3];
}

TYPED_TEST(PostgresReactors, a_reactor_that_ends_gives_its_connections_back) {
  this->open(2);
  for (int id = 0; id < 6; ++id) {
    ReactorThread<TypeParam> reactor([this, id] { return this->work(id); });
  }
  EXPECT_EQ(this->finished_.load(), 6);
  EXPECT_LE(this->db().statistics().readers, 1u) << "that of the backend's own thread";
}

// More rows than the sockets hold. The reader pauses while the socket has some, and no later event
// tells them.
TYPED_TEST(PostgresReactors, a_stream_whose_reader_pauses_goes_on_with_the_next_row) {
  this->open(4);
  constexpr int count = 3000;
  int next = 1;
  ReactorThread<TypeParam> reactor([&]() -> Task<void> {
    auto rows = this->db().template stream<Wide>(
        "SELECT g AS id, repeat('x', 1000) AS text FROM generate_series(1, $1::int) AS g", count);
    for (;; ++next) {
      const auto row = co_await rows.next();
      EXPECT_TRUE(row) << row.error().describe();
      if (!row || !*row) break;
      EXPECT_EQ((*row)->id, next);
      if (next % 100 != 0) continue;
      const auto beside = co_await this->db().template query_one<int>("SELECT 1");
      EXPECT_TRUE(beside) << beside.error().describe();
    }
  });
  reactor.join();
  EXPECT_EQ(next, count + 1);
}

TYPED_TEST(PostgresReactors, a_value_that_the_socket_does_not_take_at_once_arrives_whole) {
  this->open(4);
  const std::string much(4 * 1024 * 1024, 'x');
  bool arrived = false;
  ReactorThread<TypeParam> reactor([&]() -> Task<void> {
    for (int round = 0; round < 3; ++round) {
      const auto size = co_await this->db().template query_one<std::int64_t>(
          "SELECT length($1::text)::int8", much);
      EXPECT_TRUE(size) << size.error().describe();
      arrived = size && *size && **size == static_cast<std::int64_t>(much.size());
      if (!arrived) co_return;
    }
  });
  reactor.join();
  EXPECT_TRUE(arrived);
}

TYPED_TEST(PostgresReactors, the_server_loses_the_connections_of_a_reactor_that_ends) {
  this->open(4);
  ReactorThread<TypeParam> reactor([this]() -> Task<void> {
    auto rows = this->db().template stream<int>("SELECT generate_series(1, 1000000)");
    EXPECT_TRUE(co_await rows.next());
    EXPECT_TRUE(co_await this->db().execute("SELECT 1"));
  });
  reactor.join();  // with a paused stream, and an idle connection
  const std::string question =
      "SELECT count(*) <= 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> "
      "pg_backend_pid()";
  std::string answer;
  for (int tries = 0; tries < 2000 && answer != "t"; ++tries) {
    answer = Cluster::shared().ask(question, this->options_.database);
  }
  EXPECT_EQ(answer, "t") << "that of the backend's own thread is left";
}

TYPED_TEST(PostgresReactors, plain_reads_of_a_turn_share_a_sync) {
  EXPECT_EQ(this->transactions_of_reads(32), 1u);
}

TYPED_TEST(PostgresReactors, no_more_of_them_than_the_limit_says) {
  EXPECT_EQ(this->transactions_of_reads(4), 2u);
}

TYPED_TEST(PostgresReactors, none_where_the_limit_is_one) {
  EXPECT_EQ(this->transactions_of_reads(1), 8u);
}

TYPED_TEST(PostgresReactors, a_database_that_ends_before_its_reactor_leaves_nothing_behind) {
  this->open(4);
  ReactorThread<TypeParam> reactor([this]() -> Task<void> {
    co_await this->work(0);
    this->database_.reset();
  });
}

TYPED_TEST(PostgresReactors, a_handler_that_is_destroyed_ends_its_statement) {
  this->open(4);
  ReactorThread<TypeParam> reactor([this]() -> Task<void> {
    const auto endless = [this]() -> Task<void> {
      (void)co_await this->db().execute("SELECT pg_sleep(100)");
    };
    for (int round = 0; round < 5; ++round) {
      {
        Task<void> task = endless();
        (void)task.start();
        const auto beside = co_await this->db().execute("SELECT 1");
        EXPECT_TRUE(beside) << beside.error().describe();
      }
      const auto behind = co_await this->db().execute("SELECT 1");
      EXPECT_TRUE(behind) << behind.error().describe();
    }
  });
}

}  // namespace
}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
