// The load of HTTP/2 against servers that do well, and that do each thing wrong.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <list>

#include "katana/wire/http2/machine.hpp"
#include "lab/load/accounting_test.hpp"
#include "lab/load/fake_server_test.hpp"
#include "lab/load/http2_requests.hpp"
#include "lab/load/run.hpp"
#include "lab/load/tls_fixture_test.hpp"

namespace katana::load {
namespace {

// The action of a server for a request, by its number on the connection, from 1.
enum class Deed : std::uint8_t {
  answers,
  resets,
  refuses,
  is_silent,
  goes_away,
  breaks_off,
  babbles
};
using Plan = std::function<Deed(unsigned)>;

// One connection of a server on this house's own machine.
class Http2Peer {
 public:
  Http2Peer(Peer& peer, Plan plan, http2::Limits limits)
      : peer_(peer), plan_(std::move(plan)), context_(limits) {}

  void serve() {
    (void)machine_.start(outbox_);
    while (receive() && take() && send()) continue;
    while (http2::Stream* const each = machine_.first()) {
      machine_.reset(*each, http2::ErrorCode::cancel, now_, outbox_);
    }
  }

 private:
  bool receive() {
    char piece[16 * 1024];
    const long got = peer_.read_some(piece, sizeof piece);
    if (got > 0) kept_.append(piece, static_cast<std::size_t>(got));
    return got > 0;
  }

  bool take() {
    for (;;) {
      const http2::Step step = machine_.next(kept_, now_, outbox_);
      if (step.event == http2::Event::closed) return false;
      if (step.event == http2::Event::head) {
        machine_.admit(streams_.emplace_back());
        if (step.last && !obey(streams_.back())) return false;
      }
      if (step.event == http2::Event::content) {
        machine_.consume(step.stream, machine_.content().size(), outbox_);
        if (step.last && !obey(*step.stream)) return false;
      }
      kept_.erase(0, step.consumed);
      if (step.event == http2::Event::need_bytes && (step.consumed == 0 || kept_.empty())) {
        return true;
      }
    }
  }

  // False: the connection ends.
  bool obey(http2::Stream& stream) {
    const http::ReplyHead head;
    Bytes content = "ok";
    switch (plan_(++requests_)) {
      case Deed::answers:
        return machine_.respond(stream, head, content, false, SIZE_MAX, now_, outbox_);
      case Deed::resets:
        machine_.reset(stream, http2::ErrorCode::internal_error, now_, outbox_);
        return true;
      case Deed::refuses:
        machine_.reset(stream, http2::ErrorCode::refused_stream, now_, outbox_);
        return true;
      case Deed::is_silent: return true;
      case Deed::goes_away: {  // nothing on this connection was processed
        std::string goaway(17, '\0');
        http2::put_frame_header(goaway.data(), {8, http2::FrameType::goaway, 0, 0});
        (void)outbox_.write(goaway);
        send();
        peer_.wait_for_end();
        return false;
      }
      case Deed::breaks_off: peer_.reset(); return false;
      case Deed::babbles:
        (void)outbox_.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        send();
        return false;
    }
    return false;
  }

  bool send() {
    std::string text;
    outbox_.for_each_pending([&](Bytes bytes, const Retained*) { text += bytes; });
    outbox_.clear();
    return peer_.write(text);
  }

  Peer& peer_;
  const Plan plan_;
  http2::Context context_;
  BlockPool blocks_{4096, 1024};
  Outbox outbox_{blocks_};
  const Instant now_{seconds(100).ns};
  http2::Machine machine_{context_, now_};
  std::list<http2::Stream> streams_;
  std::string kept_;
  unsigned requests_ = 0;
};

std::function<void(Peer&)> serving(Plan plan, http2::Limits limits = {}) {
  return [plan, limits](Peer& peer) { std::make_unique<Http2Peer>(peer, plan, limits)->serve(); };
}

Deed answers(unsigned) { return Deed::answers; }

LoadPlan counted(std::uint64_t requests, std::uint32_t connections, std::uint32_t streams) {
  LoadPlan plan;
  plan.http2 = true;
  plan.requests_max = requests;
  plan.connections = connections;
  plan.pipeline = streams;
  plan.duration = seconds(60);
  plan.timeout = seconds(30);
  plan.expect.length_bytes = 2;
  plan.expect.body = "ok";
  return plan;
}

std::unique_ptr<RunResult> run(const LoadPlan& plan, std::uint16_t port, RequestSpec spec = {}) {
  const auto url = parse_url(fmt::format("http://127.0.0.1:{}/", port));
  Target target{*url, *resolve(*url), *make_requests(*url, spec, "")};
  EXPECT_TRUE(add_blocks(target, spec));
  auto result = run_load(plan, target, nullptr);
  EXPECT_TRUE(result.has_value());
  return std::move(*result);
}

TEST(Http2Load, sends_exactly_what_was_asked_for_on_two_threads) {
  FakeServer server(serving(answers));
  LoadPlan plan = counted(1'001, 5, 8);
  plan.threads = 2;
  const auto result = run(plan, server.port());
  const Counts& counts = result->total.counts;
  EXPECT_EQ(counts.requests, 1'001u);
  EXPECT_EQ(counts.statuses[200], 1'001u);
  EXPECT_EQ(counts.content_bytes, 2'002u);
  EXPECT_EQ(counts.all_failures(), 0u);
  EXPECT_EQ(counts.connects, 5u);
  EXPECT_EQ(server.accepted(), 5u);
  expect_all_accounted_for(*result);
}

TEST(Http2Load, streams_that_time_out_leave_the_others_of_their_connection) {
  http2::Limits limits;
  limits.streams_max = 3;
  FakeServer server(serving(
      [](unsigned count) {
        // Only their timeout ends the first two, and the others are answered beside them.
        return count <= 2 ? Deed::is_silent : Deed::answers;
      },
      limits));
  LoadPlan plan = counted(20, 1, 16);
  plan.timeout = milliseconds(300);
  const auto result = run(plan, server.port());
  const Counts& counts = result->total.counts;
  EXPECT_GE(counts.failure(Failure::response_timeout), 2u);
  // Before the server's SETTINGS came, more may have begun than it takes: those it refuses.
  EXPECT_EQ(counts.requests + counts.failure(Failure::stream_refused) +
                counts.failure(Failure::response_timeout),
            20u);
  expect_all_accounted_for(*result);
}

TEST(Http2Load, what_becomes_of_a_stream_is_counted_as_what_it_is_and_leaves_the_others) {
  const std::pair<Deed, Failure> rows[] = {{Deed::resets, Failure::stream_reset},
                                           {Deed::refuses, Failure::stream_refused}};
  for (const auto& [deed, failure] : rows) {
    FakeServer server(
        serving([does = deed](unsigned count) { return count % 4 == 0 ? does : Deed::answers; }));
    const auto result = run(counted(100, 1, 8), server.port());
    EXPECT_EQ(result->total.counts.requests, 75u);
    EXPECT_EQ(result->total.counts.failure(failure), 25u);
    EXPECT_EQ(result->total.counts.all_failures(), 25u);
    EXPECT_EQ(result->total.counts.connects, 1u);
    expect_all_accounted_for(*result);
  }
}

TEST(Http2Load, what_ends_a_connection_ends_all_requests_on_it_in_the_same_way) {
  const std::pair<Deed, Failure> rows[] = {{Deed::goes_away, Failure::goaway},
                                           {Deed::breaks_off, Failure::reset},
                                           {Deed::babbles, Failure::malformed}};
  for (const auto& [deed, failure] : rows) {
    FakeServer server(serving([does = deed](unsigned) { return does; }));
    const auto result = run(counted(4, 2, 1), server.port());
    EXPECT_EQ(result->total.counts.requests, 0u) << failure_name(failure);
    EXPECT_EQ(result->total.counts.failure(failure), 4u) << failure_name(failure);
    EXPECT_EQ(result->total.counts.all_failures(), 4u) << failure_name(failure);
    expect_all_accounted_for(*result);
  }
}

TEST(Http2Load, a_server_that_says_nothing_times_out_and_is_left) {
  FakeServer server(serving([](unsigned) { return Deed::is_silent; }));
  LoadPlan plan = counted(4, 1, 4);
  plan.timeout = milliseconds(200);
  const auto result = run(plan, server.port());
  EXPECT_EQ(result->total.counts.failure(Failure::response_timeout), 4u);
  EXPECT_EQ(result->total.counts.requests, 0u);
  expect_all_accounted_for(*result);
}

TEST(Http2Load, a_server_of_another_protocol_answers_nothing) {
  FakeServer server([](Peer& peer) {
    if (!peer.read_request().empty()) peer.write("HTTP/1.1 400 Bad Request\r\n\r\n");
    peer.wait_for_end();
  });
  const auto result = run(counted(3, 1, 1), server.port());
  // It may answer the preface before there is a request; then there is no run.
  const Counts& counts = result->total.counts;
  EXPECT_GE(counts.failure(Failure::malformed) + counts.failure(Failure::unsolicited), 1u);
  EXPECT_EQ(counts.requests, 0u);
  expect_all_accounted_for(*result);
}

TEST(Http2Load, content_beyond_every_window_is_sent_whole) {
  constexpr std::size_t content_bytes = 1024 * 1024;
  FakeServer server(serving(answers));
  RequestSpec spec{.method = "POST", .headers = {}, .body = std::string(content_bytes, 'x')};
  const auto result = run(counted(3, 1, 3), server.port(), spec);
  EXPECT_EQ(result->total.counts.requests, 3u);
  EXPECT_GT(result->total.counts.bytes_sent, 3 * content_bytes);
  expect_all_accounted_for(*result);
}

TEST(Http2Load, churn_opens_a_connection_for_every_so_many_requests) {
  FakeServer server(serving(answers));
  LoadPlan plan = counted(40, 1, 4);
  plan.requests_per_connection = 8;
  const auto result = run(plan, server.port());
  EXPECT_EQ(result->total.counts.requests, 40u);
  EXPECT_GE(result->total.counts.connects, 5u);
  EXPECT_EQ(result->total.counts.all_failures(), 0u);
}

TEST(Http2Load, an_open_loop_sends_every_request_of_its_schedule) {
  FakeServer server(serving(answers));
  LoadPlan plan = counted(0, 4, 16);
  plan.duration = milliseconds(400);
  plan.rates.add(plan.duration, 500, 500);
  const auto result = run(plan, server.port());
  std::uint64_t unsent = 0;
  for (const OwnStatistics& own : result->threads) unsent += own.unsent;
  EXPECT_EQ(result->total.counts.requests + unsent, 200u);
  EXPECT_EQ(result->total.counts.all_failures(), 0u);
  expect_all_accounted_for(*result);
}

std::unique_ptr<RunResult> run_over_tls(const LoadPlan& plan, const FakeServer& server) {
  auto result = run_load(plan, tls_target(server.port(), plan), nullptr);
  EXPECT_TRUE(result.has_value());
  return std::move(*result);
}

TEST(Http2Load, over_tls_is_agreed_on_by_alpn) {
  const auto context = server_context("h2");
  FakeServer server(serving(answers), context.get());
  LoadPlan plan = counted(1'001, 5, 8);
  plan.threads = 2;
  auto result = run_over_tls(plan, server);
  EXPECT_EQ(result->total.counts.requests, 1'001u);
  EXPECT_EQ(result->total.counts.all_failures(), 0u);
  EXPECT_EQ(result->total.counts.handshakes, 5u);
  EXPECT_EQ(result->tls_agreed, "TLS 1.3, TLS_AES_128_GCM_SHA256, h2");
  expect_all_accounted_for(*result);
  plan = counted(40, 1, 4);
  plan.requests_per_connection = 8;
  plan.tls_resume = true;
  result = run_over_tls(plan, server);
  EXPECT_EQ(result->total.counts.requests, 40u);
  EXPECT_GE(result->total.counts.handshakes, 5u);
  EXPECT_EQ(result->total.counts.resumed, result->total.counts.handshakes - 1);
}

TEST(Http2Load, over_tls_sends_content_beyond_every_window) {
  constexpr std::size_t content_bytes = 1024 * 1024;
  const auto context = server_context("h2");
  FakeServer server(serving(answers), context.get());
  const RequestSpec spec{.method = "POST", .headers = {}, .body = std::string(content_bytes, 'x')};
  const LoadPlan plan = counted(3, 1, 3);
  const auto result = run_load(plan, tls_target(server.port(), plan, spec), nullptr);
  ASSERT_TRUE(result);
  EXPECT_EQ((*result)->total.counts.requests, 3u);
  expect_all_accounted_for(**result);
}

TEST(Http2Load, over_tls_with_a_server_that_has_no_http2_says_what_it_chose) {
  const std::pair<const char*, const char*> rows[] = {
      {"http/1.1", "the server chose 'http/1.1' and not HTTP/2"},
      {"", "the server chose no protocol and not HTTP/2"}};
  for (const auto& [protocol, problem] : rows) {
    const auto context = server_context(protocol);
    FakeServer server([](Peer& peer) { peer.wait_for_end(); }, context.get());
    const auto result = run_over_tls(counted(4, 2, 1), server);
    EXPECT_FALSE(result->connected);
    // Some may have been tried again when the run was given up.
    EXPECT_GE(result->total.counts.failure(Failure::handshake_failed), 2u);
    EXPECT_EQ(result->tls_problem.find(problem), 0u) << result->tls_problem;
  }
}

TEST(Http2Requests, have_an_authority_for_host_and_no_field_about_the_connection) {
  const auto url = parse_url("http://a:81/x");
  const auto block_of = [&](RequestSpec spec) {
    Target target{*url, {}, *make_requests(*url, spec, "")};
    EXPECT_TRUE(add_blocks(target, spec));
    return target.requests.front().block;
  };
  const std::string plain = block_of({});
  EXPECT_NE(plain.find("a:81"), std::string::npos);
  EXPECT_EQ(block_of({.method = "GET", .headers = {"Connection: close"}, .body = ""}), plain);
  const std::string other = block_of({.method = "GET", .headers = {"Host: b"}, .body = ""});
  EXPECT_EQ(other.find("a:81"), std::string::npos);
  Target secure{*parse_url("https://a:81/x"), {}, *make_requests(*url, {}, "")};
  ASSERT_TRUE(add_blocks(secure, {}));
  EXPECT_NE(secure.requests.front().block, plain);  // :scheme
}

}  // namespace
}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
