#include "katana/wire/http/secret_names.hpp"

#include <gtest/gtest.h>

#include <string>

namespace katana::http {
namespace {

TEST(SecretNames, of_parameters_are_those_of_credentials_however_they_are_written) {
  for (const Bytes name : {"token",
                           "access_token",
                           "accessToken",
                           "Access-Token",
                           "refresh_token",
                           "id_token",
                           "reset_password_token",
                           "client_secret",
                           "code",
                           "state",
                           "code_verifier",
                           "SAMLResponse",
                           "RelayState",
                           "api_key",
                           "apikey",
                           "ApiKey",
                           "password",
                           "X-Amz-Signature",
                           "X-Amz-Security-Token",
                           "X-Goog-Signature",
                           "JSESSIONID",
                           "session",
                           "csrf_token",
                           "ticket",
                           "otp",
                           "jwt",
                           "token[value]"}) {
    EXPECT_TRUE(is_secret_parameter(name)) << name;
  }
  EXPECT_TRUE(is_secret_parameter(std::string(100, 'x') + "_token"));
  for (const Bytes name : {"", "page", "codes", "country_code", "tokens", "q", "statement",
                           "password_hint", "[token]", "sort", "lang", "authors"}) {
    EXPECT_FALSE(is_secret_parameter(name)) << name;
  }
}

TEST(SecretNames, of_path_segments_are_fewer) {
  for (const Bytes name : {"token", "reset_token", "apiKey", "session_id", "otp"}) {
    EXPECT_TRUE(is_secret_segment(name)) << name;
  }
  for (const Bytes name : {"code", "state", "session", "ticket", "id", "key", ""}) {
    EXPECT_FALSE(is_secret_segment(name)) << name;
  }
}

TEST(SecretNames, of_fields_are_those_that_carry_credentials) {
  for (const Bytes name : {"Authorization", "cookie", "Set-Cookie", "PROXY-AUTHORIZATION",
                           "X-API-Key", "X-CSRF-Token", "x-auth-token"}) {
    EXPECT_TRUE(is_secret_field(name)) << name;
  }
  for (const Bytes name : {"", "Accept", "Host", "Cookie2", "Origin", "WWW-Authenticate"}) {
    EXPECT_FALSE(is_secret_field(name)) << name;
  }
}

}  // namespace
}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
