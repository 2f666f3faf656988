// PostgresCluster: a PostgreSQL server for the tests of one process, in a temporary folder.
//
//   Result<PostgresCluster*> cluster = PostgresCluster::of_process();  // started by the first call
//   Result<void> made = (*cluster)->run("CREATE DATABASE shop");
//
// The programs are those of pg_config, or else those of the PATH, or else the newest of
// /usr/lib/postgresql/*/bin (Debian) and /usr/pgsql-*/bin (RPM). PostgreSQL refuses root: for root
// the server runs as "postgres", or as "nobody".
//
// Owns       the folder (in /dev/shm if that has 1 GiB), the server and a thread. The server ends
//            with the process, even if that is killed; the next cluster then removes its folder.
// Thread     any.
// Allocates  freely: a test's tool.
// Fails      Code::not_found: PostgreSQL's server is not installed. Other Errors have the output of
//            initdb or the server.
// Invariant  the server listens only on a Unix socket in its folder, and flushes nothing to disk.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/stores/database/postgres/blocking_session.hpp"
#include "katana/stores/database/postgres/options.hpp"

namespace katana::testing {

// The folder in which initdb and postgres can be executed.
Result<std::string> find_postgres_programs();

class PostgresCluster {
 public:
  // The cluster that all tests of this process share. Started at the first call; it ends with the
  // process. An Error: PostgreSQL is not installed, or does not start.
  static Result<PostgresCluster*> of_process();
  // A cluster for the caller alone. `programs` is a result of find_postgres_programs().
  static Result<std::unique_ptr<PostgresCluster>> start(const std::string& programs);
  ~PostgresCluster();
  PostgresCluster(const PostgresCluster&) = delete;
  PostgresCluster& operator=(const PostgresCluster&) = delete;

  // The folder of its data, its socket and its log.
  const std::string& folder() const noexcept { return folder_; }
  int version() const noexcept { return version_; }  // 15: of 15.18
  // The options for a connection to a database of the cluster.
  database::postgres::Options options(const std::string& database) const;
  // "postgresql://katana@…/database", for database.url.
  std::string url(const std::string& database) const;
  // Runs a statement in the server's first database. Returns its first value, empty when there is
  // none.
  Result<std::string> run(const std::string& statement);

 private:
  explicit PostgresCluster(std::string programs) : programs_(std::move(programs)) {}
  Result<void> make_folder();
  Result<void> make_data();
  Result<void> start_server();
  // Runs on a thread that lasts: the kernel ends the server when the thread that started it ends.
  void own_server();
  bool has_ended();
  std::string log() const;

  const std::string programs_;
  std::string folder_;
  int lock_ = -1;  // of the folder, while it is in use
  int version_ = 0;
  std::mutex mutex_;  // guards the next members, up to the session
  std::condition_variable changed_;
  std::optional<int> process_;
  bool ends_ = false;
  std::thread owner_;
  std::mutex session_mutex_;
  std::optional<database::postgres::BlockingSession> session_;
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
