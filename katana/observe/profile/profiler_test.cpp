#include "katana/observe/profile/profiler.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <new>
#include <string>
#include <thread>

#include "katana/base/system/thread_sanitizer_test.hpp"
#include "katana/observe/profile/pprof.hpp"

#if !defined(KATANA_THREAD_SANITIZER)
namespace {

constinit thread_local bool has_no_memory = false;          // operator new throws
constinit std::atomic<const void*> watched_block{nullptr};  // delete sets it to null

void give_back(void* memory) noexcept {
  const void* expected = memory;
  if (memory != nullptr) watched_block.compare_exchange_strong(expected, nullptr);
  std::free(memory);
}

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return has_no_memory ? nullptr : std::malloc(bytes != 0 ? bytes : 1);
}
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (void* const memory = ::operator new(bytes, std::nothrow)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new[](std::size_t bytes) { return ::operator new(bytes); }
[[gnu::noinline]] void* operator new[](std::size_t bytes, const std::nothrow_t& tag) noexcept {
  return ::operator new(bytes, tag);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { give_back(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { give_back(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { give_back(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { give_back(memory); }
#endif

namespace katana::profile {
namespace {

constexpr std::chrono::minutes wait_max(2);

template <class F>
bool eventually(F f) {
  const auto end = std::chrono::steady_clock::now() + wait_max;
  while (!f()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

bool is_done(const Result<std::unique_ptr<Run>>& run) {
  return eventually([&] { return (*run)->is_done(); });
}

// A function that writes a profile, and waits meanwhile until it may go on.
struct SlowWriter {
  std::atomic<bool> begun{false};
  std::atomic<bool> may_end{false};

  ProfileOptions options() {
    return {.length = milliseconds(1), .write = [this](const Profile&) {
              begun = true;
              while (!may_end) std::this_thread::yield();
              return std::string("slow");
            }};
  }
};

TEST(Profiler, makes_one_profile_at_a_time_and_tells_when_it_ends) {
  Profiler profiler("notes");
  EXPECT_FALSE(profiler.ends_at_ns());
  auto run = profiler.begin({.length = seconds(3600), .write = to_pprof});
  ASSERT_TRUE(run);
  EXPECT_TRUE(profiler.ends_at_ns());
  const auto second = profiler.begin({});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), Code::already_exists);
  EXPECT_FALSE((*run)->is_done());
  profiler.close();
  ASSERT_TRUE(is_done(run));
  const auto profile = from_pprof((*run)->take().value());
  ASSERT_TRUE(profile) << profile.error().describe();
  EXPECT_EQ(profile->program, "notes");
  EXPECT_LT(profile->took_ns, 3'600'000'000'000);
  EXPECT_FALSE(profiler.ends_at_ns());
}

TEST(Profiler, ends_a_profile_whose_run_is_gone_and_does_not_write_it) {
  Profiler profiler("notes");
  std::atomic<bool> written{false};
  ASSERT_TRUE(profiler.begin({.length = seconds(3600), .write = [&](const Profile&) {
                                written = true;
                                return std::string();
                              }}));
  EXPECT_FALSE(profiler.ends_at_ns());
  const auto begin = [&] { return profiler.begin({.length = milliseconds(1), .write = to_pprof}); };
  auto run = begin();
  ASSERT_TRUE(eventually([&] {
    if (!run) run = begin();
    return run.has_value();
  }));
  EXPECT_FALSE(written);
  ASSERT_TRUE(is_done(run));
  EXPECT_TRUE((*run)->take());
}

TEST(Profiler, does_not_wait_for_a_profile_that_is_written_for_no_run) {
  SlowWriter writer;
  Profiler profiler("notes");
  auto first = profiler.begin(writer.options());
  ASSERT_TRUE(first);
  ASSERT_TRUE(eventually([&] { return writer.begun.load(); }));
  first->reset();
  auto second = std::async(std::launch::async, [&] { return profiler.begin(writer.options()); });
  const bool has_returned = second.wait_for(wait_max) == std::future_status::ready;
  EXPECT_TRUE(has_returned);
  if (has_returned) {
    const auto refused = second.get();
    EXPECT_TRUE(!refused && refused.error().code() == Code::already_exists);
    EXPECT_FALSE(profiler.ends_at_ns());
    profiler.close();
  }
  writer.may_end = true;
}

TEST(Profiler, begins_nothing_after_it_is_closed) {
  Profiler profiler("notes");
  auto run = profiler.begin({.length = seconds(3600), .write = to_pprof});
  ASSERT_TRUE(run);
  profiler.close();
  ASSERT_TRUE(is_done(run));
  EXPECT_TRUE((*run)->take());
  const auto late = profiler.begin({.length = milliseconds(1), .write = to_pprof});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code(), Code::cancelled);
}

TEST(Profiler, may_use_the_cpus_of_the_thread_that_made_it) {
  cpu_set_t before, one, found;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  if (CPU_COUNT(&before) < 2) GTEST_SKIP() << "one CPU";
  Profiler profiler("notes");
  CPU_ZERO(&one);
  int cpu = 0;
  while (!CPU_ISSET(cpu, &before)) ++cpu;
  CPU_SET(cpu, &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  auto run = profiler.begin({.length = milliseconds(1), .write = [&](const Profile&) {
                               (void)::sched_getaffinity(0, sizeof found, &found);
                               return std::string();
                             }});
  EXPECT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
  ASSERT_TRUE(run);
  ASSERT_TRUE(is_done(run));
  EXPECT_TRUE(CPU_EQUAL(&found, &before));
}

#if !defined(KATANA_THREAD_SANITIZER)
TEST(Profiler, keeps_no_result_for_a_run_that_is_gone) {
  Profiler profiler("notes");
  auto run = profiler.begin({.length = milliseconds(1), .write = [](const Profile&) {
                               std::string text(100'000, 'a');
                               watched_block = text.data();
                               return text;
                             }});
  ASSERT_TRUE(run);
  ASSERT_TRUE(is_done(run));
  EXPECT_NE(watched_block, nullptr);
  run->reset();
  EXPECT_EQ(watched_block, nullptr);
}

TEST(Profiler, answers_that_there_is_no_memory_without_any) {
  Profiler profiler("notes");
  auto run = profiler.begin({.length = milliseconds(1), .write = [](const Profile&) {
                               has_no_memory = true;
                               return std::string(100'000, 'a');
                             }});
  ASSERT_TRUE(run);
  ASSERT_TRUE(is_done(run));
  const auto result = (*run)->take();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), Code::resource_exhausted);
}
#endif

}  // namespace
}  // namespace katana::profile

// SPDX-License-Identifier: Apache-2.0
