// The memory of a connection: all that operator new gave and that was not given back.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "katana/base/thread/loop.hpp"
#include "katana/stores/database/postgres/cluster_test.hpp"
#include "katana/stores/database/postgres/postgres.hpp"

namespace {

std::atomic<std::int64_t> live_bytes = 0;

void* counted(void* memory) {
  if (memory == nullptr) std::abort();
  live_bytes += static_cast<std::int64_t>(malloc_usable_size(memory));
  return memory;
}
void give_back(void* memory) noexcept {
  if (memory == nullptr) return;
  live_bytes -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) { return counted(std::malloc(bytes)); }
[[gnu::noinline]] void* operator new[](std::size_t bytes) { return counted(std::malloc(bytes)); }
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto multiple = static_cast<std::size_t>(alignment);
  return counted(std::aligned_alloc(multiple, (bytes + multiple - 1) / multiple * multiple));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { give_back(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { give_back(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { give_back(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { give_back(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  give_back(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  give_back(memory);
}

namespace katana::database::postgres {
namespace {

constexpr unsigned connections = 40;

class PostgresMemory : public testing::Test {
 protected:
  void open(unsigned count) {
    Options options = Cluster::shared().options();
    options.connections_max = count;
    options.wait_max = seconds(30);
    database_.emplace(*postgres::open(options));
  }
  // Buffers of the thread and the frames of coroutines are no memory of connections: they are the
  // same for one connection.
  std::int64_t bytes_of_each(bool uses_six) {
    const std::int64_t of_one = bytes_with(1, uses_six);
    return (bytes_with(connections, uses_six) - of_one) / (connections - 1);
  }
  // The memory that goes with a database of so many idle connections.
  std::int64_t bytes_with(unsigned count, bool uses_six) {
    open(count);
    open_ = 0;
    {
      bool open_all = false;
      std::vector<Task<void>> tasks;
      for (unsigned number = 0; number < count; ++number) {
        tasks.push_back(use(open_all, uses_six, count));
      }
      for (Task<void>& task : tasks) loop_.start(task);
      for (const Task<void>& task : tasks) {
        while (!task.done()) loop_.turn();
      }
    }
    EXPECT_EQ(database_->statistics().readers, count);
    const std::int64_t before = live_bytes;
    database_.reset();
    return before - live_bytes;
  }
  // A transaction holds a connection for itself until all of them are open.
  Task<void> use(bool& open_all, bool uses_six, unsigned count) {
    auto transaction = co_await database_->begin();
    EXPECT_TRUE(transaction);
    if (!transaction) co_return;
    ++open_;
    while (!uses_six && !open_all) {
      EXPECT_TRUE(co_await transaction->execute("SELECT 1"));
      open_all = open_all || open_ == count;
    }
    if (!uses_six) {
      EXPECT_TRUE(co_await transaction->commit());
      co_return;
    }
    EXPECT_TRUE(co_await transaction->execute("CREATE TEMP TABLE a (id INT) ON COMMIT DROP"));
    EXPECT_TRUE(co_await transaction->execute("INSERT INTO a VALUES ($1)", 1));
    EXPECT_TRUE(co_await transaction->execute("UPDATE a SET id = id + 1 WHERE id = $1", 1));
    EXPECT_TRUE(co_await transaction->execute("DELETE FROM a WHERE id = $1", 2));
    EXPECT_TRUE(co_await transaction->query<int>("SELECT id FROM a WHERE id > $1 LIMIT 9", 1));
    while (!open_all) {
      EXPECT_TRUE(co_await transaction->query_one<int>("SELECT count(*)::int FROM a"));
      open_all = open_all || open_ == count;
    }
    EXPECT_TRUE(co_await transaction->commit());
  }

  thread::Loop loop_;
  std::optional<Database> database_;
  unsigned open_ = 0;
};

TEST_F(PostgresMemory, an_idle_connection_takes_at_most_2_kib) {
  const std::int64_t each = bytes_of_each(false);
  std::printf("%lld bytes for each idle connection with 1 statement\n",
              static_cast<long long>(each));
  EXPECT_GT(each, 500) << "this counts nothing";
  EXPECT_LE(each, 2 * 1024);
}

TEST_F(PostgresMemory, an_idle_connection_with_six_statements_takes_at_most_3_kib) {
  const std::int64_t each = bytes_of_each(true);
  std::printf("%lld bytes for each idle connection with 6 statements\n",
              static_cast<long long>(each));
  RecordProperty("bytes_each", std::to_string(each));
  EXPECT_GT(each, 500) << "this counts nothing";
  EXPECT_LE(each, 3 * 1024);
}

}  // namespace
}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
