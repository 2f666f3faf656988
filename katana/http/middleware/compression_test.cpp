#include "katana/http/middleware/compression.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "katana/http/coding/brotli/brotli.hpp"
#include "katana/http/coding/zstd/zstd.hpp"
#include "katana/http/handlers/exchange_fixture_test.hpp"
#include "katana/http/handlers/preconditions.hpp"

namespace katana {
namespace {

using http::Coding;

coding::Codecs every_codec() { return {coding::gzip(), coding::brotli(), coding::zstd()}; }

std::string decoded(Coding coding, Bytes coded) {
  coding::DecoderLimits limits;
  limits.ratio_max = 1 << 20;
  const auto decoder = every_codec().make_decoder(coding, limits);
  Text out;
  EXPECT_EQ(decoder->decode(coded, SIZE_MAX, out), coding::Decoding::going);
  EXPECT_TRUE(decoder->is_whole());
  return std::string(out.bytes());
}
std::string encoded(Coding coding, Bytes text) {
  Text out;
  every_codec().make_encoder(coding, {})->encode(text, coding::Flush::finish, out);
  return std::string(out.bytes());
}

class CompressionTest : public ServiceTest {
 protected:
  template <class F>
  void serve(F handler, CompressionOptions options = {.codecs = every_codec()}) {
    add_routes(
        [&](Router& router) { router.use(compression(options)).any("/x", std::move(handler)); });
  }
  FakeExchange& get(std::string_view accept = "gzip", std::string_view method = "GET") {
    const std::string fields =
        accept.empty() ? std::string() : "Accept-Encoding: " + std::string(accept) + "\n";
    return send(method, "/x", fields);
  }
  bool says(std::string_view line) const {
    return ("\r\n" + exchange_->fields_sent).find("\r\n" + std::string(line) + "\r\n") !=
           std::string::npos;
  }

  const std::string text_ = [] {
    std::string text;
    while (text.size() < 5000) text += "line " + std::to_string(text.size()) + "\n";
    return text;
  }();
};

TEST_F(CompressionTest, a_reply_is_compressed_in_the_coding_that_the_peer_likes_best) {
  serve([this] { return Reply::text(Text(text_)); });
  for (const auto& [accept, coding] : {std::pair("gzip", Coding::gzip),
                                       {"br, gzip", Coding::brotli},
                                       {"zstd", Coding::zstd},
                                       {"br;q=0.1, zstd", Coding::zstd}}) {
    get(accept);
    EXPECT_EQ(exchange_->status, 200u);
    EXPECT_TRUE(says("Content-Encoding: " + std::string(coding_name(coding)))) << accept;
    EXPECT_TRUE(says("Vary: Accept-Encoding"));
    EXPECT_LT(exchange_->content_sent.size(), text_.size() / 2);
    EXPECT_EQ(decoded(coding, exchange_->content_sent), text_);
  }
}

TEST_F(CompressionTest,
       a_peer_that_cannot_decode_gets_it_as_it_is_and_is_told_that_others_may_not) {
  serve([this] { return Reply::text(Text(text_)); });
  for (const char* accept : {"", "identity", "deflate", "gzip;q=0", "identity;q=1, gzip;q=0.5"}) {
    EXPECT_EQ(get(accept).content_sent, text_) << accept;
    EXPECT_EQ(exchange_->fields_sent, "Vary: Accept-Encoding\r\n");
  }
}

TEST_F(CompressionTest, a_page_of_another_site_learns_no_length_of_what_cookies_give) {
  const auto is_coded = [this](const std::string& fields) {
    send("GET", "/x", "Accept-Encoding: gzip\n" + fields);
    EXPECT_TRUE(says("Vary: Accept-Encoding"));
    return says("Content-Encoding: gzip");
  };
  serve([this] { return Reply::text(Text(text_)); });
  EXPECT_FALSE(is_coded("Sec-Fetch-Site: cross-site\nCookie: a=b\n"));
  EXPECT_FALSE(is_coded("Sec-Fetch-Site: same-site\nAuthorization: Bearer a\n"));
  EXPECT_EQ(exchange_->content_sent, text_);
  EXPECT_TRUE(is_coded("Sec-Fetch-Site: cross-site\n"));
  EXPECT_TRUE(is_coded("Sec-Fetch-Site: same-origin\nCookie: a=b\n"));
  EXPECT_TRUE(is_coded("Sec-Fetch-Site: none\nCookie: a=b\n"));
  EXPECT_TRUE(is_coded("Cookie: a=b\n"));
}

TEST_F(CompressionTest, it_may_be_asked_to_compress_that_too) {
  serve([this] { return Reply::text(Text(text_)); },
        {.codecs = every_codec(), .cross_site_secrets = true});
  send("GET", "/x", "Accept-Encoding: gzip\nSec-Fetch-Site: cross-site\nCookie: a=b\n");
  EXPECT_TRUE(says("Content-Encoding: gzip"));
}

TEST_F(CompressionTest, a_peer_that_refuses_everything_is_told_so) {
  serve([this] { return Reply::text(Text(text_)); });
  EXPECT_EQ(get("identity;q=0, deflate").status, 406u);
  EXPECT_TRUE(says("Vary: Accept-Encoding"));
}

TEST_F(CompressionTest, what_is_short_or_of_another_type_or_compressed_already_is_left_alone) {
  serve([] { return Reply::text("short"); });
  EXPECT_EQ(get().content_sent, "short");
  EXPECT_EQ(exchange_->fields_sent, "");
  serve([this] { return Reply(200, "image/png", Text(text_)); });
  EXPECT_EQ(get().content_sent, text_);
  serve([this] { return Reply(200, "text/event-stream", Text(text_)); });
  EXPECT_EQ(get().content_sent, text_);
  serve([this] { return Reply::text(Text(text_)).with("Content-Encoding", "x"); });
  EXPECT_EQ(get().content_sent, text_);
  serve([this] { return Reply::text(Text(text_)).with("Cache-Control", "private, no-transform"); });
  EXPECT_EQ(get().content_sent, text_);
  serve([this] { return Reply(206, "text/plain", Text(text_)); });
  EXPECT_EQ(get().content_sent, text_);
  serve([this] { return Reply(200, "application/vnd.x+json; charset=utf-8", Text(text_)); });
  EXPECT_LT(get().content_sent.size(), text_.size());
}

TEST_F(CompressionTest, a_type_is_known_whatever_spaces_stand_before_its_parameters) {
  for (const char* const type : {"application/json; charset=utf-8",
                                 "application/json ; charset=utf-8", "application/json   ;q=1"}) {
    serve([this, type] {
      Reply reply = Reply::text(Text(text_));
      reply.set_content_type(type);
      return reply;
    });
    get();
    EXPECT_TRUE(says("Content-Encoding: gzip")) << type;
  }
}

TEST_F(CompressionTest, a_strong_tag_becomes_weak_and_ranges_are_not_offered) {
  serve([this] {
    return Reply::text(Text(text_))
        .with("ETag", "\"a\"")
        .with("Accept-Ranges", "bytes")
        .with("Vary", "Origin");
  });
  get();
  EXPECT_TRUE(says("ETag: W/\"a\""));
  EXPECT_FALSE(says("Accept-Ranges: bytes"));
  EXPECT_TRUE(says("Vary: Origin"));
  EXPECT_TRUE(says("Vary: Accept-Encoding"));
  get("identity");
  EXPECT_TRUE(says("ETag: \"a\""));
  EXPECT_TRUE(says("Accept-Ranges: bytes"));
}

TEST_F(CompressionTest, the_tag_of_a_version_stays_strong_and_changes_the_resource_again) {
  serve([this](Preconditions conditions) {
    if (auto refusal = conditions.refusal(7)) return *std::move(refusal);
    return Reply::text(Text(text_)).with_version(7);
  });
  get("gzip");
  EXPECT_TRUE(says("ETag: \"7+gzip\""));
  get("br");
  EXPECT_TRUE(says("ETag: \"7+br\""));
  get("identity");
  EXPECT_TRUE(says("ETag: \"7\""));
  EXPECT_EQ(send("PUT", "/x", "If-Match: \"7+gzip\"\n").status, 200u);
  EXPECT_EQ(send("PUT", "/x", "If-Match: \"6+gzip\"\n").status, 412u);
  send("GET", "/x", "Accept-Encoding: gzip\nIf-None-Match: \"7+gzip\"\n");
  EXPECT_EQ(exchange_->status, 304u);
  EXPECT_TRUE(says("ETag: \"7+gzip\""));
}

TEST_F(CompressionTest, a_long_reply_is_compressed_in_pieces_while_it_is_sent) {
  std::string text;
  while (text.size() < 300'000) text += text_;
  serve([&text] { return Reply::text(Text(text)); });
  get();
  EXPECT_EQ(exchange_->length_announced, http::unknown_length);
  EXPECT_TRUE(exchange_->completed);
  EXPECT_EQ(decoded(Coding::gzip, exchange_->content_sent), text);
}

TEST_F(CompressionTest, a_streamed_reply_is_compressed_as_the_peer_takes_it) {
  serve([this] {
    return Reply::stream("text/plain", static_cast<std::int64_t>(40 * text_.size()),
                         [this, left = 40](ContentSink& sink) mutable {
                           for (; left > 0; --left) {
                             if (!sink.write(text_)) return false;
                           }
                           return true;
                         });
  });
  exchange_ = std::make_unique<FakeExchange>("GET", "/x", "Accept-Encoding: br\n");
  exchange_->capacity = 0;
  exchange_->serve(*dispatcher_);
  EXPECT_TRUE(exchange_->begun);
  for (int round = 0; round < 1000 && !exchange_->completed; ++round)
    exchange_->make_writable(30'000);
  ASSERT_TRUE(exchange_->completed);
  std::string all;
  for (int count = 0; count < 40; ++count) all += text_;
  EXPECT_TRUE(decoded(Coding::brotli, exchange_->content_sent) == all);
}

TEST_F(CompressionTest, each_piece_that_a_handler_writes_can_be_read_at_once) {
  Gate gate;
  serve([&gate](ReplyWriter reply) -> Task<void> {
    reply.begin(200, "text/plain", 10);
    co_await reply.write("first ");
    co_await gate;
    co_await reply.write("last");
  });
  get();
  EXPECT_TRUE(says("Content-Encoding: gzip"));
  EXPECT_EQ(exchange_->length_announced, http::unknown_length);
  const auto decoder = every_codec().make_decoder(Coding::gzip, {});
  Text text;
  Bytes input(exchange_->content_sent);
  EXPECT_EQ(decoder->decode(input, SIZE_MAX, text), coding::Decoding::going);
  EXPECT_EQ(text.bytes(), "first ");
  EXPECT_FALSE(exchange_->completed);
  gate.open();
  EXPECT_TRUE(exchange_->completed);
  EXPECT_EQ(decoded(Coding::gzip, exchange_->content_sent), "first last");
}

TEST_F(CompressionTest, the_end_of_a_written_reply_waits_for_room) {
  serve([this](ReplyWriter reply) -> Task<void> {
    reply.begin(200, "text/plain");
    co_await reply.write(text_);
    co_await reply.write(text_);
  });
  exchange_ = std::make_unique<FakeExchange>("GET", "/x", "Accept-Encoding: gzip\n");
  exchange_->capacity = 0;
  exchange_->serve(*dispatcher_);
  EXPECT_EQ(exchange_->content_sent, "");
  int rounds = 0;
  while (!exchange_->completed && ++rounds < 10) exchange_->make_writable(4000);
  EXPECT_TRUE(exchange_->completed);
  EXPECT_EQ(decoded(Coding::gzip, exchange_->content_sent), text_ + text_);
}

TEST_F(CompressionTest, without_other_codecs_gzip_is_offered_alone) {
  serve([this] { return Reply::text(Text(text_)); }, {});
  EXPECT_TRUE(get("br, zstd, gzip;q=0.1").completed);
  EXPECT_TRUE(says("Content-Encoding: gzip"));
  EXPECT_TRUE(get("br, zstd").completed);
  EXPECT_FALSE(says("Content-Encoding: br"));
  EXPECT_EQ(exchange_->content_sent, text_);
}

TEST_F(CompressionTest, of_its_codecs_a_program_may_offer_some) {
  serve([this] { return Reply::text(Text(text_)); },
        {.codecs = every_codec(), .codings = {"zstd", "gzip"}});
  EXPECT_TRUE(get("br, zstd;q=0.5, gzip;q=0.1").completed);
  EXPECT_TRUE(says("Content-Encoding: zstd"));
}

TEST(CompressionOptionsTest, a_coding_that_the_program_does_not_have_is_an_error_of_the_router) {
  Router router;
  router.use(compression({.codings = {"gzip", "br"}})).get("/", [] { return Reply::text("x"); });
  const auto built = std::move(router).build();
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().describe(),
            "compression(): content coding 'br' is not one that this program has (gzip): link "
            "katana::brotli, and put coding::brotli() into the codecs");
}

// ---- requests ----

class DecompressionTest : public CompressionTest {
 protected:
  void serve_digest(DecompressionOptions options = {.codecs = every_codec()}) {
    service_.emplace(make_service([&](Router& router) {
      RouteOptions route;
      route.content_bytes_max = 100'000;
      route.streamed_bytes_max = 1'000'000;
      router.use(decompression(options))
          .post(
              "/whole",
              [](const RequestView& request) { return Reply::text(Text(request.content())); },
              route)
          .post(
              "/stream",
              [](ContentReader content, ReplyWriter reply) -> Task<void> {
                Text all;
                for (Text piece = co_await content.read(); !piece.empty();
                     piece = co_await content.read()) {
                  all.append(piece.bytes());
                }
                reply.begin(200, "text/plain", static_cast<std::int64_t>(all.size()));
                co_await reply.write(all.bytes());
              },
              route)
          .post(
              "/visit",
              [](ContentReader content, ReplyWriter reply) -> Task<void> {
                Text all;
                auto add = [&all](Bytes piece) { all.append(piece); };
                co_await content.for_each(add);
                reply.begin(200, "text/plain", static_cast<std::int64_t>(all.size()));
                co_await reply.write(all.bytes());
              },
              route);
    }));
    dispatcher_.emplace(*service_);
  }
  FakeExchange& post(std::string_view path, std::string_view coding, std::string content) {
    exchange_ = std::make_unique<FakeExchange>("POST", path,
                                               "Content-Encoding: " + std::string(coding) + "\n");
    exchange_->with_content(std::move(content));
    if (scarce_) {
      std::size_t charged = 0;
      exchange_->held.set(Holder::message, charged, exchange_->held.bytes_max() - 100'000);
    }
    exchange_->serve(*dispatcher_);
    return *exchange_;
  }
  bool scarce_ = false;  // 100,000 bytes of memory are left
  // Streams the content in pieces of `piece` bytes.
  FakeExchange& stream(std::string_view coding, Bytes content, std::size_t piece,
                       std::string_view path = "/stream") {
    exchange_ = std::make_unique<FakeExchange>("POST", path,
                                               "Content-Encoding: " + std::string(coding) + "\n");
    exchange_->awaiting_content();
    exchange_->serve(*dispatcher_);
    while (!content.empty() && exchange_->holds()) {
      const Bytes part = content.substr(0, piece);
      content.remove_prefix(part.size());
      exchange_->streamed(std::string(part), content.empty());
    }
    return *exchange_;
  }
};

TEST_F(DecompressionTest, a_handler_gets_the_content_that_was_meant) {
  serve_digest();
  for (const Coding coding : {Coding::gzip, Coding::brotli, Coding::zstd}) {
    EXPECT_EQ(post("/whole", coding_name(coding), encoded(coding, text_)).content_sent, text_);
    for (const std::size_t piece : {1u, 100u, 100'000u}) {
      const std::string coded = encoded(coding, text_);
      EXPECT_EQ(stream(coding_name(coding), coded, piece).content_sent, text_) << piece;
      EXPECT_EQ(stream(coding_name(coding), coded, piece, "/visit").content_sent, text_) << piece;
    }
  }
  EXPECT_EQ(post("/whole", "identity", text_).content_sent, text_);
  EXPECT_EQ(post("/whole", "", text_).content_sent, text_);
  EXPECT_EQ(stream("identity", text_, 100).content_sent, text_);
  EXPECT_EQ(stream("identity", text_, 100, "/visit").content_sent, text_);
}

TEST_F(DecompressionTest, what_is_decoded_counts_while_it_is_there_and_without_memory_is_503) {
  serve_digest();
  std::string numbers;
  for (int number = 0; numbers.size() < 90'000; ++number) numbers += std::to_string(number);
  EXPECT_TRUE(post("/whole", "gzip", encoded(Coding::gzip, numbers)).content_sent == numbers);
  EXPECT_EQ(exchange_->held.used(), 0u);
  scarce_ = true;
  EXPECT_EQ(post("/whole", "gzip", encoded(Coding::gzip, numbers)).status, 503u);
  EXPECT_EQ(exchange_->held.used(), exchange_->held.bytes_max() - 100'000);
  EXPECT_EQ(exchange_->held.refused(), 1u);
  EXPECT_EQ(post("/whole", "gzip", encoded(Coding::gzip, text_.substr(0, 1000))).status, 200u);
}

TEST_F(DecompressionTest, a_stream_holds_the_window_of_its_decoder) {
  serve_digest();
  const std::string coded = encoded(Coding::brotli, text_);
  exchange_ = std::make_unique<FakeExchange>("POST", "/stream", "Content-Encoding: br\n");
  exchange_->awaiting_content();
  exchange_->serve(*dispatcher_);
  const std::size_t before = exchange_->pending_bytes();
  exchange_->streamed(coded.substr(0, coded.size() - 1), false);
  EXPECT_GE(exchange_->pending_bytes(), before + 30'000);
}

TEST_F(DecompressionTest, a_content_that_comes_later_is_decoded_when_it_is_here) {
  serve_digest();
  exchange_ = std::make_unique<FakeExchange>("POST", "/whole", "Content-Encoding: gzip\n");
  exchange_->awaiting_content();
  exchange_->serve(*dispatcher_);
  EXPECT_EQ(exchange_->collect_max, 100'000u);
  exchange_->collected(encoded(Coding::gzip, text_));
  EXPECT_EQ(exchange_->content_sent, text_);
}

TEST_F(DecompressionTest, a_coding_that_is_not_known_is_refused_before_the_content_comes) {
  serve_digest();
  for (const char* coding : {"deflate", "gzip, gzip", "gzip, br", "compress"}) {
    exchange_ = std::make_unique<FakeExchange>("POST", "/whole",
                                               "Content-Encoding: " + std::string(coding) + "\n");
    exchange_->awaiting_content();
    exchange_->serve(*dispatcher_);
    EXPECT_EQ(exchange_->status, 415u) << coding;
    EXPECT_TRUE(says("Accept-Encoding: br, zstd, gzip"));
    EXPECT_FALSE(exchange_->collect_max);
  }
}

TEST_F(DecompressionTest, a_coding_without_its_codec_is_refused_and_the_others_are_named) {
  serve_digest({});
  EXPECT_EQ(post("/whole", "gzip", encoded(Coding::gzip, text_)).content_sent, text_);
  EXPECT_EQ(post("/whole", "br", encoded(Coding::brotli, text_)).status, 415u);
  EXPECT_TRUE(says("Accept-Encoding: gzip"));
}

TEST_F(DecompressionTest, what_is_not_in_its_coding_is_a_bad_request) {
  serve_digest();
  const std::string coded = encoded(Coding::gzip, text_);
  EXPECT_EQ(post("/whole", "gzip", "no gzip").status, 400u);
  EXPECT_EQ(post("/whole", "gzip", coded.substr(0, coded.size() - 5)).status, 400u);
  for (const char* const path : {"/stream", "/visit"}) {
    EXPECT_EQ(stream("gzip", "no gzip at all", 3, path).status, 400u);
    EXPECT_EQ(stream("gzip", Bytes(coded).substr(0, coded.size() - 5), 100, path).status, 400u);
  }
}

TEST_F(DecompressionTest, a_bomb_is_too_large_or_too_dense) {
  serve_digest();
  const std::string large = encoded(Coding::gzip, std::string(200'000, 'x') + text_);
  EXPECT_EQ(post("/whole", "gzip", large).status, 413u);
  for (const Coding coding : {Coding::gzip, Coding::brotli, Coding::zstd}) {
    const std::string bomb = encoded(coding, std::string(30'000'000, '\0'));
    EXPECT_EQ(post("/whole", coding_name(coding), bomb).status, 413u);
    EXPECT_EQ(stream(coding_name(coding), bomb, 1000).status, 413u);
    EXPECT_EQ(exchange_->failures, 0);
    EXPECT_EQ(stream(coding_name(coding), bomb, 1000, "/visit").status, 413u);
    EXPECT_EQ(exchange_->failures, 0);
  }
  serve_digest({.codecs = every_codec(), .ratio_max = 2});
  EXPECT_EQ(post("/whole", "gzip", encoded(Coding::gzip, std::string(90'000, 'x'))).status, 413u);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
