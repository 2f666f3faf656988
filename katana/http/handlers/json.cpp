#include "katana/http/handlers/json.hpp"

#include <fmt/format.h>

#include <string>

#include "katana/http/handlers/fault_document.hpp"
#include "katana/http/handlers/framework_problems.hpp"

namespace katana::detail {
namespace {

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
  std::string detail = "The content does not fit.";
  if (findings.left_out() != 0) {
    detail =
        fmt::format("The content does not fit; {} more faults are left out.", findings.left_out());
  }
  return Refusal(fault_problem(problem_types::validation, detail, findings));
}

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
