// shown_target(): the target of a request as logs show it.
//
//   GET /reset?token=abc&lang=en   /reset?token=***&lang=en
//                                  without queries: /reset
//   GET /reset/abc                 of the route /reset/{token}: /reset/***
//
// Secret are the values of names of credentials (wire/http/secret_names.hpp), of names in the
// rules, and of names that the route's Query<> marks secret (base/values/rules.hpp).
//
// Owns       nothing.
// Borrows    the record, and `room`, which holds the text if it differs from the target.
// Thread     any.
// Allocates  from the recycler, when something is hidden.
// Fails      never.
// Invariant  a name is compared decoded: "to%6ben" is hidden as well.
#pragma once

#include <string>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/base/text/text.hpp"
#include "katana/http/session/exchange_observer.hpp"

namespace katana::server {

// Rules for the part of a request's target that logs may show.
struct TargetRules {
  bool queries = true;                              // false: nothing behind the "?" is shown
  std::vector<std::string> secret_parameters = {};  // in addition to credentials
};

Bytes shown_target(const session::ExchangeRecord& record, const TargetRules& rules, Text& room);

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
