// json_schema<T>(): the JSON Schema of a configuration (draft 2020-12), by which editors complete
// and check a YAML file.
//
// Owns       nothing.
// Thread     one.
// Allocates  the text.
// Fails      never.
// Invariant  what the reader takes is valid by it; numbers with units (10s, 16KiB) are text in
//            YAML, so only their type is checked by it, and the rest by the program.
#pragma once

#include <concepts>
#include <string>

#include "katana/base/values/described.hpp"
#include "katana/data/config/scalar.hpp"

namespace katana::config {
namespace detail {

// Members of an object of JSON, one after another.
class SchemaText {
 public:
  void open(Bytes key, char bracket);
  void close(char bracket);
  void add(Bytes key, Bytes text);
  void add_raw(Bytes key, Bytes json);
  void add_item(Bytes text);  // of a list
  std::string take() { return std::move(text_); }

 private:
  void begin(Bytes key);
  std::string text_;
  unsigned depth_ = 0;
  bool first_ = true;
};

template <Described T>
void write_group_schema(SchemaText& out, const T& defaults);

template <class T>
void write_type_schema(SchemaText& out) {
  using Value = WithoutOptional<T>;
  if constexpr (Described<Value>) {
    write_group_schema(out, Value());
  } else if constexpr (std::same_as<Value, bool>) {
    out.add("type", "boolean");
  } else if constexpr (DescribedEnum<Value>) {
    out.open("enum", '[');
    for (const auto& each : enumerators_of<Value>) out.add_item(each.name);
    out.close(']');
  } else if constexpr (std::integral<Value>) {
    out.add("type", "integer");
  } else if constexpr (std::floating_point<Value>) {
    out.add("type", "number");
  } else if constexpr (Scalar<Value>) {
    out.add_raw("type", R"(["string", "number"])");
  } else {
    out.add("type", DictionaryMember<Value> ? "object" : "array");
    out.open(DictionaryMember<Value> ? "additionalProperties" : "items", '{');
    write_type_schema<ElementOf<Value>>(out);
    out.close('}');
  }
}

template <Described T>
void write_group_schema(SchemaText& out, const T& defaults) {
  out.add("type", "object");
  out.add_raw("additionalProperties", "false");
  out.open("properties", '{');
  for_each_field(defaults, [&](const auto& field, const auto& member) {
    using Member = std::remove_cvref_t<decltype(member)>;
    out.open(field.name, '{');
    if (!field.rules.help.empty()) out.add("description", field.rules.help);
    if constexpr (Described<Member>) {
      write_group_schema(out, member);
    } else {
      write_type_schema<Member>(out);
    }
    out.close('}');
  });
  out.close('}');
}

}  // namespace detail

template <Described T>
std::string json_schema(Bytes title) {
  detail::SchemaText out;
  out.open({}, '{');
  out.add("$schema", "https://json-schema.org/draft/2020-12/schema");
  out.add("title", title);
  detail::write_group_schema(out, T());
  out.close('}');
  return out.take() + "\n";
}

}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
