// Credentials that clients may leave out: a principal, or none (auth::optional()).
//
// Links      identity/auth
#pragma once

#include "katana/identity/auth/optional.hpp"

// SPDX-License-Identifier: Apache-2.0
