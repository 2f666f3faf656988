#include "katana/openapi/document/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "katana/openapi/document/operation_object.hpp"
#include "katana/openapi/document/served_content.hpp"

namespace katana::openapi {
namespace {

// Members in the order of their names.
Object sorted(std::map<std::string, Value> members) {
  Object made;
  for (auto& [name, value] : members) made.add(name, std::move(value));
  return made;
}

void add_text(Object& to, const char* name, const std::string& text) {
  if (!text.empty()) to.set(name, text);
}

Object info_object(const Info& info) {
  Object made{{"title", info.title}, {"version", info.version}};
  add_text(made, "summary", info.summary);
  add_text(made, "description", info.description);
  add_text(made, "termsOfService", info.terms_of_service);
  Object contact;
  add_text(contact, "name", info.contact.name);
  add_text(contact, "url", info.contact.url);
  add_text(contact, "email", info.contact.email);
  if (!contact.empty()) made.set("contact", std::move(contact));
  if (!info.license.name.empty()) {
    Object license{{"name", info.license.name}};
    add_text(license, "identifier", info.license.identifier);
    add_text(license, "url", info.license.url);
    made.set("license", std::move(license));
  }
  return made;
}

Object server_object(const Server& server) {
  Object made{{"url", server.url}};
  add_text(made, "description", server.description);
  Object variables;
  for (const ServerVariable& each : server.variables) {
    Object variable{{"default", each.default_value}};
    if (!each.values.empty()) {
      variable.set("enum", List(each.values.begin(), each.values.end()));
    }
    add_text(variable, "description", each.description);
    variables.set(each.name, std::move(variable));
  }
  if (!variables.empty()) made.set("variables", std::move(variables));
  return made;
}

Object tag_object(const Tag& tag) {
  Object made{{"name", tag.name}};
  add_text(made, "description", tag.description);
  if (!tag.docs.url.empty()) made.set("externalDocs", detail::docs_object(tag.docs));
  return made;
}

bool is_date(std::string_view text) { return text.size() == 10 && is_format(Format::date, text); }

}  // namespace

struct Document::State {
  State(Info given, std::string called) : info(std::move(given)), name(std::move(called)) {}

  void note_tag(const std::string& tag) {
    if (tag.empty() || std::ranges::find(tags, tag, &Tag::name) != tags.end()) return;
    tags.push_back({.name = tag});
  }
  void refuse(const detail::RouteName& route, std::string_view what) {
    parts.mistakes.emplace_back(Code::invalid_argument,
                                fmt::format("openapi: {}: {}", route.text(), what));
  }
  void check(const detail::RouteName& route, const Operation& operation, const std::string& id);

  Info info;
  std::string name;
  std::vector<Server> servers;
  std::vector<Tag> tags;
  ExternalDocs docs;
  std::vector<std::string> audiences;
  std::vector<ProblemType> types;
  detail::Parts parts;
  Object paths;
  Object webhooks;
  std::map<std::string, std::string> ids;  // with the route that has each
};

void Document::State::check(const detail::RouteName& route, const Operation& operation,
                            const std::string& id) {
  const auto [known, is_new] = ids.emplace(id, route.text());
  if (!is_new) {
    refuse(route, fmt::format("the id '{}' is that of {}: give one of them another .id", id,
                              known->second));
  }
  if (!operation.sunset.empty() && !is_date(operation.sunset)) {
    refuse(route, fmt::format("sunset '{}' is no date: write it as 2027-01-31", operation.sunset));
  }
  for (const ProblemType* const type : operation.types) {
    const bool is_known = std::ranges::any_of(
        types, [type](const ProblemType& each) { return each.uri == type->uri; });
    if (is_known) continue;
    refuse(route,
           fmt::format("the problem type '{}' is not in the catalogue: give "
                       "Document::problem_types() one that has it, before the route is added",
                       type->uri));
  }
  for (const OutgoingRequest& each : operation.callbacks) {
    if (each.url.empty()) {
      refuse(route, fmt::format("the callback '{}' has no url: say where the client names it, as "
                                "in {{$request.body#/callbackUrl}}",
                                each.name));
    }
  }
}

Document::Document(Info info, std::string name)
    : state_(std::make_shared<State>(std::move(info), std::move(name))) {}

Document& Document::server(Server server) {
  state_->servers.push_back(std::move(server));
  return *this;
}

Document& Document::tag(Tag tag) {
  std::erase_if(state_->tags, [&](const Tag& each) { return each.name == tag.name; });
  state_->tags.push_back(std::move(tag));
  return *this;
}

Document& Document::external_docs(ExternalDocs docs) {
  state_->docs = std::move(docs);
  return *this;
}

Document& Document::webhook(OutgoingRequest request) {
  state_->webhooks.set(request.name, detail::outgoing_object(state_->parts, request));
  return *this;
}

Document& Document::security_scheme(const SecurityScheme& scheme) {
  state_->parts.security_schemes.insert_or_assign(scheme.name, detail::scheme_object(scheme));
  return *this;
}

Document& Document::problem_types(const ProblemTypes& types) {
  for (const ProblemType* const each : types.all()) state_->types.push_back(*each);
  for (Error& each : types.mistakes()) add_mistake(std::move(each));
  return *this;
}

Document& Document::audience(std::string name) {
  state_->audiences.push_back(std::move(name));
  return *this;
}

bool Document::shows(const Operation& operation) const {
  if (operation.audiences.empty()) return true;
  return std::ranges::find_first_of(operation.audiences, state_->audiences) !=
         operation.audiences.end();
}

Schemas& Document::schemas() noexcept { return state_->parts.schemas; }
const std::string& Document::name() const noexcept { return state_->name; }

void Document::add(http::Method method, std::string_view pattern, SignatureWords words,
                   const Operation& operation,
                   const std::vector<const SecurityDocumentation*>& security) {
  const detail::RouteName route{method, pattern};
  state_->check(route, operation, operation.id.empty() ? route.id() : operation.id);
  state_->note_tag(operation.tag);
  for (const std::string& each : operation.tags) state_->note_tag(each);
  const std::string path = route.path();
  Value* item = state_->paths.find(path);
  if (item == nullptr) item = &state_->paths.set(path, Object());
  item->as_object().set(route.key(),
                        detail::operation_object(state_->parts, route, words, operation, security));
}

void Document::add_mistake(Error mistake) { state_->parts.mistakes.push_back(std::move(mistake)); }
std::vector<Error> Document::mistakes() const { return state_->parts.mistakes; }

Value Document::to_value(Specification specification) const {
  const detail::Parts& parts = state_->parts;
  std::map<std::string, Value> schemas = {{"Problem", detail::problem_schema()}};
  for (const auto& each : parts.schemas.all()) schemas.emplace(each.name, each.value);
  std::map<std::string, Value> responses = parts.responses;
  responses.emplace("Problem", detail::problem_response("Any other problem."));
  Object components{{"schemas", sorted(std::move(schemas))},
                    {"responses", sorted(std::move(responses))}};
  if (!parts.security_schemes.empty()) {
    components.set("securitySchemes", sorted(parts.security_schemes));
  }
  List servers, tags;
  for (const Server& each : state_->servers) servers.emplace_back(server_object(each));
  if (servers.empty()) servers.emplace_back(Object{{"url", "/"}});
  for (const Tag& each : state_->tags) tags.emplace_back(tag_object(each));
  Object made{
      {"openapi", "3.1.0"}, {"info", info_object(state_->info)}, {"servers", std::move(servers)}};
  if (!tags.empty()) made.set("tags", std::move(tags));
  if (!state_->docs.url.empty()) made.set("externalDocs", detail::docs_object(state_->docs));
  made.set("paths", state_->paths);
  if (!state_->webhooks.empty()) made.set("webhooks", state_->webhooks);
  made.set("components", std::move(components));
  if (specification == Specification::v3_0) return as_3_0(std::move(made));
  return made;
}

std::string Document::to_json(Specification specification) const {
  return container::to_json(to_value(specification));
}
std::string Document::to_text(Specification specification) const {
  return indented(to_value(specification));
}

Result<ServiceDocument> Document::finish(const State& state, const std::string& path) {
  const std::vector<Error>& mistakes = state.parts.mistakes;
  if (mistakes.empty()) return ServiceDocument{.name = state.name, .path = path, .text = {}};
  std::string text;
  for (const Error& each : mistakes) text += (text.empty() ? "" : "\n  ") + each.describe();
  return fail(Code::invalid_argument, std::move(text));
}

Document& Document::keep(Group group) {
  group.document([document = *this]() -> Result<ServiceDocument> {
    auto made = finish(*document.state_, {});
    if (made) made->text = document.to_json();
    return made;
  });
  return *this;
}

Document& Document::serve(Group group, std::string_view path) {
  // Filled by build(), and constant from then on.
  const std::shared_ptr<detail::ServedContent> served(
      new detail::ServedContent("application/json", "no-cache"));
  const std::string where = std::string(group.prefix()).append(path);
  group.document([document = *this, served, where]() -> Result<ServiceDocument> {
    auto made = finish(*document.state_, where);
    if (made) {
      made->text = document.to_json();
      served->fill(made->text);
    }
    return made;
  });
  group.get(path, [served](const RequestView& request) { return served->reply(request); });
  return *this;
}

namespace {

void write_indented(const Value& value, std::size_t depth, std::string& text) {
  const auto new_line = [&text](std::size_t indent) {
    text += '\n';
    text.append(indent * 2, ' ');
  };
  const Object* const object = value.get_object();
  const List* const list = value.get_list();
  if (object != nullptr && !object->empty()) {
    text += '{';
    const char* separator = "";
    for (const container::Member& each : *object) {
      text += std::exchange(separator, ",");
      new_line(depth + 1);
      text += container::to_json(Value(each.name)) + ": ";
      write_indented(each.value, depth + 1, text);
    }
    new_line(depth);
    text += '}';
  } else if (list != nullptr && !list->empty()) {
    text += '[';
    const char* separator = "";
    for (const Value& each : *list) {
      text += std::exchange(separator, ",");
      new_line(depth + 1);
      write_indented(each, depth + 1, text);
    }
    new_line(depth);
    text += ']';
  } else {
    text += container::to_json(value);
  }
}

}  // namespace

std::string indented(const Value& value) {
  std::string text;
  write_indented(value, 0, text);
  return text + "\n";
}

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
