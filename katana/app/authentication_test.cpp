#include "katana/app/authentication.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "katana/identity/jose/vectors_test.hpp"

namespace katana::app {
namespace {

using ::testing::HasSubstr;

class AuthenticationTest : public ::testing::Test {
 protected:
  std::string write(const std::string& json) {
    std::ofstream(path_) << json;
    return path_;
  }
  static std::string set_of(Bytes jwk) { return R"({"keys":[)" + std::string(jwk) + "]}"; }
  Result<std::unique_ptr<Authentication>> make() const {
    client::HttpClientOptions client;
    client.tls.system_authorities = false;
    return Authentication::make({settings_}, client, {});
  }
  std::string words() const {
    const auto made = make();
    EXPECT_FALSE(made);
    return made ? "" : made.error().describe();
  }

  const std::string path_ = ::testing::TempDir() + "katana_authentication_test.json";
  BearerSettings settings_;
};

TEST_F(AuthenticationTest, without_settings_a_route_behind_it_does_not_build) {
  const auto made = make();
  ASSERT_TRUE(made);
  EXPECT_FALSE((*made)->is_remote());
  Router router;
  router.use((*made)->bearer());
  EXPECT_THAT(std::move(router).build().error().describe(), HasSubstr("set auth.bearer"));
}

TEST_F(AuthenticationTest, settings_that_contradict_one_another_are_named) {
  settings_.keys_file = write(set_of(jose::vectors::rfc7638_rsa));
  EXPECT_THAT(words(), HasSubstr("auth.bearer: there are keys and no issuer"));
  settings_.issuer = "https://id.example";
  EXPECT_TRUE(make());
  settings_.jwks_url = "https://id.example/jwks";
  EXPECT_THAT(words(), HasSubstr("leave one out"));
  settings_.keys_file.clear();
  ASSERT_TRUE(make());
  EXPECT_TRUE((*make())->is_remote());
  EXPECT_FALSE((*make())->health());
  settings_.algorithms = {jose::Algorithm::hs256};
  EXPECT_THAT(words(), HasSubstr("never published"));
  settings_.algorithms = {jose::Algorithm::rs256};
  settings_.jwks_url = "http://id.example/jwks";
  EXPECT_THAT(words(), HasSubstr("https://"));
}

TEST_F(AuthenticationTest, a_file_that_is_no_set_of_keys_is_named) {
  settings_.issuer = "https://id.example";
  settings_.keys_file = "/nonexistent/keys.json";
  EXPECT_THAT(words(), HasSubstr("'/nonexistent/keys.json' cannot be read"));
  settings_.keys_file = write("{}");
  EXPECT_THAT(words(), HasSubstr(path_));
  settings_.keys_file = write(set_of(jose::vectors::rfc7520_secret));
  EXPECT_THAT(words(), HasSubstr("no allowed algorithm fits"));
  settings_.algorithms = {jose::Algorithm::hs256};
  EXPECT_TRUE(make());
}

TEST_F(AuthenticationTest, the_file_is_read_again_and_what_is_wrong_replaces_nothing) {
  settings_.issuer = "https://id.example";
  settings_.keys_file = write(set_of(jose::vectors::rfc7638_rsa));
  const auto made = make();
  ASSERT_TRUE(made);
  EXPECT_TRUE((*made)->reload());
  write("{");
  EXPECT_FALSE((*made)->reload());
  write(set_of(jose::vectors::rfc8037_private));
  EXPECT_TRUE((*made)->reload());
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
