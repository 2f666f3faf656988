#include "katana/openapi/lint/lint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "katana/openapi/lint/document_walk.hpp"
#include "katana/openapi/lint/example_rules.hpp"
#include "katana/openapi/lint/rule_report.hpp"

namespace katana::openapi {
namespace {

using detail::At;
using detail::for_each_item;
using detail::for_each_member;
using detail::RuleReport;
using model::Node;

constexpr auto error = LintSeverity::error;
constexpr auto warning = LintSeverity::warning;

constexpr std::array<Bytes, 8> methods = {"get",     "put",  "post",  "delete",
                                          "options", "head", "patch", "trace"};

class Linter {
 public:
  Linter(const Description& description, RuleReport& report)
      : report_(report),
        root_{&description.sources.front()->root(), ""},
        is_swagger_(description.dialect == model::Dialect::swagger_2_0),
        is_3_1_(description.dialect == model::Dialect::openapi_3_1) {}

  void run() {
    check_info();
    check_servers(root_);
    check_tags();
    std::set<std::string> shapes;
    for_each_member(root_.child("paths"), [&](const std::string& path, const At& item) {
      if (path.starts_with("x-")) return;
      check_path(path, item);
      check_path_item(path, follow(item), false);
      if (!shapes.insert(shape_of(path)).second) {
        report_.add("path-params", item, fmt::format("'{}' is the same as another path", path));
      }
    });
    for_each_member(root_.child("webhooks"), [&](const std::string& name, const At& item) {
      if (item.child("servers")) {
        report_.add("oas3_1-servers-in-webhook", item.child("servers"), "a webhook has no servers");
      }
      check_path_item(name, follow(item), true);
    });
    walk(root_, "");
    if (!is_swagger_) check_components();
  }

 private:
  At follow(At at) const {
    for (std::size_t steps = 0; steps < 32 && at.is_object(); ++steps) {
      const Bytes reference = at.text("$ref");
      if (!reference.starts_with("#/")) break;
      const std::string pointer = percent_decoded(reference.substr(1));
      const Node* const found = root_.node->at(pointer);
      if (found == nullptr) break;
      at = {found, pointer};
    }
    return at;
  }
  static std::string percent_decoded(Bytes text) {
    std::string made;
    for (std::size_t at = 0; at < text.size(); ++at) {
      const bool is_escape = text[at] == '%' && at + 2 < text.size();
      const int code =
          is_escape ? std::stoi("0" + std::string(text.substr(at + 1, 2)), nullptr, 16) : 0;
      made += is_escape ? static_cast<char>(code) : text[at];
      if (is_escape) at += 2;
    }
    return made;
  }
  static std::string shape_of(Bytes path) {
    std::string shape;
    bool is_name = false;
    for (const char each : path) {
      is_name = is_name && each != '}';
      if (!is_name) shape += each;
      is_name = is_name || each == '{';
    }
    return shape;
  }
  static std::vector<std::string> names_in(Bytes path) {
    std::vector<std::string> names;
    for (std::size_t at = path.find('{'); at != Bytes::npos; at = path.find('{', at + 1)) {
      const std::size_t end = path.find('}', at);
      if (end != Bytes::npos) names.emplace_back(path.substr(at + 1, end - at - 1));
    }
    return names;
  }

  void check_info() {
    const At info = root_.child("info");
    if (!info) return;
    if (!info.child("contact")) report_.add("info-contact", info, "there is no contact");
    if (info.text("description").empty()) {
      report_.add("info-description", info, "there is no description");
    }
  }

  void check_servers(const At& of) {
    if (is_swagger_) return;
    const At servers = of.child("servers");
    if (of.pointer.empty() && servers.size() == 0) {
      report_.add("oas3-api-servers", servers ? servers : root_, "there are no servers");
    }
    for_each_item(servers, [&](std::size_t, const At& server) {
      const Bytes url = server.text("url");
      if (url.size() > 1 && url.ends_with('/')) {
        report_.add("oas3-server-trailing-slash", server.child("url"),
                    fmt::format("the URL '{}' ends with '/'", url));
      }
      check_variables(server, url);
    });
  }

  void check_variables(const At& server, Bytes url) {
    const std::vector<std::string> used = names_in(url);
    const At variables = server.child("variables");
    for_each_member(variables, [&](const std::string& name, const At& variable) {
      if (std::ranges::find(used, name) == used.end()) {
        report_.add("oas3-server-variables", variable,
                    fmt::format("the URL has no variable '{}'", name));
      }
      const At choices = variable.child("enum");
      const Bytes chosen = variable.text("default");
      bool is_one = choices.size() == 0 || !variable.child("default");
      for_each_item(choices,
                    [&](std::size_t, const At& each) { is_one |= each.node->text == chosen; });
      if (!is_one) {
        report_.add("oas3-server-variables", variable.child("default"),
                    fmt::format("'{}' is not among the values of the enum", chosen));
      }
    });
    for (const std::string& name : used) {
      if (variables && variables.child(name)) continue;
      report_.add("oas3-server-variables", server,
                  fmt::format("the variable '{}' of the URL is not defined", name));
    }
  }

  void check_tags() {
    std::set<Bytes> known;
    for_each_item(root_.child("tags"), [&](std::size_t, const At& tag) {
      const Bytes name = tag.text("name");
      tags_.insert(std::string(name));
      if (!known.insert(name).second) {
        report_.add("openapi-tags-uniqueness", tag.child("name"),
                    fmt::format("the tag '{}' is defined twice", name));
      }
    });
  }

  void check_path(const std::string& path, const At& item) {
    if (path.size() > 1 && path.ends_with('/')) {
      report_.add("path-keys-no-trailing-slash", item, "the path ends with '/'");
    }
    if (path.contains('?')) report_.add("path-not-include-query", item, "the path has a '?'");
    if (path.contains("{}")) {
      report_.add("path-declarations-must-exist", item, "a parameter of the path has no name");
    }
    std::set<std::string> names;
    for (const std::string& name : names_in(path)) {
      if (names.insert(name).second) continue;
      report_.add("path-params", item,
                  fmt::format("the path has the parameter '{}' more than once", name));
    }
  }

  void check_path_item(const std::string& path, const At& item, bool is_webhook) {
    if (!item.is_object()) return;
    const At shared = item.child("parameters");
    check_parameters(shared);
    for (const Bytes method : methods) {
      const At operation = item.child(method);
      if (!operation.is_object()) continue;
      check_operation(operation, is_webhook);
      check_parameters(operation.child("parameters"));
      if (!is_webhook) check_path_params(path, shared, operation);
    }
  }

  void check_operation(const At& operation, bool is_webhook) {
    if (is_webhook) return check_webhook(operation);
    if (operation.text("description").empty()) {
      const At words = operation.child("description");
      report_.add("operation-description", words ? words : operation, "there is no description");
    }
    const At id = operation.child("operationId");
    if (!id) {
      report_.add("operation-operationId", operation, "there is no operationId");
    } else {
      check_id(id);
    }
    const At tags = operation.child("tags");
    if (tags.size() == 0) report_.add("operation-tags", operation, "there are no tags");
    for_each_item(tags, [&](std::size_t, const At& tag) {
      if (tags_.contains(tag.node->text)) return;
      report_.add("operation-tag-defined", tag,
                  fmt::format("the tag '{}' is not defined", tag.node->text));
    });
    check_replies(operation.child("responses"));
    check_security(operation.child("security"));
    for_each_member(operation.child("callbacks"), [&](const std::string&, const At& callback) {
      for_each_member(follow(callback), [&](const std::string& expression, const At& item) {
        if (expression.starts_with("x-")) return;
        for (const Bytes method : methods) {
          const At inner = item.child(method).child("callbacks");
          if (inner)
            report_.add("oas3-callbacks-in-callbacks", inner, "a callback has no callbacks");
        }
      });
    });
    check_servers(operation);
  }

  void check_webhook(const At& operation) {
    const At servers = operation.child("servers");
    if (servers) report_.add("oas3_1-servers-in-webhook", servers, "a webhook has no servers");
    const At callbacks = operation.child("callbacks");
    if (callbacks)
      report_.add("oas3_1-callbacks-in-webhook", callbacks, "a webhook has no callbacks");
  }

  void check_id(const At& id) {
    if (!ids_.insert(id.node->text).second) {
      report_.add("operation-operationId-unique", id,
                  fmt::format("the operationId '{}' stands twice", id.node->text));
    }
    constexpr Bytes allowed =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:/?#[]@!$&'()*+,;=";
    if (id.node->text.find_first_not_of(allowed) != std::string::npos) {
      report_.add("operation-operationId-valid-in-url", id,
                  "the operationId has characters that a URL may not have");
    }
  }

  void check_replies(const At& replies) {
    if (!replies) return;
    if (replies.is_object() && replies.size() == 0) {
      report_.add(is_swagger_ ? "oas2-schema" : "oas3-schema", replies, "there is no reply");
    }
    bool has_success = false;
    for_each_member(replies, [&](const std::string& status, const At&) {
      has_success |= status.size() == 3 && (status[0] == '2' || status[0] == '3');
    });
    if (!has_success) {
      report_.add("operation-success-response", replies, "there is no reply 2xx or 3xx");
    }
  }

  void check_security(const At& security) {
    if (is_swagger_) return;
    const At schemes = root_.child("components").child("securitySchemes");
    for_each_item(security, [&](std::size_t, const At& requirement) {
      for_each_member(requirement, [&](const std::string& name, const At& scopes) {
        if (schemes && schemes.child(name)) return;
        report_.add("oas3-operation-security-defined", scopes,
                    fmt::format("the security scheme '{}' is not defined", name));
      });
    });
  }

  void check_parameters(const At& parameters) {
    std::set<std::pair<std::string, std::string>> known;
    for_each_item(parameters, [&](std::size_t, const At& each) {
      const At parameter = follow(each);
      const std::pair key(std::string(parameter.text("in")), std::string(parameter.text("name")));
      if (!key.second.empty() && !known.insert(key).second) {
        report_.add("operation-parameters", each,
                    fmt::format("the {} parameter '{}' stands twice", key.first, key.second));
      }
    });
  }

  void check_path_params(const std::string& path, const At& shared, const At& operation) {
    std::map<std::string, At> defined;
    for (const At& list : {shared, operation.child("parameters")}) {
      for_each_item(list, [&](std::size_t, const At& each) {
        const At parameter = follow(each);
        if (parameter.text("in") != "path") return;
        const Node* const required = parameter.node->find("required");
        if (required == nullptr || required->text != "true") {
          report_.add(
              "path-params", each,
              fmt::format("the path parameter '{}' has to be required", parameter.text("name")));
        }
        defined.insert_or_assign(std::string(parameter.text("name")), each);
      });
    }
    const std::vector<std::string> used = names_in(path);
    for (const std::string& name : used) {
      if (defined.contains(name)) continue;
      report_.add("path-params", operation,
                  fmt::format("the parameter '{}' of the path is not defined", name));
    }
    for (const auto& [name, at] : defined) {
      if (std::ranges::find(used, name) != used.end()) continue;
      report_.add("path-params", at, fmt::format("the path has no parameter '{}'", name));
    }
  }

  // ---- wherever it stands ----

  // `name` is the key that it stands under.
  void walk(const At& at, const std::string& name, const std::string& outer = "") {
    if (at.is_list()) {
      for_each_item(at, [&](std::size_t, const At& each) { walk(each, name, outer); });
      return;
    }
    if (!at.is_object()) return;
    const bool is_data = name == "example" || name == "default" || name == "value" ||
                         name == "enum" || name == "const" || name.starts_with("x-");
    if (is_data && !holds_names(outer)) {
      if (name.starts_with("x-")) note_references(at);
      return;
    }
    const bool is_map = name == "properties" || name == "schemas";
    if (!is_map) check_object(at);
    for_each_member(at, [&](const std::string& key, const At& each) {
      if (name == "examples" && !is_map) check_example(each);
      walk(each, is_map ? std::string() : key, name);
    });
  }

  // Extensions may be of the specification's kinds, as x-webhooks are.
  void note_references(const At& at) {
    for_each_item(at, [&](std::size_t, const At& each) { note_references(each); });
    for_each_member(at, [&](const std::string& key, const At& each) {
      if (key == "$ref") references_.insert(percent_decoded(each.node->text));
      note_references(each);
    });
  }

  // Whether the author of the document chooses the names of the members of this object.
  static bool holds_names(Bytes key) noexcept {
    constexpr std::array<Bytes, 9> keys = {"responses", "headers",       "parameters",
                                           "examples",  "requestBodies", "links",
                                           "callbacks", "definitions",   "securitySchemes"};
    return std::ranges::find(keys, key) != keys.end();
  }

  void check_object(const At& at) {
    const At reference = at.child("$ref");
    if (reference.is(Node::Kind::text)) {
      references_.insert(percent_decoded(reference.node->text));
      if (!is_3_1_ && at.size() > 1) {
        for_each_member(at, [&](const std::string& key, const At& sibling) {
          if (key == "$ref") return;
          report_.add("no-$ref-siblings", sibling,
                      "it stands beside a $ref, and counts for nothing");
        });
      }
    }
    for (const Bytes key : {Bytes("description"), Bytes("title")}) {
      const At words = at.child(key);
      if (!words.is(Node::Kind::text)) continue;
      if (words.node->text.contains("eval(")) {
        report_.add("no-eval-in-markdown", words, "the text has 'eval('");
      }
      if (words.node->text.contains("<script")) {
        report_.add("no-script-tags-in-markdown", words, "the text has '<script'");
      }
    }
    if (at.child("enum").is_list()) check_enum(at);
    if (at.text("type") == "array" && !at.child("items") && !reference) {
      report_.add("array-items", at, "an array does not say what its items are");
    }
  }

  void check_example(const At& example) {
    if (!example.is_object() || example.child("$ref")) return;
    const bool has_value = static_cast<bool>(example.child("value"));
    const bool has_other = static_cast<bool>(example.child("externalValue"));
    if (has_value == has_other) {
      report_.add("oas3-examples-value-or-externalValue", example,
                  has_value ? "there are both a value and an externalValue"
                            : "there is neither a value nor an externalValue");
    }
  }

  static bool is_of_type(const Node& node, Bytes type) {
    switch (node.kind) {
      case Node::Kind::null: return type == "null";
      case Node::Kind::boolean: return type == "boolean";
      case Node::Kind::number:
        return type == "number" ||
               (type == "integer" && node.text.find_first_of(".eE") == std::string::npos);
      case Node::Kind::text: return type == "string";
      case Node::Kind::list: return type == "array";
      case Node::Kind::object: return type == "object";
    }
    return false;
  }

  void check_enum(const At& at) {
    const At choices = at.child("enum");
    std::set<std::pair<Node::Kind, std::string>> known;
    bool is_twice = false;
    for_each_item(choices, [&](std::size_t, const At& each) {
      if (each.is_list() || each.is_object()) return;
      is_twice |= !known.emplace(each.node->kind, each.node->text).second;
    });
    if (is_twice) report_.add("duplicated-entry-in-enum", choices, "a value stands twice");
    const At type = at.child("type");
    if (!type) return;
    const Node* const nullable = at.node->find("nullable");
    const bool takes_null = nullable != nullptr && nullable->text == "true";
    for_each_item(choices, [&](std::size_t, const At& each) {
      bool fits = takes_null && each.is(Node::Kind::null);
      if (type.is(Node::Kind::text)) fits |= is_of_type(*each.node, type.node->text);
      for_each_item(type, [&](std::size_t, const At& one) {
        fits |= is_of_type(*each.node, one.node->text);
      });
      if (!fits) report_.add("typed-enum", each, "the value is not of the type of its schema");
    });
  }

  void check_components() {
    constexpr std::array<Bytes, 8> kinds = {"schemas",  "responses",     "parameters",
                                            "examples", "requestBodies", "headers",
                                            "links",    "callbacks"};
    for (const Bytes kind : kinds) {
      for_each_member(root_.child("components").child(kind),
                      [&](const std::string&, const At& component) {
                        if (is_referred_to(component.pointer)) return;
                        report_.add("oas3-unused-component", component, "nothing refers to it");
                      });
    }
  }
  bool is_referred_to(const std::string& pointer) const {
    const std::string whole = "#" + pointer;
    // Or to something inside of it.
    const auto found = references_.lower_bound(whole);
    return found != references_.end() && (*found == whole || found->starts_with(whole + "/"));
  }

  RuleReport& report_;
  const At root_;
  const bool is_swagger_, is_3_1_;
  std::set<std::string> tags_, ids_;
  std::set<std::string> references_;
};

// Where the reader and a rule about names report the same place, keeps the rule's finding, as an
// error like the reader's.
void drop_repeated(std::vector<Finding>& findings) {
  std::vector<std::string> places;
  for (const Finding& each : findings) {
    const bool is_readers = each.rule == "oas3-schema" || each.rule == "oas2-schema";
    if (is_readers) places.push_back(each.pointer);
  }
  std::set<std::string> said;
  for (Finding& each : findings) {
    if (each.rule == "oas3-schema" || each.rule == "oas2-schema") continue;
    for (const std::string& place : places) {
      // The reader names the whole of which the rule names a part.
      const bool is_same = each.pointer == place || each.pointer.starts_with(place + "/");
      const bool is_about_names = each.rule == "path-params" ||
                                  each.rule == "operation-parameters" ||
                                  each.rule == "oas3-operation-security-defined" ||
                                  each.rule == "operation-operationId-unique";
      if (!is_same || !is_about_names) continue;
      each.severity = error;
      said.insert(place);
    }
  }
  std::erase_if(findings, [&](const Finding& each) {
    return (each.rule == "oas3-schema" || each.rule == "oas2-schema") &&
           said.contains(each.pointer);
  });
}

}  // namespace

std::vector<Finding> lint(const Description& description, const model::Problems& problems,
                          const LintOptions& options) {
  const bool is_swagger = description.dialect == model::Dialect::swagger_2_0;
  std::vector<Finding> findings;
  for (const model::Problem& each : problems.sorted()) {
    const bool is_error = each.severity == model::Severity::error;
    findings.push_back({.rule = !is_error    ? "no-effect"
                                : is_swagger ? "oas2-schema"
                                             : "oas3-schema",
                        .severity = is_error ? error : warning,
                        .file = each.file,
                        .position = each.position,
                        .pointer = each.pointer,
                        .words = each.words});
  }
  if (!description.sources.empty()) {
    RuleReport report(findings, description.sources.front()->name());
    Linter(description, report).run();
    if (!problems.has_errors()) detail::check_examples(description, report);
  }
  drop_repeated(findings);
  std::erase_if(findings, [&](const Finding& each) {
    return std::ranges::find(options.without, each.rule) != options.without.end();
  });
  std::ranges::sort(findings, {}, [](const Finding& each) {
    return std::tuple(Bytes(each.file), each.position, Bytes(each.rule), Bytes(each.words));
  });
  return findings;
}

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
