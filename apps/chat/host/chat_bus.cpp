#include "apps/chat/host/chat_bus.hpp"

#include <utility>

namespace katana::chat {

Result<std::unique_ptr<ChatBus>> ChatBus::open(const std::string& url, const log::Logger& log) {
  if (url.empty() || url == "memory:") return nullptr;
  bus::NatsOptions options;
  if (auto parsed = bus::parse_nats_url(url, options); !parsed) {
    return std::unexpected(parsed.error());
  }
  std::unique_ptr<ChatBus> made(new ChatBus(log));
  options.client_name = "katana chat";
  options.observer = made.get();
  // Losses are found by the numbers of the streams (apps/chat/cluster/streams.hpp).
  options.numbers = false;
  auto bus = bus::NatsBus::make(std::move(options));
  if (!bus) return std::unexpected(bus.error());
  made->bus_ = *std::move(bus);
  return made;
}

void ChatBus::on_connected(const std::string& server, bool again, Duration away) noexcept {
  if (again) {
    log_.warn("bus: connected to {} after {:.1f} s", server, milliseconds_of(away) / 1e3);
  } else {
    log_.info("bus: connected to {}", server);
  }
}

void ChatBus::on_disconnected(const std::string& server, const Error& why) noexcept {
  log_.warn("bus: {} is gone: {}; rooms go on with the clients that are here", server,
            why.describe());
}

void ChatBus::on_unreachable(const std::string& server, const Error& why) noexcept {
  log_.warn(KATANA_AT_MOST(1, seconds(10)), "bus: {} is not reached: {}", server, why.describe());
}

void ChatBus::on_server_error(const std::string& server, const std::string& text) noexcept {
  log_.error(KATANA_AT_MOST(10, seconds(1)), "bus: {} says: {}", server, text);
}

void ChatBus::on_missed(Bytes, Bytes, std::uint64_t) noexcept {}  // the bridge tells it by room

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
