#include "katana/observe/profile/call_tree.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace katana::profile {

std::string route_name_of(const Labels& labels) {
  return labels.route.empty() ? "(no route)" : labels.route;
}

std::vector<const Found*> most_frequent_first(const Profile& profile) {
  std::vector<const Found*> all;
  all.reserve(profile.found.size());
  for (const Found& each : profile.found) all.push_back(&each);
  std::ranges::sort(all, [](const Found* a, const Found* b) {
    return a->count != b->count ? a->count > b->count : a < b;
  });
  return all;
}

CallTree::CallTree(const Profile& profile) {
  std::vector<std::vector<std::string>> names;  // of the places
  for (const Place& place : profile.places) names.push_back(names_of(profile, place));
  nodes_.push_back({"all", 0, 0, {}});
  std::map<std::pair<std::size_t, std::string>, std::size_t> known;  // parent and name
  for (const Found* const each : most_frequent_first(profile)) {
    const Found& found = *each;
    std::size_t at = 0, depth = 0;
    nodes_[at].ns += found.ns;
    bool is_cut = false;
    const auto enter = [&](const std::string& name) {
      if (is_cut || depth == depth_max) return;
      auto entry = known.find({at, name});
      if (entry == known.end()) {
        is_cut = nodes_.size() == nodes_max;
        if (is_cut) return;
        entry = known.try_emplace({at, name}, nodes_.size()).first;
        nodes_[at].children.push_back(nodes_.size());
        nodes_.push_back({name, 0, 0, {}});
      }
      depth_ = std::max(depth_, ++depth);
      at = entry->second;
      nodes_[at].ns += found.ns;
    };
    enter(route_name_of(found.labels));
    for (auto place = found.places.rbegin(); place != found.places.rend(); ++place) {
      for (auto name = names[*place].rbegin(); name != names[*place].rend(); ++name) enter(*name);
    }
    nodes_[at].own_ns += found.ns;
  }
}

}  // namespace katana::profile

// SPDX-License-Identifier: Apache-2.0
