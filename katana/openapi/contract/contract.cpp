#include "katana/openapi/contract/contract.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "katana/wire/http/characters.hpp"

namespace katana::openapi {
namespace {

using container::Value;

constexpr std::size_t parameters_max = 64;  // of an operation: each has a bit

std::string lower(Bytes text) {
  std::string made(text);
  for (char& each : made) each = http::to_lower(each);
  return made;
}

MediaContract::Kind kind_of(Bytes range) {
  using Kind = MediaContract::Kind;
  if (range == "application/json" || range.ends_with("+json")) return Kind::json;
  if (range == "application/x-www-form-urlencoded") return Kind::form;
  if (range == "multipart/form-data") return Kind::multipart;
  return range.starts_with("text/") && range != "text/event-stream" ? Kind::text : Kind::other;
}

std::string range_of(Bytes type) {
  std::string range = lower(type.substr(0, type.find(';')));
  while (range.ends_with(' ')) range.pop_back();
  return range;
}

std::vector<MediaContract> contents_of(const std::vector<model::MediaType>& content) {
  std::vector<MediaContract> made;
  for (const model::MediaType& each : content) {
    MediaContract& media = made.emplace_back();
    media.range = range_of(each.type);
    media.kind = kind_of(media.range);
    if (each.schema) media.schema_pointer = each.schema->pointer;
    for (const model::Encoding& encoding : each.encodings) {
      if (!encoding.style) continue;
      media.styles.push_back({encoding.property, *encoding.style, encoding.explode});
    }
  }
  // A named media type goes before "text/*", and this before "*/*".
  std::ranges::sort(made, {}, [](const MediaContract& each) {
    const int rank = each.range.starts_with('*') ? 2 : each.range.ends_with('*') ? 1 : 0;
    return std::pair(rank, Bytes(each.range));
  });
  return made;
}

// Takes the schema of a model::Parameter or a model::Header, which has a schema or one media type.
template <class T>
void take_schema(ParameterContract& made, const T& words) {
  if (words.schema) {
    made.schema_pointer = words.schema->pointer;
  } else if (!words.content.empty()) {
    made.is_json = kind_of(range_of(words.content.front().type)) == MediaContract::Kind::json;
    if (made.is_json && words.content.front().schema) {
      made.schema_pointer = words.content.front().schema->pointer;
    }
  }
}

Part part_of(model::In in) noexcept {
  switch (in) {
    case model::In::path: return Part::path;
    case model::In::query: return Part::query;
    case model::In::header: return Part::header;
    case model::In::cookie: return Part::cookie;
  }
  return Part::query;
}

// OpenAPI 3.1.1 §4.8.12.2.1: these fields are no parameters.
bool is_ignored(const model::Parameter& parameter) {
  return parameter.in == model::In::header &&
         (http::equals_ignoring_case(parameter.name, "accept") ||
          http::equals_ignoring_case(parameter.name, "content-type") ||
          http::equals_ignoring_case(parameter.name, "authorization"));
}

std::vector<ParameterContract> parameters_of(const std::vector<model::Parameter>& parameters) {
  std::vector<ParameterContract> made;
  for (const model::Parameter& each : parameters) {
    if (is_ignored(each)) continue;
    ParameterContract& parameter = made.emplace_back();
    parameter.name = each.name;
    parameter.in = part_of(each.in);
    parameter.style = each.style;
    parameter.explode = each.explode;
    parameter.required = each.required || each.in == model::In::path;
    parameter.allow_empty = each.allow_empty_value;
    take_schema(parameter, each);
  }
  return made;
}

std::vector<ReplyContract> replies_of(const std::vector<model::Reply>& replies) {
  std::vector<ReplyContract> made;
  for (const model::Reply& each : replies) {
    ReplyContract& reply = made.emplace_back();
    reply.status = each.status;
    reply.contents = contents_of(each.content);
    for (const model::Header& field : each.headers) {
      if (http::equals_ignoring_case(field.name, "content-type")) continue;
      ParameterContract& parameter = reply.fields.emplace_back();
      parameter.name = field.name;
      parameter.in = Part::header;
      parameter.style = model::Style::simple;
      parameter.explode = field.explode;
      parameter.required = field.required;
      take_schema(parameter, field);
    }
  }
  return made;
}

// The path of each: of "https://shop.example/v1/" it is "/v1".
std::vector<std::string> base_paths_of(const std::vector<model::Server>& servers) {
  std::vector<std::string> paths;
  for (const model::Server& each : servers) {
    std::string url = each.default_url();
    if (const std::size_t scheme = url.find("://"); scheme != std::string::npos) {
      url.erase(0, std::min(url.find('/', scheme + 3), url.size()));
    }
    while (url.ends_with('/')) url.pop_back();
    if (!url.empty() && url.front() != '/') url.insert(0, "/");
    if (std::ranges::find(paths, url) == paths.end()) paths.push_back(std::move(url));
  }
  if (paths.empty()) paths.emplace_back();
  // The longest that a path begins with is the one that is meant.
  std::ranges::sort(paths, {}, [](const std::string& each) {
    return std::pair(SIZE_MAX - each.size(), Bytes(each));
  });
  return paths;
}

template <class Visit>
void for_each_schema(std::vector<ParameterContract>& parameters,
                     std::vector<MediaContract>& contents, const Visit& visit) {
  for (ParameterContract& each : parameters) visit(each.schema_pointer, each.schema);
  for (MediaContract& each : contents) visit(each.schema_pointer, each.schema);
}

}  // namespace

Result<Contract> Contract::compile(const Description& description, ContractOptions options) {
  Contract contract;
  contract.base_paths_ = base_paths_of(description.servers);
  for (const model::PathItem& path : description.paths) {
    for (const model::Operation& each : path.operations) {
      if (each.parameters.size() <= parameters_max) continue;
      return fail(Code::invalid_argument,
                  fmt::format("{}: {} parameters; {} are supported", each.location.describe(),
                              each.parameters.size(), parameters_max));
    }
    if (const auto added = contract.templates_.add(path.path, contract.by_path_.size()); !added) {
      return std::unexpected(added.error().within(path.location.describe()));
    }
    contract.add(path);
  }
  if (auto made = contract.compile_schemas(description.schemas, options); !made) {
    return std::unexpected(made.error());
  }
  return contract;
}

void Contract::add(const model::PathItem& path) {
  std::vector<std::size_t>& indices = by_path_.emplace_back();
  for (const model::Operation& each : path.operations) {
    indices.push_back(operations_.size());
    ContractOperation& made = operations_.emplace_back();
    made.id_ = each.id;
    made.method_ = each.method;
    made.path_ = path.path;
    made.parameters_ = parameters_of(each.parameters);
    made.replies_ = replies_of(each.replies);
    if (!each.body) continue;
    made.contents_ = contents_of(each.body->content);
    made.requires_content_ = each.body->required;
  }
}

Result<void> Contract::compile_schemas(const Value& schemas, const ContractOptions& options) {
  using schema::Direction;
  for (const Direction direction : {Direction::request, Direction::reply}) {
    if (direction == Direction::reply && !options.check_replies) continue;
    const auto for_each = [&](const auto& visit) {
      for (ContractOperation& each : operations_) {
        if (direction == Direction::request) {
          for_each_schema(each.parameters_, each.contents_, visit);
          continue;
        }
        for (ReplyContract& reply : each.replies_) {
          for_each_schema(reply.fields, reply.contents, visit);
        }
      }
    };
    std::vector<std::string> pointers;
    for_each([&](const std::string& pointer, auto&) {
      if (!pointer.empty()) pointers.push_back(pointer);
    });
    if (pointers.empty()) continue;
    auto made = schema::Schema::compile_each(
        schemas, pointers, {.assert_formats = options.assert_formats, .direction = direction});
    if (!made) return std::unexpected(made.error());
    std::size_t next = 0;
    for_each([&](const std::string& pointer, std::optional<schema::Schema>& target) {
      if (!pointer.empty()) target = std::move((*made)[next++]);
    });
  }
  for (ContractOperation& each : operations_) each.prepare();
  return {};
}

Contract::Found Contract::find(Bytes method, Bytes path) const {
  Found result;
  const Bytes wanted = method == "HEAD" ? Bytes("GET") : method;
  for (const std::string& base : base_paths_) {
    if (!path.starts_with(base)) continue;
    for (auto& match : templates_.find(path.substr(base.size()))) {
      result.has_path = true;
      const ContractOperation* fallback = nullptr;
      for (const std::size_t index : by_path_[match.index]) {
        const ContractOperation& each = operations_[index];
        if (each.method() == method) result.operation = &each;
        if (each.method() == wanted) fallback = &each;
      }
      if (result.operation == nullptr) result.operation = fallback;
      if (result.operation == nullptr) continue;
      result.values = std::move(match.values);
      return result;
    }
  }
  return result;
}

const ContractOperation* Contract::find_id(Bytes id) const noexcept {
  if (id.empty()) return nullptr;  // that of operations without one
  const auto found = std::ranges::find(operations_, id, &ContractOperation::id);
  return found == operations_.end() ? nullptr : &*found;
}

const ReplyContract* ContractOperation::reply_for(unsigned status) const noexcept {
  const ReplyContract* range = nullptr;
  const ReplyContract* fallback = nullptr;
  const char digits[] = {static_cast<char>('0' + status / 100),
                         static_cast<char>('0' + status / 10 % 10),
                         static_cast<char>('0' + status % 10)};
  const Bytes exact(digits, sizeof digits);
  for (const ReplyContract& each : replies_) {
    if (each.status == exact) return &each;
    if (each.status == "default") fallback = &each;
    if (each.status.front() == exact.front() && Bytes(each.status).substr(1) == "XX") range = &each;
  }
  return range != nullptr ? range : fallback;
}

void ContractOperation::prepare() {
  for (std::uint32_t index = 0; index < parameters_.size(); ++index) {
    ParameterContract& each = parameters_[index];
    each.prepare();
    if (each.in != Part::query) continue;
    has_query_ = true;
    const bool is_object = each.kind == ParameterContract::Kind::object;
    if (each.style == model::Style::deep_object) {
      deep_objects_.push_back(index);
    } else if (is_object && each.explode && each.style == model::Style::form) {
      for (const ParameterContract::Member& member : each.members) {
        query_names_.push_back({member.name, index, true});
      }
      if (each.takes_other_names && !takes_rest_) takes_rest_ = index;
    } else {
      query_names_.push_back({each.name, index, false});
    }
  }
  for (ReplyContract& reply : replies_) {
    for (ParameterContract& each : reply.fields) each.prepare();
  }
  // A name that is both a parameter and a member is the parameter.
  std::ranges::sort(query_names_, {}, [](const QueryName& each) {
    return std::tuple(Bytes(each.name), each.is_member, each.parameter);
  });
}

const ContractOperation::QueryName* ContractOperation::find_query(Bytes name) const noexcept {
  constexpr std::size_t few = 8;
  if (query_names_.size() <= few) {
    for (const QueryName& each : query_names_) {
      if (each.name == name) return &each;
    }
    return nullptr;
  }
  const auto found = std::ranges::lower_bound(
      query_names_, name, {}, [](const QueryName& each) { return Bytes(each.name); });
  return found == query_names_.end() || Bytes(found->name) != name ? nullptr : &*found;
}

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
