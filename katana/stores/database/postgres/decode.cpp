// decode(): columns in the binary format as values.
#include <fmt/format.h>

#include <array>
#include <bit>
#include <chrono>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <type_traits>

#include "katana/base/text/format.hpp"
#include "katana/base/values/duration_text.hpp"
#include "katana/base/values/timestamp.hpp"
#include "katana/base/values/uuid.hpp"
#include "katana/stores/database/array_text.hpp"
#include "katana/stores/database/postgres/type_table.hpp"
#include "katana/stores/database/postgres/types.hpp"

namespace katana::database::postgres {
namespace {

const Value broken = Value::of_broken("has bytes that its type does not have");

template <class T>
T read_big_endian(const char* octets) noexcept {
  std::make_unsigned_t<T> number = 0;
  std::memcpy(&number, octets, sizeof number);
  if constexpr (std::endian::native == std::endian::little) number = std::byteswap(number);
  return static_cast<T>(number);
}

template <class T>
Value integer(Bytes octets) noexcept {
  if (octets.size() != sizeof(T)) return broken;
  return Value::of_integer(read_big_endian<T>(octets.data()));
}

Value real(Bytes octets) noexcept {
  if (octets.size() == 4) {
    return Value::of_real(std::bit_cast<float>(read_big_endian<std::uint32_t>(octets.data())));
  }
  if (octets.size() != 8) return broken;
  return Value::of_real(std::bit_cast<double>(read_big_endian<std::uint64_t>(octets.data())));
}

// Source: src/backend/utils/adt/numeric.c, numeric_send(): digits of base 10,000, the first of
// which counts 10,000^weight, and how many decimal digits are shown behind the point.
Value numeric(Bytes octets, std::string& text) {
  if (octets.size() < 8) return broken;
  const auto word = [&](std::size_t index) {
    return read_big_endian<std::int16_t>(octets.data() + 2 * index);
  };
  const int count = word(0);
  const int weight = word(1);
  const auto sign = static_cast<std::uint16_t>(word(2));
  const int scale = word(3);
  if (count < 0 || octets.size() != 8 + 2 * static_cast<std::size_t>(count) || scale < 0) {
    return broken;
  }
  text.clear();
  if ((sign & 0xc000u) == 0xc000u) {
    text = sign == 0xd000u ? "Infinity" : sign == 0xf000u ? "-Infinity" : "NaN";
    return Value::of_text(text);
  }
  if (sign != 0 && sign != 0x4000u) return broken;
  for (int place = 0; place < count; ++place) {
    const int digit = word(4 + static_cast<std::size_t>(place));
    if (digit < 0 || digit > 9999) return broken;
  }
  if (sign == 0x4000u) text = "-";
  const auto digits = [&](int place) {
    return place >= 0 && place < count ? word(4 + static_cast<std::size_t>(place)) : 0;
  };
  auto out = std::back_inserter(text);
  fmt::format_to(out, "{}", weight >= 0 ? digits(0) : 0);
  for (int place = 1; place <= weight; ++place) fmt::format_to(out, "{:04}", digits(place));
  if (scale == 0) return Value::of_text(text);
  text += '.';
  const std::size_t end = text.size() + static_cast<std::size_t>(scale);
  for (int place = weight + 1; text.size() < end; ++place) {
    fmt::format_to(out, "{:04}", digits(place));
  }
  text.resize(end);
  return Value::of_text(text);
}

constexpr std::int64_t epoch_days = 10'957;  // from 1970 to 2000
constexpr std::int64_t day_us = 86'400'000'000;
// The days since 1970 of 0000-01-01 and 9999-12-31, between which a Date has a text.
constexpr std::int64_t first_day = -719'528, last_day = 2'932'896;

// A day that Date has no text for, as ISO 8601 writes it with more digits: "+10000-01-01". A year
// begins in March here, so that the leap day is its last.
std::string far_date(std::int64_t days) {
  days -= first_day + 60;                                                  // since 0000-03-01
  const std::int64_t era = (days >= 0 ? days : days - 146'096) / 146'097;  // of 400 years
  const std::int64_t day = days - era * 146'097;
  const std::int64_t year = (day - day / 1'460 + day / 36'524 - day / 146'096) / 365;
  const std::int64_t of_year = day - (365 * year + year / 4 - year / 100);
  const std::int64_t month = (5 * of_year + 2) / 153;  // from March
  const std::int64_t shown = year + era * 400 + (month >= 10 ? 1 : 0);
  return fmt::format("{}{:04}-{:02}-{:02}", shown < 0 ? '-' : '+', shown < 0 ? -shown : shown,
                     month < 10 ? month + 3 : month - 9, of_year - (153 * month + 2) / 5 + 1);
}

// A point of time that the text's form does not have stays readable as text.
Value timestamp(Bytes octets, bool zoned, std::string& text) {
  if (octets.size() != 8) return broken;
  const auto us = read_big_endian<std::int64_t>(octets.data());
  constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max() - epoch_days * day_us;
  if (us > last || us == std::numeric_limits<std::int64_t>::min()) {
    text = us > 0 ? "infinity" : "-infinity";
    return Value::of_text(text);
  }
  const std::int64_t since_1970 = us + epoch_days * day_us;
  std::int64_t day = since_1970 / day_us;
  if (since_1970 % day_us < 0) --day;
  if (day < first_day || day > last_day) {
    const Timestamp of_day(std::chrono::microseconds(since_1970 - day * day_us));
    text = far_date(day).append(Bytes(TextForm<Timestamp>::write(of_day)).substr(10));
  } else {
    text = Bytes(TextForm<Timestamp>::write(Timestamp(std::chrono::microseconds(since_1970))));
  }
  if (!zoned && text.ends_with('Z')) text.pop_back();
  return Value::of_text(text);
}

Value date(Bytes octets, std::string& text) {
  if (octets.size() != 4) return broken;
  const auto days = read_big_endian<std::int32_t>(octets.data());
  if (days == std::numeric_limits<std::int32_t>::max() ||
      days == std::numeric_limits<std::int32_t>::min()) {
    text = days > 0 ? "infinity" : "-infinity";
    return Value::of_text(text);
  }
  const std::int64_t since_1970 = days + epoch_days;
  if (since_1970 < first_day || since_1970 > last_day) {
    text = far_date(since_1970);
    return Value::of_text(text);
  }
  const std::chrono::sys_days day(std::chrono::days(static_cast<int>(since_1970)));
  text = Bytes(TextForm<Date>::write(Date(day)));
  return Value::of_text(text);
}

// Reads microseconds, days and months. A month has no fixed length, and is written as the database
// writes it.
Value interval(Bytes octets, std::string& text) {
  if (octets.size() != 16) return broken;
  const auto us = read_big_endian<std::int64_t>(octets.data());
  const auto days = read_big_endian<std::int32_t>(octets.data() + 8);
  const auto months = read_big_endian<std::int32_t>(octets.data() + 12);
  std::int64_t all = 0;
  if (months != 0 || __builtin_mul_overflow(std::int64_t{days}, day_us, &all) ||
      __builtin_add_overflow(all, us, &all)) {
    text = fmt::format("{} mons {} days {} us", months, days, us);
    return Value::of_text(text);
  }
  using Duration = std::chrono::microseconds;
  text = Bytes(TextForm<Duration>::write(Duration(all)));
  return Value::of_text(text);
}

Value uuid(Bytes octets, std::string& text) {
  std::array<std::uint8_t, 16> raw{};
  if (octets.size() != raw.size()) return broken;
  std::memcpy(raw.data(), octets.data(), raw.size());
  text = Bytes(Uuid(raw).to_text());
  return Value::of_text(text);
}

// An element of an array or a bound of a range; moves `octets` behind it. `is_null`: length -1.
std::optional<Bytes> take_sized(Bytes& octets, bool& is_null) noexcept {
  if (octets.size() < 4) return std::nullopt;
  const auto length = read_big_endian<std::int32_t>(octets.data());
  octets.remove_prefix(4);
  is_null = length == -1;
  if (is_null) return Bytes();
  if (length < 0 || static_cast<std::size_t>(length) > octets.size()) return std::nullopt;
  const Bytes taken = octets.substr(0, static_cast<std::size_t>(length));
  octets.remove_prefix(taken.size());
  return taken;
}

// Appends an element. False: the value does not fit the form.
bool append_element(std::string& out, Form form, const Value& value) {
  switch (value.type) {
    case Value::Type::null: out += "null"; return true;
    case Value::Type::integer:
      if (form != Form::boolean) {
        out += fmt::format_int(value.integer).str();
      } else if (value.integer == 0 || value.integer == 1) {
        out += value.integer != 0 ? "true" : "false";
      } else {
        return false;
      }
      return true;
    case Value::Type::real: database::detail::append_element(out, value.real); return true;
    case Value::Type::text:
      if (form == Form::array || form == Form::composite) {
        out += value.octets;
      } else {
        database::detail::append_json_string(out, value.octets);
      }
      return true;
    case Value::Type::blob:
    case Value::Type::broken: break;
  }
  return false;
}

struct ArrayOctets {
  const TypeTable& types;
  Bytes left;
  std::uint32_t type;
  Form form;
  std::array<std::int32_t, dimensions_max> sizes;
  std::size_t dimensions;
  std::string scratch;
};

bool append_dimension(ArrayOctets& array, std::size_t dimension, std::string& out) {
  out += '[';
  for (std::int32_t index = 0; index < array.sizes[dimension]; ++index) {
    if (index > 0) out += ',';
    if (dimension + 1 < array.dimensions) {
      if (!append_dimension(array, dimension + 1, out)) return false;
      continue;
    }
    bool is_null = false;
    const auto octets = take_sized(array.left, is_null);
    if (!octets) return false;
    const Value value =
        is_null ? Value() : decode(array.types, array.type, array.form, *octets, array.scratch);
    if (!append_element(out, array.form, value)) return false;
  }
  out += ']';
  return true;
}

// Source: src/backend/utils/adt/arrayfuncs.c, array_send().
Value array_value(const TypeTable& types, Bytes octets, std::string& text) {
  if (octets.size() < 12) return broken;
  const auto dimensions = read_big_endian<std::int32_t>(octets.data());
  const auto type = read_big_endian<std::uint32_t>(octets.data() + 8);
  const Form form = types.form_of(type);
  text = "[]";
  if (dimensions == 0) return octets.size() == 12 ? Value::of_text(text) : broken;
  if (dimensions < 0 || dimensions > static_cast<std::int32_t>(dimensions_max)) return broken;
  ArrayOctets array{.types = types,
                    .left = octets.substr(12),
                    .type = type,
                    .form = form,
                    .sizes = {},
                    .dimensions = static_cast<std::size_t>(dimensions),
                    .scratch = {}};
  for (std::size_t index = 0; index < array.dimensions; ++index) {
    if (array.left.size() < 8) return broken;
    array.sizes[index] = read_big_endian<std::int32_t>(array.left.data());
    if (array.sizes[index] <= 0) return broken;
    array.left.remove_prefix(8);
  }
  text.clear();
  return append_dimension(array, 0, text) && array.left.empty() ? Value::of_text(text) : broken;
}

// Source: src/backend/utils/adt/rowtypes.c, record_send(). The names are those of the type.
Value composite_value(const TypeTable& types, std::uint32_t type, Bytes octets, std::string& text) {
  const SchemaType* const known = types.find(types.base_of(type));
  if (known == nullptr || octets.size() < 4) return broken;
  const auto count = read_big_endian<std::int32_t>(octets.data());
  octets.remove_prefix(4);
  if (count < 0 || static_cast<std::size_t>(count) != known->fields.size()) {
    types.note_outdated();
    return Value::of_broken("has another number of fields than its type");
  }
  std::string made = "{";
  std::string scratch;
  for (const SchemaType::Field& field : known->fields) {
    if (octets.size() < 4) return broken;
    if (read_big_endian<std::uint32_t>(octets.data()) != field.type) {
      types.note_outdated();
      return Value::of_broken("has a field of another type than its type says");
    }
    octets.remove_prefix(4);
    bool is_null = false;
    const auto taken = take_sized(octets, is_null);
    if (!taken) return broken;
    const Form form = types.form_of(field.type);
    if (made.size() > 1) made += ',';
    database::detail::append_json_string(made, field.name);
    made += ':';
    const Value value = is_null ? Value() : decode(types, field.type, form, *taken, scratch);
    if (value.type == Value::Type::broken) return value;
    if (!append_element(made, form, value)) return broken;
  }
  if (!octets.empty()) return broken;
  text = std::move(made += '}');
  return Value::of_text(text);
}

// Source: src/backend/utils/adt/rangetypes.c, range_send().
Value range_value(Form bound, Bytes octets, std::string& text) {
  constexpr unsigned empty = 1, has_lower = 2, has_upper = 4, no_lower = 8, no_upper = 16;
  if (octets.empty()) return broken;
  const auto flags = static_cast<unsigned char>(octets[0]);
  octets.remove_prefix(1);
  text = "empty";
  if ((flags & empty) != 0) return octets.empty() ? Value::of_text(text) : broken;
  text = (flags & has_lower) != 0 ? "[" : "(";
  std::string scratch;
  for (const unsigned infinite : {no_lower, no_upper}) {
    if (infinite == no_upper) text += ',';
    if ((flags & infinite) != 0) continue;
    bool is_null = false;
    const auto taken = take_sized(octets, is_null);
    if (!taken || is_null) return broken;
    const Value value = decode(bound, *taken, scratch);
    if (value.type == Value::Type::integer) {
      text += fmt::format_int(value.integer).str();
    } else if (value.type == Value::Type::text) {
      text += value.octets;
    } else {
      return broken;
    }
  }
  if (!octets.empty()) return broken;
  text += (flags & has_upper) != 0 ? ']' : ')';
  return Value::of_text(text);
}

}  // namespace

Value decode(Form form, Bytes octets, std::string& text) {
  static const TypeTable none;
  return decode(none, 0, form, octets, text);
}

Value decode(const TypeTable& types, std::uint32_t type, Form form, Bytes octets,
             std::string& text) {
  switch (form) {
    case Form::boolean: return integer<std::int8_t>(octets);
    case Form::int2: return integer<std::int16_t>(octets);
    case Form::int4: return integer<std::int32_t>(octets);
    case Form::int8: return integer<std::int64_t>(octets);
    case Form::oid: return integer<std::uint32_t>(octets);
    case Form::float4:
    case Form::float8: return real(octets);
    case Form::text: return Value::of_text(octets);
    case Form::jsonb:  // behind the version of the format
      return octets.starts_with('\1') ? Value::of_text(octets.substr(1)) : broken;
    case Form::bytea: return Value::of_blob(octets);
    case Form::numeric: return numeric(octets, text);
    case Form::timestamptz: return timestamp(octets, true, text);
    case Form::timestamp: return timestamp(octets, false, text);
    case Form::date: return date(octets, text);
    case Form::interval: return interval(octets, text);
    case Form::uuid: return uuid(octets, text);
    case Form::array: return array_value(types, octets, text);
    case Form::composite: return composite_value(types, type, octets, text);
    case Form::int4range: return range_value(Form::int4, octets, text);
    case Form::int8range: return range_value(Form::int8, octets, text);
    case Form::numrange: return range_value(Form::numeric, octets, text);
    case Form::tsrange: return range_value(Form::timestamp, octets, text);
    case Form::tstzrange: return range_value(Form::timestamptz, octets, text);
    case Form::daterange: return range_value(Form::date, octets, text);
    case Form::nothing: return {};
    case Form::unknown: break;
  }
  return broken;
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
