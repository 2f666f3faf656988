#include "katana/wire/http1/response_machine.hpp"

#include <gtest/gtest.h>

#include <string>

#include "katana/wire/http1/response_transcript_test.hpp"

namespace katana::http1 {
namespace {

struct ResponseCase {
  const char* name;
  std::string bytes;
  std::string reading;
  bool to_head = false;
};

// Compares the reading of the bytes when they come whole, byte by byte, and cut at every pair of
// places.
void expect_reading(const ResponseCase& one) {
  SCOPED_TRACE(one.name);
  EXPECT_EQ(reading_of(one.bytes, {}, one.to_head), one.reading);
  std::vector<std::size_t> every;
  for (std::size_t cut = 1; cut < one.bytes.size(); ++cut) every.push_back(cut);
  EXPECT_EQ(reading_of(one.bytes, every, one.to_head), one.reading);
  for (std::size_t first = 0; first < one.bytes.size(); ++first) {
    for (std::size_t second = first; second < one.bytes.size(); ++second) {
      ASSERT_EQ(reading_of(one.bytes, {first, second}, one.to_head), one.reading)
          << first << " " << second;
    }
  }
}

TEST(Response, content_of_a_length_is_given_as_it_comes_and_the_next_reply_follows) {
  using Kind = ResponseMachine::Event;
  HeadMemo memo;
  ResponseMachine machine;
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n";
  const auto begun = machine.next(head, false, memo);
  EXPECT_EQ(begun.event, Kind::content);
  EXPECT_EQ(begun.consumed, head.size());
  EXPECT_EQ(machine.next("", false, memo).event, Kind::needs_more);
  const auto piece = machine.next("abc", false, memo);
  EXPECT_EQ(piece.event, Kind::content);
  EXPECT_EQ(piece.content, "abc");
  const auto last = machine.next("defHTTP", false, memo);
  EXPECT_EQ(last.event, Kind::complete);
  EXPECT_EQ(last.content, "def");
  EXPECT_EQ(last.consumed, 3u);
  EXPECT_EQ(machine.next("HTTP/1.1 204 No\r\n\r\n", false, memo).event, Kind::complete);
  EXPECT_EQ(machine.status(), 204);
}

// RFC 9112 §6.3: the bytes behind the head belong to the tunnel. A refusal is read as usual.
TEST(Response, a_2xx_to_connect_ends_with_its_head_whatever_framing_it_states) {
  using Kind = ResponseMachine::Event;
  for (const char* const framing :
       {"", "Content-Length: 5\r\n", "Content-Length: -\r\n", "Transfer-Encoding: chunked\r\n",
        "Content-Length: 1\r\nContent-Length: 2\r\n",
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"}) {
    for (const char* const status : {"200", "299"}) {
      HeadMemo memo;
      for (int round = 0; round < 2; ++round) {  // anew, and by the memo
        ResponseMachine machine;
        machine.begin_tunnel();
        const std::string head = std::string("HTTP/1.1 ") + status + " OK\r\n" + framing + "\r\n";
        const auto step = machine.next(head + "tunnel", false, memo);
        EXPECT_EQ(step.event, Kind::complete) << framing;
        EXPECT_EQ(step.consumed, head.size()) << framing;
        EXPECT_EQ(machine.status(), Bytes(status) == "200" ? 200 : 299);
      }
    }
  }
  HeadMemo memo;
  ResponseMachine refused;
  refused.begin_tunnel();
  EXPECT_EQ(refused.next("HTTP/1.1 403 No\r\nContent-Length: x\r\n\r\n", false, memo).event,
            Kind::malformed);
  ResponseMachine usual;
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n";
  EXPECT_EQ(usual.next(head, false, memo).event, Kind::malformed);
  refused.begin_tunnel();
  (void)refused.next(head, false, memo);
  usual.begin_connection();
  EXPECT_EQ(usual.next(head, false, memo).event, Kind::malformed) << "the memo is shared";
}

TEST(Response, framing_is_that_of_the_rfc_at_every_split) {
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  const ResponseCase cases[] = {
      {"content length", ok + "Content-Length: 3\r\n\r\nabc", "200 'abc'\n"},
      {"length 0", ok + "content-length:0\r\n\r\n", "200 ''\n"},
      {"two replies, one head",
       ok + "Content-Length: 2\r\n\r\nab" + ok + "Content-Length: 2\r\n\r\ncd",
       "200 'ab'\n200 'cd'\n"},
      {"close-delimited", ok + "\r\nabc", "200 'abc' last\n"},
      {"close-delimited and empty", ok + "\r\n", "200 '' last\n"},
      {"coding other than chunked is close-delimited", ok + "Transfer-Encoding: gzip\r\n\r\nabc",
       "200 'abc' last\n"},
      {"chunked",
       ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n",
       "200 'abc0123456789'\n"},
      {"chunked with trailers",
       ok + "Transfer-Encoding: gzip, Chunked\r\n\r\n1\r\na\r\n0\r\nT: v\r\n\r\n", "200 'a'\n"},
      {"close", ok + "Connection: x, Close\r\nContent-Length: 1\r\n\r\na", "200 'a' last\n"},
      {"HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na", "200 'a' last\n"},
      {"HTTP/1.0 kept", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\na",
       "200 'a'\n"},
      {"204", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", "204 ''\n"},
      {"304", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", "304 ''\n"},
      {"no reason", "HTTP/1.1 404\r\nContent-Length: 0\r\n\r\n", "404 ''\n"},
      {"interim",
       "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\n" + ok +
           "Content-Length: 1\r\n\r\na",
       "interim\ninterim\n200 'a'\n"},
      {"statuses of each class without a name",
       "HTTP/1.1 199 X\r\n\r\nHTTP/1.1 299 X\r\nContent-Length: 1\r\n\r\na"
       "HTTP/1.1 399 X\r\nContent-Length: 0\r\n\r\nHTTP/1.1 499 X\r\nContent-Length: 0\r\n\r\n"
       "HTTP/1.1 599 X\r\nContent-Length: 0\r\n\r\n",
       "interim\n299 'a'\n399 ''\n499 ''\n599 ''\n"},
      {"the same length twice", ok + "Content-Length: 1\r\nContent-Length: 1, 1\r\n\r\na",
       "200 'a'\n"},
      {"a folded length and coding",
       ok + "Content-Length:\r\n 1\r\n\r\na" + ok +
           "Transfer-Encoding: gzip,\r\n\tchunked\r\n \r\n\r\n1\r\nb\r\n0\r\n\r\n",
       "200 'a'\n200 'b'\n"},
      {"a folded field that is not about framing, twice with one head",
       ok + "X: one;\r\n two\r\nContent-Length: 0\r\n\r\n" + ok +
           "X: one;\r\n two\r\nContent-Length: 0\r\n\r\n",
       "200 ''\n200 ''\n"},
      {"spaces behind the size of a chunk, and behind an extension",
       ok + "Transfer-Encoding: chunked\r\n\r\n1  \r\na\r\n1;x \r\nb\r\n1;x=y\t\r\nc\r\n"
            "0 \r\n\r\n",
       "200 'abc'\n"},
      {"codings with empty elements",
       ok + "Transfer-Encoding: ,chunked , \r\n\r\n1\r\na\r\n0\r\n\r\n", "200 'a'\n"},
      {"an invalid status, which means 5xx",
       "HTTP/1.1 600 X\r\nContent-Length: 1\r\n\r\naHTTP/1.1 999 X\r\nContent-Length: 0\r\n\r\n",
       "600 'a'\n999 ''\n"},
      {"a folded trailer",
       ok + "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nT: v\r\n w\r\n\r\n", "200 'a'\n"},
      {"cut off within content", ok + "Content-Length: 3\r\n\r\nab", "cut off with content 'ab'\n"},
      {"cut off within the head", "HTTP/1.1 200", "cut off with content ''\n"},
      {"cut off within a chunk", ok + "Transfer-Encoding: chunked\r\n\r\n3\r\na",
       "cut off with content 'a'\n"},
      {"nothing", "", ""},
  };
  for (const ResponseCase& one : cases) expect_reading(one);
}

TEST(Response, to_head_has_no_content_at_every_split) {
  expect_reading({"length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "200 ''\n", true});
  expect_reading(
      {"chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "200 ''\n", true});
  expect_reading(
      {"neither", "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 500 No\r\n\r\n", "200 ''\n500 ''\n", true});
}

TEST(Response, what_is_no_reply_is_malformed_at_every_split) {
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  const std::string chunked = ok + "Transfer-Encoding: chunked\r\n\r\n";
  const ResponseCase cases[] = {
      {"garbage", "\x16\x03\x01 no line end", "no HTTP/1.x status line"},
      {"another version", "HTTP/2.0 200 OK\r\n\r\n", "no HTTP/1.x status line"},
      {"a status of two digits", "HTTP/1.1 20 OK\r\n\r\n",
       "the status is no number from 100 to 999"},
      {"a status below 100", "HTTP/1.1 099 OK\r\n\r\n", "the status is no number from 100 to 999"},
      {"a status of four digits", "HTTP/1.1 2000 OK\r\n\r\n", "no space after the status"},
      {"LF alone", "HTTP/1.1 200 OK\n\n", "LF without CR in the head"},
      {"CR alone", "HTTP/1.1 200 O\rK\r\n\r\n", "CR without LF in the head"},
      {"no name", ok + ": x\r\n\r\n", "a field without a name"},
      {"no colon", ok + "abc\r\n\r\n", "a field without a name"},
      {"a status line is not folded", ok + " c: d\r\n\r\n", "a field's name is no token"},
      {"LF alone in a fold", ok + "A: b\n c\r\n\r\n", "LF without CR in the head"},
      {"CR alone in a fold", ok + "A: b\r\n c\rd\r\n\r\n", "CR without LF in the head"},
      {"a folded length no number", ok + "Content-Length: 1\r\n 2\r\n\r\n",
       "Content-Length is no number"},
      {"space before the colon", ok + "A : b\r\n\r\n", "a field's name is no token"},
      {"NUL", ok + std::string("A: \0\r\n\r\n", 8), "a field's value has a NUL"},
      {"length no number", ok + "Content-Length: 1x\r\n\r\n", "Content-Length is no number"},
      {"length negative", ok + "Content-Length: -1\r\n\r\n", "Content-Length is no number"},
      {"length empty", ok + "Content-Length: \r\n\r\n", "Content-Length is no number"},
      {"length beyond 2^63", ok + "Content-Length: 9223372036854775808\r\n\r\n",
       "Content-Length is no number"},
      {"two lengths", ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
       "two values of Content-Length"},
      {"both framings", ok + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
       "both Transfer-Encoding and Content-Length"},
      {"a coding in HTTP/1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
       "Transfer-Encoding in HTTP/1.0"},
      {"101", "HTTP/1.1 101 Switching\r\n\r\n", "101, and no upgrade was asked for"},
      {"chunk without a size", chunked + "\r\n",
       "a chunk does not begin with its size in hexadecimal"},
      {"chunk size no number", chunked + "1x\r\n",
       "a chunk does not begin with its size in hexadecimal"},
      {"chunk size too large", chunked + "10000000000000000\r\n",
       "a chunk does not begin with its size in hexadecimal"},
      {"chunk without an end", chunked + "1\r\nab", "a chunk has no end"},
      {"chunk size with LF alone", chunked + "1\n",
       "a chunk does not begin with its size in hexadecimal"},
      {"chunk extension with LF alone", chunked + "1;\n",
       "a line of the chunked coding does not end in CRLF"},
      {"trailer with LF alone", chunked + "0\r\nA: b\n", "a trailer is no field"},
  };
  for (ResponseCase one : cases) {
    one.reading = "malformed: " + one.reading + "\n";
    expect_reading(one);
  }
}

TEST(Response, a_head_that_never_ends_is_refused_at_its_limit) {
  Reading reading;
  std::size_t given = 0;
  bool takes_more = reading.give("HTTP/1.1 200 OK\r\n");
  const std::string line = "X: " + std::string(1000, 'x') + "\r\n";
  while (takes_more) {
    given += line.size();
    ASSERT_LE(given, ResponseMachine::head_bytes_max + line.size());
    takes_more = reading.give(line);
  }
  EXPECT_EQ(reading.text(), "malformed: the head is too long\n");
}

TEST(Response, a_line_that_never_ends_is_refused_at_its_limit) {
  Reading reading;
  std::size_t given = 0;
  bool takes_more = reading.give("HTTP/1.1 200 OK\r\nX:");
  const std::string piece(1000, 'x');
  while (takes_more) {
    given += piece.size();
    ASSERT_LE(given, ResponseMachine::head_bytes_max + piece.size());
    takes_more = reading.give(piece);
  }
  EXPECT_EQ(reading.text(), "malformed: the head is too long\n");
}

TEST(Response, endless_interim_replies_chunk_lines_and_trailers_are_refused) {
  const std::pair<std::string, std::string> endless[] = {
      {"", "HTTP/1.1 100 Continue\r\n\r\n"},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", "xxxxxxxxxxxxxxxx"},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "A: bbbbbbbbbbbbbbbb\r\n"},
  };
  for (const auto& [begin, more] : endless) {
    Reading reading;
    bool takes_more = begin.empty() || reading.give(begin);
    for (int count = 0; takes_more && count < 10'000; ++count) takes_more = reading.give(more);
    EXPECT_FALSE(takes_more) << begin;
  }
}

TEST(Response, a_remembered_head_means_the_same_and_only_the_same) {
  // The second differs in its last byte but one, the third is longer, the fourth is the first.
  const std::string first = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n";
  const std::string second = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n";
  const std::string third =
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: keep-alive\r\n\r\n";
  expect_reading({"memo", first + "a" + second + "bc" + third + "d" + first + "e",
                  "200 'a'\n200 'bc'\n200 'd'\n200 'e'\n"});
}

TEST(HeadMemo, a_head_that_is_too_large_is_not_remembered) {
  HeadMemo memo;
  EXPECT_FALSE(memo.matches(""));
  memo.remember(std::string(2000, 'x'), {});
  EXPECT_FALSE(memo.matches(std::string(2000, 'x')));
}

}  // namespace
}  // namespace katana::http1

// SPDX-License-Identifier: Apache-2.0
