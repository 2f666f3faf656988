// Messages of OTLP, read back by field; tests/conformance/test_telemetry.py reads them with the
// definitions of opentelemetry-proto.
#include "katana/observe/otlp/traces.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "katana/base/text/protobuf.hpp"
#include "katana/base/text/utf8.hpp"
#include "katana/observe/trace/tracer.hpp"

namespace katana::otlp {
namespace {

using trace::SpanRecord;

// The values of one field of a message, and the message's own rule.
std::vector<std::string> texts_of(Bytes message, std::uint32_t number) {
  std::vector<std::string> texts;
  ProtobufReader in(message);
  while (in.next()) {
    if (in.number() == number) texts.emplace_back(in.bytes());
  }
  EXPECT_TRUE(in.is_good());
  return texts;
}
std::string text_of(Bytes message, std::uint32_t number) {
  const auto texts = texts_of(message, number);
  EXPECT_EQ(texts.size(), 1u) << number;
  return texts.empty() ? std::string() : texts[0];
}
std::uint64_t value_of(Bytes message, std::uint32_t number) {
  ProtobufReader in(message);
  std::uint64_t value = 0;
  while (in.next()) {
    if (in.number() == number) value = in.value();
  }
  return value;
}
std::uint64_t fixed_of(Bytes message, std::uint32_t number) {
  std::uint64_t value = 0;
  const std::string text = text_of(message, number);
  std::memcpy(&value, text.data(), std::min(text.size(), sizeof value));
  return value;
}

class TracesTest : public testing::Test {
 protected:
  TracesTest() : record_(*tracer_.take()) {}
  ~TracesTest() override { trace::Tracer::give_back(record_); }
  // The span of a request without other spans.
  std::string span() const {
    std::string spans;
    append_span(spans, record_, Duration{});
    return text_of(spans, 2);
  }

  trace::Tracer tracer_{{.spans_max = 1}};
  SpanRecord& record_;
};

TEST_F(TracesTest, a_span_has_each_of_its_values_in_its_field) {
  record_.context = {
      .trace = {0x0af7651916cd43dd, 0x8448eb211c80319c}, .span = {0xb7ad6b7169203331}, .flags = 3};
  record_.parent = {
      .trace = record_.context.trace, .span = {0x0102030405060708}, .is_remote = true};
  record_.kind = trace::SpanKind::server;
  record_.began = {1'000};
  record_.ended = {3'000};
  record_.set_name("GET /users/{id}");
  record_.set_state("a=1");
  record_.fail("500");
  record_.add("text", "value");
  record_.add("true", true);
  record_.add("minus", -1);
  record_.add("half", 0.5);
  std::string spans;
  append_span(spans, record_, Duration{1'700'000'000'000'000'000});
  const std::string read = text_of(spans, 2);
  EXPECT_EQ(text_of(read, 1),
            std::string("\x0a\xf7\x65\x19\x16\xcd\x43\xdd\x84\x48\xeb\x21\x1c\x80\x31\x9c", 16));
  EXPECT_EQ(text_of(read, 2), std::string("\xb7\xad\x6b\x71\x69\x20\x33\x31", 8));
  EXPECT_EQ(text_of(read, 3), "a=1");
  EXPECT_EQ(text_of(read, 4), std::string("\x01\x02\x03\x04\x05\x06\x07\x08", 8));
  EXPECT_EQ(text_of(read, 5), "GET /users/{id}");
  EXPECT_EQ(value_of(read, 6), 2u);
  EXPECT_EQ(fixed_of(read, 7), 1'700'000'000'000'001'000u);
  EXPECT_EQ(fixed_of(read, 8), 1'700'000'000'000'003'000u);
  EXPECT_EQ(text_of(text_of(read, 15), 2), "500");
  EXPECT_EQ(value_of(text_of(read, 15), 3), 2u);
  EXPECT_EQ(fixed_of(read, 16), 0x303u);
  const auto attributes = texts_of(read, 9);
  ASSERT_EQ(attributes.size(), 4u);
  EXPECT_EQ(text_of(attributes[0], 1), "text");
  EXPECT_EQ(text_of(text_of(attributes[0], 2), 1), "value");
  EXPECT_EQ(value_of(text_of(attributes[1], 2), 2), 1u);
  EXPECT_EQ(static_cast<std::int64_t>(value_of(text_of(attributes[2], 2), 3)), -1);
  EXPECT_EQ(fixed_of(text_of(attributes[3], 2), 4), std::bit_cast<std::uint64_t>(0.5));
}

TEST_F(TracesTest, a_link_has_the_span_that_caused_this_one) {
  record_.context = {.trace = {0, 1}, .span = {1}};
  EXPECT_TRUE(texts_of(span(), 13).empty());
  record_.link = {.trace = {0x0af7651916cd43dd, 0x8448eb211c80319c},
                  .span = {0xb7ad6b7169203331},
                  .flags = trace::flag_sampled,
                  .is_remote = true};
  const auto links = texts_of(span(), 13);
  ASSERT_EQ(links.size(), 1u);
  EXPECT_EQ(text_of(links[0], 1),
            std::string("\x0a\xf7\x65\x19\x16\xcd\x43\xdd\x84\x48\xeb\x21\x1c\x80\x31\x9c", 16));
  EXPECT_EQ(text_of(links[0], 2), std::string("\xb7\xad\x6b\x71\x69\x20\x33\x31", 8));
  EXPECT_EQ(fixed_of(links[0], 6), 0x301u);
  record_.begin();
  EXPECT_FALSE(record_.link.is_valid()) << "a record is used again";
}

TEST_F(TracesTest, values_that_are_zero_or_empty_are_there_when_they_were_set) {
  record_.context = {.trace = {0, 1}, .span = {1}};
  record_.add("empty", "");
  record_.add("false", false);
  record_.add("zero", 0);
  const auto attributes = texts_of(span(), 9);
  ASSERT_EQ(attributes.size(), 3u);
  EXPECT_EQ(texts_of(text_of(attributes[0], 2), 1).size(), 1u);
  EXPECT_EQ(text_of(attributes[1], 2), std::string("\x10\x00", 2));
  EXPECT_EQ(text_of(attributes[2], 2), std::string("\x18\x00", 2));
  EXPECT_TRUE(texts_of(span(), 4).empty()) << "the trace begins with it";
}

TEST_F(TracesTest, a_text_that_is_no_utf8_becomes_one) {
  record_.context = {.trace = {0, 1}, .span = {1}};
  record_.set_name("\xff/\xc3\xa4/\xc3");
  record_.add("user_agent.original", "curl\x80");
  EXPECT_EQ(text_of(span(), 5), "\xef\xbf\xbd/\xc3\xa4/\xef\xbf\xbd");
  EXPECT_EQ(text_of(text_of(texts_of(span(), 9)[0], 2), 1), "curl\xef\xbf\xbd");
}

TEST_F(TracesTest, a_request_has_the_resource_and_all_spans) {
  Resource resource;
  resource.set("service.name", "shop");
  std::string spans;
  record_.context = {.trace = {0, 1}, .span = {1}};
  for (const char* name : {"a", "b", "c"}) {
    record_.begin();
    record_.set_name(name);
    append_span(spans, record_, Duration{});
  }
  const std::string whole = text_of(export_request(resource, {"katana", "0.2.0"}, spans), 1);
  const std::string attribute = text_of(text_of(whole, 1), 1);
  EXPECT_EQ(text_of(attribute, 1), "service.name");
  EXPECT_EQ(text_of(text_of(attribute, 2), 1), "shop");
  const std::string scope = text_of(whole, 2);
  EXPECT_EQ(text_of(text_of(scope, 1), 1), "katana");
  const auto read = texts_of(scope, 2);
  ASSERT_EQ(read.size(), 3u);
  EXPECT_EQ(text_of(read[2], 5), "c");
  EXPECT_EQ(text_of(scope, 3), schema_url);
}

TEST(ProtobufWriter, a_message_of_any_size_has_its_length_in_front) {
  for (const std::size_t size : {0u, 1u, 126u, 127u, 128u, 16'383u, 16'384u, 3'000'000u}) {
    std::string out;
    ProtobufWriter writer(out);
    const std::size_t outer = writer.begin(3);
    const std::size_t inner = writer.begin(1);
    out.append(size, 'x');
    writer.end(inner);
    writer.end(outer);
    EXPECT_EQ(text_of(text_of(out, 3), 1), std::string(size, 'x')) << size;
  }
}

TEST(ExportReply, says_how_many_were_not_taken) {
  EXPECT_EQ(read_reply("")->rejected, 0);
  const std::string partial(
      "\x0a\x07\x08\x05\x12\x03"
      "bad",
      9);
  EXPECT_EQ(read_reply(partial)->rejected, 5);
  EXPECT_EQ(read_reply(partial)->message, "bad");
  EXPECT_FALSE(read_reply("<html>"));
  for (std::size_t cut = 1; cut < partial.size(); ++cut) {
    EXPECT_FALSE(read_reply(Bytes(partial).substr(0, cut))) << cut;
  }
  EXPECT_FALSE(read_reply(std::string("\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13)))
      << "less than none";
}

TEST(Resource, attributes_of_a_list_are_decoded_and_the_last_holds) {
  Resource resource;
  resource.set("service.name", "shop");
  ASSERT_TRUE(resource.read("a=1, b = x%20y%2c ,,service.name=other,a=2"));
  EXPECT_EQ(resource.find("a"), "2");
  EXPECT_EQ(resource.find("b"), "x y,");
  EXPECT_EQ(resource.find("service.name"), "other");
  for (const char* wrong : {"c=3,novalue", "=1", "c=%", "c=%4", "c=%4g"}) {
    EXPECT_FALSE(resource.read(wrong)) << wrong;
    EXPECT_EQ(resource.find("c"), "") << "nothing of it is taken";
  }
}

}  // namespace
}  // namespace katana::otlp

// SPDX-License-Identifier: Apache-2.0
