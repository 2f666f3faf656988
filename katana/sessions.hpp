// Sessions in cookies, in memory, in a database or in Redis (katana/redis_sessions.hpp), and the
// tokens of forms.
//
// Links      identity/sessions identity/sessions/database
#pragma once

#include "katana/identity/sessions/database/session_table.hpp"
#include "katana/identity/sessions/form_token.hpp"
#include "katana/identity/sessions/login_page.hpp"
#include "katana/identity/sessions/memory_store.hpp"
#include "katana/identity/sessions/sessions.hpp"

// SPDX-License-Identifier: Apache-2.0
