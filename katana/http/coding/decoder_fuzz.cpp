// Invariant: whatever the bytes, a decoder appends no more than a call allows, and no more than its
// limits in all. Input that is cut anywhere gives the same output as the whole.
//
// The input is a byte for the coding, one for the room of a call, one for the size of pieces, and
// the coded bytes.
#include <cstdint>
#include <string>

#include "katana/base/system/check.hpp"
#include "katana/http/coding/brotli/brotli.hpp"
#include "katana/http/coding/codec.hpp"
#include "katana/http/coding/zstd/zstd.hpp"

namespace {

using namespace katana;
using coding::Decoding;

struct Outcome {
  std::string text;
  bool failed = false;
  bool whole = false;
  bool operator==(const Outcome&) const = default;
};

constexpr coding::DecoderLimits limits{
    .bytes_max = 100'000, .ratio_max = 50, .ratio_free_bytes = 1000};

Outcome decode(http::Coding coding, Bytes input, std::size_t piece, std::size_t capacity) {
  const coding::Codecs codecs = {coding::gzip(), coding::brotli(), coding::zstd()};
  const auto decoder = codecs.make_decoder(coding, limits);
  Text out;
  Decoding state = Decoding::going;
  while (!input.empty() && state == Decoding::going) {
    Bytes part = input.substr(0, piece);
    input.remove_prefix(part.size());
    do {
      const std::size_t before = out.size();
      state = decoder->decode(part, capacity, out);
      KATANA_CHECK(out.size() - before <= capacity);
      KATANA_CHECK(out.size() <= limits.bytes_max);
    } while (state == Decoding::full);
    if (state == Decoding::going) KATANA_CHECK(part.empty());
  }
  const bool failed = state != Decoding::going;
  // The amount of output before the mistake depends on the cuts.
  return {failed ? std::string() : std::string(out.bytes()), failed, decoder->is_whole()};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const auto coding = static_cast<http::Coding>(data[0] % 3);
  const std::size_t capacity = 1 + std::size_t{data[1]} * 16;
  const std::size_t piece = 1 + data[2];
  const Bytes input(reinterpret_cast<const char*>(data) + 3, size - 3);
  const Outcome whole = decode(coding, input, SIZE_MAX, SIZE_MAX);
  const Outcome pieces = decode(coding, input, piece, capacity);
  // Density is checked as bytes arrive: a cut may decide whether they are too dense.
  if (!whole.failed && !pieces.failed) KATANA_CHECK(whole == pieces);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
