// Binary layout: the rules that the writer and the reader of the compact binary format share. They
// are the fingerprint of a type and the tags of a Value. docs/formats/binary.md describes each
// byte.
//
// Thread     any.
// Allocates  never.
// Invariant  two types have the same fingerprint if their bytes mean the same. It is a constant.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "katana/base/values/any_of.hpp"
#include "katana/base/values/box.hpp"
#include "katana/base/values/described.hpp"
#include "katana/data/container/value.hpp"

namespace katana::container::detail {

inline constexpr Bytes binary_magic = "KTB1";
inline constexpr std::size_t binary_head_bytes = 8;
// The largest size of a varint: 64 bits, seven in each byte.
inline constexpr std::size_t varint_bytes_max = 10;

enum class BinaryTag : std::uint8_t {
  null,
  no,
  yes,
  integer,
  natural,
  real,
  text,
  octets,
  list,
  object,
};

// A number of one byte, which is written directly. Wider numbers have as many bytes as their value
// needs.
template <class T>
concept OctetNumber = std::integral<T> && sizeof(T) == 1;

// The hash FNV-1a of 32 bits over the letters of a type.
class Fingerprint {
 public:
  constexpr void add(Bytes text) noexcept {
    for (const char c : text) {
      hash_ = (hash_ ^ static_cast<std::uint8_t>(c)) * 0x01000193u;
    }
  }
  constexpr std::uint32_t value() const noexcept { return hash_; }

 private:
  std::uint32_t hash_ = 0x811c9dc5u;
};

template <std::size_t depth, class T>
constexpr void add_type(Fingerprint& to);

template <std::size_t depth, class T>
constexpr void add_fields(Fingerprint& to) {
  to.add("{");
  for_each_field<T>([&to](const auto& field) {
    to.add(field.name);
    to.add(":");
    add_type<depth - 1, MemberOf<decltype(field)>>(to);
    to.add(",");
  });
  to.add("}");
}

// Adds a type to the fingerprint. `depth` ends the recursion of types that contain themselves.
template <std::size_t depth, class T>
constexpr void add_type(Fingerprint& to) {
  if constexpr (depth == 0) {
    to.add(".");
  } else if constexpr (is_optional<T>) {
    static_assert(!is_patch<T>, "no binary form: a Patch may be absent, and members have places");
    to.add("?");
    add_type<depth - 1, WithoutOptional<T>>(to);
  } else if constexpr (std::same_as<T, bool>) {
    to.add("b");
  } else if constexpr (OctetNumber<T>) {
    to.add(std::signed_integral<T> ? "a" : "A");
  } else if constexpr (std::integral<T>) {
    to.add(std::signed_integral<T> ? "i" : "I");
  } else if constexpr (std::floating_point<T>) {
    to.add(sizeof(T) == 4 ? "f" : "d");
  } else if constexpr (TextMember<T> || TextFormed<T>) {
    to.add("s");
  } else if constexpr (BytesMember<T>) {
    to.add("o");
  } else if constexpr (DescribedEnum<T>) {
    to.add("#");
    for_each_enumerator<T>([&to](const auto& each) {
      to.add(each.name);
      to.add(",");
    });
    to.add(";");
  } else if constexpr (Described<T>) {
    add_fields<depth, T>(to);
  } else if constexpr (is_any_of<T>) {
    to.add("|");
    for_each_type<T>([&to]<class A>(std::type_identity<A>) { add_type<depth - 1, A>(to); });
    to.add(";");
  } else if constexpr (is_box<T>) {
    to.add("*");
    add_type<depth - 1, typename T::element_type>(to);
  } else if constexpr (DictionaryMember<T>) {
    to.add("<");
    add_type<depth - 1, ElementOf<T>>(to);
  } else if constexpr (ListMember<T>) {
    to.add("[");
    add_type<depth - 1, ElementOf<T>>(to);
  } else {
    static_assert(std::same_as<T, Value>, "no binary form: describe this type (KATANA_DESCRIBE)");
    to.add("v");
  }
}

template <class T>
inline constexpr std::uint32_t fingerprint_of = [] {
  Fingerprint fingerprint;
  add_type<16, T>(fingerprint);
  return fingerprint.value();
}();

constexpr std::uint64_t to_zigzag(std::int64_t number) noexcept {
  return static_cast<std::uint64_t>(number) << 1 ^ static_cast<std::uint64_t>(number >> 63);
}
constexpr std::int64_t from_zigzag(std::uint64_t bits) noexcept {
  return static_cast<std::int64_t>(bits >> 1) ^ -static_cast<std::int64_t>(bits & 1);
}

// The index of an enumerator in its description; the number of enumerators if it is not described.
template <DescribedEnum E>
constexpr std::size_t enumerator_index(E value) noexcept {
  std::size_t index = 0;
  for (const auto& each : enumerators_of<E>) {
    if (each.value == value) break;
    ++index;
  }
  return index;
}

}  // namespace katana::container::detail

// SPDX-License-Identifier: Apache-2.0
