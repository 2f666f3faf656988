#include "katana/wire/http1/chunked.hpp"

#include <gtest/gtest.h>

#include <string>

#include "katana/wire/http1/chunked_reference_test.hpp"

namespace katana::http1 {
namespace {

// Takes all of `text` from the decoder, in pieces of at most `piece_bytes`.
Decoded decode(ChunkedDecoder& decoder, Bytes text, const Limits& limits,
               std::uint64_t content_left, std::size_t piece_bytes) {
  Decoded decoded;
  while (decoded.consumed < text.size() && !decoded.done && decoded.refusal == Refusal::none) {
    const Bytes piece = text.substr(decoded.consumed, piece_bytes);
    const ChunkedDecoder::Step step =
        decoder.next(piece, limits, content_left - decoded.content.size());
    decoded.content += step.content;
    decoded.consumed += step.consumed;
    decoded.done = step.done;
    decoded.refusal = step.refusal;
  }
  return decoded;
}

void expect_as_the_rfc(Bytes text, const Limits& limits, std::uint64_t content_left) {
  const Decoded expected = decode_by_the_rfc(text, limits, content_left);
  for (const std::size_t piece_bytes : {std::size_t{1}, std::size_t{3}, text.size()}) {
    ChunkedDecoder decoder;
    ASSERT_EQ(decode(decoder, text, limits, content_left, piece_bytes), expected)
        << text << " in pieces of " << piece_bytes;
  }
}

// Tries every text over an alphabet, but goes on from those only that are not refused.
void try_all(std::string& text, Bytes alphabet, std::size_t size_max, const Limits& limits) {
  ASSERT_NO_FATAL_FAILURE(expect_as_the_rfc(text, limits, 3));
  const Decoded decoded = decode_by_the_rfc(text, limits, 3);
  if (text.size() == size_max || decoded.done || decoded.refusal != Refusal::none) return;
  for (const char c : alphabet) {
    text.push_back(c);
    ASSERT_NO_FATAL_FAILURE(try_all(text, alphabet, size_max, limits));
    text.pop_back();
  }
}

TEST(Chunked, every_short_text_is_decoded_as_the_rfc_words_it) {
  Limits limits;
  limits.chunk_line_bytes_max = 6;
  limits.chunk_overhead_bytes_max = 4;
  limits.trailer_bytes_max = 9;
  limits.trailer_fields_max = 1;
  std::string text;
  try_all(text,
          Bytes("0\0"
                "2a;: \r\n",
                9),
          8, limits);
}

TEST(Chunked, every_octet_in_every_place_is_taken_or_refused_as_the_rfc_words_it) {
  const std::string sample =
      "a;b=\"c\\\"d\"\r\n0123456789\r\n1 ; e = f ;g\r\nx\r\n0\r\nA: b\r\nC:\r\n\r\n";
  for (std::size_t at = 0; at < sample.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string text = sample;
      text[at] = static_cast<char>(value);
      ASSERT_NO_FATAL_FAILURE(expect_as_the_rfc(text, Limits{}, 100));
    }
  }
}

TEST(Chunked, every_short_extension_is_taken_or_refused_as_its_grammar_says) {
  Limits limits;
  limits.chunk_line_bytes_max = 12;
  std::string text = "1;";
  try_all(text, "a;=\"\\ \r\n", 9, limits);
}

TEST(Chunked, an_extension_has_a_name_and_a_quoted_string_an_end) {
  const auto refusal_of = [](const std::string& line) {
    ChunkedDecoder decoder;
    return decode(decoder, line + "\r\na\r\n0\r\n\r\n", Limits{}, 10, SIZE_MAX).refusal;
  };
  for (const char* line : {"1;a", "1;a=b", "1 ; a = b ;c", "1;a=\"\"", "1;a=\";\\\"\" ;b"}) {
    EXPECT_EQ(refusal_of(line), Refusal::none) << line;
  }
  for (const char* line : {"1;", "1; ", "1;;", "1;a;", "1;a=", "1;=b", "1;a=b=c", "1;a b", "1;a ",
                           "1;a=\"", "1;a=\"b", "1;a=\"b\\", "1;a=\"b\\\"", "1;a=\"b\"c",
                           "1;a=\"b\" ", "1;a=b\"c\"", "1;\"a\"", "1;\xe4"}) {
    EXPECT_EQ(refusal_of(line), Refusal::bad_chunk_extension) << line;
  }
}

TEST(Chunked, what_follows_the_end_is_not_consumed) {
  ChunkedDecoder decoder;
  const Decoded decoded = decode(decoder, "0\r\n\r\nGET", Limits{}, 0, SIZE_MAX);
  EXPECT_TRUE(decoded.done);
  EXPECT_EQ(decoded.consumed, 5U);
  const ChunkedDecoder::Step again = decoder.next("GET", Limits{}, 0);
  EXPECT_TRUE(again.done);
  EXPECT_EQ(again.consumed, 0U);
}

TEST(Chunked, a_decoder_begins_anew_with_all_of_its_limits) {
  const Bytes text = "1;x\r\na\r\n0\r\nA:\r\n\r\n";
  Limits limits;
  limits.chunk_overhead_bytes_max = 2;
  limits.trailer_bytes_max = 6;
  limits.trailer_fields_max = 1;
  ChunkedDecoder decoder;
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(decode(decoder, text, limits, 1, SIZE_MAX).done) << round;
    decoder.begin();
  }
}

TEST(Chunked, content_is_borrowed_from_the_input_in_runs_as_long_as_it_has_them) {
  const std::string text = "ff\r\n" + std::string(255, 'x') + "\r\n";
  ChunkedDecoder decoder;
  const ChunkedDecoder::Step step = decoder.next(text, Limits{}, 255);
  EXPECT_EQ(step.content.data(), text.data() + 4);
  EXPECT_EQ(step.content.size(), 255U);
  EXPECT_EQ(step.consumed, 259U);
}

TEST(Chunked, the_largest_limits_are_reached_and_not_passed) {
  Limits limits;
  limits.chunk_line_bytes_max = limits.trailer_bytes_max = 65'534;
  limits.trailer_fields_max = 65'534;
  limits.chunk_overhead_bytes_max = 200'000;
  ASSERT_TRUE(are_valid(limits));
  const auto refusal_of = [&](const std::string& text) {
    ChunkedDecoder decoder;
    const Decoded decoded = decode(decoder, text, limits, 10, SIZE_MAX);
    EXPECT_EQ(decoded, decode_by_the_rfc(text, limits, 10));
    return decoded.refusal;
  };
  const auto line_of = [](std::size_t size) { return "1;" + std::string(size - 4, 'x') + "\r\n"; };
  EXPECT_EQ(refusal_of(line_of(65'534)), Refusal::none);
  EXPECT_EQ(refusal_of(line_of(65'535)), Refusal::chunk_line_too_long);
  EXPECT_EQ(refusal_of(line_of(200'000)), Refusal::chunk_line_too_long);
  const auto trailer_of = [](std::size_t size) {
    return "0\r\nA:" + std::string(size - 6, 'x') + "\r\n\r\n";
  };
  EXPECT_EQ(refusal_of(trailer_of(65'534)), Refusal::none);
  EXPECT_EQ(refusal_of(trailer_of(65'535)), Refusal::trailer_too_long);
  EXPECT_EQ(refusal_of(trailer_of(200'000)), Refusal::trailer_too_long);
}

}  // namespace
}  // namespace katana::http1

// SPDX-License-Identifier: Apache-2.0
