// Conditional requests: Preconditions and ResourceVersion, for clients that change data that they
// have read.
//
//   router.put("/notes/{id}", [&](Path<std::int64_t> id, Preconditions conditions, …) { … });
//   return json_reply(note).with_version(note.version);
//
// Links      http/handlers
#pragma once

#include "katana/http/handlers/preconditions.hpp"

// SPDX-License-Identifier: Apache-2.0
