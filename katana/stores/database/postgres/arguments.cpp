// Arguments: values of the program as parameters.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "katana/base/values/uuid.hpp"
#include "katana/stores/database/postgres/literals.hpp"
#include "katana/stores/database/postgres/types.hpp"

namespace katana::database::postgres {
namespace {

// The largest size of a value that is made here: the longest are numbers as text.
constexpr std::size_t made_bytes_max = 32;

}  // namespace

void Arguments::add(Bytes bytes, bool binary) {
  values_.push_back({.bytes = bytes});
  formats_.push_back(binary ? protocol::Format::binary : protocol::Format::text);
}

void Arguments::add_null() {
  values_.push_back({.is_null = true});
  formats_.push_back(protocol::Format::binary);
}

void Arguments::add_text(Bytes text) {
  const std::size_t first = made_.size();
  made_.insert(made_.end(), text.begin(), text.end());
  add({made_.data() + first, text.size()}, false);
}

template <class T>
void Arguments::add_number(T number) {
  const std::size_t first = made_.size();
  const auto bits = static_cast<std::make_unsigned_t<T>>(number);
  for (std::size_t index = sizeof(T); index-- > 0;) {
    made_.push_back(static_cast<char>(static_cast<unsigned char>(bits >> (8 * index))));
  }
  add({made_.data() + first, sizeof(T)}, true);
}

const char* Arguments::take(std::span<const Value> values, std::span<const std::uint32_t> types,
                            const TypeTable& table) {
  values_.clear();
  formats_.clear();
  made_.clear();
  if (!literals_.empty()) literals_.clear();
  std::size_t bytes = 0;
  for (const Value& value : values) bytes += made_bytes_max + value.octets.size();
  made_.reserve(bytes);
  for (std::size_t index = 0; index < values.size(); ++index) {
    const Value& value = values[index];
    const std::uint32_t type = index < types.size() ? types[index] : 0;
    const Form form = form_of(type);
    if (value.octets.size() > std::size_t{std::numeric_limits<int>::max()} / 2) {
      return "is larger than 1 GiB";
    }
    const char* why = nullptr;
    switch (value.type) {
      case Value::Type::broken: why = "is no value"; break;
      case Value::Type::null: add_null(); break;
      case Value::Type::integer: why = take_integer(value.integer, form); break;
      case Value::Type::real: why = take_real(value.real, form); break;
      case Value::Type::text: why = take_text(value.octets, type, form, table); break;
      case Value::Type::blob: add(value.octets, true); break;
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

// An array or a composite, in the server's own form.
const char* Arguments::take_literal(Bytes json, std::uint32_t type, const TypeTable& table) {
  std::string& literal = literals_.emplace_back();
  why_.clear();
  if (!append_literal(table, type, json, literal, why_)) {
    if (why_ != not_an_array) return why_.c_str();
    // The text may be a literal of PostgreSQL, as [0:1]={a,b}, which the server judges.
    add_text(json);
    return nullptr;
  }
  if (literal.size() > std::size_t{std::numeric_limits<int>::max()} / 2) {
    return "is larger than 1 GiB";
  }
  add(literal, false);
  return nullptr;
}

const char* Arguments::take_text(Bytes text, std::uint32_t type, Form form,
                                 const TypeTable& table) {
  if (text.find('\0') != Bytes::npos) return "is text with a zero byte, which PostgreSQL refuses";
  switch (form) {
    case Form::text: add(text, true); return nullptr;
    case Form::jsonb: {
      const std::size_t first = made_.size();
      made_.push_back('\1');  // the version of the format
      made_.insert(made_.end(), text.begin(), text.end());
      add({made_.data() + first, text.size() + 1}, true);
      return nullptr;
    }
    case Form::uuid: {
      const auto parsed = Uuid::parse(text);
      if (!parsed) return "is no UUID";
      const std::size_t first = made_.size();
      made_.insert(made_.end(), parsed->octets().begin(), parsed->octets().end());
      add({made_.data() + first, parsed->octets().size()}, true);
      return nullptr;
    }
    case Form::array:
    case Form::unknown:
      // A text that is neither may be a literal of PostgreSQL, which the server judges.
      if (is_literal_of(table, type, text)) return take_literal(text, type, table);
      add_text(text);
      return nullptr;
    case Form::bytea: return "is text, and the statement has a blob there";
    default: add_text(text); return nullptr;
  }
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
