// WebSocket routes: Router::websocket() and the parameters of its handlers.
//
// Links      http/server
#pragma once

#include "katana/http/handlers/router.hpp"
#include "katana/http/handlers/websocket.hpp"

// SPDX-License-Identifier: Apache-2.0
