// Who is shown the pages of operations, by name, listener and token.
#include "katana/server/operations.hpp"

#include <gtest/gtest.h>

#include <string>

#include "katana/service/exchange_fixture_test.hpp"

namespace katana::server {
namespace {

using Verdict = OperationsGuard::Verdict;

Verdict judge(const OperationsGuard& guard, std::string_view fields, engine::Listener listener = 0,
              std::string_view target = "/metrics") {
  FakeExchange exchange("GET", target, fields);
  exchange.listener_ = listener;
  const PathParameters none;
  return guard.judge(RequestView(exchange.head(), "/metrics", {}, none, {}), exchange);
}

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
  // HTTP/1.0 may have an absolute target and no Host. With both, they agree, or it was refused.
  EXPECT_EQ(judge(guard, "", 0, "http://evil.example/metrics"), Verdict::strange);
  EXPECT_EQ(judge(guard, "", 0, "http://localhost/metrics"), Verdict::passes);
  FakeExchange exchange("GET", "/metrics", "host: evil.example\n");
  const PathParameters none;
  const RequestView request(exchange.head(), "/metrics", {}, none, {});
  const auto refused = guard.pages().admit(request, exchange);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status(), 421u);
}

TEST(OperationsGuard,
     on_other_addresses_than_loopback_the_pages_are_off_without_token_or_listener) {
  const OperationsGuard off({.addresses = {"0.0.0.0"}, .exposed = true});
  EXPECT_EQ(judge(off, "host: localhost\n"), Verdict::off);
  EXPECT_TRUE(off.off());
  const OperationsGuard with_token({.addresses = {"0.0.0.0"}, .token = "s3cret", .exposed = true});
  EXPECT_FALSE(with_token.off());
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

TEST(OperationsGuard, with_a_listener_of_their_own_the_pages_are_nowhere_else) {
  const OperationsGuard guard(
      {.addresses = {"0.0.0.0", "127.0.0.1"}, .listener = 1, .exposed = true});
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

TEST(OperationsGuard, who_may_not_see_details_is_told_the_status) {
  const OperationsGuard guard({.addresses = {"127.0.0.1"}});
  const auto content_for = [&](std::string_view host, unsigned status) {
    FakeExchange exchange("GET", "/ready", "host: " + std::string(host) + "\n");
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
