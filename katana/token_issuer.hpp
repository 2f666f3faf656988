// Tokens that a program issues at a login: auth::TokenIssuer.
//
// Links      identity/auth
#pragma once

#include "katana/identity/auth/token_issuer.hpp"

// SPDX-License-Identifier: Apache-2.0
