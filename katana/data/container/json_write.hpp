// JSON writer: writes described structs, lists, dictionaries and Values as JSON (RFC 8259),
// directly into their destination.
//
//   write_json(user, text);     appends to a std::string, Text or Outbox
//   to_json(user)               a std::string
//
//   described struct   object, all members in the order of the description; an empty std::optional
//                      is null; an absent Patch is left out
//   described variant  the object of its value, with the discriminator first
//   AnyOf, Box         its value
//   list               array                    dictionary          object
//   std::string_view, std::span   as text and lists; for structs that are only written
//   described enum     the enumerator's name    std::vector<std::byte>, Octets   base64 (RFC 4648)
//   integer            all its digits           double, float   the shortest digits that read back
//   NaN, infinity, an enum's value without a name               null: JSON has none
//
// Borrows    the value, for the call.
// Thread     the destination's.
// Allocates  only for the growth of the destination.
// Fails      false: the Outbox has no more blocks. Written bytes stay in it.
// Invariant  the output is well-formed, whatever the text in the value: bytes that are no UTF-8
//            become U+FFFD.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>

#include "katana/base/values/described.hpp"
#include "katana/base/values/described_variant.hpp"
#include "katana/data/container/declared_json.hpp"
#include "katana/data/container/json_text.hpp"
#include "katana/data/container/output.hpp"
#include "katana/data/container/value.hpp"

namespace katana::container {
namespace detail {

template <class T>
concept IsText = TextMember<T> || BorrowedText<T>;
template <class T>
concept IsList = ListMember<T> || BorrowedList<T>;

// ---- flat values: their length has a bound that is known without a look inside ----

template <class T>
consteval bool is_flat();

template <Described T, std::size_t... index>
consteval bool are_fields_flat(std::index_sequence<index...>) {
  return (is_flat<MemberOf<decltype(field_of<T, index>)>>() && ...);
}

// A type with a TextForm that bounds the length of its text.
template <class T>
concept HasShortText = TextFormed<T> && requires { WrittenText<T>::size_max; };

template <class T>
consteval bool is_flat() {
  if constexpr (is_patch<T>) {
    return false;
  } else if constexpr (DeclaredJson<T>) {
    return false;
  } else if constexpr (is_optional<T>) {
    return is_flat<WithoutOptional<T>>();
  } else if constexpr (Described<T>) {
    return are_fields_flat<T>(std::make_index_sequence<field_count<T>>());
  } else {
    return std::same_as<T, bool> || NumberMember<T> || IsText<T> || BytesMember<T> ||
           DescribedEnum<T> || HasShortText<T>;
  }
}

constexpr std::size_t escaped_size(Bytes name) noexcept {
  std::size_t size = name.size();
  for (const char c : name) size += c == '"' || c == '\\' ? 1 : 0;
  return size;
}

// The text `,"name":`. The first member has a brace instead of the comma. A flat text member has
// its opening quote behind it.
template <Described T, std::size_t index, bool opens_text = false>
inline constexpr auto key_text = [] {
  constexpr Bytes name = field_of<T, index>.name;
  static_assert(name.find_first_of(Bytes("\0\b\f\n\r\t", 6)) == Bytes::npos,
                "a name without control characters");
  std::array<char, escaped_size(name) + (opens_text ? 5 : 4)> text{};
  char* at = text.data();
  *at++ = index == 0 ? '{' : ',';
  *at++ = '"';
  for (const char c : name) {
    if (c == '"' || c == '\\') *at++ = '\\';
    *at++ = c;
  }
  *at++ = '"';
  *at++ = ':';
  if (opens_text) *at++ = '"';
  return text;
}();

template <Described T>
inline constexpr std::size_t key_bytes = [] {
  std::size_t bytes = 2;  // the braces of none
  for_each_field<T>([&](const auto& field) { bytes += escaped_size(field.name) + 4; });
  return bytes;
}();

// The end of the run of flat members that begins with this one. It is `index` itself if the member
// is not flat or not the first of its run.
template <Described T, std::size_t index>
inline constexpr std::size_t flat_run_end = [] {
  constexpr std::size_t count = field_count<T>;
  const auto flat = []<std::size_t... each>(std::index_sequence<each...>) {
    return std::array<bool, count + 1>{is_flat<MemberOf<decltype(field_of<T, each>)>>()..., false};
  }(std::make_index_sequence<count>());
  std::size_t end = index;
  if (index == 0 || !flat[index - 1]) {
    while (flat[end]) ++end;
  }
  return end;
}();

template <DescribedEnum E>
inline constexpr std::size_t enumerator_bound = [] {
  std::size_t bound = 4;
  for (const auto& each : enumerators_of<E>) {
    const std::size_t needed = json_text_bound(each.name.size());
    if (needed > bound) bound = needed;
  }
  return bound;
}();

template <class T>
std::size_t flat_bound(const T& value) noexcept {
  if constexpr (is_optional<T>) {
    const std::size_t bound = value ? flat_bound(*value) : 0;
    return bound > 4 ? bound : 4;  // "null"
  } else if constexpr (Described<T>) {
    std::size_t bound = key_bytes<T>;
    for_each_field(value, [&](const auto&, const auto& member) { bound += flat_bound(member); });
    return bound;
  } else if constexpr (IsText<T>) {
    return json_text_bound(value.size());
  } else if constexpr (BytesMember<T>) {
    return json_octets_bound(value.size());
  } else if constexpr (DescribedEnum<T>) {
    return enumerator_bound<T>;
  } else if constexpr (HasShortText<T>) {
    return json_text_bound(WrittenText<T>::size_max);
  } else if constexpr (std::floating_point<T>) {
    return json_real_bound;
  } else if constexpr (std::same_as<T, bool>) {
    return 5;
  } else {
    return json_integer_bound;
  }
}

template <std::size_t size>
char* put_constant(char* at, const std::array<char, size>& text) noexcept {
  std::memcpy(at, text.data(), size);
  return at + size;
}
inline char* put_constant(char* at, Bytes text) noexcept {
  std::memcpy(at, text.data(), text.size());
  return at + text.size();
}
inline char* put_boolean(char* at, bool value) noexcept {
  // Writes five bytes in both cases, without an unpredictable branch.
  std::memcpy(at, value ? "true " : "false", 5);
  return at + (value ? 4 : 5);
}
inline char* put_octets(char* at, const Octets& octets) noexcept {
  *at++ = '"';
  at = put_base64(at, octets.data(), octets.size());
  *at++ = '"';
  return at;
}

template <class T>
[[gnu::always_inline]] inline char* put_flat(char* at, const T& value) noexcept;

template <std::size_t index, class T>
[[gnu::always_inline]] inline void put_flat_field(char*& at, const T& value) noexcept {
  const auto& member = value.*field_of<T, index>.pointer;
  if constexpr (IsText<std::remove_cvref_t<decltype(member)>>) {
    at = put_json_characters(put_constant(at, key_text<T, index, true>), member);
    *at++ = '"';
  } else {
    at = put_flat(put_constant(at, key_text<T, index>), member);
  }
}

// Writes a whole struct in one function without further calls. Otherwise the compiler's choice of
// inlining changed with every new caller, and the time changed by a factor of two.
template <class T, std::size_t... index>
[[gnu::noinline]] char* put_flat_struct(char* at, const T& value,
                                        std::index_sequence<index...>) noexcept {
  if constexpr (sizeof...(index) == 0) *at++ = '{';
  (put_flat_field<index>(at, value), ...);
  *at++ = '}';
  return at;
}

// Writes a flat value. REQUIRES room for flat_bound(value) bytes.
template <class T>
[[gnu::always_inline]] inline char* put_flat(char* at, const T& value) noexcept {
  if constexpr (is_optional<T>) {
    return value ? put_flat(at, *value) : put_constant(at, "null");
  } else if constexpr (Described<T>) {
    return put_flat_struct(at, value, std::make_index_sequence<field_count<T>>());
  } else if constexpr (IsText<T>) {
    return put_json_text(at, value);
  } else if constexpr (BytesMember<T>) {
    return put_octets(at, value);
  } else if constexpr (DescribedEnum<T>) {
    const Bytes name = enumerator_name(value);
    return name.data() == nullptr ? put_constant(at, "null") : put_json_text(at, name);
  } else if constexpr (HasShortText<T>) {
    return put_json_text(at, TextForm<T>::write(value));
  } else if constexpr (std::floating_point<T>) {
    return put_real(at, value);
  } else if constexpr (std::same_as<T, bool>) {
    return put_boolean(at, value);
  } else if constexpr (std::unsigned_integral<T>) {
    return put_natural(at, value);
  } else {
    return put_integer(at, value);
  }
}

// ---- all other values, piece by piece ----

template <class Output>
class JsonWriter {
 public:
  explicit JsonWriter(Output& output) : output_(output), at_(output.begin()) {}
  char* at() const noexcept { return at_; }

  template <class T>
  void put(const T& value) {
    if constexpr (is_optional<T>) {
      if (value) {
        put(*value);
      } else {
        put_constant_in("null");
      }
    } else if constexpr (is_flat<T>()) {
      put_flat_in(value);
    } else if constexpr (TextFormed<T>) {
      put_text(TextForm<T>::write(value));
    } else if constexpr (DeclaredJson<T>) {
      put_declared(value);
    } else if constexpr (Described<T>) {
      put_struct(value);
    } else if constexpr (DescribedVariant<T>) {
      put_variant(value);
    } else if constexpr (is_any_of<T>) {
      value.visit([this](const auto& content) { this->put(content); });
    } else if constexpr (is_box<T>) {
      if (value) {
        put(*value);
      } else {
        put_constant_in("null");
      }
    } else if constexpr (DictionaryMember<T>) {
      put_entries(
          value, [](const auto& entry) -> const auto& { return entry.first; },
          [](const auto& entry) -> const auto& { return entry.second; });
    } else if constexpr (IsList<T>) {
      put_list(value);
    } else if constexpr (std::same_as<T, Object>) {
      put_entries(
          value, [](const Member& member) -> const auto& { return member.name; },
          [](const Member& member) -> const auto& { return member.value; });
    } else if constexpr (std::same_as<T, Value>) {
      value.visit([this](const auto& content) { this->put(content); });
    } else if constexpr (std::same_as<T, std::monostate>) {
      put_constant_in("null");
    } else {
      static_assert(
          is_flat<T>(),
          "no JSON for this type: describe it (KATANA_DESCRIBE), or give it a katana::TextForm");
    }
  }

  // Writes a described struct member by member. For KATANA_DEFINE_JSON.
  template <class T>
  void put_struct(const T& value) {
    if constexpr (has_patches<T>) {
      put_members(value, '{');
      return;
    }
    if constexpr (field_count<T> == 0) put_character('{');
    for_each_index<T>([&](auto index) {
      if constexpr (!is_flat<MemberOf<decltype(field_of<T, index>)>>()) {
        put_field<index>(value);
      } else if constexpr (flat_run_end<T, index> != index) {
        constexpr std::size_t run = flat_run_end<T, index> - index;
        put_flat_run<index>(value, std::make_index_sequence<run>());
      }
    });
    put_character('}');
  }

 private:
  // Calls the code of the struct's own source.
  template <class T>
  void put_declared(const T& value) {
    if constexpr (std::same_as<Output, AnyOutput>) {
      katana_write_json(*this, value, std::type_identity<T>());
    } else {
      AnyOutput output(output_, at_);
      JsonWriter<AnyOutput> writer(output);
      katana_write_json(writer, value, std::type_identity<T>());
      at_ = writer.at();
    }
  }

  template <class T>
  void put_flat_in(const T& value) {
    const std::size_t bound = flat_bound(value);
    if (bound <= window_bytes_max) {
      at_ = put_flat(output_.reserve(at_, bound), value);
    } else if constexpr (Described<T>) {
      put_struct(value);
    } else if constexpr (IsText<T>) {
      put_long_text(value);
    } else if constexpr (BytesMember<T>) {
      put_long_octets(value);
    } else if constexpr (is_optional<T>) {
      put(*value);  // an empty optional is short
    } else if constexpr (DescribedEnum<T>) {
      put_long_text(enumerator_name(value));
    }  // numbers and booleans are short
  }

  void put_constant_in(Bytes text) {
    while (!text.empty()) {
      const Bytes piece = text.substr(0, window_bytes_max);
      at_ = put_constant(output_.reserve(at_, piece.size()), piece);
      text.remove_prefix(piece.size());
    }
  }
  void put_character(char c) {
    at_ = output_.reserve(at_, 1);
    *at_++ = c;
  }

  void put_long_text(Bytes text) {
    constexpr std::size_t piece_bytes = window_bytes_max / 6;
    put_character('"');
    while (!text.empty()) {
      const Bytes piece = text.substr(0, whole_characters(text, piece_bytes));
      at_ = put_json_characters(output_.reserve(at_, 6 * piece.size()), piece);
      text.remove_prefix(piece.size());
    }
    put_character('"');
  }
  void put_text(Bytes text) {
    if (json_text_bound(text.size()) <= window_bytes_max) {
      at_ = put_json_text(output_.reserve(at_, json_text_bound(text.size())), text);
    } else {
      put_long_text(text);
    }
  }

  void put_long_octets(const Octets& octets) {
    constexpr std::size_t piece_bytes = window_bytes_max / 4 * 3;
    put_character('"');
    for (std::size_t begin = 0; begin < octets.size(); begin += piece_bytes) {
      const std::size_t left = octets.size() - begin;
      const std::size_t count = left < piece_bytes ? left : piece_bytes;
      at_ = put_base64(output_.reserve(at_, window_bytes_max), octets.data() + begin, count);
    }
    put_character('"');
  }

  // Writes all members that are not absent, with `separator` before the first, and the brace.
  template <class T>
  void put_members(const T& value, char separator) {
    for_each_index<T>([&](auto index) {
      const auto& member = value.*field_of<T, index>.pointer;
      if constexpr (is_patch<std::remove_cvref_t<decltype(member)>>) {
        if (member.is_absent()) return;
      }
      put_character(separator);
      constexpr const auto& key = key_text<T, index>;
      put_constant_in({key.data() + 1, key.size() - 1});
      put(member);
      separator = ',';
    });
    if (separator == '{') put_character('{');
    put_character('}');
  }

  template <std::size_t index, class T>
  void put_field(const T& value) {
    constexpr const auto& key = key_text<T, index>;
    if constexpr (key.size() <= window_bytes_max) {
      at_ = put_constant(output_.reserve(at_, key.size()), key);
    } else {
      put_constant_in({key.data(), key.size()});
    }
    put(value.*field_of<T, index>.pointer);
  }

  // Writes consecutive members, in one window if they fit.
  template <std::size_t first, class T, std::size_t... more>
  void put_flat_run(const T& value, std::index_sequence<more...>) {
    const std::size_t bound =
        ((key_text<T, first + more>.size() + flat_bound(value.*field_of<T, first + more>.pointer)) +
         ...);
    if (bound <= window_bytes_max) [[likely]] {
      char* at = output_.reserve(at_, bound);
      (put_flat_field<first + more>(at, value), ...);
      at_ = at;
    } else {
      (put_field<first + more>(value), ...);
    }
  }

  template <class V>
  void put_variant(const V& value) {
    constexpr const auto& description = alternatives_of<V>;
    put_character('{');
    put_text(description.discriminator);
    put_character(':');
    put_text(description.names[value.index()]);
    std::visit([this](const auto& alternative) { this->put_members(alternative, ','); }, value);
  }

  template <class T>
  void put_list(const T& list) {
    char separator = '[';
    for (const auto& item : list) {
      put_item(separator,
               static_cast<const typename T::value_type&>(item));  // for vector<bool>, too
      separator = ',';
    }
    if (separator == '[') put_character('[');
    put_character(']');
  }

  template <class T>
  [[gnu::always_inline]] void put_item(char separator, const T& item) {
    if constexpr (is_flat<T>()) {
      const std::size_t bound = flat_bound(item);
      if (bound < window_bytes_max) [[likely]] {
        char* const at = output_.reserve(at_, 1 + bound);
        *at = separator;
        at_ = put_flat(at + 1, item);
        return;
      }
    }
    put_character(separator);
    put(item);
  }

  template <class T, class Key, class Content>
  void put_entries(const T& entries, Key key, Content content) {
    char separator = '{';
    for (const auto& entry : entries) {
      put_character(separator);
      put_text(key(entry));
      put_character(':');
      put(content(entry));
      separator = ',';
    }
    if (separator == '{') put_character('{');
    put_character('}');
  }

  Output& output_;
  char* at_;
};

template <class Output, class T>
bool write_json_into(Output output, const T& value) {
  JsonWriter<Output> writer(output);
  writer.put(value);
  return output.finish(writer.at());
}

}  // namespace detail

// Appends to `to`.
template <class T>
void write_json(const T& value, std::string& to) {
  detail::write_json_into(StringOutput(to), value);
}
// Appends to `to`.
template <class T>
void write_json(const T& value, Text& to) {
  detail::write_json_into(TextOutput(to), value);
}
// Appends to `to`. False: the reactor has no block left, and only a part was written.
template <class T>
[[nodiscard]] bool write_json(const T& value, Outbox& to) {
  if constexpr (detail::is_flat<T>()) {
    // The value is short and the first in the outbox: no window is needed.
    const std::size_t bound = detail::flat_bound(value);
    const auto fill = [&](char* at) noexcept { return detail::put_flat(at, value); };
    if (bound <= window_bytes_max && to.write_first(bound, fill)) [[likely]]
      return true;
  }
  return detail::write_json_into(OutboxOutput(to), value);
}

// Returns the JSON in a new string.
template <class T>
std::string to_json(const T& value) {
  std::string text;
  write_json(value, text);
  return text;
}

}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
