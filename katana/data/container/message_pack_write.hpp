// MessagePack writer: writes described structs, lists, dictionaries and Values as MessagePack,
// directly into their destination (string, Text or Outbox).
//
//   described struct   map with the names of the members, in the order of the description
//                      (an absent Patch is left out, a variant's discriminator comes first)
//   std::optional      nil when empty          described enum        str, the enumerator's name
//   AnyOf, Box         its value
//   list, dictionary   array, map              std::vector<std::byte>, Octets     bin
//   integer            the shortest form; an unsigned form if it is not negative
//   float, double      float 32, float 64; every bit stays, also of NaN
//
// Borrows    the value, for the call.
// Allocates  only for the growth of the destination.
// Fails      false: the Outbox has no more blocks. Written bytes stay in it.
// Invariant  text is written unchanged. REQUIRES that text is UTF-8: readers refuse other bytes. A
//            list, map or text has at most 2^32 - 1 items or bytes.
// Source     the MessagePack specification (msgpack/spec.md), without extension types.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <variant>

#include "katana/base/system/check.hpp"
#include "katana/base/values/described.hpp"
#include "katana/base/values/described_variant.hpp"
#include "katana/data/container/endian.hpp"
#include "katana/data/container/output.hpp"
#include "katana/data/container/value.hpp"

namespace katana::container {
namespace detail {

// The tags of a type with a length: a short form that includes it, and forms of 1, 2 and 4 bytes.
struct PackHead {
  std::uint8_t fixed, fixed_count;  // lengths below fixed_count are in the tag; 0: none
  std::uint8_t tag8, tag16, tag32;  // 0: there is no such form
};
inline constexpr PackHead pack_text{0xa0, 32, 0xd9, 0xda, 0xdb};
inline constexpr PackHead pack_octets{0, 0, 0xc4, 0xc5, 0xc6};
inline constexpr PackHead pack_list{0x90, 16, 0, 0xdc, 0xdd};
inline constexpr PackHead pack_map{0x80, 16, 0, 0xde, 0xdf};
inline constexpr std::size_t pack_head_bytes_max = 5;
inline constexpr std::size_t pack_scalar_bytes_max = 9;

template <class T>
char* put_tagged(char* at, std::uint8_t tag, T number) noexcept {
  *at++ = static_cast<char>(tag);
  return put_raw(at, to_big(number));
}

template <PackHead head>
char* put_head(char* at, std::size_t count) noexcept {
  if (count < head.fixed_count) {
    *at++ = static_cast<char>(head.fixed | count);
    return at;
  }
  if (head.tag8 != 0 && count <= UINT8_MAX) {
    return put_tagged(at, head.tag8, static_cast<std::uint8_t>(count));
  }
  if (count <= UINT16_MAX) return put_tagged(at, head.tag16, static_cast<std::uint16_t>(count));
  KATANA_REQUIRE(count <= UINT32_MAX);
  return put_tagged(at, head.tag32, static_cast<std::uint32_t>(count));
}

inline char* put_pack_natural(char* at, std::uint64_t number) noexcept {
  if (number < 0x80) {
    *at++ = static_cast<char>(number);
    return at;
  }
  if (number <= UINT8_MAX) return put_tagged(at, 0xcc, static_cast<std::uint8_t>(number));
  if (number <= UINT16_MAX) return put_tagged(at, 0xcd, static_cast<std::uint16_t>(number));
  if (number <= UINT32_MAX) return put_tagged(at, 0xce, static_cast<std::uint32_t>(number));
  return put_tagged(at, 0xcf, number);
}

inline char* put_pack_integer(char* at, std::int64_t number) noexcept {
  const auto bits = static_cast<std::uint64_t>(number);
  if (number >= 0) return put_pack_natural(at, bits);
  if (number >= -32) {
    *at++ = static_cast<char>(number);
    return at;
  }
  if (number >= INT8_MIN) return put_tagged(at, 0xd0, static_cast<std::uint8_t>(bits));
  if (number >= INT16_MIN) return put_tagged(at, 0xd1, static_cast<std::uint16_t>(bits));
  if (number >= INT32_MIN) return put_tagged(at, 0xd2, static_cast<std::uint32_t>(bits));
  return put_tagged(at, 0xd3, bits);
}

// The name of a member; for the first one, with the head of the map.
template <Described T, std::size_t index, bool alone = false>
inline constexpr auto pack_key = [] {
  constexpr Bytes name = field_of<T, index>.name;
  static_assert(name.size() <= UINT8_MAX && field_count<T> <= UINT16_MAX);
  constexpr std::size_t map_bytes = alone || index != 0 ? 0 : field_count<T> < 16 ? 1 : 3;
  constexpr std::size_t name_bytes = name.size() < 32 ? 1 : 2;
  std::array<char, map_bytes + name_bytes + name.size()> text{};
  char* at = text.data();
  if (map_bytes == 1) *at++ = static_cast<char>(0x80 | field_count<T>);
  if (map_bytes == 3) {
    *at++ = static_cast<char>(0xde);
    *at++ = static_cast<char>(field_count<T> >> 8);
    *at++ = static_cast<char>(field_count<T> & 0xff);
  }
  if (name_bytes == 2) *at++ = static_cast<char>(0xd9);
  *at++ = static_cast<char>(name_bytes == 2 ? name.size() : 0xa0 | name.size());
  for (const char c : name) *at++ = c;
  return text;
}();

// Copies bytes of any number, piece by piece.
template <class Output>
char* put_long(Output& output, char* at, const char* from, std::size_t size) {
  while (size > 0) {
    const std::size_t count = std::min(size, window_bytes_max);
    at = output.reserve(at, count);
    std::memcpy(at, from, count);
    at += count;
    from += count;
    size -= count;
  }
  return at;
}

template <class Output>
class PackWriter {
 public:
  explicit PackWriter(Output& output) : output_(output), at_(output.begin()) {}
  char* at() const noexcept { return at_; }

  template <class T>
  [[gnu::always_inline]] void put(const T& value) {
    if constexpr (is_optional<T>) {
      if (value) {
        put(*value);
      } else {
        put_nil();
      }
    } else if constexpr (std::same_as<T, bool>) {
      put_tag(value ? 0xc3 : 0xc2);
    } else if constexpr (NumberMember<T>) {
      put_number(value);
    } else if constexpr (TextMember<T>) {
      put_run<pack_text>(value.data(), value.size());
    } else if constexpr (BytesMember<T>) {
      put_run<pack_octets>(reinterpret_cast<const char*>(value.data()), value.size());
    } else if constexpr (DescribedEnum<T>) {
      const Bytes name = enumerator_name(value);
      put_run<pack_text>(name.data(), name.size());
    } else if constexpr (TextFormed<T>) {
      const auto text = TextForm<T>::write(value);
      put_run<pack_text>(Bytes(text).data(), Bytes(text).size());
    } else if constexpr (Described<T>) {
      put_struct(value);
    } else {
      put_container(value);
    }
  }

 private:
  void put_tag(std::uint8_t tag) {
    at_ = output_.reserve(at_, 1);
    *at_++ = static_cast<char>(tag);
  }
  void put_nil() { put_tag(0xc0); }

  template <class T>
  void put_number(T value) {
    at_ = output_.reserve(at_, pack_scalar_bytes_max);
    if constexpr (std::same_as<T, float>) {
      at_ = put_tagged(at_, 0xca, std::bit_cast<std::uint32_t>(value));
    } else if constexpr (std::floating_point<T>) {
      at_ = put_tagged(at_, 0xcb, std::bit_cast<std::uint64_t>(static_cast<double>(value)));
    } else if constexpr (std::unsigned_integral<T>) {
      at_ = put_pack_natural(at_, value);
    } else {
      at_ = put_pack_integer(at_, value);
    }
  }

  template <PackHead head>
  void put_run(const char* from, std::size_t size) {
    constexpr std::size_t short_bytes = window_bytes_max - pack_head_bytes_max;
    if (size > short_bytes) [[unlikely]] {
      at_ = put_head<head>(output_.reserve(at_, pack_head_bytes_max), size);
      at_ = put_long(output_, at_, from, size);
      return;
    }
    at_ = put_head<head>(output_.reserve(at_, pack_head_bytes_max + size), size);
    if (size != 0) std::memcpy(at_, from, size);
    at_ += size;
  }

  // Writes a map of the members that are not absent.
  template <class T>
  [[gnu::noinline]] void put_present(const T& value) {
    put_count<pack_map>(count_present(value));
    put_members(value);
  }
  template <class T>
  static std::size_t count_present(const T& value) {
    std::size_t count = 0;
    for_each_field(value, [&](const auto&, const auto& member) { count += is_there(member); });
    return count;
  }
  template <class V>
  void put_variant(const V& value) {
    constexpr const auto& description = alternatives_of<V>;
    const Bytes name = description.names[value.index()];
    std::visit(
        [&](const auto& alternative) {
          put_count<pack_map>(1 + count_present(alternative));
          put_run<pack_text>(description.discriminator.data(), description.discriminator.size());
          put_run<pack_text>(name.data(), name.size());
          put_members(alternative);
        },
        value);
  }
  template <class M>
  static bool is_there(const M& member) noexcept {
    if constexpr (is_patch<M>) return !member.is_absent();
    return true;
  }
  template <class T>
  void put_members(const T& value) {
    for_each_index<T>([&](auto index) {
      const auto& member = value.*field_of<T, index>.pointer;
      if (!is_there(member)) return;
      constexpr const auto& key = pack_key<T, index, true>;
      at_ = output_.reserve(at_, key.size());
      std::memcpy(at_, key.data(), key.size());
      at_ += key.size();
      put(member);
    });
  }

  template <class T>
  void put_struct(const T& value) {
    if constexpr (has_patches<T>) {
      put_present(value);
      return;
    }
    for_each_index<T>([&](auto index) __attribute__((always_inline)) {
      constexpr const auto& key = pack_key<T, index>;
      at_ = output_.reserve(at_, key.size());
      std::memcpy(at_, key.data(), key.size());
      at_ += key.size();
      put(value.*field_of<T, index>.pointer);
    });
  }

  template <PackHead head>
  void put_count(std::size_t count) {
    at_ = put_head<head>(output_.reserve(at_, pack_head_bytes_max), count);
  }

  template <class T>
  [[gnu::noinline]] void put_container(const T& value) {
    if constexpr (std::same_as<T, Value>) {
      value.visit([this](const auto& content) { this->put(content); });
    } else if constexpr (std::same_as<T, std::monostate>) {
      put_nil();
    } else if constexpr (std::same_as<T, Object>) {
      put_count<pack_map>(value.size());
      for (const Member& member : value) {
        put(member.name);
        put(member.value);
      }
    } else if constexpr (DescribedVariant<T>) {
      put_variant(value);
    } else if constexpr (is_any_of<T>) {
      value.visit([this](const auto& content) { this->put(content); });
    } else if constexpr (is_box<T>) {
      if (value) {
        put(*value);
      } else {
        put_nil();
      }
    } else if constexpr (DictionaryMember<T>) {
      put_count<pack_map>(value.size());
      for (const auto& [name, content] : value) {
        put(name);
        put(content);
      }
    } else {
      static_assert(ListMember<T>, "no MessagePack for this type: describe it (KATANA_DESCRIBE)");
      put_count<pack_list>(value.size());
      for (const auto& item : value) put(static_cast<const typename T::value_type&>(item));
    }
  }

  Output& output_;
  char* at_;
};

template <class Output, class T>
bool write_message_pack_into(Output output, const T& value) {
  PackWriter<Output> writer(output);
  writer.put(value);
  return output.finish(writer.at());
}

}  // namespace detail

// Appends to `to`.
template <class T>
void write_message_pack(const T& value, std::string& to) {
  detail::write_message_pack_into(StringOutput(to), value);
}
// Appends to `to`.
template <class T>
void write_message_pack(const T& value, Text& to) {
  detail::write_message_pack_into(TextOutput(to), value);
}
// Appends to `to`. False: the reactor has no block left, and only a part was written.
template <class T>
[[nodiscard]] bool write_message_pack(const T& value, Outbox& to) {
  return detail::write_message_pack_into(OutboxOutput(to), value);
}

// Returns the bytes in a new string.
template <class T>
std::string to_message_pack(const T& value) {
  std::string octets;
  write_message_pack(value, octets);
  return octets;
}

}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
