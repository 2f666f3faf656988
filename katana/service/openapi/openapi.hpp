// OpenAPI 3.1: the description of a service, made from its handlers' signatures and from the
// structs that they take and return.
//
//   openapi::Document document({.title = "Shop", .version = "1.0"});
//   openapi::Routes api = document.describe(router.group("/api"));
//   api.get("/items/{id}", get_item, {.id = "getItem", .summary = "One item", .problems = {404}});
//   router.get("/openapi.json", [text = document.to_json()] { … });
//
// What follows from the signature needs no words: Path<T> and Query<T> are parameters with their
// types, rules and defaults; Json<T> is the content, with 413, 415 and 422; Json<T> and Created<T>
// are replies. `replies` says what the signature does not (a handler that returns a Reply).
// Every problem is application/problem+json (RFC 9457). What the middleware of the group asks for
// (service/auth) is in securitySchemes and in each operation, with 401 and 403.
//
//   schema_of<T>     the JSON Schema of a type: a described struct is named in components/schemas
//                    by its C++ name, and its rules are constraints
//
// Owns       all that it is given.
// Thread     one, while routes are added.
// Allocates  yes: at the start of a program.
// Fails      never: a route that does not build is the Router's to refuse.
// Invariant  routes that were added through it are in the document, with what they are served by.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "katana/base/described.hpp"
#include "katana/base/described_variant.hpp"
#include "katana/container/json_read.hpp"
#include "katana/container/json_write.hpp"
#include "katana/container/value.hpp"
#include "katana/service/forms/form_fields.hpp"
#include "katana/service/head_fields.hpp"
#include "katana/service/json.hpp"
#include "katana/service/router.hpp"

namespace katana::openapi {

using container::List;
using container::Object;
using container::Value;

// The schemas of a document, by name. Two structs of one name are told apart by a number.
class Schemas {
 public:
  // {"$ref": …}. `fill` is called when the type is met for the first time.
  using Fill = void (*)(Schemas&, Object&);  // one for each type, which it stands for
  Value refer(std::string_view name, Fill fill);
  const Object& all() const noexcept { return all_; }

 private:
  Object all_;
  std::vector<std::pair<Fill, std::string>> names_;
};
using MakeSchema = Value (*)(Schemas&);

// What any value is as a Value: what JSON makes of it.
template <class T>
Value to_value(const T& value) {
  auto read = container::read_json<Value>(container::to_json(value));
  return read ? *std::move(read) : Value();
}

struct ReplyField {
  std::string name = {};
  std::string description = {};
};

// One of the replies of an operation.
struct ReplyWords {
  unsigned status = 200;
  std::string description = {};
  std::string type = {};  // of the content; empty: no content
  MakeSchema schema = nullptr;
  std::vector<ReplyField> fields = {};
};

// A field of the request that counts, such as If-Match.
struct RequestField {
  std::string name = {};
  std::string description = {};
  std::string pattern = {};  // ECMA 262; empty: any text
};

struct Operation {
  std::string id = {};  // operationId: of the whole document
  std::string summary = {};
  std::string description = {};
  std::string tag = {};
  std::vector<unsigned> problems = {};   // beyond those that follow from the signature
  std::vector<ReplyWords> replies = {};  // instead of what follows from the signature
  std::vector<RequestField> fields = {};
  Value example = {};  // of the content
};

struct Info {
  std::string title = {};
  std::string version = {};
  std::string description = {};
};

// A parameter or the content of an operation, as its signature has it.
struct ParameterWords {
  std::string name = {};
  std::string_view in = "query";  // or "path", "header", "cookie"
  bool required = false;
  std::string description = {};
  Value schema = {};
};
struct SignatureWords {
  std::vector<ParameterWords> parameters = {};
  MakeSchema content = nullptr;
  MakeSchema form = nullptr;  // instead, when it is a form
  std::optional<ReplyWords> reply = {};
};

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

// The pattern of base/pattern.hpp as an ECMA 262 regular expression of the whole text.
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
    schema.set("items", ruled_schema(schemas, rules.each));
  } else if constexpr (DictionaryMember<T>) {
    detail::add_length(schema, rules.length_min, rules.length_max, "Properties");
    schema.set("additionalProperties", ruled_schema(schemas, rules.each));
  }
  if (rules.secret) schema.set("writeOnly", true);
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

// Of one alternative: its members, and the discriminator with its name.
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
Value integer_schema() {
  // Both bounds: what is beyond them cannot be read.
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
    return schema;
  } else if constexpr (BytesMember<T>) {
    return Object{{"type", "string"}, {"contentEncoding", "base64"}};
  } else if constexpr (DictionaryMember<T>) {
    return Object{{"type", "object"}, {"additionalProperties", schema_of<ElementOf<T>>(schemas)}};
  } else if constexpr (ListMember<T>) {
    return Object{{"type", "array"}, {"items", schema_of<ElementOf<T>>(schemas)}};
  } else {
    static_assert(TextMember<T> || std::same_as<T, Text>, "a type without a schema");
    return Object{{"type", "string"}};
  }
}

// Replies, for Operation::replies.
template <class T>
ReplyWords json_reply(unsigned status, std::string description,
                      std::vector<ReplyField> fields = {}) {
  return {status, std::move(description), "application/json", &schema_of<T>, std::move(fields)};
}
inline ReplyWords empty_reply(unsigned status, std::string description,
                              std::vector<ReplyField> fields = {}) {
  return {status, std::move(description), {}, nullptr, std::move(fields)};
}
inline ReplyWords text_reply(unsigned status, std::string description, std::string type) {
  return {status, std::move(description), std::move(type), nullptr, {}};
}

namespace detail {

// ---- what each parameter of a handler says ----

template <class P>
struct Words {
  static void add(Schemas&, SignatureWords&) {}
};
template <class T>
struct Words<Path<T>> {
  static void add(Schemas& schemas, SignatureWords& words) {
    Value schema = schema_of<T>(schemas);
    if constexpr (TextMember<T>) schema.as_object().set("minLength", 1);
    words.parameters.push_back(
        {.name = {}, .in = "path", .required = true, .schema = std::move(schema)});
  }
};
// The members of T as parameters.
template <class T>
void add_members(Schemas& schemas, SignatureWords& words, std::string_view in) {
  const T defaults{};
  for_each_field<T>([&](const auto& field) {
    using M = MemberOf<decltype(field)>;
    Value schema = ruled_schema(schemas, field.rules);
    const bool required = field.rules.presence == Presence::required;
    if constexpr (!is_optional<M>) {
      if (!required) schema.as_object().set("default", to_value(defaults.*field.pointer));
    }
    std::string name(field.name);
    if (in == "header") std::ranges::replace(name, '_', '-');
    words.parameters.push_back({.name = std::move(name),
                                .in = in,
                                .required = required,
                                .description = std::string(field.rules.help),
                                .schema = std::move(schema)});
  });
}
template <class T>
struct Words<Query<T>> {
  static void add(Schemas& schemas, SignatureWords& words) {
    add_members<T>(schemas, words, "query");
  }
};
template <class T>
struct Words<Header<T>> {
  static void add(Schemas& schemas, SignatureWords& words) {
    add_members<T>(schemas, words, "header");
  }
};
template <class T>
struct Words<Cookie<T>> {
  static void add(Schemas& schemas, SignatureWords& words) {
    add_members<T>(schemas, words, "cookie");
  }
};
template <class... P>
void add_parameters(Schemas& schemas, SignatureWords& words, std::tuple<P...>*);
// Its parameters, and what it adds itself.
template <katana::detail::ByFromRequest P>
struct Words<P> {
  static void add(Schemas& schemas, SignatureWords& words) {
    using Parameters = typename katana::detail::FromSignature<P>::Parameters;
    add_parameters(schemas, words, static_cast<Parameters*>(nullptr));
    if constexpr (requires { FromRequest<P>::describe(words); }) FromRequest<P>::describe(words);
  }
};
template <class T>
struct Words<Json<T>> {
  static void add(Schemas&, SignatureWords& words) { words.content = &schema_of<T>; }
};

template <class T>
Value form_schema(Schemas& schemas) {
  const T defaults{};
  Object properties;
  List required;
  for_each_field<T>([&](const auto& field) {
    using M = MemberOf<decltype(field)>;
    if (field.rules.presence == Presence::required) required.emplace_back(std::string(field.name));
    if constexpr (std::same_as<WithoutOptional<M>, FormFile>) {
      properties.set(field.name, Object{{"type", "string"}, {"format", "binary"}});
    } else {
      Value member = ruled_schema(schemas, field.rules);
      if constexpr (!is_optional<M>) {
        if (field.rules.presence != Presence::required) {
          member.as_object().set("default", to_value(defaults.*field.pointer));
        }
      }
      properties.set(field.name, std::move(member));
    }
  });
  Object schema{{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) schema.set("required", std::move(required));
  if (unknown_names<T> == UnknownNames::refuse) schema.set("additionalProperties", false);
  return schema;
}
template <class T>
struct Words<FormFields<T>> {
  static void add(Schemas&, SignatureWords& words) { words.form = &form_schema<T>; }
};

template <class R>
struct ReplyOf {
  static std::optional<ReplyWords> words() { return std::nullopt; }
};
template <class T>
struct ReplyOf<Json<T>> {
  static std::optional<ReplyWords> words() { return json_reply<T>(200, "The answer."); }
};
template <class T>
struct ReplyOf<Created<T>> {
  static std::optional<ReplyWords> words() {
    return json_reply<T>(201, "It was made.", {{"Location", "Where it is served."}});
  }
};
template <class R>
struct ReplyOf<Result<R>> : ReplyOf<R> {};
template <class R>
struct ReplyOf<Task<R>> : ReplyOf<R> {};

template <class... P>
void add_parameters(Schemas& schemas, SignatureWords& words, std::tuple<P...>*) {
  (Words<P>::add(schemas, words), ...);
}

template <class F>
SignatureWords words_of(Schemas& schemas) {
  using Function = katana::detail::Signature<F>;
  SignatureWords words;
  add_parameters(schemas, words, static_cast<typename Function::Parameters*>(nullptr));
  words.reply = ReplyOf<typename Function::Return>::words();
  return words;
}

}  // namespace detail

class Routes;

class Document {
 public:
  explicit Document(Info info) : info_(std::move(info)) {}

  // Routes that are added to the result are added to the group, and are in the document.
  Routes describe(Group group);
  // What is served without being described here, for documents that are to be complete. `security`:
  // as Group::security() has it.
  void add(http::Method method, std::string_view pattern, SignatureWords words,
           const Operation& operation, const std::vector<const SecurityWords*>& security = {});
  Schemas& schemas() noexcept { return schemas_; }

  Value to_value() const;
  std::string to_json() const { return container::to_json(to_value()); }

 private:
  Value problem_reply(unsigned status) const;

  const Info info_;
  Schemas schemas_;
  Object paths_;
  Object schemes_;                  // securitySchemes, by name
  std::vector<unsigned> problems_;  // statuses that some operation names
};

class Routes {
 public:
  Routes(Document& document, Group group) : document_(&document), group_(std::move(group)) {}

  template <class F>
  Routes& get(std::string_view pattern, F handler, const Operation& operation = {},
              RouteOptions options = {}) {
    return route(http::Method::get, pattern, std::move(handler), operation, options);
  }
  template <class F>
  Routes& post(std::string_view pattern, F handler, const Operation& operation = {},
               RouteOptions options = {}) {
    return route(http::Method::post, pattern, std::move(handler), operation, options);
  }
  template <class F>
  Routes& put(std::string_view pattern, F handler, const Operation& operation = {},
              RouteOptions options = {}) {
    return route(http::Method::put, pattern, std::move(handler), operation, options);
  }
  template <class F>
  Routes& patch(std::string_view pattern, F handler, const Operation& operation = {},
                RouteOptions options = {}) {
    return route(http::Method::patch, pattern, std::move(handler), operation, options);
  }
  template <class F>
  Routes& delete_(std::string_view pattern, F handler, const Operation& operation = {},
                  RouteOptions options = {}) {
    return route(http::Method::delete_, pattern, std::move(handler), operation, options);
  }

  template <class F>
  Routes& route(http::Method method, std::string_view pattern, F handler,
                const Operation& operation, RouteOptions options = {}) {
    document_->add(method, std::string(group_.prefix()).append(pattern),
                   detail::words_of<F>(document_->schemas()), operation, group_.security());
    group_.route(method, pattern, std::move(handler), options);
    return *this;
  }

  // As Group::anonymous().
  Routes anonymous() const { return Routes(*document_, group_.anonymous()); }

 private:
  Document* document_;
  Group group_;
};

inline Routes Document::describe(Group group) { return Routes(*this, std::move(group)); }

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
