// Decoder: removes a content coding (gzip, br, zstd) from a stream of bytes that a client or server
// sent. A Codec makes it.
//
// Owns       the state of its library: up to 16 MiB for brotli, 8 for zstd, 64 KiB for gzip.
// Thread     one at a time.
// Allocates  from the heap: at construction, and brotli and zstd when the first bytes say how much.
// Fails      malformed input, or more than the limits allow, is a state that it stays in; it throws
//            std::bad_alloc only.
// Invariant  a call appends no more than it is allowed, whatever the bytes: a few bytes that stand
//            for terabytes cost no more than others.
#pragma once

#include <cstdint>

#include "katana/base/text/bytes.hpp"
#include "katana/base/text/text.hpp"

namespace katana::coding {

// Limits of the decoded bytes, also in relation to the coded ones. Beyond them the body is refused.
struct DecoderLimits {
  // For the decoded content.
  std::uint64_t bytes_max = 8 * 1024 * 1024;
  // Decoded bytes for each coded byte, beyond the first `ratio_free_bytes` decoded ones. Text
  // seldom shrinks to less than a tenth. deflate cannot exceed 1,032; brotli and zstd can by far.
  std::uint32_t ratio_max = 100;
  std::uint64_t ratio_free_bytes = 64 * 1024;
};

//   going      all of the input is taken, and more may come
//   full       as much was appended as was allowed; call again, with the rest of the input
//   malformed  it is not in this coding, or ends too soon
//   too_large  more than DecoderLimits::bytes_max
//   too_dense  more than DecoderLimits::ratio_max
enum class Decoding : std::uint8_t { going, full, malformed, too_large, too_dense };

class Decoder {
 public:
  virtual ~Decoder() = default;

  // Takes input off the front of `input` and appends at most `bytes_max` to `out`.
  Decoding decode(Bytes& input, std::size_t bytes_max, Text& out);
  // True if the input that was given is complete. Empty input is not.
  bool is_whole() const noexcept { return whole_ && !failed(); }
  std::uint64_t decoded_bytes() const noexcept { return decoded_; }
  // The bytes that the state of the library takes at present, with its window.
  virtual std::size_t memory_bytes() const noexcept = 0;

 protected:
  explicit Decoder(const DecoderLimits& limits) noexcept : limits_(limits) {}

  struct Step {
    bool malformed = false;
    bool ended = false;    // a member of the stream; another one may follow
    std::size_t made = 0;  // bytes written to `out`
  };
  // Takes input off the front of `input` and writes at most `room` bytes to `out`.
  virtual Step step(Bytes& input, char* out, std::size_t capacity) = 0;

 private:
  bool failed() const noexcept { return state_ != Decoding::going && state_ != Decoding::full; }
  Decoding judge() const noexcept;

  const DecoderLimits limits_;
  std::uint64_t coded_ = 0;
  std::uint64_t decoded_ = 0;
  Decoding state_ = Decoding::going;
  bool whole_ = false;
};

}  // namespace katana::coding

// SPDX-License-Identifier: Apache-2.0
