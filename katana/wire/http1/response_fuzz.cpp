// Invariant: whatever the bytes and wherever they are cut, ResponseMachine reads the same replies,
// keeps what it says of its steps, and is ready for the next byte or has refused.
//
// The input is a byte that says whether the replies answer HEAD, three that choose places to cut,
// and what a server might send.
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
