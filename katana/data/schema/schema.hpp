// Schema: a compiled JSON Schema (draft 2020-12), which checks data.
//
//   Result<schema::Schema> schema = schema::Schema::compile(document);
//   container::Findings findings;
//   if (!schema->check(value, findings)) … findings.list() …    every mistake with its place
//   if (!schema->check_json(text, findings)) …                  the same, and checks that it is
//   JSON
//
// It knows all keywords of the vocabularies Core, Applicator, Unevaluated, Validation, Meta-Data,
// Format Annotation and Content. `content…` is only a note. `format` is a note, too, unless formats
// are asserted (Options::assert_formats): known formats are then checked. `$ref` reaches this
// document, and those that Options names. Nothing is ever fetched.
//
// Numbers are compared by value: 1.0 is an integer. A JSON number that does not fit into a double
// becomes the nearest double. Expressions are those of ECMA 262, as far as PCRE2 supports them.
//
// A check takes steps from a budget. If the caller gives none, it has the steps of
// StepBudget::for_bytes(). All checks for one request share one budget.
//
// Owns       the documents from which it was compiled.
// Borrows    the data, for the call.
// Thread     any, at once.
// Allocates  compile(); check() only findings, `uniqueItems` of more than a few items, and the
//            notes of `unevaluated…`; check_json() a parser for each thread.
// Fails      compile() with an Error that names the place in the schema: "#/properties/age/minimum:
//            expected a number". A check returns false, with a finding, if the budget is spent or
//            schemas refer to each other without end.
// Invariant  findings name the place in the data and the keyword, never the data itself.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "katana/base/system/hints.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/step_budget.hpp"
#include "katana/data/container/findings.hpp"
#include "katana/data/container/value.hpp"
#include "katana/data/schema/options.hpp"

namespace katana::schema {

struct Compiled;
struct Node;

class Schema {
 public:
  // Compiles the whole document, and owns it. The Error names the place of the mistake.
  static Result<Schema> compile(container::Value document, Options options = {});
  // Compiles the schema at a JSON pointer (RFC 6901), such as "/components/schemas/User".
  static Result<Schema> compile_at(container::Value document, Bytes pointer, Options options = {});

  // Compiles the schemas at several pointers, in their order. They share the document and the
  // schemas to which they refer.
  static Result<std::vector<Schema>> compile_each(container::Value document,
                                                  std::span<const std::string> pointers,
                                                  Options options = {});

  // Checks a value. False: `findings` has the mistakes with their places. Any thread may call it.
  bool check(const container::Value& value, container::Findings& findings) const;
  bool check(const container::Value& value, container::Findings& findings,
             StepBudget& budget) const;
  // Checks a string, without the need of a Value.
  bool check_text(Bytes text, container::Findings& findings) const;
  bool check_text(Bytes text, container::Findings& findings, StepBudget& budget) const;
  // Checks JSON. A repeated name in an object is a finding: readers disagree which one counts.
  bool check_json(Bytes text, container::Findings& findings,
                  const container::ReadOptions& options = {}) const;
  bool check_json(Bytes text, container::Findings& findings, StepBudget& budget,
                  const container::ReadOptions& options = {}) const;
  // The root node, for Shape (shape.hpp). It is valid as long as the schema.
  const Node& root() const noexcept KATANA_VIEW { return *root_; }

 private:
  Schema(std::shared_ptr<const Compiled> compiled, const Node* root) noexcept
      : compiled_(std::move(compiled)), root_(root) {}
  std::shared_ptr<const Compiled> compiled_;
  const Node* root_;
};

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
