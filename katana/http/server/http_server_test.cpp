// A server as a program runs it: real sockets, signals, reactors in threads.
#include "katana/http/server/http_server.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "katana/http/handlers/router.hpp"
#include "katana/http/server/client_test.hpp"
#include "katana/http/server/engines.hpp"

namespace katana::server {
namespace {

class HttpServerTest : public testing::Test {
 protected:
  HttpServerTest() {
    options.port = 0;
    options.reactors = 1;
    options.drain_timeout = seconds(20);
    options.reactor.engine.links_max = 64;
    router.get("/hello", [] { return Reply::text("hello there"); });
    router.get("/throw", []() -> Reply { throw std::runtime_error("x"); });
  }
  // Runs `clients` beside a server on the routes, then ends it with `signals` SIGTERMs.
  template <class Clients>
  ServerReport serve(Clients clients, int signals = 1) {
    auto service = std::move(router).build();
    EXPECT_TRUE(service);
    HttpServer server(options, *service);
    const auto started = server.start();
    EXPECT_TRUE(started) << (started ? "" : started.error().describe());
    EXPECT_NE(server.port(), 0);
    return serve_clients(server, clients, signals);
  }

  HttpServerOptions options;
  Router router;
};

TEST_F(HttpServerTest, serves_until_a_signal_and_reports_what_it_did) {
  for (const EngineKind kind : engines()) {
    if (!choose_engine(engine_name(kind))) continue;  // forbidden here
    router = Router();
    router.get("/hello", [] { return Reply::text("hello there"); });
    router.get("/throw", []() -> Reply { throw std::runtime_error("x"); });
    options.engine = kind;
    const ServerReport report = serve([](std::uint16_t port) {
      Client first(port), second(port);
      for (int count = 0; count < 10; ++count) {
        EXPECT_TRUE(first.ask("/hello").starts_with("HTTP/1.1 200 OK\r\n"));
      }
      EXPECT_TRUE(second.ask("/throw").starts_with("HTTP/1.1 500 "));
    });
    EXPECT_EQ(report.requests, 11u);
    EXPECT_EQ(report.connections, 2u);
    EXPECT_EQ(report.failures, 1u);
    EXPECT_EQ(report.cut_off, 0u);
  }
}

TEST_F(HttpServerTest, no_reply_names_a_version) {
  for (const std::string& name : {options.http.server_name, std::string()}) {
    options.http.server_name = name;
    router = Router();
    router.get("/hello", [] { return Reply::text("hello there"); });
    router.get("/throw", []() -> Reply { throw std::runtime_error("x"); });
    serve([&](std::uint16_t port) {
      for (const char* const path : {"/hello", "/throw", "/nowhere", "/%zz"}) {
        const std::string reply = Client(port).ask(path);
        const std::size_t at = reply.find("\r\nServer: ");
        EXPECT_EQ(at == std::string::npos, name.empty()) << reply;
        if (!name.empty()) EXPECT_EQ(reply.substr(at + 10, name.size() + 2), name + "\r\n");
        EXPECT_EQ(reply.find("X-Powered-By"), std::string::npos);
      }
    });
  }
}

TEST_F(HttpServerTest, every_mistake_in_the_options_fails_the_start_by_its_name) {
  options.http.server_name = "kat\nana";
  options.http.strict_transport_security = std::string(200, 'x');
  options.http.limits.head_bytes_max = 1 << 20;
  options.http.limits.fields_max = 1'000;
  options.http.limits.idle_timeout = {};
  options.http.http2.limits.streams_max = 0;
  options.http.http2.limits.idle_frames_max = 1;
  options.http.websocket.deflate.enabled = true;
  options.http.websocket.deflate.window_bits = 8;
  options.reactor.output_blocks_reserve = options.reactor.output_blocks_max;
  options.reactor.outbox_low_bytes = options.reactor.outbox_high_bytes + 1;
  options.reactor.rate_min_bytes_per_s = 0;
  options.reactor.openings_per_turn_max = 0;
  const auto service = std::move(router).build();
  ASSERT_TRUE(service);
  HttpServer server(options, *service);
  const auto started = server.start();
  ASSERT_FALSE(started);
  const std::string text = started.error().describe();
  for (const char* const each :
       {"http.server_name is no value that a field can have: leave out control characters",
        "http.strict_transport_security is 200 bytes long: give at most 128",
        "http.limits.head_bytes_max is 1048576: give 5 to 65533",
        "http.limits.fields_max is 1000: give 1 to 128", "http.limits.idle_timeout is 0 ns",
        "http.http2.limits.streams_max is 0", "http.http2.limits.idle_frames_max is 1",
        "http.websocket.deflate.window_bits is 8: give 9 to 15",
        "reactor.output_blocks_reserve is 65536: give at most half of output_blocks_max",
        "reactor.outbox_low_bytes is 65537", "reactor.rate_min_bytes_per_s is 0",
        "reactor.openings_per_turn_max is 0"}) {
    EXPECT_NE(text.find(each), std::string::npos) << each << "\n" << text;
  }
  EXPECT_THROW((void)server.run(), std::logic_error);
}

TEST_F(HttpServerTest, several_reactors_share_a_port_and_their_counts_are_added_up) {
  options.reactors = 3;
  const ServerReport report = serve([](std::uint16_t port) {
    std::vector<std::thread> threads;
    for (int number = 0; number < 8; ++number) {
      threads.emplace_back([port] {
        for (int connection = 0; connection < 5; ++connection) {
          Client client(port);
          for (int count = 0; count < 5; ++count) {
            EXPECT_TRUE(client.ask("/hello").ends_with("hello there"));
          }
        }
      });
    }
    for (std::thread& each : threads) each.join();
  });
  EXPECT_EQ(report.connections, 40u);
  EXPECT_EQ(report.requests, 200u);
  EXPECT_EQ(report.cut_off, 0u);
}

TEST_F(HttpServerTest, an_idle_connection_is_closed_when_it_drains_and_does_not_hold_up_the_end) {
  options.http.drain_idle = milliseconds(20);
  options.drain_timeout = seconds(3600);
  std::atomic<bool> served = false, closed = false;
  std::thread idle;
  const ServerReport report = serve([&](std::uint16_t port) {
    idle = std::thread([&, port] {
      Client client(port);
      client.ask("/hello");
      served = true;
      EXPECT_EQ(client.receive_until(""), "");
      closed = true;
    });
    while (!served) std::this_thread::yield();
  });
  idle.join();
  EXPECT_TRUE(closed);
  EXPECT_EQ(report.cut_off, 0u);
}

struct Stuck {
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<>) const noexcept {}
  void await_resume() const noexcept {}
};

TEST_F(HttpServerTest, a_second_signal_ends_it_at_once_and_counts_what_was_cut_off) {
  std::atomic<int> begun = 0;
  router.get("/stuck", [&]() -> Task<Reply> {
    ++begun;
    co_await Stuck();
    co_return Reply();
  });
  options.drain_timeout = seconds(3600);
  options.reactors = 2;
  std::vector<std::thread> waiting;
  const ServerReport report = serve(
      [&](std::uint16_t port) {
        for (int count = 0; count < 4; ++count) {
          waiting.emplace_back([port] { Client(port).ask("/stuck"); });
        }
        while (begun < 4) std::this_thread::yield();
      },
      2);
  for (std::thread& each : waiting) each.join();
  EXPECT_EQ(report.cut_off, 4u);
}

TEST_F(HttpServerTest, a_request_in_flight_is_finished_after_the_signal) {
  std::atomic<bool> begun = false;
  std::string reply;
  router.post("/slow", [&](ContentReader content, ReplyWriter writer) -> Task<void> {
    begun = true;
    std::size_t bytes = 0;
    for (Text piece = co_await content.read(); !piece.empty(); piece = co_await content.read()) {
      bytes += piece.size();
    }
    writer.begin(200, "text/plain");
    const Text text = format_text("{} bytes!", bytes);
    co_await writer.write(text.bytes());
  });
  std::thread uploading;
  std::atomic<bool> ending = false;
  const ServerReport report = serve(
      [&](std::uint16_t port) {
        uploading = std::thread([&, port] {
          Client client(port);
          client.send("POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345");
          while (!ending) std::this_thread::yield();
          client.send("67890");
          reply = client.receive_until("");
        });
        while (!begun) std::this_thread::yield();
        terminate();
        ending = true;
      },
      0);
  uploading.join();
  EXPECT_NE(reply.find("10 bytes!"), std::string::npos) << reply;
  EXPECT_EQ(report.cut_off, 0u);
}

TEST_F(HttpServerTest, a_port_in_use_is_an_error_that_names_it) {
  auto service = std::move(router).build();
  ASSERT_TRUE(service);
  HttpServer first(options, *service);
  ASSERT_TRUE(first.start());
  options.port = first.port();
  HttpServer second(options, *service);
  const auto started = second.start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code(), Code::already_exists);
  EXPECT_NE(started.error().describe().find(std::to_string(first.port())), std::string::npos);
}

TEST_F(HttpServerTest, says_where_it_is_and_what_it_may_cost) {
  options.reactors = 2;
  auto service = std::move(router).build();
  ASSERT_TRUE(service);
  HttpServer server(options, *service);
  ASSERT_TRUE(server.start());
  EXPECT_EQ(server.url(), "http://127.0.0.1:" + std::to_string(server.port()));
  EXPECT_EQ(server.reactor_count(), 2u);
  EXPECT_GT(server.memory_budget().output, 0u);
  options.address = "::1";
  options.port = 80;
  EXPECT_EQ(HttpServer(options, *service).url(), "http://[::1]:0");  // not started yet
}

TEST(DescriptorLimit, is_raised_to_what_is_allowed) {
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit low = before;
  low.rlim_cur = std::min<rlim_t>(before.rlim_max, 256);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  raise_descriptor_limit();
  rlimit after;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &after), 0);
  EXPECT_EQ(after.rlim_cur, before.rlim_max);
  setrlimit(RLIMIT_NOFILE, &before);
}

TEST(ServerReport, a_report_names_what_was_served_and_else_only_what_is_not_zero) {
  EXPECT_EQ((ServerReport{.connections = 1, .requests = 1}).describe(),
            "stopped after 1 request on 1 connection");
  EXPECT_EQ((ServerReport{.connections = 4,
                          .requests = 13,
                          .cut_off = 2,
                          .failures = 1,
                          .tasks_cancelled = 3,
                          .stuck = "reactor 0 did not end"})
                .describe(),
            "stopped after 13 requests on 4 connections, 2 connections cut off, 1 failure, 3 tasks "
            "cancelled; reactor 0 did not end");
}

}  // namespace
}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
