// WebSocket routes: Router::websocket() and what its handlers are given.
//
// Links      http/server
// Invariant  it has includes only, each from what that links.
#pragma once

#include "katana/http/handlers/router.hpp"
#include "katana/http/handlers/websocket.hpp"

// SPDX-License-Identifier: Apache-2.0
