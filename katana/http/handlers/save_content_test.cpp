#include "katana/http/handlers/save_content.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "katana/http/files/folder_test.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/testing/test_server.hpp"

namespace katana {
namespace {

class SaveContentTest : public ::testing::Test {
 protected:
  void serve(SaveOptions options = {}) {
    Router router;
    router.put("/files/{name}",
               [this, options](Path<std::string> name, ContentReader content,
                               ReplyWriter reply) -> Task<void> {
                 SaveResult saved = co_await content.save_to(*folder_, *name, options);
                 Reply answer = saved ? Reply::text(format_text("{} {}", saved->name, saved->size))
                                      : std::move(saved.error());
                 co_await send(reply, std::move(answer));
               });
    server_ = std::make_unique<testing::TestServer>(std::move(router).build());
  }
  testing::TestReply put(const std::string& name, const std::string& content) {
    return server_->put("/files/" + name, content);
  }
  std::string stored(const std::string& name) const {
    std::ifstream file(files_.path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::size_t count() const {
    const std::filesystem::directory_iterator entries(files_.path());
    return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
  }

  TestFolder files_;
  Result<Folder> folder_ = Folder::open(files_.path());
  std::unique_ptr<testing::TestServer> server_;
};

TEST_F(SaveContentTest, content_of_any_size_becomes_a_file_of_the_name) {
  serve();
  const std::string large(1'000'000, 'x');
  for (const std::string& content : {std::string(), std::string("a\0b", 3), large}) {
    const testing::TestReply reply = put("a%20b.bin", content);
    EXPECT_EQ(reply.content(), "a b.bin " + std::to_string(content.size()));
    EXPECT_EQ(stored("a b.bin"), content);
    EXPECT_EQ(count(), 1u);
  }
}

TEST_F(SaveContentTest, a_name_that_leads_elsewhere_is_refused_and_nothing_is_written) {
  serve();
  // An absolute path into a folder of the test: without the rule it would be written to.
  TestFolder elsewhere;
  std::string absolute;
  for (const char c : elsewhere.path("evil")) absolute += c == '/' ? "%2F" : std::string(1, c);
  for (const std::string& name :
       {std::string("..%2Fevil"), std::string("%2E%2E%2Fevil"), std::string("a%2Fb"), absolute,
        std::string("a%0Ab"), std::string(".katana-1.part")}) {
    EXPECT_EQ(put(name, "x").status(), 400u) << name;
  }
  EXPECT_FALSE(std::filesystem::exists(elsewhere.path("evil")));
  EXPECT_EQ(put(std::string(256, 'a'), "x").status(), 400u);
  EXPECT_EQ(count(), 0u);
  for (const Bytes name : {Bytes(""), Bytes("."), Bytes(".."), Bytes("a\0b", 3), Bytes("/")}) {
    EXPECT_FALSE(is_file_name(name)) << name;
  }
  EXPECT_TRUE(is_file_name(".hidden"));
}

TEST_F(SaveContentTest, a_link_of_the_name_is_replaced_and_not_followed) {
  serve();
  TestFolder elsewhere;
  elsewhere.write("secret", "old");
  files_.link("report", elsewhere.path("secret"));
  EXPECT_EQ(put("report", "new").status(), 200u);
  EXPECT_EQ(stored("report"), "new");
  EXPECT_FALSE(std::filesystem::is_symlink(files_.path("report")));
  std::ifstream secret(elsewhere.path("secret"));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(secret), {}), "old");
}

TEST_F(SaveContentTest, a_name_that_is_taken_is_409_where_files_are_not_replaced) {
  serve({.existing = Existing::refuse});
  EXPECT_EQ(put("a", "first").status(), 200u);
  EXPECT_EQ(put("a", "second").status(), 409u);
  EXPECT_EQ(stored("a"), "first");
  std::filesystem::create_directory(files_.path("folder"));
  EXPECT_EQ(put("folder", "x").status(), 409u);
  serve();
  EXPECT_EQ(put("folder", "x").status(), 409u);
  EXPECT_EQ(count(), 2u);
}

TEST_F(SaveContentTest, beyond_the_limit_is_413_and_the_file_of_before_stays) {
  serve({.bytes_max = 5});
  EXPECT_EQ(put("a", "12345").status(), 200u);
  EXPECT_EQ(put("a", "123456").status(), 413u);
  testing::PendingReply pieces = server_->begin_pieces("PUT", "/files/a");
  pieces.send_some("123");
  pieces.send_some("456");
  pieces.finish();
  EXPECT_EQ(pieces.reply().status(), 413u);
  EXPECT_EQ(stored("a"), "12345");
  EXPECT_EQ(count(), 1u);
}

TEST_F(SaveContentTest, of_a_client_that_leaves_nothing_is_left) {
  serve();
  testing::PendingReply upload = server_->begin_pieces("PUT", "/files/a");
  upload.send_some(std::string(200'000, 'x'));
  EXPECT_EQ(count(), 1u);
  EXPECT_FALSE(std::filesystem::exists(files_.path("a")));
  upload.reset();
  server_->advance(seconds(1));
  EXPECT_EQ(count(), 0u);
}

TEST_F(SaveContentTest, content_and_name_are_on_the_disk_where_that_is_asked_for) {
  serve({.sync = true});
  EXPECT_EQ(put("a", "here").status(), 200u);
  EXPECT_EQ(stored("a"), "here");
}

TEST_F(SaveContentTest, what_a_killed_process_left_is_removed_and_nothing_else) {
  files_.write(".katana-0000000000000001.part", "half");
  files_.write("whole.part", "whole");
  EXPECT_EQ(folder_->remove_partial_files().value_or(99), 1u);
  EXPECT_EQ(count(), 1u);
  EXPECT_EQ(stored("whole.part"), "whole");
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
