// Deflate: permessage-deflate (RFC 7692) without context takeover, and the memory for it.
//
// Every message is compressed alone, in both directions, and decompressed only when all of it
// is here. Therefore no connection holds any of this. One compressor and one decompressor serve all
// connections of a reactor, and their memory is known at start.
//
// Owns       nothing but counts; zlib's state lies in memory that the caller gives.
// Borrows    that memory, for its life.
// Thread     its reactor's.
// Allocates  never.
// Fails      inflating reports input that cannot be decompressed.
// Invariant  a message is compressed, or decompressed, from its first byte to its last within one
//            call of its session. Two messages never use a compressor or decompressor at once.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "katana/base/text/bytes.hpp"
#include "katana/wire/ws/limits.hpp"

namespace katana::ws {

// Where zlib's state lies. It is taken in pieces, in order, and given back as a whole.
class DeflateMemory {
 public:
  void set(std::span<char> memory) noexcept { memory_ = memory; }  // once; aligned for any type
  void restart() noexcept { used_ = 0; }                           // all pieces are given back
  void install(z_stream& stream) noexcept;  // makes zlib take its memory from here

 private:
  static void* take(void* self, unsigned count, unsigned size) noexcept;
  static void give(void*, void*) noexcept {}
  std::span<char> memory_;
  std::size_t used_ = 0;
};

// A block of a dozen bytes may have tables and no content. Therefore the number of blocks of a
// message is limited: to this, and one more for every 64 bytes that come out. The blocks of zlib
// end after 127 symbols or more, or when it is told to flush.
inline constexpr std::uint64_t blocks_free = 4096;
inline constexpr std::uint64_t bytes_per_block_min = 64;

// Decompresses one message at a time.
class Inflater {
 public:
  // The result of a call: it used all input, filled the output, or gave up.
  enum class Outcome : std::uint8_t { more_input, more_output, failed, too_many_blocks };

  // Once, before the first message.
  void set(std::span<char> memory) noexcept { memory_.set(memory); }
  // Begins a message and forgets the rest of another one.
  void begin() noexcept;
  // Decompresses as much of `input` as fits into `output`. `more_output`: it is full, and there may
  // be more without further input. `too_many_blocks`: each block may have its own tables of codes,
  // and these cost more than the bytes that come out.
  Outcome inflate(Bytes input, std::span<char> output, std::size_t& consumed,
                  std::size_t& produced) noexcept;

 private:
  DeflateMemory memory_;
  z_stream stream_{};
  std::uint64_t blocks_ = 0;  // of the message
  std::uint64_t made_ = 0;    // bytes of it, before the present call
  bool ready_ = false;
};

// Compresses one message at a time.
class Deflater {
 public:
  void set(std::span<char> memory, int level) noexcept;  // once; `level` of zlib, 1 to 9
  // A message begins, for a client or server that keeps 2^window_bits bytes.
  void begin(int window_bits) noexcept;
  // Compresses `input`, the rest of the message, into `output`. True: there is more to come. The
  // caller leaves the last four bytes of the message out (00 00 ff ff, RFC 7692 §7.2.1).
  bool deflate(Bytes& input, std::span<char> output, std::size_t& produced) noexcept;
  // The most that `bytes` become, in all, whichever way they are compressed.
  static std::size_t bound(std::size_t bytes) noexcept;

 private:
  DeflateMemory memory_;
  z_stream stream_{};
  int level_ = 1;
  int window_bits_ = 0;  // 0: not ready
};

// The compressor and the decompressor that all connections of one reactor share.
class DeflatePool {
 public:
  // The bytes of memory that the caller gives to the constructor.
  static std::size_t bytes_needed(const DeflateOptions& options) noexcept;
  // REQUIRES window_bits of 9 to 15.
  DeflatePool(const DeflateOptions& options, std::span<char> memory) noexcept;
  DeflatePool(const DeflatePool&) = delete;

  Inflater& inflater() noexcept { return inflater_; }                  // of the reactor
  Deflater& deflater() noexcept { return deflater_; }                  // of the reactor
  const DeflateOptions& options() const noexcept { return options_; }  // as given

 private:
  const DeflateOptions options_;
  Deflater deflater_;
  Inflater inflater_;
};

}  // namespace katana::ws

// SPDX-License-Identifier: Apache-2.0
