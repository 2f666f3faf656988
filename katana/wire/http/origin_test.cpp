#include "katana/wire/http/origin.hpp"

#include <gtest/gtest.h>

namespace katana::http {
namespace {

TEST(Origin, is_what_a_browser_writes) {
  for (const Bytes text : {"https://app.example", "http://a", "https://[::1]:8443"}) {
    EXPECT_TRUE(is_origin(text)) << text;
  }
  for (const Bytes text : {"", "null", "app.example", "://a", "https://", "https://app.example/",
                           "https://App.example", "https://a@b", "https://a b", "*"}) {
    EXPECT_FALSE(is_origin(text)) << text;
  }
}

TEST(Origin, is_the_same_by_scheme_host_and_port_where_a_missing_port_is_the_schemes) {
  EXPECT_TRUE(same_origin("https://a.example", "https://a.example:443"));
  EXPECT_TRUE(same_origin("http://a.example:80", "http://A.EXAMPLE"));
  EXPECT_TRUE(same_origin("https://[::1]:443", "https://[::1]"));
  EXPECT_FALSE(same_origin("https://a.example", "http://a.example"));
  EXPECT_FALSE(same_origin("https://a.example:80", "http://a.example"));
  EXPECT_FALSE(same_origin("https://a.example:443", "https://a.example:8443"));
  EXPECT_FALSE(same_origin("https://a.example", "https://a.example.evil"));
  for (const Bytes text : {"", "null", "://", "https://"}) {
    EXPECT_FALSE(same_origin(text, text)) << text;
  }
}

TEST(Origin, of_a_page_is_that_of_the_server_whichever_side_names_the_default_port) {
  for (const bool is_secure : {false, true}) {
    EXPECT_TRUE(is_origin_of("https://a.example", "a.example", is_secure));
    EXPECT_TRUE(is_origin_of("https://a.example", "A.example:443", is_secure));
    EXPECT_TRUE(is_origin_of("https://a.example:443", "a.example", is_secure));
    EXPECT_TRUE(is_origin_of("https://a.example:8443", "a.example:8443", is_secure));
    EXPECT_FALSE(is_origin_of("https://a.example", "a.example:80", is_secure));
    EXPECT_FALSE(is_origin_of("https://a.example:8443", "a.example", is_secure));
    EXPECT_FALSE(is_origin_of("https://b.example", "a.example", is_secure));
    for (const Bytes text : {"", "null", "https://", "a.example", "ftp://a.example"}) {
      EXPECT_FALSE(is_origin_of(text, "a.example", is_secure)) << text;
    }
    EXPECT_FALSE(is_origin_of("https://", "", is_secure));
  }
}

// An attacker on the way may have written a page that came without TLS.
TEST(Origin, without_tls_is_none_of_a_server_that_was_asked_by_tls) {
  EXPECT_FALSE(is_origin_of("http://a.example", "a.example", true));
  EXPECT_FALSE(is_origin_of("http://a.example:8080", "a.example:8080", true));
  EXPECT_TRUE(is_origin_of("http://a.example", "a.example", false));
  EXPECT_TRUE(is_origin_of("http://a.example", "a.example:80", false));
}

}  // namespace
}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
