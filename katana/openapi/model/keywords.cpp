#include "katana/openapi/model/keywords.hpp"

#include <algorithm>
#include <array>

namespace katana::openapi::model {

std::span<const Keyword> keywords() noexcept {
  using Form = KeywordForm;
  static constexpr std::array table{
      Keyword{"type", Form::special, InTypes::enforced, About::any},
      Keyword{"enum", Form::list, InTypes::enforced, About::any},
      Keyword{"const", Form::any, InTypes::enforced, About::any, true},
      Keyword{"multipleOf", Form::number, InTypes::enforced, About::number},
      Keyword{"maximum", Form::number, InTypes::enforced, About::number},
      Keyword{"minimum", Form::number, InTypes::enforced, About::number},
      Keyword{"exclusiveMaximum", Form::special, InTypes::enforced, About::number},
      Keyword{"exclusiveMinimum", Form::special, InTypes::enforced, About::number},
      Keyword{"maxLength", Form::natural, InTypes::enforced, About::text},
      Keyword{"minLength", Form::natural, InTypes::enforced, About::text},
      Keyword{"pattern", Form::text, InTypes::enforced, About::text},
      Keyword{"maxItems", Form::natural, InTypes::enforced, About::list},
      Keyword{"minItems", Form::natural, InTypes::enforced, About::list},
      Keyword{"uniqueItems", Form::boolean, InTypes::enforced, About::list},
      Keyword{"maxContains", Form::natural, InTypes::warned, About::list, true},
      Keyword{"minContains", Form::natural, InTypes::warned, About::list, true},
      Keyword{"maxProperties", Form::natural, InTypes::enforced, About::object},
      Keyword{"minProperties", Form::natural, InTypes::enforced, About::object},
      Keyword{"required", Form::names, InTypes::enforced, About::object},
      Keyword{"dependentRequired", Form::any, InTypes::warned, About::object, true},
      Keyword{"properties", Form::map, InTypes::enforced, About::object},
      Keyword{"patternProperties", Form::map, InTypes::warned, About::object, true},
      Keyword{"dependentSchemas", Form::map, InTypes::warned, About::object, true},
      Keyword{"additionalProperties", Form::schema, InTypes::enforced, About::object},
      Keyword{"propertyNames", Form::schema, InTypes::warned, About::object, true},
      Keyword{"items", Form::schema, InTypes::enforced, About::list},
      Keyword{"prefixItems", Form::schemas, InTypes::warned, About::list, true},
      Keyword{"contains", Form::schema, InTypes::warned, About::list, true},
      Keyword{"unevaluatedItems", Form::schema, InTypes::warned, About::list, true},
      Keyword{"unevaluatedProperties", Form::schema, InTypes::enforced, About::object, true},
      Keyword{"contentSchema", Form::schema, InTypes::annotation, About::any, true},
      Keyword{"contentEncoding", Form::text, InTypes::annotation, About::any, true},
      Keyword{"contentMediaType", Form::text, InTypes::annotation, About::any, true},
      Keyword{"allOf", Form::schemas, InTypes::enforced, About::any},
      Keyword{"anyOf", Form::schemas, InTypes::enforced, About::any},
      Keyword{"oneOf", Form::schemas, InTypes::enforced, About::any},
      Keyword{"not", Form::schema, InTypes::warned, About::any},
      Keyword{"if", Form::schema, InTypes::warned, About::any, true},
      Keyword{"then", Form::schema, InTypes::warned, About::any, true},
      Keyword{"else", Form::schema, InTypes::warned, About::any, true},
      Keyword{"format", Form::text, InTypes::enforced, About::text},
      Keyword{"title", Form::text, InTypes::annotation, About::any},
      Keyword{"description", Form::text, InTypes::annotation, About::any},
      Keyword{"default", Form::any, InTypes::annotation, About::any},
      Keyword{"deprecated", Form::boolean, InTypes::annotation, About::any},
      Keyword{"readOnly", Form::boolean, InTypes::annotation, About::any},
      Keyword{"writeOnly", Form::boolean, InTypes::annotation, About::any},
      Keyword{"examples", Form::any, InTypes::annotation, About::any, true},
      Keyword{"example", Form::special, InTypes::annotation, About::any},
      Keyword{"nullable", Form::dropped, InTypes::resolved, About::any},
      Keyword{"discriminator", Form::special, InTypes::enforced, About::any},
      Keyword{"xml", Form::any, InTypes::annotation, About::any},
      Keyword{"externalDocs", Form::any, InTypes::annotation, About::any},
      Keyword{"$dynamicRef", Form::special, InTypes::resolved, About::any, true},
      Keyword{"$ref", Form::dropped, InTypes::resolved, About::any},
      Keyword{"$comment", Form::text, InTypes::annotation, About::any, true},
      Keyword{"$schema", Form::special, InTypes::annotation, About::any, true},
      Keyword{"$id", Form::dropped, InTypes::resolved, About::any, true},
      Keyword{"$anchor", Form::dropped, InTypes::resolved, About::any, true},
      Keyword{"$dynamicAnchor", Form::dropped, InTypes::resolved, About::any, true},
      Keyword{"$vocabulary", Form::dropped, InTypes::annotation, About::any, true},
      Keyword{"$defs", Form::dropped, InTypes::resolved, About::any, true},
      Keyword{"definitions", Form::dropped, InTypes::resolved, About::any, true},
  };
  return table;
}

const Keyword* keyword_of(Bytes name) noexcept {
  const std::span<const Keyword> all = keywords();
  const auto found = std::ranges::find(all, name, &Keyword::name);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace katana::openapi::model

// SPDX-License-Identifier: Apache-2.0
