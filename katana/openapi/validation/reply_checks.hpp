// Replies compared with the description of their operation while a program serves: for development
// and staging.
//
//   openapi::check_replies(router, ReplyChecks::report);   // before the routes are added
//   …
//   document.serve(router);
//
// An Application calls it as the setting requests.check_replies says, if
// ApplicationOptions::check_replies is this function. A handler's reply is checked before any
// middleware changes it. The documents of the service (openapi::Document) check it; a reply of
// ContractRoutes is checked by their own description. Each place that departs is reported once, as
// a warning:
//
//   `GET /items: a reply departs from its description: status 200, content /3/count: expected an
//   integer, got a string; correct the handler, or responses/200 of the operation 'listItems' (GET
//   /items)`
//
// These are not judged:
//
//   - 5xx, which are reported anyhow
//   - statuses of any server (304, 413, …), and 400 and 422 where they are not described
//   - required fields that are missing, because middleware adds some
//   - content that is written in pieces or has a coding, and content of replies to HEAD; status,
//     fields and type of such replies are judged
//
// All documents judge a reply within one budget of steps (RouteDefaults::check_steps_max). A check
// that is given up is a departure.
//
// Owns       the contracts, and places_max places that were reported, 8 bytes each.
// Thread     check_replies() one, while building; checks any.
// Allocates  a check as Contract does, and its reports.
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

// Checks the replies of routes that are added after this call.
void check_replies(Router& router, ReplyChecks checks);

namespace detail {

// The places that were reported already, by operation, status, part, name and pointer. All indices
// in a pointer count as one.
class ReportedPlaces {
 public:
  static constexpr std::size_t places_max = 1000;

  // Returns the violations of `found` at new places, and notes these places. Beyond places_max no
  // place is new; `is_last` says that this was the last place.
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

// Checks the replies of the operation's handlers.
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
