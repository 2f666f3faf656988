// Drawing: one value, by all the schemas that look at its place.
//
// Borrows    everything, for a call.
// Thread     one.
// Allocates  freely.
// Fails      none: what it makes may not fit, as `not` and `if` are not looked at. Sampler checks.
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
  // `more` grows with the number of tries: what has no bound gets longer. When the budget is spent
  // what is left is drawn as null.
  Drawing(Random& random, const SampleOptions& options, std::size_t more, StepBudget& budget)
      : random_(random), options_(options), more_(more), budget_(budget) {}

  // All of the nodes look at one place, which has that name or none.
  using Nodes = std::vector<const Node*>;
  // `given` has one at least. `depth` is that of the place: 0 at the outermost.
  Value draw(const Nodes& given, Bytes name, std::size_t depth);

 private:
  // With what they refer to, and one of the alternatives each.
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
  // The schemas of a member; a node that takes none makes it impossible.
  Nodes member_of(const Nodes& all, Bytes name) const;
  static Nodes item_of(const Nodes& all, std::size_t index);

  Random& random_;
  const SampleOptions& options_;
  const std::size_t more_;
  StepBudget& budget_;
};

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
