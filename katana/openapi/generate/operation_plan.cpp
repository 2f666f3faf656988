#include "katana/openapi/generate/operation_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
#include <set>

namespace katana::openapi::generate {
namespace {

// The weight of an operation without members. Weights are counted in members.
constexpr std::size_t without_types = 20;
using model::In;
using model::MediaType;
using model::Operation;
using model::Parameter;
using model::Style;

std::string essence_of(Bytes type) {
  std::string name(type.substr(0, type.find(';')));
  while (name.ends_with(' ')) name.pop_back();
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

bool is_json(Bytes type) {
  const std::string name = essence_of(type);
  return name == "application/json" || name.ends_with("+json") || name == "*/*" ||
         name == "text/json";
}

constexpr Bytes parts_type = "multipart/form-data";

std::string essence(const MediaType& media) { return essence_of(media.type); }

bool is_form(const MediaType& media) {
  const std::string name = essence(media);
  return name == parts_type || name == "application/x-www-form-urlencoded";
}

// Whether MediaTypeText takes the name (base/values/content_of.hpp).
bool is_media_type(Bytes name) {
  const std::size_t slash = name.find('/');
  const bool plain =
      std::ranges::all_of(name, [](char c) { return c > 0x20 && c < 0x7f && c != ','; });
  return plain && slash != Bytes::npos && slash != 0 && slash + 1 < name.size() &&
         name.find('/', slash + 1) == Bytes::npos;
}

// Whether the router and a pattern take the text as a name.
bool is_identifier(Bytes name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) return false;
  return std::ranges::all_of(
      name, [](char c) { return c == '_' || (std::isalnum(static_cast<unsigned char>(c)) != 0); });
}

// The media type of a parameter whose text is JSON with a schema; null: it is another parameter.
const MediaType* json_of(const Parameter& parameter) {
  if (parameter.content.size() != 1) return nullptr;
  const MediaType& media = parameter.content[0];
  return is_json(media.type) && media.schema ? &media : nullptr;
}

// '\0': a name for each item. Nothing: the style has no lists.
std::optional<char> separator_of(Style style, bool explode, bool names_each) {
  switch (style) {
    case Style::form: return names_each && explode ? '\0' : ',';
    case Style::simple: return ',';
    case Style::space_delimited: return explode ? '\0' : ' ';
    case Style::pipe_delimited: return explode ? '\0' : '|';
    case Style::tab_delimited: return explode ? '\0' : '\t';
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

// A client writes any path. The router says which of them it takes.
void Planner::check_route(OperationPlan& plan) {
  const Operation& operation = *plan.operation;
  const std::string path(operation.path);
  const std::size_t mark = path.find_first_of("?#");
  Result<void> taken;
  if (options_.check_route) taken = options_.check_route(operation.method, plan.pattern);
  if (mark == std::string::npos && taken) return;
  plan.is_routed = false;
  std::string words = mark != std::string::npos
                          ? fmt::format("the path '{}' has a '{}'", path, path[mark])
                          : fmt::format("the path '{}': {}", path, taken.error().describe());
  // The part behind a '#' belongs to no request (RFC 9110 §7.1): no client can ask for it.
  const bool is_never_asked = mark != std::string::npos && path[mark] == '#';
  if (options_.allow_partial || is_never_asked) {
    problems_.warning(operation.location, std::move(words) + ": the server leaves it out");
  } else {
    problems_.error(operation.location, std::move(words) +
                                            ". Generate with --allow-partial, and the server "
                                            "leaves it out");
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
    PlannedPath path{
        .sent_name = name, .type = "std::string", .name = arguments_.take(value_name(name))};
    const bool plain = is_identifier(name) && taken.insert(name).second;
    plan.pattern += "{" + (plain ? name : path.name) + "}";
    const auto found = std::ranges::find_if(operation.parameters, [&](const Parameter& each) {
      return each.in == In::path && each.name == name;
    });
    if (found != operation.parameters.end() && found->schema) {
      const TypeText described = types_.type_of(found->schema->pointer, tag + "_" + name);
      types_.miss_rules(found->schema->pointer, described, "as a parameter of the path");
      const TypeText type = types_.parameter_type(described);
      const bool list = types_.is_list(type);
      if (!type.text.empty() && (plain || found->style != Style::matrix)) {
        path.type = type.text;
        path.style = found->style;
        path.explode = found->explode;
        path.is_list = list;
      } else {
        leave(found->location, fmt::format("the path parameter '{}' is not decoded", name));
      }
    } else if (found != operation.parameters.end() && json_of(*found) != nullptr) {
      const Bytes pointer = json_of(*found)->schema->pointer;
      const TypeText content = types_.type_of(pointer, tag + "_" + name);
      types_.miss_rules(pointer, content, "as a parameter of the path");
      path.type = types_.as_json(content).text;
    } else if (found != operation.parameters.end()) {
      leave(found->location, fmt::format("the path parameter '{}' is not decoded", name));
    }
    plan.paths.push_back(std::move(path));
    rest.remove_prefix(close + 1);
  }
}

// The method and the pattern, without the names of parameters: routes of one shape exclude each
// other.
std::string Planner::shape_of(Bytes method, Bytes pattern) {
  std::string shape = std::string(method) + " ";
  while (!pattern.empty()) {
    const std::size_t open = pattern.find('{');
    shape += pattern.substr(0, open);
    if (open == Bytes::npos) break;
    shape += "{}";
    const std::size_t close = pattern.find('}', open);
    pattern.remove_prefix(close == Bytes::npos ? pattern.size() : close + 1);
  }
  return shape;
}

// A route has one parameter in a segment: "{base}...{head}" becomes "{base_head}", which the
// generated code cuts. Parameters without text between them stay as they are.
void Planner::join_parts(OperationPlan& plan) {
  std::string joined;
  Bytes rest = plan.pattern;
  auto first = plan.paths.begin();
  while (!rest.empty()) {
    const std::size_t end = rest.find('/', 1);
    const Bytes segment = rest.substr(0, end);
    rest.remove_prefix(segment.size());
    const auto count = std::ranges::count(segment, '}');
    const auto last = first + std::min(count, plan.paths.end() - first);
    const bool plain = std::all_of(first, last, [](const PlannedPath& each) {
      return each.style == Style::simple && !each.is_list;
    });
    if (count < 2 || last - first != count || !plain || segment.find("}{") != Bytes::npos) {
      joined += segment;
    } else {
      const std::size_t begin = segment.find('{');
      const std::size_t behind = segment.rfind('}') + 1;
      std::string name;
      for (auto each = first; each != last; ++each) name += (name.empty() ? "" : "_") + each->name;
      first->parts = static_cast<std::size_t>(count);
      first->parts_name = arguments_.take(value_name(name));
      Bytes within = segment.substr(begin, behind - begin);
      while (!within.empty()) {
        const std::size_t open = within.find('{');
        first->parts_form += std::string(within.substr(0, open)) + "{}";
        within.remove_prefix(within.find('}') + 1);
      }
      joined += fmt::format("{}{{{}}}{}", segment.substr(0, begin), first->parts_name,
                            segment.substr(behind));
    }
    first = last;
  }
  // Another route may have the same shape: the server leaves this one out then.
  if (joined != plan.pattern && !shapes_.insert(shape_of(plan.operation->method, joined)).second) {
    for (PlannedPath& each : plan.paths) each.parts = 1;
    return;
  }
  plan.pattern = std::move(joined);
}

bool Planner::add_member(const OperationPlan& plan, const Parameter& parameter,
                         std::vector<Types::Field>& fields) {
  if (const MediaType* const json = json_of(parameter)) {
    fields.push_back({.name = parameter.name,
                      .pointer = json->schema->pointer,
                      .required = parameter.required,
                      .description = parameter.description,
                      .json = true});
    return true;
  }
  if (!parameter.schema) return false;
  if (parameter.style == Style::deep_object) {
    fields.push_back({parameter.name, parameter.schema->pointer, parameter.required,
                      parameter.description, nested_names});
    return true;
  }
  const TypeText type = types_.parameter_type(
      types_.type_of(parameter.schema->pointer, plan.name + "_" + parameter.name));
  const bool list = types_.is_list(type);
  const bool exploded_object =
      parameter.in == In::query && parameter.style == Style::form && parameter.explode;
  if (!type.text.empty()) {
    const auto separator =
        separator_of(parameter.style, parameter.explode, parameter.in == In::query);
    if (!separator || (list && parameter.in == In::cookie && parameter.explode)) return false;
    fields.push_back({parameter.name, parameter.schema->pointer, parameter.required,
                      parameter.description, list ? *separator : '\0'});
    return true;
  }
  if (!exploded_object) return false;
  // Its properties are parameters.
  auto members = types_.text_members_of(parameter.schema->pointer, plan.name);
  if (members.empty()) return add_own_names(plan, parameter, fields);
  for (Types::Field& each : members) {
    each.required = each.required && parameter.required;
    fields.push_back(std::move(each));
  }
  return true;
}

// An object of any names: each of them is a parameter. Only one can have the names that are left.
bool Planner::add_own_names(const OperationPlan& plan, const Parameter& parameter,
                            std::vector<Types::Field>& fields) {
  const TypeText type = types_.type_of(parameter.schema->pointer, plan.name + "_" + parameter.name);
  if (type.values.size() != 1 || !type.text.starts_with("std::map<")) return false;
  const TypeText value = types_.parameter_type(type.values.front());
  if (value.text.empty() || value.nullable || types_.is_list(value)) return false;
  if (std::ranges::find(fields, own_names, &Types::Field::separator) != fields.end()) return false;
  fields.push_back({parameter.name, parameter.schema->pointer, parameter.required,
                    parameter.description, own_names});
  return true;
}

void Planner::add_group(OperationPlan& plan, In in) {
  static constexpr const char* kinds[] = {"Path", "Query", "Header", "Cookie"};
  static constexpr const char* names[] = {"path", "query", "header", "cookie"};
  std::vector<Types::Field> fields;
  for (const Parameter& each : plan.operation->parameters) {
    if (each.in != in) continue;
    if (each.name.empty()) {
      leave(each.location, "a parameter without a name is not decoded");
      continue;
    }
    const std::size_t before = fields.size();
    if (!add_member(plan, each, fields)) {
      if (each.schema) types_.forget(each.schema->pointer);
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
  const auto separator = &Types::Field::separator;
  group.split = std::ranges::any_of(fields, [](char c) { return c != '\0'; }, separator);
  group.nested = std::ranges::any_of(
      fields, [](char c) { return c == nested_names || c == own_names; }, separator);
  plan.groups.push_back(std::move(group));
}

PlannedContent Planner::content_of(const MediaType& media, const std::string& hint) {
  const std::string essence = essence_of(media.type);
  PlannedContent content{.form = ContentForm::json, .media_type = media.type};
  if (is_json(media.type)) {
    if (essence == "*/*") content.media_type = "application/json";
    TypeText type = media.schema ? types_.type_of(media.schema->pointer, hint)
                                 : TypeText{"katana::container::Value", false, {}};
    if (media.schema) types_.miss_rules(media.schema->pointer, type, "as a whole body");
    content.type = type.as_element();
    return content;
  }
  content.form = ContentForm::text;
  content.type = "std::string";
  return content;
}

bool Planner::encode(const OperationPlan& plan, const MediaType& media, Types::Field& field) {
  const auto found = std::ranges::find(media.encodings, field.name, &model::Encoding::property);
  if (found == media.encodings.end() || field.file) return true;
  if (!found->style) {
    field.json = field.json || (!found->content_type.empty() && is_json(found->content_type));
    return true;
  }
  if (found->style == Style::deep_object) {
    field.json = false;
    field.separator = nested_names;
    return true;
  }
  if (field.json) return false;
  const TypeText type =
      types_.parameter_type(types_.type_of(field.pointer, plan.name + "_" + field.name));
  if (!types_.is_list(type)) return true;
  const auto separator = separator_of(*found->style, found->explode, true);
  field.separator = separator.value_or('\0');
  return separator.has_value();
}

PlannedContent Planner::form_of(OperationPlan& plan, const std::vector<MediaType>& all) {
  // Forms of both kinds are read by the same code.
  const auto parts = std::ranges::find(all, parts_type, essence);
  const bool has_parts = parts != all.end();
  const MediaType& chosen = has_parts ? *parts : all[0];
  std::vector<Types::Field> fields;
  if (chosen.schema) {
    fields = types_.form_members_of(chosen.schema->pointer, plan.name, has_parts);
  }
  if (fields.empty() && chosen.schema && types_.is_empty_object(chosen.schema->pointer)) return {};
  if (fields.empty() || fields.size() > members_max) {
    leave(chosen.location, fmt::format("a form that is no object of 1 to {} properties is not "
                                       "decoded ('{}')",
                                       members_max, chosen.type));
    return {};
  }
  for (Types::Field& each : fields) {
    if (encode(plan, chosen, each)) continue;
    leave(chosen.location, fmt::format("the property '{}' of the form is of a style that is not "
                                       "decoded ('{}')",
                                       each.name, chosen.type));
    return {};
  }
  plan.body.nested =
      std::ranges::any_of(fields, [](char c) { return c != '\0'; }, &Types::Field::separator);
  return {.form = has_parts ? ContentForm::multipart : ContentForm::form,
          .media_type = chosen.type,
          .type = types_.add_parameters(plan.name + "_form", fields)};
}

// JSON of one schema is one alternative, forms are one, and all that is neither is one.
PlannedContent Planner::several_of(OperationPlan& plan, const std::vector<MediaType>& all) {
  struct Alternative {
    const MediaType* first;  // null: no JSON
    bool form = false;
    std::string types = {};  // ", \"text/csv\""
  };
  std::vector<MediaType> forms;
  std::ranges::copy_if(all, std::back_inserter(forms), is_form);
  const std::string form = forms.empty() ? std::string() : type_of_form_beside(plan, forms);
  std::vector<Alternative> alternatives;
  std::set<std::string> known;
  PlannedContent content{.form = ContentForm::several};
  const auto is_alike = [&](const MediaType* one, const MediaType* other) {
    if (one == nullptr || other == nullptr) return one == other;
    if (!one->schema || !other->schema) return one->schema.has_value() == other->schema.has_value();
    return types_.is_same(one->schema->pointer, other->schema->pointer);
  };
  for (const MediaType& each : all) {
    const std::string name = essence(each);
    if (is_form(each) && form.empty()) continue;  // the problem was added already
    if (!is_media_type(name) || !known.insert(name).second) {
      leave(each.location,
            fmt::format("content of type '{}' is not decoded: {}", each.type,
                        is_media_type(name) ? "it is described twice" : "it is no media type"));
      continue;
    }
    content.media_type += (content.media_type.empty() ? "" : ", ") + name;
    // Content of any type is JSON only beside JSON that is described in the same way.
    const bool wild = name == "*/*" && std::ranges::none_of(all, [&](const MediaType& other) {
                        return &other != &each && is_json(other.type) && is_alike(&other, &each);
                      });
    const MediaType* const json = is_json(each.type) && !wild ? &each : nullptr;
    const auto found = std::ranges::find_if(alternatives, [&](const Alternative& alternative) {
      return alternative.form == is_form(each) && is_alike(alternative.first, json);
    });
    Alternative& to =
        found != alternatives.end() ? *found : alternatives.emplace_back(json, is_form(each));
    to.types += ", " + literal(name);
  }
  std::vector<std::string> types;
  for (const Alternative& each : alternatives) {
    types.push_back(each.form ? fmt::format("katana::FormOf<{}{}>", form, each.types)
                    : each.first == nullptr
                        ? fmt::format("katana::RawOf<{}>", each.types.substr(2))
                        : fmt::format("katana::JsonOf<{}{}>",
                                      content_of(*each.first, plan.name + "_content").type,
                                      each.types));
  }
  if (types.empty()) return {};
  content.type = types_.take_name(plan.type + "Body");
  plan.body.alias = types.size() == 1 ? fmt::format("using {} = {};\n\n", content.type, types[0])
                                      : fmt::format("using {} = katana::ContentOf<\n    {}>;\n\n",
                                                    content.type, fmt::join(types, ",\n    "));
  return content;
}

// The struct of the forms among other content; empty: it is not decoded, and a problem was added.
std::string Planner::type_of_form_beside(OperationPlan& plan, const std::vector<MediaType>& forms) {
  const PlannedContent form = form_of(plan, forms);
  plan.body.form_beside = !form.type.empty();
  return form.type;
}

void Planner::add_body(OperationPlan& plan) {
  const Operation& operation = *plan.operation;
  if (!operation.body || operation.body->content.empty()) return;
  const std::vector<MediaType>& all = operation.body->content;
  const auto parts = std::ranges::find_if(all, [](const MediaType& each) {
    return essence(each).starts_with("multipart/") && essence(each) != parts_type;
  });
  if (parts != all.end()) {
    leave(parts->location, fmt::format("content of type '{}' is not decoded", parts->type));
    return;
  }
  const bool all_forms = std::ranges::all_of(all, is_form);
  // A Json<T> takes these.
  const bool all_json = std::ranges::all_of(all, [](const MediaType& each) {
    const std::string name = essence(each);
    return name == "application/json" || name == "*/*" || name == "application/*+json";
  });
  PlannedContent& content = plan.body.content;
  content = all_forms                     ? form_of(plan, all)
            : all.size() == 1 || all_json ? content_of(all[0], plan.name + "_content")
                                          : several_of(plan, all);
  if (content.type.empty()) return;
  plan.body.optional = !operation.body->required && operation.method != "GET";
  plan.body.name = arguments_.take(all_forms ? "form" : "content");
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
  if (options_.server) {
    join_parts(plan);
    check_route(plan);
  }
  for (const In in : {In::query, In::header, In::cookie}) add_group(plan, in);
  add_body(plan);
  for (const model::Reply& each : operation.replies) plan.replies.push_back(reply_of(plan, each));
  plan.weight = without_types;
  for (const PlannedGroup& each : plan.groups) plan.weight += types_.weight_of(each.type);
  weigh_contents(plan);
  return plan;
}

// The code of a type of 200 members takes g++ 12 some 300 MB for a form, and likewise for JSON. It
// is in sources apart, if there are several.
void Planner::weigh_contents(OperationPlan& plan) {
  constexpr std::size_t large_members = 150;
  const auto is_apart = [&](const PlannedContent& content) {
    return options_.sources > 1 && types_.weight_of(content.type) >= large_members;
  };
  for (const PlannedReply& reply : plan.replies) {
    for (const PlannedContent& each : reply.contents) {
      if (each.form != ContentForm::json || !is_apart(each)) continue;
      types_.declare_json_of(each.type);
      plan.weight += without_types;  // its copies and destructors
    }
  }
  const PlannedContent& body = plan.body.content;
  if (body.form == ContentForm::json && is_apart(body)) types_.declare_json_of(body.type);
  if (body.form != ContentForm::form && body.form != ContentForm::multipart) return;
  const std::size_t members = types_.weight_of(body.type);
  plan.weight += members;
  if (!plan.body.nested || !is_apart(body)) return;
  if (options_.server) types_.declare_form(body.type);
  if (options_.client) types_.declare_json_in(body.type);
  plan.weight_apart = members / 2;
}

}  // namespace katana::openapi::generate

// SPDX-License-Identifier: Apache-2.0
