#include "katana/base/values/client_network.hpp"

#include <gtest/gtest.h>

#include <string>

namespace katana {
namespace {

std::string stored_network(Bytes text, const ClientBits& bits = {}) {
  return std::string(client_network_text(text, bits).bytes());
}

TEST(ClientNetwork, of_ipv4_is_the_address_and_of_ipv6_what_one_subscriber_has) {
  EXPECT_EQ(stored_network("192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(stored_network("192.0.2.1:5000"), "192.0.2.1");
  for (const char* const text : {"2001:db8:1:2::1", "[2001:db8:1:2::1]", "[2001:db8:1:2::1]:5000",
                                 "2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:2::%eth0"}) {
    EXPECT_EQ(stored_network(text), "2001:db8:1:2::") << text;
  }
  EXPECT_NE(stored_network("2001:db8:1:3::1"), stored_network("2001:db8:1:2::1"));
  EXPECT_EQ(stored_network("::1"), "::");
}

TEST(ClientNetwork, of_an_ipv4_address_is_the_same_in_each_form_of_it) {
  for (const char* const text :
       {"192.0.2.1", "::ffff:192.0.2.1", "::ffff:c000:201", "[::ffff:192.0.2.1]:5000",
        "64:ff9b::192.0.2.1", "2002:c000:201::1", "2002:c000:201:7:8:9:a:b"}) {
    EXPECT_EQ(stored_network(text), "192.0.2.1") << text;
  }
  EXPECT_NE(stored_network("64:ff9b::192.0.2.1"), stored_network("64:ff9b::192.0.2.2"));
  EXPECT_EQ(stored_network("64:ff9b:1::192.0.2.1"), "64:ff9b:1::");  // of local use: RFC 8215
}

TEST(ClientNetwork, may_be_wider) {
  EXPECT_EQ(stored_network("192.0.2.77", {.v4 = 24}), "192.0.2.0");
  EXPECT_EQ(stored_network("2001:db8:1:2ff::1", {.v6 = 56}), "2001:db8:1:200::");
  EXPECT_EQ(stored_network("2001:db8:1:2ff::1", {.v6 = 48}), "2001:db8:1::");
}

TEST(ClientNetwork, of_a_text_that_is_no_address_is_the_text) {
  for (const char* const text : {"", "unix:uid=1000", "local", "[::1", "192.0.2", "a:b:c"}) {
    EXPECT_EQ(stored_network(text), text);
  }
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
