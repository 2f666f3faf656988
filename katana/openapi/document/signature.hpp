// signature.hpp: the facts of a handler's signature about its operation: words_of<F>().
//
//   Path<T>, Query<T>, Header<T>, Cookie<T>   parameters, with the rules and defaults of T
//   NestedQuery<T>                            the same; objects and lists of them are deepObject
//   Json<T>, FormFields<T>, NestedForm<T>     the content
//   JsonOf, RawOf, ContentOf                  the content, under each of its media types
//   a FromRequest<T>                          the parameters of its from()
//   Preconditions                             412; RequiredPreconditions also If-Match and 428
//   Json<T>, Created<T> as a result           the reply
//
// Owns       its result.
// Thread     one for each Schemas.
// Allocates  yes: at the start of a program.
// Fails      never.
#pragma once

#include <algorithm>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "katana/http/forms/form_fields.hpp"
#include "katana/http/forms/nested_form.hpp"
#include "katana/http/handlers/content_of.hpp"
#include "katana/http/handlers/head_fields.hpp"
#include "katana/http/handlers/json.hpp"
#include "katana/http/handlers/nested_query.hpp"
#include "katana/http/handlers/parameters.hpp"
#include "katana/openapi/document/operation.hpp"

namespace katana {
class Preconditions;  // http/handlers/preconditions.hpp
class RequiredPreconditions;
}  // namespace katana

namespace katana::openapi {

namespace detail {

// ---- facts of each parameter of a handler ----

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
                                .schema = std::move(schema),
                                .deprecated = field.rules.deprecated});
  });
}
template <class T>
struct Words<Query<T>> {
  static void add(Schemas& schemas, SignatureWords& words) {
    add_members<T>(schemas, words, "query");
  }
};
// Whether a member has no single text: it is sent by names with brackets.
template <class M>
consteval bool has_brackets() {
  if constexpr (is_optional<M>) {
    return has_brackets<WithoutOptional<M>>();
  } else if constexpr (TextMember<M> || BytesMember<M> || TextFormed<M> ||
                       std::same_as<M, FormFile>) {
    return false;
  } else if constexpr (ListMember<M>) {
    return has_brackets<typename M::value_type>();
  } else {
    return !std::is_arithmetic_v<M> && !DescribedEnum<M>;
  }
}
template <Described T, class Field>
consteval bool is_deep(const Field& field) {
  return has_brackets<MemberOf<Field>>() || separator_of<T>(field.name) == nested_names;
}
template <class T>
struct Words<NestedQuery<T>> {
  static void add(Schemas& schemas, SignatureWords& words) {
    std::size_t at = words.parameters.size();
    add_members<T>(schemas, words, "query");
    for_each_index<T>([&](auto index) {
      ParameterWords& parameter = words.parameters[at++];
      if (is_deep<T>(field_of<T, index>)) parameter.style = "deepObject";
    });
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
// The parameters of its from(), and the words that the type adds itself.
template <katana::detail::ByFromRequest P>
struct Words<P> {
  static void add(Schemas& schemas, SignatureWords& words) {
    using Parameters = typename katana::detail::FromSignature<P>::Parameters;
    add_parameters(schemas, words, static_cast<Parameters*>(nullptr));
    if constexpr (requires { FromRequest<P>::describe(words); }) FromRequest<P>::describe(words);
  }
};
// If-Match and its like are no parameters in the document: a tool that draws requests from the
// document has no tag that fits.
template <>
struct Words<Preconditions> {
  static void add(Schemas&, SignatureWords& words) { words.problems.push_back(412); }
};
template <>
struct Words<RequiredPreconditions> {
  static void add(Schemas&, SignatureWords& words) {
    words.problems.insert(words.problems.end(), {412, 428});
    words.parameters.push_back({.name = "If-Match",
                                .in = "header",
                                .required = true,
                                .description = "The ETag of the resource that is changed.",
                                .schema = Object{{"type", "string"}}});
  }
};
template <class T>
struct Words<Json<T>> {
  static void add(Schemas&, SignatureWords& words) {
    words.content = &schema_of<T>;
    if constexpr (Described<T>) words.is_merge_patch = has_patches<T>;
  }
};

template <class T, MediaTypeText... types>
struct Words<JsonOf<T, types...>> {
  static void add(Schemas&, SignatureWords& words) {
    (words.contents.push_back({.type = std::string(types.bytes()), .schema = &schema_of<T>}), ...);
  }
};
template <MediaTypeText... types>
struct Words<RawOf<types...>> {
  static void add(Schemas&, SignatureWords& words) {
    (words.contents.push_back({.type = std::string(types.bytes())}), ...);
  }
};
template <class... A>
struct Words<ContentOf<A...>> {
  static void add(Schemas& schemas, SignatureWords& words) { (Words<A>::add(schemas, words), ...); }
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
      Object file{{"type", "string"}, {"format", "binary"}};
      describe(file, field.rules.help, {});
      properties.set(field.name, std::move(file));
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
  static void add(Schemas&, SignatureWords& words) {
    words.form = &form_schema<T>;
    for_each_field<T>([&](const auto& field) {
      using M = MemberOf<decltype(field)>;
      if constexpr (std::same_as<WithoutOptional<M>, FormFile>) {
        words.form_needs_parts |= field.rules.presence == Presence::required;
      }
    });
  }
};

template <class T>
struct Words<NestedForm<T>> {
  static void add(Schemas& schemas, SignatureWords& words) {
    Words<FormFields<T>>::add(schemas, words);
    for_each_index<T>([&](auto index) {
      constexpr const auto& field = field_of<T, index>;
      if (is_deep<T>(field)) words.form_objects.emplace_back(field.name);
    });
  }
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
struct ReplyOf<Answer<R>> : ReplyOf<R> {};
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

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
