// Automaton: finds whether a text matches a regular expression. The time is proportional to the
// text, for any expression and any text.
//
//   characters   belong to classes, if the expression does not tell them apart
//   nodes        of the expression: a character of a class, a fork, a place (^, $), the match
//   states       sets of nodes that may come next. The states and their successors by each class
//                are a table that is made with the automaton, with at most states_max states
//   no table     the states are made one after another while a text is read; each costs a visit of
//                its nodes
//
// Owns       its tables.
// Thread     any, at once.
// Allocates  compile(); find() only where there is no table.
// Fails      compile() returns nothing for an unknown construct, and for an expression that is too
//            large; find() is `costly` when the budget has too few steps.
// Invariant  its answer is the same as that of PCRE2, if PCRE2 finds one.
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

// The result of a search.
enum class Found : std::uint8_t {
  no,      // the text has no match
  yes,     // the text has a match
  costly,  // not known: the budget has too few steps
};

class Automaton {
 public:
  static constexpr std::size_t nodes_max = 4096;   // beyond it compile() returns nothing
  static constexpr std::size_t states_max = 1024;  // beyond it there is no table

  // Makes an automaton. `expression` is UTF-8 and valid for PCRE2.
  static std::optional<Automaton> compile(Bytes expression);
  // Searches for a match anywhere in the text. It stops at the first byte that is not UTF-8.
  Found find(Bytes text, StepBudget& budget) const;

  // True: find() uses a table, does not allocate, and is never `costly`.
  bool has_table() const noexcept { return !states_.empty(); }

 private:
  using Index = std::uint32_t;
  struct AutomatonNode {
    enum class Kind : std::uint8_t { character, fork, begin, end, match };
    Kind kind;
    std::uint16_t set = 0;  // for a character: its set
    Index next = 0;
    Index other = 0;  // for a fork: the second branch
  };
  // The properties of a state for a text that goes on, and for one that ends there.
  struct State {
    bool matches = false;
    bool matches_at_end = false;
    bool is_dead = false;  // the state leads to no match
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
  // Adds the nodes that may come at that place. Returns the number of visited nodes.
  std::size_t add(Set& to, Index node, bool at_begin, bool at_end) const;
  bool matches_at_end(const Set& set, bool at_begin) const;
  void step(const Set& from, std::uint16_t by, Set& to, std::size_t& visits) const;
  void make_table();
  Found find_by_table(Bytes text) const;
  Found find_by_nodes(Bytes text, StepBudget& budget) const;

  std::vector<AutomatonNode> nodes_;
  Index start_ = 0;
  std::vector<char32_t> boundaries_;              // begin of each range of one class, from 0
  std::vector<std::uint16_t> classes_;            // class of each range
  std::array<std::uint16_t, 128> of_ascii_ = {};  // class of each ASCII character
  std::vector<char> members_;                     // sets by classes
  std::size_t class_count_ = 0;
  std::vector<State> states_;        // empty: there is no table
  std::vector<std::uint16_t> ways_;  // states by classes
};

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
