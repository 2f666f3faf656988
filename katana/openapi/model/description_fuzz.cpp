// Invariant, for a description of any bytes in up to three files: every problem has words and a
// place. Every schema of the model is in its document, and each reference of that document
// resolves. Reading again gives the same.
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "katana/base/system/check.hpp"
#include "katana/data/container/json_write.hpp"
#include "katana/data/schema/uri.hpp"
#include "katana/openapi/model/description.hpp"

namespace {

using namespace katana;
using namespace katana::openapi::model;
using katana::openapi::Description;  // not the template of base/values/described.hpp

void check_references(const container::Value& root, const container::Value& schema);

void check_all(const container::Value& root, const container::Value* among) {
  if (among == nullptr) return;
  if (const container::List* const list = among->get_list()) {
    for (const container::Value& each : *list) check_references(root, each);
  } else if (const container::Object* const object = among->get_object()) {
    for (const container::Member& each : *object) check_references(root, each.value);
  }
}

void check_references(const container::Value& root, const container::Value& schema) {
  const container::Object* const object = schema.get_object();
  if (object == nullptr) return;
  if (const container::Value* const reference = object->find("$ref")) {
    KATANA_CHECK(root.at(schema::fragment_of(reference->as_text())) != nullptr);
  }
  for (const char* const key : {"items", "additionalProperties", "not", "if", "then", "else"}) {
    if (const container::Value* const inner = object->find(key)) check_references(root, *inner);
  }
  for (const char* const key : {"allOf", "anyOf", "oneOf", "prefixItems", "properties"}) {
    check_all(root, object->find(key));
  }
}

void check_schema(const Description& api, const std::optional<SchemaAt>& schema) {
  if (!schema) return;
  KATANA_CHECK(api.schema(*schema) != nullptr);
  KATANA_CHECK(api.locate(schema->pointer).source != nullptr);
}

void check_operation(const Description& api, const Operation& operation) {
  for (const Parameter& each : operation.parameters) check_schema(api, each.schema);
  if (operation.body) {
    for (const MediaType& each : operation.body->content) check_schema(api, each.schema);
  }
  for (const Reply& reply : operation.replies) {
    KATANA_CHECK(operation.reply_of(reply.code() == 0 ? 599 : reply.code()) != nullptr ||
                 reply.code() == 0);
    for (const MediaType& each : reply.content) check_schema(api, each.schema);
    for (const Header& each : reply.headers) check_schema(api, each.schema);
  }
}

std::string text_of(const Description& api, const Problems& problems) {
  std::string text = container::to_json(api.schemas);
  for (const PathItem& item : api.paths) {
    for (const Operation& each : item.operations) {
      check_operation(api, each);
      text += each.method + each.path + each.id + each.location.describe();
    }
  }
  for (const Problem& each : problems.sorted()) {
    KATANA_CHECK(!each.words.empty());
    text += each.describe() + '\n';
  }
  return text;
}

std::string read(Bytes input) {
  std::map<std::string, std::string> files;
  for (const char* const name : {"a.yaml", "b.yaml", "c.json"}) {
    const std::size_t end = input.find('\x1e');  // a record separator, which no text has
    files[name] = input.substr(0, end);
    input.remove_prefix(end == Bytes::npos ? input.size() : end + 1);
  }
  Options options;
  options.limits = {
      .files_max = 8, .nodes_max = 20'000, .schemas_max = 20'000, .objects_max = 20'000};
  options.load = [&files](const std::string& path) -> Result<std::string> {
    const auto found = files.find(path);
    if (found == files.end()) return fail(Code::not_found, "no file");
    return found->second;
  };
  Problems problems;
  const Description api = read_description("a.yaml", problems, std::move(options));
  check_all(api.schemas, api.schemas.at("/components/schemas"));
  check_all(api.schemas, api.schemas.at("/inline"));
  if (!problems.has_errors()) {
    for (const NamedSchema& each : api.schema_names) {
      KATANA_CHECK(api.schema(each.at) != nullptr);
    }
  }
  return text_of(api, problems);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes input(reinterpret_cast<const char*>(data), size);
  KATANA_CHECK(read(input) == read(input));
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
