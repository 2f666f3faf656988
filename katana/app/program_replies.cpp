// Checks of replies against the OpenAPI documents of an application.
#include "katana/app/program.hpp"

namespace katana::app {
namespace {

ReplyChecks reply_checks_of(const ApplicationSettings& settings) noexcept {
  switch (settings.requests.check_replies) {
    case ReplyCheckUse::development:
      return settings.development ? ReplyChecks::report : ReplyChecks::off;
    case ReplyCheckUse::report: return ReplyChecks::report;
    case ReplyCheckUse::refuse: return ReplyChecks::refuse;
    case ReplyCheckUse::off: break;
  }
  return ReplyChecks::off;
}

}  // namespace

void Program::check_replies(Router& router) {
  const auto present = settings();
  const ReplyChecks checks = reply_checks_of(*present);
  if (options_.check_replies != nullptr) {
    options_.check_replies(router, checks);
    return;
  }
  router.check_replies(checks);
  if (checks == ReplyChecks::off || present->requests.check_replies == ReplyCheckUse::development) {
    return;
  }
  logger_.warn(
      "requests.check_replies: only routes of openapi::ContractRoutes are checked; for the "
      "documents of {} set ApplicationOptions::check_replies to openapi::check_replies",
      options_.name);
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
