#include "katana/database/postgres/types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <type_traits>

#include "katana/base/duration_text.hpp"
#include "katana/base/timestamp.hpp"
#include "katana/base/uuid.hpp"
#include "katana/database/array_text.hpp"

namespace katana::database::postgres {
namespace {

// Of a value that is made: the longest are numbers as text.
constexpr std::size_t made_bytes_max = 32;

template <class T>
T read_big_endian(const char* octets) noexcept {
  std::make_unsigned_t<T> number = 0;
  for (std::size_t index = 0; index < sizeof(T); ++index) {
    number = static_cast<std::make_unsigned_t<T>>((sizeof(T) > 1 ? number << 8 : 0) |
                                                  static_cast<unsigned char>(octets[index]));
  }
  return static_cast<T>(number);
}

template <class T>
Value integer(Bytes octets) noexcept {
  if (octets.size() != sizeof(T)) return {};
  return Value::of_integer(read_big_endian<T>(octets.data()));
}

Value real(Bytes octets) noexcept {
  if (octets.size() == 4) {
    return Value::of_real(std::bit_cast<float>(read_big_endian<std::uint32_t>(octets.data())));
  }
  if (octets.size() != 8) return {};
  return Value::of_real(std::bit_cast<double>(read_big_endian<std::uint64_t>(octets.data())));
}

// Source: src/backend/utils/adt/numeric.c, numeric_send(): digits of base 10,000, the first of
// which counts 10,000^weight, and how many decimal digits are shown behind the point.
Value numeric(Bytes octets, std::string& text) {
  if (octets.size() < 8) return {};
  const auto word = [&](std::size_t index) {
    return read_big_endian<std::int16_t>(octets.data() + 2 * index);
  };
  const int count = word(0);
  const int weight = word(1);
  const auto sign = static_cast<std::uint16_t>(word(2));
  const int scale = word(3);
  if (count < 0 || octets.size() != 8 + 2 * static_cast<std::size_t>(count) || scale < 0) return {};
  text.clear();
  if ((sign & 0xc000u) == 0xc000u) {
    text = sign == 0xd000u ? "Infinity" : sign == 0xf000u ? "-Infinity" : "NaN";
    return Value::of_text(text);
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

// A point of time that the text's form does not have stays readable as text.
Value timestamp(Bytes octets, bool zoned, std::string& text) {
  if (octets.size() != 8) return {};
  const auto us = read_big_endian<std::int64_t>(octets.data());
  constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max() - epoch_days * day_us;
  if (us > last || us == std::numeric_limits<std::int64_t>::min()) {
    text = us > 0 ? "infinity" : "-infinity";
    return Value::of_text(text);
  }
  const Timestamp time(std::chrono::microseconds(us + epoch_days * day_us));
  text = Bytes(TextForm<Timestamp>::write(time));
  if (!zoned && text.ends_with('Z')) text.pop_back();
  return Value::of_text(text);
}

Value date(Bytes octets, std::string& text) {
  if (octets.size() != 4) return {};
  const auto days = read_big_endian<std::int32_t>(octets.data());
  if (days == std::numeric_limits<std::int32_t>::max() ||
      days == std::numeric_limits<std::int32_t>::min()) {
    text = days > 0 ? "infinity" : "-infinity";
    return Value::of_text(text);
  }
  const std::chrono::sys_days day(std::chrono::days(static_cast<int>(days + epoch_days)));
  text = Bytes(TextForm<Date>::write(Date(day)));
  return Value::of_text(text);
}

// Microseconds, days and months: a month has no length, and is said as the database says it.
Value interval(Bytes octets, std::string& text) {
  if (octets.size() != 16) return {};
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
  if (octets.size() != raw.size()) return {};
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

void append_element(std::string& out, Form form, const Value& value) {
  switch (value.type) {
    case Value::Type::integer:
      if (form == Form::boolean) {
        out += value.integer != 0 ? "true" : "false";
      } else {
        out += fmt::format_int(value.integer).str();
      }
      return;
    case Value::Type::real: return database::detail::append_element(out, value.real);
    case Value::Type::text:
    case Value::Type::blob: return database::detail::append_json_string(out, value.octets);
    case Value::Type::null: out += "null";
  }
}

constexpr std::size_t dimensions_max = 6;

struct ArrayOctets {
  Bytes left;
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
    append_element(out, array.form, is_null ? Value{} : decode(array.form, *octets, array.scratch));
  }
  out += ']';
  return true;
}

// Source: src/backend/utils/adt/arrayfuncs.c, array_send().
Value array_value(Bytes octets, std::string& text) {
  if (octets.size() < 12) return {};
  const auto dimensions = read_big_endian<std::int32_t>(octets.data());
  const Form form = form_of(read_big_endian<std::uint32_t>(octets.data() + 8));
  text = "[]";
  if (dimensions == 0) return Value::of_text(text);
  if (dimensions < 0 || dimensions > static_cast<std::int32_t>(dimensions_max)) return {};
  // An enum of the schema is the one element whose type has no fixed number.
  ArrayOctets array{.left = octets.substr(12),
                    .form = form == Form::unknown ? Form::text : form,
                    .sizes = {},
                    .dimensions = static_cast<std::size_t>(dimensions),
                    .scratch = {}};
  for (std::size_t index = 0; index < array.dimensions; ++index) {
    if (array.left.size() < 8) return {};
    array.sizes[index] = read_big_endian<std::int32_t>(array.left.data());
    if (array.sizes[index] <= 0) return {};
    array.left.remove_prefix(8);
  }
  text.clear();
  return append_dimension(array, 0, text) ? Value::of_text(text) : Value{};
}

// Source: src/backend/utils/adt/rangetypes.c, range_send().
Value range_value(Form bound, Bytes octets, std::string& text) {
  constexpr unsigned empty = 1, has_lower = 2, has_upper = 4, no_lower = 8, no_upper = 16;
  if (octets.empty()) return {};
  const auto flags = static_cast<unsigned char>(octets[0]);
  octets.remove_prefix(1);
  text = "empty";
  if ((flags & empty) != 0) return Value::of_text(text);
  text = (flags & has_lower) != 0 ? "[" : "(";
  std::string scratch;
  for (const unsigned infinite : {no_lower, no_upper}) {
    if (infinite == no_upper) text += ',';
    if ((flags & infinite) != 0) continue;
    bool is_null = false;
    const auto taken = take_sized(octets, is_null);
    if (!taken || is_null) return {};
    const Value value = decode(bound, *taken, scratch);
    if (value.type == Value::Type::integer) {
      text += fmt::format_int(value.integer).str();
    } else {
      text += value.octets;
    }
  }
  text += (flags & has_upper) != 0 ? ']' : ')';
  return Value::of_text(text);
}

// A JSON array in PostgreSQL's own form, which is never longer. False: it is none.
bool append_literal(Bytes json, std::size_t depth, std::string& out) {
  ArrayReader reader(json);
  out += '{';
  for (bool first = true;; first = false) {
    const ArrayReader::Element element = reader.next();
    if (element.kind == ArrayReader::Kind::end) break;
    if (!first) out += ',';
    switch (element.kind) {
      case ArrayReader::Kind::null: out += "NULL"; break;
      case ArrayReader::Kind::boolean: out += element.integer != 0 ? "true" : "false"; break;
      case ArrayReader::Kind::integer: out += fmt::format_int(element.integer).str(); break;
      case ArrayReader::Kind::real: out += fmt::format("{}", element.real); break;
      case ArrayReader::Kind::array:
        if (depth == dimensions_max || !append_literal(element.text, depth + 1, out)) return false;
        break;
      case ArrayReader::Kind::text:
        out += '"';
        for (const char c : element.text) {
          if (c == '"' || c == '\\') out += '\\';
          out += c;
        }
        out += '"';
        break;
      default: return false;
    }
  }
  out += '}';
  return true;
}

}  // namespace

// Source: src/include/catalog/pg_type.dat; these numbers never change.
Form form_of(std::uint32_t type) noexcept {
  switch (type) {
    case 16: return Form::boolean;
    case 17: return Form::bytea;
    case 20: return Form::int8;
    case 21: return Form::int2;
    case 23: return Form::int4;
    case 26: return Form::oid;
    case 700: return Form::float4;
    case 701: return Form::float8;
    case 18:    // "char"
    case 19:    // name
    case 25:    // text
    case 114:   // json
    case 142:   // xml
    case 705:   // unknown: a literal
    case 1042:  // bpchar
    case 1043: return Form::text;
    case 1082: return Form::date;
    case 1114: return Form::timestamp;
    case 1184: return Form::timestamptz;
    case 1186: return Form::interval;
    case 1700: return Form::numeric;
    case 2278: return Form::nothing;
    case 2950: return Form::uuid;
    case 3802: return Form::jsonb;
    case 199:                       // json[]
    case 1000:                      // bool[]
    case 1003:                      // name[]
    case 1005:                      // int2[]
    case 1007:                      // int4[]
    case 1009:                      // text[]
    case 1014:                      // bpchar[]
    case 1015:                      // varchar[]
    case 1016:                      // int8[]
    case 1021:                      // float4[]
    case 1022:                      // float8[]
    case 1028:                      // oid[]
    case 1115:                      // timestamp[]
    case 1182:                      // date[]
    case 1185:                      // timestamptz[]
    case 1187:                      // interval[]
    case 1231:                      // numeric[]
    case 2951:                      // uuid[]
    case 3807: return Form::array;  // jsonb[]
    case 3904: return Form::int4range;
    case 3906: return Form::numrange;
    case 3908: return Form::tsrange;
    case 3910: return Form::tstzrange;
    case 3912: return Form::daterange;
    case 3926: return Form::int8range;
    default: return Form::unknown;
  }
}

Value decode(Form form, Bytes octets, std::string& text) {
  switch (form) {
    case Form::boolean: return integer<std::int8_t>(octets);
    case Form::int2: return integer<std::int16_t>(octets);
    case Form::int4: return integer<std::int32_t>(octets);
    case Form::int8: return integer<std::int64_t>(octets);
    case Form::oid: return integer<std::uint32_t>(octets);
    case Form::float4:
    case Form::float8: return real(octets);
    case Form::text: return Value::of_text(octets);
    case Form::jsonb: return octets.empty() ? Value{} : Value::of_text(octets.substr(1));
    case Form::bytea: return Value::of_blob(octets);
    case Form::numeric: return numeric(octets, text);
    case Form::timestamptz: return timestamp(octets, true, text);
    case Form::timestamp: return timestamp(octets, false, text);
    case Form::date: return date(octets, text);
    case Form::interval: return interval(octets, text);
    case Form::uuid: return uuid(octets, text);
    case Form::array: return array_value(octets, text);
    case Form::int4range: return range_value(Form::int4, octets, text);
    case Form::int8range: return range_value(Form::int8, octets, text);
    case Form::numrange: return range_value(Form::numeric, octets, text);
    case Form::tsrange: return range_value(Form::timestamp, octets, text);
    case Form::tstzrange: return range_value(Form::timestamptz, octets, text);
    case Form::daterange: return range_value(Form::date, octets, text);
    case Form::nothing:
    case Form::unknown: break;
  }
  return {};
}

void Arguments::add(const char* data, std::size_t length, bool binary) {
  data_.push_back(data);
  lengths_.push_back(static_cast<int>(length));
  formats_.push_back(binary ? 1 : 0);
}

// As text, with the zero behind it that libpq finds its end by.
void Arguments::add_text(Bytes text) {
  const std::size_t first = made_.size();
  made_.insert(made_.end(), text.begin(), text.end());
  made_.push_back('\0');
  add(made_.data() + first, text.size(), false);
}

template <class T>
void Arguments::add_number(T number) {
  const std::size_t first = made_.size();
  const auto bits = static_cast<std::make_unsigned_t<T>>(number);
  for (std::size_t index = sizeof(T); index-- > 0;) {
    made_.push_back(static_cast<char>(static_cast<unsigned char>(bits >> (8 * index))));
  }
  add(made_.data() + first, sizeof(T), true);
}

const char* Arguments::take(std::span<const Value> values, std::span<const std::uint32_t> types) {
  data_.clear();
  lengths_.clear();
  formats_.clear();
  made_.clear();
  std::size_t bytes = 0;
  for (const Value& value : values) bytes += made_bytes_max + value.octets.size();
  made_.reserve(bytes);
  for (std::size_t index = 0; index < values.size(); ++index) {
    const Value& value = values[index];
    const Form form = index < types.size() ? form_of(types[index]) : Form::unknown;
    if (value.octets.size() > std::size_t{std::numeric_limits<int>::max()} / 2) {
      return "is larger than 1 GiB";
    }
    const char* why = nullptr;
    switch (value.type) {
      case Value::Type::null: add(nullptr, 0, true); break;
      case Value::Type::integer: why = take_integer(value.integer, form); break;
      case Value::Type::real: why = take_real(value.real, form); break;
      case Value::Type::text: why = take_text(value.octets, form); break;
      case Value::Type::blob:
        // An empty view may have no address, which would be null.
        add(value.octets.empty() ? "" : value.octets.data(), value.octets.size(), true);
        break;
    }
    if (why != nullptr) return why;
  }
  return nullptr;
}

const char* Arguments::take_integer(std::int64_t number, Form form) {
  constexpr const char* out_of_range = "is out of range of the type that the statement has there";
  switch (form) {
    case Form::boolean:
      if (number != 0 && number != 1) return "is neither 0 nor 1, and a boolean is wanted";
      add_number(static_cast<std::int8_t>(number));
      return nullptr;
    case Form::int2:
      if (!std::in_range<std::int16_t>(number)) return out_of_range;
      add_number(static_cast<std::int16_t>(number));
      return nullptr;
    case Form::int4:
      if (!std::in_range<std::int32_t>(number)) return out_of_range;
      add_number(static_cast<std::int32_t>(number));
      return nullptr;
    case Form::int8: add_number(number); return nullptr;
    case Form::oid:
      if (!std::in_range<std::uint32_t>(number)) return out_of_range;
      add_number(static_cast<std::uint32_t>(number));
      return nullptr;
    case Form::float4:
    case Form::float8: return take_real(static_cast<double>(number), form);
    case Form::text:
    case Form::bytea:
    case Form::jsonb: return "is an integer, and the statement has another type there";
    default: add_text(fmt::format_int(number).str()); return nullptr;
  }
}

const char* Arguments::take_real(double number, Form form) {
  if (form == Form::float8) {
    add_number(std::bit_cast<std::uint64_t>(number));
    return nullptr;
  }
  if (form == Form::float4) {
    if (std::isfinite(number) && std::abs(number) > std::numeric_limits<float>::max()) {
      return "is out of range of the type that the statement has there";
    }
    add_number(std::bit_cast<std::uint32_t>(static_cast<float>(number)));
    return nullptr;
  }
  if (form == Form::numeric || form == Form::unknown) {
    add_text(fmt::format("{}", number));
    return nullptr;
  }
  return "is a floating-point number, and the statement has another type there";
}

const char* Arguments::take_text(Bytes text, Form form) {
  if (text.find('\0') != Bytes::npos) return "is text with a zero octet, which PostgreSQL refuses";
  switch (form) {
    case Form::text: add(text.empty() ? "" : text.data(), text.size(), true); return nullptr;
    case Form::jsonb: {
      const std::size_t first = made_.size();
      made_.push_back('\1');  // the version of the format
      made_.insert(made_.end(), text.begin(), text.end());
      add(made_.data() + first, text.size() + 1, true);
      return nullptr;
    }
    case Form::uuid: {
      const auto parsed = Uuid::parse(text);
      if (!parsed) return "is no UUID";
      const std::size_t first = made_.size();
      made_.insert(made_.end(), parsed->octets().begin(), parsed->octets().end());
      add(made_.data() + first, parsed->octets().size(), true);
      return nullptr;
    }
    case Form::array: {
      // What is no JSON array may be a literal of PostgreSQL's own, which the server judges.
      std::string literal;
      add_text(text.starts_with('[') && append_literal(text, 1, literal) ? Bytes(literal) : text);
      return nullptr;
    }
    case Form::bytea: return "is text, and the statement has a blob there";
    default: add_text(text); return nullptr;
  }
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
