#include "katana/net/engine/sim/sim_faults.hpp"

#include <fmt/format.h>

#include <iterator>

#include "katana/base/text/format.hpp"
#include "katana/base/values/random.hpp"

namespace katana::engine {
namespace {

// `frequent_max` is below 1024 for faults that would stop all progress if they always happened.
struct ChanceField {
  const char* name;
  std::uint32_t SimFaults::* field;
  std::uint32_t frequent_max;
};

constexpr ChanceField chance_fields[] = {
    {"shuffle", &SimFaults::shuffle, 1024},
    {"spurious_turn", &SimFaults::spurious_turn, 512},
    {"late_completion", &SimFaults::late_completion, 1024},
    {"fragment", &SimFaults::fragment, 1024},
    {"ring_exhausted", &SimFaults::ring_exhausted, 512},
    {"multishot_end", &SimFaults::multishot_end, 1024},
    {"unnoticed_reset", &SimFaults::unnoticed_reset, 1024},
    {"short_send", &SimFaults::short_send, 768},
    {"copied_send", &SimFaults::copied_send, 1024},
    {"completion_send", &SimFaults::completion_send, 1024},
    {"readiness_send", &SimFaults::readiness_send, 1024},
    {"accept_failure", &SimFaults::accept_failure, 256},
    {"link_reset", &SimFaults::link_reset, 512},
    {"reset_loses", &SimFaults::reset_loses, 1024},
    {"close_resets", &SimFaults::close_resets, 1024},
};

struct RangeField {
  const char* name;
  SimRange SimFaults::* field;
};

constexpr RangeField range_fields[] = {
    {"accept_failures", &SimFaults::accept_failures},
    {"reset_after_us", &SimFaults::reset_after_us},
    {"to_server_us", &SimFaults::to_server_us},
    {"to_peer_us", &SimFaults::to_peer_us},
    {"completion_us", &SimFaults::completion_us},
    {"turn_us", &SimFaults::turn_us},
    {"segment_bytes", &SimFaults::segment_bytes},
    {"peer_window_bytes", &SimFaults::peer_window_bytes},
    {"server_window_bytes", &SimFaults::server_window_bytes},
};

std::uint32_t draw_chance(Random& random, std::uint32_t frequent_max) {
  switch (random.below(8)) {
    case 0:
    case 1:
    case 2: return 0;
    case 3:
    case 4: return static_cast<std::uint32_t>(random.between(1, 64));
    case 5:
    case 6: return static_cast<std::uint32_t>(random.between(1, frequent_max));
    default: return frequent_max;
  }
}

SimRange draw_range(Random& random, std::uint32_t min, std::uint32_t max) {
  const auto low = static_cast<std::uint32_t>(random.between(min, max));
  return {low, static_cast<std::uint32_t>(random.between(low, max))};
}

SimRange draw_sizes(Random& random) {
  switch (random.below(4)) {
    case 0: return {1, 64};
    case 1: return {1, 1460};
    case 2: return {1460, 1460};
    default: return {1, 64 * 1024};
  }
}

// Larger than a few bytes: with less per round trip a transfer outlasts every timeout of a server.
SimRange draw_window(Random& random) {
  return random.below(4) == 0 ? draw_range(random, 256, 4 * 1024)
                              : draw_range(random, 4 * 1024, 64 * 1024);
}

}  // namespace

SimFaults SimFaults::calm() {
  SimFaults faults;
  for (const ChanceField& each : chance_fields) faults.*each.field = 0;
  // Not a fault: a choice between two ways to end a pending send. This is the simpler one.
  faults.readiness_send = 1024;
  faults.to_server_us = {50, 50};
  faults.to_peer_us = {50, 50};
  faults.turn_us = {1, 1};
  faults.segment_bytes = {64 * 1024, 64 * 1024};
  faults.peer_window_bytes = {64 * 1024, 64 * 1024};
  faults.server_window_bytes = {64 * 1024, 64 * 1024};
  return faults;
}

SimFaults SimFaults::random(std::uint64_t seed) {
  // A different sequence from the one that the network draws from the same seed.
  Random random(seed ^ 0x6b6174616e61);
  SimFaults faults;
  for (const ChanceField& each : chance_fields) {
    faults.*each.field = draw_chance(random, each.frequent_max);
  }
  faults.accept_failures = draw_range(random, 1, 8);
  faults.reset_after_us = {0, static_cast<std::uint32_t>(random.between(1, 100'000))};
  faults.to_server_us = draw_range(random, 1, 5'000);
  faults.to_peer_us = draw_range(random, 1, 5'000);
  faults.completion_us = draw_range(random, 1, 20'000);
  faults.turn_us = draw_range(random, 1, 200);
  faults.segment_bytes = draw_sizes(random);
  faults.peer_window_bytes = draw_window(random);
  faults.server_window_bytes = draw_window(random);
  return faults;
}

SimFaults SimFaults::lossless() const {
  SimFaults faults = *this;
  faults.link_reset = 0;
  faults.reset_loses = 0;
  faults.close_resets = 0;
  return faults;
}

std::string SimFaults::describe() const {
  std::string text;
  for (const ChanceField& each : chance_fields) {
    if (this->*each.field == 0) continue;
    fmt::format_to(std::back_inserter(text), "{} {}/1024\n", each.name, this->*each.field);
  }
  for (const RangeField& each : range_fields) {
    const SimRange range = this->*each.field;
    fmt::format_to(std::back_inserter(text), "{} {}..{}\n", each.name, range.min, range.max);
  }
  return text;
}

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
