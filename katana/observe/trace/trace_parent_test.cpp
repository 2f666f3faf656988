#include "katana/observe/trace/trace_parent.hpp"

#include <gtest/gtest.h>

#include <string>

namespace katana::trace {
namespace {

const std::string whole = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

TEST(TraceParent, a_whole_one_is_read) {
  const auto read = parse_trace_parent(whole);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->trace, "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(read->parent, "b7ad6b7169203331");
  EXPECT_EQ(read->flags, 1);
  EXPECT_TRUE(read->sampled());
  std::string unsampled = whole;
  unsampled.replace(53, 2, "fe");
  EXPECT_EQ(parse_trace_parent(unsampled)->flags, 0xfe);
  EXPECT_FALSE(parse_trace_parent(unsampled)->sampled());
}

TEST(TraceParent, every_cut_is_refused) {
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(parse_trace_parent(Bytes(whole).substr(0, size))) << size;
  }
}

TEST(TraceParent, an_octet_that_does_not_belong_is_refused_wherever_it_stands) {
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char wrong : {'A', 'g', ' ', '_', '\0'}) {
      std::string text = whole;
      text[at] = wrong;
      EXPECT_FALSE(parse_trace_parent(text)) << at << wrong;
    }
  }
}

TEST(TraceParent, zeros_are_no_trace_and_no_parent) {
  std::string text = whole;
  text.replace(3, 32, 32, '0');
  EXPECT_FALSE(parse_trace_parent(text));
  text = whole;
  text.replace(36, 16, 16, '0');
  EXPECT_FALSE(parse_trace_parent(text));
}

// W3C Trace Context §3.2.2 and §4.3.
TEST(TraceParent, a_later_version_is_read_as_far_as_it_is_known) {
  const auto with_version = [](const char* version) { return version + whole.substr(2); };
  EXPECT_FALSE(parse_trace_parent(with_version("ff")));
  EXPECT_TRUE(parse_trace_parent(with_version("cc")));
  EXPECT_TRUE(parse_trace_parent(with_version("cc") + "-what-the-future-will-bring"));
  EXPECT_FALSE(parse_trace_parent(with_version("cc") + ".what"));
  EXPECT_FALSE(parse_trace_parent(whole + "-more"));
}

TEST(TraceParent, what_was_read_is_written_with_the_flags_that_level_2_knows) {
  const auto again = [](std::string text) {
    const SpanContext context = remote_context(*parse_trace_parent(text));
    EXPECT_TRUE(context.is_remote && context.is_valid());
    const auto written = trace_parent_of(context);
    return std::string(written.data(), written.size());
  };
  EXPECT_EQ(again(whole), whole);
  const std::string without_flags = whole.substr(0, 53);
  EXPECT_EQ(again(without_flags + "03"), without_flags + "03");
  EXPECT_EQ(again(without_flags + "02"), without_flags + "02");
  EXPECT_EQ(again(without_flags + "fc"), without_flags + "00");
}

}  // namespace
}  // namespace katana::trace

// SPDX-License-Identifier: Apache-2.0
