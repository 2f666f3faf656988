#include "katana/stores/database/postgres/literals.hpp"

#include <fmt/format.h>

#include <vector>

#include "katana/stores/database/composite_text.hpp"

namespace katana::database::postgres {
namespace {

using Element = ArrayReader::Element;

// Source: PostgreSQL 15, documentation, 8.15.2 and 8.16.2.
void append_quoted(std::string& out, Bytes text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

class LiteralWriter {
 public:
  LiteralWriter(const TypeTable& types, std::string& why) : types_(types), why_(why) {}

  // `element`: the type of the elements; 0: one of the database itself.
  bool append_array(Bytes json, std::uint32_t element, std::size_t depth, std::string& out) {
    ArrayReader reader(json);
    out += '{';
    for (bool first = true;; first = false) {
      const Element each = reader.next();
      if (each.kind == ArrayReader::Kind::end) break;
      if (each.kind == ArrayReader::Kind::broken) return refuse(std::string(not_an_array));
      if (!first) out += ',';
      if (each.kind == ArrayReader::Kind::array) {
        if (depth == dimensions_max) return refuse("is an array of more than 6 dimensions");
        if (!append_array(each.text, element, depth + 1, out)) return false;
      } else if (each.kind == ArrayReader::Kind::null) {
        out += "NULL";
      } else if (!append_value(each, element, out)) {
        return false;
      }
    }
    out += '}';
    return true;
  }

  bool append_composite(Bytes json, std::uint32_t type, std::string& out) {
    const SchemaType* const known = types_.find(types_.base_of(type));
    if (known == nullptr || known->kind != SchemaType::Kind::composite) {
      return refuse("is a composite, and the statement has another type there");
    }
    if (composites_ == TypeTable::depth_max) return refuse("is nested too deeply");
    ++composites_;
    std::vector<std::string> fields(known->fields.size());
    std::vector<bool> has(known->fields.size());
    CompositeReader reader(json);
    while (true) {
      const CompositeReader::Member member = reader.next();
      if (member.value.kind == ArrayReader::Kind::end) break;
      if (member.value.kind == ArrayReader::Kind::broken) return refuse("is no composite");
      std::size_t place = 0;
      while (place < fields.size() && known->fields[place].name != member.name) ++place;
      if (place == fields.size()) {
        return refuse(fmt::format("has the field '{}', which the type '{}' has not", member.name,
                                  known->name));
      }
      has[place] = true;
      const bool is_null = member.value.kind == ArrayReader::Kind::null;
      if (!is_null && !append_field(member.value, known->fields[place].type, fields[place])) {
        return false;
      }
    }
    out += '(';
    for (std::size_t place = 0; place < fields.size(); ++place) {
      if (!has[place]) {
        return refuse(fmt::format("has no field '{}', which the type '{}' has",
                                  known->fields[place].name, known->name));
      }
      if (place > 0) out += ',';
      out += fields[place];
    }
    out += ')';
    --composites_;
    return true;
  }

  std::uint32_t element_of(std::uint32_t type) const noexcept {
    const SchemaType* const known = types_.find(types_.base_of(type));
    return known != nullptr && known->kind == SchemaType::Kind::array ? known->of : 0;
  }

 private:
  bool refuse(std::string why) {
    why_ = std::move(why);
    return false;
  }

  // Appends a value within an array or a composite; texts and composites are quoted.
  bool append_value(const Element& value, std::uint32_t type, std::string& out) {
    switch (value.kind) {
      case ArrayReader::Kind::boolean: out += value.integer != 0 ? "true" : "false"; return true;
      case ArrayReader::Kind::integer: out += fmt::format_int(value.integer).str(); return true;
      case ArrayReader::Kind::real: out += fmt::format("{}", value.real); return true;
      case ArrayReader::Kind::text: append_quoted(out, value.text); return true;
      case ArrayReader::Kind::object: {
        std::string inner;
        if (!append_composite(value.text, type, inner)) return false;
        append_quoted(out, inner);
        return true;
      }
      default: return refuse("has an element that is no value");
    }
  }

  bool append_field(const Element& value, std::uint32_t type, std::string& out) {
    if (value.kind != ArrayReader::Kind::array) return append_value(value, type, out);
    std::string inner;
    if (!append_array(value.text, element_of(type), 1, inner)) return false;
    append_quoted(out, inner);
    return true;
  }

  const TypeTable& types_;
  std::string& why_;
  std::size_t composites_ = 0;  // around what is written
};

}  // namespace

bool is_literal_of(const TypeTable& types, std::uint32_t type, Bytes text) noexcept {
  const std::uint32_t base = types.base_of(type);
  if (text.starts_with('[')) {
    const SchemaType* const known = types.find(base);
    return form_of(base) == Form::array ||
           (known != nullptr && known->kind == SchemaType::Kind::array);
  }
  const SchemaType* const known = text.starts_with('{') ? types.find(base) : nullptr;
  return known != nullptr && known->kind == SchemaType::Kind::composite;
}

bool append_literal(const TypeTable& types, std::uint32_t type, Bytes json, std::string& out,
                    std::string& why) {
  LiteralWriter writer(types, why);
  return json.starts_with('[') ? writer.append_array(json, writer.element_of(type), 1, out)
                               : writer.append_composite(json, type, out);
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
