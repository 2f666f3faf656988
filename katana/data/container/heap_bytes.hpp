// heap_bytes(value): the number of heap bytes that a value refers to, with the overhead of the
// allocator. A limit in bytes then bounds memory, and not only text.
//
// It knows numbers, enumerations and other trivially copyable types, strings, lists, dictionaries,
// optionals, smart pointers, pairs, and described structs of these. For another type the program
// defines a function in the namespace of the type:
//
//   std::size_t katana_heap_bytes(const Matrix& matrix) { return matrix.capacity() * 8; }
//
// Owns       nothing.
// Thread     the thread of the value.
// Allocates  never.
// Fails      an unknown type does not compile. known_heap_bytes() counts only the known part, and
//            says so.
// Invariant  never less than malloc of glibc takes for a new piece. A reused piece may be up to 16
//            bytes larger, because such a rest is too small for a separate piece.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "katana/base/text/text.hpp"
#include "katana/base/values/described.hpp"
#include "katana/data/container/value.hpp"

namespace katana::container {

// The number of bytes that malloc takes for a piece: its size with a head, in steps of 16, and at
// least 32. A separate mapping is rounded up to pages.
constexpr std::size_t allocation_bytes(std::size_t bytes) noexcept {
  constexpr std::size_t mapped_min = 128 * 1024;
  if (bytes >= mapped_min) return (bytes + 16 + 4095) & ~std::size_t{4095};
  const std::size_t rounded = (bytes + 8 + 15) & ~std::size_t{15};
  return rounded < 32 ? 32 : rounded;
}

namespace detail {

// The treatment of an unknown type: it does not compile.
struct EveryTypeIsKnown {
  template <class T>
  static std::size_t of_unknown() noexcept {
    static_assert(std::is_trivially_copyable_v<T>,
                  "what this type has on the heap is not known: describe it (KATANA_DESCRIBE), or "
                  "give it a katana_heap_bytes()");
    return 0;
  }
};
struct UnknownTypesAreNoted {
  bool is_all = true;
  template <class T>
  std::size_t of_unknown() noexcept {
    is_all = is_all && std::is_trivially_copyable_v<T>;
    return 0;
  }
};
template <class T, class Unknown>
std::size_t count_heap_bytes(const T& value, Unknown& unknown);

template <class T>
concept SaysHeapBytes = requires(const T& value) {
  { katana_heap_bytes(value) } -> std::convertible_to<std::size_t>;
};
template <class T>
concept Pointing = requires(const T& pointer) {
  typename T::element_type;
  { pointer.get() } -> std::convertible_to<const typename T::element_type*>;
};
template <class T>
concept Associative = requires(const T& items) {
  typename T::key_type;
  typename T::value_type;
  items.begin();
  items.size();
};
template <class T>
concept Contiguous = requires(const T& items) {
  typename T::value_type;
  { items.data() } -> std::convertible_to<const typename T::value_type*>;
  { items.capacity() } -> std::convertible_to<std::size_t>;
};
template <class T>
inline constexpr bool is_variant = false;
template <class... T>
inline constexpr bool is_variant<std::variant<T...>> = true;
template <class T>
inline constexpr bool is_pair = false;
template <class A, class B>
inline constexpr bool is_pair<std::pair<A, B>> = true;

// The head of a node: three pointers and a colour, or a pointer and a hash.
inline constexpr std::size_t node_head_bytes = 32;

inline std::size_t heap_bytes_of_value(const Value& value);

template <class T, class Unknown>
std::size_t items_heap_bytes(const T& items, Unknown& unknown) {
  if constexpr (std::is_trivially_copyable_v<typename T::value_type>) return 0;
  std::size_t bytes = 0;
  for (const auto& item : items) bytes += count_heap_bytes(item, unknown);
  return bytes;
}

template <class T, class Unknown>
std::size_t pointed_heap_bytes(const T& pointer, Unknown& unknown) {
  using Element = typename T::element_type;
  if (pointer == nullptr) return 0;
  std::size_t bytes = allocation_bytes(sizeof(Element)) + count_heap_bytes(*pointer, unknown);
  // The counts are a separate piece of at most five words, unless make_shared() made the pointer,
  // which it does not tell.
  if constexpr (requires { pointer.use_count(); }) bytes += allocation_bytes(40);
  return bytes;
}

template <class T, class Unknown>
std::size_t count_heap_bytes(const T& value, Unknown& unknown) {
  if constexpr (SaysHeapBytes<T>) {
    return katana_heap_bytes(value);
  } else if constexpr (std::same_as<T, Value>) {
    return heap_bytes_of_value(value);
  } else if constexpr (std::same_as<T, Text>) {
    return value.capacity() != 0 ? allocation_bytes(value.capacity()) : 0;
  } else if constexpr (std::same_as<T, std::string>) {
    constexpr std::size_t here_max = 15;  // a longer text is outside of the object
    return value.capacity() > here_max ? allocation_bytes(value.capacity() + 1) : 0;
  } else if constexpr (is_optional<T>) {
    return value ? count_heap_bytes(*value, unknown) : 0;
  } else if constexpr (is_pair<T>) {
    return count_heap_bytes(value.first, unknown) + count_heap_bytes(value.second, unknown);
  } else if constexpr (is_any_of<T>) {
    return value.visit([&](const auto& content) { return count_heap_bytes(content, unknown); });
  } else if constexpr (is_box<T>) {
    return value ? allocation_bytes(sizeof(*value)) + count_heap_bytes(*value, unknown) : 0;
  } else if constexpr (is_variant<T>) {
    return std::visit([&](const auto& content) { return count_heap_bytes(content, unknown); },
                      value);
  } else if constexpr (Contiguous<T>) {
    if (value.capacity() == 0) return 0;
    return allocation_bytes(value.capacity() * sizeof(typename T::value_type)) +
           items_heap_bytes(value, unknown);
  } else if constexpr (Associative<T>) {
    std::size_t bytes =
        value.size() * allocation_bytes(node_head_bytes + sizeof(typename T::value_type));
    if constexpr (requires { value.bucket_count(); }) {
      bytes += allocation_bytes(value.bucket_count() * sizeof(void*));
    }
    return bytes + items_heap_bytes(value, unknown);
  } else if constexpr (Described<T>) {
    std::size_t bytes = 0;
    for_each_field(value, [&](const auto&, const auto& member) {
      bytes += count_heap_bytes(member, unknown);
    });
    return bytes;
  } else if constexpr (Pointing<T>) {
    return pointed_heap_bytes(value, unknown);
  } else {
    return unknown.template of_unknown<T>();
  }
}

}  // namespace detail

// The number of heap bytes of a value, without sizeof(T), rounded as the allocator does.
template <class T>
std::size_t heap_bytes(const T& value) {
  detail::EveryTypeIsKnown unknown;
  return detail::count_heap_bytes(value, unknown);
}

// The known heap bytes of a value of any type.
struct KnownHeapBytes {
  std::size_t bytes = 0;  // on the heap; a lower bound unless is_all
  bool is_all = true;     // all types in the value are known
};
// Counts the heap bytes of a value. It compiles for every T, and counts 0 for an unknown type.
template <class T>
KnownHeapBytes known_heap_bytes(const T& value) {
  detail::UnknownTypesAreNoted unknown;
  const std::size_t bytes = detail::count_heap_bytes(value, unknown);
  return {bytes, unknown.is_all};
}

namespace detail {

inline std::size_t heap_bytes_of_value(const Value& value) {
  return value.visit([](const auto& content) -> std::size_t {
    using T = std::remove_cvref_t<decltype(content)>;
    if constexpr (std::same_as<T, Object>) {
      std::size_t bytes =
          content.empty() ? 0 : allocation_bytes(content.size() * 2 * sizeof(Member));
      for (const Member& member : content) {
        bytes += heap_bytes(member.name) + heap_bytes_of_value(member.value);
      }
      return bytes;
    } else if constexpr (std::same_as<T, List>) {
      std::size_t bytes = allocation_bytes(content.capacity() * sizeof(Value));
      for (const Value& item : content) bytes += heap_bytes_of_value(item);
      return bytes;
    } else {
      return heap_bytes(content);
    }
  });
}

}  // namespace detail
}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
