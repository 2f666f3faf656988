#include "katana/observe/trace/sampler.hpp"

#include <gtest/gtest.h>

#include "katana/base/values/random.hpp"

namespace katana::trace {
namespace {

SpanContext parent_with(std::uint8_t flags) {
  return {.trace = {1, 2}, .span = {3}, .flags = flags, .is_remote = true};
}

double share_of(const Sampler& sampler) {
  Random random(7);
  int sampled = 0;
  constexpr int traces = 100'000;
  for (int index = 0; index < traces; ++index) {
    if (sampler.samples({random.next(), random.next()}, nullptr)) ++sampled;
  }
  return static_cast<double>(sampled) / traces;
}

TEST(Sampler, a_ratio_takes_its_share_of_the_traces) {
  for (const double ratio : {0.01, 0.25, 0.5, 0.9}) {
    EXPECT_NEAR(share_of(Sampler::of_ratio(ratio)), ratio, 0.01) << ratio;
  }
  EXPECT_EQ(share_of(Sampler::of_ratio(0)), 0);
  EXPECT_EQ(share_of(Sampler::of_ratio(1)), 1);
  EXPECT_EQ(share_of(Sampler()), 1);
}

TEST(Sampler, a_greater_ratio_takes_what_a_smaller_one_takes) {
  Random random(8);
  for (int index = 0; index < 10'000; ++index) {
    const TraceId trace{random.next(), random.next()};
    if (Sampler::of_ratio(0.1).samples(trace, nullptr)) {
      EXPECT_TRUE(Sampler::of_ratio(0.2).samples(trace, nullptr));
    }
  }
}

TEST(Sampler, one_that_follows_its_parent_does_what_the_parent_did) {
  const SpanContext sampled = parent_with(flag_sampled), not_sampled = parent_with(0), none;
  const TraceId trace{1, 2};
  for (const char* name : {"parentbased_always_on", "parentbased_always_off"}) {
    const Sampler sampler = *Sampler::make(name);
    EXPECT_TRUE(sampler.samples(trace, &sampled)) << name;
    EXPECT_FALSE(sampler.samples(trace, &not_sampled)) << name;
    EXPECT_EQ(sampler.samples(trace, &none), name == std::string_view("parentbased_always_on"));
  }
  EXPECT_TRUE(Sampler::make("always_on")->samples(trace, &not_sampled));
  EXPECT_FALSE(Sampler::make("always_off")->samples(trace, &sampled));
  EXPECT_FALSE(Sampler::make("traceidratio", 0)->samples(trace, &sampled));
}

TEST(Sampler, a_name_or_a_ratio_that_is_unknown_is_named) {
  EXPECT_NE(Sampler::make("jaeger_remote").error().describe().find("'jaeger_remote'"),
            std::string::npos);
  for (const double wrong : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_FALSE(Sampler::make("traceidratio", wrong)) << wrong;
  }
}

}  // namespace
}  // namespace katana::trace

// SPDX-License-Identifier: Apache-2.0
