// Authentication and authorization: tokens, API keys, passwords, certificates, policies; keys of an
// issuer by URL; sessions.
//
// Links      identity/auth identity/auth/remote identity/sessions
#pragma once

#include "katana/identity/auth/api_key.hpp"
#include "katana/identity/auth/basic.hpp"
#include "katana/identity/auth/bearer.hpp"
#include "katana/identity/auth/certificate.hpp"
#include "katana/identity/auth/policy.hpp"
#include "katana/identity/auth/principal.hpp"
#include "katana/identity/auth/remote/remote_keys.hpp"
#include "katana/identity/auth/revocations.hpp"
#include "katana/identity/jose/jwk.hpp"
#include "katana/identity/jose/jwt.hpp"
#include "katana/identity/sessions/memory_store.hpp"
#include "katana/identity/sessions/sessions.hpp"

// SPDX-License-Identifier: Apache-2.0
