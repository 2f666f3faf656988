// Authentication and authorization: tokens, API keys, passwords, certificates, policies; keys of an
// issuer by URL, and logins at one.
//
// Links      service/auth service/auth/remote
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
#include "katana/service/auth/remote/openid.hpp"
#include "katana/service/auth/remote/remote_keys.hpp"
#include "katana/service/auth/revocations.hpp"

// SPDX-License-Identifier: Apache-2.0
