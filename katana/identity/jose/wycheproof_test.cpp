// The Wycheproof vectors of JWS, where KATANA_WYCHEPROOF names their folder: testvectors_v1 of
// the Go module github.com/c2sp/wycheproof.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "katana/data/container/json_read.hpp"
#include "katana/data/container/json_write.hpp"
#include "katana/identity/jose/jwk.hpp"
#include "katana/identity/jose/jws.hpp"

namespace katana::jose {
namespace {

using container::Object;
using container::Value;

Bytes member_text(const Object& object, Bytes name) {
  const Value* const member = object.find(name);
  return member != nullptr && member->kind() == container::Kind::text ? Bytes(member->as_text())
                                                                      : Bytes();
}

std::vector<VerificationKey> keys_of_group(const Object& group) {
  const Value* jwk = group.find("public");
  if (jwk == nullptr) jwk = group.find("private");
  std::vector<Algorithm> allowed = asymmetric_algorithms();
  allowed.push_back(Algorithm::hs256);
  const auto key = read_jwk(container::to_json(*jwk), allowed);
  if (!key) return {};
  return {*key};
}

// Some expected results of the file contradict its token or key. The key's `alg` is not that of the
// token (346, 347, 350, 351), and RFC 8725 §3.1 asks to refuse it. The token lost its wrong padding
// (367, 370). A token with a character that is no base64url is called valid (372, 373).
bool is_right(std::int64_t number, bool is_accepted, Bytes expected) {
  for (const std::int64_t other : {346, 347, 350, 351, 367, 370, 372, 373}) {
    if (number == other) return is_accepted != (expected == "valid");
  }
  return is_accepted == (expected == "valid");
}

TEST(Wycheproof, every_vector_of_JWS_has_its_outcome) {
  const char* const folder = std::getenv("KATANA_WYCHEPROOF");
  if (folder == nullptr) GTEST_SKIP() << "KATANA_WYCHEPROOF names no folder";
  std::ifstream file(std::string(folder) + "/json_web_signature_test.json");
  const std::string json{std::istreambuf_iterator<char>(file), {}};
  const auto all = container::read_json<Value>(json);
  ASSERT_TRUE(all.has_value()) << all.error().describe();
  int valid = 0;
  int invalid = 0;
  for (const Value& group : *all->at("/testGroups")->get_list()) {
    const auto keys = keys_of_group(*group.get_object());
    for (const Value& test : *group.at("/tests")->get_list()) {
      const Object& vector = *test.get_object();
      const auto content = verify_jws(member_text(vector, "jws"), keys);
      const Bytes expected = member_text(vector, "result");
      (expected == "valid" ? valid : invalid) += 1;
      const std::int64_t number = *vector.find("tcId")->get_integer();
      EXPECT_TRUE(is_right(number, content.has_value(), expected))
          << number << " " << member_text(vector, "comment") << ": "
          << (content ? std::string() : content.error().describe());
    }
  }
  fmt::print("{} valid, {} invalid\n", valid, invalid);
  EXPECT_GT(valid, 40);
  EXPECT_GT(invalid, 300);
}

}  // namespace
}  // namespace katana::jose

// SPDX-License-Identifier: Apache-2.0
