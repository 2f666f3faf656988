// Redis settings: where the Redis of a program is, and what it keeps there.
//
// Owns       values only.
// Thread     values.
// Allocates  as strings do.
// Fails      as Config does; what contradicts itself is said by ProgramRedis::make().
// Invariant  all of it needs a restart; a password file is read for each connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "katana/app/option_descriptions.hpp"
#include "katana/base/values/described.hpp"
#include "katana/base/values/instant.hpp"
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
KATANA_DESCRIBE(
    RedisSettings,
    (url, length(0, 4000),
     help("redis://user@host:port/0, rediss://… with TLS, or unix:/path?db=0; several hosts by "
          "commas, of which the primary is found; empty: no Redis")),
    (required, help("not ready while no server is connected")),
    (password_file, length(0, 4000), help("a file with the password, read for each connection")),
    (tls, help("of rediss://…")),
    (prefix, length(0, 200),
     help("in front of every key that sessions, limits, locks and caches have; programs that "
          "share a server differ in it")),
    (timeout, option_rules::timeout, help("of a call that says nothing else")),
    (connect_timeout, option_rules::timeout, help("of one attempt")),
    (wait_while_down, range(Duration{}, seconds(600)),
     help("how long calls wait for a server that was lost, before they fail at once")),
    (stalled_after, option_rules::timeout,
     help("a server that has not answered a command for so long is given up")),
    (vanished_after, range(seconds(2), seconds(3600)),
     help("a server whose machine is gone is given up after so long")),
    (reconnect_min, range(milliseconds(1), seconds(3600)),
     help("shortest pause between two attempts; the pauses are drawn")),
    (reconnect_max, range(milliseconds(1), seconds(3600)), help("and the longest")),
    (connections_max, range(1, 100'000), help("of the process: one of each reactor")),
    (commands_max, range(1, 1 << 24), help("of a connection, that wait; more are refused")),
    (queued_bytes_max, byte_count, range(1024, std::size_t{1} << 40), help("and their bytes")),
    (reply_bytes_max, byte_count, range(1024, std::uint64_t{1} << 40), help("of one reply")),
    (lock_jobs,
     help("jobs of one instance are locked here; false: in the database of the program")),
    (job_lease, range(seconds(1), seconds(3600)),
     help("how long others wait for an instance that died in such a job; renewed while it runs")))

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
