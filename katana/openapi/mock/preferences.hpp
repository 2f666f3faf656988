// Preferences: which reply a client of a mock wants: `Prefer` (RFC 7240), or the query.
//
// Borrows    the request, for the call.
// Thread     any.
// Allocates  names.
// Fails      never: unknown preferences are ignored.
#pragma once

#include <optional>
#include <string>

#include "katana/http/handlers/request.hpp"

namespace katana::openapi::detail {

struct Preferences {
  std::optional<unsigned> code = {};
  std::string example = {};
  bool is_dynamic = false;
};

Preferences preferences_of(const RequestView& request);

}  // namespace katana::openapi::detail

// SPDX-License-Identifier: Apache-2.0
