// compare(): the changes between two OpenAPI descriptions, and which of them break clients.
//
//   for (const openapi::Change& each : openapi::compare(before, after))
//     if (each.level == openapi::Level::breaking) … each.describe()
//
// Requests may be accepted in more forms than before, never in fewer; replies may have fewer
// forms, never more. Therefore a bound that narrows breaks requests, one that widens
// breaks replies, and each change has a rule for its direction. Rules have the names of oasdiff
// (`response-property-type-changed`), and the levels that it gives them:
//
//   breaking   a client that worked may fail
//   warning    it depends on the client, or on data: a pattern that changed
//   info       no client is affected, or it gains
//
// Clients receive the request of a webhook and send its response: the directions are the other way
// round. Its rules begin with "webhook-" (`webhook-request-property-type-changed`), in addition to
// oasdiff's webhook-added and webhook-removed.
//
// Paths are compared whatever their parameters are called. Schemas are compared where they are
// used, through their references. Alternatives (oneOf, anyOf, allOf) are paired when they are equal
// or have the same name.
//
// Thread     any.
// Allocates  freely.
// Fails      never: both have been read.
// Invariant  equal descriptions have no changes; the order is that of the description.
#pragma once

#include <string>
#include <vector>

#include "katana/openapi/diff/change.hpp"
#include "katana/openapi/model/description.hpp"

namespace katana::openapi {

// Facts that compare() cannot see in the two descriptions.
struct DiffOptions {
  // A part that was announced to go by `x-sunset` (YYYY-MM-DD) may go on that day.
  std::string today = {};  // empty: as if every sunset had come
};

std::vector<Change> compare(const Description& before, const Description& after,
                            const DiffOptions& options = {});

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
