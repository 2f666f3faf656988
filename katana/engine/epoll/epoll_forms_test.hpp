// Edge and Level: the two forms of the epoll engine, for typed tests.
//
// Owns       nothing.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#include "katana/engine/epoll/epoll_engine.hpp"

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

struct FormNames {
  template <class Form>
  static std::string GetName(int) {
    return std::is_same_v<Form, Edge> ? "edge" : "level";
  }
};
using Forms = testing::Types<Edge, Level>;

}  // namespace katana::engine
