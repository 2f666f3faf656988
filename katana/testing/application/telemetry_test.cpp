// Spans of a program: requests, statements and its own, in virtual time.
#include "katana/app/telemetry/telemetry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "katana/app/sqlite/sqlite.hpp"
#include "katana/http/client/http_client.hpp"
#include "katana/http/handlers/streaming.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/observe/trace/span.hpp"
#include "katana/testing/application/span_capture.hpp"
#include "katana/testing/application/test_application.hpp"

namespace katana::testing {

struct Seven {
  std::int64_t seven = 0;
};
KATANA_DESCRIBE(Seven, seven)

namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* remote = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

class TelemetryTest : public ::testing::Test {
 protected:
  TelemetryTest() { make({}); }
  void make(std::vector<std::string> settings, TestOptions server = {}) {
    app_.reset();
    auto program = std::make_unique<app::Application<app::SettingsWithDatabase>>(
        app::ApplicationOptions{.name = "shop", .database = app::sqlite(), .http_client = true});
    program->use(app::telemetry());
    program->routes(
        [](const registry::Services& services, Router& router) { add_routes(services, router); });
    app_ = std::make_unique<TestApplication>(
        std::move(program),
        TestApplicationOptions{.settings = std::move(settings), .server = std::move(server)});
  }
  static void add_routes(const registry::Services& services, Router& router) {
    auto& database = services.get<database::Database>();
    router.get("/users/{id}", [](Path<std::string> id) { return Reply::text(Text(*id)); });
    router.get("/fails", []() -> Reply { throw std::runtime_error("secret cause"); });
    router.get("/reset", [] { return Reply(); });
    router.get("/slow", []() -> Task<Reply> {
      co_await net::sleep_for(seconds(2));
      co_return Reply();
    });
    router.get("/task/{name}", [&database](Path<std::string> name) -> Task<Result<Reply>> {
      trace::Span span{Bytes("work " + *name)};
      span.set("work.name", *name);
      co_await net::sleep_for(milliseconds(10));
      auto rows = co_await database.query<Seven>("SELECT 7 AS seven FROM sqlite_master");
      if (!rows) co_return std::unexpected(rows.error());
      trace::Span below("below");
      co_await net::sleep_for(milliseconds(10));
      co_return Reply::text(Text(*name));
    });
    auto& http = services.get<client::HttpClient>();
    router.get("/calls", [&http](Request request) -> Task<Result<Reply>> {
      client::Request call("http://stock.example:8080/items?token=abc&page=2");
      if (!request.query().empty()) call.field("traceparent", std::string(request.query()));
      auto reply = co_await http.fetch(std::move(call));
      if (!reply) co_return std::unexpected(reply.error());
      co_return Reply::text(Text(reply->content()));
    });
    router.websocket("/socket",
                     {.on_message = [](WebSocket& socket, Bytes payload, MessageKind kind) {
                       trace::Span span("message");
                       socket.send(payload, kind);
                     }});
    router.get("/stream", [](ReplyWriter reply) -> Task<void> {
      trace::Span span("in the stream");
      reply.begin(200, "text/plain");
      co_await reply.write("a");
      co_await net::sleep_for(milliseconds(10));
      co_await reply.write("b");
    });
  }
  const CapturedSpan& span(std::string_view name) {
    const CapturedSpan* const found = app_->spans().find(name);
    if (found != nullptr) return *found;
    ADD_FAILURE() << "no span '" << name << "' in\n" << app_->spans().describe();
    static const CapturedSpan none;
    return none;
  }
  void expect_below(const CapturedSpan& child, const CapturedSpan& parent) {
    EXPECT_EQ(child.trace_id, parent.trace_id) << child.name;
    EXPECT_EQ(child.parent_id, parent.span_id) << child.name << " is not below " << parent.name;
    EXPECT_LE(parent.began, child.began) << child.name;
    EXPECT_GE(parent.ended, child.ended) << child.name;
  }

  std::unique_ptr<TestApplication> app_;
};

TEST_F(TelemetryTest, a_request_is_a_span_with_the_names_of_the_conventions) {
  app_->get("/users/ann?page=2&token=abc",
            {{"Host", "shop.example:8080"}, {"User-Agent", "tests/1"}});
  const CapturedSpan& found = span("GET /users/{id}");
  EXPECT_EQ(found.kind, trace::SpanKind::server);
  EXPECT_EQ(found.status, trace::SpanStatus::unset);
  EXPECT_EQ(found.parent_id, "");
  EXPECT_EQ(found.attribute("http.request.method"), "GET");
  EXPECT_EQ(found.attribute("http.route"), "/users/{id}");
  EXPECT_EQ(found.attribute("http.response.status_code"), "200");
  EXPECT_EQ(found.attribute("url.path"), "/users/ann");
  EXPECT_EQ(found.attribute("url.query"), "page=2&token=***") << "as in the access log";
  EXPECT_EQ(found.attribute("url.scheme"), "http");
  EXPECT_EQ(found.attribute("server.address"), "shop.example");
  EXPECT_EQ(found.attribute("server.port"), "8080");
  EXPECT_EQ(found.attribute("user_agent.original"), "tests/1");
  EXPECT_EQ(found.attribute("network.protocol.version"), "1.1");
  EXPECT_NE(found.attribute("client.address"), "");
  EXPECT_EQ(found.attribute("error.type"), "");
}

TEST_F(TelemetryTest, a_request_that_fails_is_an_error_and_a_client_that_errs_is_none) {
  app_->get("/fails");
  EXPECT_TRUE(span("GET /fails").failed());
  EXPECT_EQ(span("GET /fails").attribute("error.type"), "500");
  EXPECT_THAT(app_->spans().describe(), Not(HasSubstr("secret cause")));
  app_->get("/nowhere");
  EXPECT_FALSE(span("GET").failed());
  EXPECT_EQ(span("GET").attribute("http.response.status_code"), "404");
  app_->send("BREW", "/users/1");
  EXPECT_EQ(span("HTTP").attribute("http.request.method"), "_OTHER");
  EXPECT_EQ(span("HTTP").attribute("http.request.method_original"), "BREW");
}

TEST_F(TelemetryTest, a_trace_of_the_client_goes_on_with_its_state) {
  app_->get("/users/1", {{"traceparent", remote}, {"tracestate", "a=1,b=2"}});
  const CapturedSpan& found = span("GET /users/{id}");
  EXPECT_EQ(found.trace_id, "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(found.parent_id, "b7ad6b7169203331");
  EXPECT_EQ(found.state, "a=1,b=2");
}

TEST_F(TelemetryTest, what_is_malformed_is_left_out_and_counted) {
  app_->get("/users/1", {{"traceparent", "00-zz"}, {"tracestate", "a=1"}});
  const CapturedSpan& first = span("GET /users/{id}");
  EXPECT_EQ(first.parent_id, "");
  EXPECT_EQ(first.state, "") << "it belongs to a trace that is not there";
  app_->spans().clear();
  app_->get("/users/1", {{"traceparent", remote}, {"tracestate", "A=1"}});
  EXPECT_EQ(span("GET /users/{id}").parent_id, "b7ad6b7169203331");
  EXPECT_EQ(span("GET /users/{id}").state, "");
  app_->get("/users/1", {{"traceparent", remote}, {"traceparent", remote}});
  const auto& tracer = app_->service<trace::Tracer>();
  EXPECT_EQ(tracer.counted(trace::Ignored::trace_parent), 2u);
  EXPECT_EQ(tracer.counted(trace::Ignored::trace_state), 1u);
}

TEST_F(TelemetryTest, a_trace_that_the_client_does_not_sample_is_not_recorded) {
  std::string unsampled = remote;
  unsampled.replace(53, 2, "00");
  app_->get("/users/1", {{"traceparent", unsampled}});
  EXPECT_THAT(app_->spans().all(), IsEmpty());
}

TEST_F(TelemetryTest, where_proxies_are_trusted_no_trace_of_others_goes_on) {
  make({"http.trusted_proxies=[10.0.0.0/8]"});
  app_->get("/users/1", {{"traceparent", remote}, {"tracestate", "a=1"}});
  EXPECT_NE(span("GET /users/{id}").trace_id, "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(span("GET /users/{id}").parent_id, "");
}

TEST_F(TelemetryTest, spans_of_requests_at_once_are_below_their_own_and_enclosed_in_time) {
  std::vector<PendingReply> pending;
  for (int index = 0; index < 5; ++index) {
    pending.push_back(app_->begin_get("/task/" + std::to_string(index)));
    app_->advance(milliseconds(3));
  }
  for (int index = 0; index < 5; ++index) {
    EXPECT_EQ(pending[static_cast<std::size_t>(index)].reply().status(), 200u);
  }
  int works = 0;
  for (const CapturedSpan& request : app_->spans().all()) {
    if (request.name != "GET /task/{name}") continue;
    const auto work = app_->spans().children(request);
    ASSERT_THAT(work, SizeIs(1)) << app_->spans().describe();
    expect_below(work[0], request);
    EXPECT_EQ("/task/" + work[0].attribute("work.name"), request.attribute("url.path"))
        << "a span of another request";
    const auto below = app_->spans().children(work[0]);
    ASSERT_THAT(below, SizeIs(2)) << app_->spans().describe();
    for (const CapturedSpan& each : below) expect_below(each, work[0]);
    ++works;
  }
  EXPECT_EQ(works, 5);
  const CapturedSpan& statement = span("SELECT sqlite_master");
  EXPECT_EQ(statement.kind, trace::SpanKind::client);
  EXPECT_EQ(statement.attribute("db.system.name"), "sqlite");
  EXPECT_EQ(statement.attribute("db.query.text"), "SELECT 7 AS seven FROM sqlite_master");
}

TEST_F(TelemetryTest, a_stream_whose_coroutine_ends_the_exchange_has_its_spans) {
  EXPECT_EQ(app_->get("/stream").content(), "ab");
  app_->advance(seconds(1));
  EXPECT_EQ(span("in the stream").parent_id, span("GET /stream").span_id);
}

TEST_F(TelemetryTest, a_request_of_http2_is_a_span_and_its_streams_do_not_mix) {
  make({}, {.protocol = TestProtocol::http2});
  auto first = app_->begin_get("/task/first");
  auto second = app_->begin_get("/task/second");
  EXPECT_EQ(first.reply().content(), "first");
  EXPECT_EQ(second.reply().content(), "second");
  EXPECT_EQ(span("GET /task/{name}").attribute("network.protocol.version"), "2");
  for (const char* name : {"first", "second"}) {
    const CapturedSpan& work = span(std::string("work ") + name);
    const auto all = app_->spans().all();
    const auto parent =
        std::ranges::find_if(all, [&](const auto& each) { return each.span_id == work.parent_id; });
    ASSERT_NE(parent, all.end()) << name;
    EXPECT_EQ(parent->attribute("url.path"), std::string("/task/") + name);
    expect_below(work, *parent);
  }
}

TEST_F(TelemetryTest, a_handshake_of_a_websocket_is_a_span_and_its_messages_are_none_of_it) {
  for (const TestProtocol protocol : {TestProtocol::http1, TestProtocol::http2}) {
    make({}, {.protocol = protocol});
    TestWebSocket socket = app_->websocket("/socket");
    ASSERT_TRUE(socket.is_open()) << socket.handshake();
    socket.send("hello");
    EXPECT_EQ(socket.receive()->content, "hello");
    socket.close();
    app_->advance(seconds(1));
    const CapturedSpan& found = span("GET /socket");  // also of an extended CONNECT (RFC 8441)
    EXPECT_EQ(found.kind, trace::SpanKind::server);
    EXPECT_EQ(found.attribute("http.response.status_code"),
              protocol == TestProtocol::http1 ? "101" : "200");
    EXPECT_FALSE(found.failed());
    for (const CapturedSpan& each : app_->spans().all()) {
      if (each.name == "message") EXPECT_LE(each.ended, found.ended) << "after its parent";
    }
  }
}

TEST_F(TelemetryTest, a_client_that_leaves_ends_the_spans_of_its_request) {
  {
    auto pending = app_->begin_get("/task/left");
    app_->advance(milliseconds(5));
  }
  app_->advance(seconds(1));
  EXPECT_EQ(span("work left").parent_id, span("GET /task/{name}").span_id);
  app_->spans().clear();
  app_->get("/users/1");
  EXPECT_THAT(app_->spans().all(), SizeIs(1));
}

TEST_F(TelemetryTest, slow_and_failed_requests_are_kept_with_their_spans_though_not_sampled) {
  make({"telemetry.ratio=0", "telemetry.keep_slow=1s", "telemetry.keep_failed=true"});
  app_->get("/users/1");
  app_->get("/task/1");
  EXPECT_THAT(app_->spans().all(), IsEmpty());
  app_->get("/slow");
  app_->get("/fails");
  EXPECT_THAT(app_->spans().all(), SizeIs(2)) << app_->spans().describe();
}

// The line that has the part; empty if none has.
std::string line_with(const std::string& text, const std::string& part) {
  const std::size_t at = text.find(part);
  if (at == std::string::npos) return {};
  const std::size_t begin = text.rfind('\n', at) + 1;
  return text.substr(begin, text.find('\n', at) - begin);
}

TEST_F(TelemetryTest, the_bucket_of_a_duration_refers_to_a_recorded_trace) {
  const auto buckets = [this] {
    return app_->get("/metrics", {{"Accept", "application/openmetrics-text;version=1.0.0"}})
        .content();
  };
  app_->get("/slow");
  const CapturedSpan slow = span("GET /slow");
  const std::string line = line_with(
      buckets(), "} 1 # {trace_id=\"" + slow.trace_id + "\",span_id=\"" + slow.span_id + "\"} 2");
  EXPECT_THAT(line, ::testing::StartsWith("katana_http_route_duration_seconds_bucket{"));
  EXPECT_THAT(line, HasSubstr("route=\"/slow\""));
  // Traces that are not sampled cannot be found. The setting turns all off.
  for (const char* const setting : {"telemetry.ratio=0", "telemetry.metrics.exemplars=false"}) {
    make({setting});
    app_->get("/slow");
    EXPECT_THAT(buckets(), ::testing::Not(HasSubstr("trace_id"))) << setting;
  }
  make({"telemetry.ratio=0", "telemetry.keep_slow=1s"});
  app_->get("/users/1");
  app_->get("/slow");
  EXPECT_THAT(buckets(), HasSubstr("trace_id=\"" + span("GET /slow").trace_id));
  EXPECT_THAT(buckets(), ::testing::Not(::testing::ContainsRegex("users[^\n]*trace_id")));
}

TEST_F(TelemetryTest, a_call_of_another_service_is_a_span_that_the_service_is_told) {
  FakeUpstream& stock = app_->upstream("http://stock.example:8080", [](Router& router) {
    router.get("/items", [] { return Reply::text("tea"); });
  });
  app_->get("/calls", {{"traceparent", remote}, {"tracestate", "a=1"}});
  const CapturedSpan& call = span("GET");
  EXPECT_EQ(call.kind, trace::SpanKind::client);
  EXPECT_EQ(call.parent_id, span("GET /calls").span_id);
  EXPECT_EQ(call.attribute("server.address"), "stock.example");
  EXPECT_EQ(call.attribute("server.port"), "8080");
  EXPECT_EQ(call.attribute("url.full"), "http://stock.example:8080/items?token=***&page=2");
  EXPECT_EQ(call.attribute("http.response.status_code"), "200");
  ASSERT_THAT(stock.requests(), SizeIs(1));
  EXPECT_EQ(stock.requests()[0].field("traceparent"),
            "00-0af7651916cd43dd8448eb211c80319c-" + call.span_id + "-01");
  EXPECT_EQ(stock.requests()[0].field("tracestate"), "a=1");
}

TEST_F(TelemetryTest, listed_baggage_is_an_attribute_and_goes_on_to_other_services_and_no_other) {
  make({"telemetry.baggage=[tenant,tier]"});
  FakeUpstream& stock = app_->upstream("http://stock.example:8080", [](Router& router) {
    router.get("/items", [] { return Reply::text("tea"); });
  });
  app_->get("/calls", {{"baggage", "tenant=a%20b;p=1,secret=x"}, {"baggage", "tier=gold,b r=1"}});
  EXPECT_EQ(span("GET /calls").attribute("tenant"), "a b");
  EXPECT_EQ(span("GET /calls").attribute("tier"), "gold");
  ASSERT_THAT(stock.requests(), SizeIs(1));
  EXPECT_EQ(stock.requests()[0].field("baggage"), "tenant=a%20b;p=1,tier=gold");
  EXPECT_EQ(app_->service<trace::Tracer>().counted(trace::Ignored::baggage), 1u) << "b r";
  // The next request is that of another client.
  app_->get("/calls");
  ASSERT_THAT(stock.requests(), SizeIs(2));
  EXPECT_EQ(stock.requests()[1].field("baggage"), "");
}

TEST_F(TelemetryTest, baggage_that_nobody_listed_or_of_clients_that_are_not_trusted_is_left_out) {
  for (const char* setting : {"telemetry.baggage=[]", "http.trusted_proxies=[10.0.0.0/8]"}) {
    make({"telemetry.baggage=[tenant]", setting});
    FakeUpstream& stock = app_->upstream("http://stock.example:8080", [](Router& router) {
      router.get("/items", [] { return Reply::text("tea"); });
    });
    app_->get("/calls", {{"baggage", "tenant=a"}});
    EXPECT_EQ(span("GET /calls").attribute("tenant"), "") << setting;
    ASSERT_THAT(stock.requests(), SizeIs(1));
    EXPECT_EQ(stock.requests()[0].field("baggage"), "") << setting;
  }
}

TEST_F(TelemetryTest, a_program_may_keep_its_traces_to_itself) {
  make({"telemetry.trace_context=false"});
  FakeUpstream& stock = app_->upstream("http://stock.example:8080", [](Router& router) {
    router.get("/items", [] { return Reply::text("tea"); });
  });
  app_->get("/calls", {{"traceparent", remote}, {"tracestate", "a=1"}});
  EXPECT_NE(span("GET /calls").trace_id, "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(span("GET /calls").parent_id, "");
  EXPECT_EQ(span("GET /calls").state, "");
  ASSERT_THAT(stock.requests(), SizeIs(1));
  EXPECT_EQ(stock.requests()[0].field("traceparent"), "");
}

TEST_F(TelemetryTest, a_key_of_baggage_that_no_field_can_have_is_refused_by_name) {
  make({"telemetry.baggage=[tenant id]"});
  const auto started = app_->start();
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().describe(), HasSubstr("telemetry.baggage: 'tenant id' is no key"));
}

TEST_F(TelemetryTest, each_attempt_of_a_call_is_a_span_with_a_context_of_its_own) {
  make({"client.retry.transient=true"});
  FakeUpstream& stock = app_->upstream("http://stock.example:8080", [](Router& router) {
    router.get("/items", [] { return Reply::text("tea"); });
  });
  stock.fail_next(1);
  EXPECT_EQ(app_->get("/calls").status(), 200u);
  const auto calls = app_->spans().children(span("GET /calls"));
  ASSERT_THAT(calls, SizeIs(2)) << app_->spans().describe();
  EXPECT_TRUE(calls[0].failed());
  EXPECT_EQ(calls[0].attribute("error.type"), "503");
  EXPECT_EQ(calls[1].attribute("http.request.resend_count"), "1");
  EXPECT_FALSE(calls[1].failed());
  ASSERT_THAT(stock.requests(), SizeIs(2));
  for (std::size_t index = 0; index < 2; ++index) {
    EXPECT_EQ(stock.requests()[index].field("traceparent").substr(36, 16), calls[index].span_id);
    const auto& fields = stock.requests()[index].fields;
    EXPECT_EQ(
        std::ranges::count_if(fields, [](const auto& each) { return each.first == "traceparent"; }),
        1);
  }
}

TEST_F(TelemetryTest, a_call_that_fails_names_its_error_and_one_that_is_not_sampled_says_so) {
  app_->get("/calls");  // there is no such upstream
  EXPECT_TRUE(span("GET").failed());
  EXPECT_NE(span("GET").attribute("error.type"), "");
  make({"telemetry.ratio=0"});
  FakeUpstream& stock = app_->upstream("http://stock.example:8080", [](Router& router) {
    router.get("/items", [] { return Reply::text("tea"); });
  });
  app_->get("/calls");
  ASSERT_THAT(stock.requests(), SizeIs(1));
  EXPECT_TRUE(stock.requests()[0].field("traceparent").ends_with("-02")) << "random, not sampled";
  app_->get(std::string("/calls?") + remote);
  EXPECT_EQ(stock.requests()[1].field("traceparent"), remote) << "the caller's own stays";
  make({"client.trace_context=false"});
  FakeUpstream& other = app_->upstream("http://stock.example:8080", [](Router& router) {
    router.get("/items", [] { return Reply::text("tea"); });
  });
  app_->get("/calls");
  EXPECT_EQ(other.requests().at(0).field("traceparent"), "");
}

TEST_F(TelemetryTest, records_of_the_log_name_the_trace_and_the_span) {
  app_->get("/users/1");
  const CapturedSpan& found = span("GET /users/{id}");
  const auto access = app_->log().records_of("access");
  ASSERT_THAT(access, SizeIs(1));
  EXPECT_EQ(access[0].field("trace_id"), found.trace_id);
  EXPECT_EQ(access[0].field("span_id"), found.span_id);
}

TEST_F(TelemetryTest, ids_of_requests_may_be_off) {
  make({"requests.ids=false"});
  const TestReply reply = app_->get("/users/1");
  EXPECT_FALSE(reply.header("X-Request-Id"));
  EXPECT_NE(span("GET /users/{id}").span_id, "");
}

TEST_F(TelemetryTest, what_is_off_records_nothing) {
  make({"telemetry.enabled=false"});
  app_->get("/task/1");
  EXPECT_THAT(app_->spans().all(), IsEmpty());
}

TEST_F(TelemetryTest, its_metrics_say_what_was_not_recorded) {
  make({"telemetry.thread_spans_max=16"});
  for (int index = 0; index < 20; ++index) app_->get("/users/1");
  EXPECT_EQ(app_->metrics()
                .value("katana_telemetry_spans_unrecorded_total", {{"reason", "buffer_full"}})
                .value_or(0),
            4);
  EXPECT_THAT(app_->spans().all(), SizeIs(16));
}

TEST_F(TelemetryTest,
       requests_statements_and_calls_have_metrics_with_the_names_of_the_conventions) {
  make({"metrics.names=opentelemetry", "telemetry.enabled=false"});
  app_->upstream("http://stock.example:8080",
                 [](Router& router) { router.get("/items", [] { return Reply::text("7"); }); });
  ASSERT_TRUE(app_->start());
  app_->get("/users/ann");
  app_->get("/users/bob");
  app_->get("/users/bob", {{"Connection", "close"}});
  app_->get("/fails");
  app_->get("/nowhere");
  app_->get("/task/a");
  app_->get("/calls");
  const auto count = [&](const char* name, const MetricLabels& labels) {
    const auto found = app_->metrics().histogram(name, labels);
    EXPECT_TRUE(found) << found.error().describe();
    return found ? found->count : 0;
  };
  const char* const server = "http_server_request_duration_seconds";
  EXPECT_EQ(count(server, {{"http_request_method", "GET"},
                           {"url_scheme", "http"},
                           {"http_route", "/users/{id}"},
                           {"http_response_status_code", "200"},
                           {"network_protocol_version", "1.1"},
                           {"error_type", ""}}),
            3u);
  EXPECT_EQ(count(server, {{"http_route", "/fails"}, {"error_type", "500"}}), 1u);
  EXPECT_EQ(count(server, {{"http_route", ""}, {"http_response_status_code", "404"}}), 1u);
  EXPECT_EQ(count("db_client_operation_duration_seconds",
                  {{"db_system_name", "sqlite"}, {"db_query_summary", "SELECT sqlite_master"}}),
            1u);
  EXPECT_EQ(count("http_client_request_duration_seconds", {{"http_request_method", "GET"},
                                                           {"server_address", "stock.example"},
                                                           {"server_port", "8080"},
                                                           {"http_response_status_code", "200"},
                                                           {"network_protocol_version", "1.1"},
                                                           {"error_type", ""}}),
            1u);
  EXPECT_THAT(app_->metrics().text(), HasSubstr("katana_http_route_duration_seconds"));
}

TEST_F(TelemetryTest, by_default_metrics_have_the_names_of_katana_alone) {
  app_->get("/users/ann");
  app_->get("/task/a");
  const std::string text = app_->metrics().text();
  EXPECT_THAT(text, Not(HasSubstr("\nhttp_")));
  EXPECT_THAT(text, Not(HasSubstr("\ndb_")));
}

}  // namespace
}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
