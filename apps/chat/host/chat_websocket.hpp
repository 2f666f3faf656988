// Chat over WebSocket: the page that a browser gets, and the connections that it opens.
//
// A text message of a client is one line, or several with line ends between them. A text message of
// the server holds whole lines: all that was said in a room within a turn. It refers to the same
// bytes that clients on plain connections get.
//
// Owns       a talk for each connection.
// Borrows    the ChatProtocol of the reactor that a connection is on.
// Thread     each connection its reactor's.
// Allocates  the talk; lines that wait while others are behind.
// Fails      as apps/chat/chat_client.hpp. Binary messages end the connection (1003).
#pragma once

#include <functional>

#include "apps/chat/protocol.hpp"
#include "katana/http/handlers/router.hpp"

namespace katana::chat {

// GET / is the page, and /chat the WebSocket. `here` gives the chat of the calling reactor.
void mount_chat(Group& routes, std::function<chat::ChatProtocol&()> here);
// The options with which the hub's limits on waiting bytes apply, not those of the connections.
session::WebSocketOptions chat_websocket_options(const chat::ChatOptions& chat) noexcept;

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
