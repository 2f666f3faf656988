// ChatCluster: the parts of a ChatServer that connect it to the other servers of its chat: the
// bridge, its log messages and its metrics.
//
// Owns       the bridge.
// Borrows    the bus and the directory, which outlive it.
// Thread     start() its reactor's; the metrics any.
// Fails      register_metrics() as a registry does.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/chat/cluster/bridge.hpp"
#include "apps/chat/host/chat_bus.hpp"
#include "katana/observe/log/logger.hpp"
#include "katana/observe/metrics/registry.hpp"

namespace katana::chat {

// The other servers of the chat, and the identity of this one.
struct ChatClusterOptions {
  // The address of the bus to the other servers, as "nats://a,b". Empty, or "memory:": there are
  // none.
  std::string url = {};
  // The prefix of the bus subjects: servers with the same prefix on the same bus are one chat.
  std::string prefix = "chat";
  // The name of this server: unique, and the same after a restart. Empty: "chat:" and the port.
  std::string node = {};
  chat::cluster::ClusterOptions cluster = {};  // id, name and epoch_ms are made
};

class ChatCluster final : private chat::cluster::BridgeObserver {
 public:
  // `port`: of the chat, for its name.
  ChatCluster(const ChatClusterOptions& options, ChatBus& bus, std::uint16_t port,
              chat::Directory& directory, const chat::HubOptions& hub, unsigned index,
              log::Logger log);
  ~ChatCluster();

  // Its counters on any thread, all else on its reactor's.
  chat::cluster::Bridge& bridge() noexcept { return bridge_; }
  // Before any reactor runs: the bridge begins with its first turn.
  void attach(net::Reactor& reactor, const std::vector<chat::Hub*>& hubs);
  Result<void> register_metrics(metrics::Registry& registry);
  void refresh_metrics();
  const std::string& name() const noexcept { return name_; }

 private:
  struct StartMessage : Message {
    explicit StartMessage(ChatCluster& owner) noexcept;
    ChatCluster& cluster;
  };

  void on_server_came(Bytes name, double missing_s) noexcept override;
  void on_server_went(Bytes name, bool was_told) noexcept override;
  void on_numbers_moved(std::uint16_t before, std::uint16_t now) noexcept override;
  void on_slot_twice(Bytes name, std::uint16_t slot) noexcept override;
  void on_missed(Bytes room, std::uint64_t messages, Bytes why) noexcept override;
  void on_not_published(std::uint64_t messages, const Error& why) noexcept override;
  void on_subscription_failed(Bytes subject, const Error& why) noexcept override;
  void on_bus_notice(Bytes what) noexcept override;

  log::Logger log_;
  ChatBus& bus_;
  std::string name_;
  chat::cluster::Bridge bridge_;
  StartMessage start_message_{*this};
  std::vector<metrics::ObservedCounter> counters_;
  std::vector<metrics::Gauge> gauges_;
};

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
