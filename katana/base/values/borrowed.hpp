// Text and lists that a struct borrows: std::string_view and std::span as its members. Writers
// accept them, for replies with borrowed data. Readers do not.
//
// Thread     types only.
#pragma once

#include <concepts>
#include <span>
#include <string_view>

namespace katana {

// std::string_view.
template <class T>
concept BorrowedText = std::same_as<T, std::string_view>;
// std::span, of any type.
template <class T>
concept BorrowedList = std::same_as<T, std::span<typename T::element_type>>;

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
