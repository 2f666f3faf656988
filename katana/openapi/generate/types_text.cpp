#include <fmt/format.h>

#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

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

bool Types::is_list_of_text_values(const TypeText& type) const {
  const TypeText& list = underlying(type);
  if (!list.text.starts_with("std::vector<") || list.text == "std::vector<std::byte>") return false;
  TypeText item = list;
  item.text = list.text.substr(12, list.text.size() - 13);
  return is_text_value(item);
}

std::string Types::member_type(const Member& member) const {
  const char* const wrapper = member.patch ? "katana::Patch<" : "std::optional<";
  return member.optional ? wrapper + member.type.text + ">" : member.type.text;
}

void Types::emit_struct(Declared& type, std::string& text) {
  fmt::format_to(std::back_inserter(text), "struct {} {{\n", type.name);
  for (Member& each : type.members) {
    const std::string line = "  " + member_type(each) + " " + each.name;
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

// Depth first: what has to be complete comes before. Where that leads back to itself, the member
// becomes any JSON value.
void Types::emit(std::size_t index) {
  std::string& text = texts_[declared_[index].home];
  if (declared_[index].state != 0) return;
  declared_[index].state = 1;
  const auto ready = [&](TypeText& type) {
    for (const Use& each : type.uses) {
      const Form form = declared_[each.type].form;
      const bool forward = form == Form::structure && !each.complete;
      if (forward) continue;
      emit(each.type);
      if (declared_[each.type].state == 2) continue;
      warn(declared_[index].pointer, "a type that contains itself is any JSON value there");
      type = any();
      return false;
    }
    return true;
  };
  switch (declared_[index].form) {
    case Form::structure:
      for (std::size_t member = 0; member < declared_[index].members.size(); ++member) {
        TypeText type = declared_[index].members[member].type;
        if (!ready(type)) {
          Member& broken = declared_[index].members[member];
          broken.type = type;
          broken.rules.clear();
          broken.optional = broken.patch;
          if (broken.name != broken.json) {
            broken.rules.push_back("named(" + literal(broken.json) + ")");
          }
        }
      }
      emit_struct(declared_[index], text);
      break;
    case Form::variant: {
      std::vector<std::string> names;
      for (const auto& [part, name] : declared_[index].alternatives) {
        emit(part);
        names.push_back(declared_[part].name);
      }
      fmt::format_to(std::back_inserter(text), "using {} = std::variant<{}>;\n\n",
                     declared_[index].name, fmt::join(names, ", "));
      break;
    }
    default: {
      TypeText type = declared_[index].alias;
      ready(type);
      declared_[index].alias = type;
      fmt::format_to(std::back_inserter(text), "using {} = {};\n\n", declared_[index].name,
                     type.text);
      break;
    }
    case Form::enumeration: break;  // in front of all
  }
  declared_[index].state = 2;
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
  fmt::format_to(std::back_inserter(text), "KATANA_DESCRIBE{}({}", type.strict ? "_STRICT" : "",
                 type.name);
  for (const Member& each : type.members) {
    if (each.rules.empty()) {
      fmt::format_to(std::back_inserter(text), ",\n    {}", each.name);
    } else {
      fmt::format_to(std::back_inserter(text), ",\n    ({}, {})", each.name,
                     fmt::join(each.rules, ", "));
    }
  }
  text += ")\n";
  if (type.separators.empty()) return;
  fmt::format_to(std::back_inserter(text),
                 "constexpr auto katana_separators(const {}*) {{\n  return std::array{{",
                 type.name);
  const char* between = "";
  for (const auto& [name, separator] : type.separators) {
    fmt::format_to(std::back_inserter(text), "{}katana::Separator{{{}, '{}'}}", between,
                   literal(name), separator == '\t' ? "\\t" : std::string(1, separator));
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

std::map<std::string, std::string> Types::texts() {
  find_homes();
  for (Declared& each : declared_) {
    if (each.form == Form::structure) {
      fmt::format_to(std::back_inserter(texts_[each.home]), "struct {};\n", each.name);
    }
  }
  for (auto& [home, text] : texts_) text += '\n';
  emit_enumerations();
  for (std::size_t index = 0; index < declared_.size(); ++index) emit(index);
  for (std::size_t index = 0; index < declared_.size(); ++index) describe(index);
  return texts_;
}

}  // namespace katana::openapi::generate

// SPDX-License-Identifier: Apache-2.0
