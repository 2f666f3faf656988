#include "apps/chat/host/chat_cluster.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>

#include "katana/base/system/monotonic_clock.hpp"
#include "katana/base/values/secrets.hpp"

namespace katana::chat {
namespace {

using chat::cluster::Bridge;

struct ClusterRow {
  const char* name;
  const char* unit;
  const char* help;
  std::uint64_t (*value)(Bridge&);
};

constexpr std::array cluster_counters{
    ClusterRow{"katana_chat_bus_published", "",
               "Messages of clients here that were published to other servers.",
               [](Bridge& of) { return of.counters().published.value(); }},
    ClusterRow{"katana_chat_bus_published_batches", "", "Messages of the bus that they were.",
               [](Bridge& of) { return of.counters().published_batches.value(); }},
    ClusterRow{"katana_chat_bus_published_bytes", "bytes", "Bytes of them.",
               [](Bridge& of) { return of.counters().published_bytes.value(); }},
    ClusterRow{"katana_chat_bus_not_published", "",
               "Messages of clients here that the bus did not take: other servers tell that they "
               "are missing.",
               [](Bridge& of) { return of.counters().not_published.value(); }},
    ClusterRow{"katana_chat_bus_received", "", "Messages of clients of other servers.",
               [](Bridge& of) { return of.counters().received.value(); }},
    ClusterRow{"katana_chat_bus_received_batches", "", "Messages of the bus that they were.",
               [](Bridge& of) { return of.counters().received_batches.value(); }},
    ClusterRow{"katana_chat_bus_received_bytes", "bytes", "Bytes of them.",
               [](Bridge& of) { return of.counters().received_bytes.value(); }},
    ClusterRow{"katana_chat_bus_missed", "",
               "Messages of other servers that did not come; rooms were told.",
               [](Bridge& of) { return of.node_counters().missed.value(); }},
    ClusterRow{"katana_chat_bus_overflowed", "",
               "Messages of other servers that the reactors here were too far behind for; rooms "
               "were told.",
               [](Bridge& of) { return of.counters().overflowed.value(); }},
    ClusterRow{"katana_chat_bus_late", "",
               "Messages of other servers that came when they had been told as missing, or twice.",
               [](Bridge& of) { return of.node_counters().late.value(); }},
    ClusterRow{"katana_chat_bus_malformed", "", "Messages of the bus that are none of a chat.",
               [](Bridge& of) {
                 return of.counters().malformed.value() + of.node_counters().malformed.value();
               }},
    ClusterRow{"katana_chat_bus_refused", "", "Frames of servers and rooms above the limits.",
               [](Bridge& of) { return of.node_counters().refused.value(); }},
    ClusterRow{"katana_chat_bus_departures", "", "Servers that were silent for too long.",
               [](Bridge& of) { return of.node_counters().departures.value(); }},
    ClusterRow{"katana_chat_bus_returns", "",
               "Servers that were heard again after they had been gone.",
               [](Bridge& of) { return of.node_counters().returns.value(); }},
    ClusterRow{"katana_chat_bus_snapshots_wanted", "",
               "Times that another server was asked for all that it knows.",
               [](Bridge& of) { return of.node_counters().syncs.value(); }},
    ClusterRow{"katana_chat_bus_names_claimed", "", "Names that other servers were asked for.",
               [](Bridge& of) { return of.node_counters().claims.value(); }},
    ClusterRow{"katana_chat_bus_names_denied", "", "Claims of names that another server denied.",
               [](Bridge& of) { return of.node_counters().claims_denied.value(); }},
    ClusterRow{"katana_chat_bus_names_unanswered", "",
               "Claims of names that were given although a server had not answered.",
               [](Bridge& of) { return of.node_counters().claims_unheard.value(); }},
    ClusterRow{"katana_chat_bus_names_lost", "",
               "Names that were taken twice, and left to another server's client.",
               [](Bridge& of) { return of.node_counters().name_conflicts.value(); }},
    ClusterRow{"katana_chat_bus_numbers_moved", "",
               "Times that the slot of numbers was left to another server.",
               [](Bridge& of) { return of.node_counters().number_conflicts.value(); }},
    ClusterRow{"katana_chat_bus_positions_forgotten", "",
               "Positions of rooms that were dropped to make room.",
               [](Bridge& of) { return of.node_counters().forgotten.value(); }},
    ClusterRow{"katana_chat_bus_histories_wanted", "",
               "Histories of rooms that other servers were asked for.",
               [](Bridge& of) { return of.counters().histories.value(); }}};

constexpr std::array cluster_gauges{
    ClusterRow{"katana_chat_bus_servers", "", "Other servers of the chat that are heard.",
               [](Bridge& of) { return of.node_counters().nodes.value(); }},
    ClusterRow{"katana_chat_bus_remote_members", "", "Clients in rooms on other servers.",
               [](Bridge& of) { return of.node_counters().remote_members.value(); }}};

std::string name_of_node(const ChatClusterOptions& options, std::uint16_t port) {
  return options.node.empty() ? fmt::format("chat:{}", port) : options.node;
}

chat::cluster::BridgeOptions bridge_options(const ChatClusterOptions& options,
                                            const std::string& name,
                                            chat::cluster::BridgeObserver& observer) {
  chat::cluster::BridgeOptions made{options.cluster, options.prefix, &observer};
  made.cluster.name = name;
  while (made.cluster.id == 0) {
    fill_random({reinterpret_cast<char*>(&made.cluster.id), sizeof made.cluster.id});
  }
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  made.cluster.epoch_ms = std::chrono::duration_cast<std::chrono::milliseconds>(wall).count() -
                          monotonic_now().ns / 1'000'000;
  return made;
}

}  // namespace

ChatCluster::StartMessage::StartMessage(ChatCluster& owner) noexcept
    : Message([](Message& message) noexcept {
        ChatCluster& owned = static_cast<StartMessage&>(message).cluster;
        owned.bus_.start(*net::Reactor::current());
        if (auto started = owned.bridge_.start(); !started) {
          owned.log_.error("this server is alone: {}", started.error().describe());
        }
      }),
      cluster(owner) {}

ChatCluster::ChatCluster(const ChatClusterOptions& options, ChatBus& bus, std::uint16_t port,
                         chat::Directory& directory, const chat::HubOptions& hub, unsigned index,
                         log::Logger log)
    : log_(std::move(log)),
      bus_(bus),
      name_(name_of_node(options, port)),
      bridge_(bridge_options(options, name_, *this), bus.bus(), directory, hub, index) {}

ChatCluster::~ChatCluster() = default;

void ChatCluster::attach(net::Reactor& reactor, const std::vector<chat::Hub*>& hubs) {
  bridge_.attach(reactor, hubs);
  reactor.post(start_message_);
}

Result<void> ChatCluster::register_metrics(metrics::Registry& registry) {
  for (const ClusterRow& row : cluster_counters) {
    auto family = registry.observed_counters(
        {.name = row.name, .help = row.help, .labels = {}, .unit = row.unit});
    if (!family) return std::unexpected(family.error());
    counters_.push_back(family->with());
  }
  for (const ClusterRow& row : cluster_gauges) {
    auto gauge = registry.gauge(row.name, row.help);
    if (!gauge) return std::unexpected(gauge.error());
    gauges_.push_back(*gauge);
  }
  return {};
}

void ChatCluster::refresh_metrics() {
  for (std::size_t row = 0; row < counters_.size(); ++row) {
    counters_[row].observe(static_cast<double>(cluster_counters[row].value(bridge_)));
  }
  for (std::size_t row = 0; row < gauges_.size(); ++row) {
    gauges_[row].set(static_cast<double>(cluster_gauges[row].value(bridge_)));
  }
}

// ---- what is logged ----------------------------------------------------------------------------

void ChatCluster::on_server_came(Bytes name, double missing_s) noexcept {
  if (missing_s > 0) {
    log_.warn("server {} is back; it was not heard for {:.1f} s", name, missing_s);
  } else {
    log_.info("server {} is there", name);
  }
}

void ChatCluster::on_server_went(Bytes name, bool was_told) noexcept {
  if (was_told) {
    log_.info("server {} has stopped", name);
  } else {
    log_.warn("server {} is not heard any more: its clients count as gone", name);
  }
}

void ChatCluster::on_numbers_moved(std::uint16_t before, std::uint16_t now) noexcept {
  log_.warn(
      "another server had the numbers that end in {:03} before: clients here have numbers that end "
      "in {:03} now, and were told; give each server --node-slot to choose them",
      before, now);
}

void ChatCluster::on_slot_twice(Bytes name, std::uint16_t slot) noexcept {
  log_.error(KATANA_AT_MOST(1, seconds(60)),
             "server {} has --node-slot {} too: two clients may have one number", name, slot);
}

void ChatCluster::on_missed(Bytes room, std::uint64_t messages, Bytes why) noexcept {
  log_.warn(KATANA_AT_MOST(10, seconds(1)),
            "{} messages of other servers in room {} were lost {}: its members were told", messages,
            room, why);
}

void ChatCluster::on_not_published(std::uint64_t messages, const Error& why) noexcept {
  log_.warn(KATANA_AT_MOST(1, seconds(1)), "{} messages were not published: {}", messages,
            why.describe());
}

void ChatCluster::on_subscription_failed(Bytes subject, const Error& why) noexcept {
  log_.error(KATANA_AT_MOST(10, seconds(1)), "cannot subscribe to {}: {}", subject, why.describe());
}

void ChatCluster::on_bus_notice(Bytes what) noexcept {
  log_.warn(KATANA_AT_MOST(10, seconds(1)), "bus: {}", what);
}

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
