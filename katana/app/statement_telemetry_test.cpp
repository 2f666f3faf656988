#include "katana/app/statement_telemetry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "katana/http/server/exposition_test.hpp"
#include "katana/http/server/kept_log_test.hpp"

namespace katana::app {
namespace {

using database::Kind;
using database::StatementReport;
using testing::HasSubstr;
using testing::Not;

class StatementTelemetryTest : public testing::Test {
 protected:
  StatementReport report(Duration duration, std::optional<Kind> failure = {}) {
    return {.name = "SELECT users",
            .number = 9,
            .text = "SELECT id FROM users WHERE name = $1",
            .system = "postgresql",
            .duration = duration,
            .rows = failure ? 0 : 2,
            .failure = failure};
  }
  StatementTelemetryOptions options() {
    return {.slow = kept.logger("database"), .slow_after = milliseconds(200), .metrics = &registry};
  }

  server::KeptLog kept;
  metrics::Registry registry;
};

TEST_F(StatementTelemetryTest, statements_are_counted_by_name_and_outcome) {
  StatementTelemetry telemetry(options());
  ASSERT_TRUE(telemetry.prepare());
  telemetry.on_statement(report(microseconds(40)));
  telemetry.on_statement(report(milliseconds(3)));
  telemetry.on_statement(report(milliseconds(3), Kind::constraint_violation));
  const std::string text = server::exposition_of(registry);
  EXPECT_THAT(text, HasSubstr("katana_database_statements_total{statement=\"SELECT users\","
                              "outcome=\"ok\"} 2"));
  EXPECT_THAT(text, HasSubstr("katana_database_statements_total{statement=\"SELECT users\","
                              "outcome=\"constraint_violation\"} 1"));
  EXPECT_THAT(text,
              HasSubstr("katana_database_statement_rows_total{statement=\"SELECT users\"} 4"));
  EXPECT_THAT(text, HasSubstr("katana_database_statement_duration_seconds_count{statement=\"SELECT "
                              "users\"} 3"));
  EXPECT_TRUE(kept.lines({"slow statement"}).empty());
}

TEST_F(StatementTelemetryTest, a_slow_statement_is_a_record_with_the_fields_of_its_request) {
  StatementTelemetry telemetry(options());
  log::Context fields;
  fields.add(log::field("trace_id", Bytes("0af7651916cd43dd")));
  const Activity activity{.log_context = &fields};
  const ActivityScope scope(&activity);
  telemetry.on_statement(report(milliseconds(200)));
  EXPECT_TRUE(kept.lines({"slow statement"}).empty()) << "no longer than it may take";
  telemetry.on_statement(report(milliseconds(201), Kind::timeout));
  EXPECT_EQ(kept.lines({"slow statement: SELECT users", "\"trace_id\":\"0af7651916cd43dd\"",
                        "\"statement\":\"SELECT id FROM users WHERE name = $1\"",
                        "\"database\":\"postgresql\"", "\"outcome\":\"timeout\"", "\"rows\":0",
                        "\"duration_us\":201000", "\"slow_after_us\":200000"})
                .size(),
            1u)
      << kept.text();
}

TEST_F(StatementTelemetryTest, records_of_slow_statements_are_bounded_in_number_and_size) {
  StatementTelemetry telemetry(options());
  const std::string text(10'000, 'x');
  StatementReport slow = report(seconds(1));
  slow.text = text;
  for (int count = 0; count < 200; ++count) telemetry.on_statement(slow);
  const auto lines = kept.lines({"slow statement"});
  // The records of one period, or of two when the first ended meanwhile.
  EXPECT_GE(lines.size(), StatementTelemetry::records_max);
  EXPECT_LE(lines.size(), 2 * StatementTelemetry::records_max);
  ASSERT_FALSE(lines.empty());
  EXPECT_LT(lines[0].size(), StatementTelemetry::text_bytes_max + 500);
}

TEST_F(StatementTelemetryTest, what_is_off_is_silent) {
  StatementTelemetryOptions off = options();
  off.slow_after = {};
  off.metrics = nullptr;
  StatementTelemetry telemetry(off);
  ASSERT_TRUE(telemetry.prepare());
  telemetry.on_statement(report(seconds(100)));
  EXPECT_THAT(server::exposition_of(registry), Not(HasSubstr("katana_database")));
  EXPECT_TRUE(kept.lines({"slow"}).empty());
  telemetry.set_slow_after(seconds(1));
  telemetry.on_statement(report(seconds(100)));
  EXPECT_EQ(kept.lines({"slow statement"}).size(), 1u);
}

TEST_F(StatementTelemetryTest, the_programs_hook_has_every_report_and_may_throw) {
  StatementTelemetryOptions hooked = options();
  std::string seen;
  hooked.on_statement = [&](const StatementReport& each) {
    seen += std::string(each.name) + ";";
    throw std::runtime_error("of the hook");
  };
  StatementTelemetry telemetry(hooked);
  ASSERT_TRUE(telemetry.prepare());
  telemetry.on_statement(report(milliseconds(1)));
  telemetry.on_statement(report(milliseconds(1)));
  EXPECT_EQ(seen, "SELECT users;SELECT users;");
  EXPECT_EQ(kept.lines({"on_statement threw"}).size(), 1u);
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
