#include "katana/data/schema/samples/drawing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "katana/data/container/findings.hpp"
#include "katana/data/schema/evaluation.hpp"
#include "katana/data/schema/samples/pattern_text.hpp"
#include "katana/data/schema/samples/text_sample.hpp"
#include "katana/data/schema/shape.hpp"

namespace katana::schema {
namespace {

using container::List;
using container::Object;

constexpr std::size_t expansions_max = 256;
constexpr std::uint64_t steps_of_a_draw = 32;
constexpr std::size_t places_max = 64;  // levels of nesting that readers of JSON accept

const Value* keyword(const Node& node, Bytes name) {
  const Object* const schema = node.source == nullptr ? nullptr : node.source->get_object();
  return schema == nullptr ? nullptr : schema->find(name);
}

Value value_of(Number number) {
  if (!is_integer(number)) return static_cast<double>(number);
  if (number >= 0 && number <= static_cast<Number>(UINT64_MAX)) {
    return static_cast<std::uint64_t>(number);
  }
  if (number < 0 && number >= static_cast<Number>(INT64_MIN)) {
    return static_cast<std::int64_t>(number);
  }
  return static_cast<double>(number);
}

}  // namespace

bool Drawing::fits_all(const Nodes& nodes, const Value& value) const {
  return std::ranges::all_of(nodes, [&](const Node* each) {
    container::Findings ignored(1);
    return Evaluation<ValueView>(ignored, budget_).run(*each, ValueView(value));
  });
}

Value Drawing::draw(const Nodes& given, Bytes name, std::size_t depth) {
  // A schema with alternatives is drawn again when they contradict each other.
  const bool is_simple = std::ranges::none_of(given, &Node::has_applicators);
  for (std::size_t tries = is_simple ? 1 : 6; tries > 0; --tries) {
    const Nodes all = expanded(given, depth);
    if (depth > places_max || !budget_.take(steps_of_a_draw + all.size())) return {};
    Value value;
    if (auto listed = draw_listed(all)) {
      value = *std::move(listed);
    } else {
      switch (choose_type(all, depth)) {
        case boolean_type: value = random_.below(2) != 0; break;
        case integer_type: value = draw_number(all, true); break;
        case number_type: value = draw_number(all, false); break;
        case string_type: value = draw_text(all, name); break;
        case array_type: value = draw_list(all, name, depth); break;
        case object_type: value = draw_object(all, depth); break;
        default: break;
      }
    }
    if (tries == 1 || fits_all(given, value)) return value;
  }
  return {};
}

Drawing::Nodes Drawing::expanded(const Nodes& given, std::size_t depth) {
  Nodes all;
  for (const Node* const each : given) expand(*each, all, depth);
  return all;
}

void Drawing::expand(const Node& node, Nodes& all, std::size_t depth) {
  if (all.size() > expansions_max || std::ranges::find(all, &node) != all.end()) return;
  all.push_back(&node);
  for (const Node* const each : node.references) expand(*each, all, depth);
  for (const DynamicReference& each : node.dynamic_references) {
    expand(*each.initial, all, depth);
  }
  for (const Node* const each : node.all_of) expand(*each, all, depth);
  for (const auto* const choices : {&node.any_of, &node.one_of}) {
    if (!choices->empty()) expand(*choose(*choices, depth), all, depth);
  }
  if (node.condition != nullptr) {
    // Draws the condition with its consequence, or neither.
    const bool is_met = node.consequence != nullptr && random_.below(2) != 0;
    if (is_met) expand(*node.condition, all, depth);
    const Node* const then = is_met ? node.consequence : node.alternative;
    if (then != nullptr) expand(*then, all, depth);
  }
}

// Chooses a schema; at a great depth one that ends.
const Node* Drawing::choose(const std::vector<const Node*>& choices, std::size_t depth) {
  if (depth >= options_.depth_max) {
    for (const Node* const each : choices) {
      const std::uint8_t types = Shape(*each).types();
      if (types != 0 && (types & (array_type | object_type)) == 0) return each;
    }
  }
  return choices[random_.below(choices.size())];
}

// Draws a value of `const` and `enum` that all schemas allow.
std::optional<Value> Drawing::draw_listed(const Nodes& all) {
  std::vector<const Value*> listed;
  for (const Node* const node : all) {
    if (node->constant != nullptr) return *node->constant;
    if (node->alternatives == nullptr) continue;
    for (const Value& each : *node->alternatives) {
      if (fits_all(all, each)) listed.push_back(&each);
    }
    if (!listed.empty()) return *listed[random_.below(listed.size())];
  }
  if (!options_.examples) return std::nullopt;
  for (const Node* const node : all) {
    for (const Bytes name : {Bytes("example"), Bytes("default")}) {
      const Value* const found = keyword(*node, name);
      if (found != nullptr && fits_all(all, *found)) return *found;
    }
    const Value* const several = keyword(*node, "examples");
    const List* const list = several == nullptr ? nullptr : several->get_list();
    if (list == nullptr) continue;
    for (const Value& each : *list) {
      if (fits_all(all, each)) listed.push_back(&each);
    }
    if (!listed.empty()) return *listed[random_.below(listed.size())];
  }
  return std::nullopt;
}

std::uint8_t Drawing::choose_type(const Nodes& all, std::size_t depth) {
  std::uint8_t types = all_types;
  bool has_items = false;
  bool has_properties = false;
  bool has_text = false;
  bool has_number = false;
  for (const Node* const node : all) {
    if (node->judgement == Judgement::never) return 0;
    types &= node->types | ((node->types & number_type) != 0 ? integer_type : 0);
    has_items |= node->looks_at_items;
    has_properties |= node->looks_at_properties || node->required != 0;
    has_text |= node->pattern || node->length_min != 0 || node->length_max != SIZE_MAX ||
                keyword(*node, "format") != nullptr;
    has_number |= node->minimum || node->maximum || node->above || node->below || node->multiple_of;
  }
  // If several types are accepted, prefers the one with keywords in the schema.
  const std::pair<std::uint8_t, bool> wanted[] = {{object_type, has_properties},
                                                  {array_type, has_items},
                                                  {string_type, has_text},
                                                  {number_type, has_number},
                                                  {integer_type, has_number}};
  const bool is_deep = depth > options_.depth_max;
  for (const auto& [type, is_wanted] : wanted) {
    const bool nests = type == object_type || type == array_type;
    if (is_wanted && (types & type) != 0 && !(nests && is_deep)) return type;
  }
  std::vector<std::uint8_t> choices;
  for (const std::uint8_t type :
       {string_type, integer_type, number_type, boolean_type, object_type, array_type}) {
    const bool is_covered = type == integer_type && (types & number_type) != 0;
    if ((types & type) != 0 && !is_covered) choices.push_back(type);
  }
  const bool has_null = (types & null_type) != 0;
  if (choices.empty() || (has_null && types != all_types && random_.chance(100))) return null_type;
  if (is_deep && has_null) return null_type;
  // Any type is accepted: a text is better than an empty object.
  const std::size_t count = types == all_types ? 1 : choices.size();
  return choices[random_.below(count)];
}

Value Drawing::draw_number(const Nodes& all, bool is_integer_wanted) {
  Number least = -1e18L;
  Number most = 1e18L;
  bool has_least = false;
  bool has_most = false;
  Number step = is_integer_wanted ? 1 : 0;
  for (const Node* const node : all) {
    const Number tiny = is_integer_wanted ? 1 : 1e-6L;
    if (node->minimum) least = std::max(least, *node->minimum), has_least = true;
    if (node->above) {
      const Number next = is_integer_wanted ? std::floor(*node->above) + 1 : *node->above + tiny;
      least = std::max(least, next), has_least = true;
    }
    if (node->maximum) most = std::min(most, *node->maximum), has_most = true;
    if (node->below) {
      const Number next = is_integer_wanted ? std::ceil(*node->below) - 1 : *node->below - tiny;
      most = std::min(most, next), has_most = true;
    }
    if (!node->multiple_of) continue;
    const bool are_whole = step >= 1 && is_integer(step) && is_integer(*node->multiple_of);
    step = are_whole ? static_cast<Number>(std::lcm(static_cast<std::uint64_t>(step),
                                                    static_cast<std::uint64_t>(*node->multiple_of)))
                     : std::max(step, *node->multiple_of);
  }
  if (!has_least) least = has_most ? std::min<Number>(0, most - 1000) : 0;
  if (!has_most) most = std::max<Number>(1000, least + 1000);
  if (!has_least && has_most && most >= 0) least = 0;
  if (step > 0) {
    const Number first = std::ceil(least / step);
    const Number last = std::floor(most / step);
    if (first > last) return value_of(least);
    const Number count = std::min<Number>(last - first, 1e15L);
    const Number at =
        first + static_cast<Number>(random_.below(static_cast<std::uint64_t>(count) + 1));
    return value_of(at * step);
  }
  const Number part = static_cast<Number>(random_.below(1'000'001)) / 1'000'000;
  const Number drawn = least + (most - least) * part;
  const Number rounded = std::round(drawn * 100) / 100;
  return static_cast<double>(rounded >= least && rounded <= most ? rounded : drawn);
}

Value Drawing::draw_text(const Nodes& all, Bytes name) {
  std::size_t least = 0;
  std::size_t most = SIZE_MAX;
  std::string pattern, format;
  for (const Node* const node : all) {
    least = std::max(least, node->length_min);
    most = std::min(most, node->length_max);
    const Value* const found_pattern = keyword(*node, "pattern");
    if (node->pattern && found_pattern != nullptr) pattern = found_pattern->as_text();
    const Value* const found = keyword(*node, "format");
    if (found != nullptr && found->kind() == container::Kind::text) format = found->as_text();
  }
  if (!pattern.empty()) {
    for (std::size_t tries = 0; tries < 32; ++tries) {
      auto drawn = draw_pattern(pattern, random_, 3 + more_ + tries * 2);
      if (!drawn || !budget_.take(1 + drawn->size())) break;
      // The pattern may allow more text behind it, as "^[a-z]" does.
      const std::size_t length = count_code_points(*drawn);
      if (length < least && !pattern.ends_with('$')) drawn->append(least - length, 'a');
      if (fits_all(all, Value(*drawn))) return *std::move(drawn);
    }
  } else if (!format.empty()) {
    for (std::size_t tries = 0; tries < 8; ++tries) {
      auto drawn = draw_format(format, random_);
      if (!drawn) break;
      if (fits_all(all, Value(*drawn))) return *std::move(drawn);
    }
  }
  constexpr std::size_t length_max = 1024 * 1024;
  if (least > length_max) return "";
  return draw_words(name, least, most, random_);
}

Drawing::Nodes Drawing::item_of(const Nodes& all, std::size_t index) {
  Nodes found;
  for (const Node* const node : all) {
    const Node* const item =
        index < node->prefix_items.size() ? node->prefix_items[index] : node->items;
    if (item != nullptr) {
      found.push_back(item);
    } else if (index >= node->prefix_items.size() && node->unevaluated_items != nullptr) {
      found.push_back(node->unevaluated_items);
    }
  }
  return found;
}

Value Drawing::draw_list(const Nodes& all, Bytes name, std::size_t depth) {
  std::size_t least = 0;
  std::size_t most = SIZE_MAX;
  bool is_unique = false;
  const Node* contains = nullptr;
  std::size_t contained = 0;
  for (const Node* const node : all) {
    least = std::max({least, node->items_min, node->contains != nullptr ? node->contained_min : 0});
    most = std::min(most, node->items_max);
    is_unique |= node->is_unique;
    if (node->contains == nullptr) continue;
    contains = node->contains;
    contained = std::max(contained, node->contained_min);
  }
  constexpr std::size_t most_of_all = 10'000;
  const std::size_t roomy = std::max<std::size_t>(least, options_.items_max >> depth);
  const std::size_t top = std::min({most, std::max<std::size_t>(roomy, least), most_of_all});
  const std::size_t bottom = std::min(least, top);
  const std::size_t usual =
      depth < options_.depth_max ? std::min(top, std::max<std::size_t>(bottom, 1)) : bottom;
  const std::size_t count = static_cast<std::size_t>(random_.between(usual, std::max(usual, top)));
  List list;
  for (std::size_t index = 0; index < count; ++index) {
    Nodes item = item_of(all, index);
    if (std::ranges::any_of(item,
                            [](const Node* each) { return each->judgement == Judgement::never; })) {
      break;
    }
    if (contains != nullptr && index < contained) item.push_back(contains);
    bool is_new = false;
    for (std::size_t tries = 0; tries < 20 && !is_new; ++tries) {
      Value drawn = draw(item, name, depth + 1);
      is_new = !is_unique || std::ranges::none_of(list, [&](const Value& each) {
        return equal(ValueView(each), ValueView(drawn), budget_);
      });
      if (is_new) list.push_back(std::move(drawn));
    }
    if (!is_new) break;
  }
  return list;
}

Drawing::Nodes Drawing::member_of(const Nodes& all, Bytes name) const {
  Nodes found;
  bool is_evaluated = false;
  const Node* unevaluated = nullptr;
  for (const Node* const node : all) {
    const std::size_t before = found.size();
    const Property* const property = node->find(name, 0);
    if (property != nullptr && property->schema != nullptr) found.push_back(property->schema);
    for (const PatternProperty& each : node->pattern_properties) {
      if (each.expression.find(name, budget_) == Found::yes) found.push_back(each.schema);
    }
    if (found.size() == before && node->additional_properties != nullptr) {
      found.push_back(node->additional_properties);
    }
    is_evaluated |= found.size() != before;
    if (node->unevaluated_properties != nullptr) unevaluated = node->unevaluated_properties;
  }
  if (!is_evaluated && unevaluated != nullptr) found.push_back(unevaluated);
  return found;
}

bool Drawing::is_left_out(const Nodes& member) const {
  if (options_.direction == Direction::any) return false;
  const Bytes mark = options_.direction == Direction::request ? "readOnly" : "writeOnly";
  return std::ranges::any_of(member, [&](const Node* each) {
    const Value* const found = keyword(*each, mark);
    if (found != nullptr) return *found == Value(true);
    return std::ranges::any_of(each->references, [&](const Node* other) {
      const Value* const there = keyword(*other, mark);
      return there != nullptr && *there == Value(true);
    });
  });
}

std::vector<std::string> Drawing::choose_names(const Nodes& all, std::size_t depth) {
  std::vector<std::string> names;
  std::size_t most = SIZE_MAX;
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  // Fewer optional members at deeper levels.
  const std::uint32_t chance =
      depth > options_.depth_max ? 0 : options_.optional_per_1024 >> (depth / 2);
  std::size_t required = 0;
  for (const Node* const node : all) {
    most = std::min(most, node->properties_max);
    for (const Property& each : node->properties) required += each.is_required ? 1 : 0;
  }
  for (const Node* const node : all) {
    for (const Property& each : node->properties) {
      const bool is_here = each.is_required || (random_.chance(chance) && required < most);
      if (!is_here) continue;
      const Nodes member = member_of(all, each.name);
      const bool is_impossible = std::ranges::any_of(
          member, [](const Node* other) { return other->judgement == Judgement::never; });
      if (is_impossible || (!each.is_required && is_left_out(member))) continue;
      if (!each.is_required && names.size() + 1 > most) continue;
      add(each.name);
    }
  }
  for (std::size_t at = 0; at < names.size(); ++at) {  // `names` grows in the loop
    for (const Node* const node : all) {
      for (const DependentNames& each : node->dependent_required) {
        if (each.name != names[at]) continue;
        for (const std::string& other : each.required) add(other);
      }
    }
  }
  return names;
}

void Drawing::add_other_names(const Nodes& all, std::size_t least,
                              std::vector<std::string>& names) {
  Nodes of_names;
  std::string pattern;
  for (const Node* const node : all) {
    if (node->property_names != nullptr) of_names.push_back(node->property_names);
    const Value* const patterns = keyword(*node, "patternProperties");
    for (const PatternProperty& each : node->pattern_properties) {
      if (each.schema->judgement == Judgement::never) continue;
      for (const container::Member& member : patterns->as_object()) {
        if (each.schema->source == &member.value) pattern = member.name;
      }
    }
  }
  for (std::size_t tries = 0; tries < 64 && names.size() < least; ++tries) {
    std::string name;
    if (!pattern.empty()) {
      name = draw_pattern(pattern, random_, 3 + tries).value_or("");
    } else if (!of_names.empty()) {
      const Value drawn = draw_text(expanded(of_names, 0), {});
      name = drawn.as_text();
    } else {
      name = "member" + std::to_string(names.size() + 1);
    }
    const Nodes member = member_of(all, name);
    const bool is_impossible = std::ranges::any_of(
        member, [](const Node* each) { return each->judgement == Judgement::never; });
    if (!is_impossible && std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
}

Value Drawing::draw_object(const Nodes& given, std::size_t depth) {
  Nodes all = given;
  std::vector<std::string> names = choose_names(all, depth);
  for (std::size_t rounds = 0; rounds < 4; ++rounds) {
    const std::size_t before = all.size();
    for (const Node* const node : Nodes(all)) {
      for (const DependentSchema& each : node->dependent_schemas) {
        if (std::ranges::find(names, each.name) != names.end()) expand(*each.schema, all, depth);
      }
    }
    if (all.size() == before) break;
    for (std::string& each : choose_names(all, options_.depth_max + 1)) {
      if (std::ranges::find(names, each) == names.end()) names.push_back(std::move(each));
    }
  }
  std::size_t least = 0;
  bool is_map = names.empty() && depth < options_.depth_max;
  for (const Node* const node : all) {
    least = std::max(least, node->properties_min);
    is_map &= node->properties.empty();
  }
  // An object that accepts any names gets one member.
  const bool has_members = std::ranges::any_of(all, [](const Node* each) {
    return each->additional_properties != nullptr || !each->pattern_properties.empty();
  });
  if (is_map && has_members) least = std::max<std::size_t>(least, 1);
  if (names.size() < least) {
    // First the described names.
    for (const Node* const node : all) {
      for (const Property& each : node->properties) {
        const bool is_here = std::ranges::find(names, each.name) != names.end();
        if (names.size() < least && !is_here && !is_left_out(member_of(all, each.name))) {
          names.push_back(each.name);
        }
      }
    }
    add_other_names(all, least, names);
  }
  Object object;
  for (std::string& name : names) {
    const Nodes member = member_of(all, name);
    Value value = draw(member, name, depth + 1);
    object.add(std::move(name), std::move(value));
  }
  return object;
}

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
