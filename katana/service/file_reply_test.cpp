#include "katana/service/file_reply.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <memory>
#include <string>

#include "katana/service/exchange_fixture_test.hpp"
#include "katana/service/files/folder_test.hpp"

namespace katana {
namespace {

class FileReplyTest : public ServiceTest {
 protected:
  FileReplyTest() {
    files_.write("a.txt", "0123456789");
    files_.write("inside/b.html", "<p>b</p>");
  }
  template <class F>
  void serve(F handler) {
    add_routes([&](Router& router) {
      router.any("/file", handler);
      router.any("/file/{name}", handler);
    });
  }
  void serve_path(FileReplyOptions options = {}) {
    serve([path = files_.path("a.txt"), options](const RequestView& request) {
      return Reply::file(request, path, options);
    });
  }
  FakeExchange& get(std::string_view fields = {}) { return send("GET", "/file", fields); }
  std::string field(std::string_view name) const {
    const std::string& fields = exchange_->fields_sent;
    const std::size_t at = fields.find(std::string(name) + ": ");
    if (at == std::string::npos) return "-";
    const std::size_t begin = at + name.size() + 2;
    return fields.substr(begin, fields.find("\r\n", begin) - begin);
  }

  TestFolder files_;
};

TEST_F(FileReplyTest, a_plain_handler_answers_with_a_file) {
  serve_path();
  get();
  EXPECT_EQ(exchange_->status, 200u);
  EXPECT_EQ(exchange_->content_sent, "0123456789");
  EXPECT_EQ(exchange_->length_announced, 10);
  EXPECT_EQ(exchange_->type_sent, "text/plain; charset=utf-8");
  EXPECT_EQ(field("Last-Modified"), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(field("Cache-Control"), "no-cache");
  EXPECT_EQ(field("X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(field("Content-Disposition"), "-");
}

TEST_F(FileReplyTest, a_coroutine_does) {
  serve([this, path = files_.path("a.txt")](Request request) -> Task<Reply> {
    co_await gate_;
    co_return Reply::file(request.view(), path);
  });
  get("Range: bytes=2-4\n");
  EXPECT_FALSE(exchange_->completed);
  gate_.open();
  EXPECT_EQ(exchange_->status, 206u);
  EXPECT_EQ(exchange_->content_sent, "234");
}

TEST_F(FileReplyTest, so_does_one_that_streams) {
  files_.write("long", std::string(100'000, 'x'));
  serve([path = files_.path("long")](Request request, ReplyWriter writer) -> Task<void> {
    co_await katana::send(writer, Reply::file(request.view(), path));
  });
  get();
  EXPECT_EQ(exchange_->status, 200u);
  EXPECT_EQ(exchange_->length_announced, 100'000);
  EXPECT_EQ(exchange_->content_sent, std::string(100'000, 'x'));
  EXPECT_TRUE(exchange_->completed);
}

TEST_F(FileReplyTest, a_peer_that_has_it_already_is_told_so) {
  serve_path();
  get();
  const std::string tag = field("ETag");
  get("If-None-Match: " + tag + "\n");
  EXPECT_EQ(exchange_->status, 304u);
  EXPECT_EQ(exchange_->content_sent, "");
  get("If-Match: \"another\"\n");
  EXPECT_EQ(exchange_->status, 412u);
  get("If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\n");
  EXPECT_EQ(exchange_->status, 304u);
}

TEST_F(FileReplyTest, several_ranges_keep_the_type_that_was_given) {
  serve_path({.content_type = "text/x-digits"});
  get("Range: bytes=0-0,9-9\n");
  EXPECT_EQ(exchange_->status, 206u);
  EXPECT_TRUE(exchange_->type_sent.starts_with("multipart/byteranges")) << exchange_->type_sent;
  EXPECT_NE(exchange_->content_sent.find("Content-Type: text/x-digits\r\n"), std::string::npos);
  EXPECT_EQ(static_cast<std::int64_t>(exchange_->content_sent.size()), exchange_->length_announced);
}

TEST_F(FileReplyTest, it_is_offered_to_be_saved_by_its_name) {
  serve_path({.cache_control = "", .download_as = "zehn.txt"});
  get();
  EXPECT_EQ(field("Content-Disposition"), R"(attachment; filename="zehn.txt")");
  EXPECT_EQ(field("Cache-Control"), "-");
}

TEST_F(FileReplyTest, options_that_no_field_can_have_are_the_programs_failure) {
  serve_path({.cache_control = "a\r\nSet-Cookie: b"});
  EXPECT_EQ(get().status, 500u);
  EXPECT_EQ(field("Set-Cookie"), "-");
  serve_path({.content_type = "a\nb"});
  EXPECT_EQ(get().status, 500u);
}

TEST_F(FileReplyTest, what_is_not_there_or_no_file_is_not_found) {
  std::string path;
  serve([&](const RequestView& request) { return Reply::file(request, path); });
  ::mkfifo(files_.path("fifo").c_str(), 0600);
  for (const std::string& each : {files_.path("none"), files_.path(), files_.path("fifo"),
                                  std::string(), files_.path("a.txt") + std::string("\0.png", 5)}) {
    path = each;
    EXPECT_EQ(get().status, 404u) << each;
    EXPECT_EQ(exchange_->type_sent, "application/problem+json");
  }
}

TEST_F(FileReplyTest, a_name_of_a_users_does_not_leave_its_folder) {
  const Result<Folder> folder = Folder::open(files_.path("inside"));
  ASSERT_TRUE(folder) << folder.error().describe();
  files_.link("inside/out", files_.path("a.txt"));
  std::string name;
  serve([&](const RequestView& request) { return Reply::file(request, *folder, name); });
  name = "b.html";
  EXPECT_EQ(get().content_sent, "<p>b</p>");
  EXPECT_EQ(exchange_->type_sent, "text/html; charset=utf-8");
  for (const std::string& each :
       {std::string("../a.txt"), files_.path("a.txt"), std::string("out"),
        std::string("b.html/../../a.txt"), std::string("."), std::string("b.html\0", 7)}) {
    name = each;
    EXPECT_EQ(get().status, 404u) << each;
  }
}

}  // namespace
}  // namespace katana
