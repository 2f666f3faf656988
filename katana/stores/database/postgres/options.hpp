// Options of a PostgreSQL database: where it is, and every limit and wait with its default.
//
//   auto options = postgres::Options::from_url(
//       "postgresql://app@db1,db2:5433/shop?sslmode=verify-full&target_session_attrs=read-write");
//
// Owns       values only.
// Thread     values.
// Allocates  as strings do.
// Fails      from_url() and open() name the part that is wrong, never the password.
// Invariant  no text that is made of Options, describe() included, has the password.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/stores/database/limits.hpp"
#include "katana/stores/database/migrations.hpp"
#include "katana/stores/database/opening.hpp"

namespace katana::database::postgres {

// One server of a URL that may name several.
struct Host {
  // A name, a numeric address, or the folder of a Unix socket. A '@' in front of the folder: an
  // abstract socket.
  std::string name;
  std::uint16_t port = 5432;  // also part of the name of a Unix socket
  // A numeric address (hostaddr): the name is not looked up, but TLS checks it. Empty: none.
  std::string address = {};
};

// Members with their default in limits.hpp are explained there.
struct Options {
  std::vector<Host> hosts = {};    // tried in this order
  std::string database = {};       // empty: as the user is called
  std::string user = {};           // empty: the operating system's user
  std::string password = {};       // or:
  std::string password_file = {};  // read for each connection, so that it may be changed
  // Further parameters, as sslmode, sslrootcert, target_session_attrs: keywords of libpq.
  std::vector<std::pair<std::string, std::string>> parameters = {};
  std::string application_name = "katana";

  std::string migrations = {};  // a folder; they are applied before anything else. Empty: none
  std::vector<Migration> bundled = {};  // the same, of the program; see bundled_migrations()
  Opening opening = {};                 // of open(), as far as it asks the server
  // For tests in virtual time: the database has no thread. Reactors make connections, to their
  // net::Destinations if they have some. Other callers are refused. REQUIRES no migrations, no
  // password_file, and a replica_lag_max of 0.
  bool is_on_reactors_only = false;

  unsigned connections_max = 16;  // of the process, all reactors together
  // Statements on their way on one connection.
  unsigned pipeline_depth = PostgresLimits().pipeline_depth;
  // Plain reads that share a sync; 1: none do.
  unsigned reads_per_sync = PostgresLimits().reads_per_sync;
  // Nothing is sent behind a statement that runs longer.
  Duration slow_after = PostgresLimits().slow_after;
  // The timeout of TCP, TLS and authentication for one host.
  Duration connect_timeout = PostgresLimits().connect_timeout;
  Duration idle_timeout = PostgresLimits().idle_timeout;  // an idle connection is closed after it
  Duration backoff_min = PostgresLimits().backoff_min;    // before the second attempt to connect
  Duration backoff_max = PostgresLimits().backoff_max;    // doubled up to this, jittered
  Duration probe_interval = PostgresLimits().probe_interval;  // idle connections are asked so often
  Duration probe_timeout = PostgresLimits().probe_timeout;    // no answer for so long: unusable
  // Calls of one reactor without a connection.
  std::size_t waiting_max = PostgresLimits().waiting_max;
  Duration wait_max = seconds(2);                    // for a connection; then the call is refused
  Duration timeout = seconds(30);                    // of a call that was given none
  std::size_t rows_max = PostgresLimits().rows_max;  // of one result; larger ones need a stream
  // Above 0: the hosts are a primary and its standbys. Reads of replica() then go to a standby that
  // has all writes acknowledged at least this long ago; see topology.hpp.
  Duration replica_lag_max = PostgresLimits().replica_lag_max;
  bool prepared_statements = PostgresLimits().prepared_statements;
  std::size_t statements_max = PostgresLimits().statements_max;
  Duration transaction_hold = PostgresLimits().transaction_hold;
  unsigned streams_max = PostgresLimits().streams_max;
  Duration stream_idle = PostgresLimits().stream_idle;

  // postgresql:// with keywords of libpq. An Error names the part that is wrong, never the
  // password.
  static katana::Result<Options> from_url(std::string_view url);
  // "app@db1:5432,db2:5433/shop", for the log.
  std::string describe() const;
  // target_session_attrs names servers that take writes.
  bool wants_writable() const noexcept;
};

// Checks the options; an Error names the one that is wrong.
katana::Result<void> check(const Options& options);

// The password of the options, or that of their file; the caller erases it with erase_secret().
katana::Result<std::string> password_of(const Options& options);

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
