#include "katana/wire/proxy/machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace katana::proxy {
namespace {

constexpr Bytes signature_2("\r\n\r\n\0\r\nQUIT\n", 12);

std::string number(std::size_t value, std::size_t bytes) {
  std::string text;
  for (std::size_t left = bytes; left > 0; --left) {
    text.push_back(static_cast<char>(value >> 8 * (left - 1)));
  }
  return text;
}

std::string header(int command, int family, const std::string& rest) {
  return std::string(signature_2) + static_cast<char>(command) + static_cast<char>(family) +
         number(rest.size(), 2) + rest;
}

std::string field(int type, const std::string& value) {
  return static_cast<char>(type) + number(value.size(), 2) + value;
}

const std::string v4 =
    std::string("\xc0\0\2\1\xc6\x33\x64\1", 8) + number(5000, 2) + number(443, 2);
const std::string v6 = std::string("\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1", 16) +
                       std::string(16, '\0') + number(5000, 2) + number(443, 2);

// `header` with its checksum, which is the last field, put in.
std::string summed(std::string text) {
  Crc32c crc;
  crc.add(text);
  text.replace(text.size() - 4, 4, number(crc.value(), 4));
  return text;
}

// "ADDRESS#PORT", "nobody", or the refusal. Checks that the bytes behind the header are left.
// `cuts`: at each place once, at every place, or not at all.
std::string read_with(const std::string& bytes, const std::string& behind, std::size_t first,
                      std::size_t piece) {
  Machine machine;
  const std::string all = bytes + behind;
  std::size_t at = 0;
  for (std::size_t size = first; at < all.size(); size = piece) {
    const Bytes given = Bytes(all).substr(at, std::max<std::size_t>(size, 1));
    const Step step = machine.next(given);
    at += step.consumed;
    if (step.event == Event::refused) {
      EXPECT_FALSE(machine.source()) << "a header that is refused says nothing of its client";
      return std::string(name_of(machine.refusal()));
    }
    if (step.event == Event::done) {
      EXPECT_EQ(at, bytes.size());
      if (!machine.source()) return "nobody";
      return std::string(Bytes(machine.source()->address.to_text())) + "#" +
             std::to_string(machine.source()->port);
    }
    EXPECT_EQ(step.consumed, given.size()) << "what is not complete is taken whole";
  }
  return "more";
}

std::string read_header(const std::string& bytes) {
  const std::string whole = read_with(bytes, "GET /", std::string::npos, std::string::npos);
  EXPECT_EQ(read_with(bytes, "GET /", 1, 1), whole);
  for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
    EXPECT_EQ(read_with(bytes, "GET /", cut, std::string::npos), whole) << "cut at " << cut;
  }
  if (whole != "more") {
    EXPECT_EQ(read_with(bytes, "", std::string::npos, std::string::npos), whole);
  }
  return whole;
}

TEST(ProxyMachine, a_line_of_version_1_says_who_it_is) {
  EXPECT_EQ(read_header("PROXY TCP4 192.0.2.1 198.51.100.1 5000 443\r\n"), "192.0.2.1#5000");
  EXPECT_EQ(read_header("PROXY TCP6 2001:db8::1 ::1 65535 0\r\n"), "2001:db8::1#65535");
  EXPECT_EQ(read_header("PROXY TCP6 ::ffff:192.0.2.1 ::ffff:1.1.1.1 1 2\r\n"), "192.0.2.1#1");
  EXPECT_EQ(read_header("PROXY UNKNOWN\r\n"), "nobody");
  EXPECT_EQ(read_header("PROXY UNKNOWN ffff:f...f:ffff whatever\r\n"), "nobody");
}

TEST(ProxyMachine, the_longest_line_is_107_octets) {
  const std::string longest = "PROXY UNKNOWN " + std::string(91, 'x') + "\r\n";
  ASSERT_EQ(longest.size(), line_bytes_max);
  EXPECT_EQ(read_header(longest), "nobody");
  EXPECT_EQ(read_header("PROXY UNKNOWN " + std::string(92, 'x') + "\r\n"), "line");
}

TEST(ProxyMachine, a_line_that_is_not_in_its_form_is_refused) {
  for (const char* const rest :
       {"TCP4 192.0.2.1 198.51.100.1 5000\r\n", "TCP4 192.0.2.1 198.51.100.1 5000 443 \r\n",
        "TCP4  192.0.2.1 198.51.100.1 5000 443\r\n", "TCP4 192.0.2.1 198.51.100.1 05000 443\r\n",
        "TCP4 192.0.2.1 198.51.100.1 65536 443\r\n", "TCP4 192.0.2.1 198.51.100.1 5000 443\n\r\n",
        "TCP4 192.0.2.1 198.51.100.1 5000 -1\r\n", "TCP4 192.0.2.1 198.51.100.1 + 443\r\n",
        "TCP4 2001:db8::1 ::1 5000 443\r\n", "TCP6 192.0.2.1 192.0.2.2 5000 443\r\n",
        "TCP4 192.0.2.01 198.51.100.1 5000 443\r\n", "tcp4 192.0.2.1 198.51.100.1 5000 443\r\n",
        "UDP4 192.0.2.1 198.51.100.1 5000 443\r\n", "\r\n", "TCP4\r\n", "UNKNOWNX\r\n"}) {
    EXPECT_EQ(read_header(std::string("PROXY ") + rest), "line") << rest;
  }
}

TEST(ProxyMachine, what_is_no_header_is_refused_with_its_first_wrong_octet) {
  EXPECT_EQ(read_header("GET / HTTP/1.1\r\n\r\n"), "signature");
  EXPECT_EQ(read_header("POST / HTTP/1.1\r\n\r\n"), "signature");
  EXPECT_EQ(read_header("PROXX"), "signature");
  EXPECT_EQ(read_header("PROXY\r\n"), "signature");
  EXPECT_EQ(read_header("\r\n\r\nx"), "signature");
  EXPECT_EQ(read_header(std::string("\x16\x03\x01\x02\0", 5)), "signature") << "a TLS record";
}

TEST(ProxyMachine, a_header_of_version_2_says_who_it_is) {
  EXPECT_EQ(read_header(header(0x21, 0x11, v4)), "192.0.2.1#5000");
  EXPECT_EQ(read_header(header(0x21, 0x21, v6)), "2001:db8::1#5000");
  EXPECT_EQ(read_header(header(0x21, 0x31, std::string(216, 'a'))), "nobody");
  EXPECT_EQ(read_header(header(0x21, 0x00, "")), "nobody");
  EXPECT_EQ(read_header(header(0x21, 0x00, "anything")), "nobody");
  EXPECT_EQ(read_header(header(0x20, 0x00, "")), "nobody");
  EXPECT_EQ(read_header(header(0x20, 0x11, v4)), "nobody") << "LOCAL: the proxy itself";
  EXPECT_EQ(read_header(header(0x20, 0x11, "x")), "nobody");
}

TEST(ProxyMachine, fields_are_passed_over) {
  EXPECT_EQ(read_header(header(0x21, 0x11, v4 + field(0x01, "h2") + field(0x02, "shop.example"))),
            "192.0.2.1#5000");
  EXPECT_EQ(read_header(header(0x21, 0x21, v6 + field(0x04, "") + field(0xea, ""))),
            "2001:db8::1#5000");
  const std::string most = v4 + field(0xe0, std::string(header_bytes_max - 16 - 12 - 3, 'x'));
  EXPECT_EQ(read_with(header(0x21, 0x11, most), "GET", 100, 100), "192.0.2.1#5000");
  EXPECT_EQ(read_with(header(0x21, 0x11, most + "x"), "GET", 100, 100), "length");
}

// The fields fit into the length of the header, and this length is one byte too long.
TEST(ProxyMachine, a_header_longer_than_the_bound_is_refused_though_its_fields_fit) {
  const std::string most(header_bytes_max - 16 - 12 - 3, 'x');
  EXPECT_EQ(read_with(header(0x21, 0x11, v4 + field(0xe0, most)), "GET", 100, 100),
            "192.0.2.1#5000");
  EXPECT_EQ(read_with(header(0x21, 0x11, v4 + field(0xe0, most + "x")), "GET", 100, 100), "length");
  EXPECT_EQ(read_with(header(0x20, 0x00, std::string(header_bytes_max - 15, 'x')), "GET", 100, 100),
            "length");
}

TEST(ProxyMachine, lengths_that_do_not_fit_are_refused) {
  EXPECT_EQ(read_header(header(0x21, 0x11, v4.substr(1))), "length");
  EXPECT_EQ(read_header(header(0x21, 0x21, v6.substr(1))), "length");
  EXPECT_EQ(read_header(header(0x21, 0x31, std::string(215, 'a'))), "length");
  EXPECT_EQ(read_header(header(0x21, 0x11, v4 + "\1")), "length");
  EXPECT_EQ(read_header(header(0x21, 0x11, v4 + std::string("\1\0", 2))), "length");
  EXPECT_EQ(read_header(header(0x21, 0x11, v4 + std::string("\1\0\2x", 4))), "length");
}

TEST(ProxyMachine, what_is_not_defined_is_refused) {
  EXPECT_EQ(read_header(header(0x11, 0x11, v4)), "command");
  EXPECT_EQ(read_header(header(0x22, 0x11, v4)), "command");
  EXPECT_EQ(read_header(header(0x21, 0x12, v4)), "command") << "datagrams";
  EXPECT_EQ(read_header(header(0x21, 0x41, v4)), "command");
  EXPECT_EQ(read_header(header(0x21, 0x10, v4)), "command");
}

TEST(ProxyMachine, a_checksum_is_checked_wherever_it_stands) {
  EXPECT_EQ(read_header(summed(header(0x21, 0x11, v4 + field(3, std::string(4, '\0'))))),
            "192.0.2.1#5000");
  EXPECT_EQ(
      read_header(summed(header(0x21, 0x21, v6 + field(1, "h2") + field(3, std::string(4, '\0'))))),
      "2001:db8::1#5000");
  std::string wrong = summed(header(0x21, 0x11, v4 + field(3, std::string(4, '\0'))));
  wrong[16] = '\xc1';
  EXPECT_EQ(read_header(wrong), "checksum");
  EXPECT_EQ(read_header(header(0x21, 0x11, v4 + field(3, "abcd"))), "checksum");
  EXPECT_EQ(read_header(header(0x21, 0x11, v4 + field(3, "abc"))), "checksum");
  const std::string zero(4, '\0');
  EXPECT_EQ(read_header(summed(header(0x21, 0x11, v4 + field(3, zero) + field(3, zero)))),
            "checksum");
}

TEST(ProxyMachine, a_checksum_counts_with_fields_behind_it_and_may_stand_once) {
  const std::string zeros(4, '\0');
  EXPECT_EQ(read_header(header(0x21, 0x11, v4 + field(3, "abcd") + field(4, "x"))), "checksum");
  const std::string twice =
      header(0x21, 0x11, v4 + field(3, zeros) + field(4, "x") + field(3, zeros));
  EXPECT_EQ(read_header(summed(twice)), "checksum");
}

TEST(ProxyMachine, every_refusal_has_a_name) {
  EXPECT_EQ(name_of(Refusal::none), "none");
  EXPECT_EQ(name_of(Refusal::signature), "signature");
  EXPECT_EQ(name_of(Refusal::length), "length");
}

TEST(ProxyMachine, the_checksum_is_that_of_rfc_3720) {
  Crc32c crc;
  crc.add(std::string(32, '\0'));
  EXPECT_EQ(crc.value(), 0x8a9136aau);  // RFC 3720 §B.4, octets in reverse
}

TEST(ProxyMachine, a_header_that_is_not_complete_waits) {
  Machine machine;
  // The addresses are here, and the checksum that they may belie is not.
  const std::string summing = header(0x21, 0x11, v4 + field(3, "abcd"));
  for (const char c : summing.substr(0, summing.size() - 1)) {
    EXPECT_EQ(machine.next({&c, 1}).event, Event::need_bytes);
    EXPECT_EQ(machine.source(), std::nullopt);
  }
}

}  // namespace
}  // namespace katana::proxy

// SPDX-License-Identifier: Apache-2.0
