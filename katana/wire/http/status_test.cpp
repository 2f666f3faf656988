#include "katana/wire/http/status.hpp"

#include <gtest/gtest.h>

#include <cctype>
#include <climits>
#include <string>

namespace katana::http {
namespace {

TEST(Status, a_registered_status_has_its_phrase_and_its_line) {
  EXPECT_EQ(reason_phrase(200), "OK");
  EXPECT_EQ(status_line(200), "HTTP/1.1 200 OK\r\n");
  EXPECT_EQ(reason_phrase(100), "Continue");
  EXPECT_EQ(status_line(413), "HTTP/1.1 413 Content Too Large\r\n");
  EXPECT_EQ(status_line(511), "HTTP/1.1 511 Network Authentication Required\r\n");
}

TEST(Status, every_line_is_made_of_its_status_and_its_phrase) {
  int registered = 0;
  for (unsigned status = 0; status < 2000; ++status) {
    const Bytes phrase = reason_phrase(status);
    const Bytes line = status_line(status);
    ASSERT_EQ(phrase.empty(), line.empty()) << status;
    if (line.empty()) continue;
    ++registered;
    EXPECT_EQ(line, "HTTP/1.1 " + std::to_string(status) + " " + std::string(phrase) + "\r\n");
    EXPECT_TRUE(std::isupper(static_cast<unsigned char>(phrase.front()))) << status;
  }
  EXPECT_EQ(registered, 61);
}

TEST(Status, an_unknown_status_has_neither_phrase_nor_line) {
  for (const unsigned status : {0U, 99U, 104U, 306U, 418U, 499U, 599U, 600U, UINT_MAX}) {
    EXPECT_EQ(reason_phrase(status), "") << status;
    EXPECT_EQ(status_line(status), "") << status;
  }
}

TEST(Status, informational_no_content_and_not_modified_have_no_content) {
  for (unsigned status = 100; status < 600; ++status) {
    const bool none = status < 200 || status == 204 || status == 304;
    EXPECT_EQ(status_has_content(status), !none) << status;
  }
}

static_assert(status_line(404) == "HTTP/1.1 404 Not Found\r\n");

}  // namespace
}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
