// KeyForm<Key>: the bytes that a key is found by, in memory and in a second level.
//
//   std::string               itself; a view or a literal finds it, too
//   integers, enumerations    8 bytes, the lowest first
//   text forms (Uuid, Date)   their text
//   described structs         their compact binary form (data/container/binary_write.hpp)
//
// Owns       nothing.
// Thread     any.
// Allocates  for described structs, and for text forms.
// Fails      never.
// Invariant  different keys of one type have different bytes.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/described.hpp"
#include "katana/base/values/text_form.hpp"
#include "katana/data/container/binary_write.hpp"
#include "katana/data/container/endian.hpp"

namespace katana::cache {

// Gives use(Bytes) the bytes of the key.
template <class Key, class Use>
decltype(auto) with_key_octets(const Key& key, Use&& use) {
  if constexpr (std::is_convertible_v<const Key&, Bytes>) {
    return use(Bytes(key));
  } else if constexpr (std::integral<Key> || std::is_enum_v<Key>) {
    const std::uint64_t number = container::detail::to_little(static_cast<std::uint64_t>(key));
    return use(Bytes(reinterpret_cast<const char*>(&number), sizeof number));
  } else if constexpr (TextFormed<Key>) {
    const auto text = TextForm<Key>::write(key);
    return use(Bytes(text));
  } else {
    static_assert(Described<Key>, "describe this type (KATANA_DESCRIBE) to make keys of it");
    return use(Bytes(container::to_binary(key)));
  }
}

}  // namespace katana::cache

// SPDX-License-Identifier: Apache-2.0
