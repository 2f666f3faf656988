// Capture: how the arguments of a record become bytes on the logging thread, and which types may be
// arguments at all.
//
//   type                                   kind              bytes
//   bool                                   boolean           1
//   char                                   character         1
//   integers of up to 64 bits, plain enums signed, unsigned  8, host order
//   float, double                          real32, real64    4, 8
//   const void* and std::nullptr_t         pointer           8
//   text: std::string, string_view, char*  text              4 (length; top bit: cut) and text
//   Rendered<> (field.hpp)                 text              as above
//   structs with KATANA_DESCRIBE           object … end      those of the members, in order
//   members of them marked secret          text              "***": the value is not even read
//
// Thread     the caller's.
// Allocates  never.
// Fails      never: text longer than text_bytes_max is cut and marked.
// Invariant  a Shape is static and describes the bytes of its arguments completely, except lengths.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/described.hpp"
#include "katana/observe/log/field.hpp"

namespace katana::log {

// The kind of a captured value; the table above has the bytes of each.
enum class Kind : std::uint8_t {
  boolean,           // one byte
  character,         // one byte
  signed_integer,    // eight bytes
  unsigned_integer,  // eight bytes
  real32,            // four bytes, float
  real64,            // eight bytes, double
  pointer,           // eight bytes
  text,              // length and bytes
  object,            // its members follow
  object_end,        // after the last member
};
inline constexpr std::uint8_t kind_count = 10;  // for arrays by Kind

inline constexpr std::uint32_t text_bytes_max = 4 * 1024;  // of one argument
// Set in the captured length of text that was longer than text_bytes_max.
inline constexpr std::uint32_t text_cut_bit = 1u << 31;
inline constexpr std::size_t slots_max = 64;  // of one record, members of structs included

// One value among the bytes. Only members of a described struct have a name here.
struct Slot {
  Kind kind;   // how it was captured
  Bytes name;  // of a member; otherwise empty
};

// The values of one call site, in order. A constant of the program.
struct Shape {
  const Slot* slots;               // slot_count of them
  std::uint16_t slot_count;        // of arguments and fields; members count
  std::uint16_t field_count;       // of field() arguments
  std::uint16_t positional_slots;  // those before the first field
};

// Text of a known length: measured once, copied once.
struct CapturedText {
  Bytes kept;  // at most text_bytes_max bytes of it
  bool cut;    // the text was longer
};

// Views into `text`.
constexpr CapturedText capture_text(Bytes text) noexcept {
  return {text.substr(0, text_bytes_max), text.size() > text_bytes_max};
}

// Captured as text: types that convert to Bytes or have bytes().
template <class T>
concept Textual = std::convertible_to<const T&, Bytes> || requires(const T& text) {
  { text.bytes() } -> std::same_as<Bytes>;
};

// Whether T is a Rendered<>.
template <class T>
inline constexpr bool is_rendered = false;
template <std::size_t bytes_max>
inline constexpr bool is_rendered<Rendered<bytes_max>> = true;

// Whether T is a Field<>.
template <class T>
inline constexpr bool is_field = false;
template <class T>
inline constexpr bool is_field<Field<T>> = true;

// An integer of at most 64 bits, including bool and char.
template <class T>
concept Integral64 = std::integral<T> && sizeof(T) <= 8;
// Captured as its number; an enum class is described instead.
template <class T>
concept PlainEnum = std::is_enum_v<T> && std::convertible_to<T, std::int64_t>;
// Captured as an address: nullptr and pointers to void.
template <class T>
concept Pointer = std::same_as<T, std::nullptr_t> ||
                  (std::is_pointer_v<T> && std::is_void_v<std::remove_pointer_t<T>>);

// The types of arguments and fields of a record.
template <class T>
concept Loggable =
    Integral64<T> || PlainEnum<T> || std::same_as<T, float> || std::same_as<T, double> ||
    Pointer<T> || Textual<T> || is_rendered<T> || Described<T>;

// The form of an argument in which it is measured and copied.
template <class T>
constexpr auto capture(const T& value) noexcept {
  static_assert(Loggable<T>,
                "a record cannot keep this type as it is: describe it (KATANA_DESCRIBE), convert "
                "it, or have it formatted at the call with log::rendered(value)");
  if constexpr (is_rendered<T>) {
    const CapturedText text = capture_text(value.kept());
    return CapturedText{text.kept, text.cut || value.cut()};
  } else if constexpr (std::same_as<std::decay_t<T>, char*> ||
                       std::same_as<std::decay_t<T>, const char*>) {
    const char* const text = value;
    return capture_text(text != nullptr ? Bytes(text) : Bytes("(null)"));
  } else if constexpr (std::convertible_to<const T&, Bytes>) {
    return capture_text(static_cast<Bytes>(value));
  } else if constexpr (Textual<T>) {
    return capture_text(value.bytes());
  } else if constexpr (std::same_as<T, bool> || std::same_as<T, char> || std::floating_point<T>) {
    return value;
  } else if constexpr (std::unsigned_integral<T>) {
    return static_cast<std::uint64_t>(value);
  } else if constexpr (Integral64<T> || PlainEnum<T>) {
    return static_cast<std::int64_t>(value);
  } else if constexpr (Pointer<T>) {
    return std::bit_cast<std::uintptr_t>(static_cast<const void*>(value));
  } else {
    return &value;  // a described struct: its members are captured when they are copied
  }
}
template <class T>
constexpr auto capture(const Field<T>& one) noexcept {
  return capture(one.value);
}

// Calls use(captured) for each member of a described struct, in order.
template <class T, class Use>
constexpr void for_each_captured(const T& value, Use&& use) noexcept {
  for_each_index<T>([&](auto index) {
    if constexpr (field_of<T, index>.rules.secret) {
      use(CapturedText{hidden_value, false});
    } else {
      use(capture(value.*field_of<T, index>.pointer));
    }
  });
}

// The number of bytes that put() writes.
template <class T>
constexpr std::size_t captured_bytes(const T& captured) noexcept {
  if constexpr (std::same_as<T, CapturedText>) {
    return 4 + captured.kept.size();
  } else if constexpr (std::is_pointer_v<T>) {
    std::size_t bytes = 0;
    for_each_captured(*captured, [&](const auto& member) { bytes += captured_bytes(member); });
    return bytes;
  } else {
    return sizeof(T);
  }
}

// As memcpy, without its call for short texts, which most are: two copies that may overlap.
inline void copy_text(char* to, const char* from, std::size_t size) noexcept {
  const auto copy_ends = [&]<std::size_t width>(std::array<char, width> head) {
    std::array<char, width> tail;
    std::memcpy(head.data(), from, width);
    std::memcpy(tail.data(), from + size - width, width);
    std::memcpy(to, head.data(), width);
    std::memcpy(to + size - width, tail.data(), width);
  };
  if (size > 32)
    std::memcpy(to, from, size);
  else if (size >= 16)
    copy_ends(std::array<char, 16>());
  else if (size >= 8)
    copy_ends(std::array<char, 8>());
  else if (size >= 4)
    copy_ends(std::array<char, 4>());
  else
    for (std::size_t index = 0; index < size; ++index) to[index] = from[index];
}

// Copies one captured argument to `at`; returns its end.
template <class T>
inline char* put(char* at, const T& captured) noexcept {
  if constexpr (std::same_as<T, CapturedText>) {
    const auto size = static_cast<std::uint32_t>(captured.kept.size());
    const std::uint32_t length = size | (captured.cut ? text_cut_bit : 0);
    std::memcpy(at, &length, 4);
    copy_text(at + 4, captured.kept.data(), size);
    return at + 4 + size;
  } else if constexpr (std::is_pointer_v<T>) {
    for_each_captured(*captured, [&](const auto& member) { at = put(at, member); });
    return at;
  } else {
    std::memcpy(at, &captured, sizeof captured);
    return at + sizeof captured;
  }
}

namespace detail {

template <class T>
constexpr Kind kind_of() {
  if constexpr (is_rendered<T> || Textual<T>)
    return Kind::text;
  else if constexpr (std::same_as<T, bool>)
    return Kind::boolean;
  else if constexpr (std::same_as<T, char>)
    return Kind::character;
  else if constexpr (std::same_as<T, float>)
    return Kind::real32;
  else if constexpr (std::same_as<T, double>)
    return Kind::real64;
  else if constexpr (std::unsigned_integral<T>)
    return Kind::unsigned_integer;
  else if constexpr (std::integral<T> || std::is_enum_v<T>)
    return Kind::signed_integer;
  else
    return Kind::pointer;
}

template <class T>
constexpr std::size_t slot_count() {
  if constexpr (is_field<T>) {
    return slot_count<std::remove_cvref_t<decltype(T::value)>>();
  } else if constexpr (Described<T> && !Textual<T>) {
    std::size_t count = 2;
    for_each_index<T>([&count](auto index) {
      constexpr const auto& field = field_of<T, index>;
      if constexpr (field.rules.secret) {
        ++count;
      } else {
        count += slot_count<MemberOf<decltype(field)>>();
      }
    });
    return count;
  } else {
    return 1;
  }
}

template <class T>
constexpr Slot* put_slots(Slot* at, Bytes name) {
  if constexpr (is_field<T>) {
    return put_slots<std::remove_cvref_t<decltype(T::value)>>(at, name);
  } else if constexpr (Described<T> && !Textual<T>) {
    *at++ = {Kind::object, name};
    for_each_index<T>([&at](auto index) {
      constexpr const auto& field = field_of<T, index>;
      if constexpr (field.rules.secret) {
        *at++ = {Kind::text, field.name};
      } else {
        at = put_slots<MemberOf<decltype(field)>>(at, field.name);
      }
    });
    *at++ = {Kind::object_end, {}};
    return at;
  } else {
    *at++ = {kind_of<T>(), name};
    return at;
  }
}

template <class... Arguments>
constexpr auto make_slots() {
  std::array<Slot, (slot_count<Arguments>() + ... + 1)> slots{};  // one more: never empty
  [[maybe_unused]] Slot* at = slots.data();
  ((at = put_slots<Arguments>(at, {})), ...);
  return slots;
}

template <class... Arguments>
inline constexpr auto slots_of = make_slots<Arguments...>();

template <class... Arguments>
constexpr bool fields_come_last() {
  bool seen = false, right = true;
  ((right = right && (is_field<Arguments> || !seen), seen = seen || is_field<Arguments>), ...);
  return right;
}

}  // namespace detail

// The Shape of a call with these types.
template <class... Arguments>
inline constexpr Shape shape_of = {
    detail::slots_of<Arguments...>.data(),
    static_cast<std::uint16_t>((detail::slot_count<Arguments>() + ... + 0)),
    static_cast<std::uint16_t>(((is_field<Arguments> ? 1 : 0) + ... + 0)),
    static_cast<std::uint16_t>(
        ((is_field<Arguments> ? 0 : detail::slot_count<Arguments>()) + ... + 0))};

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
