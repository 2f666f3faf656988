// A table of transitions between the states of a stream, and the matrix that is made from it.
//
// Invariant  the state after a cause that the table does not have is the same state.
#pragma once

#include <array>
#include <cstdint>

namespace katana::http2 {

// One allowed move.
template <class State, class Cause>
struct Transition {
  // `cause` in state `from` leads to state `to`.
  State from;
  Cause cause;
  State to;
};

// `from` itself if the table has no such move.
template <class Table, class State, class Cause>
constexpr State state_after(const Table& table, State from, Cause cause) noexcept {
  for (const auto& each : table) {
    if (each.from == from && each.cause == cause) return each.to;
  }
  return from;
}

// [from][cause], to be looked up at run time.
template <std::size_t States, std::size_t Causes, class State, class Cause, std::size_t Rows>
constexpr auto make_matrix(const std::array<Transition<State, Cause>, Rows>& table) noexcept {
  std::array<std::array<State, Causes>, States> matrix{};
  for (std::size_t from = 0; from < States; ++from) {
    for (std::size_t cause = 0; cause < Causes; ++cause) {
      matrix[from][cause] = state_after(table, static_cast<State>(from), static_cast<Cause>(cause));
    }
  }
  return matrix;
}

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
