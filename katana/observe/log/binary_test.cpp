// The binary format: entries are read back unchanged, and damaged parts are skipped and reported.
#include <gmock/gmock.h>

#include <gtest/gtest.h>
#include <algorithm>

#include "katana/observe/log/binary_layout.hpp"
#include "katana/observe/log/binary_reader.hpp"
#include "katana/observe/log/json_layout.hpp"
#include "katana/observe/log/log_fixture_test.hpp"
#include "katana/observe/log/text_layout.hpp"

namespace katana::log {

struct Spot {
  int x = 1;
  std::string name = "spot";
};
KATANA_DESCRIBE(Spot, x, name);

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Read {
  std::vector<std::string> lines;
  std::vector<std::string> errors;
  std::size_t cut_bytes = 0;
};

Read read_all(Bytes octets) {
  Read read;
  BinaryReader reader(octets);
  TextLayout layout(false);
  while (true) {
    const auto entry = reader.next();
    if (!entry) {
      read.errors.push_back(entry.error().describe());
      continue;
    }
    if (!*entry) break;
    Buffer line;
    layout.add(**entry, line);
    read.lines.push_back(without_time(lines_of({line.data(), line.size()}).at(0)));
  }
  read.cut_bytes = reader.cut_bytes();
  return read;
}

void log_some(const MemoryLog& log) {
  const Logger logger = log->logger("b");
  const Context context(field("request_id", "r-1"), field("attempt", 2));
  for (int count = 0; count < 3; ++count) {
    logger.info("n {} of {:.1f} {}", count, 0.25, std::string(count, 'x'));
    const Scope scope(context);
    logger.warn("spot {}", Spot{}, field("ok", true), field("at", Spot{2, "b"}));
  }
}

TEST(BinaryLayout, what_is_read_back_is_what_the_text_layout_would_have_written) {
  const MemoryLog text, binary(LayoutKind::binary);
  log_some(text);
  log_some(binary);
  binary->flush();
  const Read read = read_all(binary.output->text());
  EXPECT_EQ(read.lines, text.lines());
  EXPECT_EQ(read.lines.size(), 6u);
  EXPECT_THAT(read.errors, ElementsAre());
  EXPECT_EQ(read.lines[1],
            "warn  b: spot {x: 1, name: spot} ok=true at=\"{x: 2, name: b}\" "
            "request_id=r-1 attempt=2");
}

TEST(BinaryReader, a_file_cut_anywhere_gives_the_records_before_the_cut) {
  const MemoryLog log(LayoutKind::binary);
  log_some(log);
  log->flush();
  const std::string octets = log.output->text();
  const std::vector<std::string> all = read_all(octets).lines;
  std::size_t fewest = all.size();
  for (std::size_t size = frame_head_bytes + session_magic.size(); size < octets.size(); ++size) {
    const Read read = read_all(Bytes(octets).substr(0, size));
    EXPECT_THAT(read.errors, ElementsAre());
    ASSERT_LE(read.lines.size(), all.size());
    EXPECT_TRUE(std::ranges::equal(read.lines, std::span(all).first(read.lines.size())));
    fewest = std::min(fewest, read.lines.size());
  }
  EXPECT_EQ(fewest, 0u);
  EXPECT_GT(read_all(Bytes(octets).substr(0, octets.size() - 1)).cut_bytes, 0u);
}

TEST(BinaryReader, goes_on_at_the_next_session_after_damage) {
  const MemoryLog log(LayoutKind::binary);
  log_some(log);
  log->flush();
  const std::string one = log.output->text();
  std::string octets = one + one;
  octets[frame_head_bytes + session_magic.size() + 4] = 99;  // the first site's type
  const Read read = read_all(octets);
  EXPECT_THAT(read.errors, ElementsAre(HasSubstr("an unknown frame at offset 21")));
  EXPECT_EQ(read.lines.size(), 6u);
}

TEST(BinaryReader, something_else_is_named_as_such) {
  EXPECT_THAT(read_all("2026-01-31 some text log\n").errors, ElementsAre(HasSubstr("at offset 0")));
  EXPECT_THAT(read_all("").errors, ElementsAre());
}

TEST(BinaryReader, a_pattern_that_does_not_fit_its_values_becomes_a_line_that_says_so) {
  const std::array<Slot, 1> slots = {{{Kind::text, {}}}};
  Site site;
  site.slots = slots;
  site.positional_slots = 1;
  site.pattern = "{:d} {5}";
  const std::string argument("\x01\0\0\0a", 5);
  Entry entry;
  entry.site = &site;
  entry.raw_arguments = argument;
  BinaryLayout layout;
  Buffer out;
  layout.begin(out);
  layout.add(entry, out);
  EXPECT_THAT(read_all({out.data(), out.size()}).lines,
              ElementsAre(HasSubstr("{:d} {5} [not formatted:")));
}

TEST(BinaryLayout, a_file_that_a_killed_process_left_is_cut_to_whole_frames) {
  const MemoryLog log(LayoutKind::binary);
  log_some(log);
  log->flush();
  const std::string whole = log.output->text();
  const BinaryLayout layout;
  EXPECT_EQ(layout.whole_bytes(whole), whole.size());
  EXPECT_LT(layout.whole_bytes(Bytes(whole).substr(0, whole.size() - 1)), whole.size() - 1);
  EXPECT_EQ(layout.whole_bytes(whole + "\x10"), whole.size());
  EXPECT_EQ(layout.whole_bytes("some other file, which is left alone"), 36u);
  EXPECT_EQ(layout.whole_bytes(""), 0u);
}

TEST(BinaryLayout, every_file_of_a_rotation_can_be_read_alone) {
  const Folder folder;
  Options options;
  Rotation rotation;
  rotation.bytes_max = 2000;
  rotation.keep = 100;
  options.sinks = {binary_file(folder / "a.bin", rotation)};
  auto log = *Log::start(options);
  const Logger logger = log->logger("r");
  for (int count = 0; count < 200; ++count) {
    const Context context(field("id", count));
    const Scope scope(context);
    logger.info("number {}", count);
  }
  log->stop();
  std::vector<std::string> lines;
  int files = 0;
  for (int number = 99; number >= 0; --number) {
    const std::string path = folder / (number == 0 ? "a.bin" : fmt::format("a.bin.{}", number));
    if (!std::filesystem::exists(path)) continue;
    ++files;
    const Read read = read_all(read_file(path));
    EXPECT_THAT(read.errors, ElementsAre());
    lines.insert(lines.end(), read.lines.begin(), read.lines.end());
  }
  EXPECT_GE(files, 5);
  ASSERT_EQ(lines.size(), 200u);
  EXPECT_EQ(lines[199], "info  r: number 199 id=199");
}

}  // namespace
}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
