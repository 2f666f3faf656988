#include "katana/openapi/generate/client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "katana/base/text/format.hpp"

namespace katana::openapi::generate {
namespace {

using model::In;
using model::Style;

// Whether the replies of the operation have content at all.
bool reads_content(const OperationPlan& plan) { return plan.operation->method != "HEAD"; }

std::string condition_of(const model::Reply& reply) {
  if (reply.code() != 0) return "status == " + reply.status;
  return fmt::format("status / 100 == {}", reply.status[0]);
}

// The JSON content of a reply; null: it has none.
const PlannedContent* json_of(const PlannedReply& reply) {
  for (const PlannedContent& each : reply.contents) {
    if (each.form == ContentForm::json) return &each;
  }
  return nullptr;
}

std::string name_of(const OperationPlan& plan) {
  return plan.operation->method + " " + plan.operation->path;
}

}  // namespace

std::string ClientText::file_name() const { return value_name(tag_) + "_client"; }

// The first server of the operation, which may have its own.
std::string ClientText::server_of(const model::Operation& operation) const {
  const std::vector<model::Server>& servers =
      operation.servers.empty() ? api_.servers : operation.servers;
  return servers.empty() ? std::string() : servers[0].default_url();
}

void ClientText::add_response(const OperationPlan& plan, const std::string& name) {
  const auto out = std::back_inserter(responses_);
  fmt::format_to(out,
                 "// The reply to {0} {1}.\nclass {2} {{\n public:\n"
                 "  // Reads it: an Error for a status, a type or content that is not described.\n"
                 "  static katana::Result<{2}> from(katana::client::Response response);\n\n"
                 "  unsigned status() const noexcept {{ return response_.status(); }}\n"
                 "  // With its header fields.\n"
                 "  const katana::client::Response& response() const noexcept "
                 "{{ return response_; }}\n",
                 plan.operation->method, one_line(plan.operation->path), name);
  std::string kept = "std::monostate";
  std::size_t place = 0;
  for (const PlannedReply& each : plan.replies) {
    if (!reads_content(plan)) break;
    for (const PlannedContent& content : each.contents) {
      const std::string method = each.method + content.name;
      fmt::format_to(out, "  // {}: {}. Null: it was another.\n", each.reply->status,
                     each.reply->description.empty() ? one_line(content.media_type)
                                                     : one_line(each.reply->description));
      if (content.form == ContentForm::json) {
        ++place;
        kept += ", " + content.type;
        fmt::format_to(out,
                       "  const {0}* {1}() const noexcept {{ return std::get_if<{2}>(&content_); "
                       "}}\n",
                       content.type, method, place);
      } else {
        fmt::format_to(out, "  std::optional<katana::Bytes> {0}() const noexcept KATANA_VIEW;\n",
                       method);
      }
    }
  }
  fmt::format_to(out,
                 "\n private:\n  explicit {0}(katana::client::Response response)\n"
                 "      : response_(std::move(response)) {{}}\n"
                 "  katana::client::Response response_;\n"
                 "  std::variant<{1}> content_;\n}};\n\n",
                 name, kept);
}

void ClientText::add_reader(const OperationPlan& plan, const std::string& name) {
  const auto out = std::back_inserter(in_sources_.back().reader);
  std::string chain;
  std::string before;
  std::string accessors;
  std::string earlier;  // an exact status is not of a range
  bool has_default = false;
  std::size_t place = 0;
  for (const PlannedReply& each : plan.replies) {
    const bool is_default = each.reply->status == "default";
    has_default = has_default || is_default;
    std::string condition = is_default ? std::string() : condition_of(*each.reply);
    const PlannedContent* const json = reads_content(plan) ? json_of(each) : nullptr;
    if (json != nullptr) ++place;
    chain += is_default ? before + "{\n" : before + "if (" + condition + ") {\n";
    before = " else ";
    std::string others;
    std::string types;
    for (const PlannedContent& content : each.contents) {
      if (!reads_content(plan)) break;
      types += (types.empty() ? "" : ", ") + content.media_type;
      if (content.form == ContentForm::json) continue;
      others += fmt::format("{}content.is({})", others.empty() ? "" : " || ",
                            literal(content.media_type));
      std::string fits = is_default ? earlier : condition + earlier;
      if (fits.starts_with(" && ")) fits.erase(0, 4);
      fmt::format_to(std::back_inserter(accessors),
                     "std::optional<katana::Bytes> {}::{}() const noexcept {{\n"
                     "  {}if ({}katana::client::ReplyContent(response_, \"\").is({})) {{\n"
                     "    return response_.content();\n  }}\n  return std::nullopt;\n}}\n\n",
                     name, each.method + content.name,
                     fits.empty() ? "" : "const unsigned status = response_.status();\n  ",
                     fits.empty() ? "" : fits + " && ", literal(content.media_type));
    }
    if (json != nullptr) {
      const std::string read = fmt::format("content.json(made.content_.emplace<{}>());", place);
      chain += others.empty() ? "    " + read + "\n" : "    if (!(" + others + ")) " + read + "\n";
    } else if (!others.empty()) {
      chain += "    if (!(" + others + ")) content.refuse_type(" + literal(types) + ");\n";
    }
    chain += "  }";
    if (!is_default) earlier += " && !(" + condition + ")";
  }
  if (!has_default) {
    chain += before.empty() ? "content.undescribed();" : " else {\n    content.undescribed();\n  }";
  }
  fmt::format_to(out,
                 "katana::Result<{0}> {0}::from(katana::client::Response response) {{\n"
                 "  {0} made(std::move(response));\n"
                 "  katana::client::ReplyContent content(made.response_, {1});\n"
                 "  {2}{3}\n"
                 "  if (content.error()) return std::unexpected(*content.error());\n"
                 "  return made;\n}}\n\n{4}",
                 name, literal(name_of(plan)),
                 chain.find("status ") == std::string::npos
                     ? ""
                     : "const unsigned status = made.status();\n  ",
                 chain, accessors);
}

void ClientText::add_call(const OperationPlan& plan, const std::string& response) {
  const model::Operation& operation = *plan.operation;
  std::string parameters;
  std::string body;
  const auto parameter = [&](const std::string& type, const std::string& name) {
    const bool plain = type.starts_with("std::int") || type == "double" || type == "bool";
    if (!parameters.empty()) parameters += ", ";
    parameters += plain ? type + " " + name : "const " + type + "& " + name;
  };
  for (const PlannedPath& each : plan.paths) {
    parameter(each.type, each.name);
    body += fmt::format("  call.path({}, {}", literal(each.sent_name), each.name);
    if (each.style != Style::simple) {
      body += fmt::format(", katana::client::PathStyle::{}, {}",
                          each.style == Style::label ? "label" : "matrix", each.explode);
    }
    body += ");\n";
  }
  for (const PlannedGroup& each : plan.groups) {
    parameter(each.type, each.name);
    body += fmt::format("  call.{}({});\n",
                        each.in == In::query    ? "query"
                        : each.in == In::header ? "header"
                                                : "cookie",
                        each.name);
  }
  if (!plan.body.name.empty()) {
    const PlannedContent& content = plan.body.content;
    const std::string& name = plan.body.name;
    parameter(plan.body.optional ? "std::optional<" + content.type + ">" : content.type, name);
    const std::string value = plan.body.optional ? "*" + name : name;
    std::string type = content.media_type;
    if (type.find('*') != std::string::npos) type = "application/octet-stream";
    body += plan.body.optional ? "  if (" + name + ") " : "  ";
    switch (content.form) {
      case ContentForm::json: body += "call.json(" + value + ", " + literal(type) + ");\n"; break;
      case ContentForm::form: body += "call.form(" + value + ");\n"; break;
      case ContentForm::multipart: body += "call.multipart(" + value + ");\n"; break;
      case ContentForm::several: body += "call.media(" + value + ");\n"; break;
      case ContentForm::text:
        body += "call.content(" + value + ", " + literal(type) + ");\n";
        break;
    }
  }
  const std::string name =
      plan.name == "http" || plan.name == "settings" ? plan.name + "_" : plan.name;
  const auto out = std::back_inserter(operations_);
  fmt::format_to(out, "\n  // {} {}", operation.method, one_line(operation.path));
  if (!operation.summary.empty()) fmt::format_to(out, ": {}", one_line(operation.summary));
  fmt::format_to(out, "{}\n  katana::Task<katana::Result<{}>> {}({}) const;\n",
                 operation.deprecated ? "\n  // Deprecated." : "", response, name, parameters);
  fmt::format_to(std::back_inserter(in_sources_.back().call),
                 "katana::Task<katana::Result<{0}>> {1}Client::{2}({3}) const {{\n"
                 "  katana::client::OperationCall call(*settings_, {4}, {5}, {6});\n{7}"
                 "  return katana::client::run<{0}>(http_, std::move(call));\n}}\n\n",
                 response, type_name(tag_), name, parameters, literal(operation.method),
                 literal(operation.path), literal(server_of(operation)), body);
}

void ClientText::add(const OperationPlan& plan) {
  const std::string& response = plan.response_type;
  responses_ += plan.body.alias;  // the server's header has it, too, which the language allows
  add_response(plan, response);
  in_sources_.push_back({.reader = {}, .call = {}, .weight = plan.weight - plan.weight_apart});
  add_reader(plan, response);
  add_call(plan, response);
}

std::string ClientText::header() const {
  const std::string name = type_name(tag_) + "Client";
  return fmt::format(
      "// Made from {0} by katana openapi generate: not to be changed.\n"
      "// clang-format off\n"
      "#pragma once\n\n#include <memory>\n#include <optional>\n#include <utility>\n"
      "#include <variant>\n\n"
      "#include \"katana/openapi/client/operation_call.hpp\"\n#include \"{5}.hpp\"\n\n"
      "namespace {1} {{\n\n{2}"
      "// The operations, called at a server. A call borrows its arguments until it returns, and\n"
      "// then needs neither them nor this object.\n"
      "class {3} {{\n public:\n"
      "  explicit {3}(katana::client::HttpClient http,\n"
      "               katana::client::ApiSettings settings = {{}})\n"
      "      : http_(std::move(http)),\n"
      "        settings_(std::make_shared<katana::client::ApiSettings>(std::move(settings))) {{}}\n"
      "{4}\n private:\n  katana::client::HttpClient http_;\n"
      "  std::shared_ptr<const katana::client::ApiSettings> settings_;\n}};\n\n"
      "}}  // namespace {1}\n",
      options_.source, options_.name_space, responses_, name, operations_, types_file_of(tag_));
}

std::vector<SourceText> ClientText::sources(std::size_t weight_max) const {
  std::vector<SourceText> made;
  for (const Share& share : shares_of(in_sources_, weight_max)) {
    std::string text;
    for (std::size_t at = share.begin; at < share.end; ++at) text += in_sources_[at].reader;
    for (std::size_t at = share.begin; at < share.end; ++at) text += in_sources_[at].call;
    made.push_back({fmt::format("// Made from {0} by katana openapi generate: not to be changed.\n"
                                "// clang-format off\n"
                                "#include \"{1}.hpp\"\n\n"
                                "namespace {2} {{\n\n{3}}}  // namespace {2}\n",
                                options_.source, file_name(), options_.name_space, text),
                    share.weight});
  }
  return made;
}

}  // namespace katana::openapi::generate

// SPDX-License-Identifier: Apache-2.0
