#include "katana/http/client/response_stream.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>

#include "katana/http/client/client_fixture_test.hpp"

namespace katana::client {
namespace {

using testing::HasSubstr;

class ResponseStreamTest : public ClientTest {
 protected:
  ~ResponseStreamTest() override {
    piece.reset();
    stream.reset();
  }

  void open_stream() {
    Task<Result<ResponseStream>> opened = http().open(Request("http://server.test/"));
    opened.start();
    turn();
    const auto index = static_cast<std::uint32_t>(links() - 1);
    answer(index);
    EXPECT_FALSE(opened.done());
    say(index, ok + "Content-Length: 400000\r\n\r\n");
    stream.emplace(taken(opened));
    EXPECT_EQ(stream->head().status(), 200u);
    EXPECT_EQ(stream->head().find("content-length"), "400000");
  }
  void read() {
    piece.emplace(stream->read());
    piece->start();
  }

  std::optional<ResponseStream> stream;
  std::optional<Task<Result<Text>>> piece;
};

TEST_F(ResponseStreamTest, content_of_any_size_is_read_in_bounded_memory) {
  open_stream();
  std::size_t said = 0, got = 0, most = 0;
  const std::string part(20'000, 'x');
  for (int count = 0; count < 1000 && got < 400'000; ++count) {
    while (said < 400'000 && !world_.links[0].paused) {
      say(0, part);
      said += part.size();
    }
    most = std::max(most, said - got);
    read();
    ASSERT_TRUE(piece->done());
    auto result = piece->result();
    ASSERT_TRUE(result) << result.error().describe();
    got += result->size();
    turn();
  }
  EXPECT_EQ(got, 400'000u);
  EXPECT_GE(most, 64u * 1024);
  EXPECT_LE(most, 64u * 1024 + 2 * part.size());
  read();
  ASSERT_TRUE(piece->done());
  EXPECT_TRUE(piece->result()->empty());  // the end
  EXPECT_TRUE(open(0));
  Reply& next = get();
  EXPECT_EQ(links(), 1u);
  say(0, ok + "Content-Length: 0\r\n\r\n");
  EXPECT_EQ(error_of(next), "status 200");
}

TEST_F(ResponseStreamTest, a_waiting_reader_resumes_when_content_arrives) {
  open_stream();
  read();
  EXPECT_FALSE(piece->done());
  say(0, "abc");
  ASSERT_TRUE(piece->done());
  EXPECT_EQ(piece->result()->bytes(), "abc");
}

TEST_F(ResponseStreamTest, leaving_before_the_end_resets_the_connection) {
  open_stream();
  read();
  piece.reset();
  stream.reset();
  turn();
  EXPECT_FALSE(open(0));
}

TEST_F(ResponseStreamTest, what_came_before_a_loss_is_read_first) {
  open_stream();
  say(0, "abc");
  lose(0, ECONNRESET);
  read();
  ASSERT_TRUE(piece->done());
  EXPECT_EQ(piece->result()->bytes(), "abc");
  read();
  ASSERT_TRUE(piece->done());
  auto result = piece->result();
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().describe(), HasSubstr("Connection reset by peer"));
}

TEST_F(ResponseStreamTest, a_silent_server_is_disconnected_and_a_slow_reader_is_not) {
  open_stream();
  for (int count = 0; count < 4; ++count) say(0, std::string(20'000, 'x'));
  EXPECT_TRUE(world_.links[0].paused);
  turn(seconds(3'000));
  turn();
  EXPECT_TRUE(open(0));
  read();
  ASSERT_TRUE(piece->done());
  ASSERT_TRUE(piece->result());
  turn();
  EXPECT_FALSE(world_.links[0].paused);
  turn(seconds(31));
  turn();
  EXPECT_FALSE(open(0));
  read();
  ASSERT_TRUE(piece->done());
  auto result = piece->result();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), Code::deadline_exceeded);
}

TEST_F(ResponseStreamTest, the_end_of_the_input_is_known_after_the_last_byte_is_read) {
  Task<Result<ResponseStream>> opened = http().open(Request("http://server.test/"));
  opened.start();
  turn();
  answer(0);
  say(0, ok + "\r\n");
  stream.emplace(*opened.result());
  for (int count = 0; count < 3; ++count) say(0, std::string(30'000, 'y'));
  EXPECT_TRUE(world_.links[0].paused);
  std::size_t got = 0;
  for (int count = 0; count < 10; ++count) {
    if (count == 1) close_by_server(0);
    read();
    turn();
    if (!piece->done()) continue;
    const auto result = piece->result();
    ASSERT_TRUE(result) << result.error().describe();
    got += result->size();
  }
  EXPECT_EQ(got, 90'000u);
}

}  // namespace
}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
