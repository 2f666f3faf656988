#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "katana/wire/ws/frame.hpp"
#include "katana/wire/ws/handshake.hpp"
#include "katana/wire/ws/mask.hpp"
#include "lab/load/accounting_test.hpp"
#include "lab/load/fake_server_test.hpp"
#include "lab/load/run.hpp"
#include "lab/load/websocket_messages.hpp"

namespace katana::load {
namespace {

LoadPlan counted(std::uint64_t messages, std::uint32_t connections) {
  LoadPlan plan;
  plan.websocket = true;
  plan.requests_max = messages;
  plan.connections = connections;
  plan.duration = seconds(60);
  plan.expect.body = "hello";
  return plan;
}

std::unique_ptr<RunResult> run(const LoadPlan& plan, const FakeServer& server) {
  const auto url = parse_url(fmt::format("http://127.0.0.1:{}/ws", server.port()));
  Target target{*url, *resolve(*url), {}};
  RequestSpec spec;
  spec.body = "hello";
  EXPECT_TRUE(make_messages(target, spec));
  auto result = run_load(plan, target, nullptr);
  EXPECT_TRUE(result.has_value());
  expect_all_accounted_for(**result);
  return std::move(*result);
}

std::uint64_t failed(const RunResult& result, Failure failure) {
  return result.total.counts.failures[static_cast<std::size_t>(failure)];
}

bool accept_upgrade(Peer& peer) {
  const std::string head = peer.read_request();
  const std::size_t at = head.find("Sec-WebSocket-Key: ");
  if (at == std::string::npos || !head.starts_with("GET /ws HTTP/1.1\r\n")) return false;
  const std::size_t begin = at + 19;
  const auto accept = ws::accept_of(Bytes(head).substr(begin, head.find("\r\n", begin) - begin));
  return peer.write(
      fmt::format("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                  "Connection: Upgrade\r\nSec-WebSocket-Accept: {}\r\n\r\n",
                  Bytes(accept.data(), accept.size())));
}

std::string frame_of(Bytes text, ws::Opcode opcode = ws::Opcode::text, bool is_last = true) {
  char header[ws::header_bytes_max];
  const char* end = ws::write_header(header, opcode, is_last, false, text.size(), false, 0);
  return std::string(static_cast<const char*>(header), end) + std::string(text);
}

// The next frame's payload, unmasked; empty when the client is gone.
std::string read_frame(Peer& peer, ws::Opcode wanted = ws::Opcode::text) {
  std::string got;
  for (;;) {
    const ws::Frame frame = ws::read_frame(got, true, false);
    if (frame.refusal != ws::Refusal::none) return {};
    if (frame.header_bytes != 0 && got.size() == frame.header_bytes + frame.length) {
      if (frame.opcode != wanted) return {};
      std::string text(frame.length, '\0');
      ws::copy_masked(text.data(), got.data() + frame.header_bytes, text.size(), frame.mask);
      return text;
    }
    char octet = 0;
    if (peer.read_some(&octet, 1) != 1) return {};
    got += octet;
  }
}

void echo_frames(Peer& peer) {
  for (std::string text; !(text = read_frame(peer)).empty();) {
    if (!peer.write(frame_of(text))) return;
  }
}

void echo(Peer& peer) {
  if (accept_upgrade(peer)) echo_frames(peer);
}

TEST(WebSocketLoad, sends_exactly_what_was_asked_for_on_two_threads) {
  FakeServer server(echo);
  LoadPlan plan = counted(301, 5);
  plan.threads = 2;
  const auto result = run(plan, server);
  const Counts& counts = result->total.counts;
  EXPECT_EQ(counts.requests, 301u);
  EXPECT_EQ(counts.content_bytes, 301u * 5);
  EXPECT_EQ(counts.statuses[200], 0u);  // a message has none
  EXPECT_EQ(counts.all_failures(), 0u);
  EXPECT_EQ(server.accepted(), 5u);
}

TEST(WebSocketLoad, has_several_messages_in_flight_at_a_rate) {
  FakeServer server(echo);
  LoadPlan plan = counted(0, 2);
  plan.pipeline = 4;
  plan.duration = milliseconds(300);
  plan.rates.add(plan.duration, 1000, 1000);
  EXPECT_GT(run(plan, server)->total.counts.requests, 100u);
}

TEST(WebSocketLoad, reads_frames_that_come_octet_by_octet_and_messages_of_several_frames) {
  FakeServer server([](Peer& peer) {
    if (!accept_upgrade(peer)) return;
    while (!read_frame(peer).empty()) {
      const std::string sent = frame_of("hel", ws::Opcode::text, false) +
                               frame_of("", ws::Opcode::pong) +
                               frame_of("lo", ws::Opcode::continuation);
      for (const char octet : sent) {
        if (!peer.write({&octet, 1})) return;
      }
    }
  });
  const auto result = run(counted(7, 1), server);
  EXPECT_EQ(result->total.counts.requests, 7u);
  EXPECT_EQ(result->total.counts.all_failures(), 0u);
}

TEST(WebSocketLoad, answers_a_ping_with_its_payload) {
  std::atomic<bool> answered = false;
  FakeServer server([&](Peer& peer) {
    if (!accept_upgrade(peer)) return;
    (void)read_frame(peer);
    (void)peer.write(frame_of("are you there", ws::Opcode::ping));
    answered = read_frame(peer, ws::Opcode::pong) == "are you there";
    (void)peer.write(frame_of("hello"));
    peer.wait_for_end();
  });
  EXPECT_EQ(run(counted(1, 1), server)->total.counts.requests, 1u);
  EXPECT_TRUE(answered);
}

TEST(WebSocketLoad, a_refused_upgrade_is_a_failed_handshake_that_quotes_the_reply) {
  FakeServer server([](Peer& peer) {
    (void)peer.read_request();
    (void)peer.write("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    peer.wait_for_end();
  });
  LoadPlan plan = counted(0, 1);
  plan.duration = milliseconds(200);
  const auto result = run(plan, server);
  EXPECT_EQ(result->total.counts.requests, 0u);
  EXPECT_GT(failed(*result, Failure::handshake_failed), 0u);
  EXPECT_EQ(result->tls_problem,
            "the server does not speak WebSocket at /ws: it answered 'HTTP/1.1 404 Not Found'");
}

TEST(WebSocketLoad, an_upgrade_for_another_key_is_refused) {
  FakeServer server([](Peer& peer) {
    (void)peer.read_request();
    (void)peer.write("HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: abc\r\n\r\n");
    peer.wait_for_end();
  });
  LoadPlan plan = counted(0, 1);
  plan.duration = milliseconds(200);
  EXPECT_GT(failed(*run(plan, server), Failure::handshake_failed), 0u);
}

struct WrongReply {
  const char* name;
  std::string reply;
  Failure failure;
};

TEST(WebSocketLoad, what_is_not_the_message_is_counted_by_its_kind) {
  const WrongReply rows[] = {
      {"another text", frame_of("hallo"), Failure::wrong_body},
      {"a shorter text", frame_of("hell"), Failure::wrong_body},
      {"a close", frame_of("", ws::Opcode::close), Failure::closed_early},
      {"a reserved opcode", "\x83\x01x", Failure::malformed},
  };
  for (const WrongReply& row : rows) {
    SCOPED_TRACE(row.name);
    std::atomic<int> connections = 0;
    FakeServer server([&](Peer& peer) {
      if (connections++ > 0) return echo(peer);
      if (!accept_upgrade(peer) || read_frame(peer).empty()) return;
      (void)peer.write(row.reply);
      echo_frames(peer);
    });
    const auto result = run(counted(2, 1), server);
    EXPECT_EQ(failed(*result, row.failure), 1u);
  }
}

TEST(WebSocketLoad, what_answers_no_message_ends_the_connection) {
  std::atomic<int> connections = 0;
  FakeServer server([&](Peer& peer) {
    if (connections++ > 0) return echo(peer);
    if (!accept_upgrade(peer) || read_frame(peer).empty()) return;
    (void)peer.write(frame_of("hello") + frame_of("hello"));
    peer.wait_for_end();
  });
  const auto result = run(counted(3, 1), server);
  EXPECT_GE(result->total.counts.requests, 1u);
  EXPECT_EQ(failed(*result, Failure::unsolicited), 1u);
}

TEST(Reset, breaks_connections_off_where_they_are_closed_otherwise) {
  for (const bool resets : {false, true}) {
    std::atomic<int> resets_seen = 0;
    {
      FakeServer server([&](Peer& peer) {
        char octets[1024];
        long got = 0;
        while ((got = peer.read_some(octets, sizeof octets)) > 0) {
          if (!peer.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")) return;
        }
        if (got < 0) ++resets_seen;
      });
      LoadPlan plan;
      plan.requests_max = 5;
      plan.connections = 1;
      plan.requests_per_connection = 1;
      plan.reset_on_close = resets;
      const auto url = parse_url(fmt::format("http://127.0.0.1:{}/", server.port()));
      const auto result =
          run_load(plan, {*url, *resolve(*url), *make_requests(*url, {}, "")}, nullptr);
      EXPECT_EQ((*result)->total.counts.requests, 5u);
    }
    EXPECT_EQ(resets_seen.load(), resets ? 5 : 0);
  }
}

}  // namespace
}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
