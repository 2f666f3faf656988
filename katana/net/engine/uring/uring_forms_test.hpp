// The io_uring engine in the sizes that its tests run it in.
//
// Owns       nothing.
//
//   Default   as a server would run it
//   Whole     each receive takes a whole buffer, as on kernels before 6.16
//   Tiny      every ring is exhausted all the time: two receive buffers, four submissions, eight
//             completions, one block of output
//   Batching  a wait collects completions
//   Undone    every decision taken back (rules.hpp)
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "katana/net/engine/uring/uring_engine.hpp"

namespace katana::engine {

inline constexpr UringOptions default_rings{};
inline constexpr UringOptions whole_buffers{.incremental = false};
inline constexpr UringOptions tiny_rings{.submissions = 4,
                                         .completions = 8,
                                         .receive_bytes = 1024,
                                         .receive_buffer_bytes = 512,
                                         .outputs = 1,
                                         .output_bytes = 256};
inline constexpr UringOptions tiny_whole_rings{.submissions = 4,
                                               .completions = 8,
                                               .receive_bytes = 1024,
                                               .receive_buffer_bytes = 512,
                                               .incremental = false,
                                               .outputs = 1,
                                               .output_bytes = 256};
inline constexpr UringOptions batching_waits{.batch = 8, .collect = microseconds(100)};
inline constexpr UringOptions undone_rules{.rules = {.deferred_work = false,
                                                     .enter_again = false,
                                                     .registered_ring = false,
                                                     .multishot_receive = false,
                                                     .first_receive_single = false,
                                                     .quiet_entries = false,
                                                     .multishot_slots_min = UINT32_MAX}};

template <const UringOptions& options, std::size_t deliveries>
struct UringForm {
  template <class S>
  class Engine : public UringEngine<S> {
   public:
    Engine(const Options& engine, S& sink) : UringEngine<S>(engine, sink, options) {}
  };
  static std::string why_not() {
    const auto features = probe_uring();
    return features ? "" : features.error().describe();
  }
  // The kernel may fill every buffer for one link; the next turn begins with links that got none.
  static constexpr std::size_t deliveries_max = deliveries;
  static constexpr bool asks_peers = true;
};

using Default = UringForm<default_rings, 128>;
using Whole = UringForm<whole_buffers, 128>;
using Tiny = UringForm<tiny_rings, 6>;
using TinyWhole = UringForm<tiny_whole_rings, 6>;
using Batching = UringForm<batching_waits, 128>;
using Undone = UringForm<undone_rules, 128>;

struct FormNames {
  template <class Form>
  static std::string GetName(int index) {
    static constexpr const char* names[] = {"default",    "whole",    "tiny",
                                            "tiny_whole", "batching", "undone"};
    return names[index];
  }
};
using Forms = testing::Types<Default, Whole, Tiny, TinyWhole, Batching, Undone>;

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
