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

#include "katana/base/instant.hpp"
#include "katana/base/result.hpp"
#include "katana/database/migrations.hpp"

namespace katana::database::postgres {

struct Host {
  std::string name;  // a name, a numeric address, or the folder of a Unix socket
  std::uint16_t port = 5432;
};

struct Options {
  std::vector<Host> hosts = {};  // tried in this order
  std::string database = {};     // empty: as the user is called
  std::string user = {};
  std::string password = {};       // or:
  std::string password_file = {};  // read for each connection, so that it may be changed
  // Further keywords of libpq, as sslmode, sslrootcert, target_session_attrs.
  std::vector<std::pair<std::string, std::string>> parameters = {};
  std::string application_name = "katana";

  std::string migrations = {};  // a folder; they are applied before anything else. Empty: none
  std::vector<Migration> bundled = {};  // the same, of the program; see bundled_migrations()

  unsigned connections_max = 16;          // of the process, all reactors together
  unsigned pipeline_depth = 32;           // statements on their way on one connection
  Duration slow_after = milliseconds(5);  // then no other statement goes behind it
  Duration connect_timeout = seconds(5);
  Duration idle_timeout = seconds(60);      // a connection without work for so long is closed
  Duration backoff_min = milliseconds(50);  // before the next attempt after one that failed;
  Duration backoff_max = seconds(2);        // doubled each time, jittered
  std::size_t waiting_max = 8192;           // calls that wait for a connection, of each reactor
  Duration wait_max = seconds(2);           // for a connection; then the call is refused
  Duration timeout = seconds(30);           // of a call that was given none
  std::size_t rows_max = 100'000;           // of one result; more are for a stream
  std::size_t statements_max = 256;         // kept prepared, for each connection
  Duration transaction_hold = seconds(30);  // without a statement; then: rolled back
  unsigned streams_max = 8;                 // each holds a connection
  Duration stream_idle = seconds(30);       // a stream nobody reads loses its connection

  static katana::Result<Options> from_url(std::string_view url);
  // "app@db1:5432,db2:5433/shop", for the log.
  std::string describe() const;
};

// What is wrong with them, if anything.
katana::Result<void> check(const Options& options);

// A host, and the address that its name was resolved to.
struct Target {
  std::string name;
  std::uint16_t port = 5432;
  std::string address = {};  // empty: the name is the folder of a Unix socket
};

// The parameters of one attempt to connect, as libpq takes them.
class ConnectParameters {
 public:
  ConnectParameters(const Options& options, const std::vector<Target>& targets,
                    const std::string& password);
  const char* const* keywords() const noexcept { return keywords_.data(); }
  const char* const* values() const noexcept { return values_.data(); }

 private:
  void add(std::string keyword, std::string value);

  std::vector<std::pair<std::string, std::string>> kept_;
  std::vector<const char*> keywords_;
  std::vector<const char*> values_;
};

// The password of the options, or that of their file.
katana::Result<std::string> password_of(const Options& options);

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
