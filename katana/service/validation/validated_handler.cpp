#include "katana/service/validation/validated_handler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "katana/service/json.hpp"
#include "katana/service/routes/route_pattern.hpp"
#include "katana/wire/http/characters.hpp"

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

// A refusal goes through the same middleware as replies of the handler, within the call that sends
// it. It is no departure, whether the description has its status or not.
thread_local bool is_refusing = false;

ContentWanted wanted_by(const katana::detail::Handler& inner, const ContractOperation& operation) {
  const bool leaves_it =
      operation.contents().empty() || inner.content_wanted == ContentWanted::stream;
  return leaves_it ? inner.content_wanted : ContentWanted::whole;
}

}  // namespace

ValidatedHandler::ValidatedHandler(std::unique_ptr<katana::detail::Handler> inner,
                                   std::shared_ptr<const Contract> contract,
                                   const ContractOperation& operation)
    : Handler(wanted_by(*inner, operation)),
      inner_(std::move(inner)),
      contract_(std::move(contract)),
      operation_(operation) {}

void ValidatedHandler::serve(session::Exchange& exchange, const katana::detail::Route& route,
                             const RequestView& request) const {
  const PathOf path(request.parameters());
  const HeadFields fields(request.head());
  Violations violations;
  const RequestParts parts{.path = path.values(),
                           .query = request.query(),
                           .fields = fields,
                           .content = request.content(),
                           .has_whole_content = content_wanted != ContentWanted::stream};
  if (operation_.check_parameters(parts, violations) && operation_.check_content(parts, violations))
      [[likely]] {
    inner_->serve(exchange, route, request);
    return;
  }
  is_refusing = true;
  katana::detail::send_reply(exchange, route, &request, refusal_of(operation_, violations));
  is_refusing = false;
}

Reply refusal_of(const ContractOperation& operation, const Violations& violations) {
  const Violation& first = violations.list().front();
  if (first.part == Part::content_type) {
    return problem(415, fmt::format("Content-Type {}.", first.words))
        .with("Accept", accepted_by(operation));  // RFC 9110 §15.5.16
  }
  if (first.part != Part::content) return problem(400, first.describe());
  container::Findings findings;
  if (violations.malformed()) {
    findings.set_malformed(first.words);
  } else {
    for (const Violation& each : violations.list()) findings.add(each.pointer, each.words);
  }
  return std::move(katana::detail::refuse_content(findings).reply);
}

Middleware reply_check(std::shared_ptr<const Contract> contract, const ContractOperation& operation,
                       bool sends_500) {
  return {.amend = [contract = std::move(contract), &operation, sends_500](
                       const RequestView&, session::Exchange& exchange, Reply& reply) {
    if (is_refusing) return;
    const ReplyFields fields(reply.fields());
    Violations violations;
    const bool is_whole = reply.source() == nullptr && !exchange.answers_head();
    if (operation.check_reply({.status = reply.status(),
                               .fields = fields,
                               .content_type = reply.content_type(),
                               .content = reply.content(),
                               .has_content = is_whole},
                              violations)) {
      return;
    }
    const Error error(Code::internal, fmt::format("the reply {} departs from its description: {}",
                                                  reply.status(), violations.describe()));
    if (sends_500) {
      reply = problem(error);  // which is recorded when it is sent
    } else {
      exchange.report_failure({.what = "a reply departs from the OpenAPI description",
                               .error = &error,
                               .severity = Severity::warning});
    }
  }};
}

}  // namespace katana::openapi::detail

// SPDX-License-Identifier: Apache-2.0
