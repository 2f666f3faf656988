// Many threads use one key at the same time.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "katana/identity/jose/jwk.hpp"
#include "katana/identity/jose/jws.hpp"
#include "katana/identity/jose/vectors_test.hpp"

namespace katana::jose {
namespace {

TEST(JoseThreads, a_key_judges_and_signs_for_many_threads_at_a_time) {
  constexpr int threads = 20;  // more than there are slots for idle contexts
  for (const auto& [jwk, algorithm] : {std::pair{vectors::rfc7515_p256, Algorithm::es256},
                                       {vectors::rfc7520_secret, Algorithm::hs256},
                                       {vectors::rfc8037_private, Algorithm::eddsa}}) {
    const SigningKey key = *read_private_jwk(jwk, {algorithm});
    const std::array keys = {key.verification_key()};
    const std::string good = *sign_jws(key, "content");
    std::string wrong = good;
    wrong[wrong.rfind('.') + 5] ^= 1;
    std::atomic<int> right = 0;
    {
      std::vector<std::jthread> all;
      for (int number = 0; number < threads; ++number) {
        all.emplace_back([&] {
          for (int round = 0; round < 20; ++round) {
            const auto own = sign_jws(key, "other");
            right +=
                verify_jws(good, keys) && !verify_jws(wrong, keys) && own && verify_jws(*own, keys);
          }
        });
      }
    }
    EXPECT_EQ(right, threads * 20);
  }
}

}  // namespace
}  // namespace katana::jose

// SPDX-License-Identifier: Apache-2.0
