#include "katana_tool/sql/matching.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "katana_tool/sql/sql_tokens.hpp"

namespace katana::tool::sql {
namespace {

std::string_view last_name(std::string_view type) {
  type = type.substr(0, type.find('<'));
  const std::size_t at = type.rfind("::");
  return at == type.npos ? type : type.substr(at + 2);
}

bool is_possible(const Literal& literal, const std::string& text, const Record& record) {
  const bool ours = literal.call == "query" || literal.call == "query_one" ||
                    literal.call == "execute" || literal.call == "stream";
  if (record.call != (ours ? std::string_view(literal.call) : "any")) return false;
  if (record.length ? literal.constant || *record.length != text.size() : !literal.constant) {
    return false;
  }
  return parameter_count(text) == record.parameters.size();
}

// The type that the sources call so, as far as is known from its name.
std::string_view type_called(std::string_view name) {
  static const std::map<std::string_view, std::string_view> names = {
      {"int64_t", "i64"}, {"int", "i32"},        {"int32_t", "i32"},
      {"int16_t", "i16"}, {"uint32_t", "u32"},   {"bool", "bool"},
      {"double", "f64"},  {"float", "f32"},      {"string", "text"},
      {"Text", "text"},   {"long", "i64"},       {"text", "text"},
      {"vector", "blob"}, {"Uuid", "Uuid"},      {"Timestamp", "time_point"},
      {"Date", "Date"},   {"Decimal", "Decimal"}};
  const auto known = names.find(name);
  return known != names.end() ? known->second : std::string_view();
}

bool contradicts(std::string_view name, const CppType& type) {
  if (name == "optional") return !type.optional;
  const std::string_view known = type_called(name);
  return !known.empty() &&
         (type.optional ||
          (type.name != known && type.name.find("::" + std::string(known)) == type.name.npos));
}

bool has_row(const Literal& literal, const Record& record) {
  if (literal.row.empty()) return record.row.empty();
  if (record.row == "struct") return last_name(record.row_type) == literal.row;
  if (record.row == "value") {
    return !type_called(literal.row).empty() &&
           !contradicts(literal.row, record.members.at(0).type);
  }
  return record.row == "tuple" && literal.row == "tuple" &&
         std::ranges::equal(literal.elements, record.members,
                            [](const std::string& element, const Member& member) {
                              return !contradicts(element, member.type);
                            });
}

bool has_arguments(const Literal& literal, const Record& record) {
  if (literal.arguments.size() != record.arguments) return false;
  if (record.arguments != record.parameters.size()) return true;  // one is a struct
  return std::ranges::equal(literal.arguments, record.parameters,
                            [](const std::string& argument, const CppType& type) {
                              return !contradicts(argument, type);
                            });
}

// build/…/src/app.cpp.o is of src/app.cpp. Objects of several sources (a unity build) are of none.
bool is_object_of(const Literal& literal, const Record& record) {
  const std::string name = "/" + literal.file.substr(literal.file.rfind('/') + 1) + ".o";
  return std::ranges::any_of(record.objects,
                             [&](const std::string& object) { return object.ends_with(name); });
}

// Keeps only the likely entries, if there are any: an alias of a type has another name.
template <class Each, class Holds>
void prefer(std::vector<const Each*>& list, Holds holds) {
  if (std::ranges::any_of(list, holds)) std::erase_if(list, std::not_fn(holds));
}

// "app::queries" with "queries".
bool ends_with_scope(std::string_view scope, std::string_view qualifier) {
  return scope == qualifier || scope.ends_with("::" + std::string(qualifier));
}
// "app::queries" in "app", and each in the global namespace.
bool is_within(std::string_view scope, std::string_view outer) {
  return outer.empty() || scope == outer || scope.starts_with(std::string(outer) + "::");
}

// src/notes.hpp is the header of src/notes.cpp.
std::string_view without_ending(std::string_view file) { return file.substr(0, file.rfind('.')); }

// The constant that a name stands for, as the compiler looks it up. The innermost block around the
// use goes first, then the namespaces and classes of its file, then those of other files.
const Literal* constant_of(const Literal& use, std::vector<const Literal*> constants,
                           const std::vector<Record>& records) {
  const auto is_here = [&](const Literal* each) { return each->file == use.file; };
  const auto is_around = [&](const Literal* each) {
    return is_here(each) && each->scope.begin < use.scope.begin &&
           use.scope.begin < each->scope.end;
  };
  std::erase_if(constants,
                [&](const Literal* each) { return each->scope.local && !is_around(each); });
  if (use.qualifier.empty()) {
    prefer(constants, is_around);
    prefer(constants,
           [&](const Literal* each) { return is_within(use.scope.name, each->scope.name); });
  } else {
    prefer(constants,
           [&](const Literal* each) { return ends_with_scope(each->scope.name, use.qualifier); });
  }
  prefer(constants, is_here);
  if (constants.empty()) return nullptr;
  if (is_here(constants.front())) {
    return *std::ranges::max_element(constants, {}, [](const Literal* each) {
      return std::pair(each->scope.name.size(), each->scope.begin);
    });
  }
  prefer(constants, [&](const Literal* each) {
    return without_ending(each->file) == without_ending(use.file);
  });
  prefer(constants, [&](const Literal* each) {
    return std::ranges::any_of(
        records, [&](const Record& record) { return is_possible(use, each->text, record); });
  });
  return constants.back();
}

}  // namespace

std::size_t parameter_count(std::string_view text) {
  std::size_t highest = 0;
  for (const SqlToken& each : sql_tokens_of(text).tokens) {
    highest = std::max(highest, each.parameter);
  }
  return highest;
}

Matching match(const std::vector<Literal>& literals, const std::vector<Record>& records) {
  std::map<std::string_view, std::vector<const Literal*>> constants;
  for (const Literal& each : literals) {
    if (each.call == "Sql" && !each.name.empty()) constants[each.name].push_back(&each);
  }
  Matching made;
  std::set<const Record*> seen;
  for (const Literal& literal : literals) {
    if (literal.call == "Sql") continue;
    Match one{{&literal, nullptr}, {}};
    if (!literal.name.empty()) {
      const auto named = constants.find(literal.name);
      if (named == constants.end()) continue;
      one.statement.constant = constant_of(literal, named->second, records);
      if (one.statement.constant == nullptr) continue;
    }
    for (const Record& record : records) {
      if (is_possible(literal, one.statement.text(), record)) one.records.push_back(&record);
    }
    if (one.records.empty()) continue;  // it is not called
    prefer(one.records, [&](const Record* each) { return is_object_of(literal, *each); });
    prefer(one.records, [&](const Record* each) { return has_row(literal, *each); });
    if (!literal.expanded) {
      prefer(one.records, [&](const Record* each) { return has_arguments(literal, *each); });
    }
    seen.insert(one.records.begin(), one.records.end());
    made.matches.push_back(std::move(one));
  }
  for (const Record& record : records) {
    if (!seen.contains(&record)) made.unmatched.push_back(&record);
  }
  return made;
}

}  // namespace katana::tool::sql

// SPDX-License-Identifier: Apache-2.0
