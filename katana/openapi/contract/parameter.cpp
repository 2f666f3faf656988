#include "katana/openapi/contract/parameter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include "katana/data/container/form_tree.hpp"
#include "katana/data/container/json_read.hpp"
#include "katana/data/schema/shape.hpp"
#include "katana/openapi/contract/form_tree_value.hpp"
#include "katana/wire/http/url.hpp"

namespace katana::openapi {
namespace {

using container::Findings;
using container::List;
using container::Object;
using container::Value;
using model::Style;

constexpr std::uint8_t scalar_types =
    schema::boolean_type | schema::integer_type | schema::number_type | schema::string_type;
constexpr std::size_t parameter_shown_max = 64;

// A text without its escapes: itself where it has none.
class Decoded {
 public:
  Decoded(Part in, Bytes raw) : text_(raw) {
    const bool has_escapes = in == Part::query  ? http::needs_form_decoding(raw)
                             : in == Part::path ? raw.find('%') != Bytes::npos
                                                : false;
    if (!has_escapes) return;
    own_.assign(raw);
    const auto size =
        in == Part::query ? http::decode_form(raw, own_) : http::decode_segment(raw, own_);
    is_valid_ = size.has_value();
    own_.resize(size.value_or(0));
    text_ = own_;
  }
  Decoded(const Decoded&) = delete;
  Decoded& operator=(const Decoded&) = delete;
  bool is_valid() const noexcept { return is_valid_; }
  Bytes text() const noexcept { return text_; }

 private:
  std::string own_;
  Bytes text_;
  bool is_valid_ = true;
};

// The pieces of a text between separators, escapes still in them. An empty text is one empty piece.
std::vector<Bytes> split(Bytes text, Bytes separator) {
  std::vector<Bytes> pieces;
  for (std::size_t at; (at = text.find(separator)) != Bytes::npos;) {
    pieces.push_back(text.substr(0, at));
    text.remove_prefix(at + separator.size());
  }
  pieces.push_back(text);
  return pieces;
}

std::vector<Bytes> split_delimited(Bytes raw, Bytes plain, Bytes escaped) {
  return split(raw, raw.find(escaped) != Bytes::npos ? escaped : plain);
}

// Without the prefix of `label` and `matrix`; false: it is not there.
bool strip_prefix(const ParameterContract& parameter, Bytes& raw) {
  if (parameter.style != Style::label && parameter.style != Style::matrix) return true;
  const bool is_object_exploded =
      parameter.explode && parameter.kind == ParameterContract::Kind::object;
  std::string prefix;
  if (parameter.style == Style::label) prefix = ".";
  if (parameter.style == Style::matrix) {
    prefix = is_object_exploded ? ";" : fmt::format(";{}=", parameter.name);
  }
  if (!raw.starts_with(prefix)) return false;
  raw.remove_prefix(prefix.size());
  return true;
}

std::vector<Bytes> pieces_of(const ParameterContract& parameter, Bytes raw) {
  switch (parameter.style) {
    case Style::label: return split(raw, parameter.explode ? "." : ",");
    case Style::matrix: {
      if (!parameter.explode) return split(raw, ",");
      if (parameter.kind == ParameterContract::Kind::object) return split(raw, ";");
      return split(raw, fmt::format(";{}=", parameter.name));
    }
    default: return items_of_style(parameter.style, raw);
  }
}

Bytes without_space(Bytes text) noexcept {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

class Making {
 public:
  Making(const ParameterContract& parameter, Violations& violations, StepBudget& budget)
      : parameter_(parameter), violations_(violations), budget_(budget) {}

  std::optional<Value> value(Bytes raw, std::uint8_t types) {
    // RFC 9110 §5.6.1: white space around the items of a field does not count.
    if (parameter_.in == Part::header) raw = without_space(raw);
    const Decoded decoded(parameter_.in, raw);
    if (!decoded.is_valid()) return refuse(raw);
    return schema::value_of_text(decoded.text(), types);
  }
  bool add_member(Object& object, Bytes name, Bytes raw) {
    if (parameter_.in == Part::header) name = without_space(name);
    const Decoded decoded(parameter_.in, name);
    if (!decoded.is_valid()) return refuse(name), false;
    if (!is_new(object, decoded.text())) return false;
    auto made = value(raw, parameter_.types_of_member(decoded.text()));
    if (!made) return false;
    object.add(std::string(decoded.text()), *std::move(made));
    return true;
  }
  // Looks at all members: it takes steps for them.
  bool is_new(const Object& object, Bytes name) {
    if (!budget_.take(1 + object.size() / names_per_step)) {
      violations_.add(parameter_.in, parameter_.name, {}, "has too many members to be checked");
      return false;
    }
    if (object.find(name) == nullptr) return true;
    violations_.add(parameter_.in, parameter_.name, fmt::format("/{}", name),
                    "is given more than once");
    return false;
  }
  void check(const Value& value) {
    Findings findings;
    if (parameter_.schema->check(value, findings, budget_)) return;
    violations_.add_findings(parameter_.in, parameter_.name, findings);
  }

 private:
  static constexpr std::size_t names_per_step = 8;

  std::nullopt_t refuse(Bytes raw) {
    violations_.add(parameter_.in, parameter_.name, {},
                    fmt::format("expected valid percent-encoding, got '{}'",
                                raw.substr(0, parameter_shown_max)));
    return std::nullopt;
  }

  const ParameterContract& parameter_;
  Violations& violations_;
  StepBudget& budget_;
};

// Sets the bounds of a schema of integers without other rules, as far as std::int64_t goes.
void set_integer_range(ParameterContract& parameter, const schema::Node& node) {
  constexpr auto lowest = std::numeric_limits<std::int64_t>::min();
  constexpr auto highest = std::numeric_limits<std::int64_t>::max();
  const bool says_more = node.judgement != schema::Judgement::keywords || node.has_applicators ||
                         node.constant != nullptr || node.alternatives != nullptr || node.above ||
                         node.below || node.multiple_of ||
                         (node.types & (schema::integer_type | schema::number_type)) == 0;
  if (says_more || (parameter.types & schema::integer_type) == 0) return;
  const auto limit = [](const std::optional<schema::Number>& given, std::int64_t otherwise) {
    if (!given) return otherwise;
    return *given > lowest && *given < highest ? static_cast<std::int64_t>(*given) : otherwise;
  };
  if (node.minimum && (*node.minimum >= highest || !schema::is_integer(*node.minimum))) return;
  if (node.maximum && (*node.maximum <= lowest || !schema::is_integer(*node.maximum))) return;
  parameter.integer_min = limit(node.minimum, lowest);
  parameter.integer_max = limit(node.maximum, highest);
}

// Nearly every number of a query. False: it is for check_scalar() to say.
bool is_in_integer_range(const ParameterContract& parameter, Bytes text) noexcept {
  if (parameter.integer_min > parameter.integer_max) return false;
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  return read.ec == std::errc() && read.ptr == end && number >= parameter.integer_min &&
         number <= parameter.integer_max;
}

void check_scalar(const ParameterContract& parameter, Bytes text, Violations& violations,
                  StepBudget& budget) {
  if (is_in_integer_range(parameter, text)) return;
  const schema::Schema& schema = *parameter.schema;
  Findings findings;
  bool fits = false;
  std::uint8_t types = parameter.types;
  const bool takes_text = (types & schema::string_type) != 0;
  if (types != schema::string_type) {
    const Value value = schema::value_of_text(text, types);
    if (value.kind() != container::Kind::text) {
      fits = schema.check(value, findings, budget);
      if (fits) return;
      if (takes_text && !budget.is_spent()) findings = Findings();
    } else if (!takes_text) {
      types &= static_cast<std::uint8_t>(~schema::number_type);
      if ((parameter.types & schema::number_type) != 0) {
        types = static_cast<std::uint8_t>((types & ~schema::integer_type) | schema::number_type);
      }
      violations.add(parameter.in, parameter.name, {},
                     fmt::format("expected {}, got '{}'", schema::words_of_types(types),
                                 text.substr(0, parameter_shown_max)));
      return;
    }
  }
  if (findings.empty()) fits = schema.check_text(text, findings, budget);
  if (!fits) violations.add_findings(parameter.in, parameter.name, findings);
}

}  // namespace

std::vector<Bytes> items_of_style(Style style, Bytes raw) {
  switch (style) {
    case Style::space_delimited: return split_delimited(raw, "+", "%20");
    case Style::pipe_delimited: {
      const bool is_lower = raw.find("%7c") != Bytes::npos;
      return split_delimited(raw, "|", is_lower ? "%7c" : "%7C");
    }
    case Style::tab_delimited: return split_delimited(raw, "\t", "%09");
    default: return split(raw, ",");
  }
}

void ParameterContract::prepare() {
  if (!schema) return;
  const schema::Shape shape(schema->root());
  types = shape.types();
  const bool is_list = (types & schema::array_type) != 0;
  const bool is_object = (types & schema::object_type) != 0;
  if (is_json || types == schema::all_types || (types & scalar_types) != 0) {
    kind = Kind::scalar;
    types &= static_cast<std::uint8_t>(~(schema::array_type | schema::object_type));
    if (types == 0) types = schema::string_type;
    if (!is_json) set_integer_range(*this, schema->root());
  } else if (is_list) {
    kind = Kind::list;
    item_types = shape.item(0).types();
  } else if (is_object) {
    kind = Kind::object;
    for (std::string& each : shape.names()) {
      const std::uint8_t member_types = shape.member(each).types();
      members.push_back({std::move(each), member_types});
    }
    takes_other_names = shape.takes_other_names();
    other_types = shape.member("\n").types();  // a name that none of the members has
  }
}

std::uint8_t ParameterContract::types_of_member(Bytes member) const noexcept {
  const auto found = std::ranges::find(members, member, &Member::name);
  return found == members.end() ? other_types : found->types;
}

void ParameterContract::add_missing(Violations& violations) const {
  violations.add(in, name, {}, "is missing");
}

void ParameterContract::check_plain(Bytes text, Violations& violations, StepBudget& budget) const {
  const bool is_plain = kind == Kind::scalar && !is_json && schema &&
                        (style == Style::form || style == Style::simple);
  if (!is_plain || (text.empty() && allow_empty)) return check(text, violations, budget);
  check_scalar(*this, text, violations, budget);
}

void ParameterContract::check(Bytes raw, Violations& violations, StepBudget& budget) const {
  if (!schema || (raw.empty() && allow_empty)) return;
  if (!strip_prefix(*this, raw)) {
    violations.add(
        in, name, {},
        fmt::format("expected the style '{}', got '{}'", style == Style::label ? "label" : "matrix",
                    raw.substr(0, parameter_shown_max)));
    return;
  }
  Making making(*this, violations, budget);
  if (is_json || kind == Kind::scalar) {
    const Decoded decoded(in, raw);
    if (!decoded.is_valid()) {
      (void)making.value(raw, types);  // adds the violation
    } else if (is_json) {
      Findings findings;
      if (!schema->check_json(decoded.text(), findings, budget)) {
        violations.add_findings(in, name, findings);
      }
    } else {
      check_scalar(*this, decoded.text(), violations, budget);
    }
    return;
  }
  const std::vector<Bytes> pieces = pieces_of(*this, raw);
  if (kind == Kind::list) {
    check_items(raw.empty() ? std::span<const Bytes>() : pieces, violations, budget);
    return;
  }
  Object object;
  if (explode && style != Style::form) {
    for (const Bytes piece : pieces) {
      if (raw.empty()) break;
      const std::size_t at = std::min(piece.find('='), piece.size());
      const Bytes value = piece.substr(std::min(at + 1, piece.size()));
      if (!making.add_member(object, piece.substr(0, at), value)) return;
    }
  } else {
    for (std::size_t at = 0; at + 1 < pieces.size(); at += 2) {
      if (!making.add_member(object, pieces[at], pieces[at + 1])) return;
    }
    if (pieces.size() % 2 != 0 && !raw.empty()) {
      violations.add(in, name, {}, "expected names and values in turn");
      return;
    }
  }
  making.check(std::move(object));
}

void ParameterContract::check_items(std::span<const Bytes> raw, Violations& violations,
                                    StepBudget& budget) const {
  if (!schema) return;
  Making making(*this, violations, budget);
  List list;
  list.reserve(raw.size());
  for (const Bytes each : raw) {
    auto made = making.value(each, item_types);
    if (!made) return;
    list.push_back(*std::move(made));
  }
  making.check(std::move(list));
}

void ParameterContract::check_brackets(std::span<const RawMember> raw, Violations& violations,
                                       StepBudget& budget) const {
  if (!schema) return;
  container::FormTree tree;
  for (const RawMember& each : raw) {
    const Decoded decoded(in, each.raw);
    if (!decoded.is_valid()) {
      (void)Making(*this, violations, budget).value(each.raw, types);  // adds the violation
      return;
    }
    const auto added = tree.add(each.name, {std::string(decoded.text())});
    if (!added) return violations.add(in, name, {}, std::string(added.error().message()));
  }
  const auto node = tree.root().members.find(name);
  if (node == tree.root().members.end()) {  // brackets that do not match: another name
    if (required) add_missing(violations);
    return;
  }
  Findings findings;
  const Value value = form_tree_value(*node->second, schema::Shape(schema->root()), {}, findings);
  if (!findings.empty() || !schema->check(value, findings, budget)) {
    violations.add_findings(in, name, findings);
  }
}

void ParameterContract::check_members(std::span<const RawMember> raw, Violations& violations,
                                      StepBudget& budget) const {
  if (!schema) return;
  Making making(*this, violations, budget);
  Object object;
  for (const RawMember& each : raw) {
    if (!making.is_new(object, each.name)) return;
    auto made = making.value(each.raw, types_of_member(each.name));
    if (!made) return;
    object.add(std::string(each.name), *std::move(made));
  }
  making.check(std::move(object));
}

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
