#include "katana/http/files/open_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>

#include "katana/http/files/folder_test.hpp"
#include "katana/http/files/media_types.hpp"

namespace katana {
namespace {

class OpenFileTest : public ::testing::Test {
 protected:
  OpenFileTest() {
    files_.write("public/a.txt", "content of a");
    files_.write("public/below/b.txt", "content of b");
    files_.write("secret.txt", "secret");
    files_.write("elsewhere/c.txt", "content of c");
  }
  Result<Folder> open() const { return Folder::open(files_.path("public")); }
  std::string read(const Folder& folder, const char* path) const {
    auto found = folder.find(path);
    if (!found) return std::string(code_name(found.error().code()));
    if (found->kind == Folder::Kind::folder) return "folder";
    std::string text(found->identity.size, '\0');
    EXPECT_EQ(::read(found->descriptor.get(), text.data(), text.size()),
              static_cast<ssize_t>(text.size()));
    return text;
  }

  TestFolder files_;
};

TEST_F(OpenFileTest, files_and_folders_below_are_found) {
  const auto folder = open();
  ASSERT_TRUE(folder) << folder.error().describe();
  EXPECT_EQ(read(*folder, "a.txt"), "content of a");
  EXPECT_EQ(read(*folder, "below/b.txt"), "content of b");
  EXPECT_EQ(read(*folder, "below"), "folder");
  EXPECT_EQ(read(*folder, "nothing"), "not found");
  EXPECT_EQ(read(*folder, "a.txt/more"), "not found");
  EXPECT_EQ(read(*folder, std::string(300, 'x').c_str()), "not found");
}

TEST_F(OpenFileTest, no_path_leads_out_of_the_folder) {
  const auto folder = open();
  ASSERT_TRUE(folder);
  ASSERT_EQ(read(*Folder::open(files_.path()), "secret.txt"), "secret");  // the file exists
  for (const char* path :
       {"../secret.txt", "..", "below/../../secret.txt", "/etc/passwd", "./../secret.txt",
        "below/../../public/../secret.txt", "/proc/self/root/etc/passwd"}) {
    EXPECT_EQ(read(*folder, path), "not found") << path;
  }
  EXPECT_EQ(read(*folder, "below/../a.txt"), "content of a");  // a ".." within the folder stays
                                                               // inside
}

TEST_F(OpenFileTest, a_symbolic_link_is_followed_below_and_nowhere_else) {
  files_.link("public/inside", "below/b.txt");
  files_.link("public/up_and_down", "below/../a.txt");
  files_.link("public/outside", "../secret.txt");
  files_.link("public/absolute", files_.path("secret.txt"));
  files_.link("public/absolute_inside", files_.path("public/a.txt"));
  files_.link("public/folder", "../elsewhere");
  files_.link("public/loop", "loop");
  files_.link("public/process", "/proc/self/cwd");
  const auto folder = open();
  ASSERT_TRUE(folder);
  EXPECT_EQ(read(*folder, "inside"), "content of b");
  EXPECT_EQ(read(*folder, "up_and_down"), "content of a");
  for (const char* path : {"outside", "absolute", "absolute_inside", "folder", "folder/c.txt",
                           "loop", "process/secret.txt"}) {
    EXPECT_EQ(read(*folder, path), "not found") << path;
  }
}

TEST_F(OpenFileTest, only_regular_files_are_files_and_a_fifo_is_not_waited_for) {
  ASSERT_EQ(::mkfifo(files_.path("public/fifo").c_str(), 0600), 0);
  const auto folder = open();
  ASSERT_TRUE(folder);
  EXPECT_EQ(read(*folder, "fifo"), "not found");
}

TEST_F(OpenFileTest, a_folder_that_is_not_there_is_an_error_that_names_it) {
  const auto missing = Folder::open(files_.path("missing"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), Code::not_found);
  EXPECT_NE(missing.error().describe().find("missing'"), std::string::npos)
      << missing.error().describe();
  EXPECT_FALSE(Folder::open(files_.path("secret.txt")));
}

TEST_F(OpenFileTest, a_part_of_a_file_is_read_and_its_end_is_noticed) {
  const auto folder = open();
  auto found = folder->find("a.txt");
  ASSERT_TRUE(found);
  const FileIdentity identity = found->identity;
  EXPECT_EQ(identity.size, 12u);
  const FileReference file(new OpenFile(std::move(found->descriptor), identity));
  EXPECT_EQ(file->modified_s(), TestFolder::old_s);
  std::array<char, 16> buffer{};
  FilePart part = file->part(8, 4);
  EXPECT_EQ(part.read(buffer), 4);
  EXPECT_EQ(std::string(buffer.data(), 4), "of a");
  part.remove_prefix(3);
  EXPECT_EQ(part.read(buffer), 1);
  EXPECT_TRUE(file->part(0, 12).read_all(buffer));
  std::filesystem::resize_file(files_.path("public/a.txt"), 5);
  EXPECT_FALSE(file->part(0, 12).read_all(buffer));
  EXPECT_EQ(file->part(5, 7).read(buffer), 0);
}

TEST(MediaTypes, a_type_follows_from_the_extension) {
  EXPECT_EQ(media_type_of("site.css"), "text/css; charset=utf-8");
  EXPECT_EQ(media_type_of("a.b/INDEX.HTML"), "text/html; charset=utf-8");
  EXPECT_EQ(media_type_of("photo.jpeg"), "image/jpeg");
  EXPECT_EQ(media_type_of("x.7z"), "application/x-7z-compressed");
  EXPECT_EQ(media_type_of("x.zst"), "application/zstd");
  for (const Bytes path :
       {"", "css", ".css", "a.css/b", "x.", "x.unheardof", "x.aaaaaaaaaaaaaaaaaaaaa"}) {
    EXPECT_EQ(media_type_of(path), "application/octet-stream") << path;
  }
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
