// A request with a token that was verified before makes no heap calls.
#include "katana/base/system/heap_calls_test.hpp"

#include <gtest/gtest.h>

#include "katana/http/handlers/exchange_fixture_test.hpp"
#include "katana/identity/auth/bearer.hpp"
#include "katana/identity/auth/policy.hpp"

namespace katana::auth {
namespace {

class AuthHeapCalls : public HeapCallsTest {};

TEST_F(AuthHeapCalls, a_kept_token_and_a_policy_make_none) {
  const auto key =
      *jose::SigningKey::from_secret(jose::Algorithm::hs256, "4f8a61c0d97be2350a6f18c4e7d29b53");
  const std::string token = *jose::sign_jwt(
      key, {.subject = "ann", .expires_at = current_time() + std::chrono::hours(1)});
  const Service service = make_service([&](Router& router) {
    router.use(
        bearer({.keys = std::make_shared<TokenKeys>(TokenKeys::Set{key.verification_key()})}));
    router.use(require(authenticated()));
    router.get("/", [](FromContext<Principal> who) { return Reply::text(Text(who->id())); });
  });
  Dispatcher dispatcher(service);
  std::uint64_t calls = 0;
  for (int round = 0; round < 10; ++round) {
    FakeExchange exchange("GET", "/", "Host: example\nAuthorization: Bearer " + token + "\n");
    const std::uint64_t before = heap_calls();
    exchange.serve(dispatcher);
    calls = heap_calls() - before;
    EXPECT_EQ(exchange.content_sent, "ann");
  }
  EXPECT_EQ(calls, 0U);
}

}  // namespace
}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
