// WebSocket routes: Router::websocket() and what its handlers are given.
//
// Links      server
// Invariant  it has includes only, each from what that links.
#pragma once

#include "katana/service/router.hpp"
#include "katana/service/websocket.hpp"

// SPDX-License-Identifier: Apache-2.0
