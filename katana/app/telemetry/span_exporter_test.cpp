// SpanExporter: the spans that a collector gets, and their fate when it is slow, down or wrong.
#include "katana/app/telemetry/span_exporter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "katana/base/text/protobuf.hpp"
#include "katana/http/coding/codec.hpp"
#include "katana/net/reactor/spawn.hpp"
#include "katana/observe/trace/span.hpp"
#include "katana/testing/fake_upstream.hpp"
#include "katana/testing/test_server.hpp"

namespace katana::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Names of the spans of a request, in their order.
std::vector<std::string> span_names(Bytes request) {
  std::vector<std::string> names;
  ProtobufReader whole(request);
  while (whole.next()) {
    ProtobufReader resource(whole.bytes());
    while (resource.next()) {
      if (resource.number() != 2) continue;
      ProtobufReader scope(resource.bytes());
      while (scope.next()) {
        if (scope.number() != 2) continue;
        ProtobufReader span(scope.bytes());
        while (span.next()) {
          if (span.number() == 5) names.emplace_back(span.bytes());
        }
        EXPECT_TRUE(span.is_good());
      }
    }
  }
  EXPECT_TRUE(whole.is_good());
  return names;
}

class SpanExporterTest : public ::testing::Test {
 protected:
  SpanExporterTest() : server_(make_service()), tracer_(tracer_options()) {
    options_.sender.url = "http://collector:4318/v1/traces";
    options_.sender.gzip = false;
    options_.batch_spans_max = 4;
    options_.queue_spans_max = 16;
    collector_ = std::make_unique<katana::testing::FakeUpstream>(
        server_, "http://collector:4318", [this](Router& router) {
          router.post("/v1/traces", [this] {
            Reply reply = Reply::text(Text(reply_));
            reply.set_status(status_).add_field("Retry-After", retry_after_);
            return reply;
          });
        });
  }
  ~SpanExporterTest() override {
    if (exporter_) server_.get("/finish");
    server_.advance(seconds(60));
  }

  trace::TracerOptions tracer_options() {
    return {.clock = [this] { return server_.now(); }, .seed = 1};
  }
  Result<Service> make_service() {
    Router router;
    router.get("/start", [this] {
      EXPECT_TRUE(net::spawn(exporter_->run()));
      return Reply();
    });
    router.get("/finish", [this] {
      exporter_->finish();
      return Reply();
    });
    router.get("/work", [] { return Reply(); });
    return std::move(router).build();
  }
  void start() {
    client::HttpClientOptions of_client;
    of_client.tls.system_authorities = false;
    of_client.retries_max = 0;
    of_client.connections_max = 1;
    of_client.seed = 1;
    exporter_ = std::make_unique<SpanExporter>(
        tracer_, *client::HttpClient::make(std::move(of_client)), options_, log::Logger());
    server_.get("/start");
  }
  void record(std::initializer_list<const char*> names) {
    for (const char* name : names) {
      auto root = trace::Root::begin(tracer_);
      root->end({}, [name](trace::SpanRecord& span) { span.set_name(name); });
    }
  }
  void record(std::size_t count) {
    for (; count > 0; --count) record({"span"});
  }
  std::uint64_t counted(OtlpFate fate) const { return exporter_->sender().counted(fate); }
  // Everything that was recorded has come to one of its ends.
  void expect_all_counted(std::uint64_t recorded) const {
    std::uint64_t sum = exporter_->queued();
    for (std::size_t fate = 0; fate < static_cast<std::size_t>(OtlpFate::count); ++fate) {
      sum += exporter_->sender().counted(static_cast<OtlpFate>(fate));
    }
    EXPECT_EQ(sum, recorded);
  }

  katana::testing::TestServer server_;
  trace::Tracer tracer_;
  std::unique_ptr<katana::testing::FakeUpstream> collector_;
  SpanExporterOptions options_;
  std::unique_ptr<SpanExporter> exporter_;
  std::string reply_;
  unsigned status_ = 200;
  std::string retry_after_ = "0";
};

TEST_F(SpanExporterTest, a_full_batch_is_sent_at_once_and_the_rest_after_the_interval) {
  options_.sender.headers = {{"api-key", "secret"}};
  start();
  record({"a", "b", "c", "d", "e"});
  server_.advance(seconds(1));
  ASSERT_EQ(collector_->requests().size(), 1u);
  const auto& first = collector_->requests()[0];
  EXPECT_EQ(first.field("content-type"), "application/x-protobuf");
  EXPECT_EQ(first.field("api-key"), "secret");
  EXPECT_THAT(span_names(first.content), ElementsAre("a", "b", "c", "d"));
  server_.advance(seconds(5));
  ASSERT_EQ(collector_->requests().size(), 2u);
  EXPECT_THAT(span_names(collector_->requests()[1].content), ElementsAre("e"));
  EXPECT_EQ(counted(OtlpFate::sent), 5u);
  EXPECT_EQ(exporter_->queued(), 0u);
}

TEST_F(SpanExporterTest, what_is_compressed_is_the_same_message) {
  options_.sender.gzip = true;
  start();
  record({"a", "b", "c", "d"});
  server_.advance(seconds(1));
  ASSERT_EQ(collector_->requests().size(), 1u);
  EXPECT_EQ(collector_->requests()[0].field("content-encoding"), "gzip");
  EXPECT_EQ(counted(OtlpFate::sent), 4u);
}

TEST_F(SpanExporterTest, what_cannot_be_taken_now_is_sent_again_and_not_before_retry_after) {
  for (const unsigned status : {429u, 502u, 503u, 504u}) {
    if (exporter_ == nullptr) start();
    collector_->forget_requests();
    status_ = status;
    retry_after_ = "20";
    const Instant begun = server_.now();
    record({"a", "b", "c", "d"});
    server_.advance(seconds(1));
    ASSERT_EQ(collector_->requests().size(), 1u) << status;
    server_.advance(seconds(18));
    EXPECT_EQ(collector_->requests().size(), 1u) << "20 s are not over";
    status_ = 200;
    server_.advance(seconds(3));
    ASSERT_EQ(collector_->requests().size(), 2u) << status << (server_.now() - begun).ns;
    EXPECT_EQ(collector_->requests()[0].content, collector_->requests()[1].content);
  }
  EXPECT_EQ(counted(OtlpFate::sent), 16u);
}

TEST_F(SpanExporterTest, a_retry_after_may_be_a_date) {
  start();
  status_ = 429;
  // The wall clock of a test begins in 2001 or later: a date in the past asks for no pause.
  retry_after_ = "Sun, 06 Nov 1994 08:49:37 GMT";
  record({"a", "b", "c", "d"});
  server_.advance(seconds(1));
  status_ = 200;
  server_.advance(seconds(2));
  EXPECT_EQ(counted(OtlpFate::sent), 4u);
}

TEST_F(SpanExporterTest, what_is_refused_is_not_sent_again) {
  start();
  for (const unsigned status : {400u, 401u, 413u, 500u, 301u}) {
    status_ = status;
    record(4);
    server_.advance(seconds(60));
  }
  EXPECT_EQ(collector_->requests().size(), 5u);
  EXPECT_EQ(counted(OtlpFate::refused), 20u);
  EXPECT_EQ(exporter_->sender().exports(false), 5u);
}

TEST_F(SpanExporterTest, what_is_taken_in_part_is_counted_and_not_sent_again) {
  start();
  reply_ = std::string(
      "\x0a\x07\x08\x03\x12\x03"
      "bad",
      9);
  record(4);
  server_.advance(seconds(60));
  EXPECT_EQ(collector_->requests().size(), 1u);
  EXPECT_EQ(counted(OtlpFate::rejected), 3u);
  EXPECT_EQ(counted(OtlpFate::sent), 1u);
}

TEST_F(SpanExporterTest, a_reply_that_is_rubbish_changes_nothing) {
  start();
  reply_ = "<html>rubbish</html>";
  record(4);
  server_.advance(seconds(60));
  EXPECT_EQ(collector_->requests().size(), 1u);
  EXPECT_EQ(counted(OtlpFate::sent), 4u);
  // More are rejected than there were.
  reply_ = std::string("\x0a\x03\x08\xff\x01", 5);
  record(4);
  server_.advance(seconds(60));
  EXPECT_EQ(counted(OtlpFate::rejected), 4u);
  expect_all_counted(8);
}

TEST_F(SpanExporterTest, a_collector_that_is_down_costs_its_queue_and_gets_what_is_left) {
  start();
  collector_->go_down();
  record(40);
  server_.advance(seconds(1));
  EXPECT_EQ(exporter_->queued(), 16u) << "queue_spans_max";
  EXPECT_EQ(counted(OtlpFate::queue_full), 24u);
  EXPECT_EQ(server_.get("/work").status(), 204u);
  collector_->come_back();
  server_.advance(seconds(60));
  EXPECT_EQ(counted(OtlpFate::sent), 16u);
  expect_all_counted(40);
}

TEST_F(SpanExporterTest, one_that_stays_down_is_given_up_after_a_time) {
  start();
  collector_->go_down();
  record(4);
  server_.advance(OtlpSender::retry_time_max * 2);
  EXPECT_EQ(counted(OtlpFate::failed), 4u);
  EXPECT_EQ(exporter_->queued(), 0u);
}

TEST_F(SpanExporterTest, a_collector_that_resets_connections_or_is_slow_gets_them_again) {
  start();
  collector_->reset_next(2);
  record(4);
  server_.advance(seconds(30));
  EXPECT_EQ(counted(OtlpFate::sent), 4u);
  collector_->delay(seconds(30));  // and timeout is 10
  record(4);
  server_.advance(seconds(20));
  EXPECT_EQ(counted(OtlpFate::sent), 4u);
  collector_->delay({});
  server_.advance(seconds(60));
  EXPECT_EQ(counted(OtlpFate::sent), 8u);
}

TEST_F(SpanExporterTest, the_end_sends_what_there_is_and_repeats_nothing) {
  start();
  record({"last"});
  server_.get("/finish");
  server_.advance(milliseconds(10));
  EXPECT_EQ(counted(OtlpFate::sent), 1u);
}

TEST_F(SpanExporterTest, at_the_end_a_collector_that_is_down_is_not_waited_for) {
  start();
  collector_->go_down();
  record(6);
  server_.advance(milliseconds(300));
  server_.get("/finish");
  server_.advance(seconds(1));
  EXPECT_EQ(counted(OtlpFate::shutdown), 6u);
  EXPECT_EQ(exporter_->queued(), 0u);
}

TEST_F(SpanExporterTest, what_is_left_when_time_is_over_is_counted) {
  start();
  collector_->delay(seconds(9));
  record(6);
  server_.advance(seconds(1));
  exporter_->drop_rest();
  EXPECT_EQ(counted(OtlpFate::shutdown), 6u);
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
