// Text and lists that a struct borrows: std::string_view and std::span as its members. They can be
// written, for replies that show what others own; nothing reads into them.
//
// Thread     types only.
#pragma once

#include <concepts>
#include <span>
#include <string_view>

namespace katana {

template <class T>
concept BorrowedText = std::same_as<T, std::string_view>;
template <class T>
inline constexpr bool is_span = false;
template <class T>
inline constexpr bool is_span<std::span<T>> = true;
template <class T>
concept BorrowedList = is_span<T>;

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
