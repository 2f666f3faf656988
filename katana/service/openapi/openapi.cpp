#include "katana/service/openapi/openapi.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "katana/wire/http/method.hpp"
#include "katana/wire/http/status.hpp"

namespace katana::openapi {
namespace {

constexpr const char* problem_type = "application/problem+json";

// RFC 9457 §3.1, as problem() and Json<T> write it.
Value problem_schema() {
  const Value fault = Object{
      {"type", "object"},
      {"required", List{"pointer", "detail"}},
      {"properties", Object{{"pointer", Object{{"type", "string"},
                                               {"description", "A JSON pointer (RFC 6901)."}}},
                            {"detail", Object{{"type", "string"}}}}}};
  return Object{{"type", "object"},
                {"description", "A problem document (RFC 9457)."},
                {"required", List{"type", "title", "status", "detail"}},
                {"properties",
                 Object{{"type", Object{{"type", "string"}, {"format", "uri-reference"}}},
                        {"title", Object{{"type", "string"}}},
                        {"status", Object{{"type", "integer"}, {"minimum", 400}, {"maximum", 599}}},
                        {"detail", Object{{"type", "string"}}},
                        {"errors", Object{{"type", "array"}, {"items", fault}}}}}};
}

Value content_of(const std::string& type, Value schema) {
  Object media;
  if (const Object* const object = schema.get_object(); object == nullptr || !object->empty()) {
    if (!schema.is_null()) media.set("schema", std::move(schema));
  }
  Object content;
  content.set(type, std::move(media));
  return content;
}

Value headers_of(const std::vector<ReplyField>& fields) {
  Object headers;
  for (const ReplyField& field : fields) {
    headers.set(field.name,
                Object{{"description", field.description}, {"schema", Object{{"type", "string"}}}});
  }
  return headers;
}

Value reply_of(const ReplyWords& words, Schemas& schemas) {
  Object reply{{"description", words.description}};
  if (!words.fields.empty()) reply.set("headers", headers_of(words.fields));
  if (!words.type.empty()) {
    Value schema = words.schema != nullptr ? words.schema(schemas) : Object{{"type", "string"}};
    reply.set("content", content_of(words.type, std::move(schema)));
  }
  return reply;
}

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

std::string path_of(std::string_view pattern) {
  std::string path(pattern);
  if (const std::size_t rest = path.find("...}"); rest != std::string::npos) path.erase(rest, 3);
  return path;
}

Value parameters_of(SignatureWords& words, const Operation& operation, std::string_view pattern) {
  const std::vector<std::string> names = names_in(pattern);
  List parameters;
  std::size_t in_path = 0;
  for (ParameterWords& each : words.parameters) {
    if (each.in == "path") each.name = in_path < names.size() ? names[in_path++] : "";
    Object parameter{
        {"name", each.name}, {"in", std::string(each.in)}, {"required", each.required}};
    if (!each.description.empty()) parameter.set("description", each.description);
    parameter.set("schema", std::move(each.schema));
    parameters.emplace_back(std::move(parameter));
  }
  // What the pattern names and the handler does not take is there all the same.
  for (; in_path < names.size(); ++in_path) {
    parameters.emplace_back(Object{{"name", names[in_path]},
                                   {"in", "path"},
                                   {"required", true},
                                   {"schema", Object{{"type", "string"}, {"minLength", 1}}}});
  }
  for (const RequestField& field : operation.fields) {
    Object schema{{"type", "string"}};
    if (!field.pattern.empty()) schema.set("pattern", field.pattern);
    parameters.emplace_back(Object{{"name", field.name},
                                   {"in", "header"},
                                   {"required", false},
                                   {"description", field.description},
                                   {"schema", std::move(schema)}});
  }
  return parameters;
}

// The statuses of problems that an operation can be answered with: its own, and those that follow
// from its signature. 400: the protocol refuses what is malformed, whatever the route.
std::vector<unsigned> problems_of(const SignatureWords& words, const Operation& operation,
                                  const std::vector<const SecurityWords*>& security) {
  std::vector<unsigned> problems = operation.problems;
  problems.push_back(400);
  for (const SecurityWords* const each : security) {
    if (!each->schemes.empty()) problems.push_back(401);
    if (each->decides) problems.push_back(403);
  }
  if (words.content != nullptr) problems.insert(problems.end(), {413, 415, 422});
  if (words.form != nullptr) problems.insert(problems.end(), {413, 415});
  std::ranges::sort(problems);
  problems.erase(std::ranges::unique(problems).begin(), problems.end());
  return problems;
}

Value scheme_of(const SecurityScheme& scheme) {
  Object made;
  switch (scheme.kind) {
    case SecurityScheme::Kind::http:
      made = {{"type", "http"}, {"scheme", scheme.detail}};
      if (!scheme.format.empty()) made.set("bearerFormat", scheme.format);
      break;
    case SecurityScheme::Kind::field:
      made = {{"type", "apiKey"}, {"in", "header"}, {"name", scheme.detail}};
      break;
    case SecurityScheme::Kind::cookie:
      made = {{"type", "apiKey"}, {"in", "cookie"}, {"name", scheme.detail}};
      break;
    case SecurityScheme::Kind::mutual_tls: made = {{"type", "mutualTLS"}}; break;
  }
  if (!scheme.description.empty()) made.set("description", scheme.description);
  return made;
}

// One object for each way in: of every middleware that authenticates one scheme, with all scopes.
List requirements_of(const std::vector<const SecurityWords*>& security) {
  List scopes;
  for (const SecurityWords* const each : security) {
    for (const std::string& scope : each->scopes) scopes.emplace_back(scope);
  }
  std::vector<Object> ways = {Object()};
  for (const SecurityWords* const each : security) {
    if (each->schemes.empty()) continue;
    std::vector<Object> longer;
    for (const Object& way : ways) {
      for (const SecurityScheme& scheme : each->schemes) {
        longer.push_back(way);
        longer.back().set(scheme.name, scopes);
      }
    }
    ways = std::move(longer);
  }
  return {ways.begin(), ways.end()};
}

std::string method_name(http::Method method) {
  std::string name(http::method_names[static_cast<std::size_t>(method)]);
  std::ranges::transform(name, name.begin(), [](char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  });
  return name;
}

}  // namespace

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
  // What the name of a component may have in it (OpenAPI 3.1 §4.8.7).
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
    all_.set(unique, Object());  // it has its name before what it contains is looked at
    Object schema;
    fill(*this, schema);
    all_.set(unique, std::move(schema));
    known = std::ranges::find(names_, fill, &std::pair<Fill, std::string>::first);
  }
  return Object{{"$ref", "#/components/schemas/" + known->second}};
}

void Document::add(http::Method method, std::string_view pattern, SignatureWords words,
                   const Operation& operation, const std::vector<const SecurityWords*>& security) {
  Object made;
  if (!operation.id.empty()) made.set("operationId", operation.id);
  if (!operation.summary.empty()) made.set("summary", operation.summary);
  if (!operation.description.empty()) made.set("description", operation.description);
  if (!operation.tag.empty()) made.set("tags", List{operation.tag});
  Value parameters = parameters_of(words, operation, pattern);
  if (!parameters.as_list().empty()) made.set("parameters", std::move(parameters));
  if (words.content != nullptr) {
    Value content = content_of("application/json", words.content(schemas_));
    if (!operation.example.is_null()) {
      content.as_object().find("application/json")->as_object().set("example", operation.example);
    }
    made.set("requestBody", Object{{"required", true}, {"content", std::move(content)}});
  }
  if (words.form != nullptr) {
    Object content;
    for (const char* const type : {"multipart/form-data", "application/x-www-form-urlencoded"}) {
      content.set(type, Object{{"schema", words.form(schemas_)}});
    }
    made.set("requestBody", Object{{"required", true}, {"content", std::move(content)}});
  }
  Object replies;
  const auto add_reply = [&](const ReplyWords& reply) {
    replies.set(std::to_string(reply.status), reply_of(reply, schemas_));
  };
  for (const ReplyWords& reply : operation.replies) add_reply(reply);
  if (operation.replies.empty() && words.reply) add_reply(*words.reply);
  for (const unsigned status : problems_of(words, operation, security)) {
    if (std::ranges::find(problems_, status) == problems_.end()) problems_.push_back(status);
    if (replies.find(std::to_string(status)) != nullptr) continue;
    replies.set(std::to_string(status),
                Object{{"$ref", fmt::format("#/components/responses/Problem{}", status)}});
  }
  bool authenticates = false;
  for (const SecurityWords* const each : security) {
    for (const SecurityScheme& scheme : each->schemes) {
      schemes_.set(scheme.name, scheme_of(scheme));
      authenticates = true;
    }
  }
  if (authenticates) made.set("security", requirements_of(security));
  replies.set("default", Object{{"$ref", "#/components/responses/Problem"}});
  made.set("responses", std::move(replies));

  const std::string path = path_of(pattern);
  Value* item = paths_.find(path);
  if (item == nullptr) item = &paths_.set(path, Object());
  item->as_object().set(method_name(method), std::move(made));
}

Value Document::problem_reply(unsigned status) const {
  return Object{
      {"description",
       status == 0 ? std::string("Any other problem.") : std::string(http::reason_phrase(status))},
      {"content", content_of(problem_type, Object{{"$ref", "#/components/schemas/Problem"}})}};
}

Value Document::to_value() const {
  Object info{{"title", info_.title}, {"version", info_.version}};
  if (!info_.description.empty()) info.set("description", info_.description);
  Object schemas = schemas_.all();
  schemas.set("Problem", problem_schema());
  Object responses;
  for (const unsigned status : problems_) {
    responses.set(fmt::format("Problem{}", status), problem_reply(status));
  }
  responses.set("Problem", problem_reply(0));
  Object components{{"schemas", std::move(schemas)}, {"responses", std::move(responses)}};
  if (!schemes_.empty()) components.set("securitySchemes", schemes_);
  return Object{{"openapi", "3.1.0"},
                {"info", std::move(info)},
                {"servers", List{Object{{"url", "/"}}}},
                {"paths", paths_},
                {"components", std::move(components)}};
}

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
