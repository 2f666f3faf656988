// WebSocket routes: Router::websocket(), the parameters of its handlers, and topics.
//
// Links      http/topics http/server
#pragma once

#include "katana/http/handlers/router.hpp"
#include "katana/http/handlers/websocket.hpp"
#include "katana/http/topics/topics.hpp"

// SPDX-License-Identifier: Apache-2.0
