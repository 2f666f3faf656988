// Encoder: a content coding (gzip, br, zstd) applied to a stream of bytes. A Codec makes it.
//
// Owns       the state of its library: 0.3 to 3 MiB, see EncoderOptions.
// Thread     one at a time.
// Allocates  at construction, from the heap; `out` grows as Text does.
// Fails      making it and encode() throw std::bad_alloc.
// Invariant  after a call with Flush::flush the bytes in `out` decode to all input so far. After
//            Flush::finish they are a complete coded body.
#pragma once

#include <cstdint>

#include "katana/base/text/bytes.hpp"
#include "katana/base/text/text.hpp"

namespace katana::coding {

// Level and memory of each coding.
struct EncoderOptions {
  // At these levels compressing a reply costs about as much as making it. Higher levels gain a few
  // percent of size, and suit files that are compressed once. gzip 1 … 9, brotli 0 … 11, zstd 1 …
  // 19.
  int gzip_level = 5;
  int brotli_quality = 2;
  int zstd_level = 3;
  // How far back a coding may refer, as a power of two. It bounds the memory of brotli and zstd.
  int window_bits = 18;
};

//   none    the encoder may hold back output
//   flush   a reader of the output can decode all of the input
//   finish  and there is no more
enum class Flush : std::uint8_t { none, flush, finish };

class Encoder {
 public:
  virtual ~Encoder() = default;
  // Appends the coded form of `input`. REQUIRES that Flush::finish was not given before.
  virtual void encode(Bytes input, Flush flush, Text& out) = 0;
};

}  // namespace katana::coding

// SPDX-License-Identifier: Apache-2.0
