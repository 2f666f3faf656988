#include "katana/openapi/diff/diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "katana/openapi/diff/schema_diff.hpp"

namespace katana::openapi {
namespace {

using container::Value;
using detail::SchemaDiff;
using detail::SchemaOf;

// "/items/{}" for "/items/{id}": the names of parameters do not count.
std::string shape_of(Bytes path) {
  std::string shape;
  bool is_name = false;
  for (const char each : path) {
    if (each == '}') is_name = false;
    if (!is_name) shape += each;
    if (each == '{') is_name = true;
  }
  return shape;
}

std::vector<std::string> names_in(Bytes path) {
  std::vector<std::string> names;
  for (std::size_t at = path.find('{'); at != Bytes::npos; at = path.find('{', at + 1)) {
    const std::size_t end = std::min(path.find('}', at), path.size());
    names.emplace_back(path.substr(at + 1, end - at - 1));
  }
  return names;
}

char lower(char each) noexcept {
  return each >= 'A' && each <= 'Z' ? static_cast<char>(each | 0x20) : each;
}

const Value* sunset_of(const model::Extensions& extensions) { return extensions.find("x-sunset"); }

bool is_date(const Value* value) {
  if (value == nullptr || value->kind() != container::Kind::text) return false;
  const Bytes text = value->as_text();
  return text.size() >= 10 && text[4] == '-' && text[7] == '-';
}

template <class T>
const T* find_named(const std::vector<T>& list, Bytes name, std::string T::* member) {
  const auto found =
      std::ranges::find_if(list, [&](const T& each) { return Bytes(each.*member) == name; });
  return found == list.end() ? nullptr : &*found;
}

// The name of a rule of a webhook. Clients receive its request and send its response: "request" and
// "response" are exchanged in the name.
std::string webhook_rule(std::string rule) {
  constexpr Bytes request = "request", response = "response";
  std::string made = rule.starts_with("webhook-") ? "" : "webhook-";
  for (Bytes left = rule; !left.empty();) {
    const bool is_request = left.starts_with(request);
    const bool is_response = left.starts_with(response);
    if (is_request || is_response) {
      made += is_request ? response : request;
      left.remove_prefix((is_request ? request : response).size());
    } else {
      made += left.front();
      left.remove_prefix(1);
    }
  }
  return made;
}

// RFC 9110 §5.1
bool is_same_field(Bytes one, Bytes other) {
  return std::ranges::equal(one, other, {}, lower, lower);
}

bool is_success(Bytes status) noexcept { return status.starts_with('2'); }

class Comparison {
 public:
  Comparison(const Description& before, const Description& after, const DiffOptions& options)
      : before_(before),
        after_(after),
        options_(options),
        schemas_(before, after,
                 [this](std::string rule, Level level, std::string words,
                        const std::string& pointer, bool is_of_old) {
                   const Description& of = is_of_old ? before_ : after_;
                   add(std::move(rule), level, scope_ + std::move(words), of.locate(pointer));
                 }) {}

  std::vector<Change> run() {
    compare_paths();
    compare_webhooks();
    compare_schemes();
    return std::move(changes_);
  }

 private:
  void add(std::string rule, Level level, std::string words, const model::Location& place) {
    if (is_webhook_) rule = webhook_rule(std::move(rule));
    Change made{std::move(rule), level, operation_, std::move(words), place.describe()};
    if (!known_.emplace(made.operation, made.rule, made.words).second) return;
    changes_.push_back(std::move(made));
  }

  // Pairs paths by their names. The rest are paired by their shapes, each path at most once.
  void compare_paths() {
    std::set<const model::PathItem*> known;
    std::vector<const model::PathItem*> gone;
    for (const model::PathItem& each : before_.paths) {
      const auto* const same = find_named(after_.paths, each.path, &model::PathItem::path);
      if (same == nullptr) {
        gone.push_back(&each);
        continue;
      }
      known.insert(same);
      compare_path(each, *same);
    }
    for (const model::PathItem* const each : gone) {
      const std::string shape = shape_of(each->path);
      const auto found = std::ranges::find_if(after_.paths, [&](const model::PathItem& other) {
        return !known.contains(&other) && shape_of(other.path) == shape;
      });
      if (found != after_.paths.end()) {
        known.insert(&*found);
        compare_path(*each, *found);
        continue;
      }
      for (const model::Operation& operation : each->operations) {
        note_removed(operation, "api-path");
      }
    }
    for (const model::PathItem& each : after_.paths) {
      if (known.contains(&each)) continue;
      for (const model::Operation& operation : each.operations) note_added(operation);
    }
  }

  void compare_path(const model::PathItem& before, const model::PathItem& after) {
    for (const model::Operation& each : before.operations) {
      const auto* const found =
          find_named(after.operations, each.method, &model::Operation::method);
      if (found == nullptr) {
        note_removed(each, "api");
      } else {
        compare_operation(each, *found);
      }
    }
    for (const model::Operation& each : after.operations) {
      if (find_named(before.operations, each.method, &model::Operation::method) == nullptr) {
        note_added(each);
      }
    }
  }

  static std::string name_of(const model::Operation& operation) {
    return operation.method + " " + operation.path;
  }

  void note_removed(const model::Operation& operation, const char* what) {
    operation_ = name_of(operation);
    const Value* const sunset = sunset_of(operation.extensions);
    if (!operation.deprecated) {
      add(fmt::format("{}-removed-without-deprecation", what), Level::breaking,
          "it was removed, and was not deprecated", operation.location);
    } else if (sunset != nullptr && !is_date(sunset)) {
      add(fmt::format("{}-sunset-parse", what), Level::breaking,
          "it was removed, and its x-sunset is no date (YYYY-MM-DD)", operation.location);
    } else if (sunset != nullptr && options_.today < sunset->as_text() && !options_.today.empty()) {
      add(fmt::format("{}-removed-before-sunset", what), Level::breaking,
          fmt::format("it was removed before the day of its x-sunset, {}", sunset->as_text()),
          operation.location);
    } else {
      add(fmt::format("{}-removed-with-deprecation", what), Level::info,
          "it was removed, as was announced", operation.location);
    }
  }

  void note_added(const model::Operation& operation) {
    operation_ = name_of(operation);
    add("endpoint-added", Level::info, "it was added", operation.location);
  }

  void compare_operation(const model::Operation& before, const model::Operation& after) {
    operation_ = name_of(after);
    compare_deprecation(before, after);
    if (before.id != after.id && !before.id.empty()) {
      add(after.id.empty() ? "api-operation-id-removed" : "api-operation-id-changed", Level::info,
          fmt::format("the operationId changed from '{}' to '{}'", before.id, after.id),
          after.location);
    }
    compare_security(before, after);
    compare_parameters(before, after);
    compare_body(before, after);
    compare_replies(before, after);
  }

  void compare_deprecation(const model::Operation& before, const model::Operation& after) {
    const Value* const was = sunset_of(before.extensions);
    const Value* const is = sunset_of(after.extensions);
    if (after.deprecated && is != nullptr && !is_date(is)) {
      add("api-deprecated-sunset-parse", Level::breaking, "its x-sunset is no date (YYYY-MM-DD)",
          after.location);
      return;
    }
    if (!before.deprecated && after.deprecated) {
      add(is != nullptr ? "endpoint-deprecated-with-sunset" : "endpoint-deprecated", Level::info,
          is != nullptr ? fmt::format("it is deprecated, and goes on {}", is->as_text())
                        : std::string("it is deprecated"),
          after.location);
    } else if (before.deprecated && !after.deprecated) {
      add("endpoint-reactivated", Level::info, "it is deprecated no more", after.location);
    } else if (before.deprecated && is_date(was) && is == nullptr) {
      add("sunset-deleted", Level::breaking,
          fmt::format("its x-sunset, {}, was removed, and it is still deprecated", was->as_text()),
          after.location);
    } else if (before.deprecated && is_date(was) && is_date(is) && is->as_text() < was->as_text()) {
      add("api-sunset-date-changed-earlier", Level::breaking,
          fmt::format("its x-sunset moved from {} to {}", was->as_text(), is->as_text()),
          after.location);
    }
  }

  // ---- parameters ----

  void compare_parameters(const model::Operation& before, const model::Operation& after) {
    const std::vector<std::string> old_names = names_in(before.path);
    const std::vector<std::string> new_names = names_in(after.path);
    // A parameter of a path is the one in the same place, whatever it is called.
    const auto name_after = [&](const model::Parameter& parameter) {
      const auto at = std::ranges::find(old_names, parameter.name);
      const auto index = static_cast<std::size_t>(at - old_names.begin());
      const bool is_renamed = parameter.in == model::In::path && index < new_names.size();
      return is_renamed ? new_names[index] : parameter.name;
    };
    std::set<const model::Parameter*> known;
    for (const model::Parameter& each : before.parameters) {
      const std::string name = name_after(each);
      const auto found = std::ranges::find_if(after.parameters, [&](const model::Parameter& other) {
        return other.in == each.in &&
               (each.in == model::In::header ? is_same_field(other.name, name)
                                             : other.name == name);
      });
      if (found != after.parameters.end()) {
        known.insert(&*found);
        compare_parameter(each, *found);
        continue;
      }
      add(each.deprecated ? "request-parameter-removed-with-deprecation"
                          : "request-parameter-removed",
          each.deprecated ? Level::info : Level::warning,
          fmt::format("the {} parameter '{}' was removed", in_name(each.in), each.name),
          each.location);
    }
    for (const model::Parameter& each : after.parameters) {
      if (known.contains(&each)) continue;
      const std::string words =
          fmt::format("the {} {} parameter '{}' was added", each.required ? "required" : "optional",
                      in_name(each.in), each.name);
      if (each.in == model::In::path) {
        add("new-request-path-parameter", Level::breaking, words, each.location);
      } else if (each.required) {
        add("new-required-request-parameter", Level::breaking, words, each.location);
      } else {
        add("new-optional-request-parameter", Level::info, words, each.location);
      }
    }
  }

  void compare_parameter(const model::Parameter& before, const model::Parameter& after) {
    const std::string name = fmt::format("the {} parameter '{}'", in_name(after.in), after.name);
    if (before.required != after.required) {
      add(after.required ? "request-parameter-became-required"
                         : "request-parameter-became-optional",
          after.required ? Level::breaking : Level::info,
          fmt::format("{} became {}", name, after.required ? "required" : "optional"),
          after.location);
    }
    if (before.deprecated != after.deprecated) {
      add(after.deprecated ? "request-parameter-deprecated" : "request-parameter-reactivated",
          Level::info,
          fmt::format("{} is {}", name, after.deprecated ? "deprecated" : "deprecated no more"),
          after.location);
    }
    compare_serialization(before, after, name, "request");
    scope_ = name + " ";
    if (before.schema && after.schema) {
      schemas_.compare(SchemaOf::request_parameter, before.schema->pointer, after.schema->pointer);
    } else if (!before.content.empty() && !after.content.empty() && before.content[0].schema &&
               after.content[0].schema) {
      schemas_.compare(SchemaOf::request_parameter, before.content[0].schema->pointer,
                       after.content[0].schema->pointer);
    }
    scope_.clear();
  }

  void compare_serialization(const model::Parameter& before, const model::Parameter& after,
                             const std::string& name, const char* side) {
    if (before.style == after.style && (before.explode == after.explode || !is_composed(after))) {
      return;
    }
    add(fmt::format("{}-parameter-serialization-changed", side), Level::breaking,
        fmt::format("{} is written as {}{}, no longer as {}{}", name, style_name(after.style),
                    after.explode ? ", exploded" : "", style_name(before.style),
                    before.explode ? ", exploded" : ""),
        after.location);
  }

  // `explode` means something for lists and objects alone.
  bool is_composed(const model::Parameter& parameter) const {
    const Value* schema = parameter.schema ? after_.schema(*parameter.schema) : nullptr;
    for (std::size_t steps = 0; schema != nullptr && steps < 16; ++steps) {
      const Value* const reference = schema->at("/$ref");
      if (reference == nullptr) break;
      schema = after_.schemas.at(Bytes(reference->as_text()).substr(1));
    }
    const Value* const type = schema == nullptr ? nullptr : schema->at("/type");
    return type != nullptr && (*type == Value("array") || *type == Value("object"));
  }

  // ---- content ----

  void compare_body(const model::Operation& before, const model::Operation& after) {
    if (!before.body && !after.body) return;
    if (!before.body) {
      const bool counts = after.body->required;
      add(counts ? "request-body-added-required" : "request-body-added-optional",
          counts ? Level::breaking : Level::info,
          fmt::format("{} content was added", counts ? "required" : "optional"),
          after.body->location);
      return;
    }
    if (!after.body) {
      add("request-body-removed", Level::breaking, "the content was removed", before.location);
      return;
    }
    if (before.body->required != after.body->required) {
      add(after.body->required ? "request-body-became-required" : "request-body-became-optional",
          after.body->required ? Level::breaking : Level::info,
          fmt::format("the content became {}", after.body->required ? "required" : "optional"),
          after.body->location);
    }
    compare_content(SchemaOf::request_body, "content", before.body->content, after.body->content,
                    after.body->location);
  }

  // `of` tells which side sends the content.
  void compare_content(SchemaOf of, const std::string& name,
                       const std::vector<model::MediaType>& before,
                       const std::vector<model::MediaType>& after, const model::Location& place) {
    const bool is_request = of == SchemaOf::request_body;
    const std::string rule = is_request ? "request-body-media-type" : "response-media-type";
    for (const model::MediaType& each : before) {
      const auto* const found = find_named(after, each.type, &model::MediaType::type);
      if (found == nullptr) {
        add(rule + "-removed", Level::breaking,
            fmt::format("{}: the media type {} was removed", name, each.type), each.location);
        continue;
      }
      scope_ = fmt::format("{} {} ", name, each.type);
      if (each.schema && found->schema) {
        schemas_.compare(of, each.schema->pointer, found->schema->pointer);
      } else if (each.schema || found->schema) {
        const bool is_added = found->schema.has_value();
        add(fmt::format("{}-body-media-type-schema-{}", is_request ? "request" : "response",
                        is_added ? "added" : "removed"),
            is_added == is_request ? Level::breaking : Level::info,
            fmt::format("{}the schema was {}", scope_, is_added ? "added" : "removed"),
            found->location);
      }
      scope_.clear();
    }
    for (const model::MediaType& each : after) {
      if (find_named(before, each.type, &model::MediaType::type) != nullptr) continue;
      add(rule + "-added", Level::info,
          fmt::format("{}: the media type {} was added", name, each.type),
          each.location.source != nullptr ? each.location : place);
    }
  }

  void compare_replies(const model::Operation& before, const model::Operation& after) {
    for (const model::Reply& each : before.replies) {
      const auto* const found = find_named(after.replies, each.status, &model::Reply::status);
      if (found == nullptr) {
        const bool counts = is_success(each.status);
        add(counts ? "response-success-status-removed" : "response-non-success-status-removed",
            counts ? Level::breaking : Level::info,
            fmt::format("the reply {} was removed", each.status), each.location);
        continue;
      }
      compare_content(SchemaOf::reply_body, each.status, each.content, found->content,
                      found->location);
      compare_fields(each, *found);
    }
    for (const model::Reply& each : after.replies) {
      if (find_named(before.replies, each.status, &model::Reply::status) != nullptr) continue;
      add(is_success(each.status) ? "response-success-status-added"
                                  : "response-non-success-status-added",
          Level::info, fmt::format("the reply {} was added", each.status), each.location);
    }
  }

  void compare_fields(const model::Reply& before, const model::Reply& after) {
    const auto find = [](const std::vector<model::Header>& list, Bytes name) {
      const auto found = std::ranges::find_if(
          list, [&](const model::Header& each) { return is_same_field(each.name, name); });
      return found == list.end() ? nullptr : &*found;
    };
    for (const model::Header& each : before.headers) {
      const model::Header* const found = find(after.headers, each.name);
      const std::string name = fmt::format("{} header field '{}'", before.status, each.name);
      if (found == nullptr) {
        add(each.required ? "required-response-header-removed" : "optional-response-header-removed",
            each.required ? Level::breaking : Level::info, name + " was removed", each.location);
        continue;
      }
      if (each.required != found->required) {
        add(found->required ? "response-header-became-required" : "response-header-became-optional",
            found->required ? Level::info : Level::breaking,
            fmt::format("{} became {}", name, found->required ? "required" : "optional"),
            found->location);
      }
      if (!each.schema || !found->schema) continue;
      scope_ = name + " ";
      schemas_.compare(SchemaOf::reply_field, each.schema->pointer, found->schema->pointer);
      scope_.clear();
    }
    for (const model::Header& each : after.headers) {
      if (find(before.headers, each.name) != nullptr) continue;
      add("response-header-added", Level::info,
          fmt::format("{} header field '{}' was added", after.status, each.name), each.location);
    }
  }

  // ---- security ----

  using Scopes = std::set<std::string>;
  // The schemes that are wanted together: its name; and the scopes of each.
  static std::map<std::string, std::map<std::string, Scopes>> alternatives_of(
      const std::vector<model::SecurityRequirement>& security) {
    std::map<std::string, std::map<std::string, Scopes>> made;
    for (const model::SecurityRequirement& each : security) {
      std::map<std::string, Scopes> schemes;
      for (const auto& [scheme, scopes] : each)
        schemes[scheme].insert(scopes.begin(), scopes.end());
      std::string name;
      for (const auto& [scheme, scopes] : schemes) name += (name.empty() ? "" : " and ") + scheme;
      made[name] = std::move(schemes);
    }
    return made;
  }

  void compare_security(const model::Operation& before, const model::Operation& after) {
    const auto was = alternatives_of(before.security);
    const auto is = alternatives_of(after.security);
    const bool was_open = was.empty() || was.contains("");
    const bool is_open = is.empty() || is.contains("");
    if (was_open && !is_open) {
      add("api-security-anonymous-access-removed", Level::breaking,
          "it is no longer open to everybody", after.location);
    } else if (!was_open && is_open) {
      add("api-security-anonymous-access-added", Level::info, "it is open to everybody",
          after.location);
    }
    for (const auto& [name, schemes] : was) {
      if (name.empty()) continue;
      const auto found = is.find(name);
      if (found != is.end()) {
        compare_scopes(schemes, found->second, after.location);
      } else {
        // A client that sends it to a public operation is let in as well.
        add("api-security-removed", is_open ? Level::info : Level::breaking,
            fmt::format("{} is no longer enough", name), after.location);
      }
    }
    for (const auto& [name, schemes] : is) {
      if (name.empty() || was.contains(name)) continue;
      add("api-security-added", Level::info, fmt::format("{} is enough", name), after.location);
    }
  }

  void compare_scopes(const std::map<std::string, Scopes>& before,
                      const std::map<std::string, Scopes>& after, const model::Location& place) {
    for (const auto& [scheme, scopes] : after) {
      const Scopes& was = before.at(scheme);
      for (const std::string& each : scopes) {
        if (was.contains(each)) continue;
        add("api-security-scope-added", Level::breaking,
            fmt::format("the scope '{}' of {} is wanted as well", each, scheme), place);
      }
      for (const std::string& each : was) {
        if (scopes.contains(each)) continue;
        add("api-security-scope-removed", Level::info,
            fmt::format("the scope '{}' of {} is not wanted any more", each, scheme), place);
      }
    }
  }

  void compare_schemes() {
    operation_.clear();
    using Scheme = model::SecurityScheme;
    for (const Scheme& each : before_.security_schemes) {
      const Scheme* const found = find_named(after_.security_schemes, each.name, &Scheme::name);
      if (found == nullptr) {
        add("api-security-component-removed", Level::info,
            fmt::format("the security scheme '{}' was removed", each.name), each.location);
        continue;
      }
      const auto changed = [&](const char* rule, Level level, const std::string& was,
                               const std::string& is, const char* what) {
        if (was == is) return;
        add(fmt::format("api-security-component-{}-changed", rule), level,
            fmt::format("{} of the security scheme '{}' changed from '{}' to '{}'", what, each.name,
                        was, is),
            found->location);
      };
      if (each.kind != found->kind) {
        add("api-security-component-type-changed", Level::breaking,
            fmt::format("the type of the security scheme '{}' changed", each.name),
            found->location);
        continue;
      }
      changed("api-key-name", Level::breaking, each.key_name, found->key_name, "the name");
      if (each.kind == Scheme::Kind::api_key) {
        changed("api-key-in", Level::breaking, std::string(in_name(each.key_in)),
                std::string(in_name(found->key_in)), "the place");
      }
      changed("http-scheme", Level::breaking, each.scheme, found->scheme, "the scheme");
      changed("bearer-format", Level::info, each.bearer_format, found->bearer_format, "the format");
      changed("openid-connect-url", Level::warning, each.open_id_connect_url,
              found->open_id_connect_url, "the URL");
    }
    for (const Scheme& each : after_.security_schemes) {
      if (find_named(before_.security_schemes, each.name, &Scheme::name) != nullptr) continue;
      add("api-security-component-added", Level::info,
          fmt::format("the security scheme '{}' was added", each.name), each.location);
    }
  }

  // ---- webhooks ----

  void compare_webhooks() {
    operation_.clear();
    is_webhook_ = true;
    for (const model::PathItem& each : before_.webhooks) {
      const auto* const found = find_named(after_.webhooks, each.path, &model::PathItem::path);
      if (found != nullptr) {
        compare_webhook(each, *found);
        continue;
      }
      operation_.clear();
      add("webhook-removed", Level::breaking,
          fmt::format("the webhook '{}' was removed", each.path), each.location);
    }
    operation_.clear();
    for (const model::PathItem& each : after_.webhooks) {
      if (find_named(before_.webhooks, each.path, &model::PathItem::path) != nullptr) continue;
      add("webhook-added", Level::info, fmt::format("the webhook '{}' was added", each.path),
          each.location);
    }
    is_webhook_ = false;
  }

  void compare_webhook(const model::PathItem& before, const model::PathItem& after) {
    const auto name = [&](const model::Operation& operation) {
      operation_ = fmt::format("webhook {} {}", operation.method, before.path);
    };
    for (const model::Operation& each : before.operations) {
      name(each);
      const auto* const found =
          find_named(after.operations, each.method, &model::Operation::method);
      if (found == nullptr) {
        add("webhook-removed", Level::breaking, "it was removed", each.location);
        continue;
      }
      compare_deprecation(each, *found);
      compare_received_parameters(each, *found);
      compare_received_body(each, *found);
      compare_answers(each, *found);
    }
    for (const model::Operation& each : after.operations) {
      if (find_named(before.operations, each.method, &model::Operation::method) != nullptr)
        continue;
      name(each);
      add("webhook-added", Level::info, "it was added", each.location);
    }
  }

  void compare_received_parameters(const model::Operation& before, const model::Operation& after) {
    const auto find = [](const model::Operation& of, const model::Parameter& parameter) {
      const auto found = std::ranges::find_if(of.parameters, [&](const model::Parameter& each) {
        return each.in == parameter.in &&
               (each.in == model::In::header ? is_same_field(each.name, parameter.name)
                                             : each.name == parameter.name);
      });
      return found == of.parameters.end() ? nullptr : &*found;
    };
    for (const model::Parameter& each : before.parameters) {
      const model::Parameter* const found = find(after, each);
      const std::string name = fmt::format("the {} parameter '{}'", in_name(each.in), each.name);
      if (found == nullptr) {
        add("response-parameter-removed", each.required ? Level::breaking : Level::info,
            name + " was removed", each.location);
        continue;
      }
      if (each.required != found->required) {
        add(found->required ? "response-parameter-became-required"
                            : "response-parameter-became-optional",
            found->required ? Level::info : Level::breaking,
            fmt::format("{} became {}", name, found->required ? "required" : "optional"),
            found->location);
      }
      compare_serialization(each, *found, name, "response");
      if (!each.schema || !found->schema) continue;
      scope_ = name + " ";
      schemas_.compare(SchemaOf::received_parameter, each.schema->pointer, found->schema->pointer);
      scope_.clear();
    }
    for (const model::Parameter& each : after.parameters) {
      if (find(before, each) != nullptr) continue;
      add("response-parameter-added", Level::info,
          fmt::format("the {} parameter '{}' was added", in_name(each.in), each.name),
          each.location);
    }
  }

  void compare_received_body(const model::Operation& before, const model::Operation& after) {
    if (!before.body && !after.body) return;
    if (!before.body) {
      add("response-body-added", Level::info, "content was added", after.body->location);
      return;
    }
    if (!after.body) {
      add("response-body-removed", Level::breaking, "the content was removed", before.location);
      return;
    }
    if (before.body->required != after.body->required) {
      add(after.body->required ? "response-body-became-required" : "response-body-became-optional",
          after.body->required ? Level::info : Level::breaking,
          fmt::format("the content became {}", after.body->required ? "required" : "optional"),
          after.body->location);
    }
    compare_content(SchemaOf::reply_body, "content", before.body->content, after.body->content,
                    after.body->location);
  }

  // Compares the replies that clients may send to a webhook.
  void compare_answers(const model::Operation& before, const model::Operation& after) {
    for (const model::Reply& each : before.replies) {
      const auto* const found = find_named(after.replies, each.status, &model::Reply::status);
      if (found == nullptr) {
        const bool counts = is_success(each.status) || each.status == "default";
        add("request-status-removed", counts ? Level::breaking : Level::info,
            fmt::format("the reply {} is not taken any more", each.status), each.location);
        continue;
      }
      compare_content(SchemaOf::request_body, each.status, each.content, found->content,
                      found->location);
      for (const model::Header& field : found->headers) {
        const bool was_required = std::ranges::any_of(each.headers, [&](const model::Header& old) {
          return old.required && is_same_field(old.name, field.name);
        });
        if (!field.required || was_required) continue;
        add("request-header-became-required", Level::breaking,
            fmt::format("{} header field '{}' became required", each.status, field.name),
            field.location);
      }
    }
    for (const model::Reply& each : after.replies) {
      if (find_named(before.replies, each.status, &model::Reply::status) != nullptr) continue;
      add("request-status-added", Level::info,
          fmt::format("the reply {} is taken, too", each.status), each.location);
    }
  }

  const Description& before_;
  const Description& after_;
  const DiffOptions& options_;
  std::string operation_;
  std::string scope_;        // in front of the words of schemas
  bool is_webhook_ = false;  // clients then receive the request
  SchemaDiff schemas_;
  std::vector<Change> changes_;
  std::set<std::tuple<std::string, std::string, std::string>> known_;
};

}  // namespace

std::vector<Change> compare(const Description& before, const Description& after,
                            const DiffOptions& options) {
  return Comparison(before, after, options).run();
}

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
