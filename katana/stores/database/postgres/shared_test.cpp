// Tests of what all reactors share, without a server.
#include "katana/stores/database/postgres/shared.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace katana::database::postgres {
namespace {

Options options_of_test() {
  Options options;
  options.hosts = {{"127.0.0.1", 1}};
  options.user = "app";
  return options;
}

// Each reactor has the time of its turn, and one turn may have begun before the other.
TEST(PostgresShared, an_outage_does_not_last_less_than_nothing) {
  Shared shared(options_of_test());
  std::vector<Duration> lasted;
  shared.observe_outages([&lasted](const Outage& outage) {
    if (outage.why.empty()) lasted.push_back(outage.lasted);
  });
  const Instant failed = Instant{} + seconds(10);
  shared.report_failure("gone", failed);
  shared.report_usable(failed - milliseconds(3));
  shared.report_failure("gone", failed);
  shared.report_usable(failed + milliseconds(3));
  ASSERT_EQ(lasted.size(), 2u);
  EXPECT_EQ(lasted[0], Duration());
  EXPECT_EQ(lasted[1], milliseconds(3));
}

}  // namespace
}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
