#include "katana/http/handlers/json.hpp"

#include <fmt/format.h>

#include <vector>

#include "katana/http/handlers/framework_problems.hpp"
#include "katana/wire/http/status.hpp"

namespace katana::detail {
namespace {

struct Fault {
  std::string pointer;
  std::string detail;
};
KATANA_DESCRIBE(Fault, pointer, detail)

// RFC 9457 §3, with the member `errors` of its example.
struct FaultDocument {
  std::string type = std::string(problem_types::validation.uri);
  std::string title;
  unsigned status = 422;
  std::string detail;
  std::vector<Fault> errors;
};
KATANA_DESCRIBE(FaultDocument, type, title, status, detail, errors)

Bytes without_space(Bytes text) noexcept {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == Bytes::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool is_json_type(Bytes type) noexcept {
  constexpr Bytes suffix = "+json";  // RFC 6839 §3.1
  type = without_space(type.substr(0, type.find(';')));
  if (http::equals_ignoring_case(type, "application/json")) return true;
  return type.size() > suffix.size() && type.contains('/') &&
         http::equals_ignoring_case(type.substr(type.size() - suffix.size()), suffix);
}

}  // namespace

std::optional<Refusal> refuse_content_type(const RequestView& request) {
  const std::optional<Bytes> type = request.field("content-type");
  if (type && is_json_type(*type)) [[likely]]
    return std::nullopt;
  constexpr std::size_t shown_bytes_max = 64;
  const std::string words =
      type ? fmt::format("The Content-Type is '{}'; this takes application/json.",
                         type->substr(0, shown_bytes_max))
           : "There is no Content-Type; this takes application/json.";
  return Refusal(problem(problem_types::unsupported_media_type, words)
                     .with("Accept", "application/json"));  // RFC 9110 §15.5.16
}

Refusal refuse_content(const container::Findings& findings) {
  if (findings.malformed())
    return Refusal(problem(problem_types::malformed_body, findings.list().front().words));
  FaultDocument document{.title = std::string(http::reason_phrase(422)),
                         .detail = "The content does not fit.",
                         .errors = {}};
  if (findings.left_out() != 0) {
    document.detail =
        fmt::format("The content does not fit; {} more faults are left out.", findings.left_out());
  }
  for (const container::Finding& each : findings.list()) {
    document.errors.push_back({.pointer = each.pointer, .detail = each.words});
  }
  Text content;
  container::write_json(document, content);
  return Refusal(Reply(422, "application/problem+json", std::move(content)));
}

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
