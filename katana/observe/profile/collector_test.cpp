#include "katana/observe/profile/collector.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "katana/base/system/thread_sanitizer_test.hpp"

namespace katana::profile {
namespace {

// A stack of 20 frames that begins at `innermost`, for a request.
Sample sample_of(std::uintptr_t innermost, const std::string& request) {
  Sample sample;
  for (std::uintptr_t each = 0; each < 20; ++each) sample.stack.addresses[each] = innermost + each;
  sample.stack.count = 20;
  sample.request.set(request);
  return sample;
}

TEST(Collector, has_a_bound_in_bytes_and_counts_what_finds_no_room) {
  constexpr std::size_t bytes_max = 100'000;
  Collector collector(milliseconds(10), bytes_max);
  constexpr int count = 5000;
  for (int number = 0; number < count; ++number) {
    collector.add(::getpid(), sample_of(static_cast<std::uintptr_t>(number) << 8, "a"));
    collector.add(::getpid(), sample_of(0, "a"));  // is known, and needs no room
  }
  EXPECT_LE(collector.bytes(), bytes_max);
  const Profile profile = collector.profile(Kind::cpu, 0);
  EXPECT_GT(profile.lost, 0u);
  EXPECT_EQ(static_cast<std::int64_t>(profile.lost) + profile.samples(), 2 * count);
  EXPECT_GE(profile.samples(), count);
  EXPECT_GT(profile.found.size(), 50u);
}

// As many requests run the same code, the samples of a profile have few stacks and many labels.
TEST(Collector, keeps_a_stack_of_many_requests_once) {
  Collector same(milliseconds(10)), different(milliseconds(10));
  for (int number = 0; number < 1000; ++number) {
    const std::string request = std::to_string(number);
    same.add(::getpid(), sample_of(0, request));
    different.add(::getpid(), sample_of(static_cast<std::uintptr_t>(number) << 8, request));
  }
  EXPECT_EQ(same.profile(Kind::cpu, 0).found.size(), 1000u);
  EXPECT_LT(same.bytes() + std::size_t{1000} * 20 * sizeof(std::uintptr_t), different.bytes());
}

std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

TEST(SampleRing, uses_no_memory_for_samples_that_were_not_made) {
#ifdef KATANA_THREAD_SANITIZER
  GTEST_SKIP() << "it notes all allocated memory";
#endif
  constexpr std::size_t rings = 100, samples = 1000;
  std::vector<std::unique_ptr<SampleRing>> all;
  const std::size_t before = resident_bytes();
  for (std::size_t number = 0; number < rings; ++number) {
    all.push_back(std::make_unique<SampleRing>(samples));
  }
  EXPECT_LT(resident_bytes(), before + rings * samples * sizeof(Sample) / 2);
}

}  // namespace
}  // namespace katana::profile

// SPDX-License-Identifier: Apache-2.0
