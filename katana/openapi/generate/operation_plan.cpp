#include "katana/openapi/generate/operation_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>

namespace katana::openapi::generate {
namespace {

using model::In;
using model::MediaType;
using model::Operation;
using model::Parameter;
using model::Style;

std::string essence_of(Bytes type) {
  std::string name(type.substr(0, type.find(';')));
  while (name.ends_with(' ')) name.pop_back();
  return name;
}

bool is_json(Bytes type) {
  const std::string name = essence_of(type);
  return name == "application/json" || name.ends_with("+json") || name == "*/*" ||
         name == "text/json";
}

// What the router and a pattern take as a name.
bool is_identifier(Bytes name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) return false;
  return std::ranges::all_of(
      name, [](char c) { return c == '_' || (std::isalnum(static_cast<unsigned char>(c)) != 0); });
}

// '\0': a name for each item. Nothing: the style has no lists.
std::optional<char> separator_of(const Parameter& parameter) {
  switch (parameter.style) {
    case Style::form:
      if (parameter.in == In::query && parameter.explode) return '\0';
      return ',';
    case Style::simple: return ',';
    case Style::space_delimited: return parameter.explode ? '\0' : ' ';
    case Style::pipe_delimited: return parameter.explode ? '\0' : '|';
    case Style::tab_delimited: return parameter.explode ? '\0' : '\t';
    default: return std::nullopt;
  }
}

}  // namespace

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

void Planner::leave(const model::Location& location, std::string words) {
  if (options_.allow_partial) {
    problems_.warning(location, std::move(words) + ": left to the handler");
  } else {
    problems_.error(location, std::move(words) +
                                  ". Generate with --allow-partial to leave it to "
                                  "the handler");
  }
}

void Planner::add_paths(OperationPlan& plan, const std::string& tag) {
  const Operation& operation = *plan.operation;
  Bytes rest = operation.path;
  std::set<std::string> taken;
  while (!rest.empty()) {
    const std::size_t open = rest.find('{');
    const std::size_t close = open == Bytes::npos ? open : rest.find('}', open);
    if (close == Bytes::npos) {
      plan.pattern += rest;
      return;
    }
    const std::string name(rest.substr(open + 1, close - open - 1));
    plan.pattern += rest.substr(0, open);
    const bool whole =
        open > 0 && rest[open - 1] == '/' && (close + 1 == rest.size() || rest[close + 1] == '/');
    if (!whole) {
      leave(operation.location,
            fmt::format("the path '{}' has a parameter in a part of a segment", operation.path));
    }
    PlannedPath path{
        .sent_name = name, .type = "std::string", .name = arguments_.take(value_name(name))};
    const bool plain = is_identifier(name) && taken.insert(name).second;
    plan.pattern += "{" + (plain ? name : path.name) + "}";
    const auto found = std::ranges::find_if(operation.parameters, [&](const Parameter& each) {
      return each.in == In::path && each.name == name;
    });
    if (found != operation.parameters.end() && found->schema) {
      const TypeText type =
          types_.parameter_type(types_.type_of(found->schema->pointer, tag + "_" + name));
      const bool list = types_.is_list(type);
      if (!type.text.empty() && (plain || found->style != Style::matrix)) {
        path.type = type.text;
        path.style = found->style;
        path.explode = found->explode;
        path.is_list = list;
      } else {
        leave(found->location, fmt::format("the path parameter '{}' is not decoded", name));
      }
    } else if (found != operation.parameters.end()) {
      leave(found->location, fmt::format("the path parameter '{}' is not decoded", name));
    }
    plan.paths.push_back(std::move(path));
    rest.remove_prefix(close + 1);
  }
}

bool Planner::add_member(const OperationPlan& plan, const Parameter& parameter,
                         std::vector<Types::Field>& fields) {
  if (!parameter.schema) return false;
  const TypeText type = types_.parameter_type(
      types_.type_of(parameter.schema->pointer, plan.name + "_" + parameter.name));
  const bool list = types_.is_list(type);
  const bool exploded_object =
      parameter.in == In::query && parameter.style == Style::form && parameter.explode;
  if (!type.text.empty()) {
    const auto separator = separator_of(parameter);
    if (!separator || (list && parameter.in == In::cookie && parameter.explode)) return false;
    fields.push_back({parameter.name, parameter.schema->pointer, parameter.required,
                      parameter.description, list ? *separator : '\0'});
    return true;
  }
  if (parameter.style != Style::deep_object && !exploded_object) return false;
  // Its properties are parameters: filter[name]=…, or name=….
  auto members = types_.text_members_of(parameter.schema->pointer, plan.name);
  if (members.empty()) return false;
  for (Types::Field& each : members) {
    if (!exploded_object) each.name = parameter.name + "[" + each.name + "]";
    each.required = each.required && parameter.required;
    fields.push_back(std::move(each));
  }
  return true;
}

void Planner::add_group(OperationPlan& plan, In in) {
  static constexpr const char* kinds[] = {"Path", "Query", "Header", "Cookie"};
  static constexpr const char* names[] = {"path", "query", "header", "cookie"};
  std::vector<Types::Field> fields;
  for (const Parameter& each : plan.operation->parameters) {
    if (each.in != in) continue;
    const std::size_t before = fields.size();
    if (!add_member(plan, each, fields)) {
      leave(each.location,
            fmt::format("the {} parameter '{}' of style '{}' is not decoded", model::in_name(in),
                        each.name, model::style_name(each.style)));
    } else if (fields.size() > members_max) {
      fields.resize(before);
      leave(each.location, fmt::format("with '{}' there are more than {} parameters, which a "
                                       "struct can have",
                                       each.name, members_max));
    }
  }
  std::set<std::string> known;
  std::erase_if(fields, [&](const Types::Field& each) { return !known.insert(each.name).second; });
  if (fields.empty()) return;
  const auto index = static_cast<std::size_t>(in);
  PlannedGroup group{.in = in,
                     .type = types_.add_parameters(plan.name + "_" + kinds[index], fields),
                     .name = arguments_.take(names[index])};
  group.split = std::ranges::any_of(fields, [](const auto& each) { return each.separator != 0; });
  plan.groups.push_back(std::move(group));
}

PlannedContent Planner::content_of(const MediaType& media, const std::string& hint) {
  const std::string essence = essence_of(media.type);
  PlannedContent content{.form = ContentForm::json, .media_type = media.type};
  if (is_json(media.type)) {
    if (essence == "*/*") content.media_type = "application/json";
    TypeText type = media.schema ? types_.type_of(media.schema->pointer, hint)
                                 : TypeText{"katana::container::Value", false, {}};
    content.type = type.as_element();
    return content;
  }
  content.form = ContentForm::text;
  content.type = "std::string";
  return content;
}

void Planner::add_body(OperationPlan& plan) {
  const Operation& operation = *plan.operation;
  if (!operation.body || operation.body->content.empty()) return;
  const std::vector<MediaType>& all = operation.body->content;
  const auto rank = [](const MediaType& media) {
    const std::string essence = essence_of(media.type);
    if (is_json(media.type)) return 0;
    if (essence == "multipart/form-data") return 1;
    return essence == "application/x-www-form-urlencoded" ? 2 : 3;
  };
  const MediaType& chosen = *std::ranges::min_element(all, {}, rank);
  // Forms of both kinds are read by the same code.
  for (const MediaType& each : all) {
    const bool same_form = rank(chosen) != 0 && rank(chosen) != 3 && rank(each) == 2;
    if (&each == &chosen || same_form) continue;
    const bool same_json = rank(chosen) == 0 && rank(each) == 0;
    if (same_json) continue;
    leave(each.location,
          fmt::format("content of type '{}' beside '{}' is not decoded", each.type, chosen.type));
    if (rank(chosen) == 0 || rank(each) != rank(chosen)) return;  // any: of the request
  }
  PlannedContent content;
  if (rank(chosen) == 1 || rank(chosen) == 2) {
    content = {.form = rank(chosen) == 1 ? ContentForm::multipart : ContentForm::form,
               .media_type = chosen.type};
    std::vector<Types::Field> fields;
    if (chosen.schema) {
      fields = types_.form_members_of(chosen.schema->pointer, plan.name, rank(chosen) == 1);
    }
    if (fields.empty() || fields.size() > members_max) {
      leave(chosen.location,
            fmt::format("a form of other members than texts, numbers, lists of them and files is "
                        "not decoded ('{}')",
                        chosen.type));
      return;
    }
    content.type = types_.add_parameters(plan.name + "_form", fields);
  } else {
    content = content_of(chosen, plan.name + "_content");
    if (essence_of(chosen.type).starts_with("multipart/")) {
      leave(chosen.location, fmt::format("content of type '{}' is not decoded", chosen.type));
      return;
    }
  }
  plan.body.content = std::move(content);
  plan.body.optional = !operation.body->required && operation.method != "GET";
  plan.body.name = arguments_.take(plan.body.content.form == ContentForm::form ||
                                           plan.body.content.form == ContentForm::multipart
                                       ? "form"
                                       : "content");
}

PlannedReply Planner::reply_of(const OperationPlan& plan, const model::Reply& reply) {
  PlannedReply planned{.reply = &reply};
  std::string label = reply.status == "default" ? "other" : reply.status;
  for (char& c : label) c = c == 'X' ? 'x' : c;
  planned.method = "status_" + label;
  Scope names;
  bool has_json = false;
  for (const MediaType& each : reply.content) {
    if (is_json(each.type) && std::exchange(has_json, true)) continue;
    PlannedContent content = content_of(each, plan.type + "Reply_" + reply.status);
    const bool plain = content.form == ContentForm::json || reply.content.size() == 1;
    content.name = names.take(plain ? planned.method : planned.method + "_" + value_name(each.type))
                       .substr(planned.method.size());
    planned.contents.push_back(std::move(content));
  }
  return planned;
}

OperationPlan Planner::plan(const Operation& operation, const std::string& name,
                            const std::string& tag) {
  OperationPlan plan{.operation = &operation, .name = name, .type = type_name(name)};
  if (options_.server) plan.reply_type = types_.take_name(plan.type + "Reply");
  if (options_.client) plan.response_type = types_.take_name(plan.type + "Response");
  arguments_ = Scope();
  for (const char* const taken : {"request", "group", "api", "reply", "call", "http", "settings"}) {
    arguments_.take(taken);
  }
  add_paths(plan, tag);
  for (const In in : {In::query, In::header, In::cookie}) add_group(plan, in);
  add_body(plan);
  for (const model::Reply& each : operation.replies) plan.replies.push_back(reply_of(plan, each));
  return plan;
}

}  // namespace katana::openapi::generate

// SPDX-License-Identifier: Apache-2.0
