// The text of addresses, compared with inet_ntop().
#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>

#include "katana/net/engine/engine.hpp"

namespace katana::engine {
namespace {

using Family = PeerEndpoint::Family;

std::string text_of(const PeerEndpoint& peer) { return std::string(peer.text().bytes()); }

std::string by_inet_ntop(const PeerEndpoint& peer) {
  char text[INET6_ADDRSTRLEN] = "";
  const bool is_v6 = peer.family == Family::v6;
  inet_ntop(is_v6 ? AF_INET6 : AF_INET, peer.address.data(), text, sizeof text);
  const std::string port = ":" + std::to_string(peer.port);
  return is_v6 ? "[" + std::string(text) + "]" + port : text + port;
}

TEST(PeerAddress, nobody_has_no_text) { EXPECT_EQ(text_of(PeerEndpoint{}), ""); }

TEST(PeerAddress, a_process_of_this_machine_is_known_by_its_user) {
  PeerEndpoint peer{.address = {0, 0, 0x03, 0xe8}, .family = Family::local};
  EXPECT_EQ(text_of(peer), "unix:uid=1000");
  peer.address.fill(0xff);
  EXPECT_EQ(text_of(peer), "unix:uid=4294967295");
}

TEST(PeerAddress, the_longest_texts_fit) {
  PeerEndpoint peer;
  peer.address.fill(0xff);
  peer.port = 65'535;
  peer.family = Family::v4;
  EXPECT_EQ(text_of(peer), "255.255.255.255:65535");
  peer.family = Family::v6;
  EXPECT_EQ(text_of(peer), "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535");
}

TEST(PeerAddress, a_port_that_is_not_known_is_left_out) {
  EXPECT_EQ(text_of(PeerEndpoint::of(*IpAddress::parse("192.0.2.1"), 0)), "192.0.2.1");
  EXPECT_EQ(text_of(PeerEndpoint::of(*IpAddress::parse("2001:db8::1"), 0)), "[2001:db8::1]");
  EXPECT_EQ(text_of(PeerEndpoint::of(*IpAddress::parse("2001:db8::1"), 80)), "[2001:db8::1]:80");
}

TEST(PeerAddress, an_endpoint_and_its_address_are_made_of_each_other) {
  for (const Bytes text : {"192.0.2.1", "0.0.0.0", "2001:db8::1", "::"}) {
    const auto address = IpAddress::parse(text);
    ASSERT_TRUE(address);
    EXPECT_EQ(PeerEndpoint::of(*address, 1).ip(), *address) << text;
  }
  EXPECT_EQ(PeerEndpoint().ip(), std::nullopt);
  EXPECT_EQ((PeerEndpoint{.family = Family::local}.ip()), std::nullopt);
  PeerEndpoint embedded{.family = Family::v6};
  embedded.address = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1};
  EXPECT_EQ(embedded.ip(), IpAddress::read("192.0.2.1")) << "of a socket for both";
}

TEST(PeerAddress, every_octet_of_ipv4_is_written_as_inet_ntop_writes_it) {
  for (unsigned octet = 0; octet < 256; ++octet) {
    const auto low = static_cast<std::uint8_t>(octet);
    PeerEndpoint peer{.address = {low, static_cast<std::uint8_t>(255 - low), low, 1},
                      .port = static_cast<std::uint16_t>(octet * 256 + 1),
                      .family = Family::v4};
    EXPECT_EQ(text_of(peer), by_inet_ntop(peer));
  }
}

// The position of "::" depends on the zero groups: the test tries each pattern of zeros, with other
// groups of every length.
TEST(PeerAddress, every_pattern_of_zeros_of_ipv6_is_written_as_inet_ntop_writes_it) {
  std::mt19937 random(1);
  for (unsigned zeros = 0; zeros < 256; ++zeros) {
    for (unsigned repeat = 0; repeat < 8; ++repeat) {
      PeerEndpoint peer{.address = {}, .port = 443, .family = Family::v6};
      for (unsigned group = 0; group < 8; ++group) {
        if ((zeros >> group & 1) != 0) continue;
        const unsigned long value =
            repeat == 0 ? 0xffff : 1 + random() % (0xffffu >> (4 * (repeat % 4)));
        peer.address[2 * group] = static_cast<std::uint8_t>(value >> 8);
        peer.address[2 * group + 1] = static_cast<std::uint8_t>(value);
      }
      EXPECT_EQ(text_of(peer), by_inet_ntop(peer));
    }
  }
}

}  // namespace
}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
