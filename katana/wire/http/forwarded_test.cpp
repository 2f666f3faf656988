#include "katana/wire/http/forwarded.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace katana::http {
namespace {

// A head of these fields only.
class ForwardedFieldsOnly {
 public:
  explicit ForwardedFieldsOnly(const std::vector<std::pair<std::string, std::string>>& fields) {
    for (const auto& [name, value] : fields) bytes_ += name + value;
    head_.begin(bytes_.data());
    std::size_t at = 0;
    const auto slice = [&at](const std::string& text) {
      const Slice here{static_cast<std::uint16_t>(at), static_cast<std::uint16_t>(text.size())};
      at += text.size();
      return here;
    };
    for (const auto& [name, value] : fields) {
      const Slice name_slice = slice(name);
      head_.add_field(name_slice, slice(value));
    }
    head_.set_bytes(bytes_.size());
  }
  const Head& head() const { return head_; }

 private:
  std::string bytes_;
  Head head_;
};

NetworkSet trusted_proxies() {
  const Network networks[] = {*Network::parse("10.0.0.0/8"), *Network::parse("2001:db8::/32")};
  return NetworkSet(networks);
}

// The parts that a proxy writes which overwrites all three.
constexpr ForwardedParts all_parts{.client = true, .proto = true, .host = true};

// "ADDRESS[#PORT] [SCHEME] [HOST] [malformed]"
std::string shown_forwarding(const Forwarding& found) {
  std::string text =
      found.client.address ? std::string(Bytes(found.client.address->to_text())) : "peer";
  if (found.client.port) text += "#" + std::to_string(*found.client.port);
  if (found.scheme) text += " " + std::string(name_of(*found.scheme));
  if (!found.host.empty()) text += " " + std::string(found.host);
  if (found.is_malformed) text += " malformed";
  return text;
}

std::string forwarded(const std::vector<std::string>& values, unsigned hops_max = 16,
                      ForwardedParts parts = all_parts) {
  std::vector<std::pair<std::string, std::string>> fields;
  for (const auto& each : values) fields.emplace_back("FORWARDED", each);
  const ForwardedFieldsOnly given(fields);
  return shown_forwarding(read_forwarding(
      given.head(), {ForwardedFields::forwarded, hops_max, parts}, trusted_proxies()));
}

std::string x_forwarded(const std::vector<std::pair<std::string, std::string>>& fields,
                        unsigned hops_max = 16, ForwardedParts parts = all_parts) {
  const ForwardedFieldsOnly given(fields);
  return shown_forwarding(read_forwarding(
      given.head(), {ForwardedFields::x_forwarded, hops_max, parts}, trusted_proxies()));
}

TEST(Forwarded, each_example_of_rfc_7239_is_read) {
  EXPECT_EQ(forwarded({"for=\"_gazonk\""}), "peer");
  EXPECT_EQ(forwarded({"For=\"[2001:db9:cafe::17]:4711\""}), "2001:db9:cafe::17#4711");
  EXPECT_EQ(forwarded({"for=192.0.2.60;proto=http;by=203.0.113.43"}), "192.0.2.60 http");
  EXPECT_EQ(forwarded({"for=192.0.2.43, for=198.51.100.17"}), "198.51.100.17");
  EXPECT_EQ(forwarded({"for=_hidden, for=_SEVKISEK"}), "peer");
  EXPECT_EQ(forwarded({"for=192.0.2.43,for=\"[2001:db9:cafe::17]\",for=unknown"}), "peer");
}

TEST(Forwarded, the_right_most_address_that_is_not_trusted_is_the_client) {
  EXPECT_EQ(forwarded({"for=1.1.1.1, for=2.2.2.2, for=10.0.0.2, for=10.0.0.1"}), "2.2.2.2");
  EXPECT_EQ(forwarded({"for=1.1.1.1, for=2.2.2.2", "for=10.0.0.2", "for=10.0.0.1"}), "2.2.2.2");
  EXPECT_EQ(forwarded({"for=\"[2001:db8::1]\", for=10.0.0.1"}), "2001:db8::1") << "all are trusted";
  EXPECT_EQ(forwarded({}), "peer");
  EXPECT_EQ(forwarded({"", ",", " , "}), "peer");
  EXPECT_EQ(forwarded({"for=1.1.1.1,, ,"}), "1.1.1.1");
  EXPECT_EQ(forwarded({"for=\"[::ffff:10.0.0.3]\"", "for=10.0.0.1"}), "10.0.0.3");
}

TEST(Forwarded, what_stands_left_of_the_client_is_not_read) {
  EXPECT_EQ(forwarded({"for=\"x, for=2.2.2.2"}), "2.2.2.2");
  EXPECT_EQ(forwarded({"\"\\, for=2.2.2.2;proto=https"}), "2.2.2.2 https");
  EXPECT_EQ(forwarded({"for=2.2.2.2;host=evil.example, for=3.3.3.3;proto=https"}), "3.3.3.3 https");
  EXPECT_EQ(forwarded({"\x01\x02 for=", "for=2.2.2.2"}), "2.2.2.2");
}

TEST(Forwarded, scheme_and_host_are_those_that_the_client_asked_for) {
  EXPECT_EQ(forwarded({"for=1.1.1.1;proto=https;host=\"shop.example:8443\", "
                       "for=10.0.0.1;proto=http;host=inner"}),
            "1.1.1.1 https shop.example:8443");
  EXPECT_EQ(forwarded({"for=1.1.1.1, for=10.0.0.1;proto=https;host=shop.example"}),
            "1.1.1.1 https shop.example");
  EXPECT_EQ(forwarded({"proto=https;host=shop.example"}), "peer https shop.example");
  EXPECT_EQ(forwarded({"for=1.1.1.1, proto=https"}), "peer https") << "nobody says who it was";
  EXPECT_EQ(forwarded({"for=1.1.1.1;proto=wss"}), "1.1.1.1 https");
}

TEST(Forwarded, quoted_strings_are_taken_whole_and_unescaped) {
  EXPECT_EQ(forwarded({"for=\"1.1.1\\.1\""}), "1.1.1.1");
  EXPECT_EQ(forwarded({"by=\"a,b;c\\\"d\\\\\";for=1.1.1.1"}), "1.1.1.1");
  EXPECT_EQ(forwarded({"for=9.9.9.9,by=\",;\\\\\\\"\" ; for=\"1.1.1.1:_p\""}), "1.1.1.1");
  EXPECT_EQ(forwarded({";;for=1.1.1.1;;proto=\"http\"; secret=x;"}), "1.1.1.1 http");
}

TEST(Forwarded, what_a_proxy_says_wrongly_ends_the_walk_at_the_last_good_one) {
  for (const char* const last : {"for",
                                 "for=",
                                 "=1.1.1.1",
                                 "for =1.1.1.1",
                                 "for=1.1.1.1 proto=http",
                                 "for=2001:db8::1",
                                 "for=[::1]",
                                 "for=\"1.1.1.1",
                                 "for=1.1.1.1\"",
                                 "for=\"1.1.1.1\"x",
                                 "for=1.1.1.1;for=2.2.2.2",
                                 "for=\"1.1.1.1:\"",
                                 "for=\"1.1.1.1:65536\"",
                                 "for=\"1.1.1.1:123456\"",
                                 "for=\"_\"",
                                 "for=\"\"",
                                 "for=\"[::1]x\"",
                                 "for=\"[1.1.1.1]\"",
                                 "for=\"[::1\"",
                                 "for=01.1.1.1",
                                 "proto=ftp",
                                 "proto=http;proto=https",
                                 "host=\"\"",
                                 "host=\"a b\"",
                                 "host=\"a\\.b\"",
                                 "host=a;host=b",
                                 "for=\"x\\\"",
                                 "for=\"\x7f\""}) {
    EXPECT_EQ(forwarded({"for=9.9.9.9", last}), "peer malformed") << last;
    EXPECT_EQ(forwarded({last, "for=10.0.0.1"}), "10.0.0.1 malformed") << last;
  }
  EXPECT_EQ(forwarded({"for=\"" + std::string(100, '1') + "\""}), "peer malformed");
}

TEST(Forwarded, no_more_proxies_are_believed_than_the_rules_say) {
  EXPECT_EQ(forwarded({"for=1.1.1.1, for=10.0.0.2, for=10.0.0.1"}, 3), "1.1.1.1");
  EXPECT_EQ(forwarded({"for=1.1.1.1, for=10.0.0.2, for=10.0.0.1"}, 2), "10.0.0.2 malformed");
  EXPECT_EQ(x_forwarded({{"x-forwarded-for", "1.1.1.1, 10.0.0.2, 10.0.0.1"}}, 2),
            "10.0.0.2 malformed");
}

TEST(Forwarded, x_forwarded_for_is_walked_likewise) {
  EXPECT_EQ(x_forwarded({{"X-Forwarded-For", "1.1.1.1, 2.2.2.2, 10.0.0.1"}}), "2.2.2.2");
  EXPECT_EQ(x_forwarded({{"x-forwarded-for", "2.2.2.2"}, {"x-forwarded-for", "10.0.0.1"}}),
            "2.2.2.2");
  EXPECT_EQ(x_forwarded({{"x-forwarded-for", "2001:db9::1"}}), "2001:db9::1");
  EXPECT_EQ(x_forwarded({{"x-forwarded-for", "[2001:db9::1]:443"}}), "2001:db9::1#443");
  EXPECT_EQ(x_forwarded({{"x-forwarded-for", "1.1.1.1:5000"}}), "1.1.1.1#5000");
  EXPECT_EQ(x_forwarded({{"x-forwarded-for", "1.1.1.1, unknown"}}), "peer");
  EXPECT_EQ(x_forwarded({{"x-forwarded-for", "\"1.1.1.1\""}}), "peer malformed");
  EXPECT_EQ(x_forwarded({{"x-forwarded-for", "bogus\", 2.2.2.2"}}), "2.2.2.2");
}

TEST(Forwarded, of_x_forwarded_proto_and_host_the_last_value_counts) {
  EXPECT_EQ(x_forwarded({{"x-forwarded-for", "1.1.1.1"},
                         {"x-forwarded-proto", "http, https"},
                         {"x-forwarded-host", "evil.example, shop.example"}}),
            "1.1.1.1 https shop.example");
  EXPECT_EQ(x_forwarded({{"x-forwarded-proto", "gopher"}, {"x-forwarded-for", "1.1.1.1"}}),
            "1.1.1.1 malformed");
  EXPECT_EQ(x_forwarded({{"x-forwarded-host", "a/b"}}), "peer malformed");
}

TEST(Forwarded, a_host_is_the_clients_own_unless_the_proxies_are_known_to_write_it) {
  const ForwardedParts usual;
  EXPECT_EQ(forwarded({"for=1.1.1.1;proto=https;host=shop.example"}, 16, usual), "1.1.1.1 https");
  EXPECT_EQ(x_forwarded({{"X-Forwarded-For", "1.1.1.1"},
                         {"X-Forwarded-Proto", "https"},
                         {"X-Forwarded-Host", "shop.example"}},
                        16, usual),
            "1.1.1.1 https");
}

TEST(Forwarded, parts_that_the_rules_do_not_name_have_no_influence_however_they_are_written) {
  const std::vector<std::pair<std::string, std::string>> forged = {
      {"X-Forwarded-For", "1.1.1.1"}, {"X-Forwarded-Proto", "ftp"}, {"X-Forwarded-Host", "a b"}};
  EXPECT_EQ(x_forwarded(forged, 16, {.client = true, .proto = false}), "1.1.1.1");
  EXPECT_EQ(x_forwarded(forged, 16, {.client = false, .proto = false}), "peer");
  // A proxy that copies values of its client does not spoil its own values.
  EXPECT_EQ(forwarded({"for=1.1.1.1;host=\"a b\";proto=ftp"}, 16, {.client = true, .proto = false}),
            "1.1.1.1");
  EXPECT_EQ(forwarded({"for=bogus;proto=https"}, 16, {.client = false}), "peer https");
}

TEST(Forwarded, port_prefix_and_other_headers_of_the_family_are_never_read) {
  EXPECT_EQ(x_forwarded({{"X-Forwarded-Port", "1"},
                         {"X-Forwarded-Prefix", "/evil"},
                         {"X-Forwarded-Server", "evil.example"},
                         {"X-Forwarded-Ssl", "on"},
                         {"X-Forwarded-Scheme", "https"},
                         {"X-Forwarded", "1.1.1.1"},
                         {"X-Real-IP", "1.1.1.1"},
                         {"X_Forwarded_For", "1.1.1.1"}}),
            "peer");
}

TEST(Forwarded, every_header_that_proxies_add_is_a_trace_and_none_of_a_client_is) {
  for (const char* const name :
       {"Forwarded", "via", "X-Forwarded-For", "x-forwarded-anything", "X-Real-IP", "CF-Ray",
        "CDN-Loop", "True-Client-IP", "X-Envoy-External-Address", "X-Amzn-Trace-Id",
        "Fastly-Client-IP", "X-Original-Host", "X-Client-IP", "x-scheme"}) {
    const ForwardedFieldsOnly given({{"host", "localhost"}, {name, ""}});
    EXPECT_TRUE(has_trace_of_proxy(given.head())) << name;
  }
  for (const char* const name :
       {"host", "user-agent", "accept", "cookie", "authorization", "sec-fetch-site", "x-request-id",
        "traceparent", "origin", "referer", "x-real", "x-prometheus-scrape-timeout-seconds",
        "priority", "viaduct", "upgrade-insecure-requests"}) {
    const ForwardedFieldsOnly given({{name, "1"}});
    EXPECT_FALSE(has_trace_of_proxy(given.head())) << name;
  }
}

TEST(Forwarded, only_the_fields_that_the_rules_name_are_read) {
  EXPECT_EQ(x_forwarded({{"forwarded", "for=1.1.1.1;proto=https"}}), "peer");
  const ForwardedFieldsOnly both({{"x-forwarded-for", "1.1.1.1"}, {"forwarded", "for=2.2.2.2"}});
  EXPECT_EQ(shown_forwarding(
                read_forwarding(both.head(), {ForwardedFields::forwarded}, trusted_proxies())),
            "2.2.2.2");
  EXPECT_EQ(
      shown_forwarding(read_forwarding(both.head(), {ForwardedFields::none}, trusted_proxies())),
      "peer");
}

}  // namespace
}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
