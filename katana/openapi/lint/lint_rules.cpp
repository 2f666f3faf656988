#include "katana/openapi/lint/lint_rules.hpp"

#include <fmt/format.h>

namespace katana::openapi {
namespace {

constexpr auto grave = LintSeverity::error;
constexpr auto light = LintSeverity::warning;

constexpr LintRule rules[] = {
    {"array-items", grave, "a schema of the type array says what its items are"},
    {"duplicated-entry-in-enum", light, "no value of an enum stands twice"},
    {"info-contact", light, "info has a contact"},
    {"info-description", light, "info has a description"},
    {"no-$ref-siblings", grave, "nothing stands beside a $ref (2.0, 3.0)"},
    // None of Spectral's.
    {"no-effect", light, "nothing stands there that the specification says is ignored"},
    {"no-eval-in-markdown", light, "no description or title has 'eval('"},
    {"no-script-tags-in-markdown", light, "no description or title has '<script'"},
    {"oas2-schema", grave, "the description is valid (2.0)"},
    {"oas3-api-servers", light, "there are servers"},
    {"oas3-callbacks-in-callbacks", light, "an operation of a callback has no callbacks"},
    {"oas3-examples-value-or-externalValue", light, "an example has a value or an externalValue"},
    {"oas3-operation-security-defined", light, "a security requirement names a scheme"},
    {"oas3-schema", grave, "the description is valid (3.0, 3.1)"},
    {"oas3-server-trailing-slash", light, "no URL of a server ends with '/'"},
    {"oas3-server-variables", grave, "the variables of a server are those of its URL"},
    {"oas3-unused-component", light, "every component is referred to"},
    {"oas3-valid-media-example", grave, "an example of a content or parameter fits its schema"},
    {"oas3-valid-schema-example", grave, "an example or default of a schema fits it"},
    {"oas3_1-callbacks-in-webhook", light, "an operation of a webhook has no callbacks"},
    {"oas3_1-servers-in-webhook", light, "a webhook has no servers"},
    {"openapi-tags-uniqueness", grave, "no tag is defined twice"},
    {"operation-description", light, "an operation has a description"},
    {"operation-operationId", light, "an operation has an operationId"},
    {"operation-operationId-unique", grave, "no operationId stands twice"},
    {"operation-operationId-valid-in-url", light, "an operationId can stand in a URL"},
    {"operation-parameters", light, "no parameter of an operation stands twice"},
    {"operation-success-response", light, "an operation has a reply 2xx or 3xx"},
    {"operation-tag-defined", light, "the tags of operations are defined in the document"},
    {"operation-tags", light, "an operation has tags"},
    {"path-declarations-must-exist", light, "no parameter of a path is '{}'"},
    {"path-keys-no-trailing-slash", light, "no path ends with '/'"},
    {"path-not-include-query", light, "no path has a '?'"},
    {"path-params", grave, "the parameters of a path are those of its template, and required"},
    {"typed-enum", light, "the values of an enum are of its type"},
};

}  // namespace

std::span<const LintRule> lint_rules() noexcept { return rules; }

std::string Finding::describe() const {
  return fmt::format("{}:{}:{}: {}: {}: #{}: {}", file, position.line, position.column,
                     severity == LintSeverity::error ? "error" : "warning", rule, pointer, words);
}

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
