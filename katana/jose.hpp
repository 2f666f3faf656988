// Signed tokens: JWS, JWK and JWT.
//
// Links      identity/jose
#pragma once

#include "katana/identity/jose/jwk.hpp"
#include "katana/identity/jose/jwt.hpp"

// SPDX-License-Identifier: Apache-2.0
