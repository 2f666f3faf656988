// CallTree: the stacks of a profile as a tree from the outermost function, each with the time
// within. The first level are routes.
//
// Owns       its nodes.
// Thread     a value.
// Allocates  freely.
// Fails      never. Deeper calls than depth_max are left out, and those of the rarest stacks when
//            there are nodes_max. Their time is then that of their caller.
// Invariant  the time of a node is at least that of its children together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "katana/observe/profile/profile.hpp"

namespace katana::profile {

inline constexpr std::size_t nodes_max = 100'000;  // of a tree; further ones are left out
inline constexpr std::size_t depth_max = 512;      // of inlined functions together with their calls

class CallTree {
 public:
  explicit CallTree(const Profile& profile);

  // A function below one chain of calls.
  struct Node {
    std::string name;                   // as names_of() gives it; of the first level: a route
    std::int64_t ns = 0;                // with the children
    std::int64_t own_ns = 0;            // without
    std::vector<std::size_t> children;  // indices into nodes()
  };
  // The root is the first; its name is "all".
  const std::vector<Node>& nodes() const noexcept { return nodes_; }
  std::size_t depth() const noexcept { return depth_; }  // of the deepest node; the root: 0

 private:
  std::vector<Node> nodes_;
  std::size_t depth_ = 0;
};

// The stacks of the profile, for outputs that have no room for all of them.
std::vector<const Found*> most_frequent_first(const Profile& profile);
// The first name of a stack: its route, or "(no route)".
std::string route_name_of(const Labels& labels);

}  // namespace katana::profile

// SPDX-License-Identifier: Apache-2.0
