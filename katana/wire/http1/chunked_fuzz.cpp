// Invariant: ChunkedDecoder gives the same content, end and refusal as a reading of the whole text
// by its grammar. This holds for any bytes, however they are cut.
//
// The first byte of the input chooses limits, and the next one the content that is allowed. Four
// bytes choose places to cut. The rest is a chunked content.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "katana/base/system/check.hpp"
#include "katana/wire/http1/chunked.hpp"
#include "katana/wire/http1/chunked_reference_test.hpp"

namespace {

using katana::Bytes;
using katana::http1::ChunkedDecoder;
using katana::http1::Decoded;
using katana::http1::Limits;
using katana::http1::Refusal;

Limits limits_from(std::uint8_t choice) {
  Limits limits;
  if ((choice & 1) != 0) limits.chunk_line_bytes_max = 12;
  if ((choice & 2) != 0) limits.chunk_overhead_bytes_max = 16;
  if ((choice & 4) != 0) limits.trailer_bytes_max = 24;
  if ((choice & 8) != 0) limits.trailer_fields_max = 2;
  return limits;
}

// Takes one piece to its end, from a heap block of its size: AddressSanitizer then finds a read
// outside of it. False: the content has ended or was refused.
bool take_piece(ChunkedDecoder& decoder, Bytes piece, const Limits& limits,
                std::uint64_t content_left, Decoded& decoded) {
  const auto block = std::make_unique<char[]>(piece.size());
  std::ranges::copy(piece, block.get());
  Bytes rest(block.get(), piece.size());
  while (!rest.empty()) {
    const auto step = decoder.next(rest, limits, content_left - decoded.content.size());
    KATANA_CHECK(step.consumed > 0 && step.consumed <= rest.size());
    if (!step.content.empty()) {
      KATANA_CHECK(step.content.data() >= rest.data());
      KATANA_CHECK(step.content.data() + step.content.size() == rest.data() + step.consumed);
      KATANA_CHECK(!step.done && step.refusal == Refusal::none);
    }
    decoded.content += step.content;
    decoded.consumed += step.consumed;
    decoded.done = step.done;
    decoded.refusal = step.refusal;
    rest.remove_prefix(step.consumed);
    if (step.done || step.refusal != Refusal::none) return false;
    KATANA_CHECK(!step.content.empty() || rest.empty());
  }
  return true;
}

Decoded decode(Bytes text, const std::vector<std::size_t>& ends, const Limits& limits,
               std::uint64_t content_left) {
  ChunkedDecoder decoder;
  Decoded decoded;
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    if (!take_piece(decoder, text.substr(begin, end - begin), limits, content_left, decoded)) break;
    begin = end;
  }
  return decoded;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 6) return 0;
  const Limits limits = limits_from(data[0]);
  const std::uint64_t content_left = data[1] < 128 ? data[1] : std::uint64_t{1} << (data[1] & 63);
  const Bytes text(reinterpret_cast<const char*>(data) + 6, size - 6);
  std::vector<std::size_t> ends;
  for (std::size_t index = 2; index < 6; ++index) {
    ends.push_back(data[index] * (text.size() / 256 + 1) % (text.size() + 1));
  }
  std::ranges::sort(ends);
  ends.push_back(text.size());
  std::vector<std::size_t> every_end;
  for (std::size_t end = 1; end <= text.size(); ++end) every_end.push_back(end);
  const Decoded expected = katana::http1::decode_by_the_rfc(text, limits, content_left);
  KATANA_CHECK(decode(text, {text.size()}, limits, content_left) == expected);
  KATANA_CHECK(decode(text, ends, limits, content_left) == expected);
  KATANA_CHECK(decode(text, every_end, limits, content_left) == expected);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
