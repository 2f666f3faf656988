// described_names: the names of a described struct's members as one array, for messages.
//
// Owns      nothing: names are literals.
// Thread    any; constants.
// Allocates never.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "katana/base/values/described.hpp"

namespace katana {

template <Described T>
inline constexpr auto described_names = []<std::size_t... index>(std::index_sequence<index...>) {
  return std::array<std::string_view, field_count<T>>{field_of<T, index>.name...};
}(std::make_index_sequence<field_count<T>>());

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
