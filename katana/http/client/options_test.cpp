// Tests of the options that make() refuses, of URLs, and of the spans of requests.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "katana/http/client/client_fixture_test.hpp"
#include "katana/http/client/url.hpp"
#include "katana/observe/trace/root.hpp"
#include "katana/observe/trace/tracer.hpp"

namespace katana::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// ---- options

// "": they are taken.
std::string refusal(const std::function<void(HttpClientOptions&)>& change) {
  HttpClientOptions options = test_options();
  change(options);
  const auto made = HttpClient::make(options);
  return made ? std::string() : made.error().describe();
}

TEST(HttpClientOptionsTest, numbers_are_taken_up_to_their_bounds_and_refused_by_their_names) {
  using Options = HttpClientOptions;
  EXPECT_THAT(refusal([](Options& o) { o.connections_max = 0; }), HasSubstr("connections_max"));
  EXPECT_THAT(refusal([](Options& o) { o.origins_max = 0; }), HasSubstr("origins_max"));
  EXPECT_THAT(refusal([](Options& o) { o.names_max = 0; }), HasSubstr("names_max"));
  EXPECT_THAT(refusal([](Options& o) { o.streams_max = 0; }), HasSubstr("streams_max"));
  EXPECT_EQ(refusal([](Options& o) { o.streams_max = 1000; }), "");
  EXPECT_THAT(refusal([](Options& o) { o.streams_max = 1001; }),
              HasSubstr("streams_max must be from 1 to 1,000"));
  EXPECT_THAT(refusal([](Options& o) { o.head_bytes_max = 0; }), HasSubstr("head_bytes_max"));
  EXPECT_THAT(refusal([](Options& o) { o.stream_bytes_max = 0; }), HasSubstr("stream_bytes_max"));
  EXPECT_EQ(refusal([](Options& o) { o.retry.share_percent = 100; }), "");
  EXPECT_THAT(refusal([](Options& o) { o.retry.share_percent = 101; }),
              HasSubstr("retry.share_percent"));
  EXPECT_EQ(refusal([](Options& o) { o.retry.per_second_min = 1'000'000; }), "");
  EXPECT_THAT(refusal([](Options& o) { o.retry.per_second_min = 1'000'001; }),
              HasSubstr("retry.per_second_min"));
  EXPECT_EQ(refusal([](Options& o) { o.breaker.failures_percent = 100; }), "");
  EXPECT_THAT(refusal([](Options& o) { o.breaker.failures_percent = 101; }),
              HasSubstr("breaker.failures_percent"));
}

TEST(HttpClientOptionsTest, times_are_above_zero_and_at_most_a_year) {
  using Options = HttpClientOptions;
  const Duration year = seconds(366 * 24 * 3600);
  for (const auto member :
       {&Options::idle_timeout, &Options::connect_timeout, &Options::tls_timeout, &Options::timeout,
        &Options::addresses_kept, &Options::failures_kept, &Options::continue_timeout}) {
    EXPECT_THAT(refusal([&](Options& o) { o.*member = Duration{}; }), HasSubstr("each timeout"));
    EXPECT_EQ(refusal([&](Options& o) { o.*member = nanoseconds(1); }), "");
    EXPECT_EQ(refusal([&](Options& o) { o.*member = year; }), "");
    EXPECT_THAT(refusal([&](Options& o) { o.*member = Duration{year.ns + 1}; }),
                HasSubstr("each timeout"));
  }
  EXPECT_THAT(refusal([](Options& o) { o.breaker.window = {}; }), HasSubstr("each timeout"));
  EXPECT_THAT(refusal([](Options& o) { o.breaker.pause = {}; }), HasSubstr("each timeout"));
  EXPECT_THAT(refusal([](Options& o) { o.backoff_min = Duration{-1}; }), HasSubstr("backoff_max"));
  EXPECT_THAT(refusal([](Options& o) { o.backoff_max = Duration{o.backoff_min.ns - 1}; }),
              HasSubstr("backoff_max"));
  EXPECT_EQ(refusal([](Options& o) { o.hedge_after = Duration{}; }), "");
  EXPECT_THAT(refusal([](Options& o) { o.hedge_after = Duration{-1}; }), HasSubstr("hedge_after"));
}

TEST(HttpClientOptionsTest, texts_are_what_they_are_to_be) {
  using Options = HttpClientOptions;
  EXPECT_EQ(refusal([](Options& o) { o.hosts = {{"a", {"192.0.2.1", "::1"}}}; }), "");
  EXPECT_THAT(refusal([](Options& o) { o.hosts = {{"a", {}}}; }), HasSubstr("each of `hosts`"));
  EXPECT_THAT(refusal([](Options& o) { o.hosts = {{"a", {"b.example"}}}; }),
              HasSubstr("each of `hosts`"));
  EXPECT_EQ(refusal([](Options& o) { o.user_agent = "shop/1.0 (x y)"; }), "");
  for (const char* const wrong : {"a\r\nX: y", " a", "a ", "a\x01"}) {
    EXPECT_THAT(refusal([&](Options& o) { o.user_agent = wrong; }),
                HasSubstr("user_agent must be a valid field value"));
  }
}

// ---- URLs

TEST(UrlTest, what_cannot_be_sent_is_refused_with_its_fault) {
  for (const auto& [text, fault] : std::vector<std::pair<const char*, const char*>>{
           {"", "is not absolute"},
           {"/path", "is not absolute"},
           {"server.test/path", "is not absolute"},
           {"ftp://server.test/", "has a scheme other than http and https"},
           {"http:///path", "is not absolute"},
           {"http://:80/", "is not absolute"},
           {"http://a%20b/", "has no valid host"},
           {"http://server.test/a b", "has a character that must be percent-encoded"},
           {"http://server.test/?a b", "has a character that must be percent-encoded"},
           {"http://server.test/\x7f", "has a character that must be percent-encoded"},
           {"http://server.test:0/", "has port 0"}}) {
    const auto url = parse_url(text);
    ASSERT_FALSE(url) << text;
    EXPECT_THAT(url.error().describe(), HasSubstr(fault)) << text;
  }
  const auto url = parse_url("HTTPS://Server.Test:443/a?b#c");
  ASSERT_TRUE(url) << url.error().describe();
  EXPECT_EQ(url->origin.text(), "https://server.test:443");
  EXPECT_EQ(url->authority, "server.test");
  EXPECT_EQ(url->target, "/a?b");
}

// ---- spans

class ClientSpanTest : public ClientTest {
 protected:
  // Sends the request below the root span.
  Reply& fetch_traced(Request request) {
    const ActivityScope as(&activity_);
    return fetch(std::move(request));
  }
  // The spans that have ended, with their attributes.
  std::vector<std::string> spans() {
    std::vector<std::string> found;
    tracer_.drain([&](const trace::SpanRecord& span) {
      std::string text(span.name());
      for (std::size_t index = 0; index < span.attribute_count(); ++index) {
        const auto& each = span.attribute(index);
        text += fmt::format(" {}={}", Bytes(each.key, each.key_size),
                            each.type == trace::SpanRecord::Type::text
                                ? std::string(span.text(each.text))
                                : std::to_string(each.integer));
      }
      found.push_back(text);
    });
    return found;
  }

  trace::Tracer tracer_{{.sampler = trace::Sampler::of_ratio(1)}};
  trace::RootRef root_ = trace::Root::begin(tracer_, {.baggage = "tenant=a"}, tracer_.now());
  const Activity activity_{.span = &root_->current()};  // outlives the requests
};

TEST_F(ClientSpanTest, a_request_has_a_span_with_its_url_and_its_reply) {
  Reply& reply = fetch_traced(Request("http://server.test/users?page=2"));
  answer(0);
  EXPECT_THAT(take_sent(0), HasSubstr("\r\ntraceparent: 00-"));
  say(0, "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(error_of(reply), "status 404");
  EXPECT_THAT(spans(), ElementsAre("GET http.request.method=GET server.address=server.test "
                                   "server.port=80 url.full=http://server.test/users?page=2 "
                                   "http.response.status_code=404 network.protocol.version=1.1 "
                                   "error.type=404"));
}

TEST_F(ClientSpanTest, each_attempt_is_reported_with_what_became_of_it) {
  std::vector<std::string> reports;
  auto options = test_options();
  options.retry_after_max = seconds(5);
  options.on_attempt = [&reports](const AttemptReport& each) {
    reports.push_back(fmt::format("{} {}:{} {} '{}' '{}' {}", each.method, each.host, each.port,
                                  each.status, each.version, each.error, each.duration.ns >= 0));
    throw std::runtime_error("no memory");
  };
  use(options);
  Reply& reply = fetch_traced(Request("http://server.test/"));
  answer(0);
  say(0, "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nRetry-After: 1\r\n\r\n");
  turn(milliseconds(1'100));
  turn();
  say(0, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(error_of(reply), "status 200");
  EXPECT_THAT(reports, ElementsAre("GET server.test:80 503 '1.1' '503' true",
                                   "GET server.test:80 200 '1.1' '' true"));
}

TEST_F(ClientSpanTest, each_attempt_has_a_span_and_says_how_many_were_before_it) {
  auto options = test_options();
  options.retry_after_max = seconds(5);
  use(options);
  Reply& reply = fetch_traced(Request("http://server.test/"));
  answer(0);
  say(0, "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nRetry-After: 1\r\n\r\n");
  turn(milliseconds(1'100));
  turn();
  say(0, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(error_of(reply), "status 200");
  const auto found = spans();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_THAT(found[0], Not(HasSubstr("resend_count")));
  EXPECT_THAT(found[1], HasSubstr(" http.request.resend_count=1 "));
}

TEST_F(ClientSpanTest, a_method_that_is_not_known_is_named_apart) {
  (void)fetch_traced(Request("FROBNICATE", "http://server.test/"));
  answer(0);
  say(0, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  const auto found = spans();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0], testing::StartsWith("HTTP http.request.method=_OTHER "
                                            "http.request.method_original=FROBNICATE "));
}

TEST_F(ClientSpanTest, a_context_that_the_caller_gives_is_sent_and_no_other) {
  Request given("http://server.test/");
  given.field("TraceParent", "00-mine");
  (void)fetch_traced(std::move(given));
  answer(0);
  const std::string sent = take_sent(0);
  EXPECT_THAT(sent, HasSubstr("TraceParent: 00-mine\r\n"));
  EXPECT_THAT(sent, Not(HasSubstr("traceparent: ")));
  Request other("http://server.test/");
  other.field("X-Elevenabc", "1");  // as long as the name of the field
  (void)fetch_traced(std::move(other));
  answer(1);
  EXPECT_THAT(take_sent(1), HasSubstr("\r\ntraceparent: 00-"));
}

TEST_F(ClientSpanTest, baggage_of_the_caller_stays_and_that_of_the_request_goes_beside_it) {
  (void)fetch_traced(Request("http://server.test/"));
  answer(0);
  EXPECT_THAT(take_sent(0), HasSubstr("\r\nbaggage: tenant=a\r\n"));
  Request given("http://server.test/");
  given.field("Baggage", "mine=1");
  (void)fetch_traced(std::move(given));
  answer(1);
  const std::string sent = take_sent(1);
  EXPECT_THAT(sent, HasSubstr("Baggage: mine=1\r\n"));
  EXPECT_THAT(sent, Not(HasSubstr("tenant=a")));
  EXPECT_THAT(sent, HasSubstr("\r\ntraceparent: 00-"));
}

TEST_F(ClientSpanTest, without_a_span_of_its_caller_a_request_has_none) {
  get();
  answer(0);
  EXPECT_THAT(take_sent(0), Not(HasSubstr("traceparent")));
  say(0, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  EXPECT_THAT(spans(), IsEmpty());
}

}  // namespace
}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
