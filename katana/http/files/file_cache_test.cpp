// A cache of open files, compared with the disk as time passes.
#include "katana/http/files/file_cache.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "katana/http/files/folder_test.hpp"

namespace katana {
namespace {

using http::Coding;

class FileCacheTest : public ::testing::Test {
 protected:
  FileCacheTest() {
    files_.write("a.TXT", "content");
    files_.write("a.TXT.gz", "coded");
    files_.write("below/b", "b");
  }
  FileCache::Clock clock() const { return {now_, 2'000'000'000}; }
  Result<const FileSet*> find(Bytes path) { return cache_.find(path, clock()); }

  TestFolder files_;
  const Folder folder_ = *Folder::open(files_.path());
  FilesOptions options_;
  Instant now_{seconds(100).ns};
  FileCache cache_{folder_, options_};
};

TEST_F(FileCacheTest, a_file_is_looked_at_again_after_recheck_and_not_before) {
  const auto first = find("a.TXT");
  ASSERT_TRUE(first && *first != nullptr);
  const OpenFile* const opened = &*(*first)->plain();
  now_ = now_ + options_.recheck;
  ASSERT_TRUE(find("a.TXT"));
  EXPECT_EQ(&*(*find("a.TXT"))->plain(), opened) << "the same file";
  EXPECT_EQ(cache_.size(), 1u);
  std::filesystem::remove(files_.path("a.TXT"));
  EXPECT_TRUE(find("a.TXT")) << "known for a second";
  now_ = now_ + options_.recheck;
  EXPECT_EQ(find("a.TXT").error().code(), Code::not_found);
  EXPECT_EQ(cache_.size(), 0u);
  std::filesystem::create_directory(files_.path("a.TXT"));
  EXPECT_EQ(*find("a.TXT"), nullptr) << "a folder";
}

TEST_F(FileCacheTest, a_file_that_has_become_a_folder_is_forgotten) {
  ASSERT_TRUE(find("below/b"));
  std::filesystem::remove(files_.path("below/b"));
  std::filesystem::create_directory(files_.path("below/b"));
  now_ = now_ + options_.recheck;
  const auto found = find("below/b");
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, nullptr);
  EXPECT_EQ(cache_.size(), 0u);
}

TEST_F(FileCacheTest, codings_are_opened_once_and_only_where_they_are_wanted) {
  const auto first = find("a.TXT");
  ASSERT_TRUE((*first)->in(Coding::gzip));
  const OpenFile* const coded = &*(*first)->in(Coding::gzip);
  now_ = now_ + options_.recheck;
  EXPECT_EQ(&*(*find("a.TXT"))->in(Coding::gzip), coded);
  FilesOptions plain;
  plain.precompressed = false;
  FileCache other(folder_, plain);
  EXPECT_FALSE((*other.find("a.TXT", clock()))->in(Coding::gzip));
}

TEST_F(FileCacheTest, types_are_given_by_extensions_in_lower_case) {
  FilesOptions typed;
  typed.types["txt"] = "text/x-notes";
  FileCache cache(folder_, typed);
  EXPECT_EQ((*cache.find("a.TXT", clock()))->plain()->content_type, "text/x-notes");
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
