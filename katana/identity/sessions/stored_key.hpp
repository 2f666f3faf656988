// What stores outside of the process call sessions and their principals: digests, as text.
//
// Thread     any.
// Allocates  the texts.
// Invariant  who reads the store learns neither ids nor names.
#pragma once

#include <string>

#include "katana/identity/sessions/store.hpp"

namespace katana::sessions {

// The digest of an id, never the id.
std::string key_text(const SessionKey& key);
// Empty: no principal.
std::string owner_text(const std::string& issuer, const std::string& principal);

}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
