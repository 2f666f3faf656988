// RequestTelemetry on a real server: names in replies and records, series by route, slow requests.
#include "katana/http/server/request_telemetry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <latch>
#include <string>
#include <thread>

#include "katana/base/thread/pool.hpp"
#include "katana/http/events/events.hpp"
#include "katana/http/handlers/websocket.hpp"
#include "katana/http/server/client_test.hpp"
#include "katana/http/server/exposition_test.hpp"
#include "katana/http/server/http_server.hpp"
#include "katana/http/server/kept_log_test.hpp"
#include "katana/net/reactor/sleep.hpp"

namespace katana::app {
namespace {

using namespace std::string_literals;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

constexpr const char* trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

class RequestTelemetryTest : public testing::Test {
 protected:
  RequestTelemetryTest() {
    options.access = kept.logger("access");
    options.slow = kept.logger("slow");
    options.metrics = &registry;
    router.get("/hello/{name}", [](Path<std::string> name) { return Reply::text(Text(*name)); });
    router.get("/id", [] { return Reply::text(Text(server::current_request_id())); });
  }

  template <class Clients>
  void serve(Clients clients) {
    auto service = std::move(router).build();
    ASSERT_TRUE(service) << service.error().describe();
    server::RequestTelemetry telemetry(options);
    ASSERT_TRUE(telemetry.prepare(*service));
    server::HttpServerOptions of_server;
    of_server.port = 0;
    of_server.reactors = 1;
    of_server.reactor.engine.links_max = 64;
    of_server.http.observer = &telemetry;
    of_server.http.trusted_proxies = proxies;
    of_server.failure_logger = kept.logger("failures");
    server::HttpServer server(of_server, *service);
    // After the server, which blocks the signals that are meant for it.
    thread::PoolOptions of_pool;
    of_pool.threads_min = 2;
    pool = *thread::Pool::create(of_pool);
    ASSERT_TRUE(server.start());
    server::serve_clients(server, clients);
  }
  std::string metrics() { return server::exposition_of(registry); }

  server::KeptLog kept;
  metrics::Registry registry;
  server::RequestTelemetryOptions options;
  std::vector<Network> proxies;
  std::unique_ptr<thread::Pool> pool;
  Router router;
};

TEST_F(RequestTelemetryTest, an_id_is_accepted_or_made_and_returned_with_every_reply) {
  serve([](std::uint16_t port) {
    server::Client client(port);
    EXPECT_THAT(client.ask("/id", "X-Request-Id: order-7\r\n"),
                testing::AllOf(HasSubstr("\r\nX-Request-Id: order-7\r\n"),
                               testing::EndsWith("\r\n\r\norder-7")));
    constexpr const char* made = "\r\nX-Request-Id: [0-9a-f]+\r\n";
    EXPECT_THAT(client.ask("/nowhere"), ContainsRegex(made));
    EXPECT_THAT(client.ask("/id", "X-Request-Id: a b\r\n"), ContainsRegex(made));
    EXPECT_THAT(client.ask("/id", "X-Request-Id: a\r\nX-Request-Id: b\r\n"), ContainsRegex(made));
    client.send("GET /\tHTTP/9 nonsense\r\n\r\n");
    EXPECT_THAT(client.receive_until(""), ContainsRegex(made));
  });
  EXPECT_EQ(kept.lines({"\"request_id\":\"order-7\"", "GET /id", "\"route\":\"/id\""}).size(), 1u);
  EXPECT_EQ(kept.lines({"\"request_id\":\""}).size(), 5u);
}

TEST_F(RequestTelemetryTest, ids_and_traces_are_accepted_from_whom_the_options_say) {
  const auto line = std::string("X-Request-Id: order-7\r\ntraceparent: ") + trace + "\r\n";
  const auto ask = [&line](std::uint16_t port) {
    server::Client client(port);
    client.ask("/id", line);
  };
  options.trust_ids = server::RequestIdTrust::proxies;
  proxies = {*Network::parse("10.0.0.0/8")};
  serve(ask);
  EXPECT_EQ(kept.lines({"order-7"}).size(), 0u) << "127.0.0.1 is no proxy";
  EXPECT_EQ(kept.lines({"trace_id"}).size(), 0u);
}

TEST_F(RequestTelemetryTest, where_proxies_are_trusted_nobody_elses_id_is_accepted) {
  proxies = {*Network::parse("10.0.0.0/8")};
  serve([](std::uint16_t port) {
    server::Client client(port);
    client.ask("/id", "X-Request-Id: order-7\r\n");
  });
  EXPECT_EQ(kept.lines({"order-7"}).size(), 0u);
}

TEST_F(RequestTelemetryTest, of_a_trusted_proxy_an_id_is_accepted) {
  options.trust_ids = server::RequestIdTrust::proxies;
  proxies = {*Network::parse("127.0.0.0/8")};
  serve([](std::uint16_t port) {
    server::Client client(port);
    client.ask("/id", "X-Request-Id: order-7\r\n");
  });
  EXPECT_EQ(kept.lines({"\"request_id\":\"order-7\"", "GET /id"}).size(), 1u);
}

TEST_F(RequestTelemetryTest, of_nobody_an_id_is_accepted_when_the_options_say_never) {
  options.trust_ids = server::RequestIdTrust::never;
  proxies = {*Network::parse("127.0.0.0/8")};
  serve([](std::uint16_t port) {
    server::Client client(port);
    client.ask("/id", "X-Request-Id: order-7\r\n");
  });
  EXPECT_EQ(kept.lines({"order-7"}).size(), 0u);
}

TEST_F(RequestTelemetryTest, a_trace_that_is_valid_is_logged_and_another_is_not) {
  serve([](std::uint16_t port) {
    server::Client client(port);
    client.ask("/hello/a", std::string("traceparent: ") + trace + "\r\n");
    client.ask("/hello/b", "traceparent: 00-zz\r\n");
    const std::string line = std::string("traceparent: ") + trace + "\r\n";
    client.ask("/hello/c", line + line);
  });
  EXPECT_EQ(kept.lines({"GET /hello/a", "\"trace_id\":\"0af7651916cd43dd8448eb211c80319c\"",
                        "\"parent_id\":\"b7ad6b7169203331\""})
                .size(),
            1u);
  EXPECT_EQ(kept.lines({"trace_id"}).size(), 1u);
}

// The failure comes long after the request: only its id distinguishes connections of one route.
TEST_F(RequestTelemetryTest, a_websocket_that_fails_is_recorded_with_the_ids_of_its_upgrade) {
  router.websocket("/echo", {.on_message = [](WebSocket&, Bytes payload, MessageKind) {
                     throw std::runtime_error(std::string(payload));
                   }});
  const auto failed_with = [this](const char* text) {
    while (kept.lines({"the WebSocket handler threw", text}).empty()) std::this_thread::yield();
  };
  serve([&](std::uint16_t port) {
    const auto open = [port](std::string_view fields) {
      auto client = std::make_unique<server::Client>(port);
      client->send_get("/echo",
                       "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                       "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
                           std::string(fields));
      client->receive_until("\r\n\r\n");
      return client;
    };
    const auto first = open(std::string("X-Request-Id: order-7\r\ntraceparent: ") + trace + "\r\n");
    const auto second = open("X-Request-Id: order-8\r\n");
    second->send("\x81\x83\0\0\0\0two"s);
    failed_with("runtime_error: two");
    first->send("\x81\x83\0\0\0\0one"s);
    failed_with("runtime_error: one");
  });
  EXPECT_EQ(
      kept.lines({"the WebSocket handler threw: std::runtime_error: one",
                  "\"request_id\":\"order-7\"", "\"trace_id\":\"0af7651916cd43dd8448eb211c80319c\"",
                  "\"place\":\"GET /echo\""})
          .size(),
      1u)
      << kept.text();
  EXPECT_EQ(kept.lines({"the WebSocket handler threw: std::runtime_error: two",
                        "\"request_id\":\"order-8\""})
                .size(),
            1u);
}

// Each job waits until the other request is under way, too, so both are suspended at once.
TEST_F(RequestTelemetryTest, records_after_a_co_await_carry_the_ids_of_their_own_request) {
  const log::Logger logger = kept.logger("handler");
  std::latch both(2);
  router.get("/job/{name}", [&](Path<std::string> name) -> Task<Reply> {
    logger.info("begin {}", *name);
    auto job = [&both] {
      both.arrive_and_wait();
      return 7;
    };
    const Result<int> found = co_await pool->run(job);
    logger.info("found {} {}", found.value_or(0), *name);
    co_await net::sleep_for(milliseconds(2));
    logger.info("end {}", *name);
    co_return Reply::text(format_text("{} {}", found.value_or(0), server::current_request_id()));
  });
  serve([](std::uint16_t port) {
    server::Client one(port), other(port);
    one.send_get("/job/one", "X-Request-Id: id-one\r\n");
    other.send_get("/job/other", "X-Request-Id: id-other\r\n");
    EXPECT_TRUE(one.receive_reply().ends_with("\r\n\r\n7 id-one"));
    EXPECT_TRUE(other.receive_reply().ends_with("\r\n\r\n7 id-other"));
  });
  for (const char* step : {"begin", "found 7", "end"}) {
    for (const char* name : {"one", "other"}) {
      const std::string record = std::string(step) + " " + name + "\"";
      const std::string id = "\"request_id\":\"id-" + std::string(name) + "\"";
      EXPECT_EQ(kept.lines({record.c_str(), id.c_str()}).size(), 1u) << kept.text();
    }
  }
}

TEST_F(RequestTelemetryTest, series_are_by_route_never_by_path_and_one_for_what_no_route_serves) {
  serve([](std::uint16_t port) {
    server::Client client(port);
    client.ask("/hello/ada");
    client.ask("/hello/grace");
    client.ask("/secret-path-1");
    client.ask("/secret-path-2");
  });
  const std::string told = metrics();
  EXPECT_THAT(told, HasSubstr("katana_http_route_requests_total{method=\"GET\",route=\"/hello/"
                              "{name}\",status=\"2xx\"} 2\n"));
  EXPECT_THAT(told, HasSubstr("katana_http_route_requests_total{method=\"_any\",route=\"_unmatched"
                              "\",status=\"4xx\"} 2\n"));
  EXPECT_THAT(told, HasSubstr("katana_http_route_duration_seconds_count{method=\"GET\",route=\"/"
                              "hello/{name}\"} 2\n"));
  EXPECT_THAT(told, Not(HasSubstr("secret-path")));
  EXPECT_THAT(told, Not(HasSubstr("ada")));
}

void spin(std::chrono::microseconds duration) {
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < duration) {
  }
}

TEST_F(RequestTelemetryTest, what_a_handler_takes_within_one_turn_is_measured_and_may_be_slow) {
  options.slow_after = microseconds(2'000);
  router.get("/slow", [] {
    spin(std::chrono::microseconds(3'000));
    return Reply::text("at last");
  });
  serve([](std::uint16_t port) { server::Client(port).ask("/slow?a=1"); });
  const auto lines = kept.lines({"slow: GET /slow?a=1", "\"route\":\"/slow\"", "request_id"});
  ASSERT_EQ(lines.size(), 1u) << kept.text();
  const std::size_t at = lines[0].find("\"duration_us\":") + 14;
  EXPECT_GE(std::stol(lines[0].substr(at)), 3'000);
  EXPECT_THAT(lines[0], HasSubstr("\"slow_after_us\":2000"));
}

TEST_F(RequestTelemetryTest, a_scraper_is_told_so_many_buckets_of_each_route) {
  options.duration_buckets = {milliseconds(1), milliseconds(100), seconds(2)};
  serve([](std::uint16_t port) { server::Client(port).ask("/hello/ada"); });
  const std::string told = metrics();
  const std::string series =
      "katana_http_route_duration_seconds_bucket{method=\"GET\",route=\"/id\"";
  std::size_t lines = 0;
  for (std::size_t at = told.find(series); at != std::string::npos;
       at = told.find(series, at + 1)) {
    ++lines;
  }
  EXPECT_EQ(lines, 4u) << told;  // and +Inf
}

TEST_F(RequestTelemetryTest, a_stream_of_events_is_no_slow_request_and_has_a_series_of_its_own) {
  EventTopic topic({.heartbeat = seconds(60)});
  options.slow_after = microseconds(1);
  router.get("/events", [&topic](const RequestView& request) { return topic.subscribe(request); });
  serve([this](std::uint16_t port) {
    server::Client client(port);
    client.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    while (!metrics().contains("katana_http_events_open 1\n")) std::this_thread::yield();
  });
  const std::string told = metrics();
  EXPECT_EQ(kept.lines({"slow:"}).size(), 0u) << kept.text();
  EXPECT_EQ(kept.lines({"GET /events", "\"kind\":\"events\""}).size(), 1u) << kept.text();
  EXPECT_THAT(told, HasSubstr("katana_http_events_open 0\n"));
  EXPECT_THAT(told, HasSubstr("katana_http_events_duration_seconds_count 1\n"));
  EXPECT_THAT(told, HasSubstr("katana_http_route_duration_seconds_count{method=\"GET\",route=\"/"
                              "events\"} 0\n"));
}

TEST_F(RequestTelemetryTest, a_websocket_is_no_slow_request_and_its_duration_is_told_at_its_end) {
  constexpr const char* over = "katana_websocket_duration_seconds_count 1\n";
  options.slow_after = seconds(30);
  router.websocket("/echo", {});
  serve([&](std::uint16_t port) {
    server::Client client(port);
    client.send_get("/echo",
                    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n");
    EXPECT_THAT(client.receive_until("\r\n\r\n"), HasSubstr(" 101 "));
    EXPECT_THAT(metrics(), HasSubstr("katana_websocket_duration_seconds_count 0\n"));
  });
  const std::string told = metrics();
  EXPECT_EQ(kept.lines({"slow:"}).size(), 0u) << kept.text();
  EXPECT_THAT(told, HasSubstr(over));
  EXPECT_THAT(told, HasSubstr("katana_http_route_duration_seconds_count{method=\"GET\",route=\"/"
                              "echo\"} 0\n"));
}

TEST_F(RequestTelemetryTest, what_is_off_is_not_there) {
  options = {.ids = false};
  serve([](std::uint16_t port) {
    EXPECT_THAT(server::Client(port).ask("/hello/x", "X-Request-Id: a\r\n"),
                Not(HasSubstr("Request-Id")));
  });
  EXPECT_EQ(kept.text(), "");
  EXPECT_THAT(metrics(), Not(HasSubstr("katana_http_route")));
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
