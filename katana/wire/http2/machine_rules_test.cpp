// Rules of what the server's machine sends: its settings, and heads of replies that look alike.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "katana/wire/http2/peer_test.hpp"

namespace katana::http2 {
namespace {

// The settings in the frame that `sent` begins with, by their identifiers.
std::map<unsigned, std::uint32_t> settings_in(const std::string& sent) {
  const auto number = [&](std::size_t at, std::size_t bytes) {
    std::uint32_t value = 0;
    for (std::size_t index = 0; index < bytes; ++index) {
      value = value << 8 | static_cast<unsigned char>(sent.at(at + index));
    }
    return value;
  };
  std::map<unsigned, std::uint32_t> found;
  const std::size_t end = 9 + number(0, 3);
  for (std::size_t at = 9; at < end; at += 6) found[number(at, 2)] = number(at + 2, 4);
  return found;
}

TEST(Http2Settings, announce_the_limits_of_the_server_and_that_it_reads_no_priorities) {
  Limits limits;
  limits.streams_max = 77;
  Bench bench(limits);
  const std::map<unsigned, std::uint32_t> plain = {
      {3, 77},
      {4, limits.stream_window_bytes},
      {6, static_cast<std::uint32_t>(limits.head_bytes_max)},
      {9, 1}};
  EXPECT_EQ(settings_in(bench.take_sent()), plain);
  Bench extended(limits, true);
  auto with_connect = plain;
  with_connect[8] = 1;
  EXPECT_EQ(settings_in(extended.take_sent()), with_connect);
}

class ReplyHeads : public ::testing::Test {
 protected:
  ReplyHeads() { bench_.open(); }
  // The bytes of a reply behind its first frame header.
  std::string sent(const http::ReplyHead& head, Bytes content) {
    const auto id = bench_.request(get_root);
    EXPECT_TRUE(bench_.machine().respond(bench_.stream(id), head, content, false, SIZE_MAX,
                                         bench_.now(), bench_.outbox()));
    return bench_.take_sent().substr(9);
  }
  static bool has(const std::string& bytes, Bytes part) {
    return bytes.find(part) != std::string::npos;
  }
  Bench bench_;
};

TEST_F(ReplyHeads, an_equal_head_is_sent_again_and_any_other_is_written_anew) {
  http::ReplyHead head;
  head.content_type = "text/plain";
  const std::string first = sent(head, "Hello");
  EXPECT_TRUE(has(first, "text/plain"));
  EXPECT_EQ(sent(head, "Hello").substr(0, 20), first.substr(0, 20));
  http::ReplyHead with_field = head;
  with_field.fields = "X-One: 1\r\n";
  EXPECT_TRUE(has(sent(with_field, "Hello"), "x-one"));
  http::ReplyHead with_more = head;
  with_more.more_fields = "X-Two: 2\r\n";
  EXPECT_TRUE(has(sent(with_more, "Hello"), "x-two"));
  http::ReplyHead with_both = with_field;
  with_both.more_fields = "X-Two: 2\r\n";
  const std::string both = sent(with_both, "Hello");
  EXPECT_TRUE(has(both, "x-one") && has(both, "x-two"));
  http::ReplyHead other_type = head;
  other_type.content_type = "text/html";
  EXPECT_TRUE(has(sent(other_type, "Hello"), "text/html"));
  EXPECT_EQ(sent(head, "Hello").substr(0, 20), first.substr(0, 20)) << "the first one again";
}

TEST_F(ReplyHeads, a_status_without_an_index_is_written_as_its_digits) {
  http::ReplyHead head;
  for (const unsigned status : {201u, 301u, 418u, 503u}) {
    head.status = status;
    EXPECT_TRUE(has(sent(head, "x"), std::to_string(status))) << status;
  }
  head.status = 404;
  EXPECT_EQ(sent(head, "x")[0], '\x8d') << "entry 13 of the static table";
}

TEST_F(ReplyHeads, an_empty_reply_says_that_its_length_is_zero) {
  // Entry 28 of the static table is content-length; its value is one byte.
  EXPECT_TRUE(has(sent(http::ReplyHead(), ""), std::string("\x0f\x0d\x01"
                                                           "0",
                                                           4)));
}

}  // namespace
}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
