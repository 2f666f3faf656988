#include "katana/observe/profile/thread_sampler.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "katana/base/coroutine/activity.hpp"
#include "katana/base/system/alternate_stack.hpp"
#include "katana/base/system/quiet_thread.hpp"
#include "katana/base/system/thread_sanitizer_test.hpp"
#include "katana/observe/profile/collector.hpp"
#include "katana/observe/profile/retired.hpp"

namespace katana::profile {
namespace {

class ThreadSamplerTest : public testing::Test {
 protected:
  void SetUp() override {
#ifdef KATANA_THREAD_SANITIZER
    GTEST_SKIP() << "it holds signals back, and calls handlers where the thread is later";
#endif
  }
};

// The loop whose addresses tests search for. It is not inlined, and shorter than code_bytes_max.
constexpr std::uintptr_t code_bytes_max = 2048;
[[gnu::noinline]] void spin_until(const std::atomic<bool>& ended) {
  volatile unsigned steps = 0;
  while (!ended.load(std::memory_order_relaxed)) steps = steps + 1;
}

bool is_in_spin(const Sample& sample) {
  const auto begin = reinterpret_cast<std::uintptr_t>(&spin_until);
  return std::ranges::any_of(
      sample.stack.addresses.begin(), sample.stack.addresses.begin() + sample.stack.count,
      [&](std::uintptr_t address) { return address >= begin && address < begin + code_bytes_max; });
}

// A thread that computes until the object is destroyed.
class Spinning {
 public:
  explicit Spinning(const Activity* activity = nullptr) {
    thread_ = quiet_thread([this, activity] {
      const ActivityScope scope(activity);
      number_ = ::gettid();
      spin_until(ended_);
    });
    while (number_ == 0) std::this_thread::yield();
  }
  ~Spinning() {
    ended_ = true;
    thread_.join();
  }
  pid_t number() const { return number_; }
  pthread_t handle() { return thread_.native_handle(); }

 private:
  std::atomic<bool> ended_{false};
  std::atomic<pid_t> number_{0};
  std::thread thread_;
};

// Samples of a thread, until there are as many as asked for.
std::vector<Sample> samples_of(ThreadSampler& sampler, pid_t thread, std::size_t count) {
  std::vector<Sample> samples;
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (samples.size() < count && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    sampler.watch_threads();
    sampler.take([&](pid_t number, const Sample& sample) {
      if (number == thread) samples.push_back(sample);
    });
  }
  EXPECT_GE(samples.size(), count);
  return samples;
}

TEST(SampleRing, gives_whole_samples_in_their_order_and_takes_none_without_room) {
  SampleRing ring(64);
  std::atomic<std::uint64_t> refused{0};
  constexpr std::uint32_t last = 100'000;
  std::thread writer([&] {
    for (std::uint32_t number = 1; number <= last;) {
      Sample* const sample = ring.reserve();
      if (sample == nullptr) {
        ++refused;
        std::this_thread::yield();
        continue;
      }
      sample->periods = number;
      sample->stack.count = 2;
      sample->stack.addresses[0] = number;
      ring.commit();
      ++number;
    }
  });
  for (std::uint32_t number = 1; number <= last;) {
    const Sample* const sample = ring.next();
    if (sample == nullptr) {
      std::this_thread::yield();
      continue;
    }
    ASSERT_EQ(sample->periods, number);
    ASSERT_EQ(sample->stack.addresses[0], number);
    ring.pop();
    ++number;
  }
  writer.join();
  EXPECT_EQ(ring.next(), nullptr);
  for (std::size_t count = 0; count < 64; ++count) {
    ASSERT_NE(ring.reserve(), nullptr);
    ring.commit();
  }
  EXPECT_EQ(ring.reserve(), nullptr);
}

TEST_F(ThreadSamplerTest, finds_a_thread_where_it_computes_and_what_for) {
  const std::string route = "GET /notes/{id}";
  const Activity activity{.site = &route, .name = "01J-request", .trace = "4bf92f3577b34da6"};
  const Spinning spinning(&activity);
  auto sampler = ThreadSampler::start(200);
  ASSERT_TRUE(sampler) << sampler.error().describe();
  const auto samples = samples_of(**sampler, spinning.number(), 20);
  EXPECT_GE(std::ranges::count_if(samples, is_in_spin), std::ssize(samples) - 1);
  for (const Sample& sample : samples) {
    EXPECT_EQ(std::string(sample.route.text()), route);
    EXPECT_EQ(std::string(sample.request.text()), "01J-request");
    EXPECT_EQ(std::string(sample.trace.text()), "4bf92f3577b34da6");
    EXPECT_GE(sample.stack.count, 3u);
    EXPECT_GE(sample.periods, 1u);
  }
}

// The timers of this process with the signal of samples; -1: the kernel does not tell.
int count_of_timers() {
  std::ifstream file("/proc/self/timers");
  if (!file) return -1;
  int count = 0;
  for (std::string line; std::getline(file, line);) {
    count += line.starts_with("signal: " + std::to_string(stack_signal()) + "/") ? 1 : 0;
  }
  return count;
}

TEST_F(ThreadSamplerTest, finds_threads_that_begin_later_and_forgets_those_that_end) {
  auto sampler = ThreadSampler::start(200);
  ASSERT_TRUE(sampler);
  const int before = count_of_timers();
  for (int round = 0; round < 3; ++round) {
    const Spinning spinning;
    EXPECT_FALSE(samples_of(**sampler, spinning.number(), 3).empty());
    if (before >= 0) EXPECT_GT(count_of_timers(), before);
  }
  (*sampler)->watch_threads();
  (*sampler)->take([](pid_t, const Sample&) {});
  EXPECT_LE(count_of_timers(), before);
  const Spinning last;
  EXPECT_FALSE(samples_of(**sampler, last.number(), 3).empty());
}

TEST_F(ThreadSamplerTest, keeps_a_thread_that_a_list_of_threads_misses) {
  const Spinning spinning;
  auto sampler = ThreadSampler::start(200);
  ASSERT_TRUE(sampler);
  const int before = count_of_timers();
  if (before < 0) GTEST_SKIP() << "the kernel does not list timers";
  EXPECT_GE(before, 1);
  (*sampler)->watch_listed({});
  (*sampler)->take([](pid_t, const Sample&) {});
  EXPECT_EQ(count_of_timers(), before);
}

TEST_F(ThreadSamplerTest, counts_threads_whose_timer_is_refused_and_samples_the_others) {
  const Spinning first;
  auto sampler = ThreadSampler::start(200);
  ASSERT_TRUE(sampler);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_SIGPENDING, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_SIGPENDING, &none), 0);
  {
    const Spinning second;
    (*sampler)->watch_threads();
    EXPECT_EQ((*sampler)->left_out(), 1u);
    EXPECT_EQ(::setrlimit(RLIMIT_SIGPENDING, &before), 0);
    EXPECT_FALSE(samples_of(**sampler, first.number(), 3).empty());
    EXPECT_FALSE(samples_of(**sampler, second.number(), 3).empty()) << "it is tried again";
  }
  EXPECT_EQ((*sampler)->left_out(), 0u);
}

TEST(Retired, is_freed_when_no_handler_runs) {
  const auto object = std::make_shared<int>(1);
  std::atomic<std::shared_ptr<int>*> place{new std::shared_ptr<int>(object)};
  std::atomic<int> handlers{1};
  Retired<std::shared_ptr<int>> retired;
  retired.take(place);
  EXPECT_EQ(place.load(), nullptr);
  retired.free_unused(handlers);
  EXPECT_EQ(object.use_count(), 2);
  handlers = 0;
  retired.free_unused(handlers);
  EXPECT_EQ(object.use_count(), 1);
}

TEST_F(ThreadSamplerTest, is_one_at_a_time) {
  auto first = ThreadSampler::start(99);
  ASSERT_TRUE(first);
  const auto second = ThreadSampler::start(99);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), Code::already_exists);
  first->reset();
  EXPECT_TRUE(ThreadSampler::start(99));
}

std::int64_t cpu_ns_of(pthread_t thread) {
  clockid_t clock{};
  EXPECT_EQ(::pthread_getcpuclockid(thread, &clock), 0);
  timespec now{};
  EXPECT_EQ(::clock_gettime(clock, &now), 0);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

// The kernel has fewer ticks than this rate: a sample stands for several periods.
TEST_F(ThreadSamplerTest, has_samples_that_stand_for_the_whole_cpu_time) {
  Spinning spinning;
  auto sampler = ThreadSampler::start(1000);
  ASSERT_TRUE(sampler);
  const std::int64_t begin = cpu_ns_of(spinning.handle());
  std::int64_t periods = 0;
  while (periods < 1000 && cpu_ns_of(spinning.handle()) - begin < 5'000'000'000) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    (*sampler)->take([&](pid_t thread, const Sample& sample) {
      if (thread == spinning.number()) periods += sample.periods;
    });
  }
  const auto used = static_cast<double>(cpu_ns_of(spinning.handle()) - begin);
  EXPECT_NEAR(static_cast<double>(periods * (*sampler)->period().ns) / used, 1.0, 0.2);
}

TEST_F(ThreadSamplerTest, counts_what_finds_no_room) {
  const Spinning spinning;
  constexpr unsigned hertz = 16;
  auto sampler = ThreadSampler::start(hertz);
  ASSERT_TRUE(sampler);
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while ((*sampler)->lost() == 0 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_GT((*sampler)->lost(), 0u);
  std::size_t taken = 0;
  (*sampler)->take([&](pid_t, const Sample&) { ++taken; });
  EXPECT_GE(taken, hertz) << "a ring has room for a second";
}

// Sends a thread the signal of a timer with this value, and waits until its handler has it.
void send_as_timer(pid_t thread, int value, int overrun) {
  siginfo_t info{};
  info.si_signo = stack_signal();
  info.si_code = SI_TIMER;
  info.si_value.sival_int = value;
  info.si_overrun = overrun;
  ASSERT_EQ(::syscall(SYS_rt_tgsigqueueinfo, ::getpid(), thread, stack_signal(), &info), 0);
  for (bool waits = true; waits;) {
    std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/status");
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("SigPnd:"))
        waits = line.find_first_of("123456789abcdef", 7) != line.npos;
    }
  }
}

TEST_F(ThreadSamplerTest, leaves_threads_alone_when_it_has_ended) {
  const Spinning spinning;
  for (int round = 0; round < 50; ++round) {
    auto sampler = ThreadSampler::start(1000);
    ASSERT_TRUE(sampler);
    if (round % 10 == 0) (void)samples_of(**sampler, spinning.number(), 1);
  }
  // Late signals of timers that are gone, first without a sampler, then with another one. They are
  // those of the first sampler of this process, for each of its first threads.
  constexpr int places = 16, first_sampler = 1 << 10, overrun = 1000;
  send_as_timer(spinning.number(), first_sampler, overrun);
  auto sampler = ThreadSampler::start(1);
  ASSERT_TRUE(sampler);
  for (int place = 0; place < places; ++place) {
    send_as_timer(spinning.number(), first_sampler + place, overrun);
  }
  (*sampler)->take([&](pid_t, const Sample& sample) { EXPECT_LT(sample.periods, overrun); });
}

TEST_F(ThreadSamplerTest, joins_equal_stacks_and_names_their_modules) {
  const Spinning spinning;
  auto sampler = ThreadSampler::start(200);
  ASSERT_TRUE(sampler);
  Collector collector((*sampler)->period());
  std::int64_t periods = 0;
  for (const Sample& sample : samples_of(**sampler, spinning.number(), 20)) {
    collector.add(spinning.number(), sample);
    periods += sample.periods;
  }
  const Profile profile = collector.profile(Kind::cpu, 2);
  EXPECT_EQ(profile.samples(), periods);
  EXPECT_EQ(profile.total_ns(), periods * 5'000'000);
  EXPECT_EQ(profile.lost, 2u);
  ASSERT_FALSE(profile.modules.empty());
  const Module& program = profile.modules.front();
  EXPECT_EQ(program.path, std::filesystem::read_symlink("/proc/self/exe"));
  EXPECT_EQ(program.build_id.size(), 40u);
  const auto spin = reinterpret_cast<std::uintptr_t>(&spin_until);
  EXPECT_LT(program.begin, spin);
  EXPECT_GT(program.end, spin);
}

}  // namespace
}  // namespace katana::profile

// SPDX-License-Identifier: Apache-2.0
