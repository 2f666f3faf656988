#include "katana/http/client/upload.hpp"

#include <cerrno>
#include <stdexcept>

#include "katana/http/client/client_fixture_test.hpp"

namespace katana::client {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

const std::string created = "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n";

// Gives its pieces, one for each read().
class Pieces final : public ContentSource {
 public:
  explicit Pieces(std::vector<std::string> pieces, bool restarts = false)
      : pieces_(std::move(pieces)), restarts_(restarts) {}
  Task<Result<Text>> read() override {
    ++reads;
    co_return Text(next_ < pieces_.size() ? pieces_[next_++] : std::string());
  }
  bool restart() override {
    if (restarts_) next_ = 0;
    return restarts_;
  }
  int reads = 0;

 private:
  const std::vector<std::string> pieces_;
  const bool restarts_;
  std::size_t next_ = 0;
};

class UploadTest : public ClientTest {
 protected:
  static Request put(std::shared_ptr<ContentSource> source,
                     std::optional<std::uint64_t> length = {}) {
    return Request("PUT", "http://server.test/").content(std::move(source), "a/b", length);
  }
  void turns(int count = 6) {
    while (count-- > 0) turn();
  }
};

TEST_F(UploadTest, content_without_a_length_goes_out_in_chunks) {
  const auto source = std::make_shared<Pieces>(std::vector<std::string>{"abc", "defghijklmnopqr"});
  Reply& reply = fetch(put(source));
  EXPECT_EQ(source->reads, 0);  // no server has answered
  answer(0);
  turns();
  EXPECT_THAT(take_sent(0),
              AllOf(HasSubstr("\r\nTransfer-Encoding: chunked\r\n"),
                    EndsWith("\r\n\r\n3\r\nabc\r\nf\r\ndefghijklmnopqr\r\n0\r\n\r\n")));
  say(0, created);
  EXPECT_EQ(error_of(reply), "status 201");
  EXPECT_TRUE(open(0));
}

TEST_F(UploadTest, content_of_a_declared_length_goes_out_as_it_is) {
  Reply& reply = fetch(put(std::make_shared<Pieces>(std::vector<std::string>{"abc", "de"}), 5));
  answer(0);
  turns();
  EXPECT_THAT(take_sent(0),
              AllOf(HasSubstr("\r\nContent-Length: 5\r\n"), EndsWith("\r\n\r\nabcde")));
  say(0, created);
  EXPECT_EQ(error_of(reply), "status 201");
  EXPECT_TRUE(open(0));
}

TEST_F(UploadTest, a_length_that_is_not_met_ends_the_request) {
  const std::pair<std::uint64_t, const char*> cases[] = {
      {4, "gave at least 5 bytes, but 4 were declared"},
      {6, "gave only 5 bytes, but 6 were declared"}};
  for (const auto& [length, problem] : cases) {
    Reply& reply =
        fetch(put(std::make_shared<Pieces>(std::vector<std::string>{"abc", "de"}), length));
    const auto index = static_cast<std::uint32_t>(links() - 1);
    answer(index);
    turns();
    EXPECT_THAT(error_of(reply), AllOf(HasSubstr(problem), HasSubstr("PUT http://server.test/")));
    EXPECT_FALSE(open(index));
  }
}

TEST_F(UploadTest, a_server_that_does_not_read_is_not_sent_more) {
  const auto source =
      std::make_shared<Pieces>(std::vector<std::string>(1000, std::string(10'000, 'x')));
  fetch(put(source));
  world_.links[0].writable = 1000;
  complete(0);
  turns(50);
  EXPECT_LE(source->reads, 30);
  world_.links[0].writable = SIZE_MAX;
  complete(0);
  turns(2500);
  EXPECT_EQ(source->reads, 1001);
  EXPECT_THAT(sent(0), EndsWith("\r\n0\r\n\r\n"));
}

TEST_F(UploadTest, an_error_of_the_source_is_the_requests) {
  Reply& failed = fetch(
      Request("PUT", "http://server.test/")
          .content(
              []() -> Task<Result<Text>> { co_return fail(Code::data_loss, "the disk is gone"); },
              "a/b"));
  answer(0);
  turns();
  EXPECT_THAT(error_of(failed), HasSubstr("content of the request: the disk is gone"));
  EXPECT_FALSE(open(0));
  Reply& thrown = fetch(Request("PUT", "http://server.test/")
                            .content(
                                []() -> Task<Result<Text>> {
                                  throw std::runtime_error("oh");
                                  co_return Text();
                                },
                                "a/b"));
  answer(1);
  turns();
  EXPECT_THAT(error_of(thrown), HasSubstr("content threw: oh"));
}

TEST_F(UploadTest, an_early_reply_ends_the_upload_and_its_connection) {
  const auto source =
      std::make_shared<Pieces>(std::vector<std::string>(1000, std::string(10'000, 'x')));
  Reply& reply = fetch(put(source));
  world_.links[0].writable = 1000;
  complete(0);
  turns();
  say(0, "HTTP/1.1 413 No\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(error_of(reply), "status 413");
  EXPECT_FALSE(open(0));
}

TEST_F(UploadTest, an_expectation_goes_with_content_alone) {
  fetch(Request("http://server.test/").expect_continue());
  answer(0);
  EXPECT_THAT(take_sent(0), Not(HasSubstr("Expect")));
  fetch(Request("POST", "http://server.test/").content("", "a/b").expect_continue());
  answer(1);
  EXPECT_THAT(take_sent(1), Not(HasSubstr("Expect")));
}

TEST_F(UploadTest, with_expect_the_server_decides) {
  const auto wanted = std::make_shared<Pieces>(std::vector<std::string>{"abc"});
  Reply& reply = fetch(put(wanted, 3).expect_continue());
  answer(0);
  turns();
  EXPECT_THAT(take_sent(0), AllOf(HasSubstr("\r\nExpect: 100-continue\r\n"), EndsWith("\r\n\r\n")));
  EXPECT_EQ(wanted->reads, 0);
  say(0, "HTTP/1.1 103 Early\r\n\r\n");
  EXPECT_EQ(wanted->reads, 0);
  say(0, "HTTP/1.1 100 Continue\r\n\r\n");
  turns();
  EXPECT_EQ(take_sent(0), "abc");
  say(0, created);
  EXPECT_EQ(error_of(reply), "status 201");

  const auto refused = std::make_shared<Pieces>(std::vector<std::string>{"abc"});
  Reply& refusal = fetch(put(refused, 3).expect_continue());
  say(0, "HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(error_of(refusal), "status 401");
  EXPECT_EQ(refused->reads, 0);
  EXPECT_FALSE(open(0));  // the server may still wait for the content

  const auto silent = std::make_shared<Pieces>(std::vector<std::string>{"abc"});
  fetch(put(silent, 3).expect_continue());
  answer(1);
  turn(milliseconds(900));
  turns();
  EXPECT_EQ(silent->reads, 0);
  turn(milliseconds(200));
  turns();
  EXPECT_THAT(sent(1), EndsWith("\r\n\r\nabc"));
}

// A kept connection is lost before the reply: PUT is idempotent, but its content is gone.
TEST_F(UploadTest, what_was_read_is_sent_again_only_if_the_source_begins_again) {
  for (const bool restarts : {false, true}) {
    warm_up();
    const auto index = static_cast<std::uint32_t>(links() - 1);
    Reply& reply =
        fetch(put(std::make_shared<Pieces>(std::vector<std::string>{"abc"}, restarts), 3));
    turns();
    EXPECT_THAT(take_sent(index), EndsWith("\r\n\r\nabc"));
    lose(index, ECONNRESET);
    turns();
    if (!restarts) {
      EXPECT_THAT(error_of(reply), HasSubstr("Connection reset by peer"));
      continue;
    }
    ASSERT_FALSE(reply.done());
    answer(index + 1);
    turns();
    EXPECT_THAT(take_sent(index + 1), EndsWith("\r\n\r\nabc"));
    say(index + 1, created);
    EXPECT_EQ(error_of(reply), "status 201");
  }
}

TEST_F(UploadTest, a_connection_that_is_not_made_costs_no_content) {
  const auto source = std::make_shared<Pieces>(std::vector<std::string>{"abc"});
  Reply& reply = fetch(Request("PUT", "http://two.test/").content(source, "a/b"));
  lose(0, ECONNREFUSED);
  EXPECT_EQ(source->reads, 0);
  answer(1);
  turns();
  EXPECT_THAT(take_sent(1), EndsWith("\r\n\r\n3\r\nabc\r\n0\r\n\r\n"));
  say(1, created);
  EXPECT_EQ(error_of(reply), "status 201");
}

TEST_F(UploadTest, a_redirect_takes_the_content_along_if_it_begins_again) {
  for (const bool restarts : {false, true}) {
    const auto index = static_cast<std::uint32_t>(links());
    Reply& reply = fetch(
        put(std::make_shared<Pieces>(std::vector<std::string>{"abc"}, restarts)).redirects(1));
    answer(index);
    turns();
    say(index,
        "HTTP/1.1 307 Moved\r\nLocation: /b\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    if (!restarts) {
      EXPECT_THAT(error_of(reply), HasSubstr("implement ContentSource::restart()"));
      continue;
    }
    answer(index + 1);
    turns();
    EXPECT_THAT(take_sent(index + 1),
                AllOf(testing::StartsWith("PUT /b "), EndsWith("\r\n\r\n3\r\nabc\r\n0\r\n\r\n")));
  }
}

TEST_F(UploadTest, destroying_the_request_ends_its_source) {
  bool ended = false;
  struct AtEnd {
    bool& flag;
    ~AtEnd() { flag = true; }
  };
  fetch(Request("PUT", "http://server.test/")
            .content(
                [&]() -> Task<Result<Text>> {
                  const AtEnd at_end{ended};
                  co_await std::suspend_always();
                  co_return Text();
                },
                "a/b"));
  answer(0);
  turns();
  EXPECT_FALSE(ended);
  replies.clear();
  EXPECT_TRUE(ended);
  turns();
  EXPECT_FALSE(open(0));
}

}  // namespace
}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
