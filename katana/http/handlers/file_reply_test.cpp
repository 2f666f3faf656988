#include "katana/http/handlers/file_reply.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <optional>
#include <string>
#include <utility>

#include "katana/http/files/folder_test.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/testing/test_server.hpp"

namespace katana {
namespace {

class FileReplyTest : public ::testing::Test {
 protected:
  FileReplyTest() {
    files_.write("a.txt", "0123456789");
    files_.write("inside/b.html", "<p>b</p>");
  }
  template <class F>
  void serve(F handler) {
    Router router;
    router.any("/file", std::move(handler));
    server_.emplace(std::move(router).build());
  }
  void serve_path(FileReplyOptions options = {}) {
    serve([path = files_.path("a.txt"), options](const RequestView& request) {
      return Reply::file(request, path, options);
    });
  }
  const testing::TestReply& get(const testing::TestFields& fields = {}) {
    return reply_ = server_->get("/file", fields);
  }
  std::string field(std::string_view name) const {
    return std::string(reply_.header(name).value_or("-"));
  }

  TestFolder files_;
  std::optional<testing::TestServer> server_;
  testing::TestReply reply_{std::string("nothing was asked")};
};

TEST_F(FileReplyTest, a_plain_handler_answers_with_a_file) {
  serve_path();
  get();
  EXPECT_EQ(reply_.status(), 200u);
  EXPECT_EQ(reply_.content(), "0123456789");
  EXPECT_EQ(field("Content-Length"), "10");
  EXPECT_EQ(field("Content-Type"), "text/plain; charset=utf-8");
  EXPECT_EQ(field("Last-Modified"), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(field("Cache-Control"), "no-cache");
  EXPECT_EQ(field("X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(field("Content-Disposition"), "-");
}

TEST_F(FileReplyTest, a_coroutine_does) {
  serve([path = files_.path("a.txt")](Request request) -> Task<Reply> {
    co_await net::sleep_for(seconds(1));
    co_return Reply::file(request.view(), path);
  });
  get({{"Range", "bytes=2-4"}});
  EXPECT_EQ(reply_.status(), 206u);
  EXPECT_EQ(reply_.content(), "234");
}

TEST_F(FileReplyTest, so_does_one_that_streams) {
  files_.write("long", std::string(100'000, 'x'));
  serve([path = files_.path("long")](Request request, ReplyWriter writer) -> Task<void> {
    co_await katana::send(writer, Reply::file(request.view(), path));
  });
  get();
  EXPECT_EQ(reply_.status(), 200u);
  EXPECT_EQ(field("Content-Length"), "100000");
  EXPECT_EQ(reply_.content(), std::string(100'000, 'x'));
}

TEST_F(FileReplyTest, a_peer_that_has_it_already_is_told_so) {
  serve_path();
  get();
  const std::string tag = field("ETag");
  get({{"If-None-Match", tag}});
  EXPECT_EQ(reply_.status(), 304u);
  EXPECT_EQ(reply_.content(), "");
  get({{"If-Match", "\"another\""}});
  EXPECT_EQ(reply_.status(), 412u);
  get({{"If-Modified-Since", "Sun, 06 Nov 1994 08:49:37 GMT"}});
  EXPECT_EQ(reply_.status(), 304u);
}

TEST_F(FileReplyTest, several_ranges_keep_the_type_that_was_given) {
  serve_path({.content_type = "text/x-digits"});
  get({{"Range", "bytes=0-0,9-9"}});
  EXPECT_EQ(reply_.status(), 206u);
  EXPECT_TRUE(field("Content-Type").starts_with("multipart/byteranges")) << reply_;
  EXPECT_NE(reply_.content().find("Content-Type: text/x-digits\r\n"), std::string::npos);
  EXPECT_EQ(std::to_string(reply_.content().size()), field("Content-Length"));
}

TEST_F(FileReplyTest, it_is_offered_to_be_saved_by_its_name) {
  serve_path({.cache_control = "", .download_as = "zehn.txt"});
  get();
  EXPECT_EQ(field("Content-Disposition"), R"(attachment; filename="zehn.txt")");
  EXPECT_EQ(field("Cache-Control"), "-");
}

TEST_F(FileReplyTest, options_that_no_field_can_have_are_the_programs_failure) {
  serve_path({.cache_control = "a\r\nSet-Cookie: b"});
  EXPECT_EQ(get().status(), 500u);
  EXPECT_EQ(field("Set-Cookie"), "-");
  serve_path({.content_type = "a\nb"});
  EXPECT_EQ(get().status(), 500u);
}

TEST_F(FileReplyTest, what_is_not_there_or_no_file_is_not_found) {
  std::string path;
  serve([&](const RequestView& request) { return Reply::file(request, path); });
  ::mkfifo(files_.path("fifo").c_str(), 0600);
  for (const std::string& each : {files_.path("none"), files_.path(), files_.path("fifo"),
                                  std::string(), files_.path("a.txt") + std::string("\0.png", 5)}) {
    path = each;
    EXPECT_EQ(get().status(), 404u) << each;
    EXPECT_EQ(field("Content-Type"), "application/problem+json");
  }
}

TEST_F(FileReplyTest, a_name_of_a_users_does_not_leave_its_folder) {
  const Result<Folder> folder = Folder::open(files_.path("inside"));
  ASSERT_TRUE(folder) << folder.error().describe();
  files_.link("inside/out", files_.path("a.txt"));
  std::string name;
  serve([&](const RequestView& request) { return Reply::file(request, *folder, name); });
  name = "b.html";
  EXPECT_EQ(get().content(), "<p>b</p>");
  EXPECT_EQ(field("Content-Type"), "text/html; charset=utf-8");
  for (const std::string& each :
       {std::string("../a.txt"), files_.path("a.txt"), std::string("out"),
        std::string("b.html/../../a.txt"), std::string("."), std::string("b.html\0", 7)}) {
    name = each;
    EXPECT_EQ(get().status(), 404u) << each;
  }
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
