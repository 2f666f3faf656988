#include "katana/testing/contract_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "katana/openapi/model/description.hpp"
#include "katana/testing/client_exchange.hpp"
#include "katana/wire/http/method.hpp"
#include "katana/wire/http/url.hpp"

namespace katana::testing {
namespace {

class ListFields final : public openapi::Fields {
 public:
  explicit ListFields(const TestFields& fields) noexcept : fields_(fields) {}
  std::optional<Bytes> find(Bytes name) const override {
    const std::string* const found = detail::find_field(fields_, name);
    if (found == nullptr) return std::nullopt;
    return *found;
  }

 private:
  const TestFields& fields_;
};

struct Known {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<ContractCheck>> checks;  // by text
};
Known& known() {
  static Known all;
  return all;
}

bool has_coding(const TestFields& fields) {
  return detail::find_field(fields, "content-encoding") != nullptr;
}

// Json<T> takes every type …+json, such as application/merge-patch+json, where the description has
// application/json.
bool is_other_json(const openapi::Violations& violations, const TestFields& fields) {
  const std::string* const type = detail::find_field(fields, "content-type");
  return violations.list().size() == 1 &&
         violations.list().front().part == openapi::Part::content_type && type != nullptr &&
         type->substr(0, type->find(';')).ends_with("+json");
}

std::string with_margin(std::string_view text) {
  std::string made;
  for (const char each : text) {
    made += each;
    if (each == '\n') made += "  ";
  }
  return made;
}

}  // namespace

Result<std::shared_ptr<ContractCheck>> ContractCheck::of_document(const std::string& text) {
  const std::lock_guard lock(known().mutex);
  if (const auto found = known().checks.find(text); found != known().checks.end()) {
    return found->second;
  }
  openapi::model::Problems problems;
  const openapi::Description description =
      openapi::read_description_text("the service's OpenAPI document", text, problems);
  if (problems.has_errors()) return std::unexpected(problems.as_error());
  auto contract = openapi::Contract::compile(description);
  if (!contract) return std::unexpected(contract.error());
  auto made = std::make_shared<ContractCheck>(*std::move(contract));
  known().checks.emplace(text, made);
  return made;
}

ContractCheck::ContractCheck(openapi::Contract contract) : contract_(std::move(contract)) {}

std::string ContractCheck::judge(const RecordedExchange& exchange) {
  const http::Method method = http::method_from(exchange.method);
  const auto target = http::split_target(exchange.target, method);
  if (!target || exchange.reply.status() == 0) return {};
  std::string path(target->path);
  const auto size = http::normalize_path(target->path, std::span(path.data(), path.size()));
  if (!size) return {};
  path.resize(*size);
  const openapi::Contract::Found found = contract_.find(exchange.method, path);
  note(exchange, found.operation, path);
  if (found.operation == nullptr) return {};
  return judge_described(exchange, found, target->query);
}

std::string ContractCheck::judge_described(const RecordedExchange& exchange,
                                           const openapi::Contract::Found& found,
                                           std::string_view query) const {
  const openapi::ContractOperation& operation = *found.operation;
  const TestReply& reply = exchange.reply;
  const ListFields reply_fields(reply.headers());
  const ListFields fields(exchange.fields);
  openapi::Violations of_request;
  operation.check_request(
      {.path = found.values,
       .query = query,
       .fields = fields,
       .content = exchange.content,
       .has_whole_content = exchange.has_whole_content && !has_coding(exchange.fields)},
      of_request);
  const bool is_known = operation.says_of(reply.status());
  const bool is_refused = reply.status() >= 400;
  // A check of requests by the description refuses them, whether it describes that or not.
  const bool is_judged = is_known || (!openapi::is_status_of_any_server(reply.status()) &&
                                      (!is_refused || of_request.empty()));
  openapi::Violations of_reply;
  if (is_judged) {
    operation.check_reply(
        {.status = reply.status(),
         .fields = reply_fields,
         .content_type = reply.header("content-type").value_or(""),
         .content = reply.content(),
         .has_content = exchange.method != "HEAD" && !has_coding(reply.headers())},
        of_reply);
  }
  if (!of_reply.empty()) {
    return fmt::format(
        "the reply {} departs from the OpenAPI description of {}:\n  {}\n  it was: {}",
        reply.status(), operation.describe(), with_margin(of_reply.describe()), reply.describe());
  }
  if (is_refused || of_request.empty() || is_other_json(of_request, exchange.fields)) return {};
  return fmt::format("{} answers {} to a request that its OpenAPI description refuses:\n  {}",
                     operation.describe(), reply.status(), with_margin(of_request.describe()));
}

void ContractCheck::note(const RecordedExchange& exchange,
                         const openapi::ContractOperation* operation, std::string_view path) {
  const std::lock_guard lock(mutex_);
  if (operation == nullptr) {
    ++undescribed_[fmt::format("{} {}", exchange.method, path)];
    return;
  }
  const openapi::ReplyContract* const reply = operation->reply_for(exchange.reply.status());
  ++seen_[operation][reply == nullptr ? std::string() : reply->status];
}

ContractCoverage ContractCheck::coverage() const {
  const std::lock_guard lock(mutex_);
  ContractCoverage made{.operations = {}, .undescribed = undescribed_};
  for (const openapi::ContractOperation& each : contract_.operations()) {
    ContractCoverage::Operation& operation = made.operations.emplace_back();
    operation.name = each.describe();
    const auto seen = seen_.find(&each);
    for (const openapi::ReplyContract& reply : each.replies()) {
      const bool was_seen = seen != seen_.end() && seen->second.contains(reply.status);
      (was_seen ? operation.seen_statuses : operation.other_statuses).insert(reply.status);
    }
    if (seen == seen_.end()) continue;
    for (const auto& [status, count] : seen->second) operation.count += count;
  }
  return made;
}

std::size_t ContractCoverage::operations_seen() const noexcept {
  return static_cast<std::size_t>(
      std::ranges::count_if(operations, [](const Operation& each) { return each.count != 0; }));
}

std::string ContractCoverage::describe() const {
  std::string text =
      fmt::format("{} of {} operations were asked for\n", operations_seen(), operations.size());
  for (const bool was_seen : {false, true}) {
    for (const Operation& each : operations) {
      if ((each.count != 0) != was_seen) continue;
      text += fmt::format(
          "  {:6} {}; seen: {}; never seen: {}\n", each.count, each.name,
          each.seen_statuses.empty() ? "none"
                                     : fmt::format("{}", fmt::join(each.seen_statuses, ", ")),
          each.other_statuses.empty() ? "none"
                                      : fmt::format("{}", fmt::join(each.other_statuses, ", ")));
    }
  }
  for (const auto& [name, count] : undescribed) {
    text += fmt::format("  {:6} {}, which is not described\n", count, name);
  }
  return text;
}

std::vector<ContractCoverage> contract_coverage() {
  const std::lock_guard lock(known().mutex);
  std::vector<ContractCoverage> all;
  for (const auto& [text, check] : known().checks) all.push_back(check->coverage());
  return all;
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
