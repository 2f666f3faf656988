#include "katana/base/text/protobuf.hpp"

#include <gtest/gtest.h>

#include <string>

namespace katana {
namespace {

std::string as_pair(Bytes key, Bytes value) {
  std::string text = "before";
  ProtobufWriter(text).pair(9, key, value);
  return text;
}

// The same, field by field.
std::string by_fields(Bytes key, Bytes value) {
  std::string text = "before";
  ProtobufWriter out(text);
  const std::size_t all = out.begin(9);
  out.string(1, key);
  const std::size_t inner = out.begin(2);
  out.string(1, value, true);
  out.end(inner);
  out.end(all);
  return text;
}

TEST(Protobuf, a_pair_is_its_fields_at_every_length_that_takes_another_byte) {
  for (const std::size_t size : {0u, 1u, 119u, 120u, 121u, 122u, 123u, 124u, 125u, 126u, 127u, 128u,
                                 16'370u, 16'378u, 16'383u, 16'384u, 100'000u}) {
    const std::string text(size, 'v');
    EXPECT_EQ(as_pair("key", text), by_fields("key", text)) << size;
    EXPECT_EQ(as_pair(text, "value"), by_fields(text, "value")) << size;
    EXPECT_EQ(as_pair(text, text), by_fields(text, text)) << size;
  }
}

TEST(Protobuf, what_is_no_utf8_is_replaced_in_a_pair_as_elsewhere) {
  EXPECT_EQ(as_pair("k\xff", "v"), by_fields("k\xff", "v"));
  EXPECT_EQ(as_pair("k", "v\xc3"), by_fields("k", "v\xc3"));
  EXPECT_NE(as_pair("k", "v\xc3").find("v\xef\xbf\xbd"), std::string::npos);
}

TEST(Protobuf, what_was_written_reads_as_itself) {
  std::string text;
  ProtobufWriter out(text);
  const std::string large(300, 'x');
  out.varint(1, 300);
  out.bytes(2, large);
  out.string(3, "");
  out.string(4, "", true);
  const std::size_t begun = out.begin(2'000);
  out.varint(1, ~std::uint64_t{0});
  out.bytes(2, large);
  out.end(begun);
  ProtobufReader in(text);
  ASSERT_TRUE(in.next());
  EXPECT_EQ(in.value(), 300u);
  ASSERT_TRUE(in.next());
  EXPECT_EQ(in.bytes(), large);
  ASSERT_TRUE(in.next());
  EXPECT_EQ(in.number(), 4u) << "an empty string is left out, but where it counts";
  EXPECT_EQ(in.bytes(), "");
  ASSERT_TRUE(in.next());
  EXPECT_EQ(in.number(), 2'000u);
  ProtobufReader inner(in.bytes());
  ASSERT_TRUE(inner.next());
  EXPECT_EQ(inner.value(), ~std::uint64_t{0});
  ASSERT_TRUE(inner.next());
  EXPECT_EQ(inner.bytes(), large);
  EXPECT_FALSE(inner.next());
  EXPECT_FALSE(in.next());
  EXPECT_TRUE(inner.is_good() && in.is_good());
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
