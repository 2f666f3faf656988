// Heap allocations of a request, through the whole stack: none, once it is warm.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "katana/base/system/heap_calls_test.hpp"
#include "katana/http/handlers/dispatcher.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/http/session/http1_protocol.hpp"
#include "katana/net/reactor/reactor_on.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "tests/simulation/direct_engine.hpp"

namespace katana::simulation {
namespace {

Reply plain(const RequestView& request) {
  return Reply::text(format_text("{} octets for {}", request.content().size(), request.target()));
}
Task<Reply> ready(Path<std::uint64_t> n) { co_return Reply::text(format_text("ready {}", *n)); }
Task<Reply> owned(Request request) {
  co_return Reply::text(format_text("owned {}", request.target()));
}
Task<Reply> inner(std::int64_t ms) {
  co_await net::sleep_for(milliseconds(ms));
  co_return Reply::text(format_text("slept {} ms", ms));
}
Task<Reply> sleeping(Path<std::int64_t> ms) { co_return co_await inner(*ms); }
Task<Reply> sleeping_owned(Request request, Path<std::int64_t> ms) {
  co_await net::sleep_for(milliseconds(*ms));
  co_return Reply::text(format_text("owned {} {}", request.target(), request.content()));
}
Task<void> streaming(Request, ContentReader content, ReplyWriter reply) {
  reply.begin(200, "text/plain");
  while (true) {
    const Text piece = co_await content.read();
    if (piece.empty()) break;
    co_await reply.write(piece.bytes());
  }
}

Service make_service() {
  Router router;
  router.get("/", [] { return Reply::text("Hello, World!"); })
      .get("/plain", plain)
      .post("/plain", plain)
      .get("/field", [] { return Reply::text("f").with("X-Field", "value"); })
      .get("/wasteful", [] { return Reply::text(Text(std::string(100, 'w'))); })
      .get("/ready/{n}", ready)
      .get("/owned", owned)
      .get("/sleep/{ms}", sleeping)
      .post("/sleep-owned/{ms}", sleeping_owned)
      .post("/stream", streaming);
  return *std::move(router).build();
}

class Allocations : public HeapCallsTest {
 protected:
  Allocations() {
    EXPECT_TRUE(reactor_.start());
    EXPECT_TRUE(reactor_.listen({}, protocol_));
    reactor_.turn(Duration{});
  }

  static net::ReactorOptions options() {
    net::ReactorOptions options;
    options.engine.links_max = 1;
    return options;
  }

  // One round of requests: their bytes in `cuts` deliveries, and time for the handlers.
  void round(Bytes requests, std::size_t cuts) {
    wire_->octets = 0;
    const std::size_t size = requests.size() / cuts + 1;
    for (std::size_t at = 0; at < requests.size(); at += size) {
      wire_->input = requests.substr(at, size);
      reactor_.turn(Duration{});
    }
    for (int turns = 0; turns < 20; ++turns) reactor_.turn(milliseconds(1));
  }

  // Heap calls of a thousand rounds, after a few that warm up. Each has to have `replies`.
  std::uint64_t calls(const std::string& requests, std::size_t replies, std::size_t cuts = 1) {
    for (int count = 0; count < 10; ++count) round(requests, cuts);
    std::size_t found = 0;
    for (std::size_t at = 0; (at = wire_->sent().find("HTTP/1.1 200 ", at)) != Bytes::npos; ++at) {
      ++found;
    }
    EXPECT_EQ(found, replies) << wire_->sent();
    const std::uint64_t before = heap_calls();
    for (int count = 0; count < 1'000; ++count) round(requests, cuts);
    return heap_calls() - before;
  }

  static std::string request(const char* method, const char* target, const char* rest = "\r\n") {
    return std::string(method) + " " + target + " HTTP/1.1\r\nHost: allocations\r\n" + rest;
  }

  std::unique_ptr<Wire> wire_ = std::make_unique<Wire>();
  Service service_ = make_service();
  Dispatcher dispatcher_{service_};
  session::Http1Protocol protocol_{{}, dispatcher_};
  net::ReactorOn<DirectEngine> reactor_{options(), protocol_.session_bytes(), *wire_};
};

TEST_F(Allocations, a_plain_handler_makes_none) {
  EXPECT_EQ(calls(request("GET", "/"), 1), 0u);
  EXPECT_EQ(calls(request("GET", "/plain?x=1"), 1), 0u);
  EXPECT_EQ(calls(request("GET", "/field"), 1), 0u);
}

TEST_F(Allocations, pipelined_requests_make_none) {
  std::string requests;
  for (int count = 0; count < 64; ++count) requests += request("GET", "/plain");
  EXPECT_EQ(calls(requests, 64), 0u);
}

TEST_F(Allocations, a_head_in_pieces_makes_none) {
  EXPECT_EQ(calls(request("GET", "/plain"), 1, 7), 0u);
}

TEST_F(Allocations, content_that_is_collected_makes_none) {
  const std::string post =
      request("POST", "/plain", "Content-Length: 20\r\n\r\n01234567890123456789");
  EXPECT_EQ(calls(post, 1), 0u);
  EXPECT_EQ(calls(post, 1, 5), 0u);
}

TEST_F(Allocations, a_coroutine_that_does_not_suspend_makes_none) {
  EXPECT_EQ(calls(request("GET", "/ready/7"), 1), 0u);
  EXPECT_EQ(calls(request("GET", "/owned"), 1), 0u);
}

TEST_F(Allocations, a_coroutine_that_suspends_makes_none_when_warm) {
  EXPECT_EQ(calls(request("GET", "/sleep/3"), 1), 0u);
  EXPECT_EQ(calls(request("POST", "/sleep-owned/3", "Content-Length: 5\r\n\r\nhello"), 1, 3), 0u);
}

TEST_F(Allocations, coroutines_in_a_pipeline_make_none_when_warm) {
  std::string requests;
  for (int count = 0; count < 8; ++count) requests += request("GET", "/sleep/2");
  EXPECT_EQ(calls(requests, 8), 0u);
}

TEST_F(Allocations, a_stream_both_ways_makes_none_when_warm) {
  const std::string post = request("POST", "/stream",
                                   "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3\r\nyou\r\n"
                                   "0\r\n\r\n");
  EXPECT_EQ(calls(post, 1, 4), 0u);
}

TEST_F(Allocations, a_handler_that_makes_one_is_found_out) {
  EXPECT_EQ(calls(request("GET", "/wasteful"), 1), 1'000u);
}

}  // namespace
}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
