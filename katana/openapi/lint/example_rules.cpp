#include "katana/openapi/lint/example_rules.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "katana/data/container/findings.hpp"
#include "katana/data/schema/schema.hpp"

namespace katana::openapi::detail {
namespace {

using container::List;
using container::Member;
using container::Object;
using container::Value;

// An example, its owner, and the schema that it has to fit.
struct Wanted {
  std::string schema;  // a pointer
  Value value;
  Bytes rule;
  model::Location location;
  Bytes what;
};

class Collecting {
 public:
  explicit Collecting(const Description& description) : description_(description) {}

  std::vector<Wanted> run() {
    for (const auto* const paths : {&description_.paths, &description_.webhooks}) {
      for (const model::PathItem& path : *paths) {
        for (const model::Operation& each : path.operations) collect(each);
      }
    }
    walk(description_.schemas, "", false);
    return std::move(wanted_);
  }

 private:
  void collect(const model::Operation& operation) {
    for (const model::Parameter& each : operation.parameters) {
      if (each.schema) collect(each.examples, each.schema->pointer);
      collect(each.content);
    }
    if (operation.body) collect(operation.body->content);
    for (const model::Reply& reply : operation.replies) {
      collect(reply.content);
      for (const model::Header& each : reply.headers) {
        if (each.schema) collect(each.examples, each.schema->pointer);
      }
    }
  }
  void collect(const std::vector<model::MediaType>& content) {
    for (const model::MediaType& each : content) {
      const bool is_json = each.type.starts_with("application/json") || each.type.contains("+json");
      if (each.schema && is_json) collect(each.examples, each.schema->pointer);
    }
  }
  void collect(const std::vector<model::Example>& examples, const std::string& schema) {
    for (const model::Example& each : examples) {
      if (each.raw == nullptr) continue;
      wanted_.push_back(
          {schema, each.value(), "oas3-valid-media-example", each.location, "the example"});
    }
  }

  // `holds_names`: of schemas, by their names.
  void walk(const Value& value, const std::string& pointer, bool holds_names) {
    if (const List* const list = value.get_list()) {
      for (std::size_t at = 0; at < list->size(); ++at) {
        walk((*list)[at], fmt::format("{}/{}", pointer, at), false);
      }
      return;
    }
    const Object* const words = value.get_object();
    if (words == nullptr) return;
    for (const Member& each : *words) {
      std::string inside = pointer;
      append_pointer(inside, each.name);
      const bool is_data = !holds_names && (each.name == "enum" || each.name == "const" ||
                                            each.name.starts_with("x-"));
      if (is_data) continue;
      if (!holds_names && (each.name == "default" || each.name == "examples")) {
        note(each, pointer);
        continue;
      }
      walk(each.value, inside,
           !holds_names && (each.name == "properties" || each.name == "schemas" ||
                            each.name == "patternProperties" || each.name == "$defs"));
    }
  }
  void note(const Member& member, const std::string& pointer) {
    const model::Location location = description_.locate(pointer);
    constexpr Bytes rule = "oas3-valid-schema-example";
    if (member.name == "default") {
      wanted_.push_back({pointer, member.value, rule, location, "the default"});
    } else if (member.value.get_list() != nullptr) {
      for (const Value& each : *member.value.get_list()) {
        wanted_.push_back({pointer, each, rule, location, "the example"});
      }
    }
  }

  const Description& description_;
  std::vector<Wanted> wanted_;
};

}  // namespace

void check_examples(const Description& description, RuleReport& report) {
  const std::vector<Wanted> wanted = Collecting(description).run();
  if (wanted.empty()) return;
  std::vector<std::string> pointers;
  for (const Wanted& each : wanted) pointers.push_back(each.schema);
  const auto schemas =
      schema::Schema::compile_each(description.schemas, pointers, {.assert_formats = true});
  if (!schemas) {
    report.add("oas3-schema", description.info.location, schemas.error().describe());
    return;
  }
  for (std::size_t at = 0; at < wanted.size(); ++at) {
    container::Findings findings(4);
    if ((*schemas)[at].check(wanted[at].value, findings)) continue;
    for (const container::Finding& each : findings.list()) {
      report.add(wanted[at].rule, wanted[at].location,
                 fmt::format("{} does not fit its schema: {}{}{}", wanted[at].what, each.pointer,
                             each.pointer.empty() ? "" : ": ", each.words));
    }
  }
}

}  // namespace katana::openapi::detail

// SPDX-License-Identifier: Apache-2.0
