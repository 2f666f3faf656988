#include "katana/app/migration_telemetry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace katana::app {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

database::Migration migration(const char* file, std::int64_t began_ms, std::int64_t ended_ms) {
  return {.number = 1,
          .file = file,
          .checksum = {},
          .text = {},
          .began = Instant{milliseconds(began_ms).ns},
          .ended = Instant{milliseconds(ended_ms).ns}};
}

struct MigrationTelemetryTest : testing::Test {
  std::vector<std::string> spans() {
    std::vector<std::string> found;
    tracer.drain([&](const trace::SpanRecord& span) {
      std::string text(span.name());
      text += " " + std::to_string((span.began - Instant{}).count_ms()) + "-" +
              std::to_string((span.ended - Instant{}).count_ms());
      for (std::size_t at = 0; at < span.attribute_count(); ++at) {
        const auto& each = span.attribute(at);
        text +=
            " " + (each.type == trace::SpanRecord::Type::text ? std::string(span.text(each.text))
                                                              : std::to_string(each.integer));
      }
      found.push_back(text);
      span.parent.is_valid() ? parents.push_back(span.parent.span.value)
                             : roots.push_back(span.context.span.value);
    });
    return found;
  }

  trace::Tracer tracer{{.sampler = trace::Sampler::of_ratio(1)}};
  MigrationTelemetry telemetry{"sqlite", {}};
  std::vector<std::uint64_t> roots, parents;
};

TEST_F(MigrationTelemetryTest, those_before_the_tracer_are_spans_with_their_own_times) {
  const database::Migration applied[] = {migration("1_a.sql", 10, 20),
                                         migration("2_b.sql", 20, 50)};
  telemetry.on_migrated(applied);
  EXPECT_THAT(spans(), IsEmpty());
  telemetry.trace_with(&tracer);
  EXPECT_THAT(spans(), ElementsAre("migration 10-20 1_a.sql", "migration 20-50 2_b.sql",
                                   "migrations 10-50 sqlite 2"));
  ASSERT_EQ(roots.size(), 1u);
  EXPECT_THAT(parents, ElementsAre(roots[0], roots[0]));
  telemetry.trace_with(&tracer);
  EXPECT_THAT(spans(), IsEmpty()) << "each has one span";
}

TEST_F(MigrationTelemetryTest, those_of_a_database_that_comes_later_are_spans_until_the_end) {
  telemetry.trace_with(&tracer);
  const database::Migration first[] = {migration("1_a.sql", 10, 20)};
  const database::Migration second[] = {migration("2_b.sql", 30, 40)};
  telemetry.on_migrated(first);
  telemetry.on_migrated(second);
  EXPECT_THAT(spans(), ElementsAre("migration 10-20 1_a.sql", "migrations 10-20 sqlite 1",
                                   "migration 30-40 2_b.sql", "migrations 30-40 sqlite 1"));
  telemetry.trace_with(nullptr);
  telemetry.on_migrated(first);
  EXPECT_THAT(spans(), IsEmpty());
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
