// Automaton: whether a text has a match of a regular expression, in time that is proportional to
// the text, whatever expression and text are.
//
//   characters   are told apart as far as the expression does: by classes
//   nodes        of the expression: a character of a class, a fork, a place (^, $), the match
//   states       which nodes may come next. They and the way from each to the next by each class
//                are a table that is made with the automaton, of states_max at most
//   without it   states are made one after another while a text is read, by as many visits of nodes
//                as there are in each
//
// Owns       its tables.
// Thread     any, at once.
// Allocates  compile(); find() only where there is no table.
// Fails      compile() with nothing, for what it does not know and for what is too large; find() is
//            `costly` when the budget has not enough steps.
// Invariant  its answer is PCRE2's, where that finds one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/step_budget.hpp"
#include "katana/data/schema/expression_tree.hpp"

namespace katana::schema {

// Whether a text matches.
enum class Found : std::uint8_t {
  no,      // nowhere
  yes,     // somewhere in it
  costly,  // not known: the budget has too few steps
};

class Automaton {
 public:
  static constexpr std::size_t nodes_max = 4096;   // beyond it compile() returns nothing
  static constexpr std::size_t states_max = 1024;  // beyond it there is no table

  // `expression` is UTF-8, and PCRE2 takes it.
  static std::optional<Automaton> compile(Bytes expression);
  // Anywhere in the text, as far as it is UTF-8.
  Found find(Bytes text, StepBudget& budget) const;

  // find() uses a table, and neither allocates nor is `costly`.
  bool has_table() const noexcept { return !states_.empty(); }

 private:
  using Index = std::uint32_t;
  struct AutomatonNode {
    enum class Kind : std::uint8_t { character, fork, begin, end, match };
    Kind kind;
    std::uint16_t set = 0;  // of a character
    Index next = 0;
    Index other = 0;  // of a fork
  };
  // What a state is for a text that goes on, and for one that ends there.
  struct State {
    bool matches = false;
    bool matches_at_end = false;
    bool is_dead = false;  // it leads to no match
  };
  // Nodes, each once, in the order in which they were added.
  class Set;
  class Building;
  friend class Building;

  Automaton() = default;
  std::uint16_t class_of(char32_t code) const noexcept;
  bool is_in(std::uint16_t set, std::uint16_t of_class) const noexcept {
    return members_[set * class_count_ + of_class] != 0;
  }
  // Adds what may come at that place; returns how many nodes were visited.
  std::size_t add(Set& to, Index node, bool at_begin, bool at_end) const;
  bool matches_at_end(const Set& set, bool at_begin) const;
  void step(const Set& from, std::uint16_t by, Set& to, std::size_t& visits) const;
  void make_table();
  Found find_by_table(Bytes text) const;
  Found find_by_nodes(Bytes text, StepBudget& budget) const;

  std::vector<AutomatonNode> nodes_;
  Index start_ = 0;
  std::vector<char32_t> boundaries_;              // where ranges of one class begin, from 0
  std::vector<std::uint16_t> classes_;            // of each
  std::array<std::uint16_t, 128> of_ascii_ = {};  // the same of ASCII
  std::vector<char> members_;                     // sets by classes
  std::size_t class_count_ = 0;
  std::vector<State> states_;        // empty: there is no table
  std::vector<std::uint16_t> ways_;  // states by classes
};

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
