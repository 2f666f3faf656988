// The load over TLS, against servers of OpenSSL that do well, and that do each thing wrong.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "katana/wire/tls/machine_fixture_test.hpp"
#include "lab/load/fake_server_test.hpp"
#include "lab/load/run.hpp"
#include "lab/load/tls_fixture_test.hpp"
#include "lab/load/verdict.hpp"

namespace katana::load {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* tls_reply = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

void answer_all(Peer& peer) {
  while (!peer.read_request().empty() && peer.write(tls_reply)) continue;
}

LoadPlan counted_plan(std::uint64_t requests, std::uint32_t connections) {
  LoadPlan plan;
  plan.requests_max = requests;
  plan.connections = connections;
  plan.duration = seconds(60);
  plan.timeout = seconds(30);
  plan.connect_timeout = seconds(30);
  plan.expect.body = "ok";
  return plan;
}

std::unique_ptr<RunResult> run_tls(const LoadPlan& plan, const FakeServer& server,
                                   const RequestSpec& request = {},
                                   const TlsSpec& trusted = {.insecure = true,
                                                             .authorities_file = {}}) {
  auto result = run_load(plan, tls_target(server.port(), plan, request, trusted), nullptr);
  EXPECT_TRUE(result.has_value());
  return std::move(*result);
}

TEST(TlsLoad, shakes_hands_once_for_each_connection_and_says_on_what) {
  const auto context = server_context("http/1.1");
  FakeServer server(answer_all, context.get());
  LoadPlan plan = counted_plan(301, 5);
  plan.threads = 2;
  const auto result = run_tls(plan, server);
  const Counts& counts = result->total.counts;
  EXPECT_EQ(counts.requests, 301u);
  EXPECT_EQ(counts.all_failures(), 0u);
  EXPECT_EQ(counts.connects, 5u);
  EXPECT_EQ(counts.handshakes, 5u);
  EXPECT_EQ(counts.resumed, 0u);
  EXPECT_EQ(counts.handshakes_in_window, 0u);  // they were opened before it
  EXPECT_EQ(result->total.handshake.count(), 5u);
  EXPECT_EQ(result->tls_agreed, "TLS 1.3, TLS_AES_128_GCM_SHA256, http/1.1");
  EXPECT_EQ(result->tls_problem, "");
}

TEST(TlsLoad, a_new_connection_is_a_full_handshake_unless_sessions_are_to_be_resumed) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    for (const bool resume : {false, true}) {
      std::atomic<unsigned> full = 0;
      const auto context = server_context("", version);
      FakeServer server(
          [&](Peer& peer) {
            if (peer.read_request().empty()) return;
            full += SSL_session_reused(peer.tls()) == 1 ? 0 : 1;
            peer.write(tls_reply);
            peer.wait_for_end();
          },
          context.get());
      LoadPlan plan = counted_plan(12, 1);
      plan.requests_per_connection = 1;
      plan.tls_resume = resume;
      const auto result = run_tls(plan, server);
      const Counts& counts = result->total.counts;
      EXPECT_EQ(counts.requests, 12u);
      EXPECT_EQ(counts.all_failures(), 0u);
      // The last reply may have come when the next connection was opened.
      EXPECT_GE(counts.handshakes, 12u);
      EXPECT_EQ(full, resume ? 1u : 12u) << version;
      EXPECT_EQ(counts.handshakes - counts.resumed, resume ? 1u : counts.handshakes) << version;
      EXPECT_GE(counts.handshakes_in_window, 10u);
    }
  }
}

TEST(TlsLoad, the_end_of_a_connection_is_said_to_the_server) {
  std::atomic<unsigned> said = 0;
  const auto context = server_context();
  {
    FakeServer server(
        [&](Peer& peer) {
          if (peer.read_request().empty()) return;
          peer.write(tls_reply);
          peer.wait_for_end();
          said += (SSL_get_shutdown(peer.tls()) & SSL_RECEIVED_SHUTDOWN) != 0 ? 1 : 0;
        },
        context.get());
    LoadPlan plan = counted_plan(5, 1);
    plan.requests_per_connection = 1;
    EXPECT_EQ(run_tls(plan, server)->total.counts.requests, 5u);
  }  // which waits for its connections
  EXPECT_EQ(said, 5u);
}

TEST(TlsLoad, a_pipeline_goes_into_records_and_replies_keep_their_requests) {
  const auto context = server_context();
  FakeServer server(
      [](Peer& peer) {
        for (int count = 0; count < 40; ++count) {
          if (peer.read_request().empty()) return;
        }
        for (int count = 0; count < 40; ++count) peer.write(tls_reply);
        answer_all(peer);
      },
      context.get());
  LoadPlan plan = counted_plan(80, 1);
  plan.pipeline = 40;
  // Forty of these do not fit into one record.
  RequestSpec request{.method = "GET", .headers = {"X: " + std::string(1000, 'x')}, .body = ""};
  const auto result = run_tls(plan, server, request);
  EXPECT_EQ(result->total.counts.requests, 80u);
  EXPECT_EQ(result->total.counts.all_failures(), 0u);
}

TEST(TlsLoad, content_beyond_the_socket_buffers_is_sent_and_received_whole) {
  constexpr std::size_t content_bytes = 8 * 1024 * 1024;
  const std::string content(content_bytes, 'y');
  const auto context = server_context();
  FakeServer server(
      [&](Peer& peer) {
        while (!peer.read_request().empty() && peer.read_content(content_bytes)) {
          peer.write(fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", content_bytes));
          peer.write(content);
        }
      },
      context.get());
  LoadPlan plan = counted_plan(2, 1);
  plan.expect.body = content;
  RequestSpec request{.method = "POST", .headers = {}, .body = std::string(content_bytes, 'x')};
  const auto result = run_tls(plan, server, request);
  EXPECT_EQ(result->total.counts.requests, 2u);
  EXPECT_GT(result->total.counts.bytes_sent, 2 * content_bytes);
  EXPECT_GT(result->total.counts.bytes_received, 2 * content_bytes);
}

TEST(TlsLoad, an_open_loop_sends_every_request_of_its_schedule) {
  const auto context = server_context();
  FakeServer server(answer_all, context.get());
  LoadPlan plan = counted_plan(0, 16);
  plan.duration = milliseconds(300);
  plan.rates.add(plan.duration, 500, 500);
  const auto result = run_tls(plan, server);
  EXPECT_EQ(result->total.counts.requests + result->threads[0].unsent, 150u);
  EXPECT_EQ(result->total.counts.all_failures(), 0u);
}

TEST(TlsLoad, a_reply_that_its_end_delimits_is_whole_only_with_close_notify) {
  for (const bool says_so : {true, false}) {
    const auto context = server_context();
    FakeServer server(
        [says_so](Peer& peer) {
          if (peer.read_request().empty()) return;
          peer.write("HTTP/1.1 200 OK\r\n\r\nok");
          if (says_so) peer.say_end();
        },
        context.get());
    const auto result = run_tls(counted_plan(2, 1), server);
    EXPECT_EQ(result->total.counts.requests, says_so ? 2u : 0u);
    EXPECT_EQ(result->total.counts.failure(Failure::closed_early), says_so ? 0u : 2u);
  }
}

// Below TLS: nothing is left unread, so that the end which follows is no reset.
void read_hello(Peer& peer) {
  char octets[4096];
  ::recv(peer.fd(), octets, sizeof octets, 0);
}
void read_octets(Peer& peer) {
  char octets[4096];
  while (::recv(peer.fd(), octets, sizeof octets, 0) > 0) continue;
}

struct Broken {
  const char* name;
  std::function<void(Peer&)> serve;
  const char* problem;
};

TEST(TlsHandshake, that_fails_is_an_error_of_its_own_and_says_why) {
  const Broken rows[] = {
      {"plain HTTP",
       [](Peer& peer) {
         read_hello(peer);
         ::send(peer.fd(), "HTTP/1.1 400 Bad\r\n\r\n", 20, MSG_NOSIGNAL);
       },
       "TLS with 'localhost' failed: not_tls: a server without TLS is loaded by http://"},
      {"nothing", read_hello, "the server ended the connection in the TLS handshake"},
      {"a reset",
       [](Peer& peer) {
         read_hello(peer);
         peer.reset();
       },
       "the server broke the connection off in the TLS handshake"},
      {"silence", read_octets, "the TLS handshake took too long"},
  };
  for (const Broken& row : rows) {
    SCOPED_TRACE(row.name);
    FakeServer server(row.serve);
    LoadPlan plan = counted_plan(4, 2);
    plan.connect_timeout = milliseconds(150);
    const auto result = run_tls(plan, server);
    EXPECT_FALSE(result->connected);
    EXPECT_EQ(result->total.counts.failure(Failure::handshake_failed),
              result->total.counts.all_failures());
    EXPECT_GE(result->total.counts.all_failures(), 2u);
    EXPECT_EQ(result->total.counts.sent, 0u);
    EXPECT_THAT(result->tls_problem, HasSubstr(row.problem));
    EXPECT_THAT(judge(plan, *result).notes, testing::Contains(result->tls_problem));
  }
}

TEST(TlsHandshake, with_whom_nobody_trusts_says_how_to_trust_him) {
  const auto context = server_context();
  FakeServer server(answer_all, context.get());
  const auto result = run_tls(counted_plan(1, 1), server, {}, {});
  EXPECT_FALSE(result->connected);
  EXPECT_GE(result->total.counts.failure(Failure::handshake_failed), 1u);
  EXPECT_THAT(result->tls_problem,
              AllOf(StartsWith("the certificate of 'localhost' is refused: self-signed"),
                    HasSubstr("--ca FILE"), HasSubstr("--insecure")));
}

TEST(TlsHandshake, with_the_servers_own_certificate_as_authority_is_verified) {
  const std::string path = testing::TempDir() + "katana-load-authority.pem";
  const std::string text = test_certificate().certificate_text();
  std::FILE* const file = std::fopen(path.c_str(), "we");
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(std::fwrite(text.data(), 1, text.size(), file), text.size());
  std::fclose(file);
  const auto context = server_context();
  FakeServer server(answer_all, context.get());
  const TlsSpec trusted{.insecure = false, .authorities_file = path};
  EXPECT_EQ(run_tls(counted_plan(3, 1), server, {}, trusted)->total.counts.requests, 3u);
  // It is for localhost only.
  const LoadPlan plan = counted_plan(1, 1);
  Target other = tls_target(server.port(), plan, {}, trusted);
  other.url.host = "other.test";
  const auto result = run_load(plan, other, nullptr);
  EXPECT_THAT((*result)->tls_problem, HasSubstr("mismatch"));
  EXPECT_FALSE((*result)->connected);
  std::remove(path.c_str());
}

TEST(TlsHandshake, authorities_that_cannot_be_read_are_wrong_usage) {
  const auto made = make_tls({.insecure = false, .authorities_file = "no/such.pem"}, {});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), Code::invalid_argument);
  EXPECT_THAT(made.error().describe(), AllOf(StartsWith("--ca: "), HasSubstr("'no/such.pem'")));
}

TEST(TlsHandshake, that_the_server_takes_back_is_no_reply) {
  // With TLS 1.3 the client has finished before the server checks the client's certificate.
  const auto context = server_context();
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  FakeServer server(
      [](Peer& peer) {
        answer_all(peer);
        read_octets(peer);
      },
      context.get());
  const auto result = run_tls(counted_plan(1, 1), server);
  const Counts& counts = result->total.counts;
  EXPECT_EQ(counts.requests, 0u);
  EXPECT_GE(counts.failure(Failure::handshake_failed) + counts.failure(Failure::tls_broken), 1u);
  EXPECT_THAT(result->tls_problem, HasSubstr("peer_alert"));
}

TEST(TlsLoad, what_is_no_record_fails_the_requests_in_flight) {
  const auto context = server_context();
  FakeServer server(
      [](Peer& peer) {
        if (peer.read_request().empty()) return;
        ::send(peer.fd(), tls_reply, std::strlen(tls_reply), MSG_NOSIGNAL);
        read_octets(peer);
      },
      context.get());
  const auto result = run_tls(counted_plan(2, 1), server);
  EXPECT_EQ(result->total.counts.failure(Failure::tls_broken), 2u);
  EXPECT_EQ(result->total.counts.all_failures(), 2u);
  EXPECT_THAT(result->tls_problem, HasSubstr("broken_record"));
}

// ---- what a request costs

thread_local std::uint64_t buffers_taken = 0;

// For the header of each record OpenSSL takes some bytes, whatever one does.
constexpr std::size_t buffer_bytes_min = 1024;

void* count_malloc(std::size_t size, const char*, int) {
  buffers_taken += size >= buffer_bytes_min ? 1 : 0;
  return std::malloc(size);
}
void* count_realloc(void* memory, std::size_t size, const char*, int) {
  buffers_taken += size >= buffer_bytes_min ? 1 : 0;
  return std::realloc(memory, size);
}
void count_free(void* memory, const char*, int) { std::free(memory); }

// Before OpenSSL allocates anything: after that it refuses.
const bool counts_calls = CRYPTO_set_mem_functions(&count_malloc, &count_realloc, &count_free) == 1;

TEST(TlsConnection, that_is_open_receives_and_seals_without_a_new_buffer) {
  ASSERT_TRUE(counts_calls);
  const LoadPlan plan = counted_plan(1, 1);
  const Target target = tls_target(1, plan);
  TlsSide side(plan, target, 1);
  TlsConnection& client = side.connections.front();
  const auto context = tls::make_test_context(test_certificate());
  BlockPool blocks(4096, 64);
  Outbox down(blocks);
  tls::Machine server(*context);
  std::array<char, 4096> plain;
  const auto server_takes = [&](std::string up) {
    for (Bytes rest = up;;) {
      const tls::Step step = server.next(rest, plain, down, Instant{1});
      rest.remove_prefix(step.consumed);
      if (step.event == tls::Event::hello) server.admit();
      if (step.event == tls::Event::need_bytes || step.event == tls::Event::failed) return;
    }
  };
  const auto client_takes = [&](const std::string& bytes) {
    std::size_t produced = 0;
    for (Bytes rest = bytes;;) {
      const tls::Step step = client.machine().next(rest, plain, client.output(), Instant{1});
      rest.remove_prefix(step.consumed);
      produced += step.produced;
      const bool is_over = step.event == tls::Event::failed;
      if (step.event == tls::Event::need_bytes || is_over) return produced;
    }
  };
  ASSERT_TRUE(client.begin(Instant{1}));
  for (int round = 0; round < 3; ++round) {
    server_takes(tls::take_all(client.output()));
    client_takes(tls::take_all(down));
  }
  ASSERT_TRUE(client.machine().opened());
  for (int request = 0; request < 100; ++request) {
    std::uint64_t before = buffers_taken;
    ASSERT_EQ(client.machine().seal("GET", client.output()), 3u);
    const std::uint64_t sealing = buffers_taken - before;
    server_takes(tls::take_all(client.output()));
    ASSERT_EQ(server.seal("reply", down), 5u);
    const std::string reply = tls::take_all(down);
    before = buffers_taken;
    ASSERT_EQ(client_takes(reply), 5u);
    const std::uint64_t receiving = buffers_taken - before;
    EXPECT_EQ(request == 0 ? 0 : sealing + receiving, 0u) << request;
  }
  EXPECT_GT(buffers_taken, 100u);  // by the server, which keeps none: they are counted
}

}  // namespace
}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
