// Log records of OTLP, read back by field; tests/conformance/test_telemetry.py reads them with the
// definitions of opentelemetry-proto.
#include "katana/observe/otlp/logs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "katana/base/text/utf8.hpp"
#include "katana/observe/log/log.hpp"
#include "katana/observe/otlp/message_reader_test.hpp"

namespace katana::otlp {

struct Place {
  std::string city = "Bern";
  std::int64_t zip = 3000;
};
KATANA_DESCRIBE(Place, city, zip)

namespace {

using test::double_in;
using test::field_in;
using test::fields_of;
using test::fixed_in;
using test::ReadField;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::SizeIs;

class MemoryOutput final : public log::Output {
 public:
  const std::string& name() const noexcept override { return name_; }
  bool may_block() const noexcept override { return false; }
  Result<void> open(const log::Layout&) override { return {}; }
  Result<void> write(Bytes records) override {
    written += records;
    return {};
  }
  std::string written;

 private:
  const std::string name_ = "memory";
};

class LogsTest : public ::testing::Test {
 protected:
  LogsTest() {
    log::SinkOptions sink;
    sink.output = output_;
    sink.own_layout = [] { return std::make_unique<LogLayout>(); };
    log::Options options;
    options.sinks.push_back(std::move(sink));
    options.mode = log::Mode::synchronous;
    log_ = *log::Log::start(std::move(options));
    EXPECT_TRUE(log_->set_levels("trace"));
  }
  std::vector<std::string> records() {
    log_->flush();
    std::vector<std::string> records;
    for (const ReadField& each : fields_of(output_->written)) {
      EXPECT_EQ(each.number, 2u);
      records.push_back(each.bytes);
    }
    return records;
  }
  std::string record() {
    const auto all = records();
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? std::string() : all[0];
  }
  // AnyValue of an attribute.
  std::map<std::string, std::string> attributes() {
    std::map<std::string, std::string> read;
    for (const ReadField& each : fields_of(record())) {
      if (each.number != 6) continue;
      const std::string key = field_in(each.bytes, 1).bytes;
      EXPECT_TRUE(read.emplace(key, field_in(each.bytes, 2).bytes).second) << key << " twice";
    }
    return read;
  }

  std::shared_ptr<MemoryOutput> output_ = std::make_shared<MemoryOutput>();
  std::unique_ptr<log::Log> log_;
};

TEST_F(LogsTest, a_record_has_its_time_its_severity_and_its_message) {
  log_->logger("shop").warn("order {} of {}", 7, "Ann");
  const std::string read = record();
  ASSERT_THAT(fixed_in(read, 1), SizeIs(1));
  EXPECT_GT(fixed_in(read, 1)[0], 1'700'000'000'000'000'000u);
  EXPECT_EQ(fixed_in(read, 11), fixed_in(read, 1));
  EXPECT_EQ(field_in(read, 2).value, 13u);
  EXPECT_EQ(field_in(read, 3).bytes, "warn");
  EXPECT_EQ(field_in(field_in(read, 5).bytes, 1).bytes, "order 7 of Ann");
  const auto found = attributes();
  EXPECT_EQ(field_in(found.at("logger"), 1).bytes, "shop");
  EXPECT_GT(field_in(found.at("thread.id"), 3).value, 0u);
}

TEST_F(LogsTest, each_level_has_its_number) {
  const log::Logger logger = log_->logger("");
  logger.trace("a");
  logger.debug("b");
  logger.info("c");
  logger.warn("d");
  logger.error("e");
  logger.fatal("f");
  std::vector<std::uint64_t> numbers;
  for (const std::string& each : records()) numbers.push_back(field_in(each, 2).value);
  EXPECT_THAT(numbers, ElementsAre(1u, 5u, 9u, 13u, 17u, 21u));
}

TEST_F(LogsTest, fields_are_attributes_of_their_own_types) {
  log_->logger("").info("", log::field("text", "a"), log::field("yes", true),
                        log::field("minus", -5), log::field("half", 0.5),
                        log::field("huge", UINT64_MAX), log::field("place", Place{}));
  const auto found = attributes();
  EXPECT_EQ(field_in(found.at("text"), 1).bytes, "a");
  EXPECT_EQ(field_in(found.at("yes"), 2).value, 1u);
  EXPECT_EQ(static_cast<std::int64_t>(field_in(found.at("minus"), 3).value), -5);
  EXPECT_EQ(double_in(found.at("half"), 4), 0.5);
  EXPECT_EQ(field_in(found.at("huge"), 1).bytes, "18446744073709551615") << "wider than an integer";
  const auto members = fields_of(field_in(found.at("place"), 6).bytes);
  ASSERT_THAT(members, SizeIs(2));
  EXPECT_EQ(field_in(members[0].bytes, 1).bytes, "city");
  EXPECT_EQ(field_in(field_in(members[0].bytes, 2).bytes, 1).bytes, "Bern");
  EXPECT_EQ(field_in(field_in(members[1].bytes, 2).bytes, 3).value, 3000u);
}

TEST_F(LogsTest, ids_of_a_trace_are_those_of_the_record) {
  log_->logger("").info("", log::field("trace_id", "0af7651916cd43dd8448eb211c80319c"),
                        log::field("span_id", "b7ad6b7169203331"));
  const std::string read = record();
  EXPECT_EQ(field_in(read, 9).bytes,
            std::string("\x0a\xf7\x65\x19\x16\xcd\x43\xdd\x84\x48\xeb\x21\x1c\x80\x31\x9c", 16));
  EXPECT_EQ(field_in(read, 10).bytes, std::string("\xb7\xad\x6b\x71\x69\x20\x33\x31", 8));
  EXPECT_EQ(attributes().count("trace_id"), 0u);
}

TEST_F(LogsTest, what_is_no_id_stays_an_attribute) {
  for (const char* text :
       {"", "7", "00000000000000000000000000000000", "0af7651916cd43dd8448eb211c80319g",
        "-af7651916cd43dd8448eb211c80319c"}) {
    output_->written.clear();
    log_->logger("").info("", log::field("trace_id", text), log::field("span_id", 7));
    EXPECT_EQ(field_in(record(), 9).bytes, "") << text;
    EXPECT_EQ(field_in(attributes().at("trace_id"), 1).bytes, text);
    EXPECT_EQ(field_in(attributes().at("span_id"), 3).value, 7u);
  }
}

TEST_F(LogsTest, a_field_cannot_take_the_place_of_the_layouts_own) {
  log_->logger("shop").info("", log::field("logger", "forged"));
  EXPECT_EQ(field_in(attributes().at("logger"), 1).bytes, "shop");
  EXPECT_EQ(field_in(attributes().at("logger_"), 1).bytes, "forged");
}

TEST_F(LogsTest, a_text_that_is_no_utf8_becomes_one_and_a_long_one_is_marked) {
  log_->logger("").info("{}", "t\xe9st", log::field("long", std::string(5000, 'x')));
  EXPECT_EQ(field_in(field_in(record(), 5).bytes, 1).bytes, "t\xef\xbf\xbdst");
  const std::string cut = field_in(attributes().at("long"), 1).bytes;
  EXPECT_THAT(cut, EndsWith("x…"));
  EXPECT_TRUE(is_utf8(cut));
}

TEST_F(LogsTest, records_are_cut_between_one_another) {
  for (int index = 0; index < 5; ++index) log_->logger("").info("record {}", index);
  (void)records();
  std::size_t count = 2;
  const std::size_t bytes = cut_records(output_->written, count);
  EXPECT_EQ(count, 2u);
  EXPECT_THAT(fields_of(Bytes(output_->written).substr(0, bytes)), SizeIs(2));
  count = 10;
  EXPECT_EQ(cut_records(Bytes(output_->written).substr(bytes), count),
            output_->written.size() - bytes);
  EXPECT_EQ(count, 3u);
}

}  // namespace
}  // namespace katana::otlp

// SPDX-License-Identifier: Apache-2.0
