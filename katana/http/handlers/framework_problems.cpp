#include "katana/http/handlers/framework_problems.hpp"

#include <array>
#include <utility>

#include "katana/http/handlers/fault_document.hpp"
#include "katana/http/handlers/parameters.hpp"
#include "katana/http/session/exchange_core.hpp"
#include "katana/wire/http/status.hpp"

namespace katana::detail {
namespace {

namespace types = problem_types;

// The statuses of a session's refusals, except 503, which has several causes.
constexpr std::array refusals = {
    &types::malformed_request, &types::request_timeout,     &types::content_too_large,
    &types::target_too_long,   &types::unknown_expectation, &types::misdirected,
    &types::rate_limited,      &types::head_too_large,      &types::internal_error,
    &types::not_implemented,   &types::unsupported_version};

Reply typeless(unsigned status, Bytes detail) { return problem(status, detail); }

}  // namespace

Reply refusal_problem(unsigned status, Bytes detail) {
  if (status == 503) {
    if (detail == session::memory_scarce) return problem(types::memory_scarce, detail);
    if (detail == session::handler_late) return problem(types::handler_timeout, detail);
    return problem(types::unavailable, detail);
  }
  for (const ProblemType* const each : refusals) {
    if (each->status == status) return problem(*each, detail);
  }
  return typeless(status, detail);
}

Reply error_problem(unsigned status, Bytes detail) {
  switch (status) {
    case 401: return problem(types::login_needed, detail);
    case 500: return problem(types::internal_error, detail);
    case 503: return problem(types::unavailable, detail);
    case 504: return problem(types::deadline_exceeded, detail);
    default: return typeless(status, detail);
  }
}

Reply parameter_problem(const Error& error) {
  const bool is_of_client =
      error.code() == Code::invalid_argument || error.code() == Code::out_of_range;
  if (!is_of_client) return problem(error);
  container::Findings findings;
  findings.add({}, std::string(error.message()));
  Reply reply = fault_problem(types::invalid_parameter, error.message(), findings);
  PreparedReply::set_cause(reply, error);
  return reply;
}

Refusal refuse_parameters(const container::Findings& findings, const char* kind, Bytes own) {
  const Error error = misfits_error(findings, kind, own);
  if (findings.malformed()) return Refusal(parameter_problem(error));
  Reply reply = fault_problem(types::invalid_parameter, error.message(), findings);
  PreparedReply::set_cause(reply, error);
  return Refusal(std::move(reply));
}

Refusal refuse_parameter(const char* kind, Bytes name, Bytes words) {
  container::Findings findings;
  add_misfit(findings, name, words);
  return refuse_parameters(findings, kind);
}

Reply refusal(const Error& error) { return parameter_problem(error); }

Reply refusal(const Misfit& misfit) {
  return std::move(refuse_parameter(misfit.kind, misfit.name, misfit.words.message()).reply);
}

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
