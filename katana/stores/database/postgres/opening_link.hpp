// OpeningLink: the part of a link that it has until it is open.
//
// Owns       the options, among them the password, and the machine of the start.
// Borrows    the destinations.
// Thread     one at a time.
// Allocates  once, some 2 KiB.
// Fails      as Link does.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/net/reactor/destinations.hpp"
#include "katana/stores/database/postgres/link_options.hpp"
#include "katana/wire/postgres/startup.hpp"

namespace katana::database::postgres {

struct OpeningLink {
  OpeningLink(LinkOptions given, const net::Destinations* of) noexcept
      : options(std::move(given)), destinations(of) {}

  // The steps between a connected socket and an open link. asking: the server is asked for what it
  // does not report of itself.
  enum class Phase : std::uint8_t { starting, handshake, asking };

  LinkOptions options;                          // of all servers
  const net::Destinations* const destinations;  // null: the machine's network
  std::size_t target = 0;                       // of the options: the next to be tried
  bool takes_any = false;         // no standby was there: the second round, for prefer_standby
  std::string host;               // of the server that is tried
  Phase phase = Phase::starting;  // of that server
  std::optional<protocol::Startup> startup;          // its machine
  std::vector<protocol::StartupParameter> settings;  // views of those of the options
  bool is_clear = false;        // in the clear, because the server has no TLS, or refuses it
  bool tries_in_clear = false;  // of the next attempt: it is in the clear
  bool is_second = false;       // this is that attempt
  bool has_told = false;        // the server has answered the question for its role
  bool has_answered = false;    // a password, or a proof of it, was sent to that server
};

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
