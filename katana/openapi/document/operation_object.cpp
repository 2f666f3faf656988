#include "katana/openapi/document/operation_object.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace katana::openapi::detail {
namespace {

Value octets_schema() { return Object{{"type", "string"}, {"format", "binary"}}; }

// "/users/{id}/{rest...}" → "id", "rest"
std::vector<std::string> names_in(std::string_view pattern) {
  std::vector<std::string> names;
  for (std::size_t open; (open = pattern.find('{')) != std::string_view::npos;) {
    const std::size_t close = pattern.find('}', open);
    if (close == std::string_view::npos) break;
    std::string_view name = pattern.substr(open + 1, close - open - 1);
    if (name.ends_with("...")) name.remove_suffix(3);
    names.emplace_back(name);
    pattern.remove_prefix(close + 1);
  }
  return names;
}

Object parameter_of(const ParameterWords& words) {
  Object parameter{
      {"name", words.name}, {"in", std::string(words.in)}, {"required", words.required}};
  if (!words.description.empty()) parameter.set("description", words.description);
  if (words.deprecated) parameter.set("deprecated", true);
  if (!words.style.empty()) {
    parameter.set("style", std::string(words.style));
    parameter.set("explode", true);
  }
  parameter.set("schema", words.schema);
  return parameter;
}

Object parameter_of(Parts& parts, const RequestField& field) {
  Object schema = text_schema().as_object();
  if (!field.pattern.empty()) schema.set("pattern", field.pattern);
  ParameterWords words{.name = field.name,
                       .in = field.in,
                       .required = field.required,
                       .description = field.description,
                       .schema = std::move(schema),
                       .deprecated = field.deprecated};
  if (field.schema != nullptr) words.schema = field.schema(parts.schemas);
  Object parameter = parameter_of(words);
  if (!field.examples.empty()) parameter.set("examples", examples_object(field.examples));
  return parameter;
}

void add_note(Object& parameter, const ParameterNote& note) {
  if (!note.description.empty()) parameter.set("description", note.description);
  if (note.deprecated) parameter.set("deprecated", true);
  if (!note.examples.empty()) parameter.set("examples", examples_object(note.examples));
}

List parameters_of(Parts& parts, const RouteName& route, SignatureWords& words,
                   const Operation& operation) {
  const std::vector<std::string> names = names_in(route.pattern);
  std::size_t in_path = 0;
  for (ParameterWords& each : words.parameters) {
    if (each.in == "path") each.name = in_path < names.size() ? names[in_path++] : "";
  }
  // A parameter of the pattern that the handler does not take is described all the same.
  for (; in_path < names.size(); ++in_path) {
    words.parameters.push_back({.name = names[in_path],
                                .in = "path",
                                .required = true,
                                .schema = Object{{"type", "string"}, {"minLength", 1}}});
  }
  List parameters;
  for (const ParameterWords& each : words.parameters) parameters.emplace_back(parameter_of(each));
  for (const RequestField& each : operation.fields) {
    parameters.emplace_back(parameter_of(parts, each));
  }
  for (const ParameterNote& note : operation.parameters) {
    const auto found = std::ranges::find_if(
        parameters, [&](const Value& each) { return *each.at("/name") == Value(note.name); });
    if (found == parameters.end()) {
      parts.mistakes.emplace_back(
          Code::invalid_argument,
          fmt::format("openapi: {}: a note is about the parameter '{}', which neither the pattern "
                      "nor the handler has",
                      route.text(), note.name));
    } else {
      add_note(found->as_object(), note);
    }
  }
  return parameters;
}

// ---- content ----

// Adds the example, which has no name, and the named examples.
void add_examples(Object& media, const Operation& operation) {
  if (!operation.example.is_null()) media.set("example", operation.example);
  if (!operation.examples.empty()) media.set("examples", examples_object(operation.examples));
}

Object deep_objects_of(const SignatureWords& words) {
  Object all;
  for (const std::string& each : words.form_objects) {
    all.set(each, Object{{"style", "deepObject"}, {"explode", true}});
  }
  return all;
}

Object encoding_of(const SignatureWords& words, const Operation& operation) {
  Object all = deep_objects_of(words);
  for (const PartEncoding& each : operation.encodings) {
    all.set(each.name, Object{{"contentType", each.content_type}});
  }
  return all;
}

void check_form(Parts& parts, const RouteName& route, const Operation& operation,
                const Value& schema) {
  const Value* const properties = schema.at("/properties");
  for (const PartEncoding& each : operation.encodings) {
    if (properties != nullptr && properties->as_object().find(each.name) != nullptr) continue;
    parts.mistakes.emplace_back(
        Code::invalid_argument,
        fmt::format("openapi: {}: an encoding is about the part '{}', which the form lacks",
                    route.text(), each.name));
  }
}

Object form_content(Parts& parts, const RouteName& route, const SignatureWords& words,
                    const Operation& operation) {
  const Value schema = words.form(parts.schemas);
  check_form(parts, route, operation, schema);
  Object content;
  Object parted = media_of(schema);
  add_examples(parted, operation);
  if (Object encoding = encoding_of(words, operation); !encoding.empty()) {
    parted.set("encoding", std::move(encoding));
  }
  content.set("multipart/form-data", std::move(parted));
  if (!words.form_needs_parts) {
    Object media = media_of(schema);
    add_examples(media, operation);
    if (Object encoding = deep_objects_of(words); !encoding.empty()) {
      media.set("encoding", std::move(encoding));
    }
    content.set("application/x-www-form-urlencoded", std::move(media));
  }
  return content;
}

Object content_object(Parts& parts, const RouteName& route, const SignatureWords& words,
                      const Operation& operation) {
  Object content;
  const std::vector<ContentWords>& all =
      operation.content.empty() ? words.contents : operation.content;
  for (const ContentWords& each : all) {
    Object media = media_of(each.schema != nullptr ? each.schema(parts.schemas) : octets_schema());
    add_item(parts, media, each.item);
    if (!each.examples.empty()) media.set("examples", examples_object(each.examples));
    if (operation.content.empty() && each.schema != nullptr) add_examples(media, operation);
    content.set(each.type, std::move(media));
  }
  if (!all.empty()) return content;
  if (words.form != nullptr) return form_content(parts, route, words, operation);
  if (words.content != nullptr) {
    Object media = media_of(words.content(parts.schemas));
    add_examples(media, operation);
    if (words.is_merge_patch) content.set("application/merge-patch+json", media);
    content.set("application/json", std::move(media));
  }
  return content;
}

List tags_of(const Operation& operation) {
  List tags;
  if (!operation.tag.empty()) tags.emplace_back(operation.tag);
  for (const std::string& each : operation.tags) tags.emplace_back(each);
  return tags;
}

}  // namespace

// ---- names of a route ----

std::string RouteName::key() const {
  std::string name(http::method_names[static_cast<std::size_t>(method)]);
  std::ranges::transform(name, name.begin(), [](char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  });
  return name;
}

std::string RouteName::text() const { return fmt::format("{} {}", http::name_of(method), pattern); }

std::string RouteName::path() const {
  std::string path(pattern);
  if (const std::size_t rest = path.find("...}"); rest != std::string::npos) path.erase(rest, 3);
  return path;
}

std::string RouteName::id() const {
  std::string made = key();
  bool begins_word = true;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    const char c = pattern[at];
    const bool is_lower = c >= 'a' && c <= 'z';
    if (c == '{') made += "By";
    if (is_lower || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) {
      made += begins_word && is_lower ? static_cast<char>(c - 32) : c;
      begins_word = false;
    } else {
      begins_word = true;
    }
  }
  return made == key() ? made + "Root" : made;
}

// ---- objects ----

Value docs_object(const ExternalDocs& docs) {
  Object made{{"url", docs.url}};
  if (!docs.description.empty()) made.set("description", docs.description);
  return made;
}

Value outgoing_object(Parts& parts, const OutgoingRequest& request) {
  Object made;
  const auto add = [&made](const char* name, const std::string& text) {
    if (!text.empty()) made.set(name, text);
  };
  add("operationId", request.id);
  add("summary", request.summary);
  add("description", request.description);
  if (request.content != nullptr) {
    Object media = media_of(request.content(parts.schemas));
    if (!request.examples.empty()) media.set("examples", examples_object(request.examples));
    made.set("requestBody", Object{{"required", true},
                                   {"content", content_of("application/json", std::move(media))}});
  }
  Object replies;
  for (const ReplyWords& reply : request.replies) {
    replies.set(std::to_string(reply.status), reply_of(parts, reply));
  }
  if (replies.empty()) replies.set("2XX", Object{{"description", "It was taken."}});
  made.set("responses", std::move(replies));
  Object item;
  item.set(RouteName{.method = request.method}.key(), std::move(made));
  return item;
}

Value operation_object(Parts& parts, const RouteName& route, SignatureWords& words,
                       const Operation& operation,
                       const std::vector<const SecurityDocumentation*>& security) {
  Object made;
  const auto add = [&made](const char* name, const std::string& text) {
    if (!text.empty()) made.set(name, text);
  };
  add("operationId", operation.id.empty() ? route.id() : operation.id);
  add("summary", operation.summary);
  add("description", operation.description);
  if (List tags = tags_of(operation); !tags.empty()) made.set("tags", std::move(tags));
  if (!operation.docs.url.empty()) made.set("externalDocs", docs_object(operation.docs));
  if (operation.deprecated || !operation.sunset.empty()) made.set("deprecated", true);
  add("x-sunset", operation.sunset);
  List parameters = parameters_of(parts, route, words, operation);
  if (!parameters.empty()) made.set("parameters", std::move(parameters));
  if (Object content = content_object(parts, route, words, operation); !content.empty()) {
    made.set("requestBody", Object{{"required", true}, {"content", std::move(content)}});
  }
  made.set("responses", responses_of(parts, words, operation, security));
  Object callbacks;
  for (const OutgoingRequest& each : operation.callbacks) {
    Object by_url;
    by_url.set(each.url, outgoing_object(parts, each));
    callbacks.set(each.name, std::move(by_url));
  }
  if (!callbacks.empty()) made.set("callbacks", std::move(callbacks));
  add_security(parts, made, security);
  return made;
}

}  // namespace katana::openapi::detail

// SPDX-License-Identifier: Apache-2.0
