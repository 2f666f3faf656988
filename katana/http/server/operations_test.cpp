// Access to the operations pages, by name, listener and token.
#include "katana/http/server/operations.hpp"

#include <gtest/gtest.h>

#include <string>

#include "katana/http/handlers/exchange_fixture_test.hpp"

namespace katana::server {
namespace {

using Verdict = OperationsGuard::Verdict;

const engine::PeerEndpoint local_peer =
    engine::PeerEndpoint::of(*IpAddress::parse("127.0.0.1"), 4000);

struct Asked {
  std::string fields = "host: localhost\n";
  engine::Listener listener = 0;
  std::string_view target = "/metrics";
  engine::PeerEndpoint peer = local_peer;
};

Verdict judge(const OperationsGuard& guard, const Asked& asked) {
  FakeExchange exchange("GET", asked.target, asked.fields);
  exchange.listener_ = asked.listener;
  exchange.peer_ = asked.peer;
  const PathParameters none;
  return guard.judge(RequestView(exchange.head(), "/metrics", {}, none, {}), exchange);
}
Verdict judge(const OperationsGuard& guard, std::string_view fields, engine::Listener listener = 0,
              std::string_view target = "/metrics") {
  return judge(guard, Asked{std::string(fields), listener, target});
}

// nginx sends these headers by default: Host is the address of its upstream, and nginx leaves no
// trace.
constexpr std::string_view bare_proxy = "host: 127.0.0.1:8080\n";
// All headers by which a remote client can look like a local one.
constexpr std::string_view disguises[] = {
    "host: localhost\n",
    "host: 127.0.0.1\n",
    "host: [::1]\n",
    "host: shop.example\n",
    "host: localhost\nx-forwarded-for: 127.0.0.1\nx-forwarded-host: localhost\n",
    "host: shop.example\nx-forwarded-host: localhost\n",
    "host: localhost\nforwarded: for=127.0.0.1;host=localhost\n",
    "host: localhost\nx-real-ip: 127.0.0.1\n",
    "host: localhost\nauthorization: Bearer \n",
};

TEST(OperationsAddress, of_this_machine_alone_are_loopback_ones_and_unix_sockets) {
  for (const char* const here : {"127.0.0.1", "127.9.9.9", "::1", "unix:/run/app.sock"}) {
    EXPECT_TRUE(is_loopback(here)) << here;
  }
  for (const char* const open : {"0.0.0.0", "::", "10.0.0.1", "2001:db8::1", "localhost", ""}) {
    EXPECT_FALSE(is_loopback(open)) << open;
  }
}

TEST(HostList, the_names_of_a_loopback_server_are_localhost_and_loopback_addresses) {
  const HostList list({"127.0.0.1"}, {});
  for (const Bytes host : {"localhost", "LocalHost:8080", "localhost.", "127.0.0.1", "127.0.0.1:80",
                           "127.8.9.1", "[::1]", "[::1]:8080", "[0:0::1]", "[::ffff:127.0.0.1]"}) {
    EXPECT_TRUE(list.has(host)) << host;
  }
  for (const Bytes host :
       {"", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "notlocalhost",
        "10.0.0.1", "[::2]", "[::1", "2130706433", "0x7f.1", "127.1", ".", "[]"}) {
    EXPECT_FALSE(list.has(host)) << host;
  }
}

TEST(HostList, the_bound_address_and_configured_names_are_names_too) {
  const HostList list({"192.0.2.7", "2001:db8::1"}, {"Shop.example", "bare.example:443"});
  for (const Bytes host : {"192.0.2.7:8080", "[2001:DB8:0::1]", "shop.EXAMPLE:1", "bare.example"}) {
    EXPECT_TRUE(list.has(host)) << host;
  }
  for (const Bytes host : {"192.0.2.8", "www.shop.example", "example"}) {
    EXPECT_FALSE(list.has(host)) << host;
  }
}

TEST(HostList, who_listens_on_every_address_has_any_address_and_no_other_name) {
  for (const char* const any : {"0.0.0.0", "::"}) {
    const HostList list({any}, {});
    EXPECT_TRUE(list.has("198.51.100.3:80")) << any;
    EXPECT_TRUE(list.has("[2001:db8::9]")) << any;
    EXPECT_FALSE(list.has("evil.example")) << any;
  }
}

TEST(OperationsGuard, a_name_that_is_not_the_servers_is_told_421) {
  const OperationsGuard guard({.addresses = {"127.0.0.1"}});
  EXPECT_EQ(judge(guard, "host: localhost:8080\n"), Verdict::passes);
  EXPECT_EQ(judge(guard, "host: evil.example:8080\n"), Verdict::strange);
  EXPECT_EQ(judge(guard, ""), Verdict::strange);
  // HTTP/1.0 may have an absolute target and no Host. If it has both they agree, or it was refused.
  EXPECT_EQ(judge(guard, "", 0, "http://evil.example/metrics"), Verdict::strange);
  EXPECT_EQ(judge(guard, "", 0, "http://localhost/metrics"), Verdict::passes);
  FakeExchange exchange("GET", "/metrics", "host: evil.example\n");
  exchange.peer_ = local_peer;
  const PathParameters none;
  const RequestView request(exchange.head(), "/metrics", {}, none, {});
  const auto refused = guard.pages().admit(request, exchange);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status(), 421u);
}

TEST(OperationsGuard,
     on_other_addresses_than_loopback_the_pages_are_off_without_token_or_listener) {
  const OperationsGuard off({.addresses = {"127.0.0.1", "0.0.0.0"}});
  EXPECT_EQ(judge(off, "host: localhost\n"), Verdict::off);
  EXPECT_EQ(off.off(), OperationsOff::exposed);
  const OperationsGuard with_token({.addresses = {"0.0.0.0"}, .token = "s3cret"});
  EXPECT_EQ(with_token.off(), OperationsOff::no);
  EXPECT_EQ(judge(with_token, "host: 198.51.100.3\n"), Verdict::unknown);
  EXPECT_EQ(judge(with_token, "host: 198.51.100.3\nauthorization: Bearer s3cret\n"),
            Verdict::passes);
  EXPECT_EQ(judge(with_token, "host: 198.51.100.3\nauthorization: bearer s3cret\n"),
            Verdict::passes);
  for (const Bytes wrong : {"Bearer s3cre", "Bearer s3crett", "Bearer ", "Bearer", "Basic s3cret",
                            "s3cret", "Bearer S3cret", "Bearer s3crets3cret"}) {
    EXPECT_EQ(judge(with_token, "host: localhost\nauthorization: " + std::string(wrong) + "\n"),
              Verdict::unknown)
        << wrong;
  }
}

TEST(OperationsGuard, behind_a_configured_proxy_nothing_that_a_stranger_sends_shows_a_page) {
  const OperationsRules behind[] = {
      {.addresses = {"127.0.0.1"}, .behind_proxy = true},
      {.addresses = {"127.0.0.1"}, .hosts = {"shop.example"}},
      {.addresses = {"127.0.0.1"}, .hosts = {"localhost", "shop.example"}},
      {.addresses = {"127.0.0.1", "unix:/run/a.sock"}, .hosts = {"shop.example"}},
      {.addresses = {"::1"}, .hosts = {"shop.example"}, .behind_proxy = true},
  };
  for (const OperationsRules& rules : behind) {
    const OperationsGuard guard(rules);
    EXPECT_NE(guard.off(), OperationsOff::no);
    for (const std::string_view fields : disguises) {
      EXPECT_EQ(judge(guard, fields), Verdict::off) << fields;
    }
    EXPECT_EQ(judge(guard, bare_proxy), Verdict::off);
  }
}

TEST(OperationsGuard, behind_a_configured_proxy_the_token_or_the_listener_shows_them) {
  const OperationsGuard token({.addresses = {"127.0.0.1"},
                               .hosts = {"shop.example"},
                               .token = "s3cret",
                               .behind_proxy = true});
  for (const std::string_view fields : disguises) {
    EXPECT_NE(judge(token, fields), Verdict::passes) << fields;
  }
  EXPECT_EQ(judge(token,
                  "host: shop.example\nx-forwarded-for: 203.0.113.9\n"
                  "authorization: Bearer s3cret\n"),
            Verdict::passes);
  const OperationsGuard listener({.addresses = {"127.0.0.1"},
                                  .hosts = {"shop.example"},
                                  .listener = 1,
                                  .listener_address = "127.0.0.1",
                                  .behind_proxy = true});
  for (const std::string_view fields : disguises) {
    EXPECT_EQ(judge(listener, fields, 0), Verdict::off) << fields;
  }
  EXPECT_EQ(judge(listener, "host: localhost:9100\n", 1), Verdict::passes);
}

TEST(OperationsGuard, without_any_configuration_they_are_for_clients_of_this_machine_alone) {
  const OperationsGuard guard({.addresses = {"127.0.0.1"}});
  EXPECT_EQ(guard.off(), OperationsOff::no);
  engine::PeerEndpoint mapped{.port = 1, .family = engine::PeerEndpoint::Family::v6};
  mapped.address = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1};
  for (const engine::PeerEndpoint& peer :
       {local_peer, engine::PeerEndpoint::of(*IpAddress::parse("::1"), 1),
        engine::PeerEndpoint::of(*IpAddress::parse("127.200.0.9"), 1), mapped}) {
    EXPECT_EQ(judge(guard, {.peer = peer}), Verdict::passes) << peer.text().bytes();
  }
  // A port that is mapped to the loopback address, a bridge, a Unix socket, an unknown one.
  engine::PeerEndpoint mapped_far = mapped;
  mapped_far.address[12] = 10;
  for (const engine::PeerEndpoint& peer :
       {engine::PeerEndpoint::of(*IpAddress::parse("172.17.0.1"), 1),
        engine::PeerEndpoint::of(*IpAddress::parse("fe80::1"), 1), mapped_far,
        engine::PeerEndpoint{.family = engine::PeerEndpoint::Family::local},
        engine::PeerEndpoint{}}) {
    EXPECT_EQ(judge(guard, {.peer = peer}), Verdict::off) << peer.text().bytes();
  }
}

TEST(OperationsGuard, without_any_configuration_a_trace_of_a_proxy_hides_them) {
  const OperationsGuard guard({.addresses = {"127.0.0.1", "::1"}});
  for (const char* const trace :
       {"x-forwarded-for: 127.0.0.1", "X-Forwarded-Proto: http", "forwarded: for=127.0.0.1",
        "via: 1.1 proxy", "x-real-ip: 127.0.0.1", "cf-connecting-ip: 127.0.0.1"}) {
    EXPECT_EQ(judge(guard, "host: localhost\n" + std::string(trace) + "\n"), Verdict::off) << trace;
  }
}

TEST(OperationsGuard, names_of_loopback_are_no_sign_of_a_proxy) {
  const OperationsGuard guard({.addresses = {"127.0.0.1"}, .hosts = {"localhost", "[::1]:8080"}});
  EXPECT_EQ(guard.off(), OperationsOff::no);
  EXPECT_EQ(judge(guard, "host: localhost\n"), Verdict::passes);
}

TEST(OperationsGuard, on_unix_sockets_alone_they_are_off_and_a_token_or_a_listener_shows_them) {
  const OperationsGuard guard({.addresses = {"unix:/run/a.sock"}});
  EXPECT_EQ(guard.off(), OperationsOff::sockets);
  const engine::PeerEndpoint user{.family = engine::PeerEndpoint::Family::local};
  EXPECT_EQ(judge(guard, {.peer = user}), Verdict::off);
  const OperationsGuard with_token({.addresses = {"unix:/run/a.sock"}, .token = "s3cret"});
  EXPECT_EQ(judge(with_token,
                  {.fields = "host: localhost\nauthorization: Bearer s3cret\n", .peer = user}),
            Verdict::passes);
}

TEST(OperationsGuard, with_a_listener_of_their_own_the_pages_are_nowhere_else) {
  const OperationsGuard guard(
      {.addresses = {"0.0.0.0"}, .listener = 1, .listener_address = "127.0.0.1"});
  EXPECT_EQ(judge(guard, "host: localhost\n", 0), Verdict::off);
  EXPECT_EQ(judge(guard, "host: localhost\n", 1), Verdict::passes);
  EXPECT_EQ(judge(guard, "host: evil.example\n", 1), Verdict::strange);
  FakeExchange exchange("GET", "/users", "host: localhost\n");
  exchange.listener_ = 1;
  const PathParameters none;
  const RequestView request(exchange.head(), "/users", {}, none, {});
  const auto refused = guard.application().admit(request, exchange);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status(), 404u);
}

TEST(OperationsGuard, routes_of_the_program_are_for_any_name_unless_hosts_are_given) {
  const OperationsGuard open({.addresses = {"127.0.0.1"}});
  EXPECT_FALSE(open.guards_application());
  const OperationsGuard named({.addresses = {"127.0.0.1"}, .hosts = {"shop.example"}});
  EXPECT_TRUE(named.guards_application());
  const auto status_for = [&](std::string_view host) {
    FakeExchange exchange("GET", "/", "host: " + std::string(host) + "\n");
    const PathParameters none;
    const RequestView request(exchange.head(), "/", {}, none, {});
    const auto refused = named.application().admit(request, exchange);
    return refused ? refused->status() : 200u;
  };
  EXPECT_EQ(status_for("shop.example"), 200u);
  EXPECT_EQ(status_for("localhost:8080"), 200u);
  EXPECT_EQ(status_for("evil.example"), 421u);
}

TEST(OperationsGuard, with_hosts_the_name_in_the_request_and_the_one_of_the_proxy_are_compared) {
  const OperationsGuard guard({.addresses = {"127.0.0.1"}, .hosts = {"shop.example"}});
  const Network proxies[] = {*Network::parse("192.0.2.0/24")};
  const auto status_for = [&](http::ForwardedParts parts, std::string_view host,
                              std::string_view forwarded) {
    FakeExchange exchange(
        "GET", "/",
        "host: " + std::string(host) + "\nx-forwarded-host: " + std::string(forwarded) + "\n");
    exchange.trust_ = session::ProxyTrust::make(
        proxies, {.fields = http::ForwardedFields::x_forwarded, .parts = parts});
    const PathParameters none;
    const RequestView request(exchange.head(), "/", {}, none, {}, &exchange);
    const auto refused = guard.application().admit(request, exchange);
    return refused ? refused->status() : 200u;
  };
  const http::ForwardedParts usual;
  const http::ForwardedParts with_host{.client = true, .proto = true, .host = true};
  EXPECT_EQ(status_for(usual, "shop.example", "evil.example"), 200u) << "not read at all";
  EXPECT_EQ(status_for(usual, "evil.example", "shop.example"), 421u);
  EXPECT_EQ(status_for(with_host, "shop.example", "localhost"), 200u);
  EXPECT_EQ(status_for(with_host, "evil.example", "shop.example"), 421u);
  EXPECT_EQ(status_for(with_host, "shop.example", "evil.example"), 421u);
}

TEST(OperationsGuard, who_may_not_see_details_is_told_the_status) {
  const OperationsGuard guard({.addresses = {"127.0.0.1"}});
  const auto content_for = [&](std::string_view host, unsigned status) {
    FakeExchange exchange("GET", "/ready", "host: " + std::string(host) + "\n");
    exchange.peer_ = local_peer;
    const PathParameters none;
    const RequestView request(exchange.head(), "/ready", {}, none, {});
    Reply reply = Reply::json(R"({"status":"fail","checks":[{"name":"database"}]})");
    reply.set_status(status);
    guard.details().amend(request, exchange, reply);
    EXPECT_EQ(reply.status(), status);
    return std::string(reply.content());
  };
  EXPECT_NE(content_for("localhost", 503).find("database"), std::string::npos);
  EXPECT_EQ(content_for("evil.example", 503), R"({"status":"fail"})");
  EXPECT_EQ(content_for("evil.example", 200), R"({"status":"pass"})");
}

}  // namespace
}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
