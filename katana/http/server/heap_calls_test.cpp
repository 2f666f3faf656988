// RequestTelemetry with all options on needs no heap call for a request, once it is warm.
#include "katana/base/system/heap_calls_test.hpp"

#include <gtest/gtest.h>

#include "katana/http/handlers/exchange_fixture_test.hpp"
#include "katana/http/server/request_telemetry.hpp"
#include "katana/observe/log/log.hpp"
#include "katana/observe/trace/tracer.hpp"

namespace katana::server {
namespace {

class TelemetryHeapCalls : public HeapCallsTest {
 protected:
  TelemetryHeapCalls() {
    log::Options logging;
    logging.sinks = {log::file("/dev/null")};
    log_ = *log::Log::start(std::move(logging));
    Router router;
    router.get("/users/{_id}", [] { return Reply(); });
    service_ = *std::move(router).build();
    telemetry_ =
        std::make_unique<RequestTelemetry>(RequestTelemetryOptions{.access = log_->logger("access"),
                                                                   .slow = log_->logger("slow"),
                                                                   .slow_after = nanoseconds(1),
                                                                   .metrics = &registry_});
    EXPECT_TRUE(telemetry_->prepare(*service_));
  }
  // Heap calls of a thousand requests with these fields, after a few that warm up.
  std::uint64_t calls(std::string_view fields) {
    FakeExchange exchange("GET", "/users/7", fields);
    const auto serve = [&] {
      const auto context = telemetry_->on_exchange_begin(&exchange.head(), exchange);
      const ActivityScope scope(context.get());
      telemetry_->on_exchange_end(exchange, {.route = &service_->mark(0),
                                             .method = "GET",
                                             .target = "/users/7",
                                             .status = 200,
                                             .duration = microseconds(3)});
    };
    for (int count = 0; count < 10; ++count) serve();
    const std::uint64_t before = heap_calls();
    for (int count = 0; count < 1'000; ++count) serve();
    return heap_calls() - before;
  }

  std::unique_ptr<log::Log> log_;
  metrics::Registry registry_;
  std::optional<Service> service_;
  std::unique_ptr<RequestTelemetry> telemetry_;
};

TEST_F(TelemetryHeapCalls, a_request_that_brings_its_names_makes_none) {
  EXPECT_EQ(calls("X-Request-Id: order-7\n"
                  "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\n"),
            0u);
}

TEST_F(TelemetryHeapCalls, a_request_that_is_a_span_makes_none) {
  trace::Tracer tracer({.spans_max = 2'000});
  telemetry_ = std::make_unique<RequestTelemetry>(
      RequestTelemetryOptions{.access = log_->logger("access"), .tracer = &tracer});
  EXPECT_EQ(calls("traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\n"
                  "tracestate: a=1\n"),
            0u);
  EXPECT_EQ(tracer.drain([](const trace::SpanRecord& span) { EXPECT_EQ(span.state(), "a=1"); }),
            1'010u);
}

TEST_F(TelemetryHeapCalls, a_request_that_is_named_here_makes_none) { EXPECT_EQ(calls(""), 0u); }

}  // namespace
}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
