#include "katana/openapi/model/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "katana/data/schema/uri.hpp"

namespace katana::openapi::model {
namespace {

constexpr int hops_max = 32;

std::string last_step(Bytes reference) {
  const std::string fragment = schema::fragment_of(reference);
  std::string name = fragment.substr(fragment.rfind('/') + 1);
  for (const auto& [escape, meaning] : {std::pair("~1", "/"), std::pair("~0", "~")}) {
    for (std::size_t at = name.find(escape); at != std::string::npos; at = name.find(escape, at)) {
      name.replace(at++, 2, meaning);
    }
  }
  return name;
}

}  // namespace

Reader::Reader(Options options, Problems& problems)
    : options_(std::move(options)), problems_(problems) {
  if (options_.load == nullptr) {
    const std::size_t bytes_max = options_.limits.file_bytes_max;
    options_.load = [bytes_max](const std::string& path) { return load_file(path, bytes_max); };
  }
  sources_ = std::make_unique<SourceSet>(std::move(options_.load), std::move(options_.fetch),
                                         options_.limits, problems_);
  api_.made_nodes = std::make_shared<std::deque<Node>>();
}

Description Reader::run(const std::string& path) {
  const auto root = sources_->get(uri_of_path(path), {});
  return root == nullptr ? std::move(api_) : run_root(root);
}

Description Reader::run(const std::string& path, Bytes text) {
  return run_root(sources_->add(uri_of_path(path), text));
}

Description Reader::run_root(const std::shared_ptr<const Source>& root) {
  api_.schemas = container::Object();
  if (root->root().items.empty()) {
    if (!problems_.has_errors()) {
      problems_.error(root->locate(root->root()),
                      "the description is empty. It begins with 'openapi: 3.1.0'");
    }
  } else {
    Fields fields({root, &root->root()}, "an OpenAPI description", problems_);
    if (read_version(fields)) {
      schemas_ = std::make_unique<SchemaSet>(*sources_, problems_, api_.dialect);
      read_root(fields);
      schemas_->finish(api_);
      check_operation_ids();
      check_paths();
      check_links();
      check_security();
    }
  }
  api_.sources = sources_->all();
  return std::move(api_);
}

bool Reader::read_version(Fields& root) {
  if (root.at().node->items.empty()) return false;  // no object, which was reported
  const bool is_2 = root.has("swagger");
  if (!is_2 && !root.has("openapi")) {
    problems_.error(root.location(),
                    "neither 'openapi' nor 'swagger' is there: this is no OpenAPI description");
    return false;
  }
  // YAML without quotes has a number there, which many write.
  const Node& version = *root.any(is_2 ? "swagger" : "openapi").node;
  api_.version = version.text;
  const Bytes text = api_.version;
  if (is_2 && text == "2.0") {
    api_.dialect = Dialect::swagger_2_0;
  } else if (!is_2 && (text == "3.0" || text.starts_with("3.0."))) {
    api_.dialect = Dialect::openapi_3_0;
  } else if (!is_2 && (text == "3.1" || text.starts_with("3.1."))) {
    api_.dialect = Dialect::openapi_3_1;
  } else {
    problems_.error({root.at().source, version.position},
                    fmt::format("version '{}' is not supported. Swagger 2.0, OpenAPI 3.0 and 3.1 "
                                "are",
                                text));
    return false;
  }
  return true;
}

void Reader::read_root(Fields& root) {
  if (const NodeAt info = root.any("info")) {
    api_.info = read_info(info);
  } else {
    problems_.error(root.location(), "'info' is missing. Add it, with 'title' and 'version'");
  }
  if (const NodeAt tags = root.list("tags")) {
    for (const Node& each : tags.node->items) api_.tags.push_back(read_tag(tags.to(each)));
  }
  api_.external_docs = read_docs(root.any("externalDocs"));
  if (is_swagger()) {
    read_swagger_root(root);
  } else {
    if (const NodeAt servers = root.list("servers")) api_.servers = read_servers(servers);
    if (const NodeAt components = root.object("components")) read_components(components);
    if (const NodeAt dialect = root.any("jsonSchemaDialect");
        dialect && dialect.node->text.find("2020-12") == std::string::npos &&
        dialect.node->text.find("/oas/") == std::string::npos) {
      problems_.warning(
          dialect.location(),
          fmt::format("schemas of '{}' are read as JSON Schema 2020-12", dialect.node->text));
    }
  }
  if (const NodeAt security = root.list("security")) api_.security = read_security(security);
  const NodeAt paths = root.object("paths");
  if (paths) {
    for_each(paths, [&](const Node::Key& key, const NodeAt& at) {
      if (key.name.starts_with("x-")) return;
      if (!key.name.starts_with('/')) {
        problems_.error({at.source, key.position},
                        fmt::format("the path '{}' does not begin with '/'", key.name));
      }
      api_.paths.emplace_back().path = key.name;
      read_path_item(api_.paths.back(), at, {.path = key.name, .is_template = true});
    });
  } else if (!is_3_1()) {
    problems_.error(root.location(), "'paths' is missing. Add it");
  }
  if (const NodeAt webhooks = is_3_1() ? root.object("webhooks") : NodeAt()) {
    for_each_entry(webhooks, [&](const Node::Key& key, const NodeAt& at) {
      api_.webhooks.emplace_back().path = key.name;
      read_path_item(api_.webhooks.back(), at, {.path = key.name});
    });
  }
  api_.extensions = root.finish();
}

void Reader::read_components(const NodeAt& at) {
  Fields fields(at, "the components", problems_);
  if (const NodeAt schemas = fields.any("schemas")) schemas_->add_components(schemas);
  if (const NodeAt all = fields.object("securitySchemes")) {
    for_each_entry(all, [&](const Node::Key& key, const NodeAt& each) {
      api_.security_schemes.push_back(read_scheme(key.name, each));
    });
  }
  // Components that are not used are read for their problems alone.
  const auto check = [&](Bytes name, auto read) {
    if (const NodeAt all = fields.object(name)) {
      for_each_entry(all, [&](const Node::Key& key, const NodeAt& each) { read(key.name, each); });
    }
  };
  check("parameters", [&](const std::string&, const NodeAt& each) {
    if (const Target target = follow(each); target.node) read_parameter(target);
  });
  check("headers", [&](const std::string& name, const NodeAt& each) { read_header(name, each); });
  check("responses",
        [&](const std::string&, const NodeAt& each) { read_reply("default", each, {}); });
  check("requestBodies", [&](const std::string&, const NodeAt& each) { read_body(each); });
  check("examples", [&](const std::string& name, const NodeAt& each) { read_example(name, each); });
  check("links", [&](const std::string& name, const NodeAt& each) { read_link(name, each); });
  check("callbacks",
        [&](const std::string& name, const NodeAt& each) { read_callback(name, each); });
  if (is_3_1()) {
    check("pathItems", [&](const std::string& name, const NodeAt& each) {
      PathItem item;
      read_path_item(item, each, {.path = name});
    });
  }
  fields.finish();
}

bool Reader::count_object(const NodeAt& at) {
  if (++objects_ <= options_.limits.objects_max) return true;
  if (objects_ == options_.limits.objects_max + 1) {
    problems_.error(at.location(),
                    fmt::format("more than {} objects, with what references repeat. Split the "
                                "description",
                                options_.limits.objects_max));
  }
  return false;
}

Reader::Target Reader::follow(const NodeAt& at) {
  Target target{at, {}, {}, {}};
  if (!count_object(at)) return {};
  for (int hops = 0; hops < hops_max; ++hops) {
    const NodeAt reference = target.node.find("$ref");
    if (!reference) return target;
    if (!reference.node->is(Node::Kind::text)) {
      problems_.error(reference.location(), fmt::format("expected a reference as text, got {}",
                                                        reference.node->kind_name()));
      return {};
    }
    const Node& node = *target.node.node;
    for (std::size_t index = 0; index < node.items.size(); ++index) {
      const Node::Key& key = node.keys[index];
      const bool words = key.name == "summary" || key.name == "description";
      if (is_3_1() && words) {
        std::string& text = key.name == "summary" ? target.summary : target.description;
        if (text.empty()) text = node.items[index].text;
      } else if (key.name != "$ref" && !key.name.starts_with("x-") && !words) {
        problems_.warning({target.node.source, key.position},
                          fmt::format("'{}' beside $ref has no effect. Remove it", key.name));
      }
    }
    if (target.component.empty()) target.component = last_step(reference.node->text);
    target.node = sources_->resolve(reference.node->text, reference);
    if (!target.node) return {};
  }
  problems_.error(at.location(), "the reference leads back to itself");
  return {};
}

Info Reader::read_info(const NodeAt& at) {
  Fields fields(at, "the info", problems_);
  Info info;
  info.location = fields.location();
  info.title = fields.need_text("title");
  info.version = fields.need_text("version");
  info.summary = fields.text("summary");
  info.description = fields.text("description");
  info.terms_of_service = fields.text("termsOfService");
  if (const NodeAt contact = fields.object("contact")) {
    Fields inner(contact, "the contact", problems_);
    info.contact_name = inner.text("name");
    info.contact_url = inner.text("url");
    info.contact_email = inner.text("email");
    inner.finish();
  }
  if (const NodeAt licence = fields.object("license")) {
    Fields inner(licence, "the licence", problems_);
    info.licence_name = inner.text("name");
    info.licence_url = inner.text("url");
    info.licence_identifier = inner.text("identifier");
    inner.finish();
  }
  info.extensions = fields.finish();
  return info;
}

std::vector<Server> Reader::read_servers(const NodeAt& list) {
  std::vector<Server> servers;
  for (const Node& each : list.node->items) servers.push_back(read_server(list.to(each)));
  return servers;
}

Server Reader::read_server(const NodeAt& at) {
  Fields fields(at, "a server", problems_);
  Server server;
  server.location = fields.location();
  server.url = fields.need_text("url");
  server.description = fields.text("description");
  if (const NodeAt variables = fields.object("variables")) {
    for_each_entry(variables, [&](const Node::Key& key, const NodeAt& each) {
      Fields inner(each, "a variable of a server", problems_);
      ServerVariable& variable = server.variables.emplace_back();
      variable.name = key.name;
      variable.default_value = inner.need_text("default");
      variable.choices = inner.texts("enum");
      variable.description = inner.text("description");
      inner.finish();
    });
  }
  fields.finish();
  return server;
}

std::string Server::default_url() const {
  std::string text = url;
  for (const ServerVariable& each : variables) {
    const std::string name = "{" + each.name + "}";
    for (std::size_t at = text.find(name); at != std::string::npos;
         at = text.find(name, at + each.default_value.size())) {
      text.replace(at, name.size(), each.default_value);
    }
  }
  return text;
}

Tag Reader::read_tag(const NodeAt& at) {
  Fields fields(at, "a tag", problems_);
  Tag tag;
  tag.location = fields.location();
  tag.name = fields.need_text("name");
  tag.description = fields.text("description");
  tag.external_docs = read_docs(fields.any("externalDocs"));
  fields.finish();
  return tag;
}

std::optional<ExternalDocs> Reader::read_docs(const NodeAt& at) {
  if (!at) return std::nullopt;
  Fields fields(at, "external documentation", problems_);
  ExternalDocs docs;
  docs.url = fields.need_text("url");
  docs.description = fields.text("description");
  fields.finish();
  return docs;
}

SecurityScheme Reader::read_scheme(const std::string& name, const NodeAt& at) {
  SecurityScheme scheme;
  scheme.name = name;
  const Target target = follow(at);
  if (!target.node) return scheme;
  Fields fields(target.node, "a security scheme", problems_);
  scheme.location = fields.location();
  scheme.description = fields.text("description");
  const std::string type = fields.need_text("type");
  if (type == "apiKey") {
    scheme.kind = SecurityScheme::Kind::api_key;
    scheme.key_name = fields.need_text("name");
    const std::string in = fields.need_text("in");
    scheme.key_in = in == "query" ? In::query : in == "cookie" ? In::cookie : In::header;
    if (in != "query" && in != "cookie" && in != "header" && !in.empty()) {
      problems_.error(fields.location(), fmt::format("an API key cannot be in '{}'. Use header, "
                                                     "query or cookie",
                                                     in));
    }
  } else if (is_swagger()) {
    read_swagger_scheme(scheme, fields);
  } else if (type == "http") {
    scheme.scheme = fields.need_text("scheme");
    std::ranges::transform(scheme.scheme, scheme.scheme.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? char(c | 0x20) : c; });
    scheme.bearer_format = fields.text("bearerFormat");
  } else if (type == "mutualTLS") {
    scheme.kind = SecurityScheme::Kind::mutual_tls;
  } else if (type == "oauth2") {
    scheme.kind = SecurityScheme::Kind::oauth2;
    if (const NodeAt flows = fields.object("flows")) {
      read_flows(scheme, flows);
    } else {
      problems_.error(fields.location(), "'flows' is missing in a security scheme. Add it");
    }
  } else if (type == "openIdConnect") {
    scheme.kind = SecurityScheme::Kind::open_id_connect;
    scheme.open_id_connect_url = fields.need_text("openIdConnectUrl");
  } else if (!type.empty()) {
    problems_.error(fields.location(),
                    fmt::format("unknown type '{}' of a security scheme. Use apiKey, http, "
                                "mutualTLS, oauth2 or openIdConnect",
                                type));
  }
  scheme.extensions = fields.finish();
  return scheme;
}

void Reader::read_flows(SecurityScheme& scheme, const NodeAt& at) {
  Fields flows(at, "the flows", problems_);
  for (const Bytes kind : {"implicit", "password", "clientCredentials", "authorizationCode"}) {
    const NodeAt flow = flows.object(kind);
    if (!flow) continue;
    Fields fields(flow, "a flow", problems_);
    scheme.flows.push_back(read_flow(std::string(kind), fields));
    fields.finish();
  }
  flows.finish();
}

OAuthFlow Reader::read_flow(const std::string& kind, Fields& fields) {
  OAuthFlow flow;
  flow.kind = kind;
  flow.authorization_url = fields.text("authorizationUrl");
  flow.token_url = fields.text("tokenUrl");
  flow.refresh_url = fields.text("refreshUrl");
  if (const NodeAt scopes = fields.object("scopes")) {
    for_each(scopes, [&](const Node::Key& key, const NodeAt& each) {
      if (is_swagger() && key.name.starts_with("x-")) return;  // the other versions have a map here
      flow.scopes.emplace_back(key.name, each.node->text);
    });
  }
  return flow;
}

std::vector<SecurityRequirement> Reader::read_security(const NodeAt& list) {
  std::vector<SecurityRequirement> security;
  for (const Node& each : list.node->items) {
    SecurityRequirement& requirement = security.emplace_back();
    if (!each.is(Node::Kind::object)) {
      problems_.error(list.to(each).location(),
                      fmt::format("expected the names of security schemes, which is an object, "
                                  "got {}",
                                  each.kind_name()));
      continue;
    }
    const NodeAt at = list.to(each);
    for_each(at, [&](const Node::Key& key, const NodeAt& scopes) {
      requirement.emplace_back(key.name, std::vector<std::string>());
      for (const Node& scope : scopes.node->items) {
        requirement.back().second.push_back(scope.text);
      }
      const bool known = std::ranges::find(api_.security_schemes, key.name,
                                           &SecurityScheme::name) != api_.security_schemes.end();
      if (!known) {
        problems_.error({list.source, key.position},
                        fmt::format("no security scheme '{}' is there. Describe it in the "
                                    "components",
                                    key.name));
      }
    });
  }
  return security;
}

void Reader::check_security() {
  std::set<Bytes> names;
  for (const SecurityScheme& each : api_.security_schemes) {
    if (!names.insert(each.name).second) {
      problems_.error(each.location, fmt::format("two security schemes are named '{}'", each.name));
    }
  }
}

void Reader::check_operation_ids() {
  std::map<Bytes, const Operation*> known;
  for (const auto* const items : {&api_.paths, &api_.webhooks}) {
    for (const PathItem& item : *items) {
      for (const Operation& each : item.operations) {
        if (each.id.empty()) continue;
        const auto [first, is_new] = known.emplace(each.id, &each);
        if (is_new) continue;
        problems_.warning(each.location,
                          fmt::format("operationId '{}' is also that of {} {}. Give one another id",
                                      each.id, first->second->method, first->second->path));
      }
    }
  }
}

// Paths that differ in the names of their parameters alone.
void Reader::check_paths() {
  std::map<std::string, const PathItem*> known;
  for (const PathItem& each : api_.paths) {
    std::string shape;
    bool inside = false;
    for (const char c : each.path) {
      if (c == '{') inside = true;
      if (!inside || c == '{') shape += c;
      if (c == '}') inside = false;
    }
    const auto [first, is_new] = known.emplace(shape, &each);
    if (is_new) continue;
    problems_.warning(each.location, fmt::format("the path '{}' is the same as '{}'. Remove one",
                                                 each.path, first->second->path));
  }
}

void Reader::check_links() {
  for (const PathItem& item : api_.paths) {
    for (const Operation& operation : item.operations) {
      for (const Reply& reply : operation.replies) {
        for (const Link& each : reply.links) {
          if (each.operation_id.empty() || api_.find_operation(each.operation_id) != nullptr) {
            continue;
          }
          problems_.warning(each.location, fmt::format("no operation has the operationId '{}' of "
                                                       "this link",
                                                       each.operation_id));
        }
      }
    }
  }
}

// ---- the model ----

const Operation* Description::find_operation(Bytes id) const noexcept {
  if (id.empty()) return nullptr;  // that of operations without one
  for (const auto* const items : {&paths, &webhooks}) {
    for (const PathItem& item : *items) {
      for (const Operation& each : item.operations) {
        if (each.id == id) return &each;
      }
    }
  }
  return nullptr;
}

Location Description::locate(Bytes pointer) const {
  Bytes prefix = pointer;
  while (true) {
    const auto found = schema_nodes.find(prefix);
    if (found != schema_nodes.end()) {
      Bytes rest = pointer.substr(prefix.size());
      while (true) {
        const Node* const node = found->second.node->at(rest);
        if (node != nullptr) return {found->second.source, node->position};
        rest = rest.substr(0, rest.rfind('/'));
      }
    }
    const std::size_t slash = prefix.rfind('/');
    if (slash == Bytes::npos) break;
    prefix = prefix.substr(0, slash);
  }
  return sources.empty() ? Location() : sources.front()->locate(sources.front()->root());
}

Description read_description(const std::string& path, Problems& problems, Options options) {
  return Reader(std::move(options), problems).run(path);
}

Description read_description_text(const std::string& path, Bytes text, Problems& problems,
                                  Options options) {
  return Reader(std::move(options), problems).run(path, text);
}

}  // namespace katana::openapi::model

// SPDX-License-Identifier: Apache-2.0
