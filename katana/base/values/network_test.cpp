#include "katana/base/values/network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace katana {
namespace {

std::string network_again(Bytes text) {
  const auto network = Network::parse(text);
  return network ? std::string(Bytes(network->to_text())) : network.error().describe();
}

Network network_of(Bytes text) { return *Network::parse(text); }
IpAddress address_of(Bytes text) { return *IpAddress::parse(text); }

TEST(Network, is_written_as_it_is_read) {
  for (const Bytes text :
       {"10.0.0.0/8", "0.0.0.0/0", "192.0.2.1", "2001:db8::/32", "::/0", "::1", "unix"}) {
    EXPECT_EQ(network_again(text), text);
  }
  EXPECT_EQ(network_again("192.0.2.1/32"), "192.0.2.1");
  EXPECT_EQ(network_again("2001:DB8:0::/48"), "2001:db8::/48");
  EXPECT_EQ(network_again("::ffff:10.0.0.0/104"), "10.0.0.0/8");
}

TEST(Network, an_error_says_what_to_write) {
  EXPECT_EQ(network_again("10.0.0.1/8"),
            "network '10.0.0.1/8' has bits behind its prefix: write 10.0.0.0/8");
  EXPECT_EQ(network_again("2001:db8::1/64"),
            "network '2001:db8::1/64' has bits behind its prefix: write 2001:db8::/64");
  EXPECT_EQ(network_again("10.0.0.0/33"),
            "network '10.0.0.0/33': the length of the prefix has to be 0 to 32");
  EXPECT_EQ(network_again("::ffff:10.0.0.0/8"),
            "network '::ffff:10.0.0.0/8': the length of the prefix has to be 96 to 128");
  for (const Bytes text : {"10.0.0.0/", "10.0.0.0/08", "10.0.0.0/-1", "10.0.0.0/8 ", "10.0.0.0/8/8",
                           "::/129", "::/4294967297"}) {
    EXPECT_NE(network_again(text).find("the length of the prefix"), std::string::npos) << text;
  }
  EXPECT_NE(network_again("10/8").find("is not an IP address"), std::string::npos);
  EXPECT_NE(network_again("").find("is not an IP address"), std::string::npos);
}

TEST(Network, contains_the_addresses_of_its_prefix_and_of_its_family) {
  EXPECT_TRUE(network_of("10.0.0.0/8").contains(address_of("10.255.255.255")));
  EXPECT_TRUE(network_of("10.0.0.0/8").contains(address_of("::ffff:10.1.2.3")));
  EXPECT_FALSE(network_of("10.0.0.0/8").contains(address_of("11.0.0.0")));
  EXPECT_FALSE(network_of("10.0.0.0/8").contains(address_of("9.255.255.255")));
  EXPECT_TRUE(network_of("0.0.0.0/0").contains(address_of("255.0.0.1")));
  EXPECT_FALSE(network_of("0.0.0.0/0").contains(address_of("::1")));
  EXPECT_FALSE(network_of("::/0").contains(address_of("192.0.2.1")));
  EXPECT_TRUE(network_of("::/0").contains(address_of("2001:db8::1")));
  EXPECT_TRUE(network_of("2001:db8::/33").contains(address_of("2001:db8:7fff::1")));
  EXPECT_FALSE(network_of("2001:db8::/33").contains(address_of("2001:db8:8000::1")));
  EXPECT_FALSE(network_of("unix").contains(address_of("::")));
}

TEST(NetworkSet, knows_local_peers_by_name_only) {
  const Network local[] = {Network::local()};
  EXPECT_TRUE(NetworkSet(local).has_local());
  EXPECT_FALSE(NetworkSet(local).empty());
  EXPECT_FALSE(NetworkSet(local).contains(address_of("::")));
  EXPECT_TRUE(NetworkSet().empty());
}

TEST(NetworkSet, networks_within_others_are_one_range) {
  const Network nested[] = {network_of("10.1.0.0/16"), network_of("10.0.0.0/8"),
                            network_of("10.1.2.3"), network_of("192.168.0.0/16")};
  EXPECT_EQ(NetworkSet(nested).size(), 2u);
}

TEST(NetworkSet, contains_what_one_of_its_networks_contains) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<Network> networks;
    for (std::size_t count = random() % 12; count > 0; --count) {
      // Few bits make networks nest and meet; "::/0" to "::/96" have IPv4 inside them.
      const IpAddress each = random() % 2 == 0
                                 ? IpAddress::v4(static_cast<std::uint32_t>(random()) & 0xc000'0003)
                                 : IpAddress::of_words(0, random() & 0x0001'c000'0000'0003);
      networks.emplace_back(each, static_cast<unsigned>(random() % 129));
    }
    const NetworkSet set(networks);
    for (int count = 0; count < 200; ++count) {
      const IpAddress each = random() % 2 == 0
                                 ? IpAddress::v4(static_cast<std::uint32_t>(random()) & 0xe000'0007)
                                 : IpAddress::of_words(random() % 8 == 0 ? random() : 0,
                                                       random() & 0x0003'e000'0000'0007);
      const bool expected = std::ranges::any_of(
          networks, [&each](const Network& network) { return network.contains(each); });
      ASSERT_EQ(set.contains(each), expected) << Bytes(each.to_text());
    }
  }
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
