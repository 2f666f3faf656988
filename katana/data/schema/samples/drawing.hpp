// Drawing: draws one value by all the schemas that apply to its place.
//
// Borrows    everything, for a call.
// Thread     one.
// Allocates  freely.
// Fails      never, but a value may not fit, because `not` and `if` are ignored. Sampler checks it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/values/random.hpp"
#include "katana/base/values/step_budget.hpp"
#include "katana/data/schema/compiled.hpp"
#include "katana/data/schema/samples/sample_options.hpp"

namespace katana::schema {

class Drawing {
 public:
  // `more` grows with the number of tries: parts without a bound then get longer. When the budget
  // is spent, the rest is drawn as null.
  Drawing(Random& random, const SampleOptions& options, std::size_t more, StepBudget& budget)
      : random_(random), options_(options), more_(more), budget_(budget) {}

  // The nodes that apply to one place.
  using Nodes = std::vector<const Node*>;
  // Draws the value of a place. `given` has at least one node. `name` is the name of the place, or
  // empty. `depth` is its depth: 0 at the outermost place.
  Value draw(const Nodes& given, Bytes name, std::size_t depth);

 private:
  // The nodes with the nodes to which they refer, and one alternative of each.
  Nodes expanded(const Nodes& given, std::size_t depth);
  void expand(const Node& node, Nodes& all, std::size_t depth);
  const Node* choose(const std::vector<const Node*>& choices, std::size_t depth);
  std::optional<Value> draw_listed(const Nodes& all);
  std::uint8_t choose_type(const Nodes& all, std::size_t depth);
  Value draw_number(const Nodes& all, bool is_integer);
  Value draw_text(const Nodes& all, Bytes name);
  Value draw_list(const Nodes& all, Bytes name, std::size_t depth);
  Value draw_object(const Nodes& all, std::size_t depth);
  std::vector<std::string> choose_names(const Nodes& all, std::size_t depth);
  void add_other_names(const Nodes& all, std::size_t least, std::vector<std::string>& names);
  bool fits_all(const Nodes& nodes, const Value& value) const;
  bool is_left_out(const Nodes& member) const;
  // The schemas of a member. A node that accepts no such member makes it impossible.
  Nodes member_of(const Nodes& all, Bytes name) const;
  static Nodes item_of(const Nodes& all, std::size_t index);

  Random& random_;
  const SampleOptions& options_;
  const std::size_t more_;
  StepBudget& budget_;
};

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
