#include "katana/observe/metrics/exemplars.hpp"

#include <bit>

namespace katana::metrics {

void Exemplars::put(std::size_t bucket, const Exemplar& exemplar) noexcept {
  Slot& slot = slots_[bucket];
  std::uint32_t sequence = slot.sequence.load(std::memory_order_relaxed);
  // acquire: these words come behind those of the thread that wrote before
  if ((sequence & 1) != 0 ||
      !slot.sequence.compare_exchange_strong(sequence, sequence + 1, std::memory_order_acquire,
                                             std::memory_order_relaxed)) {
    return;
  }
  const std::array<std::uint64_t, words> content{
      exemplar.trace_high, exemplar.trace_low, exemplar.span,
      std::bit_cast<std::uint64_t>(exemplar.value), static_cast<std::uint64_t>(exemplar.at_ns)};
  for (std::size_t word = 0; word < words; ++word) {
    // release: a reader that sees it sees the odd number, too
    slot.content[word].store(content[word], std::memory_order_release);
  }
  slot.sequence.store(sequence + 2, std::memory_order_release);
}

std::optional<Exemplar> Exemplars::get(std::size_t bucket) const noexcept {
  const Slot& slot = slots_[bucket];
  for (int attempt = 0; attempt < 8; ++attempt) {
    const std::uint32_t before = slot.sequence.load(std::memory_order_acquire);
    if (before == 0) return std::nullopt;
    if ((before & 1) != 0) continue;
    std::array<std::uint64_t, words> content;
    for (std::size_t word = 0; word < words; ++word) {
      content[word] = slot.content[word].load(std::memory_order_acquire);
    }
    if (slot.sequence.load(std::memory_order_relaxed) != before) continue;
    return Exemplar{.trace_high = content[0],
                    .trace_low = content[1],
                    .span = content[2],
                    .value = std::bit_cast<double>(content[3]),
                    .at_ns = static_cast<std::int64_t>(content[4])};
  }
  return std::nullopt;
}

}  // namespace katana::metrics

// SPDX-License-Identifier: Apache-2.0
