// Http1Session: what it does for a request handler, call by call. The protocol's own cases are in
// wire/http1; whole servers with clients of every kind are in tests/simulation.
#include "katana/http/session/http1_session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "katana/base/system/file_fixture_test.hpp"
#include "katana/http/session/session_fixture_test.hpp"
#include "katana/http/session/websocket_upgrade.hpp"
#include "katana/wire/ws/frame.hpp"

namespace katana::session {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* get_a = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n";
constexpr const char* head_of_b = "HEAD /b HTTP/1.1\r\nHost: h\r\n\r\n";
std::string post_with(std::size_t length, std::string content) {
  return "POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(length) + "\r\n\r\n" +
         content;
}

class Http1SessionTest : public ExchangeTest {
 protected:
  using ExchangeTest::ExchangeTest;
  void wait_in_handler() {
    handler_.at_request = [this](Exchange& exchange) { work_ = &handler_.hold(exchange); };
  }
  Work* work_ = nullptr;
};

// ---- replies

TEST_F(Http1SessionTest, requests_that_come_together_are_answered_in_one_send) {
  const auto link = open();
  send(link, std::string("\r\n") + get_a + head_of_b + get_a);
  EXPECT_THAT(handler_.taken(), ElementsAre("GET /a", "HEAD /b", "GET /a"));
  EXPECT_EQ(count_in(link, "HTTP/1.1 200 OK\r\n"), 3u);
  EXPECT_EQ(count_in(link, "\r\n\r\nwell"), 2u) << "HEAD has no content";
  EXPECT_EQ(link_state(link).sends, 1);
  EXPECT_TRUE(link_state(link).open);
}

TEST_F(Http1SessionTest, work_that_answers_outside_of_a_call_answers_at_once) {
  wait_in_handler();
  const auto link = open();
  send(link, get_a);
  EXPECT_EQ(sent(link), "");
  handler_.last->respond(head_of(200), "late", true);
  turn();
  EXPECT_THAT(sent(link), EndsWith("\r\n\r\nlate"));
  EXPECT_THAT(handler_.taken(), ElementsAre("GET /a", "gone"));
  handler_.at_request = [](Exchange& exchange) { exchange.respond({}, "next", true); };
  send(link, get_a);
  EXPECT_THAT(sent(link), EndsWith("\r\n\r\nnext"));
}

TEST_F(Http1SessionTest, only_the_first_reply_of_a_request_counts) {
  handler_.at_request = [](Exchange& exchange) {
    exchange.respond(head_of(200), "first", true);
    exchange.respond(head_of(404), "second", true);
    exchange.begin_reply(head_of(404));
    EXPECT_FALSE(exchange.write("third"));
    EXPECT_FALSE(exchange.yield());
    exchange.end_reply();
  };
  const auto link = open();
  send(link, get_a);
  EXPECT_EQ(count_in(link, "HTTP/1.1 "), 1u);
  EXPECT_THAT(sent(link), EndsWith("\r\n\r\nfirst"));
  EXPECT_TRUE(link_state(link).open);
}

TEST_F(Http1SessionTest, a_handler_that_neither_answers_nor_waits_is_answered_for) {
  handler_.at_request = [](Exchange&) {};
  const auto link = open();
  send(link, get_a);
  EXPECT_THAT(handler_.taken(), ElementsAre("GET /a", "refused 500"));
  EXPECT_THAT(sent(link), StartsWith("HTTP/1.1 500 "));
  EXPECT_EQ(http1_.counters().handler_failures, 1u);
}

TEST_F(Http1SessionTest, a_piece_without_bytes_changes_nothing_and_ends_nothing) {
  handler_.at_request = [](Exchange& exchange) {
    exchange.begin_reply(head_of(200));
    EXPECT_TRUE(exchange.write(""));
    EXPECT_TRUE(exchange.write("abc"));
    EXPECT_TRUE(exchange.write(""));
    EXPECT_TRUE(exchange.write("de"));
    exchange.end_reply();
  };
  const auto link = open();
  send(link, get_a);
  EXPECT_THAT(sent(link), EndsWith("\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"));
}

TEST_F(Http1SessionTest, a_reply_without_content_is_complete_with_its_head) {
  handler_.at_request = [this](Exchange& exchange) {
    handler_.hold(exchange);
    exchange.begin_reply(head_of(200, 5));
    EXPECT_FALSE(exchange.write("hello"));
  };
  const auto link = open();
  send(link, head_of_b);
  turn();
  EXPECT_EQ(handler_.taken(), (Notes{"HEAD /b", "gone"}));
  EXPECT_THAT(sent(link), EndsWith("\r\n\r\n"));
  handler_.at_request = [](Exchange& exchange) { exchange.respond({}, "next", true); };
  send(link, get_a);
  EXPECT_THAT(sent(link), EndsWith("\r\n\r\nnext"));
}

TEST_F(Http1SessionTest, a_short_file_is_sent_with_its_head_and_a_long_one_is_referred_to) {
  for (const std::size_t size : {100u, 40'000u}) {
    TestFile file(std::string(size, 'f'));
    handler_.at_request = [&](Exchange& exchange) {
      exchange.begin_reply(head_of(200, static_cast<std::int64_t>(size)));
      FilePart part = file.all();
      EXPECT_TRUE(exchange.write_file(part));
      EXPECT_EQ(part.size, 0u);
      exchange.end_reply();
    };
    const auto link = open();
    send(link, get_a);
    turn();
    EXPECT_THAT(sent(link), EndsWith("\r\n\r\n" + std::string(size, 'f')));
    EXPECT_EQ(file.released > 0, size > 1000) << "whether it was referred to";
  }
}

// ---- an observer

struct ObservedTest : Http1SessionTest {
  static HttpOptions observed(ExchangeObserver& observer) {
    HttpOptions options = ExchangeTest::options();
    options.observer = &observer;
    return options;
  }
  ObservedTest() : Http1SessionTest(observed(observer_)) {}
  static inline NotingObserver observer_;
  void SetUp() override { observer_.notes.clear(); }
};

TEST_F(ObservedTest, each_exchange_begins_and_ends_for_its_observer_and_has_its_fields) {
  const auto link = open();
  send(link, get_a);
  EXPECT_TRUE(has(link, "X-Observed: yes\r\n"));
  EXPECT_THAT(observer_.notes, ElementsAre("begin /a", "end 200 4 replied"));
  observer_.notes.clear();
  handler_.at_request = [](Exchange& exchange) {
    exchange.begin_reply(head_of(206));
    EXPECT_TRUE(exchange.write("abc"));
    EXPECT_TRUE(exchange.write("de"));
    exchange.end_reply();
  };
  send(link, get_a);
  EXPECT_EQ(count_in(link, "X-Observed: yes\r\n"), 2u) << "also of replies in pieces";
  EXPECT_THAT(observer_.notes, ElementsAre("begin /a", "end 206 5 replied"));
  observer_.notes.clear();
  wait_in_handler();
  send(link, get_a);
  broken(link);
  turn();
  EXPECT_THAT(observer_.notes, ElementsAre("begin /a", "end 0 0 left"));
}

TEST_F(ObservedTest, a_head_that_is_refused_is_an_exchange_too) {
  const auto link = open();
  send(link, "GET /a HTTP/1.1\r\n\r\n");
  EXPECT_THAT(sent(link), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(observer_.notes, ElementsAre("begin", StartsWith("end 400 ")));
  EXPECT_EQ(http1_.counters().refused, 1u);
  EXPECT_EQ(http1_.counters().requests, 0u);
}

TEST_F(Http1SessionTest, a_refusal_may_be_answered_later_and_whole) {
  Exchange* refused = nullptr;
  handler_.at_refused = [&](Exchange& exchange) {
    handler_.hold(exchange);
    refused = &exchange;
  };
  const auto link = open();
  send(link, "GET /a HTTP/1.1\r\n\r\n");
  EXPECT_THAT(handler_.taken(), ElementsAre("refused 400"));
  EXPECT_TRUE(link_state(link).open);
  turn(seconds(1));
  refused->respond(head_of(400), "why", true);
  turn();
  EXPECT_THAT(sent(link), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(sent(link), EndsWith("\r\n\r\nwhy"));
  EXPECT_TRUE(link_state(link).send_ended || !link_state(link).open) << "its place is unknown";
}

// ---- time

TEST_F(Http1SessionTest, a_handler_has_its_time_and_then_a_503) {
  wait_in_handler();
  const auto link = open();
  send(link, get_a);
  turn(milliseconds(9'900));
  EXPECT_EQ(sent(link), "");
  turn(milliseconds(200));
  EXPECT_THAT(handler_.taken(), ElementsAre("GET /a", "gone", "refused 503"));
  EXPECT_THAT(sent(link), StartsWith("HTTP/1.1 503 "));
  EXPECT_EQ(http1_.counters().handler_timeouts, 1u);
}

TEST_F(Http1SessionTest, a_handler_that_stalls_after_the_output_had_room_is_cut_off_in_time) {
  handler_.at_request = [this](Exchange& exchange) {
    Work& work = handler_.hold(exchange);
    work.at_writable = [&exchange] { EXPECT_TRUE(exchange.write("more")); };
    exchange.begin_reply(head_of(200));
    while (exchange.write(std::string(1000, 'x'))) {
    }
  };
  const auto link = open();
  link_state(link).kernel = net::Kernel::borrows;
  send(link, get_a);
  turn(seconds(3));
  EXPECT_EQ(handler_.taken(), Notes{"GET /a"}) << "the client has to read";
  while (handler_.notes.empty()) {
    complete(link);
    turn();
  }
  EXPECT_EQ(handler_.taken(), Notes{"writable"});
  for (int rounds = 0; rounds < 20 && link_state(link).sending; ++rounds) {
    complete(link);
    turn();
  }
  turn(milliseconds(9'900));
  EXPECT_TRUE(link_state(link).open);
  turn(milliseconds(200));
  turn();
  EXPECT_TRUE(link_state(link).was_reset) << "a reply that has begun is broken off";
  EXPECT_EQ(http1_.counters().handler_timeouts, 1u);
}

TEST_F(Http1SessionTest, each_write_gives_the_handler_its_time_anew) {
  wait_in_handler();
  const auto link = open();
  send(link, get_a);
  handler_.last->begin_reply(head_of(200));
  for (int round = 0; round < 5; ++round) {
    turn(seconds(8));
    ASSERT_TRUE(handler_.last->write("x")) << round;
  }
  turn(milliseconds(9'900));
  EXPECT_TRUE(link_state(link).open);
  turn(milliseconds(200));
  turn();
  EXPECT_TRUE(link_state(link).was_reset);
}

TEST_F(Http1SessionTest, a_client_that_ended_its_side_is_waited_for_with_grace) {
  wait_in_handler();
  const auto link = open();
  send(link, get_a);
  link_state(link).paused = false;  // the end of the input is seen also while it is paused
  input_end(link);
  turn();
  turn(milliseconds(900));
  EXPECT_THAT(handler_.taken(), ElementsAre("GET /a"));
  turn(milliseconds(200));
  turn();
  EXPECT_THAT(handler_.taken(), ElementsAre("gone"));
  EXPECT_EQ(http1_.counters().handlers_cancelled, 1u);
  EXPECT_FALSE(link_state(link).open);
}

TEST_F(Http1SessionTest, a_connection_that_is_idle_closes_in_time) {
  const auto link = open();
  send(link, get_a);
  turn(seconds(74));
  EXPECT_TRUE(link_state(link).open);
  turn(seconds(2));
  turn();
  EXPECT_FALSE(link_state(link).open);
  EXPECT_FALSE(link_state(link).was_reset);
}

// ---- content

TEST_F(Http1SessionTest, content_that_is_collected_over_several_reads_is_charged_until_the_reply) {
  handler_.at_request = [](Exchange& exchange) { exchange.collect_content(1000); };
  handler_.at_collected = [](Exchange& exchange) { exchange.respond({}, "got it", true); };
  const auto link = open();
  send(link, post_with(10, "12345"));
  EXPECT_GT(held(), 5u);
  EXPECT_EQ(sent(link), "");
  send(link, "67890");
  EXPECT_THAT(handler_.taken(), ElementsAre("POST /p", "collected 1234567890"));
  EXPECT_THAT(sent(link), EndsWith("\r\n\r\ngot it"));
  EXPECT_EQ(held(), 0u);
}

TEST_F(Http1SessionTest, a_head_is_charged_at_once_when_its_content_has_yet_to_come) {
  std::size_t held_in_call = 0;
  handler_.at_request = [&](Exchange& exchange) {
    exchange.collect_content(1000);
    held_in_call = held();
  };
  handler_.at_collected = [](Exchange& exchange) { exchange.respond({}, "got it", true); };
  const auto link = open();
  send(link, post_with(5, "whole"));
  EXPECT_EQ(held_in_call, 0u) << "nothing of it is kept";
  send(link, post_with(5, "p"));
  EXPECT_GT(held_in_call, 0u);
  send(link, "iece");
  EXPECT_EQ(count_in(link, "got it"), 2u);
}

TEST_F(Http1SessionTest, a_client_that_waits_for_a_100_gets_it_when_its_content_is_wanted) {
  wait_in_handler();
  const auto held_by = [this](Exchange& exchange) {
    work_ = &handler_.hold(exchange);
    exchange.stream_content(1000);
  };
  handler_.at_request = held_by;
  const auto link = open();
  send(link, "POST /p HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  turn();
  EXPECT_EQ(sent(link), "") << "it is not wanted yet";
  handler_.last->want_content();
  turn();
  EXPECT_EQ(sent(link), "HTTP/1.1 100 Continue\r\n\r\n");
  send(link, "hi");
  EXPECT_THAT(handler_.taken(), ElementsAre("POST /p", "piece hi last"));
  handler_.last->respond({}, "done", true);
  turn();
  EXPECT_THAT(sent(link), EndsWith("\r\n\r\ndone"));
}

TEST_F(Http1SessionTest, content_comes_as_long_as_the_work_wants_it) {
  handler_.at_request = [this](Exchange& exchange) {
    Work& work = handler_.hold(exchange);
    work.at_content = [] { return false; };
    exchange.stream_content(1000);
    exchange.want_content();
  };
  const auto link = open();
  send(link, post_with(6, "ab"));
  EXPECT_THAT(handler_.taken(), ElementsAre("POST /p", "piece ab"));
  EXPECT_TRUE(link_state(link).paused);
  EXPECT_GT(held(), 0u) << "the suspended work is charged";
  handler_.last->want_content();
  turn();
  send(link, "cd");
  EXPECT_THAT(handler_.taken(), ElementsAre("piece cd"));
}

TEST_F(Http1SessionTest, a_deferred_request_is_charged_and_continues_when_it_is_resumed) {
  handler_.at_request = [this](Exchange& exchange) {
    handler_.hold(exchange);
    exchange.defer_request();
  };
  handler_.at_resumed = [](Exchange& exchange) { exchange.collect_content(100); };
  handler_.at_collected = [](Exchange& exchange) { exchange.respond({}, "done", true); };
  const auto link = open();
  send(link, post_with(3, ""));
  EXPECT_GT(held(), 0u);
  turn(seconds(1));
  handler_.last->resume_request();
  turn();
  EXPECT_THAT(handler_.taken(), ElementsAre("POST /p", "resumed /p"));
  send(link, "abc");
  EXPECT_THAT(sent(link), EndsWith("\r\n\r\ndone"));
  EXPECT_EQ(held(), 0u);
}

TEST_F(Http1SessionTest, content_that_turns_out_malformed_breaks_a_reply_that_has_begun) {
  handler_.at_request = [this](Exchange& exchange) {
    handler_.hold(exchange);
    exchange.stream_content(1000);
    exchange.begin_reply(head_of(200));
    exchange.want_content();
  };
  const auto link = open();
  send(link, "POST /p HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\nzz\r\n");
  turn();
  EXPECT_THAT(handler_.taken(), ElementsAre("POST /p", "piece ab", "gone"));
  EXPECT_TRUE(link_state(link).was_reset);
  EXPECT_EQ(http1_.counters().replies_aborted, 1u);
}

// ---- memory, and the end of a server

TEST_F(Http1SessionTest, scarce_memory_ends_a_request_that_waits_and_no_idle_connection) {
  const auto idle = open();
  EXPECT_EQ(remembering1_.give_up_memory(), 0u);
  turn();
  EXPECT_EQ(sent(idle), "");
  EXPECT_TRUE(link_state(idle).open);
  EXPECT_EQ(http1_.counters().memory_refusals, 0u);
  wait_in_handler();
  const auto busy = open();
  send(busy, get_a);
  EXPECT_EQ(remembering1_.give_up_memory(), 0u);
  turn();
  EXPECT_THAT(sent(busy), StartsWith("HTTP/1.1 503 "));
  EXPECT_EQ(http1_.counters().memory_refusals, 1u);
  EXPECT_THAT(handler_.taken(), ElementsAre("GET /a", "gone", "refused 503"));
}

TEST_F(Http1SessionTest, scarce_memory_breaks_off_a_reply_that_has_begun) {
  handler_.at_request = [this](Exchange& exchange) {
    handler_.hold(exchange);
    exchange.begin_reply(head_of(200));
    EXPECT_TRUE(exchange.write("abc"));
  };
  const auto link = open();
  send(link, get_a);
  remembering1_.give_up_memory();
  turn();
  EXPECT_THAT(handler_.taken(), ElementsAre("GET /a", "gone"));
  EXPECT_TRUE(link_state(link).was_reset);
}

TEST_F(Http1SessionTest, a_drain_ends_idle_connections_and_lets_requests_finish) {
  const auto idle = open(), busy = open();
  send(idle, get_a);
  wait_in_handler();
  send(busy, get_a);
  reactor().request_drain(seconds(20));
  turn();
  turn(milliseconds(300));
  turn();
  EXPECT_FALSE(link_state(idle).open);
  EXPECT_TRUE(link_state(busy).open);
  handler_.last->respond({}, "late", true);
  turn();
  EXPECT_TRUE(has(busy, "Connection: close\r\n"));
  EXPECT_THAT(sent(busy), EndsWith("\r\n\r\nlate"));
}

// ---- another protocol

TEST_F(Http1SessionTest, bytes_behind_an_upgrade_belong_to_the_websocket) {
  struct Echo final : WebSocketHandler {
    void on_message(WebSocket& socket, Bytes payload, MessageKind) override {
      EXPECT_EQ(socket.send_text(payload), SendOutcome::sent);
    }
  };
  class Upgrading final : public RequestHandler {
   public:
    void on_request(Exchange& exchange, const http::Head& head) noexcept override {
      const Upgrade agreed = judge_upgrade(exchange, head, {.any_origin = true});
      ASSERT_EQ(agreed.status, 0u) << agreed.detail;
      EXPECT_TRUE(upgrade(exchange, agreed, std::make_unique<Echo>()));
    }
    void on_content_collected(Exchange&, const http::Head&, Bytes) noexcept override {}
    void on_resumed(Exchange&, const http::Head&) noexcept override {}
    void on_refused(Exchange&, const http::Head*, unsigned, Bytes) noexcept override {}
  } upgrading;
  Http1Protocol protocol(options(), upgrading);
  EXPECT_TRUE(reactor().listen({}, protocol));
  accept(2);
  const auto link = static_cast<std::uint32_t>(world_.links.size() - 1);
  std::string frame(ws::header_bytes_max, '\0');
  frame.resize(static_cast<std::size_t>(
      ws::write_header(frame.data(), ws::Opcode::text, true, false, 2, true, 0) - frame.data()));
  send(link,
       "GET /ws HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
       "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n" +
           frame + "hi");
  EXPECT_THAT(sent(link), StartsWith("HTTP/1.1 101 "));
  EXPECT_THAT(sent(link), HasSubstr("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
  EXPECT_THAT(sent(link), EndsWith("\x02hi"));
  EXPECT_EQ(protocol.counters().requests, 1u);
  EXPECT_EQ(protocol.counters().refused, 0u);
  reactor_.reset();
}

}  // namespace
}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
