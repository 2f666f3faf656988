#include "lab/load/run.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "lab/load/accounting_test.hpp"
#include "lab/load/fake_server_test.hpp"
#include "lab/load/verdict.hpp"

namespace katana::load {
namespace {

constexpr const char* good_reply = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

void serve_well(Peer& peer) {
  while (!peer.read_request().empty() && peer.write(good_reply)) continue;
}

LoadPlan counted(std::uint64_t requests, std::uint32_t connections = 1) {
  LoadPlan plan;
  plan.requests_max = requests;
  plan.connections = connections;
  plan.duration = seconds(20);
  return plan;
}

LoadPlan at_rate(double rate, Duration duration, std::uint32_t connections) {
  LoadPlan plan;
  plan.connections = connections;
  plan.duration = duration;
  plan.rates.add(duration, rate, rate);
  return plan;
}

std::unique_ptr<RunResult> run(const LoadPlan& plan, std::uint16_t port, RequestSpec spec = {},
                               RunObserver* observer = nullptr) {
  const auto url = parse_url(fmt::format("http://127.0.0.1:{}/", port));
  Target target;
  target.url = *url;
  target.requests = *make_requests(*url, spec, "");
  target.address = *resolve(*url);
  auto result = run_load(plan, target, observer);
  EXPECT_TRUE(result.has_value());
  return std::move(*result);
}

// Due, and no connection was free for it until the end: on a machine that stands still then.
std::uint64_t unsent_of(const RunResult& result) {
  std::uint64_t unsent = 0;
  for (const OwnStatistics& own : result.threads) unsent += own.unsent;
  return unsent;
}

TEST(ClosedLoop, sends_exactly_what_was_asked_for_on_two_threads) {
  std::atomic<int> served = 0;
  FakeServer server([&](Peer& peer) {
    while (!peer.read_request().empty() && peer.write(good_reply)) ++served;
  });
  LoadPlan plan = counted(301, 5);
  plan.threads = 2;
  const auto result = run(plan, server.port());
  EXPECT_EQ(result->total.counts.requests, 301u);
  EXPECT_EQ(result->total.counts.completions, 301u);
  EXPECT_EQ(result->total.counts.statuses[200], 301u);
  EXPECT_EQ(result->total.counts.all_failures(), 0u);
  EXPECT_EQ(result->total.counts.content_bytes, 602u);
  EXPECT_EQ(result->total.counts.connects, 5u);
  EXPECT_EQ(server.accepted(), 5u);
  expect_all_accounted_for(*result);
}

TEST(ClosedLoop, a_ramp_opens_connections_as_it_climbs) {
  std::atomic<int> accepted = 0;
  FakeServer server([&](Peer& peer) {
    // The first connection goes on when all four are there, so the ramp must have climbed by then.
    const bool is_first = ++accepted == 1;
    for (int count = 0; !peer.read_request().empty(); ++count) {
      while (is_first && count == 10 && accepted < 4) std::this_thread::yield();
      if (!peer.write(good_reply)) return;
    }
  });
  LoadPlan plan = counted(5000, 4);
  plan.timeout = seconds(60);
  plan.connection_ramp.add(milliseconds(5), 4);
  plan.connection_ramp.add(seconds(60), 4);
  const auto result = run(plan, server.port());
  EXPECT_EQ(result->total.counts.requests, 5000u);
  EXPECT_EQ(result->total.counts.all_failures(), 0u);
  EXPECT_EQ(server.accepted(), 4u);
  expect_all_accounted_for(*result);
}

TEST(ClosedLoop, a_ramp_that_falls_closes_connections_that_have_their_reply) {
  FakeServer server(serve_well);
  LoadPlan plan;
  plan.connections = 4;
  plan.connection_ramp.add(milliseconds(100), 4);
  plan.connection_ramp.add(milliseconds(100), 1);
  plan.connection_ramp.add(seconds(1), 1);
  plan.duration = plan.connection_ramp.duration();
  plan.interval = milliseconds(10);
  const auto result = run(plan, server.port());
  EXPECT_GT(result->total.counts.requests, 0u);
  EXPECT_EQ(result->total.counts.all_failures(), 0u);
  EXPECT_LE(server.accepted(), 4u);
  EXPECT_EQ(result->series.back().open, 1u);
  expect_all_accounted_for(*result);
}

TEST(ClosedLoop, a_pipeline_is_filled_and_replies_keep_their_requests) {
  std::atomic<bool> saw_four = false;
  FakeServer server([&](Peer& peer) {
    // Four requests must come before the first reply does.
    for (int count = 0; count < 4; ++count) {
      if (peer.read_request().empty()) return;
    }
    saw_four = true;
    for (int count = 0; count < 4; ++count) peer.write(good_reply);
    serve_well(peer);
  });
  LoadPlan plan = counted(40);
  plan.pipeline = 4;
  const auto result = run(plan, server.port());
  EXPECT_TRUE(saw_four);
  EXPECT_EQ(result->total.counts.requests, 40u);
  expect_all_accounted_for(*result);
}

TEST(ClosedLoop, churn_opens_a_connection_for_every_so_many_requests) {
  std::atomic<int> closing = 0;
  FakeServer server([&](Peer& peer) {
    for (std::string head = peer.read_request(); !head.empty(); head = peer.read_request()) {
      if (head.find("Connection: close\r\n") != std::string::npos) ++closing;
      peer.write(good_reply);
    }
  });
  LoadPlan plan = counted(20);
  plan.requests_per_connection = 2;
  const auto result = run(plan, server.port());
  EXPECT_EQ(result->total.counts.requests, 20u);
  EXPECT_EQ(closing, 10);
  EXPECT_GE(result->total.counts.connects, 10u);
  EXPECT_EQ(result->total.counts.all_failures(), 0u);
}

TEST(ClosedLoop, an_unannounced_churn_ends_connections_that_the_server_keeps_open) {
  std::atomic<int> closing = 0;
  FakeServer server([&](Peer& peer) {
    for (std::string head = peer.read_request(); !head.empty(); head = peer.read_request()) {
      if (head.find("Connection:") != std::string::npos) ++closing;
      peer.write(good_reply);
    }
  });
  LoadPlan plan = counted(20);
  plan.requests_per_connection = 2;
  plan.reset_on_close = true;
  const RequestSpec silent{.headers = {}, .body = {}, .announces_close = false};
  const auto result = run(plan, server.port(), silent);
  EXPECT_EQ(result->total.counts.requests, 20u);
  EXPECT_EQ(closing, 0);
  EXPECT_GE(result->total.counts.connects, 10u);
  EXPECT_EQ(result->total.counts.all_failures(), 0u);
}

TEST(ClosedLoop, replies_that_end_with_the_connection_are_whole) {
  FakeServer server([](Peer& peer) {
    if (!peer.read_request().empty()) peer.write("HTTP/1.1 200 OK\r\n\r\nuntil the end");
  });
  LoadPlan plan = counted(5);
  plan.expect.body = "until the end";
  const auto result = run(plan, server.port());
  EXPECT_EQ(result->total.counts.requests, 5u);
  EXPECT_EQ(result->total.counts.connects, 5u);
}

TEST(ClosedLoop, content_beyond_the_socket_buffers_is_sent_whole) {
  constexpr std::size_t content_bytes = 8 * 1024 * 1024;
  FakeServer server([](Peer& peer) {
    while (!peer.read_request().empty() && peer.read_content(content_bytes)) peer.write(good_reply);
  });
  RequestSpec spec{.method = "POST", .headers = {}, .body = std::string(content_bytes, 'x')};
  LoadPlan plan = counted(3);
  const auto result = run(plan, server.port(), spec);
  EXPECT_EQ(result->total.counts.requests, 3u);
  EXPECT_GT(result->total.counts.bytes_sent, 3 * content_bytes);
}

TEST(ClosedLoop, a_reply_to_half_a_request_counts_and_ends_the_connection) {
  constexpr std::size_t content_bytes = 64 * 1024 * 1024;
  // The rest of the content becomes the beginning of the next request, if there is one.
  FakeServer server([](Peer& peer) {
    while (!peer.read_request().empty()) {
      peer.write("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n");
    }
  });
  RequestSpec spec{.method = "POST", .headers = {}, .body = std::string(content_bytes, 'x')};
  const auto result = run(counted(3), server.port(), spec);
  EXPECT_EQ(result->total.counts.failure(Failure::wrong_status), 3u);
  EXPECT_EQ(result->total.counts.statuses[413], 3u);
  // Only a request that was sent whole before its reply was read leaves its connection in use.
  EXPECT_GE(server.accepted() + result->total.counts.bytes_sent / content_bytes, 3u);
  expect_all_accounted_for(*result);
}

TEST(ClosedLoop, interim_replies_are_no_requests) {
  FakeServer server([](Peer& peer) {
    while (!peer.read_request().empty()) {
      peer.write("HTTP/1.1 103 Early Hints\r\n\r\n");
      peer.write(good_reply);
    }
  });
  const auto result = run(counted(10), server.port());
  EXPECT_EQ(result->total.counts.requests, 10u);
  EXPECT_EQ(result->total.counts.interims, 10u);
}

struct Hostile {
  const char* name;
  std::function<void(Peer&)> serve;
  Failure failure;
};

std::vector<Hostile> hostile_servers() {
  const auto after_request = [](std::string reply) {
    return [reply](Peer& peer) {
      if (!peer.read_request().empty()) peer.write(reply);
    };
  };
  const auto always = [](std::string reply) {
    return [reply](Peer& peer) {
      while (!peer.read_request().empty() && peer.write(reply)) continue;
    };
  };
  const auto endless = [](std::string begin, std::string more) {
    return [begin, more](Peer& peer) {
      if (peer.read_request().empty() || !peer.write(begin)) return;
      while (peer.write(more)) continue;
    };
  };
  return {
      {"no reply", after_request(""), Failure::closed_early},
      {"half a head", after_request("HTTP/1.1 200 O"), Failure::closed_early},
      {"a length that lies", after_request("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok"),
       Failure::closed_early},
      {"garbage", after_request("SSH-2.0-OpenSSH\r\n"), Failure::malformed},
      {"an endless head", endless("HTTP/1.1 200 OK\r\n", "X: " + std::string(999, 'x') + "\r\n"),
       Failure::malformed},
      {"an endless line", endless("HTTP/1.1 200 OK\r\nX: ", std::string(999, 'x')),
       Failure::malformed},
      {"endless interim replies", endless("", "HTTP/1.1 100 Continue\r\n\r\n"), Failure::malformed},
      {"endless chunks",
       endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "3\r\nabc\r\n"),
       Failure::response_timeout},
      {"endless content", endless("HTTP/1.1 200 OK\r\n\r\n", std::string(60'000, 'x')),
       Failure::response_timeout},
      {"silence", [](Peer& peer) { peer.wait_for_end(); }, Failure::response_timeout},
      {"a reset",
       [](Peer& peer) {
         peer.read_request();
         peer.reset();
       },
       Failure::reset},
      {"an error", always("HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nok"), Failure::wrong_status},
      {"less content", always("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\no"),
       Failure::wrong_length},
      {"other content", always("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nko"),
       Failure::wrong_body},
  };
}

TEST(HostileServer, every_way_to_fail_is_counted_as_what_it_is_and_as_no_success) {
  for (const Hostile& hostile : hostile_servers()) {
    SCOPED_TRACE(hostile.name);
    FakeServer server(hostile.serve);
    LoadPlan plan = counted(4, 2);
    plan.timeout = milliseconds(150);
    plan.expect.length_bytes = 2;
    plan.expect.body = "ok";
    const auto result = run(plan, server.port());
    EXPECT_EQ(result->total.counts.failure(hostile.failure), 4u);
    EXPECT_EQ(result->total.counts.all_failures(), 4u);
    EXPECT_EQ(result->total.counts.requests, 0u);
    expect_all_accounted_for(*result);
  }
}

TEST(HostileServer, a_body_that_is_a_part_of_what_is_expected_is_wrong) {
  FakeServer server(serve_well);
  LoadPlan plan = counted(3);
  plan.expect.body = "okay";
  const auto result = run(plan, server.port());
  EXPECT_EQ(result->total.counts.failure(Failure::wrong_body), 3u);
}

TEST(HostileServer, what_was_not_asked_for_is_unsolicited_and_ends_the_connection) {
  FakeServer server([](Peer& peer) {
    while (!peer.read_request().empty()) peer.write(std::string(good_reply) + good_reply);
  });
  const auto result = run(counted(4), server.port());
  EXPECT_EQ(result->total.counts.requests, 4u);
  EXPECT_EQ(result->total.counts.failure(Failure::unsolicited), 4u);
  EXPECT_GE(server.accepted(), 4u);
  expect_all_accounted_for(*result);
}

TEST(HostileServer, that_ends_every_connection_is_not_hammered) {
  FakeServer server([](Peer& peer) { peer.reset(); });
  LoadPlan plan;
  plan.connections = 1;
  plan.duration = milliseconds(600);
  run(plan, server.port());
  // 10, 20, 40, 80, 160, 320 ms lie between them at least.
  EXPECT_LE(server.accepted(), 8u);
}

TEST(Connecting, that_is_refused_is_counted_and_there_is_no_run) {
  std::uint16_t port = 0;
  {
    FakeServer server(serve_well);
    port = server.port();
  }
  LoadPlan plan;
  plan.connections = 7;
  const auto result = run(plan, port);
  EXPECT_FALSE(result->connected);
  EXPECT_EQ(result->total.counts.failure(Failure::connect_refused), 7u);
  EXPECT_EQ(result->total.counts.sent, 0u);
}

TEST(Connecting, that_nobody_answers_ends_at_its_timeout) {
  // A listener that accepts nothing, with its backlog full.
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(::bind(listener, generic, size), 0);
  ASSERT_EQ(::listen(listener, 0), 0);
  ASSERT_EQ(::getsockname(listener, generic, &size), 0);
  std::vector<Descriptor> fill;
  for (int count = 0; count < 4; ++count) {
    fill.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
    ::connect(fill.back().get(), generic, size);
  }
  LoadPlan plan;
  plan.connections = 3;
  plan.connect_timeout = milliseconds(150);
  const auto result = run(plan, ntohs(address.sin_port));
  ::close(listener);
  EXPECT_FALSE(result->connected);
  EXPECT_EQ(result->total.counts.failure(Failure::connect_timeout), 3u);
}

TEST(OpenLoop, sends_every_request_of_its_schedule) {
  FakeServer server(serve_well);
  LoadPlan plan = at_rate(500, milliseconds(600), 64);
  plan.threads = 2;
  const auto result = run(plan, server.port());
  EXPECT_EQ(result->total.counts.requests + unsent_of(*result), 300u);
  EXPECT_EQ(result->total.send_lag.count(), result->total.counts.requests);
  expect_all_accounted_for(*result);
}

// Lets the server's tenth reply wait for 300 ms of the generator's own clock.
struct Stall : RunObserver {
  void on_interval(const IntervalStatistics& row, const Statistics&, const RunResult&) override {
    const double now_s = row.begin_s + row.duration_s;
    // From the next interval on: this one may have ended before the present time.
    if (!std::exchange(is_seen, has_begun.load())) return;
    if (begin_s == 0) begin_s = now_s;
    if (now_s < begin_s + 0.3 || is_over.load()) return;
    end_s = now_s;
    is_over = true;
    is_over.notify_all();
  }
  std::atomic<bool> has_begun = false;
  std::atomic<bool> is_over = false;
  bool is_seen = false;
  double begin_s = 0;
  double end_s = 0;
};

TEST(OpenLoop, a_stall_is_seen_by_every_request_that_was_due_in_it) {
  // One connection. At 500 a second, requests that are due up to 100 ms before the stall's end
  // cannot be answered in less than 100 ms. A closed loop would see one slow reply.
  Stall stall;
  FakeServer server([&](Peer& peer) {
    for (int count = 1; !peer.read_request().empty(); ++count) {
      if (count == 10) stall.has_begun = true;
      if (count == 10) stall.is_over.wait(false);
      if (!peer.write(good_reply)) return;
    }
  });
  LoadPlan plan = at_rate(500, milliseconds(600), 1);
  plan.interval = milliseconds(10);
  plan.timeout = seconds(30);
  const auto result = run(plan, server.port(), {}, &stall);
  EXPECT_EQ(result->total.counts.requests + unsent_of(*result), 300u);
  const auto counts = result->total.latency.counts();
  std::uint64_t slow = 0;
  for (std::size_t index = Histogram::index_of(100'000'000); index < counts.size(); ++index) {
    slow += counts[index];
  }
  // Whatever the machine did meanwhile; it is a hundred where it is awake.
  const double due = 500 * (std::min(stall.end_s - 0.1, 0.6) - stall.begin_s) - 1;
  EXPECT_GE(static_cast<double>(slow + unsent_of(*result)), due)
      << stall.begin_s << " to " << stall.end_s << ", " << slow << " slow";
  EXPECT_GE(static_cast<double>(result->threads[0].held_back + unsent_of(*result)), due);
}

TEST(OpenLoop, what_no_connection_was_free_for_is_unsent) {
  FakeServer server([](Peer& peer) { peer.wait_for_end(); });
  LoadPlan plan = at_rate(1000, milliseconds(200), 2);
  plan.timeout = milliseconds(400);
  const auto result = run(plan, server.port());
  EXPECT_EQ(result->total.counts.sent, 2u);
  EXPECT_EQ(result->threads[0].unsent, 198u);
  EXPECT_EQ(result->total.counts.failure(Failure::response_timeout), 2u);
  expect_all_accounted_for(*result);
}

TEST(WarmUp, is_not_in_the_figures) {
  std::atomic<std::uint64_t> served = 0;
  FakeServer server([&](Peer& peer) {
    while (!peer.read_request().empty() && peer.write(good_reply)) ++served;
  });
  LoadPlan plan = at_rate(500, milliseconds(400), 64);
  plan.rates = {};
  plan.warm_up = milliseconds(200);
  plan.rates.add(milliseconds(600), 500, 500);
  const auto result = run(plan, server.port());
  EXPECT_EQ(result->total.counts.requests + unsent_of(*result), 200u);
  EXPECT_EQ(result->total.counts.warm_up, 100u);
  EXPECT_EQ(served, result->total.counts.requests + 100);
}

TEST(Intervals, add_up_to_the_whole) {
  FakeServer server(serve_well);
  LoadPlan plan = at_rate(1000, milliseconds(300), 64);
  plan.interval = milliseconds(50);
  class Sum : public RunObserver {
   public:
    void on_interval(const IntervalStatistics&, const Statistics& counted,
                     const RunResult&) override {
      latency.add(counted.latency);
    }
    Histogram latency;
  };
  const auto url = parse_url(fmt::format("127.0.0.1:{}", server.port()));
  const Target target{*url, *resolve(*url), *make_requests(*url, {}, "")};
  Sum sum;
  const auto result = run_load(plan, target, &sum);
  ASSERT_TRUE(result);
  EXPECT_GE((*result)->series.size(), 2u);
  EXPECT_TRUE(std::ranges::equal(sum.latency.counts(), (*result)->total.latency.counts()));
  std::uint64_t requests = 0;
  for (const IntervalStatistics& row : (*result)->series) requests += row.requests;
  EXPECT_EQ(requests, (*result)->total.counts.requests);
  EXPECT_EQ(requests + unsent_of(**result), 300u);
}

}  // namespace
}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
