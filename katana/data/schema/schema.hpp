// Schema: a JSON Schema (draft 2020-12), compiled, and whether data fits it.
//
//   Result<schema::Schema> schema = schema::Schema::compile(document);
//   container::Findings findings;
//   if (!schema->check(value, findings)) … findings.list() …    every fault with its place
//   if (!schema->check_json(text, findings)) …                  the same, and whether it is JSON
//
// All keywords of the vocabularies Core, Applicator, Unevaluated, Validation, Meta-Data, Format
// Annotation and Content are known. `format` and `content…` are notes, unless formats are asserted:
// then a format that is known (Options::assert_formats) is checked. `$ref` reaches this document,
// and those that Options names: nothing is ever fetched.
//
// Numbers are compared by value: 1.0 is an integer, and a number of JSON that no double can hold is
// the nearest that can. Expressions are those of ECMA 262, as far as PCRE2 has them.
//
// A check takes steps from a budget, as many as StepBudget::for_bytes() has where the caller gives
// none. All that one request makes a program check takes from one.
//
// Owns       all that it was compiled from.
// Borrows    the data, for the call.
// Thread     any, at once.
// Allocates  compile(); of check() only findings, `uniqueItems` of more than a few, and what
//            `unevaluated…` has to remember; check_json() a parser for each thread.
// Fails      compile() with an Error that names the place in the schema: "#/properties/age/minimum:
//            expected a number". A check that is given up, because the budget is spent or schemas
//            refer to one another without end, is false, and its finding says so.
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
  // Of the whole document, which it takes. The Error says where it is wrong.
  static Result<Schema> compile(container::Value document, Options options = {});
  // Of that place in the document, a JSON pointer (RFC 6901), such as "/components/schemas/User".
  static Result<Schema> compile_at(container::Value document, Bytes pointer, Options options = {});

  // Among several places in it, in their order: they share what they refer to, and the document.
  static Result<std::vector<Schema>> compile_each(container::Value document,
                                                  std::span<const std::string> pointers,
                                                  Options options = {});

  // False: `findings` has more, with their places in the value. Any thread.
  bool check(const container::Value& value, container::Findings& findings) const;
  bool check(const container::Value& value, container::Findings& findings,
             StepBudget& budget) const;
  // A string, without a Value of it.
  bool check_text(Bytes text, container::Findings& findings) const;
  bool check_text(Bytes text, container::Findings& findings, StepBudget& budget) const;
  // Names that come twice in an object are a finding, because readers disagree which one counts.
  bool check_json(Bytes text, container::Findings& findings,
                  const container::ReadOptions& options = {}) const;
  bool check_json(Bytes text, container::Findings& findings, StepBudget& budget,
                  const container::ReadOptions& options = {}) const;
  // What data of it look like: see shape.hpp. Valid as long as the schema.
  const Node& root() const noexcept KATANA_VIEW { return *root_; }

 private:
  Schema(std::shared_ptr<const Compiled> compiled, const Node* root) noexcept
      : compiled_(std::move(compiled)), root_(root) {}
  std::shared_ptr<const Compiled> compiled_;
  const Node* root_;
};

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
