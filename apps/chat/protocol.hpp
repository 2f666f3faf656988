// ChatProtocol: chat as a net::Protocol: the shared state of the sessions of one reactor.
//
// Owns       the hub of its reactor.
// Borrows    the directory and the reactor. It outlives the reactor: sessions refer to it.
// Thread     its reactor's; the counters of its hub any.
// Allocates  at construction.
#pragma once

#include <cstdint>
#include <string>

#include "apps/chat/hub.hpp"
#include "apps/chat/wire/limits.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/net/reactor/session.hpp"

namespace katana::chat {

// For one server; its reactors have the same.
struct ChatOptions {
  Limits limits = {};   // for the line, and for the time without a line
  HubOptions hub = {};  // queues, turns and relays
  // Lines of one client in a second; it may be ahead of that by as many as `rate_burst`. A client
  // that sends more is read later: nothing is lost. 0: no limit.
  std::uint32_t rate_max_per_s = 0;
  std::uint32_t rate_burst = 100;
  // The last line of every connection when the server stops; empty: none.
  std::string farewell = "The server is stopping. Goodbye.";
  std::uint32_t who_names_max = 100;  // names in a reply to /who; others are counted
};

class ChatProtocol final : public net::Protocol, private Turn {
 public:
  // Makes the chat of reactor number `index`; attach() follows before it runs.
  ChatProtocol(const ChatOptions& options, Directory& directory, unsigned index);
  void attach(net::Reactor& reactor) noexcept { reactor_ = &reactor; }

  std::size_t session_bytes() const noexcept override;
  net::Session* open(void* memory, net::Connection& connection) noexcept override;

  // For this reactor; its thread, but for order() and counters().
  Hub& hub() noexcept { return hub_; }
  // The options of construction.
  const ChatOptions& options() const noexcept { return options_; }

 private:
  void defer(Message& message) noexcept override { reactor_->defer(message); }
  void post(Message& message) noexcept override { reactor_->post(message); }
  HeldMemory* memory() noexcept override { return &reactor_->memory(); }

  ChatOptions options_;
  net::Reactor* reactor_ = nullptr;
  Hub hub_;
};

// Sets the options of a reactor that chat needs, except sizes that the caller chooses.
void adapt_reactor(net::ReactorOptions& reactor, const ChatOptions& chat) noexcept;

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
