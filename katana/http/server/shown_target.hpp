// shown_target(): the target of a request as logs show it.
//
//   GET /reset?token=abc&lang=en   /reset?token=***&lang=en
//                                  without queries: /reset
//   GET /reset/abc                 of the route /reset/{token}: /reset/***
//
// Secret is what has the name of a credential (wire/http/secret_names.hpp), what the rules name,
// and what the route's Query<> marks secret (base/values/rules.hpp).
//
// Owns       nothing.
// Borrows    the record, and `room`, in which the text stands when it is not the target's own.
// Thread     any.
// Allocates  from the recycler, when something is hidden.
// Fails      never.
// Invariant  a name is compared decoded: "to%6ben" is no way around it.
#pragma once

#include <string>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/base/text/text.hpp"
#include "katana/http/session/exchange_observer.hpp"

namespace katana::server {

// What logs may show of a request's target.
struct TargetRules {
  bool queries = true;                              // false: nothing behind the "?" is shown
  std::vector<std::string> secret_parameters = {};  // beside those of credentials
};

Bytes shown_target(const session::ExchangeRecord& record, const TargetRules& rules, Text& room);

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
