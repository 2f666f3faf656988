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

constexpr int connections = 40;

class PostgresMemory : public testing::Test {
 protected:
  void open() {
    Options options = Cluster::shared().options();
    options.connections_max = connections;
    options.wait_max = seconds(30);
    database_.emplace(*postgres::open(options));
  }
  // A transaction holds a connection for itself until all of them are open.
  Task<void> use(bool& open_all) {
    auto transaction = co_await database_->begin();
    EXPECT_TRUE(transaction);
    if (!transaction) co_return;
    ++open_;
    EXPECT_TRUE(co_await transaction->execute("CREATE TEMP TABLE a (id INT) ON COMMIT DROP"));
    EXPECT_TRUE(co_await transaction->execute("INSERT INTO a VALUES ($1)", 1));
    EXPECT_TRUE(co_await transaction->execute("UPDATE a SET id = id + 1 WHERE id = $1", 1));
    EXPECT_TRUE(co_await transaction->execute("DELETE FROM a WHERE id = $1", 2));
    EXPECT_TRUE(co_await transaction->query<int>("SELECT id FROM a WHERE id > $1 LIMIT 9", 1));
    while (!open_all) {
      EXPECT_TRUE(co_await transaction->query_one<int>("SELECT count(*)::int FROM a"));
      open_all = open_all || open_ == connections;
    }
    EXPECT_TRUE(co_await transaction->commit());
  }

  thread::Loop loop_;
  std::optional<Database> database_;
  int open_ = 0;
};

TEST_F(PostgresMemory, an_idle_connection_takes_at_most_8_kib) {
  open();
  // The first call makes objects once, for all later calls.
  const auto first = [&]() -> Task<void> { EXPECT_TRUE(co_await database_->execute("SELECT 1")); };
  loop_.run(first());
  const std::int64_t before = live_bytes;
  {
    bool open_all = false;
    std::vector<Task<void>> tasks;
    for (int count = 0; count < connections; ++count) tasks.push_back(use(open_all));
    for (Task<void>& task : tasks) loop_.start(task);
    for (const Task<void>& task : tasks) {
      while (!task.done()) loop_.turn();
    }
  }
  loop_.run(first());
  EXPECT_EQ(database_->statistics().readers, unsigned(connections));
  const std::int64_t each = (live_bytes - before) / connections;
  std::printf("%lld bytes for each idle connection with 6 statements\n",
              static_cast<long long>(each));
  RecordProperty("bytes_each", std::to_string(each));
  EXPECT_GT(each, 500) << "this counts nothing";
  EXPECT_LE(each, 8 * 1024);
  database_.reset();
}

}  // namespace
}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
