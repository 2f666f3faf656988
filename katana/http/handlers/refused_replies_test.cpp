// A reply that the session makes instead of a handler passes the `after` of its route, over
// HTTP/1.1 and HTTP/2. The cause of a handler's failure is recorded, also when an `after` changes
// the reply.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "katana/http/handlers/router.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/testing/test_server.hpp"

namespace katana {
namespace {

using ::testing::HasSubstr;
using testing::TestProtocol;
using testing::TestReply;
using testing::TestServer;

class RefusedReplies : public ::testing::TestWithParam<TestProtocol> {
 protected:
  static Middleware signs() {
    Middleware middleware;
    middleware.after = [](const RequestView& request, Reply& reply) {
      reply.add_field("X-Path", request.path());
    };
    return middleware;
  }
  testing::TestOptions options() const {
    testing::TestOptions options;
    options.protocol = GetParam();
    options.http.http2.enabled = GetParam() == TestProtocol::http2;
    return options;
  }
  static void expect(const TestReply& reply, unsigned status, std::string_view path) {
    EXPECT_EQ(reply.status(), status) << reply;
    EXPECT_EQ(reply.header("x-path"), path) << reply;
  }
};

INSTANTIATE_TEST_SUITE_P(Protocols, RefusedReplies,
                         ::testing::Values(TestProtocol::http1, TestProtocol::http2));

TEST_P(RefusedReplies, content_beyond_the_limit_of_its_route_is_a_reply_of_the_route) {
  Router router;
  router.use(signs());
  router.post("/plain", [](const RequestView&) { return Reply(204); }, {.content_bytes_max = 10});
  router.post("/later/{name}", [](Request) -> Task<Reply> { co_return Reply(204); },
              {.content_bytes_max = 10});
  TestServer server(std::move(router).build(), options());
  const std::string large(1000, 'x');
  expect(server.post("/plain", large), 413, "/plain");
  expect(server.post("/later/a%41?x=1", large), 413, "/later/aA");
}

TEST_P(RefusedReplies, content_beyond_the_limit_of_its_route_is_told_the_limit) {
  Router router;
  const auto handler = [](const RequestView&) { return Reply(204); };
  router.post("/bytes", handler, {.content_bytes_max = 10});
  router.post("/kibibytes", handler, {.content_bytes_max = 2048});
  router.post("/ordinary", handler);
  TestServer server(std::move(router).build(), options());
  const std::string large(2 * 1024 * 1024, 'x');
  const auto detail = [&](std::string_view path) {
    return std::string(server.post(path, large).content());
  };
  EXPECT_THAT(detail("/bytes"), HasSubstr("too large for this route: at most 10 bytes."));
  EXPECT_THAT(detail("/kibibytes"), HasSubstr("at most 2 KiB."));
  EXPECT_THAT(detail("/ordinary"), HasSubstr("at most 1 MiB."));
}

TEST_P(RefusedReplies, content_that_turns_out_to_be_too_large_is_a_reply_of_its_route) {
  Router router;
  router.use(signs());
  router.post("/plain", [](const RequestView&) { return Reply(204); }, {.content_bytes_max = 10});
  TestServer server(std::move(router).build(), options());
  auto pending = server.begin_pieces("POST", "/plain");
  pending.send_some("1234567");
  pending.send_some("1234567");
  expect(pending.reply(), 413, "/plain");
}

TEST_P(RefusedReplies, a_handler_that_is_late_is_a_reply_of_its_route) {
  int ended = 0;
  Router router;
  router.use(signs());
  const auto late = [&ended](Request) -> Task<Reply> {
    struct Counts {
      int& of;
      ~Counts() { ++of; }
    };
    const Counts counts{ended};
    co_await net::sleep_for(seconds(60));
    co_return Reply(204);
  };
  router.get("/late", late, {.timeout = seconds(2)});
  TestServer server(std::move(router).build(), options());
  expect(server.get("/late"), 503, "/late");
  EXPECT_EQ(ended, 1);
}

TEST_P(RefusedReplies, a_stream_that_never_begins_is_a_reply_of_its_route) {
  Router router;
  router.use(signs());
  router.post("/stream",
              [](Request, ContentReader, ReplyWriter) -> Task<void> {
                co_await net::sleep_for(seconds(60));
              },
              {.timeout = seconds(2)});
  TestServer server(std::move(router).build(), options());
  expect(server.post("/stream", "x"), 503, "/stream");
}

TEST_P(RefusedReplies, middleware_that_is_late_is_a_reply_of_its_route) {
  Router router;
  router.use(signs());
  router.use([](Request) -> Task<void> { co_await net::sleep_for(seconds(60)); });
  router.get("/page", [] { return Reply(204); }, {.timeout = seconds(2)});
  TestServer server(std::move(router).build(), options());
  expect(server.get("/page"), 503, "/page");
}

TEST_P(RefusedReplies, an_after_may_make_a_stream_of_a_refusal) {
  Router router;
  router.use({.after = [](const RequestView&, Reply& reply) {
    if (reply.status() != 503) return;
    reply =
        Reply::stream("text/plain", http::unknown_length, [left = 200](ContentSink& sink) mutable {
          while (left > 0 && sink.write(std::string(1000, 'x'))) --left;
          return left == 0;
        });
    reply.set_status(503);
  }});
  router.get("/late",
             [](Request) -> Task<Reply> {
               co_await net::sleep_for(seconds(60));
               co_return Reply(204);
             },
             {.timeout = seconds(2)});
  TestServer server(std::move(router).build(), options());
  const TestReply reply = server.get("/late");
  EXPECT_EQ(reply.status(), 503u) << reply;
  EXPECT_EQ(reply.content().size(), 200'000u);
}

TEST_P(RefusedReplies, a_route_without_middleware_is_refused_as_ever) {
  Router router;
  router.get("/late", [](Request) -> Task<Reply> {
    co_await net::sleep_for(seconds(60));
    co_return Reply(204);
  });
  TestServer server(std::move(router).build(), options());
  EXPECT_EQ(server.get("/late").status(), 503u);
}

TEST_P(RefusedReplies, what_no_route_serves_passes_the_middleware_of_the_router) {
  Router router;
  router.use(signs());
  router.post("/plain", [](const RequestView&) { return Reply(204); });
  TestServer server(std::move(router).build(), options());
  expect(server.get("/nowhere"), 404, "/nowhere");
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
