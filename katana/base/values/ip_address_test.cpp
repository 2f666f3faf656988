#include "katana/base/values/ip_address.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>

namespace katana {
namespace {

std::string address_text(const IpAddress& address) { return std::string(Bytes(address.to_text())); }

std::string read_again(Bytes text) {
  const auto address = IpAddress::read(text);
  return address ? address_text(*address) : "refused";
}

TEST(IpAddress, each_is_written_as_rfc_5952_says) {
  EXPECT_EQ(read_again("192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(read_again("0.0.0.0"), "0.0.0.0");
  EXPECT_EQ(read_again("255.255.255.255"), "255.255.255.255");
  EXPECT_EQ(read_again("2001:DB8:0:0:0:0:0:1"), "2001:db8::1");
  EXPECT_EQ(read_again("2001:db8::0001"), "2001:db8::1");
  EXPECT_EQ(read_again("::"), "::");
  EXPECT_EQ(read_again("1::"), "1::");
  EXPECT_EQ(read_again("1:2:3:4:5:6:7::"), "1:2:3:4:5:6:7:0");
  EXPECT_EQ(read_again("::2:3:4:5:6:7:8"), "0:2:3:4:5:6:7:8");
  EXPECT_EQ(read_again("64:ff9b::192.0.2.33"), "64:ff9b::c000:221");
  EXPECT_EQ(read_again("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255"),
            "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
}

TEST(IpAddress, one_of_ipv4_in_ipv6_is_that_of_ipv4) {
  EXPECT_EQ(read_again("::ffff:192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(read_again("::ffff:c000:0201"), "192.0.2.1");
  const auto embedded = IpAddress::read("::ffff:192.0.2.1");
  ASSERT_TRUE(embedded);
  EXPECT_TRUE(embedded->is_v4());
  EXPECT_EQ(*embedded, IpAddress::v4(0xc000'0201));
}

TEST(IpAddress, what_is_none_is_refused) {
  for (const Bytes text : {"",
                           "1",
                           "1.2.3",
                           "1.2.3.4.5",
                           "1.2.3.256",
                           "01.2.3.4",
                           "1.2.3.04",
                           "1.2.3.4 ",
                           " 1.2.3.4",
                           "1.2.3.-4",
                           "1.2.3.0x4",
                           "1..3.4",
                           "1.2.3.",
                           "1.2.3.4/8",
                           ":",
                           ":::",
                           "1:",
                           ":1",
                           "1::2::3",
                           "1:2:3:4:5:6:7",
                           "1:2:3:4:5:6:7:8:9",
                           "1:2:3:4:5:6:7:8::",
                           "::1:2:3:4:5:6:7:8",
                           "1:2:3:4::5:6:7:8",
                           "12345::",
                           "g::",
                           "fe80::1%eth0",
                           "[::1]",
                           "::1.2.3",
                           "1:2:3:4:5:6:7:1.2.3.4",
                           "::1.2.3.4:5",
                           "1.2.3.4::",
                           "0000:0000:0000:0000:0000:0000:0000:0000000001"}) {
    EXPECT_EQ(read_again(text), "refused") << text;
  }
}

TEST(IpAddress, an_error_says_what_came_and_what_an_address_looks_like) {
  EXPECT_EQ(IpAddress::parse("1.2.3").error().describe(),
            "'1.2.3' is not an IP address: write it as 192.0.2.1 or 2001:db8::1");
  EXPECT_EQ(IpAddress::parse("fe80::1%eth0").error().describe(),
            "address 'fe80::1%eth0' has a zone: give it without what follows '%'");
}

TEST(IpAddress, is_masked_to_the_network_of_a_subscriber) {
  EXPECT_EQ(address_text(IpAddress::read("192.0.2.77")->masked(24)), "192.0.2.0");
  EXPECT_EQ(address_text(IpAddress::read("192.0.2.77")->masked(32)), "192.0.2.77");
  EXPECT_EQ(address_text(IpAddress::read("192.0.2.77")->masked(64)), "192.0.2.77");
  EXPECT_EQ(address_text(IpAddress::read("192.0.2.77")->masked(0)), "0.0.0.0");
  EXPECT_EQ(address_text(IpAddress::read("2001:db8:1:2:3:4:5:6")->masked(64)), "2001:db8:1:2::");
  EXPECT_EQ(address_text(IpAddress::read("2001:db8:1:2:3:4:5:6")->masked(65)), "2001:db8:1:2::");
  EXPECT_EQ(address_text(IpAddress::read("2001:db8::1")->masked(0)), "::");
}

// The C library is asked what each text means. It takes no more than RFC 4291 allows, but a zero in
// front of a byte it may.
TEST(IpAddress, agrees_with_the_c_library_on_random_texts) {
  std::mt19937 random(1);
  constexpr Bytes characters = "0123:::..f/";
  int valid = 0;
  for (int count = 0; count < 300'000; ++count) {
    std::string text;
    const std::size_t size = random() % 14;
    for (std::size_t index = 0; index < size; ++index) {
      text.push_back(characters[random() % characters.size()]);
    }
    in6_addr v6{};
    in_addr v4{};
    const bool is_v6 = ::inet_pton(AF_INET6, text.c_str(), &v6) == 1;
    const bool is_v4 = ::inet_pton(AF_INET, text.c_str(), &v4) == 1;
    const auto address = IpAddress::read(text);
    ASSERT_EQ(address.has_value(), is_v6 || is_v4) << text;
    if (!address) continue;
    ++valid;
    const auto octets = address->octets();
    ASSERT_EQ(0, is_v6 ? std::memcmp(octets.data(), &v6, 16) : std::memcmp(&octets[12], &v4, 4));
    ASSERT_EQ(IpAddress::read(address->to_text()), address) << text;
  }
  EXPECT_GT(valid, 1000);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
