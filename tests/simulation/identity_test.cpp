// Whatever is said of a request is of that request, over thousands of interleaved connections.
#include <gtest/gtest.h>

#include "tests/simulation/identity_run.hpp"
#include "tests/simulation/seed_share.hpp"

namespace katana::simulation {
namespace {

std::string first_of(const IdentityVerdict& verdict) {
  std::string text;
  for (const std::string& fault : verdict.faults) text += "\n  " + fault;
  return text + "\n" + verdict.explanation;
}

// Half of the seeds with an observer. More of them: KATANA_IDENTITY_SEEDS.
TEST(Identities, no_reply_record_span_or_label_has_a_part_of_another_request) {
  const SeedShare share(KATANA_IDENTITY_SEEDS_DEFAULT,
                        "KATANA_IDENTITY_SEEDS=1 simulation_identities with KATANA_FIRST_SEED",
                        "KATANA_IDENTITY_SEEDS");
  std::uint64_t requests = 0, replies = 0, records = 0, spans = 0, runs = 0, observed = 0;
  share.for_each([&](std::uint64_t seed) {
    const IdentityVerdict verdict = run_identities({.seed = seed, .observed = seed % 2 == 0});
    EXPECT_TRUE(verdict.faults.empty()) << "seed " << seed << first_of(verdict);
    requests += verdict.requests;
    replies += verdict.replies_checked;
    records += verdict.records;
    spans += verdict.spans;
    ++runs;
    if (seed % 2 == 0) ++observed;
    return verdict.faults.empty();
  });
  RecordProperty("requests", std::to_string(requests));
  RecordProperty("records", std::to_string(records));
  EXPECT_GE(spans, observed * 150) << "too few spans to say anything";
  EXPECT_GE(replies, runs * 150) << "too few replies to say anything";
}

}  // namespace
}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
