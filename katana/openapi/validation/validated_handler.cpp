#include "katana/openapi/validation/validated_handler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "katana/http/handlers/fault_document.hpp"
#include "katana/http/handlers/framework_problems.hpp"
#include "katana/http/handlers/json.hpp"
#include "katana/http/routing/route_pattern.hpp"
#include "katana/openapi/validation/reply_checks.hpp"

namespace katana::openapi::detail {
namespace {

using katana::detail::ContentWanted;

class HeadFields final : public Fields {
 public:
  explicit HeadFields(const http::Head& head) noexcept : head_(head) {}
  std::optional<Bytes> find(Bytes name) const override { return head_.find(name); }

 private:
  const http::Head& head_;
};

class PathOf {
 public:
  explicit PathOf(const PathParameters& parameters) noexcept : size_(parameters.size()) {
    for (std::size_t index = 0; index < size_; ++index) {
      values_[index] = {parameters[index].name, parameters[index].value};
    }
  }
  std::span<const std::pair<Bytes, Bytes>> values() const noexcept {
    return std::span(values_).first(size_);
  }

 private:
  std::array<std::pair<Bytes, Bytes>, route_parameters_max> values_;
  std::size_t size_;
};

std::string accepted_by(const ContractOperation& operation) {
  std::string text;
  for (const MediaContract& each : operation.contents()) {
    if (!text.empty()) text += ", ";
    text += each.range;
  }
  return text;
}

ContentWanted wanted_by(const katana::detail::Handler& inner, const ContractOperation& operation) {
  const bool leaves_it =
      operation.contents().empty() || inner.content_wanted == ContentWanted::stream;
  return leaves_it ? inner.content_wanted : ContentWanted::whole;
}

}  // namespace

ValidatedHandler::ValidatedHandler(std::unique_ptr<katana::detail::Handler> inner,
                                   std::shared_ptr<const Contract> contract,
                                   const ContractOperation& operation, std::uint64_t steps_max)
    : Handler(wanted_by(*inner, operation)),
      inner_(std::move(inner)),
      contract_(std::move(contract)),
      operation_(operation),
      steps_max_(steps_max) {}

void ValidatedHandler::serve(session::Exchange& exchange, const katana::detail::Route& route,
                             const RequestView& request) const {
  // Most operations have none, and the places of all of them are set to nothing first.
  std::optional<PathOf> path;
  if (request.parameters().size() != 0) path.emplace(request.parameters());
  const HeadFields fields(request.head());
  Violations violations;
  const RequestParts parts{
      .path = path ? path->values() : std::span<const std::pair<Bytes, Bytes>>(),
      .query = request.query(),
      .fields = fields,
      .content = request.content(),
      .has_whole_content = content_wanted != ContentWanted::stream};
  StepBudget budget(StepBudget::for_bytes(parts.steps_bytes(), steps_max_));
  if (operation_.check_parameters(parts, violations, budget) &&
      operation_.check_content(parts, violations, budget)) [[likely]] {
    inner_->serve(exchange, route, request);
    return;
  }
  if (budget.is_spent()) {
    const Error error(Code::resource_exhausted, words_of_spent(budget));
    exchange.report_failure({.what = "a request was refused, because its check was given up",
                             .error = &error,
                             .severity = Severity::warning});
  }
  const RefusalScope refusing;
  katana::detail::send_reply(exchange, route, &request, refusal_of(operation_, violations, budget));
}

std::string words_of_spent(const StepBudget& budget) {
  return fmt::format(
      "to check it by its description takes more than {} steps (check_steps_max, and "
      "{} for each byte)",
      budget.steps_max(), StepBudget::steps_per_byte);
}

// The same document as Query<T> gives: all parameters that do not fit.
Reply parameter_refusal_of(const Violations& violations) {
  container::Findings findings;
  std::string detail;
  for (const Violation& each : violations.list()) {
    if (each.part == Part::content || each.part == Part::content_type) continue;
    if (!detail.empty()) detail += "; ";
    detail += each.describe();
    std::string pointer;
    append_pointer(pointer, each.name);
    findings.add(pointer + each.pointer, each.words);
  }
  if (violations.left_out() != 0) detail += fmt::format("; and {} more", violations.left_out());
  return katana::detail::fault_problem(problem_types::invalid_parameter, detail, findings);
}

Reply refusal_of(const ContractOperation& operation, const Violations& violations,
                 const StepBudget& budget) {
  if (budget.is_spent()) {
    return problem(
        problem_types::validation,
        fmt::format("The request was not checked to its end: {}.", words_of_spent(budget)));
  }
  const Violation& first = violations.list().front();
  if (first.part == Part::content_type) {
    return problem(problem_types::unsupported_media_type,
                   fmt::format("Content-Type {}.", first.words))
        .with("Accept", accepted_by(operation));  // RFC 9110 §15.5.16
  }
  if (first.part != Part::content) return parameter_refusal_of(violations);
  container::Findings findings;
  if (violations.malformed()) {
    findings.set_malformed(first.words);
  } else {
    for (const Violation& each : violations.list()) findings.add(each.pointer, each.words);
  }
  return std::move(katana::detail::refuse_content(findings).reply);
}

}  // namespace katana::openapi::detail

// SPDX-License-Identifier: Apache-2.0
