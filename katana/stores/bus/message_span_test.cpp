// Spans of messages: what a publication and a handler record, and how the context travels.
#include "katana/stores/bus/message_span.hpp"

#include <gmock/gmock.h>

#include <map>
#include <optional>
#include <stdexcept>

#include "katana/net/reactor/spawn.hpp"
#include "katana/stores/bus/bus_fixture_test.hpp"
#include "katana/stores/bus/messages.hpp"

namespace katana::bus {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using trace::SpanKind;

struct Seen {
  trace::SpanContext context, parent, link;
  SpanKind kind;
  trace::SpanStatus status;
  std::string state;
  std::map<std::string, std::string> attributes;
};

class MessageSpanTest : public BusTest {
 protected:
  explicit MessageSpanTest(bool experimental = true)
      : tracer_({.experimental = experimental,
                 .baggage = {"tenant"},
                 .clock = [this] { return network_.now(); },
                 .seed = 1}) {
    bus().fan_out().trace_with(tracer_);
  }

  // Runs f within a request that has this trace.
  template <class F>
  void within_request(const F& f, const trace::RootOrigin& origin = {}) {
    trace::RootSpan request(&tracer_, "GET /orders", SpanKind::server, origin);
    f();
    request.end(Result<void>(), [](trace::SpanRecord&) {});
  }
  // The spans that have ended, by name. A name that comes twice is a failure.
  std::map<std::string, Seen> spans() {
    std::map<std::string, Seen> all;
    tracer_.drain([&](const trace::SpanRecord& each) {
      Seen seen{each.context,
                each.parent,
                each.link,
                each.kind,
                each.status,
                std::string(each.state()),
                {}};
      for (std::size_t at = 0; at < each.attribute_count(); ++at) {
        const auto& attribute = each.attribute(at);
        const std::string key(attribute.key, attribute.key_size);
        seen.attributes[key] = attribute.type == trace::SpanRecord::Type::text
                                   ? std::string(each.text(attribute.text))
                               : attribute.type == trace::SpanRecord::Type::boolean
                                   ? (attribute.boolean ? "true" : "false")
                                   : std::to_string(attribute.integer);
      }
      EXPECT_TRUE(all.emplace(std::string(each.name()), seen).second) << each.name();
    });
    return all;
  }
  Subscription subscribe_with(Bytes pattern, Handler handler, SubscribeOptions options = {}) {
    auto subscribed = bus().subscribe(pattern, std::move(handler), std::move(options));
    EXPECT_TRUE(subscribed);
    return *std::move(subscribed);
  }

  trace::Tracer tracer_;
};

class QuietMessageSpanTest : public MessageSpanTest {
 protected:
  QuietMessageSpanTest() : MessageSpanTest(false) {}
};

TEST_F(MessageSpanTest, a_handler_is_below_the_publication_and_what_it_does_below_the_handler) {
  on(1);
  const Subscription subscription = subscribe_with("orders.*", [](const Delivery&) {
    const trace::Span work("pack");
    EXPECT_NE(trace::current_span(), nullptr);
  });
  on(0);
  within_request([&] {
    const Header priority{"Priority", "high"};
    ASSERT_TRUE(bus().publish(
        {.subject = "orders.17", .payload = "tea", .headers = {&priority, 1}, .id = "order-17"}));
    EXPECT_NE(trace::current_span(), nullptr) << "the request goes on";
  });
  settle();
  EXPECT_EQ(current_activity, nullptr);
  auto all = spans();
  ASSERT_THAT(all, SizeIs(4));
  const Seen &request = all.at("GET /orders"), &publish = all.at("publish orders.*"),
             &process = all.at("process orders.*"), &pack = all.at("pack");
  EXPECT_EQ(publish.kind, SpanKind::producer);
  EXPECT_EQ(process.kind, SpanKind::consumer);
  EXPECT_EQ(publish.parent.span.value, request.context.span.value);
  EXPECT_EQ(process.parent.span.value, publish.context.span.value);
  EXPECT_EQ(process.link.span.value, publish.context.span.value);
  EXPECT_EQ(pack.parent.span.value, process.context.span.value);
  for (const auto& [name, each] : all) {
    EXPECT_EQ(each.context.trace.hex(), request.context.trace.hex()) << name;
    EXPECT_EQ(each.status, trace::SpanStatus::unset) << name;
  }
  using Map = std::map<std::string, std::string>;
  EXPECT_EQ(publish.attributes, (Map{{"messaging.system", "in_process"},
                                     {"messaging.operation.name", "publish"},
                                     {"messaging.operation.type", "send"},
                                     {"messaging.destination.name", "orders.17"},
                                     {"messaging.message.body.size", "3"},
                                     {"messaging.message.id", "order-17"}}));
  EXPECT_EQ(process.attributes, (Map{{"messaging.system", "in_process"},
                                     {"messaging.operation.name", "process"},
                                     {"messaging.operation.type", "process"},
                                     {"messaging.destination.name", "orders.17"},
                                     {"messaging.destination.template", "orders.*"},
                                     {"messaging.message.body.size", "3"},
                                     {"messaging.message.id", "order-17"}}));
}

TEST_F(QuietMessageSpanTest, without_the_switch_nothing_is_recorded_and_messages_stay_as_they_are) {
  on(0);
  std::string headers = "none";
  const Subscription subscription = subscribe_with("a", [&](const Delivery& message) {
    headers = std::string(message.headers());
    const trace::Span work("work");
  });
  within_request([&] { ASSERT_TRUE(bus().publish("a", "1")); });
  settle();
  EXPECT_EQ(headers, "");
  EXPECT_THAT(spans(), SizeIs(1)) << "the request";
}

TEST_F(MessageSpanTest, outside_of_a_trace_a_publication_is_no_span_and_a_handler_begins_a_trace) {
  on(0);
  std::string headers = "none";
  const Subscription subscription = subscribe_with(
      "a", [&](const Delivery& message) { headers = std::string(message.headers()); },
      {.queue_group = "workers"});
  ASSERT_TRUE(bus().publish("a", "1"));
  settle();
  EXPECT_EQ(headers, "");
  auto all = spans();
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_FALSE(all.at("process a").parent.is_valid());
  EXPECT_FALSE(all.at("process a").link.is_valid());
  EXPECT_EQ(all.at("process a").attributes["messaging.consumer.group.name"], "workers");
}

TEST_F(MessageSpanTest, state_and_sampling_of_the_trace_reach_the_handler) {
  on(0);
  std::string headers;
  bool records = true;
  const Subscription subscription = subscribe_with("a", [&](const Delivery& message) {
    headers = std::string(message.headers());
    records = trace::Span("work").is_recorded();
  });
  const auto origin = [](Bytes text) {
    return trace::RootOrigin{trace::remote_context(*trace::parse_trace_parent(text)), "vendor=7"};
  };
  within_request([&] { ASSERT_TRUE(bus().publish("a", "1")); },
                 origin("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"));
  settle();
  EXPECT_THAT(headers, HasSubstr("traceparent: 00-0af7651916cd43dd8448eb211c80319c-"));
  EXPECT_THAT(headers, HasSubstr("tracestate: vendor=7\r\n"));
  EXPECT_TRUE(records);
  EXPECT_EQ(spans().at("process a").state, "vendor=7");
  // A caller that does not record: the decision holds here, too.
  within_request([&] { ASSERT_TRUE(bus().publish("a", "1")); },
                 origin("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"));
  settle();
  EXPECT_THAT(headers, HasSubstr("-00\r\n"));
  EXPECT_FALSE(records);
  EXPECT_THAT(spans(), SizeIs(0));
}

TEST_F(MessageSpanTest, listed_baggage_reaches_the_handler_and_what_it_publishes) {
  on(0);
  std::string second;
  const Subscription last = subscribe_with(
      "b", [&](const Delivery& message) { second = std::string(message.headers()); });
  const Subscription first =
      subscribe_with("a", [&](const Delivery&) { ASSERT_TRUE(bus().publish("b", "1")); });
  within_request([&] { ASSERT_TRUE(bus().publish("a", "1")); }, {.baggage = "tenant=a%20b"});
  settle();
  EXPECT_THAT(second, HasSubstr("baggage: tenant=a%20b\r\n"));
  EXPECT_EQ(spans().at("process a").attributes.at("tenant"), "a b");
  // A publisher's own header stays, and what is not listed is dropped at the handler.
  const Header own{"Baggage", "tenant=own,other=1,x y"};
  within_request([&] { ASSERT_TRUE(bus().publish({.subject = "a", .headers = {&own, 1}})); },
                 {.baggage = "tenant=a"});
  settle();
  EXPECT_THAT(second, HasSubstr("baggage: tenant=own\r\n"));
  EXPECT_EQ(tracer_.counted(trace::Ignored::baggage), 1u) << "x y";
}

TEST_F(MessageSpanTest, a_context_that_the_publisher_has_set_stays) {
  on(0);
  std::string headers;
  const Subscription subscription = subscribe_with(
      "a", [&](const Delivery& message) { headers = std::string(message.headers()); });
  const Header own{"Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"};
  within_request([&] { ASSERT_TRUE(bus().publish({.subject = "a", .headers = {&own, 1}})); });
  settle();
  EXPECT_EQ(headers, "Traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n");
  EXPECT_EQ(spans().at("process a").parent.span.value, 0xb7ad6b7169203331u);
}

TEST_F(MessageSpanTest, headers_without_room_go_without_a_context) {
  on(0);
  std::size_t bytes = 0;
  std::vector<std::size_t> sizes;
  const Subscription subscription = subscribe_with(
      "a", [&](const Delivery& message) { sizes.push_back(message.headers().size()); });
  constexpr std::size_t line = 11 + 55 + 4;  // "traceparent: …"
  for (const std::size_t left : {line, line - 1}) {
    bytes = header_bytes_max - left;
    const std::string value(bytes - 5, 'x');
    const Header large{"X", value};
    within_request([&] { ASSERT_TRUE(bus().publish({.subject = "a", .headers = {&large, 1}})); });
    settle();
    (void)spans();
  }
  EXPECT_THAT(sizes, ::testing::ElementsAre(header_bytes_max, header_bytes_max - line + 1));
  const std::vector<Header> many(16, Header{"X", "y"});
  within_request([&] { ASSERT_TRUE(bus().publish({.subject = "a", .headers = many})); });
  settle();
  EXPECT_EQ(sizes.back(), 16u * 6) << "a span keeps 16 headers";
}

TEST_F(MessageSpanTest, a_malformed_context_is_counted_and_the_handler_begins_a_trace) {
  on(0);
  const Subscription subscription = subscribe_with("a", [](const Delivery&) {});
  const Header wrong{"traceparent", "00-zz"};
  ASSERT_TRUE(bus().publish({.subject = "a", .headers = {&wrong, 1}}));
  settle();
  EXPECT_FALSE(spans().at("process a").parent.is_valid());
  EXPECT_EQ(tracer_.counted(trace::Ignored::trace_parent), 1u);
  const std::vector<Header> state = {
      {"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
      {"tracestate", "no member"}};
  ASSERT_TRUE(bus().publish({.subject = "a", .headers = state}));
  settle();
  const auto all = spans();
  EXPECT_TRUE(all.at("process a").parent.is_valid());
  EXPECT_EQ(all.at("process a").state, "");
  EXPECT_EQ(tracer_.counted(trace::Ignored::trace_state), 1u);
}

TEST_F(MessageSpanTest, a_handler_that_throws_and_a_refused_publication_have_failed) {
  on(0);
  const Subscription subscription =
      subscribe_with("a", [](const Delivery&) { throw std::runtime_error("secret"); });
  within_request([&] {
    ASSERT_TRUE(bus().publish("a", "1"));
    EXPECT_FALSE(bus().publish("b", std::string(2 * 1024 * 1024, 'x')));
  });
  settle();
  auto all = spans();
  EXPECT_EQ(all.at("process a").status, trace::SpanStatus::error);
  EXPECT_EQ(all.at("process a").attributes["error.type"], "exception");
  EXPECT_EQ(all.at("publish b").status, trace::SpanStatus::error);
  EXPECT_EQ(all.at("publish b").attributes["error.type"], "out of range");
}

TEST_F(MessageSpanTest, a_question_and_its_answer_are_one_trace_without_names_of_inboxes) {
  on(1);
  const Subscription subscription = subscribe_with("stock.tea", [this](const Delivery& message) {
    ASSERT_TRUE(bus().publish(message.reply_to(), "12"));
  });
  on(0);
  std::string answer;
  const auto ask = [&]() -> Task<void> {
    trace::RootSpan request(&tracer_, "GET /orders", SpanKind::server);
    auto told = co_await bus().request("stock.tea", "how much?", seconds(1));
    answer = told ? std::string(told->payload()) : told.error().describe();
    request.end(Result<void>(), [](trace::SpanRecord&) {});
  };
  ASSERT_TRUE(net::spawn(ask()));
  settle();
  EXPECT_EQ(answer, "12");
  auto all = spans();
  ASSERT_THAT(all, SizeIs(4));
  Seen& reply = all.at("publish (temporary)");
  EXPECT_EQ(reply.parent.span.value, all.at("process stock.tea").context.span.value);
  EXPECT_EQ(reply.context.trace.hex(), all.at("GET /orders").context.trace.hex());
  EXPECT_EQ(reply.attributes["messaging.destination.temporary"], "true");
}

TEST_F(MessageSpanTest, a_reader_of_messages_makes_the_span_of_its_work_itself) {
  on(0);
  auto opened = Messages::open(bus(), "a");
  ASSERT_TRUE(opened);
  within_request([&] { ASSERT_TRUE(bus().publish("a", "1")); });
  settle();
  EXPECT_THAT(spans(), SizeIs(2)) << "no handler ran for the user";
  const auto read = (*opened)->try_next();
  ASSERT_TRUE(read && read->message);
  {
    MessageSpan span(bus(), *read->message);
    const trace::Span work("work");
    span.fail("stale");
  }
  EXPECT_EQ(current_activity, nullptr);
  auto all = spans();
  EXPECT_EQ(all.at("work").parent.span.value, all.at("process a").context.span.value);
  EXPECT_TRUE(all.at("process a").parent.is_valid());
  EXPECT_EQ(all.at("process a").attributes["error.type"], "stale");
}

}  // namespace
}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
