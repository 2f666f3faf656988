#include "apps/chat/protocol.hpp"

#include <algorithm>
#include <new>

#include "apps/chat/session.hpp"
#include "katana/base/system/check.hpp"

namespace katana::chat {

ChatProtocol::ChatProtocol(const ChatOptions& options, Directory& directory, unsigned index)
    : options_(options), hub_(options.hub, directory, index, *this) {
  KATANA_REQUIRE(options.hub.line_bytes_max >= options.limits.line_bytes_max);
}

std::size_t ChatProtocol::session_bytes() const noexcept { return sizeof(ChatSession); }

net::Session* ChatProtocol::open(void* memory, net::Connection& connection) noexcept {
  return new (memory) ChatSession(*this, connection, hub_.directory().admit());
}

void adapt_reactor(net::ReactorOptions& reactor, const ChatOptions& chat) noexcept {
  // A session stops to read commands when its replies are not taken.
  reactor.outbox_high_bytes = chat.hub.window_bytes;
  reactor.outbox_low_bytes = chat.hub.window_bytes / 4;
  reactor.engine.receive_bytes_per_turn = chat.hub.turn_bytes_max;
  // References to a full window, replies, and a backlog that is moved there when the server stops.
  reactor.output_blocks_max =
      std::max<std::size_t>(reactor.output_blocks_max, std::size_t{reactor.engine.links_max} * 8);
  reactor.output_blocks_reserve =
      std::min(reactor.output_blocks_reserve, reactor.output_blocks_max / 8);
  reactor.carry_extra_bytes = std::max(reactor.carry_extra_bytes, chat.limits.line_bytes_max + 2);
}

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
