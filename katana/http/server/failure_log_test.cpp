#include "katana/http/server/failure_log.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "katana/http/server/kept_log_test.hpp"

namespace katana::server {
namespace {

Instant now_of_test;
Instant test_clock() { return now_of_test; }

std::exception_ptr thrown(const char* text) {
  return std::make_exception_ptr(std::runtime_error(text));
}

class FailureLogTest : public testing::Test {
 protected:
  FailureLogTest() { now_of_test = {}; }
  FailureLogOptions printing() {
    return {.records_max = 2,
            .period = seconds(10),
            .clock = test_clock,
            .print = [this](const std::string& line) { lines.push_back(line); }};
  }
  static void fail_at(FailureLog& log, const char* place, const char* text = "x") {
    log.on_failure({.what = "the handler threw", .exception = thrown(text), .place = place});
  }
  std::vector<std::string> lines;
};

TEST_F(FailureLogTest, records_of_one_place_are_limited_and_the_next_says_how_many_were_left_out) {
  FailureLog log(printing());
  for (int count = 0; count < 1000; ++count) fail_at(log, "GET /a");
  fail_at(log, "GET /b");  // has its own allowance
  EXPECT_EQ(lines.size(), 3u);
  now_of_test = now_of_test + seconds(10);
  fail_at(log, "GET /a");
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(
      lines.back(),
      "GET /a: the handler threw: std::runtime_error: x (and 998 like it that were left out)");
}

TEST_F(FailureLogTest, places_are_bounded_whatever_they_are_called) {
  FailureLogOptions options = printing();
  options.places_max = 8;
  FailureLog log(std::move(options));
  for (int place = 0; place < 1000; ++place) fail_at(log, std::to_string(place).c_str());
  EXPECT_EQ(lines.size(), 10u);  // 8 places, and 2 records of all others together
}

TEST_F(FailureLogTest, a_record_has_the_place_the_method_the_cause_and_those_left_out_as_fields) {
  KeptLog kept;
  FailureLog log({.logger = kept.logger("failures")});
  const Error cause = Error(Code::internal, "no such table").within("load");
  log.on_failure({.what = "the handler returned an error",
                  .error = &cause,
                  .place = "GET /a",
                  .method = "GET"});
  EXPECT_EQ(kept.lines({"GET /a: the handler returned an error: load: no such table",
                        "\"level\":\"error\"", "\"place\":\"GET /a\"", "\"method\":\"GET\"",
                        "\"left_out\":0"})
                .size(),
            1u)
      << kept.text();
}

TEST_F(FailureLogTest, the_hook_has_every_failure_and_what_it_throws_is_said) {
  FailureLogOptions options = printing();
  int calls = 0;
  options.on_error = [&](const Failure& failure) {
    EXPECT_EQ(failure.place, "GET /a");
    ++calls;
    throw std::runtime_error("of the hook");
  };
  FailureLog log(std::move(options));
  for (int count = 0; count < 5; ++count) fail_at(log, "GET /a");
  EXPECT_EQ(calls, 5);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NE(lines.front().find("(and on_error threw)"), std::string::npos);
}

}  // namespace
}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
