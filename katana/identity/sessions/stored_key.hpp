// The names of sessions and their principals in stores outside the process: digests, as text.
//
// Thread     any.
// Allocates  the texts.
// Invariant  a reader of the store learns neither ids nor names.
#pragma once

#include <string>

#include "katana/identity/sessions/store.hpp"

namespace katana::sessions {

// The digest of an id as text.
std::string key_text(const SessionKey& key);
// The digest of a principal as text; empty: no principal.
std::string owner_text(const std::string& issuer, const std::string& principal);

}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
