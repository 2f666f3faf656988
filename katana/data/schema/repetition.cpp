#include "katana/data/schema/repetition.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace katana::schema {
namespace {

// The values of an instance to which the schema at the other end applies.
enum class Way : std::uint8_t {
  same,   // the same value: $ref, allOf, …
  many,   // any of its members or items: items, additionalProperties, …
  named,  // a value that no other named way reaches: a property, a prefix item
};
struct Edge {
  std::size_t to;
  Way way;
};

class Repetition {
 public:
  explicit Repetition(Compiled& compiled) : compiled_(compiled) {
    for (const Node& each : compiled.nodes) numbers_.emplace(&each, numbers_.size());
    edges_.reserve(numbers_.size());
    for (const Node& each : compiled.nodes) edges_.push_back(edges_of(each));
  }

  void run() {
    find_circles();
    std::vector<char> branches(edges_.size());
    std::vector<std::size_t> ways_in(edges_.size());
    for (std::size_t at = 0; at < edges_.size(); ++at) {
      std::size_t counts[3] = {};
      for (const Edge& each : edges_[at]) {
        if (circle_[each.to] != circle_[at]) continue;
        ++counts[static_cast<std::size_t>(each.way)];
        ++ways_in[each.to];
      }
      const auto [same, many, named] = counts;
      // Two ways may reach one value, unless both have a name.
      if (same + many + (named != 0 ? 1 : 0) > 1) branches[circle_[at]] = 1;
    }
    for (std::size_t at = 0; at < edges_.size(); ++at) {
      compiled_.nodes[at].is_repeated = branches[circle_[at]] != 0 && ways_in[at] > 1;
    }
  }

 private:
  std::vector<Edge> edges_of(const Node& node) const {
    std::vector<Edge> made;
    const auto add = [&](const Node* to, Way way) {
      if (to != nullptr) made.push_back({numbers_.at(to), way});
    };
    for (const auto* const list : {&node.references, &node.all_of, &node.any_of, &node.one_of}) {
      for (const Node* const each : *list) add(each, Way::same);
    }
    for (const Node* const each :
         {node.negated, node.condition, node.consequence, node.alternative}) {
      add(each, Way::same);
    }
    for (const DependentSchema& each : node.dependent_schemas) add(each.schema, Way::same);
    for (const Node* const each : {node.items, node.contains, node.unevaluated_items,
                                   node.additional_properties, node.unevaluated_properties}) {
      add(each, Way::many);
    }
    for (const PatternProperty& each : node.pattern_properties) add(each.schema, Way::many);
    for (const Node* const each : node.prefix_items) add(each, Way::named);
    for (const Property& each : node.properties) add(each.schema, Way::named);
    return made;
  }

  // The strongly connected components (Tarjan's algorithm).
  void find_circles() {
    struct Visit {
      std::size_t node;
      std::size_t next = 0;
    };
    constexpr std::size_t unseen = SIZE_MAX;
    std::vector<std::size_t> order(edges_.size(), unseen), lowest(edges_.size()), open;
    std::vector<char> is_open(edges_.size());
    circle_.resize(edges_.size());
    std::size_t count = 0;
    for (std::size_t root = 0; root < edges_.size(); ++root) {
      if (order[root] != unseen) continue;
      std::vector<Visit> visits;
      const auto enter = [&](std::size_t node) {
        order[node] = lowest[node] = count++;
        open.push_back(node);
        is_open[node] = 1;
        visits.push_back({node});
      };
      enter(root);
      while (!visits.empty()) {
        const std::size_t node = visits.back().node;
        if (visits.back().next < edges_[node].size()) {
          const std::size_t to = edges_[node][visits.back().next++].to;
          if (order[to] == unseen) {
            enter(to);
          } else if (is_open[to] != 0) {
            lowest[node] = std::min(lowest[node], order[to]);
          }
          continue;
        }
        visits.pop_back();
        if (!visits.empty()) {
          std::size_t& outer = lowest[visits.back().node];
          outer = std::min(outer, lowest[node]);
        }
        if (lowest[node] != order[node]) continue;
        for (std::size_t each = unseen; each != node;) {
          each = open.back();
          open.pop_back();
          is_open[each] = 0;
          circle_[each] = node;
        }
      }
    }
  }

  Compiled& compiled_;
  std::unordered_map<const Node*, std::size_t> numbers_;
  std::vector<std::vector<Edge>> edges_;  // by the number of a node
  std::vector<std::size_t> circle_;       // circle of each node: the number of one of its nodes
};

}  // namespace

void mark_repeated(Compiled& compiled) {
  const bool is_dynamic = std::ranges::any_of(
      compiled.nodes, [](const Node& each) { return !each.dynamic_references.empty(); });
  if (!is_dynamic) Repetition(compiled).run();
}

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
