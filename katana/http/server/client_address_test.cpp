#include "katana/http/server/client_address.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>

namespace katana::server {
namespace {

std::string text_of(const ClientAddress& address) { return std::string(Bytes(address.to_text())); }

TEST(ClientAddress, one_host_is_equal_however_it_is_written) {
  const auto shown = ClientAddress::read("2001:db8::1");
  ASSERT_TRUE(shown);
  for (const char* text : {"[2001:db8::1]", "2001:DB8::1", "2001:0db8:0:0:0:0:0:1"}) {
    EXPECT_EQ(ClientAddress::read(text), shown) << text;
  }
  EXPECT_EQ(text_of(*shown), "2001:db8::1");
  EXPECT_EQ(ClientAddress::read("::ffff:192.0.2.1"), ClientAddress::read("192.0.2.1"));
  EXPECT_NE(ClientAddress::read("192.0.2.2"), ClientAddress::read("192.0.2.1"));
  EXPECT_NE(ClientAddress::read("unix:uid=7"), ClientAddress::read("unix:uid=8"));
}

TEST(ClientAddress, is_that_of_an_endpoint_without_its_port) {
  const auto ip = IpAddress::read("2001:db8::1");
  ASSERT_TRUE(ip);
  EXPECT_EQ(ClientAddress::of(engine::PeerEndpoint::of(*ip, 5000)),
            ClientAddress::read("2001:db8::1"));
  engine::PeerEndpoint local;
  local.family = engine::PeerEndpoint::Family::local;
  local.address = {0, 0, 3, 232};
  const auto user = ClientAddress::of(local);
  EXPECT_EQ(user, ClientAddress::read("unix:uid=1000"));
  ASSERT_TRUE(user);
  EXPECT_EQ(text_of(*user), "unix:uid=1000");
  EXPECT_EQ(ClientAddress::of({}), std::nullopt);
}

TEST(ClientAddress, every_other_text_is_refused) {
  for (const char* text : {"", "192.0.2.1:80", "[2001:db8::1]:80", "[192.0.2.1]", "[]", "[::1",
                           "::1]", "192.0.2", "localhost", "fe80::1%eth0", "unix:", "unix:uid=",
                           "unix:uid=-1", "unix:uid=1x", "unix:uid=4294967296", "192.0.2.1 "}) {
    EXPECT_EQ(ClientAddress::read(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
