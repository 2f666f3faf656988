#include "katana/openapi/generate/coverage.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "katana/data/schema/formats.hpp"
#include "katana/openapi/generate/schema_access.hpp"
#include "katana/openapi/model/keywords.hpp"

namespace katana::openapi::generate {
namespace {

using container::Object;
using container::Value;
using model::About;
using model::InTypes;
using model::Keyword;

constexpr const char* remedy =
    "Have ContractRoutes (katana/openapi/validation/contract_routes.hpp) check the JSON against "
    "the description";

bool has_any(const std::vector<std::string>& types, std::initializer_list<Bytes> wanted) {
  return types.empty() || std::ranges::any_of(types, [&](const std::string& each) {
           return std::ranges::find(wanted, Bytes(each)) != wanted.end();
         });
}

// Whether data of the schema's types can break the keyword at all.
bool is_about(About about, const std::vector<std::string>& types) {
  switch (about) {
    case About::text: return has_any(types, {"string"});
    case About::number: return has_any(types, {"integer", "number"});
    case About::list: return has_any(types, {"array"});
    case About::object: return has_any(types, {"object"});
    case About::any: break;
  }
  return true;
}

// Whether everything fits it, by its value alone.
bool is_without_effect(const Keyword& keyword, const Object& schema, const Value& value) {
  const auto is_zero = [&] { return value.get_integer() == std::int64_t{0}; };
  const Object* const object = value.get_object();
  if (keyword.form == model::KeywordForm::schema && keyword.name != "not") {
    const bool conditional = keyword.name == "if" || keyword.name == "contains";
    if (!conditional && (value == Value(true) || (object != nullptr && object->empty()))) {
      return true;
    }
  }
  if (keyword.name == "uniqueItems") return value == Value(false);
  if (keyword.name.starts_with("min") && keyword.form == model::KeywordForm::natural) {
    return is_zero() || (keyword.name == "minContains" && schema.find("contains") == nullptr);
  }
  if (keyword.name == "maxContains") return schema.find("contains") == nullptr;
  if (keyword.name == "then" || keyword.name == "else") return schema.find("if") == nullptr;
  if (keyword.name == "if") {
    return schema.find("then") == nullptr && schema.find("else") == nullptr;
  }
  // The reader takes the ones that no check is known for as notes.
  if (keyword.name == "format") {
    return value.kind() != container::Kind::text ||
           schema::format_check(value.as_text()) == nullptr;
  }
  const container::List* const list = value.get_list();
  if (keyword.name == "required" || keyword.name == "prefixItems") {
    return list != nullptr && list->empty();
  }
  return object != nullptr && object->empty() && keyword.form == model::KeywordForm::map;
}

std::string shown(Bytes keyword, const Value& value) {
  const bool is_text = value.kind() == container::Kind::text;
  return is_text ? fmt::format("the {} '{}'", keyword, value.as_text())
                 : fmt::format("'{}'", keyword);
}

}  // namespace

void Coverage::report(const Description& api, model::Problems& problems) const {
  for (const std::string& pointer : visited_) {
    const Value* const value = api.schemas.at(pointer);
    const Object* const schema = value == nullptr ? nullptr : value->get_object();
    if (schema == nullptr) continue;
    bool nullable = false;
    const std::vector<std::string> types = types_of(*schema, nullable);
    for (const container::Member& each : *schema) {
      const Keyword* const keyword = model::keyword_of(each.name);
      // A name that is no keyword got its warning from the reader.
      if (keyword == nullptr || keyword->in_types == InTypes::annotation ||
          keyword->in_types == InTypes::resolved) {
        continue;
      }
      const KeywordAt at(pointer, each.name);
      const auto missed = missed_.find(at);
      if (missed == missed_.end() && covered_.contains(at)) continue;
      if (!is_about(keyword->about, types)) continue;
      if (is_without_effect(*keyword, *schema, each.value)) continue;
      const std::string where = missed == missed_.end() ? std::string() : " " + missed->second;
      problems.warning(api.locate(below(pointer, each.name)),
                       fmt::format("{} is not checked by its type{}. {}",
                                   shown(each.name, each.value), where, remedy));
    }
  }
}

}  // namespace katana::openapi::generate

// SPDX-License-Identifier: Apache-2.0
