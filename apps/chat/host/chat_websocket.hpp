// Chat over WebSocket: the page that a browser gets, and the connections that it opens.
//
// A text message of a client is one line, or several with line ends between them. What it gets are
// text messages of whole lines: what was said in a room within a turn is one of them, which refers
// to the same bytes that clients on plain connections get.
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
// What connections of this chat may have waiting, so that the hub's limits are the ones that hold.
session::WebSocketOptions chat_websocket_options(const chat::ChatOptions& chat) noexcept;

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
