// Rules of replies that hold whatever a handler returns, by both protocols.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "katana/http/handlers/router.hpp"
#include "katana/http/handlers/streaming.hpp"
#include "katana/testing/test_server.hpp"

namespace katana::testing {
namespace {

class ReplyRules : public ::testing::TestWithParam<TestProtocol> {
 protected:
  static Result<Service> make_service() {
    Router router;
    router.get("/text", [] {
      Reply reply = Reply::text("some content");
      reply.set_status(205);
      return reply;
    });
    router.get("/large", [] {
      Reply reply = Reply::text(std::string(200'000, 'x'));
      reply.set_status(205);
      return reply;
    });
    router.get("/stream", [] {
      Reply reply = Reply::stream("text/plain", http::unknown_length,
                                  [](ContentSink& sink) { return sink.write("some content"); });
      reply.set_status(205);
      return reply;
    });
    router.get("/measured", [] {
      Reply reply = Reply::stream("text/plain", 12,
                                  [](ContentSink& sink) { return sink.write("some content"); });
      reply.set_status(205);
      return reply;
    });
    router.get("/pieces", [](ReplyWriter reply) -> Task<void> {
      reply.begin(205, "text/plain");
      co_await reply.write("some content");
    });
    router.get("/after", [] { return Reply::text("the next reply"); });
    return std::move(router).build();
  }
  static TestOptions options() {
    TestOptions made;
    made.protocol = GetParam();
    return made;
  }
  TestServer server_{make_service(), options()};
};
INSTANTIATE_TEST_SUITE_P(Protocols, ReplyRules,
                         ::testing::Values(TestProtocol::http1, TestProtocol::http2));

// RFC 9110 §15.3.6. The length is stated, because HTTP/1.1 would otherwise read to the end of the
// connection.
TEST_P(ReplyRules, a_205_has_no_content_whatever_its_handler_returns) {
  for (const char* const path : {"/text", "/large", "/stream", "/measured", "/pieces"}) {
    const TestReply reply = server_.get(path);
    EXPECT_EQ(reply.status(), 205u) << path << ": " << reply;
    EXPECT_EQ(reply.content(), "") << path;
    EXPECT_EQ(reply.header("Content-Length"), "0") << path;
    EXPECT_EQ(server_.get("/after").content(), "the next reply") << path;
    EXPECT_EQ(server_.connections(), 1u) << path;
  }
}

}  // namespace
}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
