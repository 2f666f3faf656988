#include "katana/http/handlers/static_files.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "katana/http/files/folder_test.hpp"
#include "katana/http/handlers/exchange_fixture_test.hpp"

namespace katana {
namespace {

constexpr Bytes date = "Sun, 06 Nov 1994 08:49:37 GMT";

class StaticFilesTest : public ServiceTest {
 protected:
  StaticFilesTest() {
    files_.write("a.txt", "0123456789");
    files_.write("below/b.html", "<p>b</p>");
    files_.write("empty", "");
    reactor_.set_wall_clock(32'503'680'000);  // in the year 3000 all these files have settled
  }
  void serve(FilesOptions options = {}, Middleware middleware = {}) {
    add_routes([&](Router& router) {
      if (middleware.before || middleware.after) router.use(middleware);
      router.files("/f", files_.path(), options);
    });
  }
  FakeExchange& ask(std::string_view method, std::string target, std::string_view fields = {}) {
    if (!dispatcher_) serve();
    exchange_ = std::make_unique<FakeExchange>(method, target, fields);
    exchange_->on = &reactor_;
    exchange_->serve(*dispatcher_);
    return *exchange_;
  }
  FakeExchange& get(std::string target, std::string_view fields = {}) {
    return ask("GET", "/f/" + target, fields);
  }
  // The value of a field of the last reply; "-" for none.
  std::string field(std::string_view name) const {
    const std::string& fields = exchange_->fields_sent;
    const std::size_t at = fields.find(std::string(name) + ": ");
    if (at == std::string::npos) return "-";
    const std::size_t begin = at + name.size() + 2;
    return fields.substr(begin, fields.find("\r\n", begin) - begin);
  }

  TestFolder files_;
  StillReactor reactor_;
};

TEST_F(StaticFilesTest, a_file_is_sent_with_what_a_peer_needs_to_keep_it) {
  get("a.txt");
  EXPECT_EQ(exchange_->status, 200u);
  EXPECT_EQ(exchange_->content_sent, "0123456789");
  EXPECT_EQ(exchange_->length_announced, 10);
  EXPECT_EQ(exchange_->type_sent, "text/plain; charset=utf-8");
  EXPECT_EQ(field("Last-Modified"), date);
  EXPECT_EQ(field("Cache-Control"), "no-cache");
  EXPECT_EQ(field("Accept-Ranges"), "bytes");
  EXPECT_EQ(field("X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(field("Vary"), "-");
  const std::string tag = field("ETag");
  EXPECT_TRUE(tag.size() > 4 && tag.starts_with('"') && tag.ends_with('"')) << tag;
}

TEST_F(StaticFilesTest, head_has_the_fields_of_get_and_no_content) {
  get("a.txt");
  const std::string fields = exchange_->fields_sent;
  ask("HEAD", "/f/a.txt");
  EXPECT_EQ(exchange_->status, 200u);
  EXPECT_EQ(exchange_->fields_sent, fields);
  EXPECT_EQ(exchange_->length_announced, 10);
  EXPECT_EQ(exchange_->content_sent, "");
  EXPECT_TRUE(exchange_->completed);
}

TEST_F(StaticFilesTest, an_empty_file_is_a_whole_reply) {
  get("empty");
  EXPECT_EQ(exchange_->status, 200u);
  EXPECT_EQ(exchange_->length_announced, 0);
  EXPECT_TRUE(exchange_->completed);
  EXPECT_EQ(exchange_->type_sent, "application/octet-stream");
}

TEST_F(StaticFilesTest, other_methods_are_not_allowed) {
  EXPECT_EQ(ask("POST", "/f/a.txt").status, 405u);
  EXPECT_EQ(field("Allow"), "GET, HEAD, OPTIONS");
}

TEST_F(StaticFilesTest, hostile_paths_find_nothing) {
  files_.write(".hidden", "hidden");
  files_.write("below/.git/config", "hidden");
  files_.link("out", "/etc");
  for (const char* path : {"..%2f..%2fetc%2fpasswd",
                           "%2e%2e%2fetc/passwd",
                           "below%2fb.html",
                           "below//b.html",
                           "/a.txt",
                           "a.txt/",
                           "a.txt/x",
                           "below",
                           "below/",
                           "",
                           ".hidden",
                           "%2ehidden",
                           "below/.git/config",
                           "out/passwd",
                           "%255c..%255c",
                           "..%5c..%5cetc",
                           "a.txt%20",
                           "A.TXT",
                           "a.txt::$DATA",
                           "...",
                           "a.txt%0d%0aX:1"}) {
    EXPECT_EQ(get(path).status, 404u) << path;
  }
  EXPECT_EQ(get("a.txt%00").status, 400u);
  EXPECT_EQ(get("../../etc/passwd").status, 404u);  // resolved to /etc/passwd, which is no route
  EXPECT_EQ(get(std::string(2000, 'x')).status, 404u);
  EXPECT_EQ(get("below/../a.txt").status, 200u);
}

TEST_F(StaticFilesTest, hidden_names_are_served_when_that_is_wanted_and_well_known_always) {
  files_.write(".hidden", "hidden");
  files_.write(".well-known/x", "known");
  EXPECT_EQ(get(".well-known/x").content_sent, "known");
  FilesOptions options;
  options.hidden = true;
  serve(options);
  EXPECT_EQ(get(".hidden").content_sent, "hidden");
}

TEST_F(StaticFilesTest, names_are_what_their_escapes_say) {
  files_.write("100% a b.txt", "odd");
  EXPECT_EQ(get("100%25%20a%20b.txt").content_sent, "odd");
}

TEST_F(StaticFilesTest, a_folder_is_its_index_if_it_has_one_and_one_is_wanted) {
  files_.write("below/index.html", "index of below");
  files_.write("index.html", "index");
  EXPECT_EQ(get("below/").status, 404u);
  FilesOptions options;
  options.index = "index.html";
  serve(options);
  EXPECT_EQ(get("").content_sent, "index");
  EXPECT_EQ(get("below/").content_sent, "index of below");
  EXPECT_EQ(exchange_->type_sent, "text/html; charset=utf-8");
  EXPECT_EQ(get("below?x=1").status, 308u);
  EXPECT_EQ(field("Location"), "./below/?x=1");
  std::filesystem::create_directories(files_.path("a:b c/d"));
  EXPECT_EQ(get("a:b%20c").status, 308u);
  EXPECT_EQ(field("Location"), "./a%3Ab%20c/");
  EXPECT_EQ(get("a:b%20c/").status, 404u);
}

TEST_F(StaticFilesTest, a_peer_that_has_the_file_is_told_so) {
  get("a.txt");
  const std::string tag = field("ETag");
  EXPECT_EQ(get("a.txt", "If-None-Match: " + tag + "\n").status, 304u);
  EXPECT_EQ(field("ETag"), tag);
  EXPECT_EQ(field("Cache-Control"), "no-cache");
  EXPECT_EQ(exchange_->content_sent, "");
  EXPECT_EQ(exchange_->type_sent, "");
  EXPECT_EQ(get("a.txt", "If-Modified-Since: " + std::string(date) + "\n").status, 304u);
  EXPECT_EQ(get("a.txt", "If-None-Match: \"other\"\n").status, 200u);
  EXPECT_EQ(get("a.txt", "If-Match: \"other\"\n").status, 412u);
  EXPECT_EQ(get("a.txt", "If-Match: " + tag + "\n").status, 200u);
}

TEST_F(StaticFilesTest, a_range_is_sent_alone) {
  get("a.txt", "Range: bytes=2-4\n");
  EXPECT_EQ(exchange_->status, 206u);
  EXPECT_EQ(exchange_->content_sent, "234");
  EXPECT_EQ(exchange_->length_announced, 3);
  EXPECT_EQ(field("Content-Range"), "bytes 2-4/10");
  EXPECT_EQ(get("a.txt", "Range: bytes=-1\n").content_sent, "9");
  EXPECT_EQ(ask("HEAD", "/f/a.txt", "Range: bytes=2-4\n").status, 200u);
  EXPECT_EQ(get("a.txt", "Range: bytes=x\n").status, 200u);
}

TEST_F(StaticFilesTest, a_range_that_is_not_there_is_unsatisfiable) {
  get("a.txt", "Range: bytes=10-\n");
  EXPECT_EQ(exchange_->status, 416u);
  EXPECT_EQ(field("Content-Range"), "bytes */10");
}

TEST_F(StaticFilesTest, several_ranges_are_parts_of_one_reply) {
  get("a.txt", "Range: bytes=0-1,8-\n");
  EXPECT_EQ(exchange_->status, 206u);
  const std::string prefix = "multipart/byteranges; boundary=";
  ASSERT_TRUE(exchange_->type_sent.starts_with(prefix)) << exchange_->type_sent;
  const std::string boundary = exchange_->type_sent.substr(prefix.size());
  const auto part = [&](std::string_view range, std::string_view content) {
    return "\r\n--" + boundary +
           "\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Range: " + std::string(range) +
           "\r\n\r\n" + std::string(content);
  };
  EXPECT_EQ(exchange_->content_sent, part("bytes 0-1/10", "01") + part("bytes 8-9/10", "89") +
                                         "\r\n--" + boundary + "--\r\n");
  EXPECT_EQ(exchange_->length_announced, static_cast<std::int64_t>(exchange_->content_sent.size()));
  EXPECT_EQ(field("Content-Range"), "-");
}

TEST_F(StaticFilesTest, a_range_of_what_the_file_was_before_is_the_whole_of_what_it_is) {
  get("a.txt");
  const std::string tag = field("ETag");
  EXPECT_EQ(get("a.txt", "Range: bytes=0-0\nIf-Range: " + tag + "\n").status, 206u);
  EXPECT_EQ(get("a.txt", "Range: bytes=0-0\nIf-Range: \"other\"\n").status, 200u);
  // A date that was set does not prove that no byte has changed.
  EXPECT_EQ(get("a.txt", "Range: bytes=0-0\nIf-Range: " + std::string(date) + "\n").status, 200u);
  std::ofstream(files_.path("written.txt")) << "0123456789";
  get("written.txt");
  const std::string written = field("Last-Modified");
  EXPECT_EQ(get("written.txt", "Range: bytes=0-0\nIf-Range: " + written + "\n").status, 206u);
  EXPECT_EQ(get("written.txt", "Range: bytes=0-0\nIf-Range: " + std::string(date) + "\n").status,
            200u);
}

// As in the store of Nix, in reproducible images, and after cp -p and rsync -t.
TEST_F(StaticFilesTest, another_content_of_the_same_size_and_date_has_another_tag) {
  for (const std::int64_t date_s : {std::int64_t{0}, std::int64_t{1}, std::int64_t{315'532'800},
                                    TestFolder::old_s, std::int64_t{1'700'000'000}}) {
    SCOPED_TRACE(date_s);
    files_.write("app.js", "page ONE", date_s);
    files_.write("copy.js", "page ONE", date_s);
    reactor_.pass(seconds(1));
    get("app.js");
    const std::string tag = field("ETag");
    EXPECT_TRUE(tag.starts_with('"')) << tag;
    get("copy.js");
    EXPECT_EQ(field("ETag"), tag);  // the same on other hosts
    files_.write("new", "page TWO", date_s);
    std::filesystem::rename(files_.path("new"), files_.path("app.js"));
    reactor_.pass(seconds(1));
    EXPECT_EQ(get("app.js", "If-None-Match: " + tag + "\n").status, 200u);
    EXPECT_EQ(exchange_->content_sent, "page TWO");
    EXPECT_NE(field("ETag"), tag);
    EXPECT_EQ(get("app.js", "Range: bytes=0-0\nIf-Range: " + tag + "\n").status, 200u);
    EXPECT_EQ(get("app.js", "If-Match: " + tag + "\n").status, 412u);
    files_.write("app.js", "page ONE", date_s);
    reactor_.pass(seconds(1));
    EXPECT_EQ(get("app.js", "If-None-Match: " + tag + "\n").status, 304u);
  }
}

TEST_F(StaticFilesTest,
       a_large_file_with_a_date_that_was_set_has_the_change_of_its_inode_in_its_tag) {
  const std::string one(2'000'000, '1'), two(2'000'000, '2');
  files_.write("large", one);
  get("large");
  const std::string tag = field("ETag");
  EXPECT_EQ(get("large", "If-None-Match: " + tag + "\n").status, 304u);
  files_.write("new", two);
  std::filesystem::rename(files_.path("new"), files_.path("large"));
  reactor_.pass(seconds(1));
  EXPECT_EQ(get("large", "If-None-Match: " + tag + "\n").status, 200u);
}

TEST_F(StaticFilesTest,
       a_constant_date_of_reproducible_builds_is_not_told_and_no_condition_meets_it) {
  files_.write("app.js", "page ONE", 1);
  EXPECT_EQ(get("app.js").status, 200u);
  EXPECT_EQ(field("Last-Modified"), "-");
  const std::string constant = "Thu, 01 Jan 1970 00:00:01 GMT\n";
  EXPECT_EQ(get("app.js", "If-Modified-Since: " + constant).status, 200u);
  EXPECT_EQ(get("app.js", "If-Unmodified-Since: Thu, 01 Jan 1970 00:00:00 GMT\n").status, 200u);
  EXPECT_EQ(get("app.js", "Range: bytes=0-0\nIf-Range: " + constant).status, 200u);
}

// An archive, or a copy from a host whose clock is ahead.
TEST_F(StaticFilesTest, a_date_of_the_future_is_told_as_the_present) {
  constexpr std::int64_t now_s = 1'000'000'000;  // Sun, 09 Sep 2001 01:46:40 GMT
  reactor_.set_wall_clock(now_s);
  files_.write("late.txt", "0123456789", now_s + 3600);
  EXPECT_EQ(get("late.txt").status, 200u);
  EXPECT_EQ(field("Last-Modified"), "Sun, 09 Sep 2001 01:46:40 GMT");
  EXPECT_EQ(get("late.txt", "Range: bytes=0-0\nIf-Range: Sun, 09 Sep 2001 01:46:40 GMT\n").status,
            200u);
}

TEST_F(StaticFilesTest, a_part_has_the_fields_of_the_whole) {
  get("a.txt");
  const std::string fields = exchange_->fields_sent, type = exchange_->type_sent;
  get("a.txt", "Range: bytes=2-4\n");
  EXPECT_EQ(exchange_->status, 206u);
  EXPECT_TRUE(exchange_->fields_sent.starts_with(fields)) << exchange_->fields_sent;
  EXPECT_EQ(exchange_->type_sent, type);
  get("a.txt", "Range: bytes=0-1,8-\n");
  EXPECT_EQ(exchange_->status, 206u);
  EXPECT_TRUE(exchange_->fields_sent.starts_with(fields)) << exchange_->fields_sent;
}

TEST_F(StaticFilesTest, a_condition_on_a_range_counts_for_nothing_without_one) {
  for (const char* const condition : {"\"other\"", "W/\"a\"", "garbage", ""}) {
    EXPECT_EQ(get("a.txt", "If-Range: " + std::string(condition) + "\n").status, 200u);
    EXPECT_EQ(exchange_->content_sent, "0123456789");
  }
}

TEST_F(StaticFilesTest, conditions_change_no_error) {
  for (const char* const condition : {"If-None-Match: *\n", "If-Match: \"x\"\n", "If-Match: *\n",
                                      "If-Unmodified-Since: Thu, 01 Jan 1970 00:00:00 GMT\n",
                                      "If-Modified-Since: Fri, 31 Dec 9999 23:59:59 GMT\n"}) {
    EXPECT_EQ(get("absent.txt", condition).status, 404u) << condition;
    EXPECT_EQ(ask("POST", "/f/a.txt", condition).status, 405u) << condition;
  }
}

TEST_F(StaticFilesTest, a_range_that_is_given_twice_is_none) {
  EXPECT_EQ(get("a.txt", "Range: bytes=0-1\nRange: bytes=2-3\n").status, 200u);
  EXPECT_EQ(exchange_->content_sent, "0123456789");
  get("a.txt");
  const std::string again = "If-Range: " + field("ETag") + "\n";
  EXPECT_EQ(get("a.txt", "Range: bytes=0-0\n" + again + again).status, 200u);
}

TEST_F(StaticFilesTest, a_file_that_may_still_be_written_has_a_weak_tag_until_it_has_settled) {
  reactor_.set_wall_clock(0);  // whatever its date, the file is younger
  EXPECT_TRUE(get("a.txt").fields_sent.starts_with("ETag: W/\""));
  const std::string tag = field("ETag");
  EXPECT_EQ(get("a.txt", "If-None-Match: " + tag + "\n").status, 304u);
  EXPECT_EQ(get("a.txt", "Range: bytes=0-0\nIf-Range: " + tag + "\n").status, 200u);
  reactor_.set_wall_clock(32'503'680'000);
  reactor_.pass(seconds(1));
  EXPECT_TRUE(get("a.txt").fields_sent.starts_with("ETag: \""));
  EXPECT_EQ(field("ETag"), tag.substr(2));
}

TEST_F(StaticFilesTest, what_lies_beside_a_file_is_sent_to_those_who_can_decode_it) {
  files_.write("a.txt.gz", "gzipped");
  files_.write("a.txt.br", "brotli");
  EXPECT_EQ(get("a.txt").content_sent, "0123456789");
  EXPECT_EQ(field("Vary"), "Accept-Encoding");
  const std::string plain_tag = field("ETag");
  EXPECT_EQ(get("a.txt", "Accept-Encoding: gzip\n").content_sent, "gzipped");
  EXPECT_EQ(field("Content-Encoding"), "gzip");
  EXPECT_EQ(field("Vary"), "Accept-Encoding");
  EXPECT_EQ(exchange_->type_sent, "text/plain; charset=utf-8");
  const std::string coded_tag = field("ETag");
  EXPECT_NE(coded_tag, plain_tag);
  EXPECT_EQ(get("a.txt", "Accept-Encoding: gzip, br\n").content_sent, "brotli");
  EXPECT_EQ(get("a.txt", "Accept-Encoding: zstd\n").content_sent, "0123456789");
  EXPECT_EQ(field("Content-Encoding"), "-");
  EXPECT_EQ(get("a.txt", "Accept-Encoding: br;q=0, gzip;q=0.1\n").content_sent, "gzipped");
  EXPECT_EQ(get("a.txt", "Accept-Encoding: gzip\nRange: bytes=0-1\n").content_sent, "gz");
  EXPECT_EQ(get("a.txt", "Accept-Encoding: gzip\nIf-None-Match: " + coded_tag + "\n").status, 304u);
  EXPECT_EQ(get("a.txt", "Accept-Encoding: gzip\nIf-None-Match: " + plain_tag + "\n").status, 200u);
}

TEST_F(StaticFilesTest, what_lies_beside_a_file_and_is_older_is_passed_over) {
  files_.write("a.txt.gz", "of before", TestFolder::old_s - 1);
  EXPECT_EQ(get("a.txt", "Accept-Encoding: gzip\n").content_sent, "0123456789");
  EXPECT_EQ(field("Vary"), "-");
}

TEST_F(StaticFilesTest, a_file_is_looked_at_again_after_a_while_and_no_sooner) {
  get("a.txt");
  const std::string tag = field("ETag");
  files_.write("new", "other content", TestFolder::old_s + 60);
  std::filesystem::rename(files_.path("new"), files_.path("a.txt"));
  EXPECT_EQ(get("a.txt").content_sent, "0123456789");
  EXPECT_EQ(field("ETag"), tag);
  reactor_.pass(seconds(1));
  EXPECT_EQ(get("a.txt").content_sent, "other content");
  EXPECT_NE(field("ETag"), tag);
  std::filesystem::remove(files_.path("a.txt"));
  reactor_.pass(seconds(1));
  EXPECT_EQ(get("a.txt").status, 404u);
  std::filesystem::create_directory(files_.path("a.txt"));
  EXPECT_EQ(get("a.txt").status, 404u);
}

TEST_F(StaticFilesTest, no_more_files_stay_open_than_the_limit) {
  FilesOptions options;
  options.open_files_max = 2;
  serve(options);
  const auto descriptors = [] {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
      ++count;
    }
    return count;
  };
  const std::size_t before = descriptors();
  for (int index = 0; index < 10; ++index) {
    const std::string name = "n" + std::to_string(index);
    files_.write(name, name);
    EXPECT_EQ(get(name).content_sent, name);
  }
  exchange_.reset();
  EXPECT_EQ(descriptors(), before + 2);
  service_.reset();
  dispatcher_.reset();
}

TEST_F(StaticFilesTest, a_file_is_sent_as_fast_as_the_peer_takes_it_and_stays_what_it_was) {
  const std::string content(100'000, 'x');
  files_.write("long", content);
  serve();
  exchange_ = std::make_unique<FakeExchange>("GET", "/f/long");
  exchange_->on = &reactor_;
  exchange_->capacity = 20'000;
  exchange_->serve(*dispatcher_);
  EXPECT_FALSE(exchange_->completed);
  EXPECT_LE(exchange_->content_sent.size(), 20'000u);
  files_.write("new", "replaced");
  std::filesystem::rename(files_.path("new"), files_.path("long"));
  for (int round = 0; round < 10 && !exchange_->completed; ++round)
    exchange_->make_writable(20'000);
  EXPECT_TRUE(exchange_->completed);
  EXPECT_EQ(exchange_->content_sent, content);
}

TEST_F(StaticFilesTest, a_file_that_becomes_shorter_breaks_its_reply_off) {
  files_.write("long", std::string(100'000, 'x'));
  serve();
  exchange_ = std::make_unique<FakeExchange>("GET", "/f/long");
  exchange_->on = &reactor_;
  exchange_->capacity = 20'000;
  exchange_->serve(*dispatcher_);
  std::filesystem::resize_file(files_.path("long"), 30'000);
  for (int round = 0; round < 10 && !exchange_->aborted; ++round) exchange_->make_writable(20'000);
  EXPECT_TRUE(exchange_->aborted);
  EXPECT_FALSE(exchange_->completed);
}

TEST_F(StaticFilesTest, middleware_sees_the_reply_and_types_can_be_given) {
  files_.write("x.katana", "k");
  FilesOptions options;
  options.types = {{"katana", "text/x-katana"}};
  options.cache_control = "public, max-age=31536000, immutable";
  serve(options,
        {.after = [](const RequestView&, Reply& reply) { reply.add_field("X-After", "1"); }});
  get("x.KATANA");
  EXPECT_EQ(exchange_->status, 404u);
  get("x.katana");
  EXPECT_EQ(exchange_->type_sent, "text/x-katana");
  EXPECT_EQ(field("X-After"), "1");
  EXPECT_EQ(field("Cache-Control"), "public, max-age=31536000, immutable");
}

TEST_F(StaticFilesTest, a_folder_that_is_missing_is_an_error_of_build) {
  Router router;
  router.files("/x", files_.path("missing"));
  const auto service = std::move(router).build();
  ASSERT_FALSE(service);
  EXPECT_NE(service.error().describe().find("files at '/x'"), std::string::npos);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
