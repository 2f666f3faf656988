#include <gtest/gtest.h>
#include <malloc.h>

#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "katana/http/coding/brotli/brotli.hpp"
#include "katana/http/coding/codec.hpp"
#include "katana/http/coding/zstd/zstd.hpp"

namespace katana::coding {
namespace {

using http::Coding;

Codecs every_codec() { return {gzip(), brotli(), zstd()}; }

class CodingTest : public testing::TestWithParam<Coding> {
 protected:
  static std::string encode(Bytes input) {
    Text out;
    every_codec().make_encoder(GetParam(), {})->encode(input, Flush::finish, out);
    return std::string(out.bytes());
  }
  // Decodes in pieces of `piece` bytes, with room for `room` bytes at a time.
  static std::string decode(Bytes input, Decoding* result = nullptr,
                            DecoderLimits limits = generous, std::size_t piece = SIZE_MAX,
                            std::size_t capacity = SIZE_MAX) {
    const auto decoder = every_codec().make_decoder(GetParam(), limits);
    Text out;
    Decoding state = Decoding::going;
    while (!input.empty() && (state == Decoding::going || state == Decoding::full)) {
      Bytes part = input.substr(0, piece);
      input.remove_prefix(part.size());
      do {
        const std::size_t before = out.size();
        state = decoder->decode(part, capacity, out);
        EXPECT_LE(out.size() - before, capacity);
      } while (state == Decoding::full);
    }
    if (state == Decoding::going && !decoder->is_whole()) state = Decoding::malformed;
    if (result != nullptr) *result = state;
    EXPECT_EQ(decoder->decoded_bytes() >= out.size(), true);
    return std::string(out.bytes());
  }
  static Decoding outcome(Bytes input, DecoderLimits limits = generous) {
    Decoding result = Decoding::going;
    decode(input, &result, limits);
    return result;
  }

  static constexpr DecoderLimits generous{.bytes_max = 1 << 30, .ratio_max = 1 << 20};
};

std::string text_of(std::size_t bytes) {
  std::mt19937 random(7);
  std::string text;
  while (text.size() < bytes) text += "word" + std::to_string(random() % 1000) + " ";
  text.resize(bytes);
  return text;
}

TEST_P(CodingTest, what_a_decoder_takes_is_known_and_is_its_window_at_least) {
  const std::string coded = encode(text_of(3'000'000));
  const auto decoder = every_codec().make_decoder(GetParam(), generous);
  Text out;
  Bytes input(coded);
  EXPECT_EQ(decoder->decode(input, 2'000'000, out), Decoding::full);
  const std::size_t least = GetParam() == Coding::gzip ? 32 * 1024 : 256 * 1024;
  EXPECT_GE(decoder->memory_bytes(), least);
  EXPECT_LE(decoder->memory_bytes(), std::size_t{17} * 1024 * 1024);
}

TEST_P(CodingTest, what_is_encoded_is_decoded_to_what_it_was) {
  for (const std::size_t bytes : {0u, 1u, 1000u, 300'000u, 3'000'000u}) {
    const std::string text = text_of(bytes);
    Decoding result = Decoding::malformed;
    EXPECT_TRUE(decode(encode(text), &result) == text) << bytes;
    EXPECT_EQ(result, Decoding::going) << bytes;
  }
  EXPECT_LT(encode(text_of(300'000)).size(), 150'000u);
}

TEST_P(CodingTest, every_level_ends_what_it_is_given_and_flushes_all_of_it) {
  const std::string text = text_of(700'000);
  for (int level = 0; level <= 9; ++level) {
    const EncoderOptions options{
        .gzip_level = level, .brotli_quality = level, .zstd_level = level, .window_bits = 16};
    const auto encoder = every_codec().make_encoder(GetParam(), options);
    const auto decoder = every_codec().make_decoder(GetParam(), generous);
    Text coded, read;
    for (const Flush flush : {Flush::flush, Flush::none, Flush::flush, Flush::finish}) {
      const std::size_t before = read.size();
      encoder->encode(text, flush, coded);
      Bytes input = coded.bytes();
      ASSERT_EQ(decoder->decode(input, SIZE_MAX, read), Decoding::going) << level;
      coded.clear();
      if (flush != Flush::none) {
        EXPECT_TRUE(read.bytes().substr(before).ends_with(text)) << level;
      }
    }
    EXPECT_EQ(read.size(), 4 * text.size()) << level;
    EXPECT_TRUE(decoder->is_whole()) << level;
  }
}

TEST_P(CodingTest, pieces_of_any_size_give_the_same) {
  const std::string text = text_of(20'000);
  const std::string coded = encode(text);
  for (const std::size_t piece : {1u, 7u, 4096u}) {
    Decoding result = Decoding::malformed;
    EXPECT_TRUE(decode(coded, &result, generous, piece, 100) == text) << piece;
    EXPECT_EQ(result, Decoding::going) << piece;
  }
}

TEST_P(CodingTest, what_is_flushed_can_be_read_before_the_end) {
  const auto encoder = every_codec().make_encoder(GetParam(), {});
  const auto decoder = every_codec().make_decoder(GetParam(), generous);
  Text coded, text;
  for (const Bytes piece : {"first ", "second ", "third"}) {
    encoder->encode(piece, Flush::flush, coded);
    Bytes input = coded.bytes();
    EXPECT_EQ(decoder->decode(input, SIZE_MAX, text), Decoding::going);
    coded.clear();
    EXPECT_TRUE(text.bytes().ends_with(piece)) << text.bytes();
    EXPECT_FALSE(decoder->is_whole());
  }
  encoder->encode({}, Flush::finish, coded);
  Bytes input = coded.bytes();
  EXPECT_EQ(decoder->decode(input, SIZE_MAX, text), Decoding::going);
  EXPECT_TRUE(decoder->is_whole());
  EXPECT_EQ(text.bytes(), "first second third");
}

TEST_P(CodingTest, a_content_that_ends_too_soon_or_has_something_behind_it_is_malformed) {
  const std::string coded = encode(text_of(5000));
  for (const std::size_t size : {coded.size() - 1, coded.size() / 2, std::size_t{3}}) {
    EXPECT_EQ(outcome(Bytes(coded).substr(0, size)), Decoding::malformed) << size;
  }
  EXPECT_EQ(outcome(coded + "garbage"), Decoding::malformed);
  EXPECT_EQ(outcome("this is no coded content at all"), Decoding::malformed);
  EXPECT_EQ(outcome(""), Decoding::malformed);
}

TEST_P(CodingTest, a_bomb_is_noticed_before_it_has_grown) {
  const std::string bomb = encode(std::string(20'000'000, '\0'));
  EXPECT_LT(bomb.size(), 40'000u);
  const DecoderLimits small{.bytes_max = 1'000'000, .ratio_max = 1 << 20};
  Decoding result = Decoding::going;
  EXPECT_LE(decode(bomb, &result, small).size(), 1'000'000u);
  EXPECT_EQ(result, Decoding::too_large);
  const DecoderLimits dense{.bytes_max = 1 << 30, .ratio_max = 100};
  EXPECT_LE(decode(bomb, &result, dense).size(), 8'000'000u);
  EXPECT_EQ(result, Decoding::too_dense);
  // A short body may have any density.
  EXPECT_EQ(outcome(encode(std::string(60'000, '\0')), dense), Decoding::going);
}

TEST_P(CodingTest, what_has_failed_stays_so) {
  const auto decoder = every_codec().make_decoder(GetParam(), generous);
  Text out;
  Bytes garbage("this is no coded content at all");
  while (!garbage.empty()) {
    if (decoder->decode(garbage, SIZE_MAX, out) == Decoding::malformed) break;
  }
  const std::string coded = encode("text");
  Bytes input(coded);
  EXPECT_EQ(decoder->decode(input, SIZE_MAX, out), Decoding::malformed);
  EXPECT_FALSE(decoder->is_whole());
}

INSTANTIATE_TEST_SUITE_P(Every, CodingTest,
                         testing::Values(Coding::gzip, Coding::brotli, Coding::zstd),
                         [](const auto& given) { return std::string(coding_name(given.param)); });

TEST(GzipTest, members_behind_one_another_are_one_content) {
  Text one, two;
  every_codec().make_encoder(Coding::gzip, {})->encode("one ", Flush::finish, one);
  every_codec().make_encoder(Coding::gzip, {})->encode("two", Flush::finish, two);
  const auto decoder = every_codec().make_decoder(Coding::gzip, {});
  Text out;
  std::string both = std::string(one.bytes()) + std::string(two.bytes());
  Bytes input(both);
  EXPECT_EQ(decoder->decode(input, SIZE_MAX, out), Decoding::going);
  EXPECT_TRUE(decoder->is_whole());
  EXPECT_EQ(out.bytes(), "one two");
}

Decoding decode_gzip(Bytes coded, std::size_t room = SIZE_MAX) {
  Text out;
  return every_codec().make_decoder(Coding::gzip, {})->decode(coded, room, out);
}

TEST(GzipTest, a_checksum_that_is_wrong_is_malformed_at_once) {
  Text coded;
  every_codec().make_encoder(Coding::gzip, {})->encode("some text", Flush::finish, coded);
  std::string wrong(coded.bytes());
  EXPECT_EQ(decode_gzip(wrong), Decoding::going);
  wrong[wrong.size() - 8] ^= 1;  // CRC32, then the length
  EXPECT_EQ(decode_gzip(wrong), Decoding::malformed);
}

TEST(GzipTest, a_member_that_is_cut_after_a_whole_one_leaves_the_content_unfinished) {
  Text coded;
  every_codec().make_encoder(Coding::gzip, {})->encode("some text", Flush::finish, coded);
  const auto decoder = every_codec().make_decoder(Coding::gzip, {});
  Text out;
  Bytes whole = coded.bytes(), cut = coded.bytes().substr(0, coded.size() - 1);
  EXPECT_EQ(decoder->decode(whole, SIZE_MAX, out), Decoding::going);
  EXPECT_TRUE(decoder->is_whole());
  EXPECT_EQ(decoder->decode(cut, SIZE_MAX, out), Decoding::going);
  EXPECT_FALSE(decoder->is_whole());
  Bytes rest = coded.bytes().substr(coded.size() - 1);
  EXPECT_EQ(decoder->decode(rest, SIZE_MAX, out), Decoding::going);
  EXPECT_TRUE(decoder->is_whole());
  EXPECT_EQ(out.bytes(), "some textsome text");
}

TEST(GzipTest, a_level_beyond_1_to_9_is_the_nearest_of_them) {
  const std::string text = text_of(50'000);
  const auto coded = [&](int level) {
    Text out;
    every_codec()
        .make_encoder(Coding::gzip, {.gzip_level = level})
        ->encode(text, Flush::finish, out);
    return std::string(out.bytes());
  };
  EXPECT_NE(coded(1), coded(2));
  EXPECT_NE(coded(8), coded(9));
  EXPECT_TRUE(coded(-3) == coded(1));
  EXPECT_TRUE(coded(0) == coded(1)) << "stored without compression otherwise";
  EXPECT_TRUE(coded(10) == coded(9));
}

// Bytes that the heap has given out; 0 where an allocator of a sanitizer has replaced it.
std::size_t heap_bytes() {
  const auto heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

TEST_P(CodingTest, an_encoder_and_a_decoder_give_their_memory_back) {
  const std::string coded = encode(text_of(100'000));
  const auto use = [&] {
    Text out;
    every_codec().make_encoder(GetParam(), {})->encode(coded, Flush::finish, out);
    Bytes input(coded);
    (void)every_codec().make_decoder(GetParam(), generous)->decode(input, SIZE_MAX, out);
  };
  use();
  const std::size_t before = heap_bytes();
  for (int round = 0; round < 20; ++round) use();
  EXPECT_LT(heap_bytes(), before + 64 * 1024);
}

TEST_P(CodingTest, no_input_changes_nothing) {
  const std::string coded = encode(text_of(5000));
  const auto decoder = every_codec().make_decoder(GetParam(), generous);
  Text out;
  Bytes nothing, front = Bytes(coded).substr(0, coded.size() / 2);
  EXPECT_EQ(decoder->decode(nothing, SIZE_MAX, out), Decoding::going);
  EXPECT_FALSE(decoder->is_whole());
  EXPECT_EQ(decoder->decode(front, SIZE_MAX, out), Decoding::going);
  EXPECT_EQ(decoder->decode(nothing, SIZE_MAX, out), Decoding::going);
  EXPECT_FALSE(decoder->is_whole());
  Bytes back = Bytes(coded).substr(coded.size() / 2);
  EXPECT_EQ(decoder->decode(back, SIZE_MAX, out), Decoding::going);
  EXPECT_EQ(decoder->decode(nothing, SIZE_MAX, out), Decoding::going);
  EXPECT_TRUE(decoder->is_whole()) << "and what is whole stays so";
  EXPECT_EQ(out.size(), 5000u);
}

// Makes and takes what a test tells it to, so that each limit is met to the byte.
class Scripted final : public Decoder {
 public:
  struct Turn {
    std::size_t taken = 0, made = 0;
    bool ended = false;
  };
  Scripted(const DecoderLimits& limits, std::vector<Turn> turns)
      : Decoder(limits), turns_(std::move(turns)) {}
  std::size_t memory_bytes() const noexcept override { return 0; }
  Decoding decode(Bytes input, std::size_t room = SIZE_MAX) {
    Text out;
    return Decoder::decode(input, room, out);
  }
  std::size_t calls = 0;

 private:
  Step step(Bytes& input, char*, std::size_t capacity) override {
    const Turn turn = calls < turns_.size() ? turns_[calls] : Turn();
    ++calls;
    EXPECT_LE(turn.made, capacity);
    input.remove_prefix(turn.taken);
    return {.ended = turn.ended, .made = turn.made};
  }
  const std::vector<Turn> turns_;
};

TEST(DecoderTest, as_many_bytes_as_the_limit_are_well_and_one_more_is_too_large) {
  const DecoderLimits limits{.bytes_max = 100, .ratio_max = 1000};
  EXPECT_EQ(Scripted(limits, {{1, 100}}).decode("x"), Decoding::going);
  EXPECT_EQ(Scripted(limits, {{1, 101}}).decode("x"), Decoding::too_large);
}

TEST(DecoderTest, density_counts_beyond_the_free_bytes_and_beyond_the_ratio) {
  const DecoderLimits limits{.ratio_max = 10, .ratio_free_bytes = 100};
  EXPECT_EQ(Scripted(limits, {{1, 100}}).decode("x"), Decoding::going) << "free";
  EXPECT_EQ(Scripted(limits, {{1, 101}}).decode("x"), Decoding::too_dense);
  EXPECT_EQ(Scripted(limits, {{20, 200}}).decode(std::string(20, 'x')), Decoding::going);
  EXPECT_EQ(Scripted(limits, {{20, 209}}).decode(std::string(20, 'x')), Decoding::going);
  EXPECT_EQ(Scripted(limits, {{20, 210}}).decode(std::string(20, 'x')), Decoding::too_dense);
}

TEST(DecoderTest, the_library_is_not_called_again_after_a_failure) {
  Scripted decoder({.bytes_max = 10}, {{1, 11}});
  EXPECT_EQ(decoder.decode("x"), Decoding::too_large);
  EXPECT_EQ(decoder.decode("y"), Decoding::too_large);
  EXPECT_EQ(decoder.calls, 1u);
}

TEST(DecoderTest, the_library_is_called_until_it_has_taken_the_input_and_given_its_output) {
  Scripted in_pieces({}, {{1, 0}, {1, 1}, {0, 1}, {1, 0}});
  EXPECT_EQ(in_pieces.decode("abc"), Decoding::going);
  EXPECT_EQ(in_pieces.calls, 4u);
  Scripted with_more({}, {{1, 16 * 1024}, {0, 5}});
  EXPECT_EQ(with_more.decode("a"), Decoding::going) << "it had no room for all of its output";
  EXPECT_EQ(with_more.calls, 2u);
  Scripted short_of_room({}, {{1, 5}, {0, 5}});
  EXPECT_EQ(short_of_room.decode("a", 5), Decoding::full);
  EXPECT_EQ(short_of_room.calls, 1u);
}

TEST(DecoderTest, a_library_that_neither_takes_nor_gives_is_at_its_end) {
  EXPECT_EQ(Scripted({}, {}).decode("x"), Decoding::malformed) << "bytes are left";
  EXPECT_EQ(Scripted({}, {}).decode(""), Decoding::going);
  EXPECT_EQ(Scripted({}, {}).decode("", 0), Decoding::going) << "nothing was kept back";
  EXPECT_EQ(Scripted({}, {}).decode("x", 0), Decoding::full);
}

TEST(DecoderTest, input_behind_an_end_opens_the_content_again) {
  Scripted decoder({}, {{1, 1, true}, {}, {1, 0}});
  EXPECT_EQ(decoder.decode("a"), Decoding::going);
  EXPECT_TRUE(decoder.is_whole());
  EXPECT_EQ(decoder.decode(""), Decoding::going);
  EXPECT_TRUE(decoder.is_whole());
  EXPECT_EQ(decoder.decode("b"), Decoding::going);
  EXPECT_FALSE(decoder.is_whole());
}

TEST(CodecsTest, each_coding_of_a_set_has_its_own_codec) {
  const auto front = [](Coding coding) {
    Text out;
    every_codec().make_encoder(coding, {})->encode("text", Flush::finish, out);
    return std::string(out.bytes().substr(0, 4));
  };
  EXPECT_EQ(front(Coding::gzip).substr(0, 2), "\x1f\x8b");
  EXPECT_EQ(front(Coding::zstd), "\x28\xb5\x2f\xfd");
  EXPECT_NE(front(Coding::brotli), front(Coding::zstd));
}

TEST(CodecsTest, a_set_has_gzip_unless_it_is_given_others) {
  EXPECT_EQ(Codecs().names(), "gzip");
  EXPECT_EQ(Codecs(zstd()).names(), "zstd");
  EXPECT_EQ((Codecs{zstd(), gzip(), brotli(), gzip()}).names(), "br, zstd, gzip");
  EXPECT_FALSE(Codecs().contains(Coding::brotli));
  EXPECT_FALSE(Codecs().contains(Coding::identity));
}

TEST(CodecsTest, names_pick_some_of_a_set_and_no_names_pick_all) {
  const auto picked = every_codec().pick(std::vector<std::string>{"X-GZIP", "br"});
  ASSERT_TRUE(picked);
  EXPECT_EQ(names_of(*picked), "br, gzip");
  EXPECT_EQ(names_of(*every_codec().pick({})), "br, zstd, gzip");
}

TEST(CodecsTest, what_the_program_does_not_have_is_an_error_that_says_how_to_get_it) {
  const auto error_of = [](const Codecs& codecs, std::string name) {
    const auto picked = codecs.pick(std::vector{std::move(name)});
    return picked ? std::string() : picked.error().describe();
  };
  EXPECT_EQ(error_of({}, "zstd"),
            "content coding 'zstd' is not one that this program has (gzip): link katana::zstd, and "
            "put coding::zstd() into the codecs");
  EXPECT_EQ(error_of(brotli(), "gzip"),
            "content coding 'gzip' is not one that this program has (br): link katana::coding, and "
            "put coding::gzip() into the codecs");
  EXPECT_EQ(error_of({}, "br"),
            "content coding 'br' is not one that this program has (gzip): link katana::brotli, and "
            "put coding::brotli() into the codecs");
  EXPECT_EQ(error_of({}, "compress"), "unknown content coding 'compress'; this program has: gzip");
  EXPECT_EQ(error_of({}, "identity"), "unknown content coding 'identity'; this program has: gzip");
}

}  // namespace
}  // namespace katana::coding

// SPDX-License-Identifier: Apache-2.0
