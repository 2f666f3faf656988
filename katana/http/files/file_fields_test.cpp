// The extension of a name, and what the times of a file say about its tag and its date.
#include "katana/http/files/file_fields.hpp"

#include <gtest/gtest.h>

#include <string>

#include "katana/http/files/folder_test.hpp"
#include "katana/http/files/media_types.hpp"
#include "katana/http/files/open_file.hpp"

namespace katana {
namespace {

TEST(FileExtension, is_behind_the_last_dot_of_the_last_name) {
  EXPECT_EQ(extension_of("a.txt"), "txt");
  EXPECT_EQ(extension_of("below/a.tar.gz"), "gz");
  EXPECT_EQ(extension_of("a.b/file"), "");
  EXPECT_EQ(extension_of(".profile"), "");
  EXPECT_EQ(extension_of("below/.profile"), "");
  EXPECT_EQ(extension_of("a."), "");
}

TEST(FileExtension, of_more_than_16_bytes_or_behind_all_that_are_known_has_no_type) {
  for (const std::string& name : {std::string("a." + std::string(16, 'x')),
                                  std::string("a." + std::string(17, 'x')), std::string("a.zzz")}) {
    EXPECT_EQ(media_type_of(name), "application/octet-stream") << name;
  }
}

constexpr std::int64_t second_ns = 1'000'000'000;

class FileFields : public ::testing::Test {
 protected:
  FileFields() { files_.write("a", "content"); }
  // Describes the file as if it had these times.
  FileReference described(std::int64_t modified_ns, std::int64_t changed_ns, std::int64_t now_s,
                          bool hashes = false, std::uint64_t size = 7) {
    auto found = find_file(files_.path("a"));
    EXPECT_TRUE(found);
    FileIdentity identity = found->identity;
    identity.modified_ns = modified_ns;
    identity.changed_ns = changed_ns;
    identity.size = size;
    FileReference file(new OpenFile(std::move(found->descriptor), identity));
    describe_file(*file, {.content_type = "text/plain", .cache_control = {}, .hashes = hashes},
                  now_s);
    return file;
  }
  TestFolder files_;
};

// RFC 9110 §8.8.1.
TEST_F(FileFields, a_tag_is_strong_when_the_last_change_is_more_than_two_seconds_old) {
  constexpr std::int64_t changed_ns = 1'000'000'000 * second_ns;
  for (const std::int64_t later_s : {0, 2, 3}) {
    const auto file = described(changed_ns, changed_ns, 1'000'000'000 + later_s);
    EXPECT_EQ(file->is_strong, later_s == 3) << later_s;
    EXPECT_EQ(file->entity_tag.starts_with("W/"), later_s != 3);
  }
}

TEST_F(FileFields, a_date_is_rounded_down_also_before_1970) {
  for (const auto& [time_ns, time_s] : {std::pair<std::int64_t, std::int64_t>{2 * second_ns - 1, 1},
                                        {2 * second_ns, 2},
                                        {0, 0},
                                        {-1, -1},
                                        {-second_ns, -1},
                                        {-second_ns - 1, -2}}) {
    EXPECT_EQ(described(time_ns, time_ns, 1'000'000'000)->modified_s(), time_s) << time_ns;
  }
}

TEST_F(FileFields, a_tag_is_a_digest_if_the_date_was_set_and_up_to_1_MiB_can_be_read) {
  constexpr std::int64_t changed_ns = 1'000'000'000 * second_ns;
  constexpr std::int64_t set_ns = changed_ns - 100 * second_ns;
  constexpr std::int64_t now_s = 2'000'000'000;
  const auto tag = [&](std::int64_t modified_ns, bool hashes, std::uint64_t size) {
    return described(modified_ns, changed_ns, now_s, hashes, size)->entity_tag;
  };
  EXPECT_FALSE(tag(set_ns, true, 7).contains('-')) << "a digest";
  EXPECT_TRUE(tag(changed_ns, true, 7).contains('-')) << "date and size";
  EXPECT_TRUE(tag(set_ns, false, 7).contains('-'));
  EXPECT_TRUE(tag(set_ns, true, (1 << 20) + 1).contains('-'));
  EXPECT_TRUE(tag(set_ns, true, 8).contains('-')) << "a file that cannot be read to its end";
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
