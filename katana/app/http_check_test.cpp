// A health check that asks a server of ours, on a thread that is no reactor of it.
#include "katana/app/http_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <stop_token>
#include <thread>

#include "katana/http/handlers/router.hpp"
#include "katana/http/server/client_test.hpp"
#include "katana/http/server/http_server.hpp"
#include "katana/net/reactor/sleep.hpp"

namespace katana::app {
namespace {

using testing::HasSubstr;

class HttpCheckTest : public testing::Test {
 protected:
  // `asks` is given the server's URL, on its own thread.
  void serve(const std::function<void(const std::string&)>& asks) {
    router.get("/well", [this] {
      ++asked;
      return Reply::text("ok");
    });
    router.get("/ill", [] {
      Reply reply = Reply::text("not now");
      reply.set_status(503);
      return reply;
    });
    router.get("/hangs", [this]() -> Task<Reply> {
      ++asked;
      co_await net::sleep_for(seconds(3600));
      co_return Reply::text("late");
    });
    auto service = std::move(router).build();
    ASSERT_TRUE(service);
    server::HttpServerOptions options;
    options.port = 0;
    options.reactors = 1;
    options.drain_timeout = milliseconds(1);
    options.reactor.engine.links_max = 64;
    server::HttpServer server(options, *service);
    const auto started = server.start();
    ASSERT_TRUE(started) << started.error().describe();
    server::serve_clients(
        server, [&](std::uint16_t port) { asks("http://127.0.0.1:" + std::to_string(port)); });
  }
  static metrics::Check check(const std::string& url, Duration timeout = seconds(20)) {
    auto made = http_check({.name = "other", .url = url, .timeout = timeout});
    EXPECT_TRUE(made) << made.error().describe();
    return *std::move(made);
  }
  static std::string ask(const metrics::Check& check) {
    const auto result = check.run({});
    return result ? "well" : result.error().describe();
  }

  Router router;
  std::atomic<int> asked = 0;
};

TEST_F(HttpCheckTest, a_service_is_well_when_it_says_so_and_asked_again_as_often_as_one_likes) {
  serve([this](const std::string& origin) {
    const metrics::Check well = check(origin + "/well");
    for (int count = 0; count < 3; ++count) EXPECT_EQ(ask(well), "well");
    EXPECT_EQ(asked, 3);
    EXPECT_EQ(ask(check(origin + "/ill")), "GET " + origin + "/ill: status 503");
    EXPECT_EQ(ask(check(origin + "/nothing")), "GET " + origin + "/nothing: status 404");
  });
}

TEST_F(HttpCheckTest, a_service_that_is_gone_or_silent_is_named_with_what_it_did) {
  EXPECT_THAT(ask(check("http://127.0.0.1:1/health")),
              HasSubstr("GET http://127.0.0.1:1/health: connect to http://127.0.0.1:1 (address "
                        "127.0.0.1): Connection refused"));
  serve([](const std::string& origin) {
    EXPECT_THAT(ask(check(origin + "/hangs", milliseconds(30))),
                HasSubstr("/hangs: deadline exceeded after 30 ms: the server sent no reply"));
  });
}

TEST_F(HttpCheckTest, it_ends_when_nobody_waits_any_more) {
  serve([this](const std::string& origin) {
    const metrics::Check hangs = check(origin + "/hangs", seconds(600));
    std::stop_source stop;
    std::thread impatient([&] {
      while (asked == 0) std::this_thread::yield();
      stop.request_stop();
    });
    const auto result = hangs.run(stop.get_token());
    impatient.join();
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code(), Code::cancelled);
    EXPECT_FALSE(hangs.run(stop.get_token()));
  });
}

TEST_F(HttpCheckTest, among_health_checks_its_result_is_kept_for_a_while) {
  serve([this](const std::string& origin) {
    metrics::HealthChecks checks;
    ASSERT_TRUE(checks.add(check(origin + "/well")));
    for (int count = 0; count < 3; ++count) {
      checks.refresh(metrics::CheckKind::readiness);
      while (!checks.all_finished(metrics::CheckKind::readiness)) std::this_thread::yield();
      EXPECT_TRUE(checks.report(metrics::CheckKind::readiness).healthy());
    }
    EXPECT_EQ(asked, 1);
  });
}

TEST_F(HttpCheckTest, what_is_wrong_with_it_is_named) {
  const auto no_url = http_check({.name = "other", .url = "nowhere"});
  ASSERT_FALSE(no_url);
  EXPECT_THAT(no_url.error().describe(), HasSubstr("health check 'other': URL \"nowhere\""));
  HttpCheckOptions options{.name = "other", .url = "https://127.0.0.1/"};
  options.client.tls.authorities_file = "no/such/file.pem";
  EXPECT_THAT(http_check(options).error().describe(), HasSubstr("'no/such/file.pem'"));
  options = {.name = "other", .url = "http://127.0.0.1/", .timeout = {}};
  EXPECT_THAT(http_check(options).error().describe(), HasSubstr("timeout"));
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
