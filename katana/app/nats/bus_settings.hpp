// Bus settings: the servers by which the processes of a program exchange messages.
//
// Owns       values only.
// Thread     values.
// Allocates  as strings do.
// Fails      as Config does; ProgramBus::make() reports settings that contradict one another.
#pragma once

#include <string>

#include "katana/base/values/described.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/data/config/compiled_group.hpp"
#include "katana/net/tls/client_options.hpp"
#include "katana/stores/bus/bus.hpp"
#include "katana/stores/bus/nats/options.hpp"

namespace katana::bus {
KATANA_DESCRIBE_ENUM(WhenAway, refuse, keep)
}  // namespace katana::bus

namespace katana::app {

// `bus`: see stores/bus/bus.hpp and stores/bus/nats/options.hpp.
struct BusSettings {
  std::string url = "memory:";
  bool required = false;
  std::string user = {};
  std::string password_file = {};
  std::string token_file = {};
  std::string nkey_file = {};
  std::string creds_file = {};
  tls::ClientTlsOptions tls = {};
  std::string prefix = {};
  bus::WhenAway when_away = bus::AwayOptions().policy;
  std::size_t kept_messages_max = bus::AwayOptions().messages_max;
  std::size_t kept_bytes_max = bus::AwayOptions().bytes_max;
  std::size_t payload_bytes_max = bus::BusOptions().payload_bytes_max;
  std::size_t queue_messages_max = bus::BusOptions().queue_messages_max;
  std::size_t queue_bytes_max = bus::BusOptions().queue_bytes_max;
  std::size_t requests_max = bus::BusOptions().requests_max;
  std::size_t subscriptions_max = bus::BusOptions().subscriptions_max;
  Duration ping_interval = bus::NatsOptions().ping_interval;
  Duration connect_timeout = bus::NatsOptions().connect_timeout;
  Duration reconnect_max = bus::NatsOptions().backoff_max;

  // Whether servers are connected to.
  bool is_remote() const noexcept { return url != "memory:"; }
};

}  // namespace katana::app

KATANA_CONFIG_DECLARE_GROUP(katana::app::BusSettings)

// SPDX-License-Identifier: Apache-2.0
