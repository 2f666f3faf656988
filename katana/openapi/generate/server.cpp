#include "katana/openapi/generate/server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

namespace katana::openapi::generate {
namespace {

using model::In;
using model::MediaType;
using model::Operation;
using model::Parameter;

bool is_json(Bytes type) {
  const Bytes name = type.substr(0, type.find(';'));
  return name == "application/json" || name.ends_with("+json") || name == "*/*" ||
         name == "text/json";
}

const MediaType* json_of(const std::vector<MediaType>& content) {
  const auto found =
      std::ranges::find_if(content, [](const MediaType& each) { return is_json(each.type); });
  return found == content.end() ? nullptr : &*found;
}

// A comment of one line, whatever the text has.
std::string one_line(Bytes text) {
  std::string line;
  for (const char c : text.substr(0, text.find('\n'))) {
    if (static_cast<unsigned char>(c) >= 0x20) line += c;
  }
  if (line.size() > 80) {
    std::size_t cut = line.rfind(' ', 80);
    if (cut == std::string::npos || cut == 0) cut = 80;
    while (cut > 0 && (static_cast<unsigned char>(line[cut]) & 0xc0) == 0x80) --cut;
    line.resize(cut);
    line += " …";
  }
  while (line.ends_with('\\')) line.pop_back();
  return line;
}

std::string method_call(Bytes method) {
  if (method == "GET") return "group.get(";
  if (method == "POST") return "group.post(";
  if (method == "PUT") return "group.put(";
  if (method == "PATCH") return "group.patch(";
  if (method == "DELETE") return "group.delete_(";
  return fmt::format("group.route(katana::http::Method::{}, ", method == "HEAD"      ? "head"
                                                               : method == "OPTIONS" ? "options"
                                                                                     : "trace");
}

}  // namespace

void ServerText::leave(const model::Location& location, std::string words) {
  if (options_.allow_partial) {
    problems_.warning(location, std::move(words) + ": left to the handler");
  } else {
    problems_.error(location, std::move(words) +
                                  ". Generate with --allow-partial to leave it to "
                                  "the handler");
  }
}

std::string ServerText::file_name() const { return value_name(tag_) + "_api"; }

bool ServerText::is_decoded(const Parameter& parameter, const TypeText& type) const {
  const bool values = types_.is_text_value(type);
  const bool list = types_.is_list_of_text_values(type);
  switch (parameter.in) {
    case In::path: return parameter.style == model::Style::simple && values;
    case In::query:
      return parameter.style == model::Style::form && (values || (list && parameter.explode));
    case In::header:
    case In::cookie: return values || (list && parameter.in == In::header);
  }
  return false;
}

void ServerText::add_path(const Operation& operation, std::vector<Argument>& arguments,
                          std::string& pattern) {
  Bytes rest = operation.path;
  while (!rest.empty()) {
    const std::size_t open = rest.find('{');
    const std::size_t close = open == Bytes::npos ? open : rest.find('}', open);
    if (close == Bytes::npos) {
      pattern += rest;
      return;
    }
    const std::string name(rest.substr(open + 1, close - open - 1));
    pattern += rest.substr(0, open);
    const bool whole =
        open > 0 && rest[open - 1] == '/' && (close + 1 == rest.size() || rest[close + 1] == '/');
    if (!whole) {
      leave(operation.location,
            fmt::format("the path '{}' has a parameter in a part of a segment", operation.path));
    }
    const auto found = std::ranges::find_if(operation.parameters, [&](const Parameter& each) {
      return each.in == In::path && each.name == name;
    });
    Argument argument{
        .type = "std::string", .name = arguments_.take(value_name(name)), .extractor = {}};
    if (found != operation.parameters.end() && found->schema) {
      const TypeText type = types_.type_of(found->schema->pointer, tag_ + "_" + name);
      if (is_decoded(*found, type)) {
        argument.type = type.text;
      } else {
        leave(found->location, fmt::format("the path parameter '{}' is not decoded", name));
      }
    }
    argument.extractor = "katana::Path<" + argument.type + ">";
    pattern += "{" + argument.name + "}";
    arguments.push_back(std::move(argument));
    rest.remove_prefix(close + 1);
  }
}

void ServerText::add_group(const Operation& operation, In in, const std::string& name,
                           std::vector<Argument>& arguments) {
  static constexpr const char* kinds[] = {"Path", "Query", "Header", "Cookie"};
  const std::string kind = kinds[static_cast<std::size_t>(in)];
  std::vector<Types::Field> fields;
  for (const Parameter& each : operation.parameters) {
    if (each.in != in) continue;
    const bool known = each.schema && is_decoded(each, types_.type_of(each.schema->pointer,
                                                                      name + "_" + each.name));
    if (!known) {
      leave(each.location,
            fmt::format("the {} parameter '{}' of style '{}' is not decoded", model::in_name(in),
                        each.name, model::style_name(each.style)));
    } else if (fields.size() < 80) {
      fields.push_back({each.name, each.schema->pointer, each.required, each.description});
    } else {
      leave(each.location, fmt::format("'{}' is parameter 81: a struct has 80", each.name));
    }
  }
  if (fields.empty()) return;
  const std::string type = types_.add_parameters(name + "_" + kind, fields);
  const std::string lower = in == In::query ? "query" : in == In::header ? "header" : "cookie";
  arguments.push_back({type, arguments_.take(lower), "katana::" + kind + "<" + type + ">"});
}

void ServerText::add_body(const Operation& operation, const std::string& name,
                          std::vector<Argument>& arguments) {
  if (!operation.body || operation.body->content.empty()) return;
  const MediaType* const json = json_of(operation.body->content);
  for (const MediaType& each : operation.body->content) {
    if (is_json(each.type)) continue;
    leave(each.location, fmt::format("content of type '{}' is not decoded", each.type));
  }
  if (json == nullptr || operation.body->content.size() > 1) return;  // any: of the request
  if (!operation.body->required) {
    problems_.warning(operation.body->location,
                      "the body is optional, but the generated server wants it");
  }
  TypeText type = json->schema ? types_.type_of(json->schema->pointer, name + "_content")
                               : TypeText{"katana::container::Value", false, {}};
  if (type.nullable) {  // a list or a dictionary in an optional cannot be read alone
    type.text =
        types_.is_declared(type) ? "std::optional<" + type.text + ">" : "katana::container::Value";
  }
  arguments.push_back({type.text, arguments_.take("content"), "katana::Json<" + type.text + ">"});
}

void ServerText::add_reply(const model::Reply& reply, const std::string& name) {
  const unsigned code = reply.code();
  const std::string label = code != 0                   ? reply.status
                            : reply.status == "default" ? "other"
                                                        : reply.status;
  const std::string method = "status_" + value_name(label);
  const std::string status = code != 0 ? std::string() : "unsigned status";
  const std::string given = code != 0 ? reply.status : "status";
  const auto out = std::back_inserter(replies_);
  if (!reply.description.empty()) {
    fmt::format_to(out, "  // {}\n", one_line(reply.description));
  }
  if (reply.content.empty()) {
    fmt::format_to(out, "  static {0} {1}({2}) {{ return {0}(katana::Reply({3})); }}\n", name,
                   code != 0 ? "status_" + reply.status : method, status, given);
    return;
  }
  Scope methods;
  std::set<std::string> done;
  for (const MediaType& each : reply.content) {
    const bool json = is_json(each.type);
    if (json && !done.insert("json").second) continue;
    const std::string base = code != 0 ? "status_" + reply.status : method;
    const std::string own =
        methods.take(json || reply.content.size() == 1 ? base : base + "_" + value_name(each.type));
    const std::string comma = status.empty() ? "" : ", ";
    if (json) {
      TypeText type = each.schema ? types_.type_of(each.schema->pointer, name + "_" + reply.status)
                                  : TypeText{"katana::container::Value", false, {}};
      if (type.nullable) type.text = "std::optional<" + type.text + ">";
      fmt::format_to(out,
                     "  static {0} {1}({2}{3}const {4}& content) {{\n"
                     "    return {0}(katana::json_reply(content, {5}));\n  }}\n",
                     name, own, status, comma, type.text, given);
    } else {
      fmt::format_to(out,
                     "  static {0} {1}({2}{3}katana::Text content) {{\n"
                     "    return {0}(katana::Reply({4}, {5}, std::move(content)));\n  }}\n",
                     name, own, status, comma, given, literal(each.type));
    }
  }
}

void ServerText::add_reply_class(const Operation& operation, const std::string& name) {
  const auto out = std::back_inserter(replies_);
  fmt::format_to(out, "// The replies of {} {}.\nclass {} {{\n public:\n", operation.method,
                 one_line(operation.path), name);
  for (const model::Reply& each : operation.replies) add_reply(each, name);
  fmt::format_to(out,
                 "  // Any other: its status and content are not those of the description.\n"
                 "  static {0} undescribed(katana::Reply reply) {{ return {0}(std::move(reply)); "
                 "}}\n\n"
                 "  // Adds a header field.\n"
                 "  {0}&& with(katana::Bytes field, katana::Bytes value) && {{\n"
                 "    reply_.add_field(field, value);\n"
                 "    return std::move(*this);\n"
                 "  }}\n"
                 "  katana::Reply take() && {{ return std::move(reply_); }}\n\n"
                 " private:\n"
                 "  explicit {0}(katana::Reply reply) : reply_(std::move(reply)) {{}}\n"
                 "  katana::Reply reply_;\n}};\n\n",
                 name);
}

void ServerText::add(const Operation& operation, const std::string& name) {
  const std::string reply = types_.take_name(type_name(name) + "Reply");
  arguments_ = Scope();
  for (const char* const taken : {"request", "group", "api", "reply", "call"})
    arguments_.take(taken);
  std::vector<Argument> arguments;
  std::string pattern;
  add_path(operation, arguments, pattern);
  add_group(operation, In::query, name, arguments);
  add_group(operation, In::header, name, arguments);
  add_group(operation, In::cookie, name, arguments);
  add_body(operation, name, arguments);
  add_reply_class(operation, reply);
  std::string parameters = "katana::Request request";
  std::string taken = "katana::Request request";
  std::string passed = "std::move(request)";
  for (const Argument& each : arguments) {
    parameters += ",\n      " + each.type + " " + each.name;
    taken += ",\n      " + each.extractor + " " + each.name;
    passed += ", std::move(" + each.name + ".value)";
  }
  const auto out = std::back_inserter(operations_);
  fmt::format_to(out, "\n  // {} {}", operation.method, one_line(operation.path));
  if (!operation.summary.empty()) fmt::format_to(out, ": {}", one_line(operation.summary));
  fmt::format_to(out, "{}\n  virtual katana::Task<{}> {}(\n      {}) = 0;\n",
                 operation.deprecated ? "\n  // Deprecated." : "", reply, value_name(name),
                 parameters);
  fmt::format_to(std::back_inserter(routes_),
                 "  {}{}, [api](\n      {}) -> katana::Task<katana::Reply> {{\n"
                 "    {} reply = co_await api->{}({});\n"
                 "    co_return std::move(reply).take();\n  }});\n",
                 method_call(operation.method), literal(pattern), taken, reply, value_name(name),
                 passed);
}

std::string ServerText::header() const {
  const std::string name = type_name(tag_) + "Api";
  return fmt::format(
      "// Made from {} by katana openapi generate: not to be changed.\n"
      "// clang-format off\n"
      "#pragma once\n\n#include <memory>\n#include <string>\n#include <utility>\n\n"
      "#include \"katana/base/task.hpp\"\n#include \"katana/service/json.hpp\"\n"
      "#include \"katana/service/router.hpp\"\n#include \"types.hpp\"\n\n"
      "namespace {} {{\n\n{}class {} {{\n public:\n  virtual ~{}() = default;\n{}}};\n\n"
      "// The operations as routes. The object lives as long as they do.\n"
      "void add_routes(katana::Group& group, std::shared_ptr<{}> api);\n\n"
      "}}  // namespace {}\n",
      options_.source, options_.name_space, replies_, name, name, operations_, name,
      options_.name_space);
}

std::string ServerText::source() const {
  return fmt::format(
      "// Made from {} by katana openapi generate: not to be changed.\n"
      "// clang-format off\n"
      "#include \"{}.hpp\"\n\n#include \"katana/service/head_fields.hpp\"\n\n"
      "namespace {} {{\n\nvoid add_routes(katana::Group& group, std::shared_ptr<{}Api> api) {{\n"
      "{}}}\n\n}}  // namespace {}\n",
      options_.source, file_name(), options_.name_space, type_name(tag_), routes_,
      options_.name_space);
}

}  // namespace katana::openapi::generate

// SPDX-License-Identifier: Apache-2.0
