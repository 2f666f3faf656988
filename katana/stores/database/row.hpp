// Row: one row of a result. RowReader: reads it into a value of the program.
//
//   RowReader<User> reader;          // for each result: looks up once which column goes where
//   reader.read(row, user)
//
// Owns       nothing. Read bytes are owned by the value they are read into.
// Borrows    a Row is valid until the next one is asked for.
// Thread     that of the statement.
// Allocates  as the values do: text goes into std::string, or into Text, which is recycled.
// Fails      read() returns the reason why a column does not fit. Nothing is converted silently:
//            a number does not become text, null fits only a std::optional, and a number has to be
//            in range.
//
// A described struct takes the columns of its members' names, in any order; other columns are left
// out. A described struct that is a member takes a composite in the same way. A tuple takes as many
// columns as it has elements, by position. Any other type takes the only column.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "katana/stores/database/value.hpp"

namespace katana::database {

inline constexpr std::size_t members_max = 80;  // of a described struct

// The columns of the members of a struct.
struct Mapping {
  const void* of = nullptr;                          // the struct
  std::array<std::uint16_t, members_max> columns{};  // by member: number of its column
};

// The form of a column's bytes. Numbers are signed, the most significant byte first.
enum class Plain : std::uint8_t { none, text, int16, int32, int64, float64 };

class Row {
 public:
  // The mapping that a statement keeps for its columns; null: it keeps none.
  virtual Mapping* mapping() const noexcept { return nullptr; }
  virtual std::size_t columns() const noexcept = 0;
  virtual Value value(std::size_t column) const noexcept = 0;
  virtual Bytes name(std::size_t column) const noexcept = 0;
  // The form of the bytes of a column, in each row of the result.
  virtual Plain form(std::size_t) const noexcept { return Plain::none; }
  // The bytes of each column of this row; null: value() alone has the columns.
  const Bytes* bytes() const noexcept { return bytes_; }

 protected:
  ~Row() = default;
  const Bytes* bytes_ = nullptr;
};

// The reason why a row was not read; `why` is null when it was. `column` is a name, or empty. `why`
// is valid until this thread's next mismatch.
struct TypeMismatch {
  const char* why = nullptr;  // "expected integer, got text"; null: the row was read
  Bytes column = {};          // empty: the mismatch concerns no single column
  explicit operator bool() const noexcept { return why != nullptr; }
};

namespace detail {

// Finds the column of each member of a struct, and the form of its bytes.
TypeMismatch map_members(const Row& row, const void* of, std::span<const Bytes> names,
                         std::span<std::uint16_t> columns, std::span<Plain> forms) noexcept;

// Reads a column of a common form from its bytes; without data it is null. False: read_value()
// reads it, or says why it does not fit. Where it is true, both read the same.
bool read_plain(Bytes bytes, Plain form, std::int64_t& out) noexcept;
bool read_plain(Bytes bytes, Plain form, double& out) noexcept;
bool read_plain(Bytes bytes, Plain form, std::string& out);
template <class T>
bool read_bytes([[maybe_unused]] Bytes bytes, [[maybe_unused]] Plain form, T& out) {
  if constexpr (is_optional<T>) {
    if (bytes.data() == nullptr) return out = std::nullopt, true;
    return read_bytes(bytes, form, out ? *out : out.emplace());
  } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, double>) {
    return read_plain(bytes, form, out);
  } else if constexpr (Integer<T> && !std::is_same_v<T, bool>) {
    std::int64_t number = 0;
    if (!read_plain(bytes, form, number) || !std::in_range<T>(number)) return false;
    return out = static_cast<T>(number), true;
  } else {
    return false;
  }
}

template <class T>
const char* read_integer(const Value& value, T& out) noexcept {
  if (value.type != Value::Type::integer) return "is no integer";
  if constexpr (std::is_same_v<T, bool>) {
    if (value.integer != 0 && value.integer != 1) return "is neither 0 nor 1";
  } else if (!std::in_range<T>(value.integer)) {
    return "is out of range";
  }
  out = static_cast<T>(value.integer);
  return nullptr;
}

template <TextFormed T>
const char* read_text_form(const Value& value, T& out) {
  std::optional<T> parsed;
  if (value.type == Value::Type::text) {
    parsed = TextForm<T>::parse(value.octets);
  } else if (reads_numbers<T>() && value.type == Value::Type::integer) {
    parsed = TextForm<T>::parse(fmt::format_int(value.integer).str());
  } else {
    return "is no text";
  }
  if (!parsed) return "is text that its type does not have";
  out = *std::move(parsed);
  return nullptr;
}

template <class T>
const char* read_value(const Value& value, T& out);

// Reads NaN and the infinities, which are no numbers of JSON. False: `text` is none of them.
template <class T>
bool read_special(Bytes text, T& out) noexcept {
  using Limits = std::numeric_limits<T>;
  if (text == "NaN") return out = Limits::quiet_NaN(), true;
  if (text == "Infinity") return out = Limits::infinity(), true;
  if (text == "-Infinity") return out = -Limits::infinity(), true;
  return false;
}

template <class T>
const char* read_element(const ArrayReader::Element& element, T& out) {
  using Kind = ArrayReader::Kind;
  using Plain = WithoutOptional<T>;
  if constexpr (std::is_floating_point_v<Plain>) {
    if (Plain special{}; element.kind == Kind::text && read_special(element.text, special)) {
      out = special;
      return nullptr;
    }
  }
  switch (element.kind) {
    case Kind::boolean:
    case Kind::integer: return read_value(Value::of_integer(element.integer), out);
    case Kind::real: return read_value(Value::of_real(element.real), out);
    case Kind::text:
    case Kind::array:
    case Kind::object: return read_value(Value::of_text(element.text), out);
    default: return read_value(Value{}, out);
  }
}

template <class T>
const char* read_array(const Value& value, std::vector<T>& out) {
  if (value.type != Value::Type::text) return "is no array";
  out.clear();
  ArrayReader reader(value.octets);
  while (true) {
    const ArrayReader::Element element = reader.next();
    if (element.kind == ArrayReader::Kind::end) return nullptr;
    if (element.kind == ArrayReader::Kind::broken) return "is no array";
    T read{};
    if (read_element(element, read) != nullptr)
      return "is an array with an element that does not fit";
    out.push_back(std::move(read));
  }
}

// Members that the object has beside those of T are left out, as more columns than members are.
template <Described T>
const char* read_composite(const Value& value, T& out) {
  if (value.type != Value::Type::text) return "is no composite";
  std::array<bool, field_count<T>> has{};
  CompositeReader reader(value.octets);
  while (true) {
    const CompositeReader::Member given = reader.next();
    if (given.value.kind == ArrayReader::Kind::end) break;
    if (given.value.kind == ArrayReader::Kind::broken) return "is no composite";
    const char* why = nullptr;
    std::size_t place = 0;
    for_each_field(out, [&](const auto& field, auto& member) {
      const std::size_t here = place++;
      if (given.name != field.name) return;
      has[here] = true;
      why = read_element(given.value, member);
      if (why != nullptr) why = misfit_of_field(field.name, why);
    });
    if (why != nullptr) return why;
  }
  const char* why = nullptr;
  std::size_t place = 0;
  for_each_field<T>([&](const auto& field) {
    if (!has[place++] && why == nullptr) why = field_is_missing(field.name);
  });
  return why;
}

// Reads `value` into `out`. Null: it is there; otherwise the reason why it does not fit.
template <class T>
const char* read_value(const Value& value, T& out) {
  if constexpr (is_optional<T>) {
    if (value.type == Value::Type::null) {
      out = std::nullopt;
      return nullptr;
    }
    return read_value(value, out ? *out : out.emplace());
  } else {
    if (value.type == Value::Type::null) return "is null, and what it is read into is no optional";
    if (value.type == Value::Type::broken) [[unlikely]]
      return value.octets.data();
    if constexpr (DescribedEnum<T>) {
      if (value.type != Value::Type::text) return "is no text, and an enumerator's name is wanted";
      const std::optional<T> found = enumerator_from<T>(value.octets);
      if (!found) return "is no enumerator's name";
      out = *found;
      return nullptr;
    } else if constexpr (TextFormed<T>) {
      return read_text_form(value, out);
    } else if constexpr (std::is_enum_v<T>) {
      std::underlying_type_t<T> number{};
      const char* const why = read_value(value, number);
      out = static_cast<T>(number);
      return why;
    } else if constexpr (Integer<T>) {
      return read_integer(value, out);
    } else if constexpr (std::is_floating_point_v<T>) {
      if (value.type != Value::Type::real && value.type != Value::Type::integer) {
        return "is no number";
      }
      out = static_cast<T>(value.type == Value::Type::real ? value.real
                                                           : static_cast<double>(value.integer));
      return nullptr;
    } else if constexpr (std::is_same_v<T, std::vector<std::byte>>) {
      if (value.type != Value::Type::blob) return "is no blob";
      const auto* const first = reinterpret_cast<const std::byte*>(value.octets.data());
      out.assign(first, first + value.octets.size());
      return nullptr;
    } else if constexpr (is_array<T>) {
      return read_array(value, out);
    } else if constexpr (Described<T>) {
      return read_composite(value, out);
    } else {
      if (value.type != Value::Type::text) return "is no text";
      if constexpr (std::is_same_v<T, Text>) {
        out = Text(value.octets);
      } else {
        static_assert(std::is_same_v<T, std::string>, "a column cannot be read into this type");
        out.assign(value.octets);
      }
      return nullptr;
    }
  }
}

}  // namespace detail

// Reads rows of one result into values of T. One reader for each result.
template <class T>
class RowReader {
 public:
  void begin() noexcept { mapped_ = false; }

  // Replaces `out`. After a mismatch `out` is unspecified.
  TypeMismatch read(const Row& row, T& out) {
    if constexpr (Described<T>) {
      return read_members(row, out);
    } else if constexpr (detail::is_tuple<T>) {
      if (row.columns() != std::tuple_size_v<T>) {
        return {"the tuple has another number of elements than the result has columns"};
      }
      return read_elements(row, out, std::make_index_sequence<std::tuple_size_v<T>>());
    } else {
      if (row.columns() != 1) return {"one value is wanted, and the result has more columns"};
      return judge(row, 0, detail::read_value(row.value(0), out));
    }
  }

 private:
  static consteval std::size_t places() {
    if constexpr (Described<T>) {
      return field_count<T>;
    } else {
      return 0;
    }
  }
  static TypeMismatch judge(const Row& row, std::size_t column, const char* why) noexcept {
    return why == nullptr ? TypeMismatch{} : TypeMismatch{why, row.name(column)};
  }

  template <std::size_t... Index>
  static TypeMismatch read_elements(const Row& row, T& out, std::index_sequence<Index...>) {
    TypeMismatch misfit;
    (void)((misfit = judge(row, Index, detail::read_value(row.value(Index), std::get<Index>(out))),
            !misfit) &&
           ...);
    return misfit;
  }

  static const void* type() noexcept {
    static constexpr char mark = 0;  // there is one for each T
    return &mark;
  }

  TypeMismatch map(const Row& row) noexcept {
    std::array<Bytes, places()> names;
    std::size_t place = 0;
    for_each_field<T>([&](const auto& field) { names[place++] = field.name; });
    const TypeMismatch misfit = detail::map_members(row, type(), names, columns_, forms_);
    mapped_ = !misfit;
    return misfit;
  }

  TypeMismatch read_members(const Row& row, T& out) {
    TypeMismatch misfit;
    if (!mapped_) misfit = map(row);
    std::size_t place = 0;
    for_each_field(out, [&](const auto&, auto& member) {
      if (misfit) return;
      const std::size_t here = place++, column = columns_[here];
      if (row.bytes() && detail::read_bytes(row.bytes()[column], forms_[here], member)) return;
      misfit = judge(row, column, detail::read_value(row.value(column), member));
    });
    return misfit;
  }

  // By member: its column, and the form of that column's bytes.
  std::array<std::uint16_t, places()> columns_{};
  std::array<Plain, places()> forms_{};
  bool mapped_ = false;
};

}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
