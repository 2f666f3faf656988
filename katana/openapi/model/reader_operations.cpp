#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "katana/openapi/model/reader.hpp"

namespace katana::openapi::model {
namespace {

constexpr int callbacks_max = 6;  // in one another

struct Method {
  Bytes key;
  const char* name;
};
constexpr std::array methods{Method{"get", "GET"},         Method{"put", "PUT"},
                             Method{"post", "POST"},       Method{"delete", "DELETE"},
                             Method{"options", "OPTIONS"}, Method{"head", "HEAD"},
                             Method{"patch", "PATCH"},     Method{"trace", "TRACE"}};

struct StyleName {
  Style style;
  Bytes name;
};
constexpr std::array styles{
    StyleName{Style::simple, "simple"},
    StyleName{Style::label, "label"},
    StyleName{Style::matrix, "matrix"},
    StyleName{Style::form, "form"},
    StyleName{Style::space_delimited, "spaceDelimited"},
    StyleName{Style::pipe_delimited, "pipeDelimited"},
    StyleName{Style::tab_delimited, "tabDelimited"},
    StyleName{Style::deep_object, "deepObject"},
};

bool fits(In in, Style style) noexcept {
  switch (in) {
    case In::path: return style == Style::simple || style == Style::label || style == Style::matrix;
    case In::query:
      return style != Style::simple && style != Style::label && style != Style::matrix;
    case In::header: return style == Style::simple;
    case In::cookie: return style == Style::form;
  }
  return false;
}

bool equals_ignoring_case(Bytes a, Bytes b) noexcept {
  return std::ranges::equal(a, b, [](char left, char right) {
    const auto lower = [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
    };
    return lower(left) == lower(right);
  });
}

std::vector<std::string> names_of(Bytes path) {
  std::vector<std::string> names;
  while (true) {
    const std::size_t open = path.find('{');
    const std::size_t close = open == Bytes::npos ? open : path.find('}', open);
    if (close == Bytes::npos) return names;
    names.emplace_back(path.substr(open + 1, close - open - 1));
    path.remove_prefix(close + 1);
  }
}

// "2XX" of "2xx"; empty: no status.
std::string status_of(Bytes key) {
  const bool digit = key.size() == 3 && key[0] >= '1' && key[0] <= '5';
  if (key == "default") return "default";
  if (!digit) return {};
  if (equals_ignoring_case(key.substr(1), "XX")) return std::string(key.substr(0, 1)) + "XX";
  const bool digits = key.find_first_not_of("0123456789") == Bytes::npos;
  return digits ? std::string(key) : std::string();
}

}  // namespace

Bytes style_name(Style style) noexcept {
  return std::ranges::find(styles, style, &StyleName::style)->name;
}

std::optional<Style> style_of(Bytes name) noexcept {
  const auto found = std::ranges::find(styles, name, &StyleName::name);
  if (found == styles.end() || found->style == Style::tab_delimited) return std::nullopt;
  return found->style;
}

Bytes in_name(In in) noexcept {
  static constexpr Bytes names[] = {"path", "query", "header", "cookie"};
  return names[static_cast<std::size_t>(in)];
}

unsigned Reply::code() const noexcept {
  if (status.size() != 3 || status.find_first_not_of("0123456789") != std::string::npos) return 0;
  return static_cast<unsigned>((status[0] - '0') * 100 + (status[1] - '0') * 10 + status[2] - '0');
}

bool Reply::covers(unsigned other) const noexcept {
  if (status == "default") return true;
  if (status.ends_with("XX")) return other / 100 == static_cast<unsigned>(status[0] - '0');
  return code() == other;
}

const Reply* Operation::reply_of(unsigned status) const noexcept {
  const Reply* found = nullptr;
  for (const Reply& each : replies) {
    if (!each.covers(status)) continue;
    if (each.code() != 0) return &each;
    if (found == nullptr || found->status == "default") found = &each;
  }
  return found;
}

void Reader::read_path_item(PathItem& item, const NodeAt& at, Shared shared, int hops) {
  if (!count_object(at)) return;
  Fields fields(at, "a path", problems_);
  if (item.location.source == nullptr) item.location = fields.location();
  if (const NodeAt reference = fields.any("$ref")) {
    if (hops > 16 || !reference.node->is(Node::Kind::text)) {
      problems_.error(reference.location(), "expected a reference that does not lead to itself");
      return;
    }
    const NodeAt target = sources_->resolve(reference.node->text, reference);
    constexpr Bytes components = "/components/pathItems/";
    const Bytes text = reference.node->text;
    if (const std::size_t found = text.find(components); hops == 0 && found != Bytes::npos) {
      item.component = text.substr(found + components.size());
    }
    if (target) read_path_item(item, target, shared, hops + 1);
  }
  if (fields.has("summary")) item.summary = fields.text("summary");
  fields.any("summary");
  const std::string description = fields.text("description");
  if (!description.empty()) item.description = description;
  if (const NodeAt list = fields.list("parameters")) {
    for (const Node& each : list.node->items) shared.parameters.push_back(list.to(each));
  }
  if (const NodeAt servers = is_swagger() ? NodeAt() : fields.list("servers")) {
    shared.servers = read_servers(servers);
  }
  for (const Method& method : methods) {
    if (is_swagger() && method.key == "trace") continue;
    const NodeAt operation = fields.object(method.key);
    if (!operation || !count_object(operation)) continue;
    std::erase_if(item.operations,
                  [&](const Operation& each) { return each.method == method.name; });
    item.operations.push_back(read_operation(method.name, operation, shared));
  }
  for (container::Member& each : fields.finish()) {
    item.extensions.set(each.name, std::move(each.value));
  }
}

Operation Reader::read_operation(const std::string& method, const NodeAt& at,
                                 const Shared& shared) {
  Fields fields(at, "an operation", problems_);
  Operation operation;
  operation.location = fields.location();
  operation.method = method;
  operation.path = shared.path;
  operation.id = fields.text("operationId");
  operation.summary = fields.text("summary");
  operation.description = fields.text("description");
  operation.tags = fields.texts("tags");
  operation.deprecated = fields.boolean("deprecated");
  operation.external_docs = read_docs(fields.any("externalDocs"));
  const NodeAt security = fields.list("security");
  operation.security = security ? read_security(security) : api_.security;
  Names produces = produces_;
  SwaggerContent content{.consumes = consumes_};
  if (is_swagger()) {
    if (fields.has("produces")) produces = fields.texts("produces");
    if (fields.has("consumes")) content.consumes = fields.texts("consumes");
    fields.any("schemes");
    operation.servers = api_.servers;
  } else {
    const NodeAt servers = fields.list("servers");
    operation.servers = servers                   ? read_servers(servers)
                        : !shared.servers.empty() ? shared.servers
                                                  : api_.servers;
    if (const NodeAt body = fields.any("requestBody")) operation.body = read_body(body);
    if (const NodeAt callbacks = fields.object("callbacks")) {
      for_each_entry(callbacks, [&](const Node::Key& key, const NodeAt& each) {
        operation.callbacks.push_back(read_callback(key.name, each));
      });
    }
  }
  read_parameters(operation, fields.list("parameters"), shared, std::move(content));
  if (const NodeAt replies = fields.object("responses")) {
    operation.replies = read_replies(replies, produces);
  } else if (!is_3_1()) {
    problems_.warning(fields.location(), "'responses' is missing in an operation. Add it");
  }
  operation.extensions = fields.finish();
  return operation;
}

void Reader::read_parameters(Operation& operation, const NodeAt& own, const Shared& shared,
                             SwaggerContent content) {
  for (const NodeAt& each : shared.parameters) add_parameter(operation, each, content);
  const std::size_t inherited = operation.parameters.size();
  std::vector<Parameter> mine;
  std::swap(mine, operation.parameters);
  if (own) {
    for (const Node& each : own.node->items) add_parameter(operation, own.to(each), content);
  }
  std::swap(mine, operation.parameters);
  const auto same = [](const Parameter& a, const Parameter& b) {
    return a.in == b.in &&
           (a.in == In::header ? equals_ignoring_case(a.name, b.name) : a.name == b.name);
  };
  for (Parameter& each : mine) {
    const auto known = std::ranges::find_if(
        operation.parameters, [&](const Parameter& other) { return same(each, other); });
    if (known == operation.parameters.end()) {
      operation.parameters.push_back(std::move(each));
    } else if (known - operation.parameters.begin() < static_cast<std::ptrdiff_t>(inherited)) {
      *known = std::move(each);
    } else {
      problems_.warning(each.location,
                        fmt::format("the {} parameter '{}' is described twice: the first counts",
                                    in_name(each.in), each.name));
    }
  }
  if (!content.form.empty()) operation.body = read_swagger_form(content.form, content.consumes);
  check_template(operation, shared);
}

void Reader::add_parameter(Operation& operation, const NodeAt& at, SwaggerContent& content) {
  const Target target = follow(at);
  if (!target.node) return;
  const Node* const in = target.node.node->find("in");
  if (is_swagger() && in != nullptr && in->text == "body") {
    operation.body = read_swagger_body(target, content.consumes);
  } else if (is_swagger() && in != nullptr && in->text == "formData") {
    content.form.push_back(target.node);
  } else if (auto parameter = read_parameter(target)) {
    operation.parameters.push_back(*std::move(parameter));
  }
}

void Reader::check_template(Operation& operation, const Shared& shared) {
  if (!shared.is_template) return;
  const std::vector<std::string> names = names_of(operation.path);
  std::erase_if(operation.parameters, [&](const Parameter& each) {
    const bool extra = each.in == In::path && std::ranges::find(names, each.name) == names.end();
    if (extra) {
      problems_.warning(each.location, fmt::format("the path '{}' has no {{{}}}: the parameter is "
                                                   "ignored",
                                                   operation.path, each.name));
    }
    return extra;
  });
  for (const std::string& name : names) {
    const bool known = std::ranges::any_of(operation.parameters, [&](const Parameter& each) {
      return each.in == In::path && each.name == name;
    });
    if (known) continue;
    problems_.warning(
        operation.location,
        fmt::format("the path parameter '{}' is not described: it is taken as text", name));
    Node schema;
    schema.kind = Node::Kind::object;
    schema.position = operation.location.position;
    Parameter& parameter = operation.parameters.emplace_back();
    parameter.name = name;
    parameter.in = In::path;
    parameter.required = true;
    parameter.style = Style::simple;
    parameter.explode = false;
    schema.keys.push_back({"type", schema.position});
    Node& type = schema.items.emplace_back();
    type.kind = Node::Kind::text;
    type.text = "string";
    type.position = schema.position;
    parameter.schema = schemas_->use(keep({operation.location.source, nullptr}, std::move(schema)));
    parameter.location = operation.location;
  }
}

std::optional<Parameter> Reader::read_parameter(const Target& target) {
  Fields fields(target.node, "a parameter", problems_);
  Parameter parameter;
  parameter.location = fields.location();
  parameter.component = target.component;
  parameter.name = fields.need_text("name");
  const std::string in = fields.need_text("in");
  static constexpr Bytes places[] = {"path", "query", "header", "cookie"};
  const auto* const place = std::ranges::find(places, Bytes(in));
  if (parameter.name.empty() || in.empty()) return std::nullopt;
  if (place == std::end(places) || (is_swagger() && in == "cookie")) {
    if (!is_swagger() || (in != "body" && in != "formData")) {
      problems_.error(
          fields.location(),
          fmt::format("a parameter cannot be in '{}'. Use path, query, header or cookie", in));
    }
    return std::nullopt;
  }
  parameter.in = static_cast<In>(place - std::begin(places));
  parameter.description = fields.text("description");
  if (!target.description.empty()) parameter.description = target.description;
  parameter.required = fields.boolean("required");
  parameter.deprecated = fields.boolean("deprecated");
  parameter.allow_empty_value = fields.boolean("allowEmptyValue");
  parameter.allow_reserved = fields.boolean("allowReserved");
  if (parameter.in == In::path && !parameter.required) {
    problems_.warning(fields.location(), fmt::format("the path parameter '{}' is always required. "
                                                     "Add 'required: true'",
                                                     parameter.name));
    parameter.required = true;
  }
  if (is_swagger()) {
    read_swagger_style(parameter, fields);
  } else {
    read_style(parameter, fields);
    read_value(parameter, fields);
  }
  parameter.extensions = fields.finish();
  if (parameter.in == In::header) {
    for (const Bytes name : {"Accept", "Content-Type", "Authorization"}) {
      if (!equals_ignoring_case(parameter.name, name)) continue;
      problems_.warning(parameter.location,
                        fmt::format("the header parameter '{}' is ignored, as the specification "
                                    "says: content and security describe it",
                                    name));
      return std::nullopt;
    }
  }
  return parameter;
}

void Reader::read_style(Parameter& parameter, Fields& fields) {
  const bool in_text = parameter.in == In::query || parameter.in == In::cookie;
  parameter.style = in_text ? Style::form : Style::simple;
  const std::string name = fields.text("style");
  if (!name.empty()) {
    const auto style = style_of(name);
    if (style && fits(parameter.in, *style)) {
      parameter.style = *style;
    } else {
      problems_.error(
          fields.any("style").location(),
          fmt::format("a {} parameter cannot have the style '{}'", in_name(parameter.in), name));
    }
  }
  parameter.explode = fields.boolean(
      "explode", parameter.style == Style::form || parameter.style == Style::deep_object);
}

void Reader::read_value(Parameter& parameter, Fields& fields) {
  if (const NodeAt schema = fields.any("schema")) parameter.schema = schemas_->use(schema);
  if (const NodeAt content = fields.object("content")) {
    parameter.content = read_content(content);
    if (parameter.content.size() != 1) {
      problems_.error(content.location(), "expected one media type in the content of a parameter");
    }
  }
  if (parameter.schema.has_value() == !parameter.content.empty()) {
    problems_.error(fields.location(), fmt::format("expected either 'schema' or 'content' in the "
                                                   "parameter '{}'",
                                                   parameter.name));
  }
  parameter.examples = read_examples(fields);
}

RequestBody Reader::read_body(const NodeAt& at) {
  RequestBody body;
  const Target target = follow(at);
  if (!target.node) return body;
  Fields fields(target.node, "a request body", problems_);
  body.location = fields.location();
  body.component = target.component;
  body.description = fields.text("description");
  if (!target.description.empty()) body.description = target.description;
  body.required = fields.boolean("required");
  if (const NodeAt content = fields.object("content")) {
    body.content = read_content(content);
  } else {
    problems_.error(fields.location(), "'content' is missing in a request body. Add it");
  }
  body.extensions = fields.finish();
  return body;
}

std::vector<MediaType> Reader::read_content(const NodeAt& object) {
  std::vector<MediaType> content;
  const Node& node = *object.node;
  for (std::size_t index = 0; index < node.items.size(); ++index) {
    if (is_extension(node.keys[index], node.items[index])) continue;
    if (node.keys[index].name.find('/') == std::string::npos) {
      problems_.error(
          {object.source, node.keys[index].position},
          fmt::format(
              "'{0}' is no media type, such as application/json. Move it below one, or name "
              "it 'x-{0}'",
              node.keys[index].name));
      continue;
    }
    if (!count_object(object)) break;
    content.push_back(read_media_type(node.keys[index].name, object.to(node.items[index])));
  }
  return content;
}

MediaType Reader::read_media_type(const std::string& type, const NodeAt& at) {
  Fields fields(at, "a media type", problems_);
  MediaType media;
  media.type = type;
  media.location = fields.location();
  if (const NodeAt schema = fields.any("schema")) media.schema = schemas_->use(schema);
  media.examples = read_examples(fields);
  if (const NodeAt encodings = fields.object("encoding")) {
    for_each_entry(encodings, [&](const Node::Key& key, const NodeAt& each) {
      media.encodings.push_back(read_encoding(key.name, each));
    });
  }
  media.extensions = fields.finish();
  return media;
}

Encoding Reader::read_encoding(const std::string& property, const NodeAt& at) {
  Fields fields(at, "an encoding", problems_);
  Encoding encoding;
  encoding.property = property;
  encoding.location = fields.location();
  encoding.content_type = fields.text("contentType");
  if (const NodeAt headers = fields.object("headers")) encoding.headers = read_headers(headers);
  if (const std::string name = fields.text("style"); !name.empty()) {
    encoding.style = style_of(name);
    if (!encoding.style) {
      problems_.error(fields.location(), fmt::format("unknown style '{}'", name));
    }
  }
  encoding.explode = fields.boolean("explode", encoding.style.value_or(Style::form) == Style::form);
  encoding.allow_reserved = fields.boolean("allowReserved");
  fields.finish();
  return encoding;
}

std::vector<Example> Reader::read_examples(Fields& fields) {
  std::vector<Example> examples;
  if (const NodeAt one = fields.any("example")) {
    Example& example = examples.emplace_back();
    example.location = one.location();
    example.raw = std::shared_ptr<const Node>(one.source, one.node);
  }
  if (const NodeAt named = fields.any("examples")) {
    if (!named.node->is(Node::Kind::object)) {
      problems_.error(named.location(),
                      fmt::format("expected examples by name, which is an object, got {}",
                                  named.node->kind_name()));
      return examples;
    }
    for_each_entry(named, [&](const Node::Key& key, const NodeAt& each) {
      examples.push_back(read_example(key.name, each));
    });
  }
  return examples;
}

Example Reader::read_example(const std::string& name, const NodeAt& at) {
  Example example;
  example.name = name;
  const Target target = follow(at);
  if (!target.node) return example;
  Fields fields(target.node, "an example", problems_);
  example.location = fields.location();
  example.summary = fields.text("summary");
  example.description = fields.text("description");
  if (!target.summary.empty()) example.summary = target.summary;
  if (!target.description.empty()) example.description = target.description;
  example.external_value = fields.text("externalValue");
  if (const NodeAt value = fields.any("value")) {
    example.raw = std::shared_ptr<const Node>(value.source, value.node);
  }
  fields.finish();
  return example;
}

std::vector<Reply> Reader::read_replies(const NodeAt& object, const Names& produces) {
  std::vector<Reply> replies;
  for_each(object, [&](const Node::Key& key, const NodeAt& each) {
    if (key.name.starts_with("x-")) return;
    const std::string status = status_of(key.name);
    if (status.empty()) {
      problems_.error({object.source, key.position},
                      fmt::format("'{}' is no status. Use 100 to 599, 4XX or default", key.name));
      return;
    }
    replies.push_back(read_reply(status, each, produces));
  });
  // Exact ones, ranges, the default.
  std::ranges::sort(replies, {}, [](const Reply& reply) {
    const int rank = reply.code() != 0 ? 0 : reply.status == "default" ? 2 : 1;
    return std::pair(rank, reply.status);
  });
  return replies;
}

Reply Reader::read_reply(const std::string& status, const NodeAt& at, const Names& produces) {
  Reply reply;
  reply.status = status;
  const Target target = follow(at);
  if (!target.node) return reply;
  Fields fields(target.node, "a reply", problems_);
  reply.location = fields.location();
  reply.component = target.component;
  reply.summary = target.summary;
  if (!fields.has("description") && target.node.node->is(Node::Kind::object)) {
    problems_.warning(fields.location(), "'description' is missing in a reply. Add it");
  }
  reply.description = fields.text("description");
  if (!target.description.empty()) reply.description = target.description;
  if (const NodeAt headers = fields.object("headers")) reply.headers = read_headers(headers);
  if (is_swagger()) {
    read_swagger_content(reply, fields, produces);
  } else {
    if (const NodeAt content = fields.object("content")) reply.content = read_content(content);
    if (const NodeAt links = fields.object("links")) {
      for_each_entry(links, [&](const Node::Key& key, const NodeAt& each) {
        reply.links.push_back(read_link(key.name, each));
      });
    }
  }
  reply.extensions = fields.finish();
  return reply;
}

std::vector<Header> Reader::read_headers(const NodeAt& object) {
  std::vector<Header> headers;
  const Node& node = *object.node;
  for (std::size_t index = 0; index < node.items.size(); ++index) {
    if (is_extension(node.keys[index], node.items[index])) continue;
    // The media type of the content replaces this header (OpenAPI 3.0 §4.7.17).
    if (equals_ignoring_case(node.keys[index].name, "Content-Type")) continue;
    headers.push_back(read_header(node.keys[index].name, object.to(node.items[index])));
  }
  return headers;
}

Header Reader::read_header(const std::string& name, const NodeAt& at) {
  Header header;
  header.name = name;
  const Target target = follow(at);
  if (!target.node) return header;
  Fields fields(target.node, "a header", problems_);
  header.location = fields.location();
  header.component = target.component;
  header.description = fields.text("description");
  if (!target.description.empty()) header.description = target.description;
  if (is_swagger()) {
    Parameter shape;
    shape.name = name;
    shape.in = In::header;
    read_swagger_style(shape, fields);
    header.schema = shape.schema;
    header.examples = shape.examples;
  } else {
    header.required = fields.boolean("required");
    header.deprecated = fields.boolean("deprecated");
    Parameter shape;
    shape.name = name;
    shape.in = In::header;
    read_style(shape, fields);
    read_value(shape, fields);
    header.explode = shape.explode;
    header.schema = shape.schema;
    header.content = std::move(shape.content);
    header.examples = std::move(shape.examples);
  }
  header.extensions = fields.finish();
  return header;
}

Link Reader::read_link(const std::string& name, const NodeAt& at) {
  Link link;
  link.name = name;
  const Target target = follow(at);
  if (!target.node) return link;
  Fields fields(target.node, "a link", problems_);
  link.location = fields.location();
  link.operation_id = fields.text("operationId");
  link.operation_ref = fields.text("operationRef");
  if (link.operation_id.empty() == link.operation_ref.empty()) {
    problems_.error(fields.location(), "expected either 'operationId' or 'operationRef' in a link");
  }
  link.description = fields.text("description");
  if (const NodeAt parameters = fields.object("parameters")) {
    for_each(parameters, [&](const Node::Key& key, const NodeAt& each) {
      link.parameters.emplace_back(key.name, to_value(*each.node));
    });
  }
  if (const NodeAt body = fields.any("requestBody")) link.body = to_value(*body.node);
  if (const NodeAt server = fields.any("server")) link.server = read_server(server);
  fields.finish();
  return link;
}

Callback Reader::read_callback(const std::string& name, const NodeAt& at) {
  Callback callback;
  callback.name = name;
  const Target target = follow(at);
  if (!target.node) return callback;
  callback.location = target.node.location();
  callback.component = target.component;
  if (!target.node.node->is(Node::Kind::object) || callbacks_ == callbacks_max) {
    problems_.error(callback.location,
                    callbacks_ == callbacks_max
                        ? fmt::format("more than {} callbacks in one another", callbacks_max)
                        : fmt::format("expected a callback, which is an object, got {}",
                                      target.node.node->kind_name()));
    return callback;
  }
  ++callbacks_;
  for_each(target.node, [&](const Node::Key& key, const NodeAt& each) {
    if (key.name.starts_with("x-")) return;
    callback.paths.emplace_back().path = key.name;
    read_path_item(callback.paths.back(), each, {.path = key.name});
  });
  --callbacks_;
  return callback;
}

}  // namespace katana::openapi::model

// SPDX-License-Identifier: Apache-2.0
