// Invariant: ResponseMachine reads the same replies from the bytes, however they are cut. It keeps
// the contract of its steps, and is ready for the next byte or has refused.
//
// The first byte of the input says whether the replies answer HEAD. Three bytes choose places to
// cut, and the rest are the bytes of a server.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "katana/wire/http1/response_transcript_test.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4 || size > 4096) return 0;
  const bool to_head = (data[0] & 1) != 0;
  const katana::Bytes text(reinterpret_cast<const char*>(data) + 4, size - 4);
  std::vector<std::size_t> cuts;
  for (std::size_t index = 1; index < 4; ++index) {
    cuts.push_back(data[index] * (text.size() / 256 + 1) % (text.size() + 1));
  }
  std::ranges::sort(cuts);
  std::vector<std::size_t> every;
  for (std::size_t cut = 1; cut < text.size(); ++cut) every.push_back(cut);
  const std::string expected = katana::http1::reading_of(text, {}, to_head);
  KATANA_CHECK(katana::http1::reading_of(text, cuts, to_head) == expected);
  KATANA_CHECK(katana::http1::reading_of(text, every, to_head) == expected);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
