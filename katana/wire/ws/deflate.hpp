// Deflate: permessage-deflate (RFC 7692) without context takeover, and the memory for it.
//
// Every message is compressed by itself, in both directions. So a connection that has no message
// under way needs none of this: one compressor and a few decompressors serve all connections of a
// reactor, and what they may use is known at start.
//
// Owns       nothing but counts; zlib's state lies in memory that the caller gives.
// Borrows    that memory, for its life.
// Thread     its reactor's.
// Allocates  never.
// Fails      take() is null when every decompressor is in use; inflating says what is wrong.
#pragma once

#include <zlib.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "katana/base/bytes.hpp"

namespace katana::ws {

struct DeflateOptions {
  // Compressed messages that may be under way to one reactor at once; the next is refused (1013).
  // 0: the extension is not agreed to.
  std::uint32_t inflaters_max = 0;
  // Of what is sent: 9 to 15. Memory is 2^(window_bits + 2) and as much again for its tables.
  int window_bits = 12;
  int level = 1;
  // Shorter messages are sent as they are.
  std::size_t threshold_bytes = 256;
};

inline constexpr std::size_t inflaters_capacity = 64;

// Where zlib's state lies. It is taken in pieces, in order, and given back as a whole.
class DeflateMemory {
 public:
  void set(std::span<char> memory) noexcept { memory_ = memory; }
  void restart() noexcept { used_ = 0; }
  void install(z_stream& stream) noexcept;

 private:
  static void* take(void* self, unsigned count, unsigned size) noexcept;
  static void give(void*, void*) noexcept {}
  std::span<char> memory_;
  std::size_t used_ = 0;
};

class Inflater {
 public:
  enum class Outcome : std::uint8_t { more_input, more_output, failed };

  void set(std::span<char> memory) noexcept { memory_.set(memory); }
  void begin() noexcept;
  // Takes of `input` what fits `output`. `more_output`: it is full, and there may be more without
  // further input.
  Outcome inflate(Bytes input, std::span<char> output, std::size_t& consumed,
                  std::size_t& produced) noexcept;

  bool taken = false;

 private:
  DeflateMemory memory_;
  z_stream stream_{};
  bool ready_ = false;
};

class Deflater {
 public:
  void set(std::span<char> memory, int level) noexcept;
  // A message begins, for a peer that keeps 2^window_bits bytes.
  void begin(int window_bits) noexcept;
  // Fills `output` with what becomes of `input`, the rest of the message. True: there is more to
  // come. The last four octets of all (00 00 ff ff) are to be left out (RFC 7692 §7.2.1).
  bool deflate(Bytes& input, std::span<char> output, std::size_t& produced) noexcept;
  // The most that `bytes` become, in all.
  static std::size_t bound(std::size_t bytes) noexcept;

 private:
  DeflateMemory memory_;
  z_stream stream_{};
  int level_ = 1;
  int window_bits_ = 0;  // 0: not ready
};

// What the connections of one reactor share.
class DeflatePool {
 public:
  // For this many bytes, which the caller gives to the constructor.
  static std::size_t bytes_needed(const DeflateOptions& options) noexcept;
  // REQUIRES inflaters_max ≤ inflaters_capacity, window_bits of 9 to 15.
  DeflatePool(const DeflateOptions& options, std::span<char> memory) noexcept;
  DeflatePool(const DeflatePool&) = delete;

  Inflater* take() noexcept;
  void give(Inflater& inflater) noexcept { inflater.taken = false; }
  Deflater& deflater() noexcept { return deflater_; }
  const DeflateOptions& options() const noexcept { return options_; }

 private:
  const DeflateOptions options_;
  Deflater deflater_;
  std::array<Inflater, inflaters_capacity> inflaters_;
};

}  // namespace katana::ws
