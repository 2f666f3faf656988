// Bus settings: over what the processes of a program hear one another.
//
// Owns       values only.
// Thread     values.
// Allocates  as strings do.
// Fails      as Config does; what contradicts itself is said by ProgramBus::make().
#pragma once

#include <string>

#include "katana/app/option_descriptions.hpp"
#include "katana/base/values/described.hpp"
#include "katana/base/values/instant.hpp"
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
  std::string user;
  std::string password_file;
  std::string token_file;
  std::string nkey_file;
  std::string creds_file;
  tls::ClientTlsOptions tls;
  std::string prefix;
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
KATANA_DESCRIBE(
    BusSettings,
    (url, length(1, 4000),
     help("memory:, of this process; or nats://host:port,… (tls://… with TLS), of all that name "
          "the same servers")),
    (required, help("not ready while no server is connected")),
    (user, length(0, 200), help("of password_file")),
    (password_file, length(0, 4000), help("a file with the user's password")),
    (token_file, length(0, 4000), help("a file with a token")),
    (nkey_file, length(0, 4000), help("a file with the seed of an nkey (SU…)")),
    (creds_file, length(0, 4000), help("a .creds file: a JWT and its nkey")),
    (tls, help("of tls://…")),
    (prefix, length(0, 200),
     help("in front of every subject, so that programs share servers; empty: none")),
    (when_away, help("without a server: keep what is published, or refuse it")),
    (kept_messages_max, range(1, 1 << 24), help("messages kept for a server; more are refused")),
    (kept_bytes_max, byte_count, at_least(std::size_t{1} << 16), help("and their bytes")),
    (payload_bytes_max, byte_count, range(1, 64 << 20), help("of a message")),
    (queue_messages_max, range(1, 1 << 24),
     help("messages that wait for one reactor; of more the newest are dropped, and it is told")),
    (queue_bytes_max, byte_count, at_least(std::size_t{1} << 16), help("and their bytes")),
    (requests_max, range(1, 1 << 20), help("requests of each reactor that wait for an answer")),
    (subscriptions_max, range(1, 1 << 24), help("subscriptions of the process")),
    (ping_interval, range(milliseconds(10), seconds(3600)),
     help("a server that does not answer is given up after twice that")),
    (connect_timeout, option_rules::timeout, help("of one attempt")),
    (reconnect_max, range(milliseconds(20), seconds(3600)),
     help("longest pause between two attempts; the pauses are drawn")))

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
