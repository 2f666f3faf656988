#include "katana/wire/nats/machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "katana/base/values/random.hpp"
#include "katana/wire/nats/writer.hpp"

namespace katana::nats {
namespace {

// The events of the machine for the pieces: one line for each event, pieces of a message joined.
std::string events_of(const std::vector<std::string>& pieces, const Limits& limits = {}) {
  Machine machine(limits);
  std::string events, content, pending;
  for (const std::string& piece : pieces) {
    pending += piece;
    while (true) {
      const Step step = machine.next(pending);
      EXPECT_LE(step.consumed, pending.size());
      switch (step.event) {
        case Event::need_bytes: break;
        case Event::info: events += "info " + std::string(step.text) + "\n"; break;
        case Event::message:
          content.clear();
          events += "message " + std::string(step.head.subject) + " " +
                    std::to_string(step.head.subscription) + " [" +
                    std::string(step.head.reply_to) + "] " + std::to_string(step.head.header_size) +
                    "/" + std::to_string(step.head.size) + "\n";
          break;
        case Event::piece:
          content += step.text;
          if (step.is_last) events += "content " + content + "\n";
          break;
        case Event::ping: events += "ping\n"; break;
        case Event::pong: events += "pong\n"; break;
        case Event::ok: events += "ok\n"; break;
        case Event::error: events += "error " + std::string(step.text) + "\n"; break;
        case Event::refused:
          return events + "refused: " + std::string(sentence_of(machine.refusal())) + "\n";
      }
      pending.erase(0, step.consumed);
      if (step.event == Event::need_bytes) break;
    }
  }
  return events;
}

std::string whole(Bytes input, const Limits& limits = {}) {
  return events_of({std::string(input)}, limits);
}

// Whole, byte by byte, and cut at every place and every pair of places.
void expect_events(Bytes input, const std::string& expected, const Limits& limits = {}) {
  EXPECT_EQ(whole(input, limits), expected);
  std::vector<std::string> octets;
  for (const char octet : input) octets.emplace_back(1, octet);
  EXPECT_EQ(events_of(octets, limits), expected);
  for (std::size_t first = 0; first <= input.size(); ++first) {
    EXPECT_EQ(
        events_of({std::string(input.substr(0, first)), std::string(input.substr(first))}, limits),
        expected)
        << "cut at " << first;
    if (input.size() > 120) continue;
    for (std::size_t second = first; second <= input.size(); ++second) {
      EXPECT_EQ(events_of({std::string(input.substr(0, first)),
                           std::string(input.substr(first, second - first)),
                           std::string(input.substr(second))},
                          limits),
                expected)
          << "cut at " << first << " and " << second;
    }
  }
}

TEST(Machine, gives_what_a_server_says) {
  expect_events("INFO {\"max_payload\":1048576}\r\nPING\r\nPONG\r\n+OK\r\n",
                "info {\"max_payload\":1048576}\nping\npong\nok\n");
  expect_events("-ERR 'Authorization Violation'\r\n", "error 'Authorization Violation'\n");
  expect_events("ping\r\nPiNg\n", "ping\nping\n");  // as servers and clients are lenient
}

TEST(Machine, gives_messages_with_and_without_reply_and_headers) {
  expect_events("MSG a.b 1 5\r\nhello\r\nMSG a 22 r.1 2\r\nhi\r\n",
                "message a.b 1 [] 0/5\ncontent hello\nmessage a 22 [r.1] 0/2\ncontent hi\n");
  expect_events("HMSG a 1 12 14\r\nNATS/1.0\r\n\r\nhi\r\n",
                "message a 1 [] 12/14\ncontent NATS/1.0\r\n\r\nhi\n");
  expect_events("HMSG a 1 r 12 12\r\nNATS/1.0\r\n\r\n\r\nPING\r\n",
                "message a 1 [r] 12/12\ncontent NATS/1.0\r\n\r\n\nping\n");
  expect_events("MSG a 1 0\r\n\r\nPING\r\n", "message a 1 [] 0/0\ncontent \nping\n");
  expect_events("MSG\ta \t 1  5\r\n\r\n\r\n\r\r\n", "message a 1 [] 0/5\ncontent \r\n\r\n\r\n");
}

// Each case is the bytes that are sent and why they are refused. A PING in front of them is still
// reported.
TEST(Machine, refuses_what_no_server_should_send) {
  struct Case {
    std::string sent;
    Refusal refusal;
  };
  const Case cases[] = {
      {"HELLO\r\n", Refusal::unknown_operation},
      {"\r\n", Refusal::unknown_operation},
      {"\n", Refusal::unknown_operation},
      {"MSGX a 1 1\r\n", Refusal::unknown_operation},
      {"HTTP/1.1 400 Bad Request\r\n", Refusal::unknown_operation},
      {Bytes("\0\0\0\0\r\n", 6).data() == nullptr ? "" : std::string("\0\0\0\0\r\n", 6),
       Refusal::unknown_operation},
      {"MSG\r\n", Refusal::bad_arguments},
      {"MSG a\r\n", Refusal::bad_arguments},
      {"MSG a 1\r\n", Refusal::bad_arguments},
      {"MSG a 1 r 2 3\r\n", Refusal::bad_arguments},
      {"MSG a 1 r 2 3 4 5 6 7 8\r\n", Refusal::bad_arguments},
      {"MSG a x 2\r\n", Refusal::bad_arguments},
      {"MSG a -1 2\r\n", Refusal::bad_arguments},
      {std::string("MSG a\0b 1 2\r\n", 13), Refusal::bad_arguments},
      {"MSG a\x7f 1 2\r\n", Refusal::bad_arguments},
      {"MSG a 1 b\x1f 2\r\n", Refusal::bad_arguments},
      {"MSG a 1 x\r\n", Refusal::bad_size},
      {"MSG a 1 -5\r\n", Refusal::bad_size},
      {"MSG a 1 99999999999999999999\r\n", Refusal::bad_size},
      {"MSG a 1 18446744073709551616\r\n", Refusal::bad_size},
      {"MSG a 1 67108865\r\n", Refusal::message_too_large},
      {"MSG a 1 4294967297\r\n", Refusal::message_too_large},
      {"HMSG a 1 2\r\n", Refusal::bad_arguments},
      {"HMSG a 1 r 2 3 4\r\n", Refusal::bad_arguments},
      {"HMSG a 1 5 4\r\n", Refusal::bad_size},
      {"HMSG a 1 x 4\r\n", Refusal::bad_size},
      {"MSG a 1 2\r\nhixx", Refusal::no_line_end},
      {"MSG a 1 2\r\nhi\n", Refusal::no_line_end},
      {"MSG a 1 2\r\nhi\rx", Refusal::no_line_end},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.sent);
    const std::string ending = "refused: " + std::string(sentence_of(each.refusal)) + "\n";
    const std::string expected = whole("PING\r\n" + each.sent);
    EXPECT_TRUE(expected.starts_with("ping\n"));
    EXPECT_TRUE(expected.ends_with(ending)) << expected;
    expect_events("PING\r\n" + each.sent, expected);
  }
}

TEST(Machine, a_line_is_refused_once_it_is_too_long_whether_it_ends_or_not) {
  const Limits limits{.line_bytes_max = 40, .info_bytes_max = 80};
  const std::string refused = "refused: " + std::string(sentence_of(Refusal::line_too_long)) + "\n";
  const std::string fits = "-ERR " + std::string(35, 'x');
  expect_events(fits + "\r\n", "error " + std::string(35, 'x') + "\n", limits);
  expect_events(fits + "x\r\n", refused, limits);
  expect_events(fits + "xxxxx", refused, limits);
  expect_events("INFO " + std::string(75, 'x') + "\r\n", "info " + std::string(75, 'x') + "\n",
                limits);
  expect_events("INFO " + std::string(76, 'x') + "\r\n", refused, limits);
  expect_events("INFO " + std::string(78, 'x'), refused, limits);
}

TEST(Machine, a_line_without_an_end_is_refused_with_its_second_byte_beyond_the_limit) {
  const Limits limits{.line_bytes_max = 40, .info_bytes_max = 80};
  Machine machine(limits);
  EXPECT_EQ(machine.next("-ERR " + std::string(36, 'x')).event, Event::need_bytes)
      << "the last may be the CR of its end";
  EXPECT_EQ(machine.next("-ERR " + std::string(37, 'x')).event, Event::refused);
  EXPECT_EQ(machine.refusal(), Refusal::line_too_long);
}

TEST(Machine, names_of_operations_have_no_case) {
  const Limits limits{.line_bytes_max = 40, .info_bytes_max = 80};
  const std::string text(60, 'x');
  expect_events("info " + text + "\r\nInFo " + text + "\r\n",
                "info " + text + "\ninfo " + text + "\n", limits);
  expect_events("-err no\r\nmsg a 1 1\r\nx\r\n+ok\r\npong\r\n",
                "error no\nmessage a 1 [] 0/1\ncontent x\nok\npong\n");
  expect_events("hmsg a 1 12 12\r\nNATS/1.0\r\n\r\n\r\n",
                "message a 1 [] 12/12\ncontent NATS/1.0\r\n\r\n\n");
}

TEST(Machine, blanks_around_arguments_are_no_part_of_them) {
  expect_events("-ERR  'no' \t \r\n", "error 'no'\n");
  expect_events("MSG  a  1  1 \r\nx\r\n", "message a 1 [] 0/1\ncontent x\n");
}

TEST(Machine, a_number_has_19_digits_at_most) {
  expect_events("MSG a 9999999999999999999 1\r\nx\r\n",
                "message a 9999999999999999999 [] 0/1\ncontent x\n");
  EXPECT_EQ(whole("MSG a 10000000000000000000 1\r\nx\r\n"),
            "refused: " + std::string(sentence_of(Refusal::bad_arguments)) + "\n");
}

TEST(Machine, a_message_without_content_is_whole_before_its_line_end_has_come) {
  EXPECT_EQ(whole("MSG a 1 0\r\n"), "message a 1 [] 0/0\ncontent \n");
}

TEST(Machine, a_message_may_be_as_large_as_the_limit) {
  EXPECT_EQ(whole("MSG a 1 5\r\nhello\r\n", {.message_bytes_max = 5}),
            "message a 1 [] 0/5\ncontent hello\n");
  EXPECT_EQ(whole("MSG a 1 6\r\n", {.message_bytes_max = 5}),
            "refused: " + std::string(sentence_of(Refusal::message_too_large)) + "\n");
}

TEST(Machine, a_line_that_is_refused_behind_a_message_takes_nothing) {
  Machine machine;
  EXPECT_EQ(machine.next("MSG a 1 1\r\n").event, Event::message);
  EXPECT_EQ(machine.next("x").event, Event::piece);
  const Step step = machine.next("\r\nHELLO\r\n");
  EXPECT_EQ(step.event, Event::refused);
  EXPECT_EQ(step.consumed, 0u);
}

TEST(Machine, the_line_end_of_a_message_is_taken_when_it_is_there) {
  Machine machine;
  EXPECT_EQ(machine.next("MSG a 1 1\r\n").event, Event::message);
  EXPECT_EQ(machine.next("x").event, Event::piece);
  const Step step = machine.next("\r\n");
  EXPECT_EQ(step.event, Event::need_bytes);
  EXPECT_EQ(step.consumed, 2u);
}

TEST(Machine, every_refusal_has_a_sentence_of_its_own) {
  std::vector<std::string> sentences;
  for (int each = 0; each <= static_cast<int>(Refusal::count_); ++each) {
    sentences.emplace_back(sentence_of(static_cast<Refusal>(each)));
    EXPECT_FALSE(sentences.back().empty()) << each;
  }
  std::ranges::sort(sentences);
  EXPECT_EQ(std::ranges::adjacent_find(sentences), sentences.end());
}

TEST(Machine, stays_refused) {
  Machine machine;
  EXPECT_EQ(machine.next("X\r\n").event, Event::refused);
  const Step step = machine.next("PING\r\n");
  EXPECT_EQ(step.event, Event::refused);
  EXPECT_EQ(step.consumed, 0u);
}

TEST(Machine, leaves_at_most_a_line_with_its_caller) {
  Machine machine;
  std::string pending = "MSG a 1 1000\r\n";
  Step step = machine.next(pending);
  EXPECT_EQ(step.event, Event::message);
  EXPECT_EQ(step.consumed, pending.size());
  EXPECT_TRUE(machine.in_message());
  const std::string part(600, 'x');
  step = machine.next(part);
  EXPECT_EQ(step.event, Event::piece);
  EXPECT_EQ(step.consumed, 600u);
  EXPECT_FALSE(step.is_last);
  step = machine.next(part);
  EXPECT_EQ(step.consumed, 400u);
  EXPECT_TRUE(step.is_last);
}

TEST(Writer, writes_what_servers_read) {
  char memory[400];
  const auto text = [&](const char* end) {
    return Bytes(memory, static_cast<std::size_t>(end - memory));
  };
  EXPECT_EQ(text(write_publish(memory, "a.b", "", 0, 5)), "PUB a.b 5\r\n");
  EXPECT_EQ(text(write_publish(memory, "a.b", "r", 0, 0)), "PUB a.b r 0\r\n");
  EXPECT_EQ(text(write_publish(memory, "a", "", 12, 17)), "HPUB a 12 17\r\n");
  EXPECT_EQ(text(write_publish(memory, "a", "r", 12, 17)), "HPUB a r 12 17\r\n");
  EXPECT_EQ(text(write_subscribe(memory, "a.>", "", 7)), "SUB a.> 7\r\n");
  EXPECT_EQ(text(write_subscribe(memory, "a.>", "g", 7)), "SUB a.> g 7\r\n");
  EXPECT_EQ(text(write_unsubscribe(memory, 18446744073709551615U)),
            "UNSUB 18446744073709551615\r\n");
  const std::string longest(100, 's');
  EXPECT_LE(text(write_publish(memory, longest, longest, SIZE_MAX, SIZE_MAX)).size(),
            publish_bytes_max(longest, longest));
  EXPECT_LE(text(write_subscribe(memory, longest, longest, UINT64_MAX)).size(),
            subscribe_bytes_max(longest, longest));
  EXPECT_LE(text(write_unsubscribe(memory, UINT64_MAX)).size(), unsubscribe_bytes_max);
}

}  // namespace
}  // namespace katana::nats

// SPDX-License-Identifier: Apache-2.0
