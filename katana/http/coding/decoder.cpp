#include "katana/http/coding/decoder.hpp"

#include <algorithm>
#include <cstddef>

namespace katana::coding {
namespace {

constexpr std::size_t decoded_step_bytes = 16 * 1024;

}  // namespace

Decoding Decoder::judge() const noexcept {
  if (decoded_ > limits_.bytes_max) return Decoding::too_large;
  const bool is_dense =
      decoded_ > limits_.ratio_free_bytes && decoded_ / limits_.ratio_max > coded_;
  return is_dense ? Decoding::too_dense : Decoding::going;
}

Decoding Decoder::decode(Bytes& input, std::size_t bytes_max, Text& out) {
  if (failed()) return state_;
  for (;;) {
    const std::size_t capacity = std::min(bytes_max, decoded_step_bytes);
    const std::size_t before = out.size();
    const std::size_t left = input.size();
    out.resize(before + capacity);
    const Step made = step(input, out.data() + before, capacity);
    out.resize(before + made.made);
    coded_ += left - input.size();
    decoded_ += made.made;
    bytes_max -= made.made;
    if (left != input.size() || made.ended) whole_ = made.ended;
    state_ = made.malformed ? Decoding::malformed : judge();
    if (failed()) {
      out.resize(before);
      return state_;
    }
    // It made less than there was room for, and the input is used up: no output is left.
    const bool idle = made.made == 0 && left == input.size();
    if (input.empty() && (made.made < capacity || idle)) return Decoding::going;
    if (bytes_max == 0) return state_ = Decoding::full;
    if (idle) return state_ = Decoding::malformed;  // neither input taken nor output made
  }
}

}  // namespace katana::coding

// SPDX-License-Identifier: Apache-2.0
