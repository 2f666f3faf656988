// Options: the servers of Redis, the user and password, and the bounds and timeouts of a client.
//
// Owns       values, and the password.
// Thread     a value.
// Fails      parse_url() and Client::make() name the mistake, never the password.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "katana/base/values/secrets.hpp"
#include "katana/net/upstream/options.hpp"
#include "katana/wire/resp/machine.hpp"

namespace katana::redis {

// The port of redis:// and rediss:// URLs that name none.
inline constexpr std::uint16_t default_port = 6379;

struct Options {
  // The servers, TLS, timeouts of connecting, and jitter. The primary of several servers is used.
  upstream::Options upstream = {};
  std::string user = {};  // of an ACL; empty: "default"
  SecretText password = {};
  std::uint32_t database = 0;
  std::string client_name = "katana";  // CLIENT SETNAME; no spaces

  // The timeout of a call whose CallOptions name none; the caller's deadline holds as well.
  Duration timeout = seconds(1);
  // A server that has not answered the oldest command for this long is given up: it is stopped, or
  // hangs.
  Duration stalled_after = seconds(5);
  // While no server is up, calls wait for one until this long after the loss. From then on they
  // fail at once, until a server is up again. Zero: they fail at once.
  Duration wait_while_down = milliseconds(250);

  // For the process: each reactor that calls has one connection. Calls of further reactors are
  // refused.
  std::uint32_t connections_max = 64;
  // For a connection: the commands that wait for a reply, and the bytes of unsent ones.
  std::uint32_t commands_max = 8 * 1024;
  std::size_t queued_bytes_max = std::size_t{8} * 1024 * 1024;
  resp::Limits reply = {};
};

// redis://user@host:port/2, rediss:// with TLS, or unix:/run/redis/redis.sock?db=2. Several hosts
// are separated by commas. A password is not taken: a URL is printed.
katana::Result<Options> parse_url(Bytes url);

}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
