// ChatBus: the bus from a chat server to the others, made by its URL, and its log messages.
//
// Owns       the bus.
// Thread     start() that of the reactor; the log any.
// Fails      open() names the URL and the mistake in it.
#pragma once

#include <memory>

#include "katana/observe/log/logger.hpp"
#include "katana/stores/bus/nats/nats_bus.hpp"

namespace katana::chat {

class ChatBus final : private bus::NatsObserver {
 public:
  // Null for "" and "memory:": there are no other servers. Otherwise "nats://a,b" or "tls://a,b".
  static Result<std::unique_ptr<ChatBus>> open(const std::string& url, const log::Logger& log);

  // Usable after start(); lives as long as this.
  bus::Bus& bus() noexcept { return *bus_; }
  // On the reactor's thread: connects, and goes on trying.
  void start(net::Reactor& reactor) { bus_->start(reactor); }

 private:
  explicit ChatBus(log::Logger log) : log_(std::move(log)) {}

  void on_connected(const std::string& server, bool again, Duration away) noexcept override;
  void on_disconnected(const std::string& server, const Error& why) noexcept override;
  void on_unreachable(const std::string& server, const Error& why) noexcept override;
  void on_server_error(const std::string& server, const std::string& text) noexcept override;
  void on_missed(Bytes pattern, Bytes subject, std::uint64_t count) noexcept override;

  log::Logger log_;
  std::unique_ptr<bus::NatsBus> bus_;
};

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
