#include "katana/openapi/generate/server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "katana/base/text/format.hpp"

namespace katana::openapi::generate {
namespace {

using model::In;
using model::Style;

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

const char* style_text(Style style) {
  return style == Style::label ? "label" : style == Style::matrix ? "matrix" : "simple";
}

std::string extractor_of(const PlannedPath& path) {
  if (path.style == Style::simple && !path.is_list) return "katana::Path<" + path.type + ">";
  return fmt::format("katana::StyledPath<{}, katana::SegmentStyle::{}, {}>", path.type,
                     style_text(path.style), path.explode);
}

std::string extractor_of(const PlannedBody& body) {
  std::string extractor = "katana::Json<" + body.content.type + ">";
  if (body.content.form == ContentForm::form || body.content.form == ContentForm::multipart) {
    extractor =
        (body.nested ? "katana::NestedForm<" : "katana::FormFields<") + body.content.type + ">";
  } else if (body.content.form == ContentForm::several) {
    extractor = body.content.type;
  }
  return body.optional ? "katana::IfSent<" + extractor + ">" : extractor;
}

}  // namespace

std::string ServerText::file_name() const { return value_name(tag_) + "_api"; }

// The route takes them as one.
void ServerText::add_parts(std::span<const PlannedPath> parts, std::vector<Argument>& arguments) {
  std::string extractor = "katana::PathParts<" + literal(parts[0].parts_form);
  for (const PlannedPath& each : parts) extractor += ", " + each.type;
  extractor += "> " + parts[0].parts_name;
  std::size_t index = 0;
  for (const PlannedPath& each : parts) {
    arguments.push_back(
        {each.type, each.name, index == 0 ? extractor : std::string(),
         fmt::format("std::move(std::get<{}>({}.values))", index, parts[0].parts_name)});
    ++index;
  }
}

std::vector<ServerText::Argument> ServerText::arguments_of(const OperationPlan& plan) {
  std::vector<Argument> arguments;
  const auto add = [&](std::string type, const std::string& name, std::string extractor) {
    arguments.push_back({std::move(type), name, std::move(extractor) + " " + name,
                         "std::move(" + name + ".value)"});
  };
  for (auto each = plan.paths.begin(); each != plan.paths.end(); ++each) {
    if (each->parts == 1) {
      add(each->type, each->name, extractor_of(*each));
    } else {
      add_parts(std::span(each, each->parts), arguments);
      each += static_cast<std::ptrdiff_t>(each->parts) - 1;
    }
  }
  for (const PlannedGroup& each : plan.groups) {
    const char* const kind = each.in == In::query    ? "Query<"
                             : each.in == In::header ? "Header<"
                                                     : "Cookie<";
    add(each.type, each.name,
        fmt::format("katana::{}{}{}>",
                    each.nested  ? "Nested"
                    : each.split ? "Split"
                                 : "",
                    kind, each.type));
  }
  // Text is the content of the request, which the operation has.
  if (plan.body.name.empty() || plan.body.content.form == ContentForm::text) return arguments;
  const std::string& type = plan.body.content.type;
  add(plan.body.optional ? "std::optional<" + type + ">" : type, plan.body.name,
      extractor_of(plan.body));
  const bool whole = plan.body.content.form == ContentForm::several && !plan.body.optional;
  if (whole) arguments.back().passed = "std::move(" + plan.body.name + ")";
  return arguments;
}

void ServerText::add_reply(const PlannedReply& planned, const std::string& name) {
  const model::Reply& reply = *planned.reply;
  const unsigned code = reply.code();
  const std::string status = code != 0 ? std::string() : "unsigned status";
  const std::string given = code != 0 ? reply.status : "status";
  const auto out = std::back_inserter(replies_);
  if (!reply.description.empty()) {
    fmt::format_to(out, "  // {}\n", one_line(reply.description));
  }
  if (planned.contents.empty()) {
    fmt::format_to(out, "  static {0} {1}({2}) {{ return {0}(katana::Reply({3})); }}\n", name,
                   planned.method, status, given);
    return;
  }
  const std::string comma = status.empty() ? "" : ", ";
  for (const PlannedContent& each : planned.contents) {
    const std::string own = planned.method + each.name;
    const bool plain = each.media_type == "application/json";
    if (each.form == ContentForm::json) {
      const std::string content = plain ? fmt::format("katana::json_reply(content, {})", given)
                                        : fmt::format("katana::Reply({}, {}, std::move(text))",
                                                      given, literal(each.media_type));
      fmt::format_to(out, "  static {} {}({}{}const {}& content);\n", name, own, status, comma,
                     each.type);
      fmt::format_to(std::back_inserter(in_sources_.back().replies),
                     "{0} {0}::{1}({2}{3}const {4}& content) {{\n{5}  return {0}({6});\n}}\n", name,
                     own, status, comma, each.type,
                     plain ? ""
                           : "  katana::Text text;\n"
                             "  katana::container::write_json(content, text);\n",
                     content);
    } else {
      fmt::format_to(out,
                     "  static {0} {1}({2}{3}katana::Text content) {{\n"
                     "    return {0}(katana::Reply({4}, {5}, std::move(content)));\n  }}\n",
                     name, own, status, comma, given, literal(each.media_type));
    }
  }
}

void ServerText::add_reply_class(const OperationPlan& plan, const std::string& name) {
  const auto out = std::back_inserter(replies_);
  fmt::format_to(out, "// The replies of {} {}.\nclass {} {{\n public:\n", plan.operation->method,
                 one_line(plan.operation->path), name);
  for (const PlannedReply& each : plan.replies) add_reply(each, name);
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

void ServerText::add(const OperationPlan& plan) {
  const model::Operation& operation = *plan.operation;
  const std::string& reply = plan.reply_type;
  has_several_ = has_several_ || plan.body.content.form == ContentForm::several;
  has_form_beside_ = has_form_beside_ || plan.body.form_beside;
  has_parts_ = has_parts_ || std::ranges::any_of(plan.paths, [](const PlannedPath& each) {
                 return each.parts > 1;
               });
  has_nested_ =
      has_nested_ || plan.body.nested || std::ranges::any_of(plan.groups, &PlannedGroup::nested);
  replies_ += plan.body.alias;
  in_sources_.push_back({.replies = {}, .route = {}, .weight = plan.weight - plan.weight_apart});
  add_reply_class(plan, reply);
  std::string parameters = "katana::Request request";
  std::string taken = "katana::Request request";
  std::string passed = "std::move(request)";
  for (const Argument& each : arguments_of(plan)) {
    parameters += ",\n      " + each.type + " " + each.name;
    if (!each.extractor.empty()) taken += ",\n      " + each.extractor;
    passed += ", " + each.passed;
  }
  const auto out = std::back_inserter(operations_);
  fmt::format_to(out, "\n  // {} {}", operation.method, one_line(operation.path));
  if (!operation.summary.empty()) fmt::format_to(out, ": {}", one_line(operation.summary));
  if (plan.body.content.form == ContentForm::text && !plan.body.name.empty()) {
    fmt::format_to(out, "\n  // The content, {}, is that of the request.",
                   one_line(plan.body.content.media_type));
  }
  fmt::format_to(out, "{}\n  virtual katana::Task<{}> {}(\n      {}) = 0;\n",
                 operation.deprecated ? "\n  // Deprecated." : "", reply, plan.name, parameters);
  fmt::format_to(std::back_inserter(in_sources_.back().route),
                 "  {}{}, [api](\n      {}) -> katana::Task<katana::Reply> {{\n"
                 "    {} reply = co_await api->{}({});\n"
                 "    co_return std::move(reply).take();\n  }});\n",
                 method_call(operation.method), literal(plan.pattern), taken, reply, plan.name,
                 passed);
}

std::string ServerText::header() const {
  const std::string name = type_name(tag_) + "Api";
  return fmt::format(
      "// Made from {} by katana openapi generate: not to be changed.\n"
      "// clang-format off\n"
      "#pragma once\n\n#include <memory>\n#include <string>\n#include <utility>\n\n"
      "{}#include \"katana/base/coroutine/task.hpp\"\n#include \"katana/http/handlers/json.hpp\"\n"
      "#include \"katana/http/handlers/router.hpp\"\n#include \"{}.hpp\"\n\n"
      "namespace {} {{\n\n{}class {} {{\n public:\n  virtual ~{}() = default;\n{}}};\n\n"
      "// The operations as routes. The object lives as long as they do.\n"
      "void add_routes(katana::Group& group, std::shared_ptr<{}> api);\n\n"
      "}}  // namespace {}\n",
      options_.source, has_several_ ? "#include \"katana/base/values/content_of.hpp\"\n" : "",
      types_file_of(tag_), options_.name_space, replies_, name, name, operations_, name,
      options_.name_space);
}

std::vector<SourceText> ServerText::sources(std::size_t weight_max) const {
  const std::string includes = has_form_beside_ ? "#include \"katana/http/forms/form_of.hpp\"\n"
                               : has_several_ ? "#include \"katana/http/handlers/content_of.hpp\"\n"
                                              : "";
  const std::string type = type_name(tag_) + "Api";
  // The others are functions that the first one calls.
  const auto head_of = [&](std::size_t number) {
    return fmt::format("void add_{}_routes_{}(katana::Group& group, std::shared_ptr<{}> api)",
                       value_name(tag_), number, type);
  };
  const std::vector<Share> shares = shares_of(in_sources_, weight_max);
  const std::size_t count = shares.size();
  std::vector<SourceText> made;
  for (std::size_t number = 1; number <= count; ++number) {
    const Share& share = shares[number - 1];
    std::string before;
    std::string body;
    for (std::size_t other = 2; number == 1 && other <= count; ++other) {
      before += head_of(other) + ";\n";
      body += fmt::format("  add_{}_routes_{}(group, api);\n", value_name(tag_), other);
    }
    std::string replies;
    for (std::size_t at = share.begin; at < share.end; ++at) {
      body += in_sources_[at].route;
      replies += in_sources_[at].replies;
    }
    if (!replies.empty()) replies += '\n';
    const std::string head =
        number == 1
            ? fmt::format("void add_routes(katana::Group& group, std::shared_ptr<{}> api)", type)
            : head_of(number);
    made.push_back(
        {fmt::format("// Made from {} by katana openapi generate: not to be changed.\n"
                     "// clang-format off\n"
                     "#include \"{}.hpp\"\n\n{}#include \"katana/http/forms/{}.hpp\"\n"
                     "#include \"katana/http/handlers/head_fields.hpp\"\n{}"
                     "#include \"katana/http/handlers/split_parameters.hpp\"\n\n"
                     "namespace {} {{\n\n{}{}{}{} {{\n{}}}\n\n}}  // namespace {}\n",
                     options_.source, file_name(), includes,
                     has_nested_ ? "nested_form" : "form_fields",
                     has_parts_ ? "#include \"katana/http/handlers/path_parts.hpp\"\n" : "",
                     options_.name_space, replies, before, before.empty() ? "" : "\n", head, body,
                     options_.name_space),
         share.weight});
  }
  return made;
}

}  // namespace katana::openapi::generate

// SPDX-License-Identifier: Apache-2.0
