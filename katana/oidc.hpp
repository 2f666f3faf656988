// Logging in at an OpenID provider.
//
// Links      identity/oidc
#pragma once

#include "katana/identity/oidc/oidc_login.hpp"
#include "katana/identity/oidc/oidc_settings.hpp"

// SPDX-License-Identifier: Apache-2.0
