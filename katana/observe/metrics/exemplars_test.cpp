#include "katana/observe/metrics/exemplars.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace katana::metrics {
namespace {

TEST(Exemplars, a_bucket_has_none_until_there_is_one_and_then_the_newest) {
  Exemplars exemplars(2);
  EXPECT_EQ(exemplars.get(0), std::nullopt);
  const Exemplar first{.trace_high = 1, .trace_low = 2, .span = 3, .value = 0.5, .at_ns = 4};
  const Exemplar second{.trace_high = 5, .trace_low = 6, .span = 7, .value = -1.25, .at_ns = -8};
  exemplars.put(1, first);
  EXPECT_EQ(exemplars.get(0), std::nullopt) << "each bucket has its own";
  EXPECT_EQ(exemplars.get(1), first);
  exemplars.put(1, second);
  EXPECT_EQ(exemplars.get(1), second);
}

// All members of an exemplar are the same number: parts of two would differ.
TEST(Exemplars, of_threads_that_write_at_once_one_is_read_whole) {
  constexpr std::uint64_t rounds = 20'000;
  Exemplars exemplars(1);
  std::atomic<int> writing = 2;
  const auto write = [&](std::uint64_t from) {
    for (std::uint64_t n = from; n < from + rounds; ++n) {
      exemplars.put(0, {.trace_high = n,
                        .trace_low = n,
                        .span = n,
                        .value = static_cast<double>(n),
                        .at_ns = static_cast<std::int64_t>(n)});
    }
    --writing;
  };
  std::jthread one(write, 1), two(write, 1'000'000);
  bool is_last = false;
  while (!is_last) {
    is_last = writing == 0;
    const auto read = exemplars.get(0);
    if (!read) continue;
    ASSERT_EQ(read->trace_low, read->trace_high);
    ASSERT_EQ(read->span, read->trace_high);
    ASSERT_EQ(read->value, static_cast<double>(read->trace_high));
    ASSERT_EQ(read->at_ns, static_cast<std::int64_t>(read->trace_high));
  }
  EXPECT_TRUE(exemplars.get(0));
}

}  // namespace
}  // namespace katana::metrics

// SPDX-License-Identifier: Apache-2.0
