// SchemaDiff: the changes between two schemas, by the direction in which their data goes.
//
// Borrows    both descriptions, for the comparison.
// Thread     one.
// Allocates  freely.
// Fails      never: a value that is no schema is compared as a value.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "katana/openapi/diff/change.hpp"
#include "katana/openapi/model/description.hpp"

namespace katana::openapi::detail {

// The place of a schema in an operation. The names of its rules begin with it. Clients send the
// first two, which are the reply where the operation is a webhook.
enum class SchemaOf : std::uint8_t {
  request_body,
  request_parameter,
  reply_body,
  reply_field,
  received_parameter,  // of a webhook
};

class SchemaDiff {
 public:
  // `pointer` is in the schemas of the new description, or of the old one.
  using Emit = std::function<void(std::string rule, Level level, std::string words,
                                  const std::string& pointer, bool is_of_old)>;
  SchemaDiff(const Description& before, const Description& after, Emit emit)
      : before_(before), after_(after), emit_(std::move(emit)) {}

  // Pointers into the schemas of each.
  void compare(SchemaOf of, const std::string& before, const std::string& after);

 private:
  struct Side {
    std::string pointer;
    const container::Value* value;  // null: there is no schema
  };
  struct Pair {
    Side before, after;
  };
  Side follow(const Description& description, Side side) const;
  Side child(const Description& description, const Side& side, Bytes name) const;
  Side before_child(const Pair& pair, Bytes name) const {
    return child(before_, pair.before, name);
  }
  Side after_child(const Pair& pair, Bytes name) const { return child(after_, pair.after, name); }

  void compare_pair(Side before, Side after);
  void compare_types(const Pair& pair);
  void compare_format(const Pair& pair);
  void compare_bounds(const Pair& pair);
  void compare_values(const Pair& pair);
  void compare_enum(const Pair& pair);
  void compare_pattern(const Pair& pair);
  void compare_multiple(const Pair& pair);
  void compare_properties(const Pair& pair);
  void compare_property(const Pair& pair, const std::string& name);
  void compare_marks(const Pair& pair, const std::string& name, bool is_required);
  void compare_additional(const Pair& pair);
  void compare_items(const Pair& pair);
  void compare_alternatives(const Pair& pair, Bytes keyword, Bytes name);

  bool is_request() const noexcept {
    return of_ == SchemaOf::request_body || of_ == SchemaOf::request_parameter;
  }
  // "request-body", or "request-property" below it.
  std::string subject() const;
  // The rule of the subject; `narrows` decides the level by the direction.
  enum class Effect : std::uint8_t { narrows, widens, neither, either };
  void report(Bytes rule, Effect effect, const std::string& words, const Side& at,
              bool is_of_old = false);
  void report_as(std::string rule, Level level, const std::string& words, const Side& at,
                 bool is_of_old = false);
  Level level_of(Effect effect) const noexcept;

  const Description& before_;
  const Description& after_;
  Emit emit_;
  SchemaOf of_ = SchemaOf::request_body;
  std::string path_;  // into the data: "/items/*/count"
  std::set<std::pair<std::string, std::string>> seen_;
};

}  // namespace katana::openapi::detail

// SPDX-License-Identifier: Apache-2.0
