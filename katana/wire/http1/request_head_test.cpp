#include "katana/wire/http1/request_head.hpp"

#include <gtest/gtest.h>

#include <vector>

#include <string>

#include "katana/wire/http1/head_parser.hpp"

namespace katana::http1 {
namespace {

std::string written(const RequestHead& head) {
  std::string text(request_head_bytes_max(head), '\0');
  const char* const end = write_request_head(text.data(), head);
  text.resize(static_cast<std::size_t>(end - text.data()));
  return text;
}

TEST(RequestHead, is_what_the_server_side_reads) {
  const RequestHead head{.method = "PUT",
                         .target = "/a?b=c",
                         .host = "example.org:81",
                         .fields = "X: y\r\n",
                         .content_length = 9'223'372'036'854'775'807,
                         .close = true};
  const std::string text = written(head);
  EXPECT_EQ(text,
            "PUT /a?b=c HTTP/1.1\r\nHost: example.org:81\r\n"
            "Content-Length: 9223372036854775807\r\nX: y\r\nConnection: close\r\n\r\n");
  const Limits limits;
  LineProgress progress;
  http::Head read;
  Framing framing;
  const HeadResult result = HeadParser(limits).parse(text, progress, read, framing);
  EXPECT_EQ(result.verdict, HeadVerdict::complete);
  EXPECT_EQ(result.bytes, text.size());
  EXPECT_EQ(read.method(), http::Method::put);
  EXPECT_EQ(framing.content_length, 9'223'372'036'854'775'807u);
  EXPECT_FALSE(framing.keep_alive);
}

TEST(RequestHead, is_no_longer_than_was_said) {
  const std::string long_text(2000, 'x'), fields = "X: " + long_text + "\r\n";
  const RequestHead heads[] = {
      {.host = "x"},
      {.method = long_text, .host = "x", .content_length = 0},
      {.target = long_text, .host = "x", .close = true},
      {.host = long_text, .content_length = 9'223'372'036'854'775'807},
      {.host = "x", .fields = fields, .content_length = 9'223'372'036'854'775'807, .close = true}};
  for (const RequestHead& head : heads) {
    std::vector<char> place(16'384);
    const char* const end = write_request_head(place.data(), head);
    const auto bytes = static_cast<std::size_t>(end - place.data());
    EXPECT_LE(bytes, request_head_bytes_max(head));
    EXPECT_LE(request_head_bytes_max(head), bytes + 96);
  }
}

TEST(RequestHead, says_no_length_where_there_is_no_content) {
  EXPECT_EQ(written({.host = "x"}), "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
}

TEST(RequestHead, what_could_begin_a_line_of_its_own_is_not_sendable) {
  EXPECT_TRUE(is_sendable({.host = "x"}));
  EXPECT_TRUE(is_sendable({.method = "OPTIONS", .target = "*", .host = "[::1]:80"}));
  for (const char* bad : {"", "GET /\r\nX", "G T", "GE\r\nT", "G\n"}) {
    EXPECT_FALSE(is_sendable({.method = bad, .host = "x"})) << bad;
  }
  for (const char* bad : {"", "/a b", "/\r\nX: y", "/\n", "/\t", "/\x7f"}) {
    EXPECT_FALSE(is_sendable({.target = bad, .host = "x"})) << bad;
  }
  for (const char* bad : {"a b", "a\r\nX: y", "a\n", "u@h", "a:b", "a:65536"}) {
    EXPECT_FALSE(is_sendable({.host = bad})) << bad;
  }
}

}  // namespace
}  // namespace katana::http1

// SPDX-License-Identifier: Apache-2.0
