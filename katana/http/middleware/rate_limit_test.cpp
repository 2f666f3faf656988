#include "katana/http/middleware/rate_limit.hpp"

#include <gtest/gtest.h>

#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "katana/http/handlers/exchange_fixture_test.hpp"
#include "katana/http/middleware/rate_table.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/testing/test_server.hpp"

namespace katana {
namespace {

using detail::RateTable;

TEST(RateTable, a_burst_passes_and_then_the_rate) {
  RateTable table(10, 3, 1000, 7);
  Instant now{seconds(5).ns};
  EXPECT_EQ(table.take("a", now).left, 2u);
  EXPECT_EQ(table.take("a", now).left, 1u);
  EXPECT_EQ(table.take("a", now).left, 0u);
  for (int count = 0; count < 3; ++count) {  // refused requests cost nothing
    const auto refused = table.take("a", now);
    EXPECT_FALSE(refused.passes);
    EXPECT_EQ(refused.wait.ns, milliseconds(100).ns);
  }
  EXPECT_TRUE(table.take("b", now).passes);
  now = now + milliseconds(99);
  EXPECT_FALSE(table.take("a", now).passes);
  now = now + milliseconds(1);
  EXPECT_TRUE(table.take("a", now).passes);
  EXPECT_FALSE(table.take("a", now).passes);
  now = now + seconds(100);
  for (int count = 0; count < 3; ++count) EXPECT_TRUE(table.take("a", now).passes);
  EXPECT_FALSE(table.take("a", now).passes);
}

TEST(RateTable, a_rate_that_is_set_while_it_serves_holds_for_what_was_used_already) {
  RateTable table(1, 2, 1000, 7);
  const Instant now{seconds(1'000).ns};
  EXPECT_TRUE(table.take("a", now).passes);
  EXPECT_TRUE(table.take("a", now).passes);
  EXPECT_FALSE(table.take("a", now).passes);
  table.set_rate(1, 3);
  EXPECT_EQ(table.burst(), 3u);
  EXPECT_EQ(table.window(), seconds(3));
  EXPECT_TRUE(table.take("a", now).passes);
  EXPECT_FALSE(table.take("a", now).passes);
  table.set_rate(1, 1);
  EXPECT_FALSE(table.take("a", now + seconds(2)).passes);
  EXPECT_TRUE(table.take("a", now + seconds(3)).passes);
}

TEST(RateTable, a_rate_beyond_its_bounds_ends_the_program_with_its_reason) {
  RateTable table(1, 1, 1000, 7);
  for (const double rate : {0.0, 1e-6, 1e9}) {
    EXPECT_DEATH(table.set_rate(rate, 1), "a rate limit has") << rate;
  }
  EXPECT_DEATH(table.set_rate(1, 0), "a burst of 0");
  EXPECT_DEATH(table.set_rate(1, 1'000'001), "a burst of 1000001");
  table.set_rate(9e8, 1'000'000);
  EXPECT_EQ(table.burst(), 1'000'000u);
}

TEST(RateTable, the_table_is_bounded_and_forgets_the_least_active) {
  RateTable table(1, 5, 8, 7);
  ASSERT_EQ(table.capacity(), 8u);
  const Instant now{seconds(5).ns};
  for (int count = 0; count < 5; ++count) EXPECT_TRUE(table.take("busy", now).passes);
  for (int key = 0; key < 1000; ++key) {
    EXPECT_TRUE(table.take("key" + std::to_string(key), now).passes);
  }
  EXPECT_FALSE(table.take("busy", now).passes);
}

TEST(RateTable, threads_together_get_no_more_than_one_would) {
  RateTable table(1, 100, 1000, 7);
  const Instant now{seconds(5).ns};
  std::vector<int> passed(4);
  std::vector<std::jthread> threads;
  for (int& mine : passed) {
    threads.emplace_back([&table, &mine, now] {
      for (int count = 0; count < 1000; ++count) mine += table.take("a", now).passes ? 1 : 0;
    });
  }
  threads.clear();
  EXPECT_EQ(passed[0] + passed[1] + passed[2] + passed[3], 100);
}

TEST(RateLimit, the_addresses_of_one_subscriber_share_a_rate) {
  const Middleware limit = rate_limit({.per_second = 0.001, .burst = 1});
  StillReactor reactor;
  const auto status_for = [&](Bytes address) {
    FakeExchange exchange("GET", "/");
    exchange.on = &reactor;
    exchange.peer_ = engine::PeerEndpoint::of(*IpAddress::read(address), 5000);
    const PathParameters none;
    const RequestView request(exchange.head(), "/", {}, none, {});
    const auto refused = limit.admit(request, exchange);
    return refused ? refused->status() : 200u;
  };
  EXPECT_EQ(status_for("2001:db8:1:2:3:4:5:6"), 200u);
  EXPECT_EQ(status_for("2001:db8:1:2::1"), 429u);
  EXPECT_EQ(status_for("2001:db8:1:3::1"), 200u);
  EXPECT_EQ(status_for("192.0.2.1"), 200u);
  EXPECT_EQ(status_for("::ffff:192.0.2.1"), 429u);
  EXPECT_EQ(status_for("64:ff9b::192.0.2.1"), 429u);
  EXPECT_EQ(status_for("192.0.2.2"), 200u);
}

TEST(RateLimit, a_peer_that_is_not_known_is_refused_and_never_unlimited) {
  const Middleware limit = rate_limit({.per_second = 0.001, .burst = 1});
  StillReactor reactor;
  const auto status_for = [&](const engine::PeerEndpoint& peer) {
    FakeExchange exchange("GET", "/");
    exchange.on = &reactor;
    exchange.peer_ = peer;
    const PathParameters none;
    const RequestView request(exchange.head(), "/", {}, none, {});
    const auto refused = limit.admit(request, exchange);
    EXPECT_EQ(exchange.failures, peer.family == engine::PeerEndpoint::Family::none ? 1 : 0);
    return refused ? refused->status() : 200u;
  };
  EXPECT_EQ(status_for({}), 503u);
  EXPECT_EQ(status_for({}), 503u);
  const engine::PeerEndpoint user{.address = {0, 0, 3, 232},
                                  .family = engine::PeerEndpoint::Family::local};
  EXPECT_EQ(status_for(user), 200u);
  EXPECT_EQ(status_for(user), 429u);
}

TEST(RateLimit, behind_a_trusted_proxy_each_client_has_its_own_rate) {
  const Middleware limit = rate_limit({.per_second = 0.001, .burst = 1});
  StillReactor reactor;
  const Network proxies[] = {*Network::parse("192.0.2.0/24")};
  const auto trust =
      session::ProxyTrust::make(proxies, {.fields = http::ForwardedFields::x_forwarded});
  const auto status_for = [&](std::string_view fields, bool trusted) {
    FakeExchange exchange("GET", "/", fields);
    exchange.on = &reactor;
    if (trusted) exchange.trust_ = trust;
    const PathParameters none;
    const RequestView request(exchange.head(), "/", {}, none, {});
    const auto refused = limit.admit(request, exchange);
    return refused ? refused->status() : 200u;
  };
  EXPECT_EQ(status_for("X-Forwarded-For: 198.51.100.1\n", true), 200u);
  EXPECT_EQ(status_for("X-Forwarded-For: 198.51.100.2\n", true), 200u);
  EXPECT_EQ(status_for("X-Forwarded-For: 9.9.9.9, 198.51.100.2\n", true), 429u);
  EXPECT_EQ(status_for("X-Forwarded-For: 198.51.100.3\n", false), 200u) << "the proxy's own";
  EXPECT_EQ(status_for("X-Forwarded-For: 198.51.100.4\n", false), 429u) << "nobody is believed";
}

TEST(RateLimit, too_many_requests_are_told_how_long_to_wait) {
  RateLimitOptions options;
  options.per_second = 0.5;
  options.burst = 2;
  options.key = [](const RequestView& request, session::Exchange&) {
    return Text(request.field("X-Key").value_or(""));
  };
  int served = 0;
  const Service service = make_service([&](Router& router) {
    router.use(rate_limit(options)).get("/x", [&served] {
      ++served;
      return Reply(204);
    });
  });
  Dispatcher dispatcher(service);
  StillReactor reactor;
  const auto get = [&](std::string_view fields) {
    auto exchange = std::make_unique<FakeExchange>("GET", "/x", fields);
    exchange->on = &reactor;
    exchange->serve(dispatcher);
    return exchange;
  };
  EXPECT_EQ(get("X-Key: a\n")->status, 204u);
  EXPECT_EQ(get("X-Key: a\n")->status, 204u);
  const auto refused = get("X-Key: a\n");
  EXPECT_EQ(refused->status, 429u);
  EXPECT_EQ(refused->fields_sent,
            "Retry-After: 2\r\nRateLimit-Policy: \"default\";q=2;w=4\r\n"
            "RateLimit: \"default\";r=0;t=2\r\n");
  EXPECT_EQ(served, 2);
  EXPECT_EQ(get("X-Key: b\n")->status, 204u);
  for (int count = 0; count < 10; ++count) EXPECT_EQ(get("")->status, 204u);
  reactor.pass(seconds(2));
  EXPECT_EQ(get("X-Key: a\n")->status, 204u);
}

struct RateUser {
  std::string name;
};

TEST(RateLimit, a_key_by_what_middleware_provides_is_the_same_from_every_address) {
  RateLimitOptions options{.per_second = 0.001, .burst = 1};
  options.key = rate_key<RateUser>([](const RateUser& user) -> Bytes { return user.name; });
  const Service service = make_service([&](Router& router) {
    const auto authenticate = [](const RequestView& request) -> std::expected<RateUser, Reply> {
      return RateUser{std::string(request.field("X-User").value_or("nobody"))};
    };
    Group api = router.group("/api");
    api.use(authenticate);
    api.use(rate_limit(options)).get("/x", [] { return Reply(204); });
    router.use(rate_limit(options)).get("/open", [] { return Reply(204); });
  });
  Dispatcher dispatcher(service);
  StillReactor reactor;
  const auto status_of = [&](std::string_view path, std::string_view fields, std::uint8_t host) {
    FakeExchange exchange("GET", path, fields);
    exchange.on = &reactor;
    exchange.peer_.address[3] = host;
    exchange.serve(dispatcher);
    return exchange.status;
  };
  EXPECT_EQ(status_of("/api/x", "X-User: anna\n", 1), 204u);
  EXPECT_EQ(status_of("/api/x", "X-User: anna\n", 2), 429u);
  EXPECT_EQ(status_of("/api/x", "X-User: boris\n", 2), 204u);
  EXPECT_EQ(status_of("/api/x", "X-User: 192.0.2.3\n", 1), 204u);
  EXPECT_EQ(status_of("/open", "X-User: anna\n", 3), 204u) << "by its address";
  EXPECT_EQ(status_of("/open", "X-User: boris\n", 3), 429u);
}

// Gives the verdict of the test: at once, after a while, or unknown.
class ToldLimit final : public SharedLimit {
 public:
  std::optional<Verdict> look(Bytes, Instant) override {
    ++looks;
    return at_once;
  }
  Task<Verdict> ask(std::string key) override {
    keys.push_back(std::move(key));
    co_await net::sleep_for(milliseconds(50));
    co_return answer;
  }
  void set_rate(double per_second, std::uint32_t burst) override { rate = per_second * burst; }

  std::optional<Verdict> at_once;
  Verdict answer{.is_known = true, .passes = true};
  std::vector<std::string> keys;
  int looks = 0;
  double rate = 0;
};

class SharedLimitTest : public ::testing::Test {
 protected:
  testing::TestServer& server() {
    if (server_) return *server_;
    options.shared_limit = told;
    limit_.emplace(options);
    Router router;
    router.use(limit_->middleware());
    router.get("/", [] { return Reply::text("served"); });
    return server_.emplace(std::move(router).build());
  }
  RateLimit& limit() {
    server();
    return *limit_;
  }

  std::shared_ptr<ToldLimit> told = std::make_shared<ToldLimit>();
  RateLimitOptions options{.per_second = 1, .burst = 2};

 private:
  std::optional<RateLimit> limit_;
  std::optional<testing::TestServer> server_;
};

TEST_F(SharedLimitTest, what_is_known_at_once_is_not_asked_for) {
  told->at_once = SharedLimit::Verdict{.is_known = true, .passes = true};
  for (int each = 0; each < 10; ++each) EXPECT_EQ(server().get("/").status(), 200);
  told->at_once = SharedLimit::Verdict{.is_known = true, .wait = milliseconds(1500)};
  const auto refused = server().get("/");
  EXPECT_EQ(refused.status(), 429);
  EXPECT_EQ(refused.header("retry-after"), "2");
  EXPECT_TRUE(told->keys.empty());
}

TEST_F(SharedLimitTest, a_request_that_is_asked_for_waits_and_is_answered_as_said) {
  EXPECT_EQ(server().get("/").content(), "served");
  told->answer = {.is_known = true, .passes = false, .wait = seconds(3)};
  const auto refused = server().get("/");
  EXPECT_EQ(refused.status(), 429);
  EXPECT_EQ(refused.header("retry-after"), "3");
  ASSERT_EQ(told->keys.size(), 2u);
  EXPECT_EQ(told->keys[0], told->keys[1]);
  EXPECT_EQ(told->looks, 2);
}

TEST_F(SharedLimitTest, while_it_is_not_known_an_instance_counts_alone_or_refuses) {
  told->at_once = SharedLimit::Verdict{.wait = seconds(1)};
  EXPECT_EQ(server().get("/").status(), 200);
  EXPECT_EQ(server().get("/").status(), 200);
  EXPECT_EQ(server().get("/").status(), 429) << "the same burst";
}

TEST_F(SharedLimitTest, a_program_may_choose_to_serve_nobody_whom_it_cannot_count) {
  options.when_unknown = WhenLimitUnknown::refuse;
  told->answer = {.wait = seconds(1)};
  const auto refused = server().get("/");
  EXPECT_EQ(refused.status(), 503);
  EXPECT_EQ(refused.header("retry-after"), "1");
}

TEST(SharedLimitOfNobody, a_peer_that_is_not_known_is_refused_and_not_asked_for) {
  const auto told = std::make_shared<ToldLimit>();
  const RateLimit limit({.per_second = 1, .burst = 2, .shared_limit = told});
  const Service service = make_service([&](Router& router) {
    router.use(limit.middleware());
    router.get("/", [] { return Reply(204); });
  });
  Dispatcher dispatcher(service);
  StillReactor reactor;
  FakeExchange exchange("GET", "/");
  exchange.on = &reactor;
  exchange.peer_ = {};
  exchange.serve(dispatcher);
  EXPECT_EQ(exchange.status, 503u);
  EXPECT_EQ(told->looks, 0);
}

TEST_F(SharedLimitTest, a_key_that_is_nobodys_passes_unasked_and_a_rate_is_passed_on) {
  options.key = [](const RequestView&, session::Exchange&) { return Text(); };
  EXPECT_EQ(server().get("/").status(), 200);
  EXPECT_EQ(told->looks, 0);
  limit().set_rate(3, 4);
  EXPECT_EQ(told->rate, 12);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
