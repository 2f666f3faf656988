// shares_of(): operations in their order, as sources of about the same weight.
//
// Thread     any.
// Allocates  the result.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace katana::openapi::generate {

// A source, and what a compiler does for it: the sum of OperationPlan::weight.
struct SourceText {
  std::string text;    // the whole of it
  std::size_t weight;  // in members of structs
};

// The operations from `begin` to before `end`.
struct Share {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t weight = 0;  // of these together
};

// Items have a `weight`. A share is heavier than `weight_max` only if it has one item. There is at
// least one share.
template <class Item>
std::vector<Share> shares_of(const std::vector<Item>& items, std::size_t weight_max) {
  std::vector<Share> shares(1);
  for (std::size_t at = 0; at < items.size(); ++at) {
    const std::size_t weight = items[at].weight;
    const Share& last = shares.back();
    if (last.end != last.begin && last.weight + weight > weight_max) {
      shares.push_back({.begin = at, .end = at, .weight = 0});
    }
    shares.back().end = at + 1;
    shares.back().weight += weight;
  }
  return shares;
}

}  // namespace katana::openapi::generate

// SPDX-License-Identifier: Apache-2.0
