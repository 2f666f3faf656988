#include "katana/openapi/mock/mock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/text/text.hpp"
#include "katana/data/container/json_write.hpp"
#include "katana/data/schema/samples/sampler.hpp"
#include "katana/http/handlers/accept.hpp"
#include "katana/http/handlers/cookies.hpp"
#include "katana/http/handlers/framework_problems.hpp"
#include "katana/openapi/contract/contract.hpp"
#include "katana/openapi/mock/preferences.hpp"
#include "katana/openapi/validation/validated_handler.hpp"
#include "katana/wire/http/characters.hpp"
#include "katana/wire/http/url.hpp"

namespace katana::openapi {
namespace {

using container::Value;
using detail::Preferences;

class HeadFields final : public Fields {
 public:
  explicit HeadFields(const http::Head& head) noexcept : head_(head) {}
  std::optional<Bytes> find(Bytes name) const override { return head_.find(name); }

 private:
  const http::Head& head_;
};

// FNV-1a: the same everywhere.
std::uint64_t hash_of(std::uint64_t seed, Bytes text) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325 ^ (seed * 0x9e3779b97f4a7c15);
  for (const char each : text) {
    hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001b3;
  }
  return hash;
}

bool has_query_name(Bytes query, Bytes wanted) {
  http::QueryReader reader(query);
  for (Bytes name, value; reader.next(name, value);) {
    if (name == wanted) return true;
  }
  return false;
}

// Whether there are credentials of that scheme; their value does not count.
bool has_credentials(const model::SecurityScheme& scheme, const RequestView& request) {
  using Kind = model::SecurityScheme::Kind;
  switch (scheme.kind) {
    case Kind::mutual_tls: return true;  // the mock's connection has none to show
    case Kind::api_key:
      if (scheme.key_in == model::In::query)
        return has_query_name(request.query(), scheme.key_name);
      if (scheme.key_in == model::In::cookie) {
        return cookie(request.head(), scheme.key_name).has_value();
      }
      return request.field(scheme.key_name).has_value();
    case Kind::http:
    case Kind::oauth2:
    case Kind::open_id_connect: break;
  }
  const Bytes name = scheme.kind == Kind::http ? Bytes(scheme.scheme) : Bytes("bearer");
  const auto field = request.field("authorization");
  return field && field->size() > name.size() && (*field)[name.size()] == ' ' &&
         http::equals_ignoring_case(field->substr(0, name.size()), name);
}

const model::Reply* choose_reply(const model::Operation& operation, std::optional<unsigned> code) {
  if (code) return operation.reply_of(*code);
  // Replies are in the order of their statuses, ranges and the default behind them.
  const auto success = std::ranges::find_if(
      operation.replies, [](const model::Reply& each) { return each.status.starts_with('2'); });
  if (success != operation.replies.end()) return &*success;
  const auto fallback = std::ranges::find(operation.replies, "default", &model::Reply::status);
  if (fallback != operation.replies.end()) return &*fallback;
  return operation.replies.empty() ? nullptr : &operation.replies.front();
}

unsigned status_of(const model::Reply& reply, std::optional<unsigned> code) noexcept {
  if (code) return *code;
  if (reply.code() != 0) return reply.code();
  const bool is_range =
      reply.status.size() == 3 && reply.status[0] >= '2' && reply.status[0] <= '5';
  return is_range ? static_cast<unsigned>(reply.status[0] - '0') * 100 : 200;
}

}  // namespace

struct Mock::State {
  State(Description from, Contract made, const MockOptions& given)
      : description(std::move(from)), contract(std::move(made)), options(given) {
    for (const model::PathItem& path : description.paths) {
      for (const model::Operation& each : path.operations) operations.push_back(&each);
    }
  }

  Reply answer(const RequestView& request) const;
  std::optional<Reply> refuse(const Contract::Found& found, const RequestView& request,
                              StepBudget& budget) const;
  std::optional<Reply> challenge(const model::Operation& operation,
                                 const RequestView& request) const;
  Reply reply_as(const ContractOperation& contract_of, const model::Operation& operation,
                 const RequestView& request, StepBudget& budget) const;
  // Draws data. Each draw takes steps from the request's budget.
  struct Draws {
    schema::Sampler sampler;
    StepBudget& budget;
    Result<Value> of(const schema::Schema& schema) { return sampler.draw(schema, budget); }
  };
  // The content as it is sent; an Error: it could not be drawn.
  Result<std::string> content_of(const ContractOperation& contract_of, const model::Reply& reply,
                                 const model::MediaType& media, const Preferences& wanted,
                                 Draws& draws) const;
  void add_fields(Reply& made, const ContractOperation& contract_of, const model::Reply& reply,
                  Draws& draws) const;
  const model::Operation& model_of(const ContractOperation& operation) const {
    return *operations[static_cast<std::size_t>(&operation - contract.operations().data())];
  }

  const Description description;
  const Contract contract;
  const MockOptions options;
  std::vector<const model::Operation*> operations;  // in the order of the contract's
  mutable std::atomic<std::uint64_t> requests = 0;  // that wanted other data each time
};

Result<Mock> Mock::make(Description description, const MockOptions& options) {
  auto contract = Contract::compile(description, {.assert_formats = true});
  if (!contract) return std::unexpected(contract.error());
  return Mock(std::make_shared<State>(std::move(description), *std::move(contract), options));
}

std::size_t Mock::operation_count() const noexcept { return state_->operations.size(); }

void Mock::add_to(Group group) const {
  const auto handler = [state = state_](const RequestView& request) {
    return state->answer(request);
  };
  group.any("/", handler).any("/{_path...}", handler);
}

Reply Mock::State::answer(const RequestView& request) const {
  const Contract::Found found = contract.find(request.method_text(), request.path());
  if (found.operation == nullptr) {
    return found.has_path ? problem(problem_types::method_not_served,
                                    "The description has other methods for this path.")
                          : problem(problem_types::no_route, "The description has no such path.");
  }
  const model::Operation& operation = model_of(*found.operation);
  StepBudget budget(
      StepBudget::for_bytes(request.query().size() + request.content().size(), options.steps_max));
  if (options.checks_credentials) {
    if (auto refused = challenge(operation, request)) return *std::move(refused);
  }
  if (options.checks_requests) {
    if (auto refused = refuse(found, request, budget)) return *std::move(refused);
  }
  return reply_as(*found.operation, operation, request, budget);
}

std::optional<Reply> Mock::State::refuse(const Contract::Found& found, const RequestView& request,
                                         StepBudget& budget) const {
  const HeadFields fields(request.head());
  const RequestParts parts{.path = found.values,
                           .query = request.query(),
                           .fields = fields,
                           .content = request.content()};
  Violations violations;
  if (found.operation->check_parameters(parts, violations, budget) &&
      found.operation->check_content(parts, violations, budget)) {
    return std::nullopt;
  }
  return detail::refusal_of(*found.operation, violations, budget);
}

std::optional<Reply> Mock::State::challenge(const model::Operation& operation,
                                            const RequestView& request) const {
  if (operation.security.empty()) return std::nullopt;
  for (const model::SecurityRequirement& requirement : operation.security) {
    const bool has_all = std::ranges::all_of(requirement, [&](const auto& each) {
      const auto scheme =
          std::ranges::find(description.security_schemes, each.first, &model::SecurityScheme::name);
      return scheme == description.security_schemes.end() || has_credentials(*scheme, request);
    });
    if (has_all) return std::nullopt;
  }
  return unauthenticated("Bearer", "The operation asks for credentials, and there are none.");
}

Reply Mock::State::reply_as(const ContractOperation& contract_of, const model::Operation& operation,
                            const RequestView& request, StepBudget& budget) const {
  const Preferences wanted = detail::preferences_of(request);
  const model::Reply* const reply = choose_reply(operation, wanted.code);
  if (reply == nullptr) {
    return problem(problem_types::not_found,
                   wanted.code ? fmt::format("The description has no reply {} for {}.",
                                             *wanted.code, contract_of.describe())
                               : std::string("The description has no reply for it."));
  }
  const unsigned status = status_of(*reply, wanted.code);
  if (status < 200 || status > 599) {
    return problem(problem_types::invalid_parameter,
                   fmt::format("{} is no status that a reply can have.", status));
  }
  const std::uint64_t turn = wanted.is_dynamic ? requests.fetch_add(1) + 1 : 0;
  const std::uint64_t seed =
      hash_of(options.seed + turn,
              fmt::format("{} {}?{}", request.method_text(), request.path(), request.query()));
  Draws draws{schema::Sampler(
                  seed, {.examples = !wanted.is_dynamic, .direction = schema::Direction::reply}),
              budget};
  Reply made(status);
  if (!reply->content.empty()) {
    const auto media = std::ranges::find_if(reply->content, [&](const model::MediaType& each) {
      return accepts(request.field("accept"), Bytes(each.type).substr(0, each.type.find(';')));
    });
    if (media == reply->content.end()) {
      return problem(problem_types::not_acceptable,
                     "The description has no media type that Accept takes.");
    }
    auto content = content_of(contract_of, *reply, *media, wanted, draws);
    if (!content)
      return problem(content.error().code() == Code::not_found ? problem_types::not_found
                                                               : problem_types::internal_error,
                     content.error().message());
    made = Reply(status, "text/plain", Text(*content));
    made.set_content_type(media->type.contains('*') ? Bytes("application/octet-stream")
                                                    : Bytes(media->type));
  }
  add_fields(made, contract_of, *reply, draws);
  return made;
}

Result<std::string> Mock::State::content_of(const ContractOperation& contract_of,
                                            const model::Reply& reply,
                                            const model::MediaType& media,
                                            const Preferences& wanted, Draws& draws) const {
  const auto written = [&](const Value& value) {
    const bool is_text = value.kind() == container::Kind::text && !media.type.contains("json");
    return is_text ? value.as_text() : container::to_json(value);
  };
  for (const model::Example& each : media.examples) {
    if (each.raw == nullptr || (wanted.is_dynamic && wanted.example.empty())) continue;
    if (wanted.example.empty() || each.name == wanted.example) return written(each.value());
  }
  if (!wanted.example.empty()) {
    return fail(Code::not_found, fmt::format("The description has no example '{}' of the reply {}.",
                                             wanted.example, reply.status));
  }
  const auto found = std::ranges::find(contract_of.replies(), reply.status, &ReplyContract::status);
  if (!media.schema || found == contract_of.replies().end()) return std::string();
  const auto by_type =
      std::ranges::find(found->contents, media.schema->pointer, &MediaContract::schema_pointer);
  if (by_type == found->contents.end() || !by_type->schema) return std::string();
  auto value = draws.of(*by_type->schema);
  if (!value) return std::unexpected(value.error());
  return written(*value);
}

void Mock::State::add_fields(Reply& made, const ContractOperation& contract_of,
                             const model::Reply& reply, Draws& draws) const {
  const auto found = std::ranges::find(contract_of.replies(), reply.status, &ReplyContract::status);
  if (found == contract_of.replies().end()) return;
  for (const ParameterContract& each : found->fields) {
    if (!each.schema) continue;
    const auto value = draws.of(*each.schema);
    if (!value) continue;
    std::string text =
        value->kind() == container::Kind::text ? value->as_text() : container::to_json(*value);
    if (const container::List* const list = value->get_list()) {
      text.clear();
      for (const Value& item : *list) {
        if (!text.empty()) text += ", ";
        text += item.kind() == container::Kind::text ? item.as_text() : container::to_json(item);
      }
    }
    const bool is_field = text.find_first_of("\r\n") == std::string::npos;
    const bool is_ours = http::equals_ignoring_case(each.name, "content-length") ||
                         http::equals_ignoring_case(each.name, "date") ||
                         http::equals_ignoring_case(each.name, "server") ||
                         http::equals_ignoring_case(each.name, "connection") ||
                         http::equals_ignoring_case(each.name, "transfer-encoding");
    if (is_field && !is_ours) made.add_field(each.name, text);
  }
}

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
