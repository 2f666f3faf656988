// Redis settings: the address of a program's Redis, and the data that it keeps there.
//
// Owns       values only.
// Thread     values.
// Allocates  as strings do.
// Fails      as Config does; ProgramRedis::make() reports settings that contradict one another.
// Invariant  all of it needs a restart; a password file is read for each connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "katana/base/values/instant.hpp"
#include "katana/net/tls/client_options.hpp"
#include "katana/stores/redis/options.hpp"

namespace katana::app {

// `redis`: see stores/redis/options.hpp.
struct RedisSettings {
  std::string url;                              // empty: no Redis
  bool required = false;                        // /ready is 503 while none is connected
  std::string password_file;                    // empty: no password
  tls::ClientTlsOptions tls;                    // of rediss://…
  std::string prefix = "katana:";               // of every key
  Duration timeout = redis::Options().timeout;  // of a call
  Duration connect_timeout = redis::Options().upstream.connect_timeout;  // of an attempt
  Duration wait_while_down = redis::Options().wait_while_down;           // of calls, for a server
  Duration stalled_after = redis::Options().stalled_after;               // without an answer
  Duration vanished_after = redis::Options().upstream.vanished_after;  // without an acknowledgement
  Duration reconnect_min = redis::Options().upstream.backoff_min;      // pause between attempts
  Duration reconnect_max = redis::Options().upstream.backoff_max;      // likewise, the longest
  std::uint32_t connections_max = redis::Options().connections_max;    // of the process
  std::uint32_t commands_max = redis::Options().commands_max;          // of a connection, waiting
  std::size_t queued_bytes_max = redis::Options().queued_bytes_max;    // likewise, not sent
  std::uint64_t reply_bytes_max = redis::Options().reply.reply_bytes_max;  // of one reply
  bool lock_jobs = true;                                                   // those of one instance
  Duration job_lease = seconds(30);  // renewed while a job runs

  // Whether there is a Redis.
  bool given() const noexcept { return !url.empty(); }
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
