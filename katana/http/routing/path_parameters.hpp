// PathParameters: the values of the parameters in the pattern of the matched route.
//
// Borrows    names from the table of routes, values from the path.
// Thread     values.
// Allocates  never.
// Fails      never.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "katana/base/system/check.hpp"
#include "katana/base/text/bytes.hpp"

namespace katana {

// Limit of one pattern; build() reports a pattern with more.
inline constexpr std::size_t route_parameters_max = 16;

// One parameter of the route that matched.
struct PathParameter {
  Bytes name;   // from the table: valid as long as the table
  Bytes value;  // from the path: valid as long as the path; may still hold "%2F" and "%25"
};

// The values of the parameters of the matched pattern, in the order of the pattern. Values are
// offsets from the start of the path: when the path is copied elsewhere, rebase() follows it.
class PathParameters {
 public:
  std::size_t size() const noexcept { return count_; }
  bool empty() const noexcept { return count_ == 0; }
  // REQUIRES: index < size().
  PathParameter operator[](std::size_t index) const noexcept {
    KATANA_REQUIRE(index < count_);
    return {names_[index], value(index)};
  }
  std::optional<Bytes> find(Bytes name) const noexcept {
    for (std::size_t index = 0; index < count_; ++index) {
      if (names_[index] == name) return value(index);
    }
    return std::nullopt;
  }
  // REQUIRES: path points to the same bytes as the path that was matched.
  void rebase(const char* path) noexcept { path_ = path; }

 private:
  friend class RouteTable;
  struct Extent {
    std::uint32_t begin;
    std::uint32_t size;
  };
  Bytes value(std::size_t index) const noexcept {
    return {path_ + extents_[index].begin, extents_[index].size};
  }

  const Bytes* names_ = nullptr;
  const char* path_ = nullptr;
  std::uint32_t count_ = 0;
  std::array<Extent, route_parameters_max> extents_{};
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
