// Evaluation: decides whether an instance of any representation fits a compiled schema.
//
// An instance is a View (value_view.hpp, json_view.cpp): a small value in which no name occurs
// twice. It has these members:
//
//   Type type()                one of null, boolean, integer, number, string, array, object
//   Number number()            text()            boolean()
//   std::size_t size()         for an array or object
//   for_each_item(f)           f(View) for each item; false ends it
//   for_each_member(f)         f(Bytes name, View) likewise
//   has(name)                  for an object
//   identity()                 for an array or object: unique within the same data
//
// It takes its steps from a budget. Recursive schemas may reach the same value by several paths.
// The verdict for a value is then remembered (memo.hpp). A filter of a hundred nested operators
// therefore costs a hundred times as much as one operator.
//
// Owns       its notes.
// Borrows    the schema, the findings, the budget and the instance.
// Thread     one: a call's.
// Allocates  findings; notes of `unevaluated…` and of recursive schemas; `uniqueItems`.
// Fails      when the budget is spent, a pattern cannot be decided, or schemas are nested to
//            depth_max. The instance then does not fit, whatever `not` and `anyOf` say, and the
//            findings have the reason.
// Invariant  with `quiet_` it stops at the first mistake and adds no finding.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/values/formats.hpp"
#include "katana/base/values/keyed_hash.hpp"
#include "katana/base/values/step_budget.hpp"
#include "katana/data/container/findings.hpp"
#include "katana/data/schema/compiled.hpp"
#include "katana/data/schema/memo.hpp"
#include "katana/data/schema/pointer.hpp"
#include "katana/data/schema/value_view.hpp"

namespace katana::schema {

// The evaluated parts of an instance, by the number of the item or member.
class Evaluated {
 public:
  // Adds a number. Allocates when it is the largest so far.
  void add(std::size_t index) {
    if (index >= seen_.size()) seen_.resize(index + 1);
    seen_[index] = true;
  }
  // Adds all numbers.
  void add_all() noexcept { all_ = true; }
  // True if the number was added. Any number is allowed.
  bool has(std::size_t index) const { return all_ || (index < seen_.size() && seen_[index]); }
  // One more than the largest number that add() got. merge(): adds all numbers of the other.
  std::size_t size() const noexcept { return seen_.size(); }
  void merge(const Evaluated& other) {
    all_ = all_ || other.all_;
    for (std::size_t at = 0; at < other.seen_.size(); ++at) {
      if (other.seen_[at]) add(at);
    }
  }

 private:
  std::vector<bool> seen_;
  bool all_ = false;
};

// A random key for each process: an attacker cannot choose items that collide.
const KeyedHash& item_hash();

template <class View>
class Evaluation {
 public:
  Evaluation(container::Findings& findings, StepBudget& budget)
      : findings_(findings), budget_(budget) {}

  // Evaluates the instance, once. False: the findings name the places of the mistakes.
  bool run(const Node& node, const View& instance) {
    const bool fits = evaluate(node, instance, nullptr);
    return fits && !is_stopped_;
  }

 private:
  static constexpr std::size_t depth_max = 512;
  static constexpr std::uint64_t steps_of_note = 4;
  static constexpr std::uint64_t steps_of_multiple = 4;
  static constexpr std::size_t bytes_per_step = 16;  // bytes of text that one step may read

  // A step into the instance, on the stack of its caller.
  struct Step {
    const Step* above;
    Bytes name;
    std::size_t index;
    bool is_name;
  };
  // A resource that was entered, likewise.
  struct Scope {
    const Scope* outer;
    const Resource* resource;
  };

  // `evaluated` gets the evaluated parts of this instance for a schema above; null: not needed.
  bool evaluate(const Node& node, const View& instance, Evaluated* evaluated) {
    if (!take(1)) return false;
    if (node.judgement != Judgement::keywords) {
      return node.judgement == Judgement::always || fault("is not allowed");
    }
    if (node.is_repeated && evaluated == nullptr) return evaluate_once(node, instance);
    return evaluate_here(node, instance, evaluated);
  }

  bool evaluate_once(const Node& node, const View& instance) {
    using Verdict = Memo::Verdict;
    if ((instance.type() & (array_type | object_type)) == 0) {
      return evaluate_here(node, instance, nullptr);
    }
    const std::uint64_t identity = instance.identity();
    const Verdict known = memo_.find(&node, identity);
    if (known == Verdict::fits) return true;
    if (known == Verdict::fails_told || (known == Verdict::fails && quiet_ != 0)) return false;
    const bool fits = evaluate_here(node, instance, nullptr);
    if (is_stopped_ || !take(steps_of_note)) return false;
    memo_.set(&node, identity,
              fits          ? Verdict::fits
              : quiet_ != 0 ? Verdict::fails
                            : Verdict::fails_told);
    return fits;
  }

  bool evaluate_here(const Node& node, const View& instance, Evaluated* evaluated) {
    if (++depth_ > depth_max) {
      --depth_;
      return stop("is nested too deeply, or the schema refers to itself without end");
    }
    const Scope* const outer = scope_;
    const Scope entered{outer, node.resource};
    if (outer == nullptr || outer->resource != node.resource) scope_ = &entered;
    const bool asks = node.unevaluated_items != nullptr || node.unevaluated_properties != nullptr;
    const bool fits = asks && evaluated == nullptr ? evaluate_noting(node, instance)
                                                   : evaluate_keywords(node, instance, evaluated);
    scope_ = outer;
    --depth_;
    return fits;
  }

  bool evaluate_noting(const Node& node, const View& instance) {
    Evaluated own;
    return evaluate_keywords(node, instance, &own);
  }

  bool evaluate_keywords(const Node& node, const View& instance, Evaluated* notes) {
    const Type type = instance.type();
    if ((node.types & (type == integer_type ? integer_type | number_type : type)) == 0) {
      return fault("expected {}, got {}", words_of_types(node.types),
                   words_of_types(static_cast<std::uint8_t>(type)));
    }
    bool fits = true;
    if (node.constant != nullptr || node.alternatives != nullptr)
      fits &= check_equal(node, instance);
    if (!fits && quiet_ != 0) return false;
    if (node.has_applicators) fits &= apply(node, instance, notes);
    if (!fits && quiet_ != 0) return false;
    switch (type) {
      case integer_type:
      case number_type: return check_number(node, instance.number()) && fits;
      case string_type: return check_text(node, instance.text()) && fits;
      case array_type: return (!node.looks_at_items || check_items(node, instance, notes)) && fits;
      case object_type: return check_object(node, instance, notes) && fits;
      default: return fits;
    }
  }

  // ---- values ----

  bool check_equal(const Node& node, const View& instance) {
    if (node.constant != nullptr && !equal(instance, ValueView(*node.constant), budget_)) {
      return check_spent() && fault("is not the value that it has to be");
    }
    if (node.alternatives == nullptr) return true;
    if (!take(node.alternatives->size() / 8)) return false;
    const bool is_one = std::ranges::any_of(*node.alternatives, [&](const Value& each) {
      return equal(instance, ValueView(each), budget_);
    });
    return is_one || (check_spent() && fault("is none of the values that it may be"));
  }

  bool check_number(const Node& node, Number number) {
    if (node.minimum && number < *node.minimum) {
      return fault("must be at least {}", static_cast<double>(*node.minimum));
    }
    if (node.above && number <= *node.above) {
      return fault("must be above {}", static_cast<double>(*node.above));
    }
    if (node.maximum && number > *node.maximum) {
      return fault("must be at most {}", static_cast<double>(*node.maximum));
    }
    if (node.below && number >= *node.below) {
      return fault("must be below {}", static_cast<double>(*node.below));
    }
    if (node.multiple_of && !take(steps_of_multiple)) return false;
    if (node.multiple_of && !is_multiple(number, *node.multiple_of)) {
      return fault("must be a multiple of {}", static_cast<double>(*node.multiple_of));
    }
    return true;
  }

  bool check_text(const Node& node, Bytes text) {
    // A code point has one to four bytes. The size in bytes therefore nearly always decides.
    const bool is_long_enough = text.size() / 4 >= node.length_min;
    if (!is_long_enough || text.size() > node.length_max) {
      if (!take(text.size() / bytes_per_step)) return false;
      const std::size_t length = count_code_points(text);
      if (length < node.length_min) {
        return fault("must have at least {} characters", node.length_min);
      }
      if (length > node.length_max) {
        return fault("must have at most {} characters", node.length_max);
      }
    }
    if (node.pattern) {
      const Found found = node.pattern->find(text, budget_);
      if (found == Found::costly) return stop("takes too many steps to compare with its pattern");
      if (found == Found::no) return fault("does not match its pattern");
    }
    if (node.format == nullptr) return true;
    if (!take(text.size() / bytes_per_step)) return false;
    if (!node.format(text, budget_)) {
      return check_spent() && fault("is no {}", node.format_name);
    }
    return true;
  }

  // ---- schemas of the same instance ----

  bool apply(const Node& node, const View& instance, Evaluated* notes) {
    bool fits = true;
    for (const Node* const each : node.references) fits &= evaluate(*each, instance, notes);
    for (const DynamicReference& each : node.dynamic_references) {
      fits &= evaluate(target_of(each), instance, notes);
    }
    for (const Node* const each : node.all_of) {
      fits &= evaluate(*each, instance, notes);
      if (!fits && quiet_ != 0) return false;
    }
    fits = fits && apply_alternatives(node, instance, notes);
    if (node.negated != nullptr && try_schema(*node.negated, instance, nullptr)) {
      fits = fault("fits a schema that it must not fit");
    }
    if (node.condition != nullptr) {
      const Node* const then =
          try_schema(*node.condition, instance, notes) ? node.consequence : node.alternative;
      if (then != nullptr) fits &= evaluate(*then, instance, notes);
    }
    return fits;
  }

  bool apply_alternatives(const Node& node, const View& instance, Evaluated* notes) {
    bool fits = true;
    if (!node.any_of.empty()) {
      bool any = false;
      for (const Node* const each : node.any_of) {
        any = try_schema(*each, instance, notes) || any;
        if (any && notes == nullptr) break;
      }
      if (!any) {
        fits = fault("fits none of the {} schemas of anyOf", node.any_of.size());
      }
    }
    if (!node.one_of.empty()) {
      std::size_t count = 0;
      for (const Node* const each : node.one_of) {
        count += try_schema(*each, instance, notes) ? 1 : 0;
        if (count > 1 && quiet_ != 0) return false;
      }
      if (count != 1) {
        fits = fault("fits {} of the {} schemas of oneOf, and must fit one", count,
                     node.one_of.size());
      }
    }
    return fits;
  }

  // Evaluates without findings. The evaluated parts count only if the instance fits.
  bool try_schema(const Node& node, const View& instance, Evaluated* notes) {
    ++quiet_;
    Evaluated tried;
    const bool fits = evaluate(node, instance, notes == nullptr ? nullptr : &tried);
    --quiet_;
    if (fits && notes != nullptr) {
      if (!take(tried.size() / bytes_per_step)) return false;
      notes->merge(tried);
    }
    return fits;
  }

  // The outermost resource that has the anchor (Core §8.2.3.2).
  const Node& target_of(const DynamicReference& reference) const {
    const Node* target = reference.initial;
    if (reference.anchor.empty()) return *target;
    for (const Scope* each = scope_; each != nullptr; each = each->outer) {
      const auto found = each->resource->dynamic_anchors.find(reference.anchor);
      if (found != each->resource->dynamic_anchors.end()) target = found->second;
    }
    return *target;
  }

  // ---- arrays ----

  bool check_items(const Node& node, const View& instance, Evaluated* notes) {
    if (node.items_min != 0 || node.items_max != SIZE_MAX) {
      const std::size_t size = instance.size();
      if (size < node.items_min) {
        return fault("must have at least {} items", node.items_min);
      }
      if (size > node.items_max) {
        return fault("must have at most {} items", node.items_max);
      }
    }
    std::size_t contained = 0;
    if (!check_each_item(node, instance, notes, contained)) return false;
    if (node.contains != nullptr && !check_contained(node, contained)) return false;
    if (node.is_unique && !are_unique(instance)) {
      return check_spent() && fault("has an item twice");
    }
    return node.unevaluated_items == nullptr || check_unevaluated_items(node, instance, *notes);
  }

  bool check_each_item(const Node& node, const View& instance, Evaluated* notes,
                       std::size_t& contained) {
    bool fits = true;
    std::size_t index = 0;
    const bool looks_at_all = node.items != nullptr || node.contains != nullptr;
    if (!looks_at_all && node.prefix_items.empty()) return true;
    instance.for_each_item([&](const View& item) {
      const Node* const schema =
          index < node.prefix_items.size() ? node.prefix_items[index] : node.items;
      const Step step{path_, {}, index, false};
      path_ = &step;
      if (schema != nullptr) fits &= evaluate(*schema, item, nullptr);
      const bool is_contained =
          node.contains != nullptr && try_schema(*node.contains, item, nullptr);
      path_ = step.above;
      contained += is_contained ? 1 : 0;
      if (notes != nullptr && (schema != nullptr || is_contained)) notes->add(index);
      ++index;
      return goes_on(fits) && (looks_at_all || index < node.prefix_items.size());
    });
    return fits && !is_stopped_;
  }

  bool check_unevaluated_items(const Node& node, const View& instance, Evaluated& notes) {
    bool fits = true;
    std::size_t index = 0;
    instance.for_each_item([&](const View& item) {
      const Step step{path_, {}, index, false};
      path_ = &step;
      fits = take(1) && (notes.has(index) || evaluate(*node.unevaluated_items, item, nullptr));
      path_ = step.above;
      ++index;
      return fits;
    });
    if (fits) notes.add_all();
    return fits;
  }

  bool check_contained(const Node& node, std::size_t contained) {
    if (contained < node.contained_min) {
      return fault("must contain at least {} of the items that it has to contain",
                   node.contained_min);
    }
    return contained <= node.contained_max ||
           fault("must contain at most {} of the items that it may contain", node.contained_max);
  }

  // Takes n log n steps, even for items that an attacker chose. False, too, when the budget is
  // spent.
  bool are_unique(const View& instance) {
    if (!take(instance.size())) return false;
    std::vector<std::pair<std::uint64_t, View>> items;
    items.reserve(instance.size());
    instance.for_each_item([&](const View& item) {
      items.emplace_back(hash(item, item_hash(), budget_), item);
      return !budget_.is_spent();
    });
    if (budget_.is_spent()) return false;
    std::ranges::sort(items, {}, &std::pair<std::uint64_t, View>::first);
    for (std::size_t at = 1; at < items.size(); ++at) {
      for (std::size_t before = at; before-- > 0 && items[before].first == items[at].first;) {
        if (equal(items[before].second, items[at].second, budget_)) return false;
        if (budget_.is_spent()) return false;
      }
    }
    return true;
  }

  // ---- objects ----

  bool check_object(const Node& node, const View& instance, Evaluated* notes) {
    if (!node.looks_at_properties) return true;
    if (node.properties_min != 0 || node.properties_max != SIZE_MAX) {  // a count is expensive
      const std::size_t size = instance.size();
      if (size < node.properties_min) {
        return fault("must have at least {} members", node.properties_min);
      }
      if (size > node.properties_max) {
        return fault("must have at most {} members", node.properties_max);
      }
    }
    bool fits = true;
    std::size_t index = 0;
    std::size_t required = 0;
    instance.for_each_member([&](Bytes name, const View& value) {
      const Property* const property = node.find(name, index);
      if (property != nullptr && property->is_required) ++required;
      const Step step{path_, name, 0, true};
      path_ = &step;
      bool is_evaluated = false;
      fits &= take(1) && check_member(node, property, name, value, is_evaluated);
      path_ = step.above;
      if (is_evaluated && notes != nullptr) notes->add(index);
      ++index;
      return goes_on(fits);
    });
    if (is_stopped_) return false;
    if (required != node.required) fits &= check_required(node, instance);
    if (!node.dependent_required.empty() || !node.dependent_schemas.empty()) {
      fits &= check_dependent(node, instance, notes);
    }
    if (node.unevaluated_properties == nullptr || !fits) return fits;
    return check_unevaluated_members(node, instance, *notes);
  }

  bool check_unevaluated_members(const Node& node, const View& instance, Evaluated& notes) {
    bool fits = true;
    std::size_t index = 0;
    instance.for_each_member([&](Bytes name, const View& value) {
      const Step step{path_, name, 0, true};
      path_ = &step;
      fits =
          take(1) && (notes.has(index) || evaluate(*node.unevaluated_properties, value, nullptr));
      path_ = step.above;
      ++index;
      return fits;
    });
    if (fits) notes.add_all();
    return fits;
  }

  bool check_member(const Node& node, const Property* property, Bytes name, const View& value,
                    bool& is_evaluated) {
    bool fits = true;
    if (node.property_names != nullptr) {
      fits &= evaluate(*node.property_names, View::of_text(name), nullptr);
    }
    if (property != nullptr && property->schema != nullptr) {
      is_evaluated = true;
      fits &= evaluate(*property->schema, value, nullptr);
    }
    for (const PatternProperty& each : node.pattern_properties) {
      const Found found = each.expression.find(name, budget_);
      if (found == Found::costly) return stop("has a name that takes too many steps to compare");
      if (found == Found::no) continue;
      is_evaluated = true;
      fits &= evaluate(*each.schema, value, nullptr);
    }
    if (!is_evaluated && node.additional_properties != nullptr) {
      is_evaluated = true;
      fits &= evaluate(*node.additional_properties, value, nullptr);
    }
    return fits;
  }

  bool check_required(const Node& node, const View& instance) {
    bool fits = true;
    for (const Property& each : node.properties) {
      if (!each.is_required) continue;
      if (!take_look(instance)) return false;
      if (instance.has(each.name)) continue;
      const Step step{path_, each.name, 0, true};
      path_ = &step;
      fits = fault("is missing");
      path_ = step.above;
      if (quiet_ != 0) return false;
    }
    return fits;
  }

  bool check_dependent(const Node& node, const View& instance, Evaluated* notes) {
    bool fits = true;
    for (const DependentNames& each : node.dependent_required) {
      if (!take_look(instance)) return false;
      if (!instance.has(each.name)) continue;
      for (const std::string& name : each.required) {
        if (!take_look(instance)) return false;
        if (instance.has(name)) continue;
        const Step step{path_, name, 0, true};
        path_ = &step;
        fits = fault("is missing beside '{}'", each.name);
        path_ = step.above;
      }
    }
    for (const DependentSchema& each : node.dependent_schemas) {
      if (!take_look(instance)) return false;
      if (instance.has(each.name)) fits &= evaluate(*each.schema, instance, notes);
    }
    return fits;
  }

  // ---- mistakes ----

  // Returns false, for `return fault(…)`. The words are formatted only if they are kept.
  template <class... Arguments>
  bool fault(fmt::format_string<const Arguments&...> words, const Arguments&... arguments) {
    if (quiet_ != 0) return false;
    const bool is_kept = !findings_.full();  // otherwise the finding is only counted
    findings_.add(is_kept ? pointer() : std::string(),
                  is_kept ? fmt::format(words, arguments...) : std::string());
    return false;
  }

  // Ends the whole evaluation.
  KATANA_RARE bool stop(Bytes words) {
    if (is_stopped_) return false;
    is_stopped_ = true;
    if (budget_.is_spent()) {
      findings_.add(pointer(), fmt::format("the check takes more than {} steps and was given up",
                                           budget_.steps_max()));
    } else {
      findings_.add(pointer(), std::string(words));
    }
    return false;
  }
  bool take(std::uint64_t steps) {
    if (budget_.take(steps)) [[likely]]
      return true;
    return stop({});
  }
  // Takes the steps of a search for one name.
  bool take_look(const View& instance) { return take(1 + instance.size() / 4); }
  // False if code that takes steps from the budget directly has spent it.
  bool check_spent() {
    if (!budget_.is_spent()) [[likely]]
      return true;
    return stop({});
  }
  bool goes_on(bool fits) const noexcept {
    return !is_stopped_ && (fits || (quiet_ == 0 && !findings_.full()));
  }

  std::string pointer() const {
    std::vector<const Step*> steps;
    for (const Step* step = path_; step != nullptr; step = step->above) steps.push_back(step);
    std::string text;
    for (auto each = steps.rbegin(); each != steps.rend(); ++each) {
      text += '/';
      text += (*each)->is_name ? escaped((*each)->name) : std::to_string((*each)->index);
    }
    return text;
  }

  container::Findings& findings_;
  StepBudget& budget_;
  Memo memo_;
  bool is_stopped_ = false;
  const Step* path_ = nullptr;
  const Scope* scope_ = nullptr;
  std::size_t depth_ = 0;
  int quiet_ = 0;
};

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
