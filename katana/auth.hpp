// Authentication and authorization: tokens, API keys, passwords, certificates, policies; keys of an
// issuer by URL; sessions.
//
// Links      service/auth service/auth/remote service/sessions
// Invariant  it has includes only, each from what that links.
#pragma once

#include "katana/jose/jwk.hpp"
#include "katana/jose/jwt.hpp"
#include "katana/service/auth/api_key.hpp"
#include "katana/service/auth/basic.hpp"
#include "katana/service/auth/bearer.hpp"
#include "katana/service/auth/certificate.hpp"
#include "katana/service/auth/policy.hpp"
#include "katana/service/auth/principal.hpp"
#include "katana/service/auth/remote/remote_keys.hpp"
#include "katana/service/auth/revocations.hpp"
#include "katana/service/sessions/memory_store.hpp"
#include "katana/service/sessions/sessions.hpp"

// SPDX-License-Identifier: Apache-2.0
