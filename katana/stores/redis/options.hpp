// Options: where Redis is, who we are there, and what a client may have.
//
// Owns       values, and the password.
// Thread     a value.
// Fails      parse_url() and Client::make() name what is wrong, never the password.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "katana/base/values/secrets.hpp"
#include "katana/net/upstream/options.hpp"
#include "katana/wire/resp/machine.hpp"

namespace katana::redis {

// Of redis:// and rediss://, where the URL says none.
inline constexpr std::uint16_t default_port = 6379;

struct Options {
  // Where servers are, TLS, timeouts of connecting, jitter. Several: whichever is the primary.
  upstream::Options upstream = {};
  std::string user = {};  // of an ACL; empty: "default"
  SecretText password = {};
  std::uint32_t database = 0;
  std::string client_name = "katana";  // CLIENT SETNAME; no spaces

  // For a call that says nothing else; the caller's deadline holds as well.
  Duration timeout = seconds(1);
  // A server that has not answered the oldest command for so long is given up: it is stopped, or
  // hangs.
  Duration stalled_after = seconds(5);
  // While no server is up calls wait so long for one, from when it was lost. Then they fail at
  // once, until one is up again. Zero: at once.
  Duration wait_while_down = milliseconds(250);

  // For the process: each reactor that calls has one. Others' calls are refused.
  std::uint32_t connections_max = 64;
  // For a connection: commands that wait for a reply, and the bytes of those that are not sent.
  std::uint32_t commands_max = 8 * 1024;
  std::size_t queued_bytes_max = std::size_t{8} * 1024 * 1024;
  resp::Limits reply = {};
};

// redis://user@host:port/2, rediss:// with TLS, or unix:/run/redis/redis.sock?db=2. Several hosts
// are separated by commas. A password is not taken: a URL is printed.
katana::Result<Options> parse_url(Bytes url);

}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
