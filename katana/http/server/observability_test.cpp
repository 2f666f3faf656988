// /metrics, /health and /ready as a scraper and an orchestrator see them: real sockets and threads.
#include "katana/http/server/observability.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <latch>
#include <map>
#include <string>
#include <thread>

#include "katana/http/server/client_test.hpp"
#include "katana/http/server/exposition_test.hpp"
#include "katana/http/server/http_server.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/observe/metrics/health.hpp"

namespace katana::server {
namespace {

// The sum of a metric's samples over all reactors, or of those that contain `label`.
double sum_of(const std::string& text, const std::string& name, const std::string& label = "") {
  double sum = 0;
  std::size_t found = 0;
  for (std::size_t at = text.find("\n" + name + "{"); at != std::string::npos;
       at = text.find("\n" + name + "{", at + 1)) {
    const std::string line = text.substr(at + 1, text.find('\n', at + 1) - at - 1);
    if (line.find(label) == std::string::npos) continue;
    sum += std::stod(line.substr(line.rfind(' ')));
    ++found;
  }
  EXPECT_GT(found, 0u) << name << " " << label << " is not in\n" << text;
  return sum;
}

class ObservabilityTest : public testing::Test {
 protected:
  ObservabilityTest() {
    options.port = 0;
    options.reactors = 2;
    options.reactor.engine.links_max = 64;
    observing.lag_interval = milliseconds(1);
    observing.scrape_patience = seconds(10);
    router.get("/hello", [] { return Reply::text("hello there"); });
    // The kernel chooses the reactor of a connection; this route tells it.
    router.get("/which", [] {
      return Reply::text(format_text("{}", static_cast<const void*>(net::Reactor::current())));
    });
  }

  template <class Clients>
  void serve(Clients clients) {
    auto made = Observability::make(observing);
    ASSERT_TRUE(made) << made.error().describe();
    observability = std::move(*made);
    if (prepare) prepare();
    observability->mount(router, guard);
    auto service = std::move(router).build();
    ASSERT_TRUE(service);
    options.observability = observability.get();
    HttpServer server(options, *service);
    ASSERT_TRUE(server.start());
    serve_clients(server, clients);
  }

  // Two connections that are served by different reactors.
  static std::pair<std::unique_ptr<Client>, std::unique_ptr<Client>> on_two_reactors(
      std::uint16_t port) {
    auto first = std::make_unique<Client>(port);
    const auto name = [](Client& connection) {
      const std::string reply = connection.ask("/which");
      return reply.substr(reply.find("\r\n\r\n") + 4);
    };
    const std::string of_first = name(*first);
    for (;;) {
      auto second = std::make_unique<Client>(port);
      if (name(*second) != of_first) return {std::move(first), std::move(second)};
    }
  }

  HttpServerOptions options;
  const OperationsGuard guard{{.addresses = {"127.0.0.1"}}};
  ObservabilityOptions observing;
  Router router;
  std::function<void()> prepare;
  std::unique_ptr<Observability> observability;
};

TEST_F(ObservabilityTest, a_scrape_tells_the_exact_figures_of_every_reactor) {
  std::atomic<bool> waits = false, release = false;
  router.get("/wait", [&]() -> Task<Reply> {
    waits = true;
    while (!release) co_await net::sleep_for(milliseconds(1));
    co_return Reply::text("done");
  });
  serve([&](std::uint16_t port) {
    const auto [first, second] = on_two_reactors(port);
    std::string text = first->ask("/metrics");
    const double before = sum_of(text, "katana_http_requests_total");
    for (int count = 0; count < 10; ++count) {
      first->ask("/hello");
      second->ask("/hello");
      second->ask("/hello");
    }
    Client waiting(port);
    waiting.send_get("/wait");
    while (!waits) std::this_thread::yield();
    text = second->ask("/metrics");
    EXPECT_EQ(sum_of(text, "katana_http_requests_total"), before + 32);  // and this scrape
    EXPECT_EQ(sum_of(text, "katana_reactor_answered"), 2);
    EXPECT_GE(sum_of(text, "katana_connections_open"), 3);
    EXPECT_GT(sum_of(text, "katana_sent_bytes_total"), 1000);
    EXPECT_GT(sum_of(text, "katana_memory_budget_bytes", "pool=\"output\""), 1e6);
    const double paused = sum_of(text, "katana_connections_paused", "reason=\"handler_pending\"");
    EXPECT_GE(paused, 1);  // the waiting one
    EXPECT_LE(paused, 2);  // and this scrape, if it had to wait for the other reactor
    release = true;
    EXPECT_TRUE(waiting.receive_reply().ends_with("done"));
    EXPECT_NE(text.find("\nprocess_open_fds "), std::string::npos);
  });
}

TEST_F(ObservabilityTest, the_accept_field_chooses_the_format) {
  serve([](std::uint16_t port) {
    Client client(port);
    const std::string plain = client.ask("/metrics");
    EXPECT_NE(plain.find("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"),
              std::string::npos);
    EXPECT_NE(plain.find("# TYPE katana_http_requests_total counter\n"), std::string::npos);
    EXPECT_EQ(plain.find("# EOF"), std::string::npos);
    const std::string open = client.ask(
        "/metrics", "Accept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5\r\n");
    EXPECT_NE(open.find("Content-Type: application/openmetrics-text; version=1.0.0; "),
              std::string::npos);
    EXPECT_NE(open.find("# TYPE katana_http_requests counter\n"), std::string::npos);
    EXPECT_NE(open.find("\n# EOF\n"), std::string::npos);
  });
}

TEST_F(ObservabilityTest, metrics_of_the_program_stand_beside_those_of_the_server) {
  prepare = [this] {
    auto orders = observability->registry().counters(
        {.name = "shop_orders", .help = "Orders.", .labels = {"kind"}});
    ASSERT_TRUE(orders);
    orders->with("gift").add(3);
    // The text needs more than one piece.
    for (int number = 0; number < 1500; ++number) orders->with("k" + std::to_string(number)).add(1);
  };
  serve([](std::uint16_t port) {
    Client client(port);
    const std::string text = client.ask("/metrics");
    EXPECT_EQ(sum_of(text, "shop_orders_total", "kind=\"gift\""), 3);
    EXPECT_NE(text.find("shop_orders_total{kind=\"k1499\"} 1\n"), std::string::npos);
  });
}

TEST_F(ObservabilityTest, a_reactor_that_is_stuck_does_not_hang_the_scrape_and_is_not_alive) {
  std::latch release(1);
  std::atomic<bool> stuck = false;
  observing.scrape_patience = milliseconds(20);
  observing.reactor_timeout = milliseconds(30);
  router.get("/block", [&] {
    stuck = true;
    release.wait();
    return Reply::text("at last");
  });
  serve([&](std::uint16_t port) {
    const auto [first, second] = on_two_reactors(port);
    first->send_get("/block");
    while (!stuck) std::this_thread::yield();
    EXPECT_EQ(sum_of(second->ask("/metrics"), "katana_reactor_answered"), 1);
    std::string health;
    do {  // the reply is the known result: not stuck before its time is over
      health = second->ask("/health");
    } while (health.starts_with("HTTP/1.1 200 "));
    EXPECT_TRUE(health.starts_with("HTTP/1.1 503 ")) << health;
    EXPECT_NE(health.find(R"("name":"reactors","kind":"liveness","status":"timeout")"),
              std::string::npos)
        << health;
    EXPECT_NE(health.find("1 of 2 do not answer"), std::string::npos) << health;
    release.count_down();
    EXPECT_TRUE(first->receive_reply().ends_with("at last"));
    while (!second->ask("/health").starts_with("HTTP/1.1 200 ")) std::this_thread::yield();
  });
}

TEST_F(ObservabilityTest, liveness_is_answered_in_the_turn_in_which_it_is_asked_for) {
  constexpr int requests = 200;
  serve([](std::uint16_t port) {
    const auto [first, second] = on_two_reactors(port);
    EXPECT_TRUE(first->ask("/health").starts_with("HTTP/1.1 200 "));
    const double before = sum_of(first->ask("/metrics"), "katana_reactor_turns_total");
    for (int count = 0; count < requests; ++count) first->ask("/health");
    const double after = sum_of(first->ask("/metrics"), "katana_reactor_turns_total");
    // A turn for each, and some for the scrapes and the ticks of two reactors.
    EXPECT_LT(after - before, requests * 2);
  });
}

TEST_F(ObservabilityTest, a_reactor_that_was_held_up_says_by_how_much) {
  std::atomic<std::int64_t> held_ns = 0;
  router.get("/slow", [&] {
    const auto begin = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(40)) {
    }
    held_ns = 40'000'000;
    return Reply::text("slow");
  });
  options.reactors = 1;
  serve([&](std::uint16_t port) {
    Client client(port);
    double late = 0;
    std::string text;
    // The tick is due within a millisecond: it is late by most of the 40.
    do {
      client.ask("/slow");
      text = client.ask("/metrics");
      late = sum_of(text, "katana_reactor_lag_seconds_count") -
             sum_of(text, "katana_reactor_lag_seconds_bucket", "le=\"0.016777215\"");
    } while (late == 0);
    EXPECT_GT(sum_of(text, "katana_reactor_lag_seconds_sum"), 0.016);
  });
}

TEST_F(ObservabilityTest, readiness_is_what_the_checks_say_and_liveness_does_not_mind) {
  std::atomic<bool> ready = false;
  prepare = [&] {
    ASSERT_TRUE(observability->checks().add({.name = "database",
                                             .kind = metrics::CheckKind::readiness,
                                             .run = [&](std::stop_token) -> Result<void> {
                                               if (ready) return {};
                                               return fail(Code::unavailable, "no connection");
                                             },
                                             .fresh_for = {}}));
  };
  serve([&](std::uint16_t port) {
    Client client(port);
    const std::string before = client.ask("/ready");
    EXPECT_TRUE(before.starts_with("HTTP/1.1 503 ")) << before;
    EXPECT_NE(before.find("Content-Type: application/json\r\n"), std::string::npos);
    EXPECT_NE(before.find(R"("name":"database","kind":"readiness","status":"fail")"),
              std::string::npos)
        << before;
    EXPECT_NE(before.find("no connection"), std::string::npos);
    EXPECT_TRUE(client.ask("/health").starts_with("HTTP/1.1 200 "));
    ready = true;
    EXPECT_TRUE(client.ask("/ready").starts_with("HTTP/1.1 200 "));
  });
}

TEST_F(ObservabilityTest, a_check_that_hangs_does_not_hang_the_endpoint) {
  std::latch release(1);
  prepare = [&] {
    ASSERT_TRUE(observability->checks().add({.name = "hangs",
                                             .kind = metrics::CheckKind::readiness,
                                             .run = [&](std::stop_token) -> Result<void> {
                                               release.wait();
                                               return {};
                                             },
                                             .timeout = milliseconds(20)}));
  };
  serve([&](std::uint16_t port) {
    Client waiting(port), other(port);
    waiting.send_get("/ready");
    EXPECT_TRUE(other.ask("/hello").ends_with("hello there"));
    const std::string reply = waiting.receive_reply();
    EXPECT_TRUE(reply.starts_with("HTTP/1.1 503 ")) << reply;
    EXPECT_NE(reply.find(R"("status":"timeout")"), std::string::npos) << reply;
  });
  release.count_down();
  observability.reset();
}

TEST_F(ObservabilityTest, a_draining_server_is_not_ready) {
  options.reactors = 1;
  options.http.drain_idle = seconds(20);
  serve([](std::uint16_t port) {
    Client client(port);
    EXPECT_TRUE(client.ask("/ready").starts_with("HTTP/1.1 200 "));
    ::kill(::getpid(), SIGTERM);
    std::string reply;
    do {
      reply = client.ask("/ready");
    } while (reply.starts_with("HTTP/1.1 200 "));
    EXPECT_TRUE(reply.starts_with("HTTP/1.1 503 ")) << reply;
    EXPECT_NE(reply.find("the server is draining"), std::string::npos) << reply;
  });
}

TEST_F(ObservabilityTest, the_last_figures_stay_when_the_server_is_gone) {
  serve([](std::uint16_t port) {
    Client client(port);
    for (int count = 0; count < 7; ++count) client.ask("/hello");
  });
  const std::string text = exposition_of(observability->registry());
  EXPECT_EQ(sum_of(text, "katana_http_requests_total"), 7);
  EXPECT_EQ(sum_of(text, "katana_connections_open"), 0);
}

}  // namespace
}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
