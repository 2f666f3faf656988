#include "katana/openapi/validation/reply_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/openapi/model/description.hpp"
#include "katana/wire/http/characters.hpp"

namespace katana::openapi {
namespace detail {
namespace {

thread_local bool is_refusing = false;

// Complete lines, as a Reply has them.
class ReplyFields final : public Fields {
 public:
  explicit ReplyFields(Bytes lines) noexcept : lines_(lines) {}
  std::optional<Bytes> find(Bytes name) const override {
    for (Bytes left = lines_; !left.empty();) {
      const std::size_t end = std::min(left.find("\r\n"), left.size());
      const Bytes line = left.substr(0, end);
      left.remove_prefix(std::min(end + 2, left.size()));
      const std::size_t colon = line.find(':');
      if (colon == Bytes::npos || !http::equals_ignoring_case(line.substr(0, colon), name))
        continue;
      Bytes value = line.substr(colon + 1);
      while (value.starts_with(' ')) value.remove_prefix(1);
      return value;
    }
    return std::nullopt;
  }

 private:
  Bytes lines_;
};

bool is_judged(const ContractOperation& operation, unsigned status) noexcept {
  if (status >= 500) return false;
  if (operation.says_of(status)) return true;
  return !is_status_of_any_server(status) && status != 400 && status != 422;
}

// "/items/*/email" for "/items/3/email": a list is then one place.
std::string without_indices(Bytes pointer) {
  std::string made;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);  // the '/'
    const Bytes step = pointer.substr(0, pointer.find('/'));
    pointer.remove_prefix(step.size());
    const bool is_index = !step.empty() && step.find_first_not_of("0123456789") == Bytes::npos;
    made += '/';
    made += is_index ? Bytes("*") : step;
  }
  return made;
}

std::string words_of(const ContractOperation& operation, unsigned status,
                     const Violations& violations) {
  const bool is_undescribed = violations.list().front().part == Part::status;
  std::string where = operation.id().empty()
                          ? operation.describe()
                          : fmt::format("'{}' ({})", operation.id(), operation.describe());
  std::string text = is_undescribed ? std::string() : fmt::format("status {}", status);
  for (const Violation& each : violations.list()) {
    text += (text.empty() ? "" : ", ") + each.describe();
  }
  if (violations.left_out() != 0) text += fmt::format(", and {} more", violations.left_out());
  if (is_undescribed)
    return text + fmt::format("; add it to the replies of the operation {}", where);
  return text + fmt::format("; correct the handler, or responses/{} of the operation {}",
                            operation.reply_for(status)->status, where);
}

// Judges one reply, and treats it by `checks`.
void judge(const ContractOperation& operation, ReplyChecks checks, ReportedPlaces& places,
           session::Exchange& exchange, Reply& reply, StepBudget& budget) {
  if (is_refusing || reply.invalid() || !is_judged(operation, reply.status())) return;
  const unsigned status = reply.status();
  const ReplyFields fields(reply.fields());
  const bool is_whole = !reply.is_streamed() && !katana::detail::PreparedReply::is_head(reply) &&
                        !exchange.answers_head() && !fields.find("content-encoding");
  Violations violations;
  if (operation.check_reply({.status = status,
                             .fields = fields,
                             .content_type = reply.content_type(),
                             .content = reply.content(),
                             .has_content = is_whole,
                             .has_all_fields = false},
                            violations, budget)) {
    return;
  }
  constexpr const char* what = "a reply departs from its description";
  if (checks == ReplyChecks::refuse) {
    reply = problem(Error(Code::internal, words_of(operation, status, violations)).within(what));
    return;  // it is recorded when it is sent
  }
  bool is_last = false;
  const Violations found = places.take_new(operation, status, violations, is_last);
  if (found.empty()) return;
  std::string words = words_of(operation, status, found);
  if (is_last) {
    words +=
        fmt::format("; {} places were reported, and no others will be", ReportedPlaces::places_max);
  }
  const Error error(Code::internal, std::move(words));
  exchange.report_failure({.what = what, .error = &error, .severity = Severity::warning});
}

// Those of the service's own documents.
class DocumentChecks {
 public:
  explicit DocumentChecks(Judging judging) : judging_(judging) {}

  void compile(const std::vector<ServiceDocument>& documents) {
    for (const ServiceDocument& each : documents) {
      if (auto added = add(each); !added && !mistake_) {
        mistake_ = added.error().within(fmt::format(
            "replies are not checked by the document '{}': it is no OpenAPI description",
            each.name));
      }
    }
  }
  void amend(const RequestView& request, session::Exchange& exchange, Reply& reply) {
    if (mistake_) std::call_once(told_, [&] { tell(exchange); });
    StepBudget budget(StepBudget::for_bytes(reply.content().size(), judging_.steps_max));
    for (const Contract& each : contracts_) {
      const auto found = each.find(http::name_of(request.method()), request.path());
      if (found.operation == nullptr) continue;
      judge(*found.operation, judging_.checks, places_, exchange, reply, budget);
    }
  }

 private:
  Result<void> add(const ServiceDocument& document) {
    model::Problems problems;
    const Description description = read_description_text(
        document.path.empty() ? document.name : document.path, document.text, problems);
    if (problems.has_errors()) return std::unexpected(problems.as_error());
    auto contract = Contract::compile(description);
    if (!contract) return std::unexpected(contract.error());
    contracts_.push_back(*std::move(contract));
    return {};
  }
  void tell(session::Exchange& exchange) const {
    exchange.report_failure(
        {.what = "replies are not checked", .error = &*mistake_, .severity = Severity::warning});
  }

  const Judging judging_;
  std::vector<Contract> contracts_;  // made before the first check
  std::optional<Error> mistake_;
  std::once_flag told_;
  ReportedPlaces places_;
};

}  // namespace

Violations ReportedPlaces::take_new(const ContractOperation& operation, unsigned status,
                                    const Violations& found, bool& is_last) {
  Violations made;
  const std::lock_guard lock(mutex_);
  for (const Violation& each : found.list()) {
    if (known_.size() >= places_max) break;
    const std::string place =
        fmt::format("{}\n{}\n{}\n{}\n{}", operation.describe(), status, static_cast<int>(each.part),
                    each.name, without_indices(each.pointer));
    if (!known_.insert(std::hash<std::string>()(place)).second) continue;
    made.add(each.part, each.name, each.pointer, each.words);
    is_last = known_.size() >= places_max;
  }
  return made;
}

Middleware reply_check(std::shared_ptr<const Contract> contract, const ContractOperation& operation,
                       Judging judging, std::shared_ptr<ReportedPlaces> places) {
  return {
      .amend = [contract = std::move(contract), &operation, judging, places = std::move(places)](
                   const RequestView&, session::Exchange& exchange, Reply& reply) {
        StepBudget budget(StepBudget::for_bytes(reply.content().size(), judging.steps_max));
        judge(operation, judging.checks, *places, exchange, reply, budget);
      }};
}

RefusalScope::RefusalScope() noexcept { is_refusing = true; }
RefusalScope::~RefusalScope() { is_refusing = false; }

}  // namespace detail

void check_replies(Router& router, ReplyChecks checks) {
  router.check_replies(checks);
  if (checks == ReplyChecks::off) return;
  const auto state =
      std::make_shared<detail::DocumentChecks>(detail::Judging{checks, router.check_steps_max()});
  router.innermost({.amend = [state](const RequestView& request, session::Exchange& exchange,
                                     Reply& reply) { state->amend(request, exchange, reply); }});
  router.on_documents([state](const auto& documents) { state->compile(documents); });
}

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
