// TypeInfo: one object for each type. It identifies the type, and has its name for messages.
//
// Owns       nothing; the name is a literal of the compiler's.
// Thread     any.
// Allocates  never.
// Fails      never.
// Invariant  the address is the same in every file of one program. Libraries that are loaded with
//            RTLD_LOCAL have different addresses.
#pragma once

#include <string_view>
#include <type_traits>

namespace katana::registry {

struct TypeInfo {
  std::string_view name;  // as the compiler writes it, with namespaces
};

namespace detail {

// The name "a::B" from "… raw_name() [with T = a::B]" (g++) or "… raw_name() [T = a::B]" (clang).
template <class T>
constexpr std::string_view raw_name() {
  const std::string_view all = __PRETTY_FUNCTION__;
  const std::size_t begin = all.find("T = ") + 4;
  const std::size_t end = all.find(';', begin);  // g++ goes on with "; std::string_view = …"
  return all.substr(begin, (end == all.npos ? all.size() - 1 : end) - begin);
}

template <class T>
inline constexpr TypeInfo type_info{raw_name<T>()};

}  // namespace detail

// The TypeInfo of T; compare addresses.
template <class T>
constexpr const TypeInfo* type_info_of() {
  static_assert(std::is_same_v<T, std::remove_cvref_t<T>> && !std::is_pointer_v<T>,
                "name the interface itself: T, not const T, T& or T*");
  return &detail::type_info<T>;
}

}  // namespace katana::registry

// SPDX-License-Identifier: Apache-2.0
