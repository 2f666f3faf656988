// Invariant: for any request, a contract gives the same result twice. A request that fits has no
// violations.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/openapi/contract/contract.hpp"

namespace {

using namespace katana;

constexpr const char* text = R"(openapi: 3.1.0
info: {title: t, version: "1"}
paths:
  /x/{a}.{b}/{c}:
    post:
      parameters:
        - {name: a, in: path, required: true, schema: {type: integer}}
        - {name: b, in: path, required: true, style: label, schema: {type: array, items: {}}}
        - {name: c, in: path, required: true, style: matrix, explode: true, schema: {type: object}}
        - {name: q, in: query, schema: {type: [integer, string], minimum: 3}}
        - {name: l, in: query, schema: {type: array, items: {type: number}, uniqueItems: true}}
        - {name: p, in: query, style: pipeDelimited, explode: false, schema: {type: array}}
        - {name: d, in: query, style: deepObject, schema: {type: object, maxProperties: 2}}
        - {name: o, in: query, schema: {type: object, properties: {m: {type: boolean}}}}
        - {name: j, in: query, content: {application/json: {schema: {type: object}}}}
        - name: h
          in: header
          explode: true
          schema: {type: object, properties: {k: {type: integer}}}
        - {name: k, in: cookie, schema: {type: string, pattern: '^[a-z]*$'}}
      requestBody:
        content:
          application/json: {schema: {type: object, required: [a], properties: {a: {type: array}}}}
          application/x-www-form-urlencoded:
            schema: {type: object, properties: {a: {type: array}}}
          multipart/form-data: {schema: {type: object, properties: {a: {type: integer}}}}
      responses: {default: {description: any}}
)";

const openapi::Contract& contract() {
  static const openapi::Contract made = [] {
    openapi::model::Problems problems;
    const auto description = openapi::read_description_text("x.yaml", text, problems);
    auto compiled = openapi::Contract::compile(description);
    if (problems.has_errors() || !compiled) std::abort();
    return *std::move(compiled);
  }();
  return made;
}

class OneText final : public openapi::Fields {
 public:
  OneText(Bytes type, Bytes value) noexcept : type_(type), value_(value) {}
  std::optional<Bytes> find(Bytes name) const override {
    return name == "content-type" ? type_ : value_;
  }

 private:
  Bytes type_, value_;
};

// Up to the next zero.
Bytes take(Bytes& left) {
  const std::size_t end = std::min(left.find('\0'), left.size());
  const Bytes piece = left.substr(0, end);
  left.remove_prefix(std::min(end + 1, left.size()));
  return piece;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes left(reinterpret_cast<const char*>(data), size);
  const std::string path = "/x/" + std::string(take(left));
  const Bytes query = take(left);
  const Bytes field = take(left);
  const Bytes type = take(left);
  const OneText fields(type, field);
  const auto found = contract().find("POST", path);
  const openapi::ContractOperation& operation =
      found.operation != nullptr ? *found.operation : contract().operations().front();
  std::string said;
  for (int turn = 0; turn < 2; ++turn) {
    openapi::Violations violations;
    const bool fits = operation.check_request(
        {.path = found.values, .query = query, .fields = fields, .content = left}, violations);
    if (fits != violations.empty()) std::abort();
    if (turn == 1 && said != violations.describe()) std::abort();
    said = violations.describe();
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
