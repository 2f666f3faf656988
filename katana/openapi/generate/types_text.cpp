#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/text/format.hpp"
#include "katana/openapi/generate/types.hpp"

namespace katana::openapi::generate {

const TypeText& Types::underlying(const TypeText& type) const {
  const TypeText* at = &type;
  for (int hops = 0; hops < 32 && at->uses.size() == 1; ++hops) {
    const Declared& declared = declared_[at->uses[0].type];
    if (declared.form != Form::alias || declared.name != at->text) break;
    at = &declared.alias;
  }
  return *at;
}

bool Types::is_text_value(const TypeText& type) const {
  const TypeText& plain = underlying(type);
  if (plain.uses.size() == 1) {
    const Declared& declared = declared_[plain.uses[0].type];
    return declared.form == Form::enumeration && declared.name == plain.text;
  }
  return plain.uses.empty() && (plain.text.starts_with("std::int") || plain.text == "double" ||
                                plain.text == "bool" || plain.text == "std::string");
}

bool Types::is_declared(const TypeText& type) const {
  const TypeText& plain = underlying(type);
  return plain.uses.size() == 1 && declared_[plain.uses[0].type].name == plain.text;
}

TypeText Types::parameter_type(const TypeText& type) const {
  const TypeText text{.text = "std::string"};
  const TypeText& plain = underlying(type);
  if (is_text_value(plain)) return type;
  if (!plain.items.empty()) {
    if (is_text_value(plain.items[0])) {
      if (!plain.items[0].nullable) return type;
      TypeText item = plain.items[0];  // as text there is no null
      item.nullable = false;
      return list_of_these(std::move(item));
    }
    if (parameter_type(plain.items[0]).text != text.text) return {};
    return {.text = "std::vector<std::string>", .items = {text}};
  }
  if (plain.alternatives.empty()) return {};
  bool lists = false;
  for (const TypeText& each : plain.alternatives) {
    const TypeText found = parameter_type(each);
    if (found.text.empty()) return {};
    lists = lists || is_list(found);
  }
  return lists ? TypeText{.text = "std::vector<std::string>", .items = {text}} : text;
}

std::string Types::member_type(const Member& member) const {
  const char* const wrapper = member.patch ? "katana::Patch<" : "std::optional<";
  return member.optional ? wrapper + member.type.text + ">" : member.type.text;
}

void Types::emit_struct(Declared& type, std::string& text) {
  fmt::format_to(std::back_inserter(text), "struct {} {{\n", type.name);
  for (Member& each : type.members) {
    const std::string line = "  " + member_type(each) + " " + each.name;
    if (!needs_initialiser(type, each)) {
      text += line + ";\n";
      continue;
    }
    const bool plain = each.type.text.starts_with("std::int") || each.type.text == "double" ||
                       each.type.text == "bool";
    const std::string initialiser = !each.initialiser.empty()  ? each.initialiser
                                    : each.optional || !plain  ? "{}"
                                    : each.type.text == "bool" ? "false"
                                                               : "0";
    fmt::format_to(std::back_inserter(text), "{} = {};\n", line, initialiser);
  }
  text += "};\n\n";
}

// Declares the name of a type, which may be incomplete then.
void Types::emit_name(std::size_t index) {
  Declared& type = declared_[index];
  const bool is_declared_already = type.form == Form::structure || type.form == Form::enumeration;
  if (is_declared_already || type.state != 0) return;
  type.state = 1;
  std::vector<std::string> names;
  for (const auto& [part, name] : type.alternatives) names.push_back(declared_[part].name);
  for (const Use& each : type.alias.uses) {
    emit_name(each.type);
    const Form form = declared_[each.type].form;
    if (form == Form::structure || declared_[each.type].state == 2) continue;
    warn(type.pointer, "a type that is made of itself alone is any JSON value");
    type.alias = any();
    break;
  }
  fmt::format_to(
      std::back_inserter(texts_[type.home]), "using {} = {};\n\n", type.name,
      names.empty() ? type.alias.text : fmt::format("std::variant<{}>", fmt::join(names, ", ")));
  type.state = 2;
}

// Emits the types that have to be complete where the type is a member. False: they lead back to a
// type that is being emitted.
bool Types::complete(const TypeText& type) {
  bool all = true;
  for (const Use& each : type.uses) {
    emit_name(each.type);
    if (!each.complete) continue;
    const Declared& used = declared_[each.type];
    if (used.form == Form::alias) {
      all = complete(used.alias) && all;
    } else if (used.form == Form::structure) {
      emit(each.type);
      all = all && used.state == 2;
    }
    for (const auto& [part, name] : used.alternatives) {
      emit(part);
      all = all && declared_[part].state == 2;
    }
  }
  return all;
}

// Emits the types of the items of a list or a dictionary, with all types in them: clang wants them
// complete in an initialiser. A type that leads back to its own circle of types has to wait.
void Types::emit_items(const TypeText& type, std::size_t circle) {
  for (const Use& each : type.uses) {
    const std::size_t other = declared_[each.type].circle;
    if (other == circle) continue;
    for (const std::size_t one : circles_.at(other)) {
      if (declared_[one].form == Form::structure) emit(one);
      if (declared_[one].form == Form::alias) emit_items(declared_[one].alias, other);
      for (const auto& [part, name] : declared_[one].alternatives) emit(part);
    }
  }
}

// Depth first: types that have to be complete come before. A member that leads back to its struct
// stands in a Box.
void Types::emit(std::size_t index) {
  Declared& type = declared_[index];
  if (type.state != 0) return;
  type.state = 1;
  for (Member& each : type.members) {
    if (complete(each.type)) continue;
    each.type.text = "katana::Box<" + each.type.text + ">";
    for (Use& use : each.type.uses) use.complete = false;
  }
  for (const Member& each : type.members) emit_items(each.type, type.circle);
  emit_struct(type, texts_[type.home]);
  type.state = 2;
}

// The cost to compile a member in a source of types. A member of a parameter costs one.
constexpr std::size_t form_cost = 3;
constexpr std::size_t json_cost = 4;  // it is read and written

// The expansion of KATANA_DESCRIBE, as a function that makes the description: a source compiles
// only the descriptions that it uses. For Stripe's shared types this takes a quarter of the time.
void Types::describe_struct(const Declared& type, std::string& text) {
  const auto put = std::back_inserter(text);
  fmt::format_to(put,
                 "constexpr auto katana_describe(const {0}*) {{\n"
                 "  return []<class S = {0}>() {{\n"
                 "    using namespace ::katana::rules;\n"
                 "    return ::katana::rules::describe({1}",
                 type.name, type.strict ? "::katana::rules::refuse_unknown" : "");
  const char* between = type.strict ? ",\n        " : "\n        ";
  for (const Member& each : type.members) {
    fmt::format_to(put, "{0}::katana::rules::field(&S::{1}, \"{1}\"{2}{3})", between, each.name,
                   each.rules.empty() ? "" : ", ", fmt::join(each.rules, ", "));
    between = ",\n        ";
  }
  text += ");\n  };\n}\n";
}

void Types::describe(std::size_t index) {
  std::string& text = texts_[declared_[index].home];
  Declared& type = declared_[index];
  if (type.described) return;
  type.described = true;
  if (type.form == Form::alias) {
    for (const Use& each : type.alias.uses) describe(each.type);
    return;
  }
  if (type.form == Form::variant) {
    for (const auto& [part, name] : type.alternatives) describe(part);
    fmt::format_to(std::back_inserter(text), "KATANA_DESCRIBE_VARIANT({}, {}", type.name,
                   literal(type.discriminator));
    for (const auto& [part, name] : type.alternatives) {
      fmt::format_to(std::back_inserter(text), ",\n                        ({}, {})",
                     declared_[part].name, literal(name));
    }
    text += ")\n";
    return;
  }
  if (type.form != Form::structure) return;
  for (const Member& each : type.members) {
    for (const Use& use : each.type.uses) describe(use.type);
  }
  describe_struct(type, text);
  if (declares_json_ && (type.home == shared_types || type.in_large_json)) {
    fmt::format_to(std::back_inserter(text), "KATANA_DECLARE_JSON({})\n", type.name);
    json_in_sources_[type.home].push_back({type.name, json_cost * (1 + type.members.size())});
  }
  if (type.in_large_form) {
    fmt::format_to(std::back_inserter(text), "KATANA_DECLARE_FORM({})\n", type.name);
    forms_in_sources_[type.home].push_back({type.name, form_cost * (1 + type.members.size())});
  }
  if (type.separators.empty()) return;
  fmt::format_to(std::back_inserter(text),
                 "constexpr auto katana_separators(const {}*) {{\n  return std::array{{",
                 type.name);
  const char* between = "";
  for (const auto& [name, separator] : type.separators) {
    const std::string by = separator == nested_names ? "katana::nested_names"
                           : separator == own_names  ? "katana::own_names"
                           : separator == '\t'       ? "'\\t'"
                                                     : fmt::format("'{}'", separator);
    fmt::format_to(std::back_inserter(text), "{}katana::Separator{{{}, {}}}", between,
                   literal(name), by);
    between = ", ";
  }
  text += "};\n}\n";
}

std::vector<std::size_t> Types::used_by(const Declared& type) const {
  std::vector<std::size_t> used;
  const auto add = [&](const TypeText& text) {
    for (const Use& each : text.uses) used.push_back(each.type);
  };
  for (const Member& each : type.members) add(each.type);
  for (const auto& [part, name] : type.alternatives) used.push_back(part);
  add(type.alias);
  return used;
}

std::vector<std::size_t> Types::all_in(Bytes name) const {
  const auto root = std::ranges::find(declared_, name, &Declared::name);
  if (root == declared_.end()) return {};
  std::vector<char> seen(declared_.size());
  std::vector<std::size_t> open = {static_cast<std::size_t>(root - declared_.begin())};
  std::vector<std::size_t> all;
  while (!open.empty()) {
    const std::size_t index = open.back();
    open.pop_back();
    if (std::exchange(seen[index], 1) != 0) continue;
    all.push_back(index);
    for (const std::size_t each : used_by(declared_[index])) open.push_back(each);
  }
  return all;
}

std::size_t Types::weight_of(Bytes name) const {
  std::size_t weight = 0;
  for (const std::size_t each : all_in(name)) weight += declared_[each].members.size();
  return weight;
}

void Types::declare_form(Bytes name) {
  for (const std::size_t each : all_in(name)) declared_[each].in_large_form = true;
}

void Types::declare_json_of(Bytes name) {
  for (const std::size_t each : all_in(name)) declared_[each].in_large_json = true;
}

// The form itself is no JSON.
void Types::declare_json_in(Bytes form) {
  for (const std::size_t each : all_in(form)) {
    if (declared_[each].name != form) declared_[each].in_large_json = true;
  }
}

void Types::find_homes() {
  std::vector<std::set<Bytes>> tags(declared_.size());
  for (const auto& [tag, roots] : roots_) {
    std::vector<std::size_t> open(roots.begin(), roots.end());
    while (!open.empty()) {
      const std::size_t index = open.back();
      open.pop_back();
      if (!tags[index].insert(tag).second) continue;
      for (const std::size_t each : used_by(declared_[index])) open.push_back(each);
    }
  }
  for (std::size_t index = 0; index < declared_.size(); ++index) {
    const std::set<Bytes>& users = tags[index];
    declared_[index].home = users.empty()       ? other_types
                            : users.size() == 1 ? std::string(*users.begin())
                                                : shared_types;
  }
}

void Types::emit_enumerations() {
  for (Declared& each : declared_) {
    if (each.form != Form::enumeration) continue;
    std::string& text = texts_[each.home];
    each.state = 2;
    fmt::format_to(std::back_inserter(text), "enum class {} {{\n", each.name);
    for (const auto& [name, json] : each.names) {
      fmt::format_to(std::back_inserter(text), "  {},\n", name);
    }
    fmt::format_to(std::back_inserter(text), "}};\nKATANA_DESCRIBE_ENUM({}", each.name);
    for (const auto& [name, json] : each.names) {
      fmt::format_to(std::back_inserter(text), ",\n    ({}, {})", name, literal(json));
    }
    text += ")\n\n";
  }
}

bool Types::is_choice(const Declared& type) const {
  const auto has = [](const TypeText& text) {
    return text.text.find("katana::AnyOf<") != std::string::npos;
  };
  return type.form == Form::variant || has(type.alias) ||
         std::ranges::any_of(type.members, [&](const Member& each) { return has(each.type); });
}

// The strongly connected components of the graph of uses (Tarjan's algorithm).
void Types::find_circles() {
  struct Visit {
    std::size_t type;
    std::vector<std::size_t> used;
    std::size_t next = 0;
  };
  constexpr std::size_t unseen = SIZE_MAX;
  std::vector<std::size_t> order(declared_.size(), unseen);
  std::vector<std::size_t> lowest(declared_.size());
  std::vector<char> is_open(declared_.size());
  std::vector<std::size_t> open;
  std::size_t count = 0;
  const auto enter = [&](std::vector<Visit>& visits, std::size_t type) {
    order[type] = lowest[type] = count++;
    open.push_back(type);
    is_open[type] = 1;
    visits.push_back({type, used_by(declared_[type])});
  };
  const auto leave = [&](std::size_t type) {
    if (lowest[type] != order[type]) return;
    bool choice = false;
    std::size_t each;
    do {
      each = open.back();
      open.pop_back();
      is_open[each] = 0;
      declared_[each].circle = type;
      circles_[type].push_back(each);
      choice = choice || is_choice(declared_[each]);
    } while (each != type);
    if (choice) circles_with_choices_.insert(type);
  };
  for (std::size_t root = 0; root < declared_.size(); ++root) {
    std::vector<Visit> visits;
    if (order[root] == unseen) enter(visits, root);
    while (!visits.empty()) {
      Visit& visit = visits.back();
      const std::size_t type = visit.type;
      if (visit.next < visit.used.size()) {
        const std::size_t used = visit.used[visit.next++];
        if (order[used] == unseen) {
          enter(visits, used);
        } else if (is_open[used] != 0) {
          lowest[type] = std::min(lowest[type], order[used]);
        }
        continue;
      }
      leave(type);
      visits.pop_back();
      if (visits.empty()) continue;
      std::size_t& outer = lowest[visits.back().type];
      outer = std::min(outer, lowest[type]);
    }
  }
}

// A compiler that reads an initialiser within a struct asks whether the member can be made. This
// clang cannot know of types that contain one another: of a choice among them, and of a list of an
// incomplete type.
bool Types::needs_initialiser(const Declared& type, const Member& member) const {
  const bool leads_back = std::ranges::any_of(member.type.uses, [&](const Use& each) {
    return declared_[each.type].circle == type.circle;
  });
  if (!leads_back) return true;
  if (circles_with_choices_.contains(type.circle)) return false;
  return member.type.text.starts_with("katana::Box<") ||
         std::ranges::all_of(circles_.at(type.circle), [&](std::size_t each) {
           return &declared_[each] == &type || declared_[each].state == 2;
         });
}

std::map<std::string, std::string> Types::texts() {
  find_homes();
  find_circles();
  for (Declared& each : declared_) {
    if (each.form == Form::structure) {
      fmt::format_to(std::back_inserter(texts_[each.home]), "struct {};\n", each.name);
    }
  }
  for (auto& [home, text] : texts_) text += '\n';
  emit_enumerations();
  for (std::size_t index = 0; index < declared_.size(); ++index) {
    emit_name(index);
    if (declared_[index].form == Form::structure) emit(index);
  }
  for (std::size_t index = 0; index < declared_.size(); ++index) describe(index);
  return texts_;
}

}  // namespace katana::openapi::generate

// SPDX-License-Identifier: Apache-2.0
