#include "katana/stores/database/postgres/type_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "katana/stores/database/array_text.hpp"

namespace katana::database::postgres {
namespace {

using TypeKind = SchemaType::Kind;

TypeKind type_kind(Bytes letter) noexcept {
  if (letter == "e") return TypeKind::enumeration;
  if (letter == "d") return TypeKind::domain;
  if (letter == "a") return TypeKind::array;
  return letter == "c" ? TypeKind::composite : TypeKind::other;
}

std::uint32_t type_number(Bytes digits) noexcept {
  std::uint32_t number = 0;
  const auto [behind, failure] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return failure == std::errc() && behind == digits.data() + digits.size() ? number : 0;
}

// Reads [["street",25],["zip",23]]. False: the text has another form.
bool read_fields(Bytes json, std::vector<SchemaType::Field>& fields) {
  ArrayReader all(json);
  while (true) {
    const ArrayReader::Element pair = all.next();
    if (pair.kind == ArrayReader::Kind::end) return true;
    if (pair.kind != ArrayReader::Kind::array) return false;
    ArrayReader each(pair.text);
    const ArrayReader::Element name = each.next();
    if (name.kind != ArrayReader::Kind::text) return false;
    SchemaType::Field& field = fields.emplace_back();
    field.name = name.text;
    const ArrayReader::Element type = each.next();
    if (type.kind != ArrayReader::Kind::integer || type.integer <= 0) return false;
    field.type = static_cast<std::uint32_t>(type.integer);
    if (each.next().kind != ArrayReader::Kind::end) return false;
  }
}

bool is_in_containers(Form form) noexcept {
  return form != Form::unknown && form != Form::bytea && form != Form::nothing;
}

}  // namespace

const char* const TypeTable::question =
    "SELECT t.typname, CASE WHEN t.typtype IN ('e', 'd', 'c') THEN t.typtype::pg_catalog.text "
    "WHEN t.typcategory = 'A' AND t.typelem <> 0 THEN 'a' ELSE '-' END, "
    "CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.typelem END, "
    "(SELECT pg_catalog.json_agg(pg_catalog.json_build_array(a.attname, "
    "a.atttypid::pg_catalog.int8) ORDER BY a.attnum) FROM pg_catalog.pg_attribute AS a WHERE "
    "a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped) "
    "FROM pg_catalog.pg_type AS t WHERE t.oid = $1";

void TypeTable::add(std::uint32_t type, Bytes name, Bytes kind, Bytes of, Bytes fields) {
  SchemaType made{.name = std::string(name), .kind = type_kind(kind), .of = type_number(of)};
  const bool refers = made.kind == TypeKind::domain || made.kind == TypeKind::array;
  if (refers && made.of == 0) made.kind = TypeKind::other;
  if (made.kind == TypeKind::composite && !read_fields(fields, made.fields))
    made.kind = TypeKind::other;
  types_[type] = std::move(made);
}

const SchemaType* TypeTable::find(std::uint32_t type) const noexcept {
  const auto found = types_.find(type);
  return found == types_.end() ? nullptr : &found->second;
}

std::uint32_t TypeTable::base_of(std::uint32_t type) const noexcept {
  for (std::size_t depth = 0; depth < depth_max; ++depth) {
    const SchemaType* const known = find(type);
    if (known == nullptr || known->kind != TypeKind::domain) return type;
    type = known->of;
  }
  return type;
}

std::uint32_t TypeTable::missing_of(std::uint32_t type, std::size_t depth) const noexcept {
  if (postgres::form_of(type) != Form::unknown || depth == depth_max) return 0;
  const SchemaType* const known = find(type);
  if (known == nullptr) return type;
  if (known->of != 0) return missing_of(known->of, depth + 1);
  for (const SchemaType::Field& field : known->fields) {
    if (const std::uint32_t missing = missing_of(field.type, depth + 1)) return missing;
  }
  return 0;
}

Form TypeTable::form_of(std::uint32_t type, std::size_t depth) const noexcept {
  if (const Form form = postgres::form_of(type); form != Form::unknown) return form;
  const SchemaType* const known = find(type);
  if (known == nullptr || depth == depth_max) return Form::unknown;
  switch (known->kind) {
    case TypeKind::enumeration: return Form::text;
    case TypeKind::domain: return form_of(known->of, depth + 1);
    case TypeKind::array:
      return is_in_containers(form_of(known->of, depth + 1)) ? Form::array : Form::unknown;
    case TypeKind::composite:
      for (const SchemaType::Field& field : known->fields) {
        if (!is_in_containers(form_of(field.type, depth + 1))) return Form::unknown;
      }
      return Form::composite;
    case TypeKind::other: break;
  }
  return Form::unknown;
}

std::string TypeTable::problem_of(std::uint32_t type) const {
  std::string text;
  for (std::size_t depth = 0; depth < depth_max; ++depth) {
    const SchemaType* const known = find(type);
    text += known == nullptr || known->name.empty() ? std::to_string(type)
                                                    : fmt::format("'{}'", known->name);
    if (known == nullptr || known->kind != TypeKind::composite) break;
    const auto unread = [&](const SchemaType::Field& field) {
      return !is_in_containers(form_of(field.type, depth + 1));
    };
    const auto field = std::ranges::find_if(known->fields, unread);
    if (field == known->fields.end()) break;
    text += fmt::format(", whose field '{}' is of the type ", field->name);
    type = field->type;
  }
  return text;
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
