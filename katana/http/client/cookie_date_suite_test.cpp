// The dates of the public test data of RFC 6265, http-state, where KATANA_HTTP_STATE names their
// folder: test/ietf_data/dates of the npm package tough-cookie 2.0.0. `tools/matrix http-state`
// fetches it.
#include <gtest/gtest.h>
#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "katana/data/container/json_read.hpp"
#include "katana/http/client/cookie_date.hpp"

namespace katana::client {
namespace {

struct DateCase {
  std::string test;                     // as a server sent it
  std::optional<std::string> expected;  // as HTTP writes it; absent: no date
};
KATANA_DESCRIBE(DateCase, test, expected)

// Reads "Sat, 15 Apr 2017 21:01:22 GMT" by the C library, so that our reader does not judge itself.
std::optional<std::int64_t> seconds_of(const std::string& text) {
  std::tm parts{};
  const char* const end = ::strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return ::timegm(&parts);
}

std::vector<DateCase> cases_of(const std::string& path) {
  std::ifstream file(path);
  const std::string json{std::istreambuf_iterator<char>(file), {}};
  auto cases = container::read_json<std::vector<DateCase>>(json);
  EXPECT_TRUE(cases.has_value()) << path << ": " << cases.error().describe();
  return cases ? *std::move(cases) : std::vector<DateCase>();
}

TEST(HttpState, each_public_date_has_its_outcome) {
  const char* const folder = std::getenv("KATANA_HTTP_STATE");
  if (folder == nullptr) GTEST_SKIP() << "KATANA_HTTP_STATE names no folder";
  int dates = 0;
  int right = 0;
  for (const char* const file : {"/examples.json", "/bsd-examples.json"}) {
    for (const DateCase& each : cases_of(folder + std::string(file))) {
      std::optional<std::int64_t> expected_s;
      if (each.expected) {
        expected_s = seconds_of(*each.expected);
        ASSERT_TRUE(expected_s.has_value()) << *each.expected;
      }
      ++dates;
      const auto got_s = parse_cookie_date(each.test);
      EXPECT_EQ(got_s, expected_s) << each.test;
      if (got_s == expected_s) ++right;
    }
  }
  EXPECT_EQ(dates, 70);
  std::printf("http-state: %d of %d dates are right\n", right, dates);
}

}  // namespace
}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
