// JSON lines, byte for byte, and for every byte value.
#include "katana/observe/log/json_layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "katana/base/text/utf8.hpp"
#include "katana/observe/log/escape.hpp"
#include "katana/observe/log/log_fixture_test.hpp"

namespace katana::log {

struct Inner {
  bool yes = true;
  std::string text = "a\"b";
};
KATANA_DESCRIBE(Inner, yes, text);

namespace {

using testing::HasSubstr;

// From `"level"` to the thread's number, and from there on.
std::string json(const MemoryLog& log) {
  log->flush();
  const std::string text = log.output->text();
  std::string line = lines_of(text).back();
  const std::size_t thread = line.find(",\"thread\":") + 10;
  const std::size_t digits = line.find_first_not_of("0123456789", thread) - thread;
  line.replace(thread, digits, "7");
  return line.substr(line.find("\"level\""));
}

TEST(JsonLayout, fields_are_members_with_their_types) {
  const MemoryLog log(LayoutKind::json);
  log->logger("http").info("done {}", 1, field("status", 200), field("ratio", 0.5),
                           field("ok", false), field("path", "/\"\\\n\x01"), field("in", Inner{}));
  EXPECT_EQ(json(log), R"("level":"info","logger":"http","message":"done 1","thread":7,)"
                       R"("status":200,"ratio":0.5,"ok":false,"path":"/\"\\\n\u0001",)"
                       R"("in":{"yes":true,"text":"a\"b"}})");
}

TEST(JsonLayout, numbers_that_json_does_not_have_are_strings) {
  const MemoryLog log(LayoutKind::json);
  log->logger("").info("", field("a", std::nan("")), field("b", -INFINITY), field("c", 1e300),
                       field("d", 'x'), field("e", nullptr));
  EXPECT_EQ(json(log), R"("level":"info","logger":"","message":"","thread":7,)"
                       R"("a":"nan","b":"-inf","c":1e+300,"d":"x","e":"0x0"})");
}

TEST(JsonLayout, a_field_cannot_take_the_place_of_the_layouts_own) {
  const MemoryLog log(LayoutKind::json);
  log->logger("").info("", field("level", "none"), field("message", "forged"));
  EXPECT_EQ(json(log), R"("level":"info","logger":"","message":"","thread":7,)"
                       R"("level_":"none","message_":"forged"})");
}

// The characters between the quotes of a JSON string: any UTF-8 except controls, `"` and `\`.
bool is_json_string(Bytes text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0 || static_cast<std::uint8_t>(text[0]) < 0x20 || text[0] == '"') return false;
    std::size_t used = length;
    if (text[0] == '\\') {
      if (text.size() < 2) return false;
      used = text[1] == 'u' ? 6 : 2;
      if (Bytes("\"\\bfnrtu").find(text[1]) == Bytes::npos || text.size() < used) return false;
    }
    text.remove_prefix(used);
  }
  return true;
}

TEST(EscapeJson, any_pair_of_octets_becomes_a_json_string) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string text = {'a', static_cast<char>(first), static_cast<char>(second), 'z'};
      Buffer out;
      escape_json(text, out);
      ASSERT_TRUE(is_json_string({out.data(), out.size()})) << first << ' ' << second;
    }
  }
}

TEST(EscapeLine, any_pair_of_octets_becomes_printable_utf8) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string text = {static_cast<char>(first), static_cast<char>(second)};
      Buffer out;
      escape_line(text, out);
      Bytes left(out.data(), out.size());
      while (!left.empty()) {
        const std::size_t length = utf8_length(left);
        ASSERT_GT(length, 0u) << first << ' ' << second;
        ASSERT_GE(static_cast<std::uint8_t>(left[0]), 0x20);
        ASSERT_NE(left[0], 0x7f);
        left.remove_prefix(length);
      }
    }
  }
}

TEST(PlainPrefix, finds_the_first_octet_that_is_not_plain_at_every_place) {
  for (std::size_t size = 0; size < 20; ++size) {
    const std::string plain(size, 'a');
    ASSERT_EQ(plain_prefix(plain), size);
    for (std::size_t at = 0; at < size; ++at) {
      for (int octet = 0; octet < 256; ++octet) {
        std::string text = plain;
        text[at] = static_cast<char>(octet);
        const bool is_plain = octet >= 0x20 && octet < 0x7f && octet != '"' && octet != '\\';
        ASSERT_EQ(plain_prefix(text), is_plain ? size : at) << octet;
      }
    }
  }
}

TEST(TextLayout, levels_have_colours_only_where_it_is_told_so) {
  const MemoryLog coloured(LayoutKind::coloured_text);
  coloured->logger("").error("red");
  coloured->flush();
  EXPECT_THAT(coloured.output->text(), HasSubstr("\x1b[31merror \x1b[0mred\n"));
}

}  // namespace
}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
