// Replies compared with the description of their operation while a program serves: for development
// and staging.
//
//   openapi::check_replies(router, ReplyChecks::report);   // before the routes are added
//   …
//   document.serve(router);
//
// An Application calls it as the setting requests.check_replies says, if
// ApplicationOptions::check_replies is this function. A handler's reply is checked before any
// middleware changes it: by the documents of the service (openapi::Document) and, of
// ContractRoutes, by their own description. Each place that departs is reported once, as a warning:
//
//   GET /items: a reply departs from its description: status 200, content /3/count: expected an
//   integer, got a string; correct the handler, or responses/200 of the operation 'listItems' (GET
//   /items)
//
// Not judged: 5xx, which are reported anyhow; statuses of any server (304, 413, …), and 400 and 422
// where they are not described; required fields that are missing, because middleware adds some;
// content that is written in pieces or has a coding, and replies to HEAD: of those status, fields
// and type.
//
// All documents judge a reply within one budget of steps (RouteDefaults::check_steps_max). A check
// that is given up is a departure.
//
// Owns       the contracts, and places_max places that were reported, 8 bytes each.
// Thread     check_replies() one, while building; checks any.
// Allocates  a check as Contract does, and what it reports.
// Fails      a document that is no description is reported with the first reply.
// Invariant  a reply that obeys is sent as it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>

#include "katana/http/handlers/middleware.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/openapi/contract/contract.hpp"

namespace katana::openapi {

// For routes that are added after this call.
void check_replies(Router& router, ReplyChecks checks);

namespace detail {

// What was reported already: places by operation, status, part, name and pointer, whose indices
// count as one.
class ReportedPlaces {
 public:
  static constexpr std::size_t places_max = 1000;

  // Those of `found` that are new, and from here on are not. Beyond places_max nothing is new;
  // `is_last` says that this was the last place.
  Violations take_new(const ContractOperation& operation, unsigned status, const Violations& found,
                      bool& is_last);

 private:
  std::mutex mutex_;
  std::set<std::uint64_t> known_;
};

// How replies are judged.
struct Judging {
  ReplyChecks checks;       // never `off`
  std::uint64_t steps_max;  // of one reply, besides those of its bytes
};

// Checks what handlers of the operation answer.
Middleware reply_check(std::shared_ptr<const Contract> contract, const ContractOperation& operation,
                       Judging judging, std::shared_ptr<ReportedPlaces> places);

// A refusal goes through the same middleware as replies of the handler, within the call that sends
// it. It is no departure, whether the description has its status or not.
class RefusalScope {
 public:
  RefusalScope() noexcept;
  ~RefusalScope();
  RefusalScope(const RefusalScope&) = delete;
  RefusalScope& operator=(const RefusalScope&) = delete;
};

}  // namespace detail
}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
