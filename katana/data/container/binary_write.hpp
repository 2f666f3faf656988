// Binary writer: writes described structs, lists, dictionaries and Values in the compact binary
// format of docs/formats/binary.md. It has no names and no types, and numbers have variable size.
// It serves programs that share a description: caches, queues, shared files.
//
// Borrows    the value, for the call.
// Thread     the destination's.
// Allocates  only for the growth of the destination.
// Fails      false: the Outbox has no more blocks. REQUIRES that enumerators are described.
// Invariant  each value has only one form. REQUIRES that text is UTF-8: the reader refuses others.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "katana/base/system/check.hpp"
#include "katana/data/container/binary_layout.hpp"
#include "katana/data/container/endian.hpp"
#include "katana/data/container/output.hpp"

namespace katana::container {
namespace detail {

inline char* put_varint(char* at, std::uint64_t number) noexcept {
  while (number >= 0x80) {
    *at++ = static_cast<char>(number | 0x80);
    number >>= 7;
  }
  *at++ = static_cast<char>(number);
  return at;
}

template <class Output>
class BinaryWriter {
 public:
  explicit BinaryWriter(Output& output) : output_(output), at_(output.begin()) {}
  char* at() const noexcept { return at_; }

  void put_head(std::uint32_t fingerprint) {
    at_ = output_.reserve(at_, binary_head_bytes);
    std::memcpy(at_, binary_magic.data(), binary_magic.size());
    at_ = put_raw(at_ + binary_magic.size(), to_little(fingerprint));
  }

  template <class T>
  void put(const T& value) {
    if constexpr (is_optional<T>) {
      put_octet(value ? 1 : 0);
      if (value) put(*value);
    } else if constexpr (std::integral<T>) {
      put_integer(value);
    } else if constexpr (std::floating_point<T>) {
      put_real(value);
    } else if constexpr (TextMember<T>) {
      put_run(value.data(), value.size());
    } else if constexpr (BytesMember<T>) {
      put_run(reinterpret_cast<const char*>(value.data()), value.size());
    } else if constexpr (DescribedEnum<T>) {
      const std::size_t index = enumerator_index(value);
      KATANA_REQUIRE(index < enumerators_of<T>.size());
      put_count(index);
    } else if constexpr (TextFormed<T>) {
      const auto text = TextForm<T>::write(value);
      put_run(Bytes(text).data(), Bytes(text).size());
    } else if constexpr (Described<T>) {
      for_each_field(value, [this](const auto&, const auto& member) { this->put(member); });
    } else if constexpr (is_any_of<T>) {
      put_count(value.index());
      value.visit([this](const auto& content) { this->put(content); });
    } else if constexpr (is_box<T>) {
      put_octet(value ? 1 : 0);
      if (value) put(*value);
    } else if constexpr (DictionaryMember<T>) {
      put_count(value.size());
      for (const auto& [name, content] : value) {
        put(name);
        put(content);
      }
    } else if constexpr (ListMember<T>) {
      put_count(value.size());
      for (const auto& item : value) put(static_cast<const typename T::value_type&>(item));
    } else {
      value.visit([this](const auto& content) { this->put_tagged_value(content); });
    }
  }

 private:
  void put_octet(std::uint8_t octet) {
    at_ = output_.reserve(at_, 1);
    *at_++ = static_cast<char>(octet);
  }
  void put_count(std::uint64_t count) {
    at_ = put_varint(output_.reserve(at_, varint_bytes_max), count);
  }
  void put_run(const char* from, std::size_t size) {
    put_count(size);
    while (size > 0) {
      const std::size_t count = std::min(size, window_bytes_max);
      at_ = output_.reserve(at_, count);
      std::memcpy(at_, from, count);
      at_ += count;
      from += count;
      size -= count;
    }
  }
  template <class T>
  void put_integer(T number) {
    if constexpr (sizeof(T) == 1) {
      put_octet(static_cast<std::uint8_t>(number));
    } else if constexpr (std::signed_integral<T>) {
      put_count(to_zigzag(number));
    } else {
      put_count(number);
    }
  }
  template <class T>
  void put_real(T number) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    at_ = put_raw(output_.reserve(at_, sizeof(T)), to_little(std::bit_cast<Bits>(number)));
  }

  void put_tag(BinaryTag tag) { put_octet(static_cast<std::uint8_t>(tag)); }
  template <class T>
  void put_tagged_value(const T& content) {
    if constexpr (std::same_as<T, std::monostate>) {
      put_tag(BinaryTag::null);
    } else if constexpr (std::same_as<T, bool>) {
      put_tag(content ? BinaryTag::yes : BinaryTag::no);
    } else if constexpr (std::same_as<T, Object>) {
      put_tag(BinaryTag::object);
      put_count(content.size());
      for (const Member& member : content) {
        put(member.name);
        put(member.value);
      }
    } else {
      put_tag(std::same_as<T, std::int64_t>    ? BinaryTag::integer
              : std::same_as<T, std::uint64_t> ? BinaryTag::natural
              : std::same_as<T, double>        ? BinaryTag::real
              : std::same_as<T, std::string>   ? BinaryTag::text
              : std::same_as<T, Octets>        ? BinaryTag::octets
                                               : BinaryTag::list);
      put(content);
    }
  }

  Output& output_;
  char* at_;
};

template <class Output, class T>
bool write_binary_into(Output output, const T& value) {
  BinaryWriter<Output> writer(output);
  writer.put_head(fingerprint_of<T>);
  writer.put(value);
  return output.finish(writer.at());
}

}  // namespace detail

// Appends to `to`.
template <class T>
void write_binary(const T& value, std::string& to) {
  detail::write_binary_into(StringOutput(to), value);
}
// Appends to `to`.
template <class T>
void write_binary(const T& value, Text& to) {
  detail::write_binary_into(TextOutput(to), value);
}
// Appends to `to`. False: the reactor has no block left, and only a part was written.
template <class T>
[[nodiscard]] bool write_binary(const T& value, Outbox& to) {
  return detail::write_binary_into(OutboxOutput(to), value);
}

// Returns the bytes in a new string.
template <class T>
std::string to_binary(const T& value) {
  std::string octets;
  write_binary(value, octets);
  return octets;
}

}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
