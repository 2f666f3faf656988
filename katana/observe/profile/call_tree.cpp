#include "katana/observe/profile/call_tree.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace katana::profile {

std::string route_name_of(const Labels& labels) {
  return labels.route.empty() ? "(no route)" : labels.route;
}

CallTree::CallTree(const Profile& profile) {
  std::vector<std::vector<std::string>> names;  // of the places
  for (const Place& place : profile.places) names.push_back(names_of(profile, place));
  nodes_.push_back({"all", 0, 0, {}});
  std::map<std::pair<std::size_t, std::string>, std::size_t> known;  // parent and name
  for (const Found& found : profile.found) {
    std::size_t at = 0, depth = 0;
    nodes_[at].ns += found.ns;
    const auto enter = [&](const std::string& name) {
      if (depth == depth_max) return;
      depth_ = std::max(depth_, ++depth);
      const auto [entry, is_new] = known.try_emplace({at, name}, nodes_.size());
      if (is_new) {
        nodes_[at].children.push_back(nodes_.size());
        nodes_.push_back({name, 0, 0, {}});
      }
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
