// Reads the parts of Swagger 2.0 that differ from OpenAPI 3. Content stands in `consumes` and
// `produces`, bodies and forms stand among the parameters, and servers have three parts. Schemas
// are spread over parameters.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "katana/openapi/model/reader.hpp"

namespace katana::openapi::model {
namespace {

constexpr Bytes form_type = "application/x-www-form-urlencoded";
constexpr Bytes multipart_type = "multipart/form-data";

constexpr Bytes schema_keywords[] = {
    "type",     "format",           "items",     "default",    "maximum",    "exclusiveMaximum",
    "minimum",  "exclusiveMinimum", "maxLength", "minLength",  "pattern",    "maxItems",
    "minItems", "uniqueItems",      "enum",      "multipleOf", "x-nullable", "example",
};

bool is_schema_keyword(Bytes name) {
  return std::ranges::find(schema_keywords, name) != std::end(schema_keywords);
}

Node text_node(Bytes text, Position position) {
  Node node;
  node.kind = Node::Kind::text;
  node.position = position;
  node.text = text;
  return node;
}

void add(Node& object, Bytes name, Node value) {
  object.keys.push_back({std::string(name), value.position});
  object.items.push_back(std::move(value));
}

}  // namespace

NodeAt Reader::keep(const NodeAt& place, Node node) {
  api_.made_nodes->push_back(std::move(node));
  return place.to(api_.made_nodes->back());
}

void Reader::read_swagger_root(Fields& root) {
  if (root.has("consumes")) consumes_ = root.texts("consumes");
  if (root.has("produces")) produces_ = root.texts("produces");
  const std::string host = root.text("host");
  const std::string base = root.text("basePath");
  std::vector<std::string> schemes = root.texts("schemes");
  if (schemes.empty() && !host.empty()) schemes.emplace_back("https");
  if (host.empty()) schemes.assign(base.empty() ? 0 : 1, "");
  for (const std::string& scheme : schemes) {
    Server& server = api_.servers.emplace_back();
    server.url = host.empty() ? base : fmt::format("{}://{}{}", scheme, host, base);
    while (server.url.size() > 1 && server.url.ends_with('/')) server.url.pop_back();
    server.location = root.location();
  }
  if (const NodeAt schemas = root.object("definitions")) schemas_->add_components(schemas);
  if (const NodeAt all = root.object("securityDefinitions")) {
    for_each_entry(all, [&](const Node::Key& key, const NodeAt& each) {
      api_.security_schemes.push_back(read_scheme(key.name, each));
    });
  }
  // Parts that are not used are read for their problems alone.
  if (const NodeAt all = root.object("parameters")) {
    for_each_entry(all, [&](const Node::Key&, const NodeAt& each) {
      if (const Target target = follow(each); target.node) read_parameter(target);
    });
  }
  if (const NodeAt all = root.object("responses")) {
    for_each_entry(all,
                   [&](const Node::Key&, const NodeAt& each) { read_reply("default", each, {}); });
  }
}

void Reader::read_swagger_scheme(SecurityScheme& scheme, Fields& fields) {
  const std::string type = fields.text("type");
  if (type == "basic") {
    scheme.scheme = "basic";
  } else if (type == "oauth2") {
    scheme.kind = SecurityScheme::Kind::oauth2;
    const std::string flow = fields.need_text("flow");
    const std::string kind = flow == "application"  ? "clientCredentials"
                             : flow == "accessCode" ? "authorizationCode"
                                                    : flow;
    scheme.flows.push_back(read_flow(kind, fields));
  } else if (!type.empty()) {
    problems_.error(fields.location(), fmt::format("unknown type '{}' of a security scheme. Use "
                                                   "basic, apiKey or oauth2",
                                                   type));
  }
}

Node Reader::schema_of_parameter(const Node& parameter) const {
  Node schema;
  schema.kind = Node::Kind::object;
  schema.position = parameter.position;
  for (std::size_t index = 0; index < parameter.items.size(); ++index) {
    const Node::Key& key = parameter.keys[index];
    if (!is_schema_keyword(key.name)) continue;
    schema.keys.push_back(key);
    schema.items.push_back(parameter.items[index]);
  }
  // `collectionFormat` of items is how they are written, which has no place in a schema.
  for (Node* level = &schema; level != nullptr;) {
    Node* const items = const_cast<Node*>(level->find("items"));  // of the copy, which is ours
    level = items;
    if (items == nullptr) break;
    for (std::size_t index = 0; index < items->keys.size(); ++index) {
      if (items->keys[index].name != "collectionFormat") continue;
      items->keys.erase(items->keys.begin() + static_cast<std::ptrdiff_t>(index));
      items->items.erase(items->items.begin() + static_cast<std::ptrdiff_t>(index));
      break;
    }
  }
  return schema;
}

void Reader::read_swagger_style(Parameter& parameter, Fields& fields) {
  const bool in_text = parameter.in == In::query || parameter.in == In::cookie;
  parameter.style = in_text ? Style::form : Style::simple;
  parameter.explode = false;
  const std::string format = fields.text("collectionFormat");
  if (format == "multi" && in_text) {
    parameter.explode = true;
  } else if (format == "ssv" && in_text) {
    parameter.style = Style::space_delimited;
  } else if (format == "pipes" && in_text) {
    parameter.style = Style::pipe_delimited;
  } else if (format == "tsv" && in_text) {
    parameter.style = Style::tab_delimited;
  } else if (!format.empty() && format != "csv") {
    problems_.error(fields.any("collectionFormat").location(),
                    fmt::format("a {} parameter cannot have the collectionFormat '{}'",
                                in_name(parameter.in), format));
  }
  for (const Bytes keyword : schema_keywords) {
    if (keyword != "example") fields.any(keyword);
  }
  if (const NodeAt example = fields.any("example")) {
    Example& one = parameter.examples.emplace_back();
    one.location = example.location();
    one.raw = std::shared_ptr<const Node>(example.source, example.node);
  }
  if (!fields.has("type")) {
    if (fields.has("schema")) {  // many write so, and it can mean one thing only
      const NodeAt schema = fields.any("schema");
      problems_.warning(schema.location(), "'schema' is for parameters in the body. Give 'type'");
      parameter.schema = schemas_->use(schema);
      return;
    }
    problems_.error(fields.location(), "'type' is missing in a parameter. Add it");
  }
  parameter.schema = schemas_->use(keep(fields.at(), schema_of_parameter(*fields.at().node)));
}

RequestBody Reader::read_swagger_body(const Target& target, const Names& consumes) {
  Fields fields(target.node, "a parameter", problems_);
  RequestBody body;
  body.location = fields.location();
  body.component = target.component;
  fields.text("name");
  fields.text("in");
  body.description = fields.text("description");
  body.required = fields.boolean("required");
  const NodeAt schema = fields.any("schema");
  if (!schema) problems_.error(fields.location(), "'schema' is missing in a body. Add it");
  Names types = consumes;
  if (types.empty()) types.emplace_back("application/json");
  for (const std::string& type : types) {
    MediaType& media = body.content.emplace_back();
    media.type = type;
    media.location = fields.location();
    if (schema) media.schema = schemas_->use(schema);
  }
  body.extensions = fields.finish();
  return body;
}

RequestBody Reader::read_swagger_form(const std::vector<NodeAt>& parameters,
                                      const Names& consumes) {
  RequestBody body;
  body.location = parameters.front().location();
  Node properties;
  Node required;
  properties.kind = Node::Kind::object;
  required.kind = Node::Kind::list;
  properties.position = required.position = body.location.position;
  std::vector<Encoding> encodings;
  bool has_file = false;
  for (const NodeAt& each : parameters) {
    Fields fields(each, "a parameter", problems_);
    const std::string name = fields.need_text("name");
    if (properties.find(name) != nullptr) continue;
    Node schema = schema_of_parameter(*each.node);
    if (const std::string words = fields.text("description"); !words.empty()) {
      add(schema, "description", text_node(words, each.node->position));
    }
    has_file |= fields.text("type") == "file";
    if (fields.boolean("required")) required.items.push_back(text_node(name, each.node->position));
    const std::string format = fields.text("collectionFormat");
    if (fields.text("type") == "array") {
      Encoding& encoding = encodings.emplace_back();
      encoding.property = name;
      encoding.style = format == "ssv"     ? Style::space_delimited
                       : format == "pipes" ? Style::pipe_delimited
                       : format == "tsv"   ? Style::tab_delimited
                                           : Style::form;
      encoding.explode = format == "multi";
      encoding.location = each.location();
    }
    add(properties, name, std::move(schema));
  }
  body.required = !required.items.empty();
  Node schema;
  schema.kind = Node::Kind::object;
  schema.position = body.location.position;
  add(schema, "type", text_node("object", schema.position));
  add(schema, "properties", std::move(properties));
  if (body.required) add(schema, "required", std::move(required));
  const SchemaAt at = schemas_->use(keep(parameters.front(), std::move(schema)));
  Names types;
  std::ranges::copy_if(consumes, std::back_inserter(types), [](const std::string& type) {
    return type.starts_with(form_type) || type.starts_with(multipart_type);
  });
  if (types.empty()) types.emplace_back(has_file ? multipart_type : form_type);
  for (const std::string& type : types) {
    MediaType& media = body.content.emplace_back();
    media.type = type;
    media.schema = at;
    media.encodings = encodings;
    media.location = body.location;
  }
  return body;
}

void Reader::read_swagger_content(Reply& reply, Fields& fields, const Names& produces) {
  const NodeAt schema = fields.any("schema");
  const NodeAt examples = fields.object("examples");
  if (!schema) return;
  const Node* const type = schema.node->find("type");
  const bool is_file = type != nullptr && type->text == "file";
  Names types = produces;
  if (types.empty()) types.emplace_back(is_file ? "application/octet-stream" : "application/json");
  for (const std::string& name : types) {
    MediaType& media = reply.content.emplace_back();
    media.type = name;
    media.location = schema.location();
    media.schema = schemas_->use(schema);
    if (const NodeAt example = examples ? examples.find(name) : NodeAt()) {
      Example& one = media.examples.emplace_back();
      one.location = example.location();
      one.raw = std::shared_ptr<const Node>(example.source, example.node);
    }
  }
}

}  // namespace katana::openapi::model

// SPDX-License-Identifier: Apache-2.0
