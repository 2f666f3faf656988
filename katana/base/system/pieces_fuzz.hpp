// Cuts any bytes into pieces, as they arrive from the other side. For fuzzers of machines that
// leave unconsumed bytes to their caller.
//
// Thread     any.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "katana/base/text/bytes.hpp"

namespace katana {

// Places to cut so many bytes, in order, one for each choice.
inline std::vector<std::size_t> cuts_from(std::span<const std::uint8_t> choices, std::size_t size) {
  std::vector<std::size_t> cuts;
  for (const std::uint8_t choice : choices) cuts.push_back(choice * size / 256);
  std::ranges::sort(cuts);
  return cuts;
}

// Every place; none when the input is too long for that.
inline std::vector<std::size_t> every_cut_of_short(std::size_t size) {
  std::vector<std::size_t> cuts;
  for (std::size_t at = 1; at < size && size <= 512; ++at) cuts.push_back(at);
  return cuts;
}

// Appends piece after piece to the pending bytes, and calls take(pending), which erases used bytes.
template <class Take>
void give_in_pieces(Bytes input, std::vector<std::size_t> cuts, const Take& take) {
  std::string pending;
  std::size_t sent = 0;
  cuts.push_back(input.size());
  for (const std::size_t cut : cuts) {
    pending.append(input.substr(sent, cut - sent));
    sent = cut;
    take(pending);
  }
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
