#include "katana/http/client/content_decoding.hpp"

#include <functional>
#include <initializer_list>

#include "katana/http/client/client_fixture_test.hpp"
#include "katana/http/client/response_stream.hpp"
#include "katana/http/coding/brotli/brotli.hpp"
#include "katana/http/coding/zstd/zstd.hpp"

namespace katana::client {
namespace {

using testing::HasSubstr;
using testing::Not;

coding::Codecs every_codec() { return {coding::gzip(), coding::brotli(), coding::zstd()}; }

std::string coded(http::Coding coding, Bytes plain) {
  Text made;
  const auto encoder = every_codec().make_encoder(coding, {});
  encoder->encode(plain, coding::Flush::finish, made);
  return std::string(made.bytes());
}

std::string reply_of(Bytes coding, const std::string& content) {
  return ok + "Content-Encoding: " + std::string(coding) +
         "\r\nContent-Length: " + std::to_string(content.size()) + "\r\n\r\n" + content;
}

class ContentDecodingTest : public ClientTest {
 protected:
  ContentDecodingTest() : ClientTest(small()) {}
  static HttpClientOptions small() {
    HttpClientOptions options = test_options();
    options.content_bytes_max = 200'000;
    options.codecs = every_codec();
    return options;
  }
  static Request asking() { return Request("http://server.test/").decode(true); }
};

constexpr http::Coding codings[] = {http::Coding::gzip, http::Coding::brotli, http::Coding::zstd};

TEST_F(ContentDecodingTest, a_reply_in_each_coding_is_decoded) {
  const std::string plain(100'000, 'k');
  for (const http::Coding coding : codings) {
    Reply& reply = fetch(asking());
    answer(0);
    EXPECT_THAT(take_sent(0), HasSubstr("\r\nAccept-Encoding: br, zstd, gzip\r\n"));
    say(0, reply_of(http::coding_name(coding), coded(coding, plain)));
    ASSERT_TRUE(reply.done());
    auto result = reply.result();
    ASSERT_TRUE(result) << result.error().describe();
    EXPECT_EQ(result->content(), plain);
    EXPECT_TRUE(result->decoded());
    EXPECT_EQ(result->find("Content-Encoding"), http::coding_name(coding));
  }
}

TEST_F(ContentDecodingTest, what_it_becomes_is_bounded) {
  const std::string plain(200'001, 'k');
  for (const http::Coding coding : codings) {
    Reply& reply = fetch(asking());
    answer(0);
    say(0, reply_of(http::coding_name(coding), coded(coding, plain)));
    EXPECT_THAT(error_of(reply), HasSubstr("exceeds 200000 bytes once decoded"));
  }
}

TEST_F(ContentDecodingTest, what_is_cut_or_wrong_is_an_error) {
  const std::string whole = coded(http::Coding::gzip, std::string(1000, 'k'));
  for (const std::string& bytes : {whole.substr(0, whole.size() - 1), std::string("no gzip")}) {
    Reply& reply = fetch(asking());
    answer(0);
    say(0, reply_of("gzip", bytes));
    EXPECT_THAT(error_of(reply), HasSubstr("is not valid gzip, or it is incomplete"));
  }
}

TEST_F(ContentDecodingTest, a_client_without_codecs_asks_for_none) {
  HttpClientOptions options = test_options();
  options.codecs = std::initializer_list<coding::Codec>{};
  use(options);
  fetch(asking());
  answer(0);
  EXPECT_THAT(take_sent(0), Not(HasSubstr("Accept-Encoding")));
}

// Reads the first piece of a reply of that coding as a stream.
std::string first_piece(ResponseStream& stream, const std::function<void()>& turn) {
  Task<Result<Text>> piece = stream.read();
  piece.start();
  turn();
  if (!piece.done()) return "it is not done";
  auto result = piece.result();
  return result ? std::string(result->bytes()) : result.error().describe();
}

TEST_F(ContentDecodingTest, a_stream_is_decoded_if_codings_were_asked_for_and_it_has_content) {
  const auto piece_of = [&](Request request, const std::string& content) {
    Task<Result<ResponseStream>> opened = http().open(std::move(request));
    opened.start();
    turn();
    const auto index = static_cast<std::uint32_t>(links() - 1);
    answer(index);
    say(index, ok + "Content-Encoding: gzip\r\nContent-Length: 7\r\n\r\n" + content);
    ResponseStream stream = taken(opened);
    return first_piece(stream, [&] { turn(); });
  };
  EXPECT_EQ(piece_of(Request("http://server.test/"), "no gzip"), "no gzip");
  EXPECT_THAT(piece_of(asking(), "no gzip"), HasSubstr("is not valid gzip"));
  EXPECT_EQ(piece_of(Request("HEAD", "http://server.test/").decode(true), ""), "");
}

TEST_F(ContentDecodingTest, a_coding_that_nobody_knows_stays_as_it_is) {
  for (const char* coding : {"compress", "gzip, br", "identity"}) {
    Reply& reply = fetch(asking());
    answer(0);
    say(0, reply_of(coding, "as it is"));
    ASSERT_TRUE(reply.done());
    auto result = reply.result();
    ASSERT_TRUE(result) << result.error().describe();
    EXPECT_EQ(result->content(), "as it is");
    EXPECT_FALSE(result->decoded());
  }
}

TEST_F(ContentDecodingTest, no_content_needs_no_decoding) {
  Reply& reply = fetch(Request("HEAD", "http://server.test/").decode(true));
  answer(0);
  say(0, ok + "Content-Encoding: gzip\r\nContent-Length: 999\r\n\r\n");
  EXPECT_EQ(error_of(reply), "status 200");
}

TEST_F(ContentDecodingTest, who_asks_for_codings_decodes_them) {
  const std::string content = coded(http::Coding::gzip, "text");
  Reply& reply = fetch(asking().field("accept-encoding", "gzip"));
  answer(0);
  EXPECT_THAT(take_sent(0), Not(HasSubstr("br, zstd")));
  say(0, reply_of("gzip", content));
  ASSERT_TRUE(reply.done());
  EXPECT_EQ(reply.result()->content(), content);
}

TEST_F(ContentDecodingTest, a_stream_is_decoded_by_choice_in_bounded_pieces) {
  const std::string plain(300'000, 'k');  // more than content_bytes_max
  for (const http::Coding coding : codings) {
    Task<Result<ResponseStream>> opened = http().open(asking());
    opened.start();
    turn();
    answer(0);
    say(0, reply_of(http::coding_name(coding), coded(coding, plain)));
    ASSERT_TRUE(opened.done());
    auto stream = opened.result();
    ASSERT_TRUE(stream) << stream.error().describe();
    std::string got;
    for (;;) {
      auto reading = stream->read();
      if (!reading.start()) turn();
      ASSERT_TRUE(reading.done());
      auto piece = reading.result();
      ASSERT_TRUE(piece) << piece.error().describe();
      if (piece->empty()) break;
      EXPECT_LE(piece->size(), 64u * 1024);
      got += piece->bytes();
    }
    EXPECT_EQ(got, plain);
  }
}

class GzipAloneTest : public ClientTest {
 protected:
  GzipAloneTest() : ClientTest(test_options()) {}
};

TEST_F(GzipAloneTest, a_program_asks_for_what_it_has_and_leaves_the_rest_as_it_is) {
  const std::string content = coded(http::Coding::brotli, "text");
  Reply& reply = fetch(Request("http://server.test/").decode(true));
  answer(0);
  EXPECT_THAT(take_sent(0), HasSubstr("\r\nAccept-Encoding: gzip\r\n"));
  say(0, reply_of("br", content));
  ASSERT_TRUE(reply.done());
  auto result = reply.result();
  ASSERT_TRUE(result) << result.error().describe();
  EXPECT_EQ(result->content(), content);
  EXPECT_FALSE(result->decoded());
}

TEST(CodingsOptionTest, of_those_that_the_program_has_some_may_be_chosen) {
  HttpClientOptions options;
  options.tls.system_authorities = false;
  options.codecs = every_codec();
  options.codings = {"zstd", "gzip"};
  EXPECT_TRUE(HttpClient::make(options));
  Request request("http://server.test/");
  const auto made = make_outgoing(request, options, true);
  ASSERT_TRUE(made);
  EXPECT_THAT(std::string(made->fields), HasSubstr("Accept-Encoding: zstd, gzip\r\n"));
}

TEST(CodingsOptionTest, one_that_the_program_does_not_have_is_an_error) {
  HttpClientOptions options;
  options.tls.system_authorities = false;
  options.codings = {"br"};
  const auto made = HttpClient::make(options);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().describe(),
            "HTTP client: codings: content coding 'br' is not one that this program has (gzip): "
            "link katana::brotli, and put coding::brotli() into the codecs");
}

}  // namespace
}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
