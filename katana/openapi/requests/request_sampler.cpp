#include "katana/openapi/requests/request_sampler.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "katana/data/container/form_tree.hpp"
#include "katana/data/container/json_write.hpp"
#include "katana/wire/http/characters.hpp"
#include "katana/wire/http/url.hpp"

namespace katana::openapi {
namespace {

using container::List;
using container::Member;
using container::Object;
using container::Value;
using model::Style;

constexpr std::size_t tries_max = 16;  // of a request

// Everything but RFC 3986's unreserved characters.
std::string encoded(Bytes text) {
  std::string made;
  for (const char each : text) {
    const bool is_plain = (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
                          (each >= '0' && each <= '9') || each == '-' || each == '.' ||
                          each == '_' || each == '~';
    made += is_plain
                ? std::string(1, each)
                : fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(each)));
  }
  return made;
}

std::string scalar_text(const Value& value) {
  if (value.is_null()) return {};
  return value.kind() == container::Kind::text ? value.as_text() : container::to_json(value);
}

// The text as it is in a path, a header field or a cookie.
std::string escaped_for(Part in, Bytes text) {
  return in == Part::path || in == Part::query ? encoded(text) : std::string(text);
}

Bytes separator_of(const ParameterContract& parameter) {
  switch (parameter.style) {
    case Style::space_delimited: return "%20";
    case Style::pipe_delimited: return "%7C";  // a request-target has no bare one
    case Style::tab_delimited: return "%09";
    case Style::label: return parameter.explode ? "." : ",";
    default: return ",";
  }
}

// The pieces of a list or an object, in the style's form but without its prefix.
std::string joined(const ParameterContract& parameter, const Value& value) {
  std::string text;
  const Bytes separator = separator_of(parameter);
  const auto add = [&](const std::string& piece) {
    if (!text.empty()) text += separator;
    text += piece;
  };
  if (const List* const list = value.get_list()) {
    for (const Value& each : *list) add(escaped_for(parameter.in, scalar_text(each)));
  } else if (const Object* const object = value.get_object()) {
    for (const Member& each : *object) {
      const std::string name = escaped_for(parameter.in, each.name);
      const std::string item = escaped_for(parameter.in, scalar_text(each.value));
      if (parameter.explode) {
        add(name + "=" + item);
      } else {
        add(name);
        add(item);
      }
    }
  } else {
    text = escaped_for(parameter.in, scalar_text(value));
  }
  return text;
}

// `matrix` repeats its name; the others have something in front, or nothing.
std::string in_style(const ParameterContract& parameter, const Value& value) {
  if (parameter.style == Style::label) return "." + joined(parameter, value);
  if (parameter.style != Style::matrix) return joined(parameter, value);
  std::string text;
  if (parameter.explode && value.get_list() != nullptr) {
    for (const Value& each : *value.get_list()) {
      text += fmt::format(";{}={}", parameter.name, encoded(scalar_text(each)));
    }
    return text;
  }
  if (parameter.explode && value.get_object() != nullptr) {
    for (const Member& each : *value.get_object()) {
      text += fmt::format(";{}={}", encoded(each.name), encoded(scalar_text(each.value)));
    }
    return text;
  }
  return fmt::format(";{}={}", parameter.name, joined(parameter, value));
}

void add_pair(std::string& query, const std::string& name, const std::string& value) {
  query += fmt::format("{}{}={}", query.empty() ? "" : "&", name, value);
}

void add_brackets(std::string& pairs, Bytes name, const Value& value) {
  for (const auto& [each, text] : container::bracket_pairs(name, value)) {
    add_pair(pairs, encoded(each), encoded(text));
  }
}

// A property of a form: objects without a style are JSON.
void add_property(std::string& form, const Member& property, const std::vector<FormStyle>& styles) {
  const auto style = std::ranges::find(styles, property.name, &FormStyle::name);
  if (style != styles.end() && style->style == Style::deep_object) {
    return add_brackets(form, property.name, property.value);
  }
  const List* const list = property.value.get_list();
  if (list != nullptr && style != styles.end() && !style->explode) {
    ParameterContract as_parameter;
    as_parameter.style = style->style;
    as_parameter.explode = false;
    return add_pair(form, encoded(property.name), joined(as_parameter, property.value));
  }
  const List one = list == nullptr ? List{property.value} : *list;
  for (const Value& item : one) {
    add_pair(form, encoded(property.name), encoded(scalar_text(item)));
  }
}

class DrawnFields final : public Fields {
 public:
  explicit DrawnFields(const std::vector<std::pair<std::string, std::string>>& all) : all_(all) {}
  std::optional<Bytes> find(Bytes name) const override {
    const auto found = std::ranges::find_if(
        all_, [&](const auto& each) { return http::equals_ignoring_case(each.first, name); });
    if (found == all_.end()) return std::nullopt;
    return found->second;
  }

 private:
  const std::vector<std::pair<std::string, std::string>>& all_;
};

}  // namespace

Result<RequestSampler> RequestSampler::make(const Description& description,
                                            RequestSampleOptions options) {
  auto contract = Contract::compile(description, {.check_replies = false});
  if (!contract) return std::unexpected(contract.error());
  // Weights of the description, unless the options have them.
  for (const model::PathItem& path : description.paths) {
    for (const model::Operation& each : path.operations) {
      const Value* const weight = each.extensions.find("x-weight");
      const auto number = weight == nullptr ? std::nullopt : weight->get_real();
      if (number) options.weights.try_emplace(each.method + " " + path.path, *number);
    }
  }
  for (const auto& [name, weight] : options.weights) {
    const bool is_known =
        std::ranges::any_of(contract->operations(), [&](const ContractOperation& each) {
          return each.id() == name || each.describe() == name;
        });
    if (!is_known || weight < 0) {
      return fail(
          Code::invalid_argument,
          fmt::format("'{}={}': give an operation of the description, by its operationId or "
                      "as 'GET /path', a weight of 0 or more",
                      name, weight));
    }
  }
  RequestSampler made(*std::move(contract), std::move(options));
  if (made.weights_.empty() || made.weights_.back() <= 0) {
    return fail(Code::invalid_argument, "no operation of the description has a weight above 0");
  }
  return made;
}

RequestSampler::RequestSampler(Contract contract, RequestSampleOptions options)
    : contract_(std::move(contract)),
      options_(std::move(options)),
      sampler_(options_.seed,
               {.examples = options_.examples, .direction = schema::Direction::request}) {
  double sum = 0;
  for (const ContractOperation& each : contract_.operations()) {
    auto found = options_.weights.find(each.id());
    if (found == options_.weights.end()) found = options_.weights.find(each.describe());
    sum += found == options_.weights.end() ? 1 : found->second;
    weights_.push_back(sum);
  }
}

const ContractOperation& RequestSampler::choose() {
  constexpr std::uint64_t parts = 1'000'000'000;
  const double at =
      weights_.back() * static_cast<double>(sampler_.random().below(parts)) / double{parts};
  const auto found = std::ranges::upper_bound(weights_, at);
  const auto index =
      std::min(static_cast<std::size_t>(found - weights_.begin()), weights_.size() - 1);
  return contract_.operations()[index];
}

Result<DrawnRequest> RequestSampler::draw() { return draw_from(choose()); }

Result<DrawnRequest> RequestSampler::draw_of(Bytes operation) {
  for (const ContractOperation& each : contract_.operations()) {
    if (each.id() == operation || each.describe() == operation) return draw_from(each);
  }
  return fail(Code::not_found, fmt::format("the description has no operation '{}'", operation));
}

Result<DrawnRequest> RequestSampler::draw_from(const ContractOperation& operation) {
  std::string why;
  for (std::size_t tries = 0; tries < tries_max; ++tries) {
    if (auto drawn = try_draw(operation, why)) return *std::move(drawn);
  }
  return fail(Code::unavailable,
              fmt::format("no request was found for {}: {}", operation.describe(), why));
}

std::optional<DrawnRequest> RequestSampler::try_draw(const ContractOperation& operation,
                                                     std::string& why) {
  DrawnRequest request{.operation = operation.id().empty() ? operation.describe() : operation.id(),
                       .method = operation.method(),
                       .target = operation.path()};
  std::string query;
  for (const ParameterContract& each : operation.parameters()) {
    const bool is_here = each.required || sampler_.random().chance(512);
    if (!is_here || !each.schema) {
      if (!each.required) continue;
      why = fmt::format("the parameter '{}' has no schema", each.name);
      return std::nullopt;
    }
    if (each.in == Part::query) {
      if (!add_query(each, query, why)) return std::nullopt;
      continue;
    }
    const auto text = text_of(each, why);
    if (!text) return std::nullopt;
    if (each.in == Part::path) {
      const std::string name = "{" + each.name + "}";
      const std::size_t at = request.target.find(name);
      if (at != std::string::npos) request.target.replace(at, name.size(), *text);
    } else if (each.in == Part::cookie) {
      request.fields.emplace_back("Cookie", fmt::format("{}={}", each.name, *text));
    } else {
      request.fields.emplace_back(each.name, *text);
    }
  }
  if (!add_content(operation, request, why)) return std::nullopt;
  const std::string path = contract_.base_paths().back() + request.target;
  std::string normal(path);
  const auto size = http::normalize_path(path, normal);
  normal.resize(size.value_or(0));
  const Contract::Found found = contract_.find(operation.method(), normal);
  const DrawnFields fields(request.fields);
  Violations violations;
  if (found.operation != &operation ||
      !operation.check_request(
          {.path = found.values, .query = query, .fields = fields, .content = request.content},
          violations)) {
    why = found.operation != &operation ? "its path is another one's" : violations.describe();
    return std::nullopt;
  }
  request.target = path + (query.empty() ? "" : "?") + query;
  return request;
}

std::optional<std::string> RequestSampler::text_of(const ParameterContract& parameter,
                                                   std::string& why) {
  if (const auto range = options_.ranges.find(parameter.name); range != options_.ranges.end()) {
    const auto [first, last] = range->second;
    const auto count = static_cast<std::uint64_t>(std::max(last, first) - first) + 1;
    return std::to_string(first + static_cast<std::int64_t>(sampler_.random().below(count)));
  }
  const auto value = sampler_.draw(*parameter.schema);
  if (!value) {
    why = value.error().describe();
    return std::nullopt;
  }
  if (parameter.is_json) return escaped_for(parameter.in, container::to_json(*value));
  return in_style(parameter, *value);
}

bool RequestSampler::add_query(const ParameterContract& parameter, std::string& query,
                               std::string& why) {
  const bool is_plain = parameter.kind == ParameterContract::Kind::scalar || !parameter.explode ||
                        parameter.style != Style::form;
  const bool is_whole = options_.ranges.contains(parameter.name) || parameter.is_json ||
                        (is_plain && parameter.style != Style::deep_object);
  if (is_whole) {
    const auto text = text_of(parameter, why);
    if (text) add_pair(query, encoded(parameter.name), *text);
    return text.has_value();
  }
  const auto value = sampler_.draw(*parameter.schema);
  if (!value) {
    why = value.error().describe();
    return false;
  }
  if (parameter.style == Style::deep_object) {
    add_brackets(query, parameter.name, *value);
  } else if (const List* const list = value->get_list()) {
    for (const Value& each : *list) {
      add_pair(query, encoded(parameter.name), encoded(scalar_text(each)));
    }
  } else if (const Object* const object = value->get_object()) {
    for (const Member& each : *object) {
      add_pair(query, encoded(each.name), encoded(scalar_text(each.value)));
    }
  }
  return true;
}

bool RequestSampler::add_content(const ContractOperation& operation, DrawnRequest& request,
                                 std::string& why) {
  using Kind = MediaContract::Kind;
  if (operation.contents().empty()) return true;
  for (const MediaContract& each : operation.contents()) {
    if (!each.schema || each.kind == Kind::other || each.kind == Kind::multipart) continue;
    if (each.range.ends_with('*')) continue;
    const auto value = sampler_.draw(*each.schema);
    if (!value) {
      why = value.error().describe();
      continue;
    }
    request.fields.emplace_back("Content-Type", each.range);
    if (each.kind == Kind::json) request.content = container::to_json(*value);
    if (each.kind == Kind::text) request.content = scalar_text(*value);
    if (each.kind == Kind::form && value->get_object() != nullptr) {
      for (const Member& member : *value->get_object()) {
        add_property(request.content, member, each.styles);
      }
    }
    return true;
  }
  if (operation.requires_content() && why.empty()) {
    why = "its content has no schema, or no media type that can be made";
  }
  return !operation.requires_content();
}

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
