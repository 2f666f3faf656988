// LogCapture: the records that a program wrote in a test, as values.
//
//   EXPECT_TRUE(app.log().contains("order 7 was shipped")) << app.log().describe();
//   EXPECT_EQ(app.log().find("slow")->field("route"), "GET /orders");
//
// Owns       the records.
// Thread     any; its results do not change later.
// Allocates  for each record.
// Fails      never.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "katana/data/container/value.hpp"
#include "katana/observe/log/sink.hpp"

namespace katana::testing {

// One record, formatted.
struct LogRecord {
  log::Level level = log::Level::info;  // trace to fatal
  std::string logger;                   // name of the logger, such as "jobs"
  std::string message;                  // formatted, without fields
  container::Object fields;             // in the order of the record

  // The value of a field: text as it is, anything else as JSON; empty: there is no such field.
  std::string field(std::string_view name) const;
  // "warn jobs: job purge: it failed {…}", with its fields.
  std::string describe() const;
};

class LogCapture {
 public:
  // All records, in the order in which they were written.
  std::vector<LogRecord> records() const;
  // The records of one logger.
  std::vector<LogRecord> records_of(std::string_view logger) const;
  // The first record whose message or field contains the text; null: none.
  std::shared_ptr<const LogRecord> find(std::string_view text) const;
  bool contains(std::string_view text) const { return find(text) != nullptr; }
  // The number of records of that level and above.
  std::size_t count(log::Level level) const;
  // All records, one a line: for the message of a failed test.
  std::string describe() const;
  void clear();

  // A sink for a Log; this object captures its records.
  log::SinkOptions sink();

 private:
  struct Kept;
  static LogRecord parse(std::string_view line);
  std::shared_ptr<Kept> kept_ = make();
  static std::shared_ptr<Kept> make();
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
