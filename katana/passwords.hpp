// Passwords by argon2id, throttled logins, known devices, one-time passwords.
//
// Links      identity/passwords
#pragma once

#include "katana/identity/passwords/known_device.hpp"
#include "katana/identity/passwords/login_throttle.hpp"
#include "katana/identity/passwords/password_form.hpp"
#include "katana/identity/passwords/password_hasher.hpp"
#include "katana/identity/passwords/totp.hpp"

// SPDX-License-Identifier: Apache-2.0
