// WebSocket routes: Router::websocket() and what its handlers are given.
//
// Links      http/server
#pragma once

#include "katana/http/handlers/router.hpp"
#include "katana/http/handlers/websocket.hpp"

// SPDX-License-Identifier: Apache-2.0
