// compare(): what changed between two OpenAPI descriptions, and what of it breaks clients.
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
//   info       no client notices, or it is better off
//
// Of a webhook clients receive the request and send the response, so that the directions are the
// other way round. Its rules begin with "webhook-" (`webhook-request-property-type-changed`),
// beside oasdiff's webhook-added and webhook-removed.
//
// Paths are compared whatever their parameters are called. Schemas are compared where they are
// used, through their references; of alternatives (oneOf, anyOf, allOf) those that are equal, or
// that are called the same, are paired.
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

// What compare() cannot see in the two.
struct DiffOptions {
  // A part that was announced to go by `x-sunset` (YYYY-MM-DD) may go on that day.
  std::string today = {};  // empty: as if every sunset had come
};

std::vector<Change> compare(const Description& before, const Description& after,
                            const DiffOptions& options = {});

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
