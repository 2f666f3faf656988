// Reactors on their own threads share one cache. No caller gets an entry that was removed before it
// asked, and no caller is forgotten. Loads outlive the callers that began them.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <list>
#include <thread>

#include "katana/base/values/random.hpp"
#include "katana/stores/cache/cache_fixture_test.hpp"

namespace katana::cache {
namespace {

struct Version {
  std::int64_t key = 0;
  std::int64_t number = 0;
};
KATANA_DESCRIBE(Version, key, number)

class ThreadsTest : public testing::Test {
 protected:
  static constexpr int keys = 8;
  using Versions = Cache<std::int64_t, Version>;

  Task<Result<Version>> load(std::int64_t key) {
    const Version version{.key = key, .number = truth[static_cast<std::size_t>(key)].load()};
    loads.fetch_add(1, std::memory_order_relaxed);
    co_await net::sleep_for(microseconds(300));
    if (version.number % 7 == 3) co_return fail(Code::unavailable, "no luck");
    co_return version;
  }
  Task<void> ask(std::int64_t key) {
    const std::int64_t least = removed[static_cast<std::size_t>(key)].load();
    auto loader = [this](std::int64_t of) { return load(of); };
    const auto answer = co_await versions.get_or_load(key, loader);
    ++answers;
    if (!answer) {
      EXPECT_EQ(answer.error().message(), "no luck");
      co_return;
    }
    EXPECT_EQ((*answer)->key, key);
    EXPECT_GE((*answer)->number, least) << "it was removed before it was asked for";
  }
  void change(std::int64_t key) {
    const std::int64_t number = truth[static_cast<std::size_t>(key)].fetch_add(1) + 1;
    versions.remove(key);
    // The largest that is known to be removed.
    auto& known = removed[static_cast<std::size_t>(key)];
    for (std::int64_t before = known.load(); before < number;) {
      if (known.compare_exchange_weak(before, number)) break;
    }
  }
  // The work of one thread; its reactor ends with it.
  void serve(std::uint64_t seed, int steps) {
    Node node;
    Random random(seed);
    std::list<Task<void>> tasks;
    std::uint64_t done = 0;
    const auto turn = [&] {
      node.turn(microseconds(100));
      std::erase_if(tasks, [&](const Task<void>& task) { return task.done() && ++done > 0; });
    };
    for (int step = 0; step < steps; ++step) {
      turn();
      const auto key = static_cast<std::int64_t>(random.below(keys));
      switch (random.below(8)) {
        case 0: change(key); break;
        case 1:
          if (!tasks.empty())
            tasks.erase(
                std::next(tasks.begin(), static_cast<std::ptrdiff_t>(random.below(tasks.size()))));
          break;
        case 2: (void)versions.get(key); break;
        case 3:
          if (step % 16 == 3) versions.clear();
          break;
        default: tasks.push_back(ask(key)); tasks.back().start();
      }
    }
    while (!tasks.empty() && seed % 2 == 0) {  // the others end in the midst
      turn();
      std::this_thread::yield();
    }
    tasks.clear();
  }

  std::array<std::atomic<std::int64_t>, keys> truth{};
  std::array<std::atomic<std::int64_t>, keys> removed{};
  std::atomic<std::uint64_t> loads = 0;
  std::atomic<std::uint64_t> answers = 0;
  const Versions versions = *Versions::make({.loads_max = 3});
};

TEST_F(ThreadsTest, nobody_is_given_what_was_removed_before_and_nobody_is_forgotten) {
  for (std::uint64_t round = 0; round < 6; ++round) {
    std::vector<std::thread> threads;
    for (std::uint64_t each = 0; each < 4; ++each) {
      threads.emplace_back([this, each, round] { serve(round * 16 + each, 1500); });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_GT(answers.load(), 5000u);
  EXPECT_GT(versions.statistics().joined, 100u);
  EXPECT_EQ(versions.statistics().loads_running, 0u);
}

}  // namespace
}  // namespace katana::cache

// SPDX-License-Identifier: Apache-2.0
