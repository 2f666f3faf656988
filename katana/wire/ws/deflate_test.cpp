// Compressed messages: round trips, hostile ones, and their memory.
#include "katana/wire/ws/deflate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "katana/base/memory/block_pool.hpp"
#include "katana/wire/ws/machine.hpp"

namespace katana::ws {
namespace {

class DeflateTest : public testing::Test {
 protected:
  explicit DeflateTest(const Limits& limits = {})
      : memory_(DeflatePool::bytes_needed(options())),
        pool_(options(), memory_),
        context_(std::make_unique<Context>(limits, Role::server, &pool_)),
        client_context_(std::make_unique<Context>(limits, Role::client, &pool_, 1)) {}

  static DeflateOptions options() {
    return {.enabled = true, .window_bits = 12, .level = 6, .threshold_bytes = 0};
  }

  struct Read {
    std::string packed;  // of the message that came last
    std::string message;
    Event last = Event::need_bytes;
    std::size_t pieces = 0;
  };
  static Read read(Machine& machine, Bytes bytes, std::size_t cut) {
    Read read;
    std::string pending;
    while (!bytes.empty()) {
      pending += bytes.substr(0, cut);
      bytes.remove_prefix(std::min(cut, bytes.size()));
      for (;;) {
        const std::vector<char> input(pending.begin(), pending.end());
        const Step step = machine.next({input.data(), input.size()}, Instant{});
        pending.erase(0, step.consumed);
        if (step.event == Event::need_bytes || step.event == Event::closed) break;
        if (step.event == Event::packed) {
          if (step.first) read.packed.clear();
          read.packed += machine.payload();
          if (step.last) unpack(machine, read);
          continue;
        }
        note(machine, step, read);
      }
    }
    return read;
  }
  static void unpack(Machine& machine, Read& read) {
    Bytes packed = read.packed;
    Step step;
    do {
      step = machine.unpack(packed);
      note(machine, step, read);
    } while (step.event == Event::data && !step.last);
  }
  static void note(const Machine& machine, const Step& step, Read& read) {
    read.last = step.event;
    read.pieces += step.event == Event::data ? 1 : 0;
    if (step.event == Event::data) read.message += machine.payload();
    if (step.event == Event::data && step.last) read.message += '|';
  }

  std::string take() {
    std::string bytes;
    outbox_.for_each_pending([&](Bytes each, const Retained*) { bytes += each; });
    outbox_.clear();
    return bytes;
  }

  // A frame of a client whose mask is zero.
  static std::string frame(std::uint8_t first, Bytes payload) {
    std::string out(header_bytes_max, '\0');
    const char* const end =
        write_header(out.data(), Opcode::text, true, false, payload.size(), true, 0);
    out.resize(static_cast<std::size_t>(end - out.data()));
    out[0] = static_cast<char>(first);
    return out + std::string(payload);
  }

  std::vector<char> memory_;
  DeflatePool pool_;
  std::unique_ptr<Context> context_;
  std::unique_ptr<Context> client_context_;
  BlockPool blocks_{4096, 512};
  Outbox outbox_{blocks_};
};

// "Hello", compressed (RFC 7692 §7.2.3.1).
constexpr Bytes hello{"\xf2\x48\xcd\xc9\xc9\x07\x00", 7};

std::string varied(std::size_t size, unsigned variety) {
  std::string text;
  std::uint32_t random = 1;
  while (text.size() < size) {
    random = random * 1664525 + 1013904223;
    text += static_cast<char>('a' + (random >> 24) % variety);
  }
  return text;
}

TEST_F(DeflateTest, the_examples_of_rfc_7692_are_read) {
  Machine machine(*context_, Instant{}, 12);
  // §7.2.3.1, in one frame and in two; a block that is not compressed (§7.2.3.3); one whose stream
  // ends (§7.2.3.4); two blocks (§7.2.3.5).
  EXPECT_EQ(read(machine, frame(0xc1, hello), 100).message, "Hello|");
  const std::string two = frame(0x41, hello.substr(0, 3)) + frame(0x80, hello.substr(3));
  EXPECT_EQ(read(machine, two, 1).message, "Hello|");
  const Bytes stored{"\x00\x05\x00\xfa\xff\x48\x65\x6c\x6c\x6f\x00", 11};
  EXPECT_EQ(read(machine, frame(0xc1, stored), 100).message, "Hello|");
  const Bytes final{"\xf3\x48\xcd\xc9\xc9\x07\x00\x00", 8};
  EXPECT_EQ(read(machine, frame(0xc1, final), 100).message, "Hello|");
  const Bytes blocks{"\xf2\x48\x05\x00\x00\x00\xff\xff\xca\xc9\xc9\x07\x00", 13};
  EXPECT_EQ(read(machine, frame(0xc1, blocks), 2).message, "Hello|");
  EXPECT_EQ(read(machine, frame(0xc1, Bytes("\0", 1)), 2).message, "|");
}

TEST_F(DeflateTest, a_short_message_is_one_piece) {
  Machine machine(*context_, Instant{}, 12);
  const Read one = read(machine, frame(0xc1, Bytes("\xf2\x48\xcd\xc9\xc9\x07\x00", 7)), 100);
  EXPECT_EQ(one.pieces, 1u);
}

TEST_F(DeflateTest, messages_of_every_kind_come_back_as_they_were) {
  for (const int bits : {9, 12}) {
    Machine server(*context_, Instant{}, bits);
    Machine client(*client_context_, Instant{}, bits);
    for (const std::size_t size : {0u, 1u, 300u, 4093u, 20'000u, 150'000u}) {
      for (const unsigned variety : {1u, 3u, 26u}) {
        const std::string text = varied(size, variety);
        for (const std::size_t cut : {7u, 5000u}) {
          ASSERT_TRUE(server.send(Opcode::text, text, outbox_));
          const std::string packed = take();
          EXPECT_LT(packed.size(), size / 4 * 3 + 1000);
          ASSERT_EQ(read(client, packed, cut).message, text + "|") << size << ", " << variety;
        }
        ASSERT_TRUE(client.send(Opcode::text, text, outbox_));
        ASSERT_EQ(read(server, take(), 1000).message, text + "|") << size << ", " << variety;
      }
    }
  }
}

TEST_F(DeflateTest, what_cannot_be_compressed_grows_by_little) {
  Machine server(*context_, Instant{}, 12);
  Machine client(*client_context_, Instant{}, 12);
  std::string noise;
  std::uint32_t random = 1;
  while (noise.size() < 100'000) {
    random = random * 1664525 + 1013904223;
    noise += static_cast<char>(random >> 24);
  }
  ASSERT_TRUE(server.send(Opcode::binary, noise, outbox_));
  const std::string packed = take();
  EXPECT_LE(packed.size(), Deflater::bound(noise.size()) + 26 * header_bytes_max);
  EXPECT_EQ(read(client, packed, 3000).message, noise + "|");
}

TEST_F(DeflateTest, rubbish_is_refused_and_the_next_message_is_read) {
  for (int round = 0; round < 3; ++round) {
    Machine machine(*context_, Instant{}, 12);
    EXPECT_EQ(read(machine, frame(0xc1, "\xff\xff\xff\xff"), 100).last, Event::refused);
    EXPECT_EQ(machine.refusal(), Refusal::bad_compression);
    Machine next(*context_, Instant{}, 12);
    EXPECT_EQ(read(next, frame(0xc1, hello), 100).message, "Hello|");
  }
}

TEST_F(DeflateTest, blocks_that_cost_more_than_they_bring_are_limited) {
  // A block with tables for one code, the end of the block: 90 bits.
  std::string bits;
  const auto put = [&bits](unsigned value, int count) {
    for (int index = 0; index < count; ++index) bits += (value >> index & 1) != 0 ? '1' : '0';
  };
  const auto put_block = [&put] {
    put(0b100, 3);
    put(0, 5);
    put(0, 5);
    put(14, 4);
    // Lengths of the codes of lengths: 1 for 18 (zeros, many) and 1, by the order of RFC 1951.
    for (int index = 0; index < 18; ++index) put(index == 2 || index == 17 ? 1 : 0, 3);
    put(1, 1);
    put(138 - 11, 7);
    put(1, 1);
    put(118 - 11, 7);
    put(0, 3);  // length 1 for the end of the block and for a distance; the end of the block
  };
  for (int index = 0; index < 8; ++index) put_block();
  std::string octets(bits.size() / 8, '\0');
  for (std::size_t at = 0; at < bits.size(); ++at) {
    if (bits[at] == '1') octets[at / 8] = static_cast<char>(octets[at / 8] | 1 << at % 8);
  }
  std::string packed;
  for (std::uint64_t count = 0; count < blocks_free; count += 8) packed += octets;
  Machine fine(*context_, Instant{}, 12);
  EXPECT_EQ(read(fine, frame(0xc2, packed.substr(octets.size())), 60'000).message, "|");
  Machine machine(*context_, Instant{}, 12);
  EXPECT_EQ(read(machine, frame(0xc2, packed + octets), 60'000).last, Event::refused);
  EXPECT_EQ(machine.refusal(), Refusal::too_many_blocks);
}

// RFC 7692 §7.2.3.4: a sender may end its stream within a message; each stream has a block.
TEST_F(DeflateTest, streams_that_end_within_a_message_count_as_blocks) {
  std::string packed;
  for (std::uint64_t count = 0; count <= blocks_free; ++count) packed += std::string("\x03\0", 2);
  Machine machine(*context_, Instant{}, 12);
  EXPECT_EQ(read(machine, frame(0xc2, packed), 60'000).last, Event::refused);
  EXPECT_EQ(machine.refusal(), Refusal::too_many_blocks);
}

TEST_F(DeflateTest, output_of_earlier_pieces_allows_no_more_blocks_than_it_pays_for) {
  std::string text(100'000, 'x');
  std::string packed(1000, '\0');
  z_stream stream{};
  ASSERT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, -12, 1, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  ASSERT_EQ(deflate(&stream, Z_SYNC_FLUSH), Z_OK);
  packed.resize(packed.size() - stream.avail_out);
  deflateEnd(&stream);
  const auto with_empty_blocks = [&](std::uint64_t count) {
    std::string more = packed;
    while (count-- > 0) more += std::string("\0\0\0\xff\xff", 5);
    Machine machine(*context_, Instant{}, 12);
    return read(machine, frame(0xc2, more), 60'000).last;
  };
  const std::uint64_t paid_for = blocks_free + text.size() / bytes_per_block_min;
  EXPECT_EQ(with_empty_blocks(paid_for - 100), Event::data);
  EXPECT_EQ(with_empty_blocks(paid_for + 100), Event::refused);
}

// RFC 7692 §7.2.2: the message ends with the four bytes that its sender has taken off.
TEST_F(DeflateTest, the_end_that_was_taken_off_is_read_for_each_message) {
  const std::string stored(
      "\0\x06\0\xf9\xff"
      "ab",
      7);  // a block of six bytes; two are sent
  Machine machine(*context_, Instant{}, 12);
  for (int message = 0; message < 3; ++message) {
    EXPECT_EQ(read(machine, frame(0xc2, stored), 60'000).message,
              std::string("ab\0\0\xff\xff|", 7));
  }
}

TEST_F(DeflateTest, a_writer_that_flushes_after_every_line_is_no_bomb) {
  std::string text, packed;
  z_stream stream{};
  ASSERT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, -12, 1, Z_DEFAULT_STRATEGY), Z_OK);
  for (int line = 0; line < 5'000; ++line) {
    std::string each = varied(150 + line % 7, 26);
    std::array<char, 1024> out;
    stream.next_in = reinterpret_cast<Bytef*>(each.data());
    stream.avail_in = static_cast<uInt>(each.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = out.size();
    ASSERT_EQ(deflate(&stream, Z_SYNC_FLUSH), Z_OK);
    packed.append(out.data(), out.size() - stream.avail_out);
    text += each;
  }
  deflateEnd(&stream);
  packed.resize(packed.size() - 4);
  Machine machine(*context_, Instant{}, 12);
  EXPECT_EQ(read(machine, frame(0xc1, packed), 60'000).message, text + "|");
}

TEST_F(DeflateTest, text_is_checked_as_it_comes_out) {
  Machine server(*context_, Instant{}, 12);
  Machine client(*client_context_, Instant{}, 12);
  ASSERT_TRUE(client.send(Opcode::text, "fine \xc3\x28 not", outbox_));
  EXPECT_EQ(read(server, take(), 3).last, Event::refused);
  EXPECT_EQ(server.refusal(), Refusal::not_utf8);
}

TEST_F(DeflateTest, of_two_faults_the_first_is_told_however_the_message_is_cut) {
  // A stored block with text that is no UTF-8, and rubbish behind it.
  const std::string bytes = frame(0xc1, Bytes("\x00\x03\x00\xfc\xffx\xff!\xff\xff\xff", 11));
  for (const std::size_t cut : {1u, 3u, 100u}) {
    Machine machine(*context_, Instant{}, 12);
    EXPECT_EQ(read(machine, bytes, cut).last, Event::refused);
    EXPECT_EQ(machine.refusal(), Refusal::not_utf8) << cut;
  }
}

TEST_F(DeflateTest, the_bit_on_a_control_frame_or_a_continuation_is_refused) {
  for (const std::string& bytes : {frame(0xc9, "x"), frame(0x01, "x") + frame(0xc0, "y")}) {
    Machine machine(*context_, Instant{}, 12);
    EXPECT_EQ(read(machine, bytes, 100).last, Event::refused);
    EXPECT_EQ(machine.refusal(), Refusal::reserved_bits);
  }
}

TEST_F(DeflateTest, unfinished_messages_of_any_number_keep_no_other_waiting) {
  std::vector<std::unique_ptr<Machine>> unfinished;
  for (int index = 0; index < 1000; ++index) {
    unfinished.push_back(std::make_unique<Machine>(*context_, Instant{}, 12));
    EXPECT_EQ(read(*unfinished.back(), frame(0x41, hello.substr(0, 3)), 100).pieces, 0u);
    Machine other(*context_, Instant{}, 12);
    EXPECT_EQ(read(other, frame(0xc1, hello), 100).message, "Hello|");
  }
  for (const auto& machine : unfinished) {
    const Read end = read(*machine, frame(0x80, hello.substr(3)), 100);
    EXPECT_EQ(end.packed, hello.substr(3)) << "the rest of what its caller keeps";
  }
}

class SmallMessages : public DeflateTest {
 protected:
  SmallMessages() : DeflateTest(Limits{.message_bytes_max = 100'000}) {}
};

TEST_F(SmallMessages, a_bomb_is_refused_before_it_is_large) {
  Machine server(*context_, Instant{}, 12);
  Machine client(*client_context_, Instant{}, 12);
  ASSERT_TRUE(client.send(Opcode::binary, std::string(1'200'000, '\0'), outbox_));
  const std::string bomb = take();
  EXPECT_LT(bomb.size(), 10'000u);
  const Read result = read(server, bomb, 100'000);
  EXPECT_EQ(result.last, Event::refused);
  EXPECT_EQ(server.refusal(), Refusal::message_too_big);
  EXPECT_LE(result.message.size(), 100'000u);
}

TEST_F(SmallMessages, what_has_to_be_kept_is_limited_though_nothing_comes_out) {
  // Empty stored blocks, for ever.
  std::string blocks;
  while (blocks.size() < 60'000) blocks += Bytes("\x00\x00\x00\xff\xff", 5);
  Machine server(*context_, Instant{}, 12);
  EXPECT_NE(read(server, frame(0x41, blocks), 10'000).last, Event::refused);
  EXPECT_EQ(read(server, frame(0x00, blocks), 10'000).last, Event::refused);
  EXPECT_EQ(server.refusal(), Refusal::message_too_big);
}

TEST_F(SmallMessages, noise_of_the_greatest_size_fits_although_it_grows) {
  std::string noise;
  std::uint32_t random = 1;
  while (noise.size() < 100'000) {
    random = random * 1664525 + 1013904223;
    noise += static_cast<char>(random >> 24);
  }
  Machine server(*context_, Instant{}, 12);
  Machine client(*client_context_, Instant{}, 12);
  ASSERT_TRUE(client.send(Opcode::binary, noise, outbox_));
  const Read result = read(server, take(), 5'000);
  EXPECT_GT(result.packed.size(), noise.size());
  EXPECT_EQ(result.message, noise + "|");
}

}  // namespace
}  // namespace katana::ws

// SPDX-License-Identifier: Apache-2.0
