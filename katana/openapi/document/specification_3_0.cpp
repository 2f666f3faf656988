// A document of OpenAPI 3.1 as one of 3.0, for readers that know no other.
//
//   "type": ["string", "null"]       nullable: true
//   anyOf [X, {"type": "null"}]      X, by allOf if it is a $ref, and nullable: true
//   const                            enum of one
//   contentEncoding: base64          format: byte
//   members beside a $ref            allOf [$ref], and they
//   license.identifier, info.summary, webhooks, mutualTLS, scopes of what is not OAuth 2: left out
#include <algorithm>
#include <string>
#include <utility>

#include "katana/openapi/document/document.hpp"

namespace katana::openapi {
namespace {

void convert(Value& value);

bool is_null_schema(const Value& schema) {
  const Value* const type = schema.at("/type");
  return type != nullptr && *type == Value("null");
}

// ["string", "null"] → "string", nullable.
void convert_type(Object& schema) {
  Value* const type = schema.find("type");
  if (type == nullptr || type->get_list() == nullptr) return;
  List kinds = type->as_list();
  const auto null = std::ranges::find(kinds, Value("null"));
  const bool is_nullable = null != kinds.end();
  if (is_nullable) kinds.erase(null);
  if (kinds.size() != 1) return;  // Document makes no others
  *type = kinds.front();
  if (is_nullable) schema.set("nullable", true);
}

// anyOf [X, null] → X, nullable.
void convert_any_of(Object& schema) {
  Value* const any = schema.find("anyOf");
  if (any == nullptr || any->get_list() == nullptr || any->as_list().size() != 2) return;
  if (!is_null_schema(any->as_list()[1])) return;
  const Value first = any->as_list()[0];
  schema.erase("anyOf");
  if (first.at("/$ref") != nullptr) {
    schema.set("allOf", List{first});
  } else {
    for (const container::Member& each : first.as_object()) schema.set(each.name, each.value);
  }
  schema.set("nullable", true);
}

void convert_schema_words(Object& schema) {
  convert_type(schema);
  convert_any_of(schema);
  if (const Value* const constant = schema.find("const")) {
    const Value only = *constant;
    schema.erase("const");
    schema.set("enum", List{only});
  }
  if (schema.erase("contentEncoding")) schema.set("format", "byte");
  schema.erase("contentMediaType");
  schema.erase("contentSchema");
  if (schema.size() > 1 && schema.find("$ref") != nullptr) {
    const Value reference = Object{{"$ref", *schema.find("$ref")}};
    schema.erase("$ref");
    schema.set("allOf", List{reference});
  }
}

// Only schemas have these words: an example or a default may have members of any name.
bool is_data(const std::string& name) {
  return name == "example" || name == "examples" || name == "default" || name == "enum" ||
         name == "value";
}

void convert_members(Object& object) {
  for (container::Member& each : object) {
    if (!is_data(each.name)) convert(each.value);
  }
}

void convert(Value& value) {
  if (value.get_list() != nullptr) {
    for (Value& each : value.as_list()) convert(each);
  } else if (value.get_object() != nullptr) {
    Object& object = value.as_object();
    // Members of a "properties" are names of the program, each with a schema.
    if (Value* const properties = object.find("properties")) {
      for (container::Member& each : properties->as_object()) convert(each.value);
    }
    for (container::Member& each : object) {
      if (!is_data(each.name) && each.name != "properties") convert(each.value);
    }
    convert_schema_words(object);
  }
}

// Schemes that 3.0 lacks, and scopes of those that have none.
void convert_security(Object& document) {
  Object* schemes = nullptr;
  if (Value* const components = document.find("components")) {
    if (Value* const found = components->as_object().find("securitySchemes")) {
      schemes = &found->as_object();
    }
  }
  if (schemes == nullptr) return;
  for (container::Member& path : document.find("paths")->as_object()) {
    for (container::Member& operation : path.value.as_object()) {
      Value* const security = operation.value.as_object().find("security");
      if (security == nullptr) continue;
      List& ways = security->as_list();
      for (Value& way : ways) {
        for (container::Member& each : way.as_object()) {
          const Value* const type = schemes->find(each.name)->at("/type");
          if (*type != Value("oauth2") && *type != Value("openIdConnect")) each.value = List();
        }
      }
      std::erase_if(ways, [&](const Value& way) {
        return std::ranges::any_of(way.as_object(), [&](const container::Member& each) {
          return *schemes->find(each.name)->at("/type") == Value("mutualTLS");
        });
      });
      if (ways.empty()) operation.value.as_object().erase("security");
    }
  }
  Object kept;
  for (const container::Member& each : *schemes) {
    if (*each.value.at("/type") != Value("mutualTLS")) kept.add(each.name, each.value);
  }
  *schemes = std::move(kept);
}

}  // namespace

Value as_3_0(Object document) {
  document.set("openapi", "3.0.3");
  document.erase("webhooks");
  Object& info = document.find("info")->as_object();
  info.erase("summary");
  if (Value* const license = info.find("license")) license->as_object().erase("identifier");
  convert_security(document);
  convert_members(document);
  return document;
}

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
