// schema_of<T>: the JSON Schema (2020-12, as OpenAPI 3.1 has it) of a type, from its description.
//
//   Schemas schemas;
//   Value schema = schema_of<User>(schemas);   // {"$ref": "#/components/schemas/User"}
//   schemas.all();                             // {"User": {"type": "object", …}}
//
// A described struct is named by its C++ name; its rules (base/values/rules.hpp) are constraints,
// its initialisers defaults.
//
// Owns       its result.
// Thread     one for each Schemas.
// Allocates  yes: at the start of a program.
// Fails      never; a type without a schema does not compile.
// Invariant  a value that the reader of the type takes is valid by its schema.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "katana/base/values/any_of.hpp"
#include "katana/base/values/box.hpp"
#include "katana/base/values/described.hpp"
#include "katana/base/values/described_variant.hpp"
#include "katana/data/container/json_read.hpp"
#include "katana/data/container/json_write.hpp"
#include "katana/data/container/value.hpp"

namespace katana::openapi {

using container::List;
using container::Object;
using container::Value;

// The schemas of a document, by name. A number distinguishes two structs of one name.
class Schemas {
 public:
  // {"$ref": …}. `fill` is called when the type is met for the first time.
  using Fill = void (*)(Schemas&, Object&);  // one for each type, which it stands for
  // A reference to the schema of a type.
  Value refer(std::string_view name, Fill fill);
  // Every schema that was referred to.
  const Object& all() const noexcept { return all_; }

 private:
  Object all_;
  std::vector<std::pair<Fill, std::string>> names_;
};
// Makes the schema of one type.
using MakeSchema = Value (*)(Schemas&);

// Any value as a Value, by way of its JSON. Null when that cannot be read.
template <class T>
Value to_value(const T& value) {
  auto read = container::read_json<Value>(container::to_json(value));
  return read ? *std::move(read) : Value();
}

namespace detail {

// "User" of "katana::shop::User".
template <class T>
constexpr std::string_view name_of() {
  std::string_view name = __PRETTY_FUNCTION__;  // "… [with T = katana::shop::User; …]", "… [T = …]"
  name.remove_prefix(name.find("T = ") + 4);
  name = name.substr(0, name.find_first_of(";]"));
  const std::size_t scope = name.rfind("::");
  return scope == std::string_view::npos ? name : name.substr(scope + 2);
}

// The pattern of base/values/pattern.hpp as an ECMA 262 regular expression of the whole text.
std::string regular_expression(Bytes pattern);
void add_length(Object& schema, std::size_t least, std::size_t most, const char* unit);
void add_format(Object& schema, Format format);
// {"$ref": …} may not have constraints beside it that a reader overlooks: allOf keeps both.
Value or_null(Value schema);
void describe(Object& schema, Bytes help, Bytes expected);
// "CircleWithKind"
std::string alternative_name(std::string_view name, Bytes discriminator);
void add_discriminator(Object& schema, Bytes discriminator, Bytes name);

}  // namespace detail

template <class T>
Value schema_of(Schemas& schemas);
template <class T>
Value ruled_schema(Schemas& schemas, const Rules<T>& rules);

namespace detail {

// The schema of an item of a list or of a value of a dictionary.
template <class T>
Value each_schema(Schemas& schemas, const Rules<T>& rules) {
  Value schema = ruled_schema(schemas, rules.each);
  return is_optional<ElementOf<T>> ? or_null(std::move(schema)) : schema;
}

}  // namespace detail

// The schema of T with the rules of a member.
template <class T>
Value ruled_schema(Schemas& schemas, const Rules<T>& rules) {
  Value made = schema_of<T>(schemas);
  Object& schema = made.as_object();
  if constexpr (NumberMember<T>) {
    if (rules.least) schema.set("minimum", *rules.least);
    if (rules.most) schema.set("maximum", *rules.most);
  } else if constexpr (TextMember<T>) {
    detail::add_length(schema, rules.length_min, rules.length_max, "Length");
    detail::add_format(schema, rules.format);
    if (!rules.pattern.empty()) schema.set("pattern", detail::regular_expression(rules.pattern));
  } else if constexpr (ListMember<T>) {
    detail::add_length(schema, rules.length_min, rules.length_max, "Items");
    schema.set("items", detail::each_schema(schemas, rules));
  } else if constexpr (DictionaryMember<T>) {
    detail::add_length(schema, rules.length_min, rules.length_max, "Properties");
    schema.set("additionalProperties", detail::each_schema(schemas, rules));
  }
  if (rules.secret) schema.set("writeOnly", true);
  if (rules.deprecated) schema.set("deprecated", true);
  detail::describe(schema, rules.help, rules.satisfies_words);
  return made;
}

namespace detail {

template <class M, class Field>
Value member_schema(Schemas& schemas, const Field& field) {
  Value schema = ruled_schema(schemas, field.rules);
  if (is_optional<M> && !field.rules.not_null) return or_null(std::move(schema));
  return schema;
}

template <Described T>
void fill_schema(Schemas& schemas, Object& schema) {
  const T defaults{};
  Object properties;
  List required;
  for_each_field<T>([&](const auto& field) {
    using M = MemberOf<decltype(field)>;
    Value member = member_schema<M>(schemas, field);
    if (field.required()) {
      required.emplace_back(std::string(field.name));
    } else if constexpr (!is_optional<M>) {
      member.as_object().set("default", to_value(defaults.*field.pointer));
    }
    properties.set(field.name, std::move(member));
  });
  schema.set("type", "object");
  schema.set("properties", std::move(properties));
  if (!required.empty()) schema.set("required", std::move(required));
  if (unknown_names<T> == UnknownNames::refuse) schema.set("additionalProperties", false);
}

// The schema of one alternative: its members, and the discriminator with its name.
template <DescribedVariant V, std::size_t index>
void fill_alternative(Schemas& schemas, Object& schema) {
  constexpr const auto& description = alternatives_of<V>;
  fill_schema<std::variant_alternative_t<index, V>>(schemas, schema);
  add_discriminator(schema, description.discriminator, description.names[index]);
}

template <DescribedVariant V>
Value variant_schema(Schemas& schemas) {
  constexpr const auto& description = alternatives_of<V>;
  List all;
  Object mapping;
  for_each_alternative<V>([&](auto index) {
    using A = std::variant_alternative_t<index, V>;
    Value made = schemas.refer(alternative_name(name_of<A>(), description.discriminator),
                               &fill_alternative<V, index>);
    mapping.set(description.names[index], *made.at("/$ref"));
    all.push_back(std::move(made));
  });
  return Object{{"oneOf", std::move(all)},
                {"discriminator", Object{{"propertyName", std::string(description.discriminator)},
                                         {"mapping", std::move(mapping)}}}};
}

template <class T>
Value any_of_schema(Schemas& schemas) {
  List all;
  for_each_type<T>([&]<class A>(std::type_identity<A>) { all.push_back(schema_of<A>(schemas)); });
  return Object{{"anyOf", std::move(all)}};
}

template <class T>
Value integer_schema() {
  // Both bounds are given: a value beyond them cannot be read.
  return Object{{"type", "integer"},
                {"format", sizeof(T) == 8 ? "int64" : "int32"},
                {"minimum", std::numeric_limits<T>::min()},
                {"maximum", std::numeric_limits<T>::max()}};
}

}  // namespace detail

template <class T>
Value schema_of(Schemas& schemas) {
  if constexpr (is_optional<T>) {
    return detail::or_null(schema_of<WithoutOptional<T>>(schemas));
  } else if constexpr (Described<T>) {
    return schemas.refer(detail::name_of<T>(), &detail::fill_schema<T>);
  } else if constexpr (DescribedVariant<T>) {
    return detail::variant_schema<T>(schemas);
  } else if constexpr (is_any_of<T>) {
    return detail::any_of_schema<T>(schemas);
  } else if constexpr (is_box<T>) {
    return schema_of<typename T::element_type>(schemas);
  } else if constexpr (std::same_as<T, Value>) {
    return Object{{"description", "Any JSON value. An integer has at most 64 bits."}};
  } else if constexpr (std::same_as<T, bool>) {
    return Object{{"type", "boolean"}};
  } else if constexpr (std::integral<T>) {
    return detail::integer_schema<T>();
  } else if constexpr (std::floating_point<T>) {
    return Object{{"type", "number"}, {"format", sizeof(T) == 8 ? "double" : "float"}};
  } else if constexpr (DescribedEnum<T>) {
    List names;
    for_each_enumerator<T>([&](const auto& each) { names.emplace_back(std::string(each.name)); });
    return Object{{"type", "string"}, {"enum", std::move(names)}};
  } else if constexpr (TextFormed<T>) {
    Object schema{{"type", "string"}};
    if (!schema_format_of<T>().empty()) schema.set("format", std::string(schema_format_of<T>()));
    if constexpr (requires { TextForm<T>::schema_pattern; }) {
      schema.set("pattern", std::string(TextForm<T>::schema_pattern));
    }
    if constexpr (requires { TextForm<T>::is_json; }) {
      schema.set("contentMediaType", "application/json");
      schema.set("contentSchema", schema_of<decltype(T::value)>(schemas));
    }
    return schema;
  } else if constexpr (BytesMember<T>) {
    return Object{{"type", "string"}, {"contentEncoding", "base64"}};
  } else if constexpr (DictionaryMember<T>) {
    return Object{{"type", "object"}, {"additionalProperties", schema_of<ElementOf<T>>(schemas)}};
  } else if constexpr (ListMember<T>) {
    return Object{{"type", "array"}, {"items", schema_of<ElementOf<T>>(schemas)}};
  } else if constexpr (BorrowedList<T>) {
    return Object{{"type", "array"}, {"items", schema_of<typename T::value_type>(schemas)}};
  } else {
    static_assert(TextMember<T> || BorrowedText<T> || std::same_as<T, Text>,
                  "a type without a schema");
    return Object{{"type", "string"}};
  }
}

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
