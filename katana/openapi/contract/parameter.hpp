// ParameterContract: a parameter of an operation. It reads the parameter's text in a request as
// data.
//
//   style            in      7           [7, 8]          {"a": 7, "b": 8}      explode
//   simple           path    7           7,8             a,7,b,8    a=7,b=8    header as well
//   label            path    .7          .7,8   .7.8     .a,7,b,8   .a=7.b=8
//   matrix           path    ;n=7        ;n=7,8 ;n=7;n=8 ;n=a,7,b,8 ;a=7;b=8
//   form             query   n=7         n=7,8  n=7&n=8  n=a,7,b,8  a=7&b=8    cookie as well
//   spaceDelimited   query               n=7%208         n=a%207%20b%208
//   pipeDelimited    query               n=7|8           n=a|7|b|8
//   deepObject       query   n=7         n[0]=7&n[1]=8   n[a]=7&n[b]=8         and within them
//
// The schema decides the type of a text: "7" is a number where the schema takes one. Where it takes
// both, the value is the one that fits.
//
// Owns       its name and its schema.
// Thread     any, at once.
// Allocates  for lists and objects, and for text with escapes.
// Fails      by Violations, which name the parameter and show its value.
// Source     OpenAPI 3.1.1 §4.8.12, RFC 6570.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/step_budget.hpp"
#include "katana/data/container/value.hpp"
#include "katana/data/schema/schema.hpp"
#include "katana/openapi/contract/violation.hpp"
#include "katana/openapi/model/description.hpp"

namespace katana::openapi {

// The items of a list in one text, escapes still in them: of style form and simple, by commas, of
// spaceDelimited, pipeDelimited and Swagger's tabs.
std::vector<Bytes> items_of_style(model::Style style, Bytes raw);

struct ParameterContract {
  std::string name;                         // of a header field, case does not count
  Part in = Part::query;                    // path, query, header or cookie
  model::Style style = model::Style::form;  // as model::Parameter::style
  bool explode = true;                      // as model::Parameter::explode
  bool required = false;                    // always true of a path
  bool allow_empty = false;         // "?name" and "?name=" are no value (deprecated by OpenAPI)
  bool is_json = false;             // by `content`: application/json
  std::string schema_pointer = {};  // in Description::schemas; empty: there is none
  std::optional<schema::Schema> schema = {};  // none: any text is right

  // prepare() fills the members below from the schema.
  enum class Kind : std::uint8_t { scalar, list, object };
  // A member of an object, and which types its schema takes.
  struct Member {
    std::string name;    // as in `properties`
    std::uint8_t types;  // bits such as schema::string_type
  };
  Kind kind = Kind::scalar;      // scalar, too, where the schema takes one beside lists or objects
  std::uint8_t types = 0;        // of a scalar
  std::uint8_t item_types = 0;   // of a list
  std::vector<Member> members;   // of an object
  std::uint8_t other_types = 0;  // of its other members
  bool takes_other_names = false;  // of an object: any names, with `other_types`
  // Every integer between these bounds is right. An empty range: the schema has more rules than
  // bounds.
  std::int64_t integer_min = 0;
  std::int64_t integer_max = -1;  // likewise

  // Called once, when `schema` is set, before the first check.
  void prepare();
  // Each of its items is a separate pair in a query.
  bool is_list_of_pairs() const noexcept {
    return kind == Kind::list && explode && style == model::Style::form && in == Part::query;
  }
  // The parameter was there, with that text: escapes and all.
  void check(Bytes raw, Violations& violations, StepBudget& budget) const;
  // The same, of text that has no escapes.
  void check_plain(Bytes text, Violations& violations, StepBudget& budget) const;
  // The items of an exploded list in a query.
  void check_items(std::span<const Bytes> raw, Violations& violations, StepBudget& budget) const;
  // The members of an exploded object in a query.
  struct RawMember {
    Bytes name;  // decoded
    Bytes raw;   // with its escapes
  };
  void check_members(std::span<const RawMember> raw, Violations& violations,
                     StepBudget& budget) const;
  // The values of deepObject, by whole names: "filter[a]", "filter[0]", "filter".
  void check_brackets(std::span<const RawMember> raw, Violations& violations,
                      StepBudget& budget) const;
  void add_missing(Violations& violations) const;
  // Texts of one member or item, as data.
  std::uint8_t types_of_member(Bytes member) const noexcept;
};

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
