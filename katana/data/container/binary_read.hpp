// Binary reader: reads the compact binary format of docs/formats/binary.md into described structs,
// lists, dictionaries and Values. The type must be the one that was written: another fingerprint is
// refused before anything is read.
//
// Borrows    the bytes, for the call.
// Thread     any.
// Allocates  for the members.
// Fails      Findings: one with the place of malformed bytes, or all rules that the values break.
// Invariant  reads nothing outside of the bytes. It allocates memory only for the present part of a
//            list. An accepted Value is written back to the same bytes.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "katana/base/system/result.hpp"
#include "katana/data/container/binary_layout.hpp"
#include "katana/data/container/endian.hpp"
#include "katana/data/container/reading.hpp"

namespace katana::container {
namespace detail {

class BinaryReader {
 public:
  BinaryReader(Bytes octets, Findings& findings, const ReadOptions& options)
      : octets_(octets), left_(octets), reading_(findings, options, {"binary", offset, this}) {}
  BinaryReader(const BinaryReader&) = delete;
  BinaryReader& operator=(const BinaryReader&) = delete;

  bool take_head(std::uint32_t fingerprint);
  // Ends the input. False: more bytes follow, and it is noted.
  bool close() { return left_.empty() || malformed("something follows the value"); }

  // Takes a value. False: it is malformed, and noted.
  template <class T>
  bool take(T& value) {
    if constexpr (is_optional<T>) {
      bool is_there = false;
      value.reset();
      return take_flag(is_there) && (!is_there || take(value.emplace()));
    } else if constexpr (std::same_as<T, bool>) {
      return take_flag(value);
    } else if constexpr (std::integral<T>) {
      return take_integer(value);
    } else if constexpr (std::floating_point<T>) {
      return take_real(value);
    } else if constexpr (TextMember<T>) {
      return take_text(value);
    } else if constexpr (BytesMember<T>) {
      return take_octets(value);
    } else if constexpr (DescribedEnum<T>) {
      return take_enumerator(value);
    } else if constexpr (TextFormed<T>) {
      return take_text_form(value);
    } else if constexpr (Described<T>) {
      bool good = true;
      for_each_field(value, [&](const auto&, auto& member) { good = good && take(member); });
      return good;
    } else if constexpr (is_any_of<T>) {
      return take_any_of(value);
    } else if constexpr (is_box<T>) {
      return take_box(value);
    } else if constexpr (std::same_as<T, Value>) {
      return take_value(value);
    } else {
      return take_items(value);
    }
  }

 private:
  static std::optional<std::size_t> offset(const void* self) noexcept;
  KATANA_RARE bool malformed(Bytes words) { return reading_.malformed(words) == Outcome::good; }

  bool take_varint(std::uint64_t& number);
  bool take_flag(bool& flag);
  bool take_run(Bytes& run);
  bool take_text(std::string& text);
  bool take_octets(Octets& octets);
  // Takes a count of items. It is at most the number of left bytes: each item has at least one.
  bool take_count(std::uint64_t& count);
  bool take_value(Value& value);
  bool take_list(Value& value);
  bool take_object(Value& value);

  template <TextFormed T>
  bool take_text_form(T& value) {
    Bytes run;
    if (!take_run(run)) return false;
    std::optional<T> parsed = TextForm<T>::parse(run);
    if (!parsed) return malformed("text that its type does not have");
    value = *std::move(parsed);
    return true;
  }

  template <class T>
  bool take_integer(T& value) {
    if constexpr (sizeof(T) == 1) {
      if (left_.empty()) return malformed("it ends within a value");
      value = static_cast<T>(left_.front());
      left_.remove_prefix(1);
      return true;
    } else {
      std::uint64_t bits = 0;
      if (!take_varint(bits)) return false;
      if constexpr (std::signed_integral<T>) {
        if (!std::in_range<T>(from_zigzag(bits))) return malformed("an integer that is too large");
        value = static_cast<T>(from_zigzag(bits));
      } else {
        if (!std::in_range<T>(bits)) return malformed("an integer that is too large");
        value = static_cast<T>(bits);
      }
      return true;
    }
  }

  template <class T>
  bool take_real(T& value) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    if (left_.size() < sizeof(T)) return malformed("it ends within a value");
    value = std::bit_cast<T>(to_little(get_raw<Bits>(left_.data())));
    left_.remove_prefix(sizeof(T));
    return true;
  }

  template <class E>
  bool take_enumerator(E& value) {
    std::uint64_t index = 0;
    if (!take_varint(index)) return false;
    if (index >= enumerators_of<E>.size()) return malformed("an enumerator that there is not");
    value = enumerators_of<E>[index].value;
    return true;
  }

  template <class T>
  bool take_any_of(T& value) {
    std::uint64_t wanted = 0;
    if (!take_varint(wanted)) return false;
    bool good = false;
    bool is_known = false;
    std::size_t index = 0;
    for_each_type<T>([&]<class A>(std::type_identity<A>) {
      if (index++ != wanted) return;
      is_known = true;
      good = take(value.template emplace<A>());
    });
    return is_known ? good : malformed("an alternative that there is not");
  }

  // Takes a Box, the only kind of value that may contain its type without a list.
  template <class T>
  bool take_box(T& value) {
    bool is_there = false;
    value = T();
    if (!take_flag(is_there)) return false;
    if (!is_there) return true;
    if (!reading_.enter()) return reading_.too_deep() == Outcome::good;
    if (!take(value.emplace())) return false;
    reading_.leave();
    return true;
  }

  template <class T>
  bool take_items(T& items) {
    std::uint64_t count = 0;
    items.clear();
    if (!take_count(count)) return false;
    if (!reading_.enter()) return reading_.too_deep() == Outcome::good;
    for (; count > 0; --count) {
      if (!take_item(items)) return false;
    }
    reading_.leave();
    return !has_duplicates_in_items(items) || malformed("a name is there twice");
  }

  template <class T>
  bool take_item(T& items) {
    if constexpr (DictionaryMember<T>) {
      std::string name;
      if (!take_text(name)) return false;
      auto* const content = add_entry(items, std::move(name));
      return content != nullptr ? take(*content) : malformed("a name is there twice");
    } else {
      typename T::value_type item{};
      if (!take(item)) return false;
      items.push_back(std::move(item));
      return true;
    }
  }

  template <class T>
  static bool has_duplicates_in_items(const T& items) {
    if constexpr (DictionaryMember<T>) return has_duplicates_in(items);
    return false;
  }

  Bytes octets_;
  Bytes left_;
  Reading reading_;
};

template <class T>
void check_read(const T& value, Findings& findings) {
  std::string pointer;
  auto report = [&findings](Bytes place, std::string words) {
    findings.add(std::string(place), std::move(words));
  };
  if constexpr (!std::same_as<T, Value> && !is_optional<T>) {
    katana::detail::CountedReport<decltype(report)> counted{report};
    katana::detail::check_at(Rules<T>(), value, pointer, counted);
  }
}

}  // namespace detail

// Reads bytes into `value`. False: see `findings`; `value` is partly filled.
template <class T>
bool read_binary(Bytes octets, T& value, Findings& findings, const ReadOptions& options = {}) {
  detail::BinaryReader reader(octets, findings, options);
  if (!reader.take_head(detail::fingerprint_of<T>) || !reader.take(value) || !reader.close()) {
    return false;
  }
  detail::check_read(value, findings);
  return findings.empty();
}

template <class T>
Result<T> read_binary(Bytes octets, const ReadOptions& options = {}) {
  Result<T> value{std::in_place};
  Findings findings(options.findings_max);
  if (!read_binary(octets, *value, findings, options)) return std::unexpected(findings.error());
  return value;
}

}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
