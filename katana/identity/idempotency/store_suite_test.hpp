// Tests for every store outside the process. `run` runs a task to its end; `pass` advances the
// store's time.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "katana/identity/idempotency/store.hpp"

namespace katana::idempotency {

inline Claim suite_claim(std::string_view key, std::int64_t token,
                         std::string_view request = "request") {
  return {crypto::sha256(key), crypto::sha256(request), token};
}

template <class Run>
void check_claims(Store& first, Store& second, Run run) {
  const auto claimed = run(first.claim(suite_claim("a", 1), seconds(100)));
  ASSERT_TRUE(claimed) << claimed.error().describe();
  EXPECT_EQ(claimed->state, ClaimState::claimed);
  const auto other = run(second.claim(suite_claim("a", 2, "other"), seconds(100)));
  ASSERT_TRUE(other) << other.error().describe();
  EXPECT_EQ(other->state, ClaimState::in_progress);
  EXPECT_EQ(other->fingerprint, crypto::sha256("request"));
  EXPECT_EQ(run(second.claim(suite_claim("b", 3), seconds(100)))->state, ClaimState::claimed);

  const std::string reply("a reply\0\r\n\xff", 11);
  EXPECT_EQ(run(second.keep(suite_claim("a", 2), reply, seconds(100))), false);
  EXPECT_TRUE(run(second.release(suite_claim("a", 2))));
  EXPECT_EQ(run(first.keep(suite_claim("a", 1), reply, seconds(100))), true);
  EXPECT_EQ(run(first.keep(suite_claim("a", 1), "again", seconds(100))), false);
  EXPECT_TRUE(run(first.release(suite_claim("a", 1)))) << "what is done stays";
  const auto done = run(second.claim(suite_claim("a", 4), seconds(100)));
  EXPECT_EQ(done->state, ClaimState::done);
  EXPECT_EQ(done->reply, reply);

  EXPECT_TRUE(run(second.release(suite_claim("b", 3))));
  EXPECT_EQ(run(first.claim(suite_claim("b", 5), seconds(100)))->state, ClaimState::claimed);
}

// Leases and replies end. An end of a lease does no harm without waiting requests. Databases have a
// real clock, by which pass() waits.
template <class Run, class Pass>
void check_ends(Store& store, Run run, Pass pass) {
  EXPECT_EQ(run(store.claim(suite_claim("c", 1), seconds(100)))->state, ClaimState::claimed);
  EXPECT_EQ(run(store.claim(suite_claim("c", 2), seconds(1)))->state, ClaimState::in_progress);
  EXPECT_TRUE(run(store.release(suite_claim("c", 1))));
  EXPECT_EQ(run(store.claim(suite_claim("c", 1), seconds(1)))->state, ClaimState::claimed);
  EXPECT_EQ(run(store.claim(suite_claim("d", 1), seconds(100)))->state, ClaimState::claimed);
  EXPECT_EQ(run(store.keep(suite_claim("d", 1), "reply", seconds(1))), true);
  pass(milliseconds(2100));
  EXPECT_EQ(run(store.claim(suite_claim("c", 3), seconds(100)))->state, ClaimState::claimed);
  EXPECT_EQ(run(store.keep(suite_claim("c", 1), "too late", seconds(1))), false);
  EXPECT_EQ(run(store.keep(suite_claim("c", 3), "reply", seconds(100))), true);
  EXPECT_EQ(run(store.claim(suite_claim("d", 2), seconds(100)))->state, ClaimState::claimed);
}

}  // namespace katana::idempotency

// SPDX-License-Identifier: Apache-2.0
