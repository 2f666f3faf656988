#include "katana/openapi/document/schema.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace katana::openapi {
namespace detail {

std::string regular_expression(Bytes pattern) {
  std::string expression = "^";
  bool in_class = false;
  for (std::size_t index = 0; index < pattern.size(); ++index) {
    const char c = pattern[index];
    if (c == '\\' && index + 1 < pattern.size()) {
      expression.append({c, pattern[++index]});
    } else if (in_class) {
      if (c == '[') expression += '\\';
      expression += c;
      in_class = c != ']';
    } else if (c == '.') {
      expression += "[\\s\\S]";  // any character at all
    } else {
      in_class = c == '[';
      if (Bytes("()|^$").contains(c)) expression += '\\';
      expression += c;
    }
  }
  return expression + "$";
}

void add_length(Object& schema, std::size_t least, std::size_t most, const char* unit) {
  if (least != 0) schema.set(fmt::format("min{}", unit), std::uint64_t{least});
  if (most != Rules<std::string>::unlimited) {
    schema.set(fmt::format("max{}", unit), std::uint64_t{most});
  }
}

void add_format(Object& schema, Format format) {
  switch (format) {
    case Format::none: break;
    case Format::email: schema.set("format", "email"); break;
    case Format::uuid: schema.set("format", "uuid"); break;
    case Format::date_time: schema.set("format", "date-time"); break;
    case Format::date: schema.set("format", "date"); break;
  }
}

Value or_null(Value schema) {
  Object& object = schema.as_object();
  Value* const type = object.find("type");
  if (type != nullptr && object.find("enum") == nullptr) {
    *type = List{*type, "null"};
    return schema;
  }
  return Object{{"anyOf", List{std::move(schema), Object{{"type", "null"}}}}};
}

void describe(Object& schema, Bytes help, Bytes expected) {
  std::string words(help);
  if (!expected.empty()) {
    if (!words.empty()) words += ' ';
    words += fmt::format("Expected is {}.", expected);
  }
  if (!words.empty()) schema.set("description", std::move(words));
}

std::string alternative_name(std::string_view name, Bytes discriminator) {
  std::string all = fmt::format("{}With{}", name, discriminator);  // which is not empty
  char& first = all[name.size() + 4];
  if (first >= 'a' && first <= 'z') first = static_cast<char>(first - 'a' + 'A');
  // The characters that the name of a component may have (OpenAPI 3.1 §4.8.7).
  static constexpr Bytes allowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_";
  std::ranges::replace_if(all, [](char c) { return !allowed.contains(c); }, '_');
  return all;
}

void add_discriminator(Object& schema, Bytes discriminator, Bytes name) {
  const std::string own(discriminator);
  Object properties{{own, Object{{"type", "string"}, {"const", std::string(name)}}}};
  for (const auto& member : schema.find("properties")->as_object()) {
    properties.add(member.name, member.value);
  }
  schema.set("properties", std::move(properties));
  List required{own};
  if (const Value* const present = schema.find("required")) {
    for (const Value& each : present->as_list()) required.push_back(each);
  }
  schema.set("required", std::move(required));
}

}  // namespace detail

Value Schemas::refer(std::string_view name, Fill fill) {
  auto known = std::ranges::find(names_, fill, &std::pair<Fill, std::string>::first);
  if (known == names_.end()) {
    std::string unique(name);
    for (int number = 2; all_.find(unique) != nullptr; ++number) {
      unique = fmt::format("{}{}", name, number);
    }
    names_.emplace_back(fill, unique);
    all_.set(unique, Object());  // it has its name before the types in it are examined
    Object schema;
    fill(*this, schema);
    all_.set(unique, std::move(schema));
    known = std::ranges::find(names_, fill, &std::pair<Fill, std::string>::first);
  }
  return Object{{"$ref", "#/components/schemas/" + known->second}};
}

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
