// Edge, Level and Undone: the forms of the epoll engine, for typed tests.
//
// Owns       the rules of Undone, for the length of the program.
// Thread     one.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#include "katana/net/engine/epoll/epoll_engine.hpp"

namespace katana::engine {

struct Edge {
  template <class S>
  using Engine = EpollEdgeEngine<S>;
  static constexpr std::size_t deliveries_max = 4;
};
struct Level {
  template <class S>
  using Engine = EpollLevelEngine<S>;
  static constexpr std::size_t deliveries_max = 4;
};

// Every decision taken back, unless a test says which.
struct Undone {
  static constexpr Undecided all{.read_again = true,
                                 .first_read = false,
                                 .deferred_accept = false,
                                 .inherited_options = false,
                                 .delete_before_close = true,
                                 .close_at_turn_end = true,
                                 .precise_waits = false,
                                 .accepts_per_event_max = 2,
                                 .events_per_wait_max = 2};
  inline static Undecided rules = all;

  template <class S>
  class Engine : public EpollEngine<Trigger::edge, S, Undecided> {
   public:
    Engine(const Options& options, S& sink)
        : EpollEngine<Trigger::edge, S, Undecided>(options, sink, rules) {}
  };
  static constexpr std::size_t deliveries_max = 4;
};

struct FormNames {
  template <class Form>
  static std::string GetName(int) {
    if constexpr (std::is_same_v<Form, Undone>) return "undone";
    return std::is_same_v<Form, Edge> ? "edge" : "level";
  }
};
using Forms = testing::Types<Edge, Level>;
using AllForms = testing::Types<Edge, Level, Undone>;

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
