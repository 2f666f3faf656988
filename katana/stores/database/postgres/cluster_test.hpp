// Cluster: a PostgreSQL server of a test's own, in a temporary folder, as an unprivileged user.
//
//   const Cluster& cluster = Cluster::shared();   // of this process, started once
//   Options options = cluster.options();          // its own database each time
//
// Owns       its folder and its server, which ends with the process, also when that is killed.
// Thread     one.
// Allocates  yes.
// Fails      by std::runtime_error, with what the server wrote.
// Invariant  the server listens on a Unix socket in its folder and on a free port of 127.0.0.1, and
//            flushes nothing: what it keeps survives it, and not the machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "katana/stores/database/postgres/options.hpp"

namespace katana::database::postgres {

// Where a program of the newest PostgreSQL among Debian's packages is.
std::string postgres_program(const char* name);
std::uint16_t free_port();
// As an unprivileged user and in its own process group, which dies with the thread that
// started it. `log` gets what it writes.
int start_program(const std::vector<std::string>& words, const std::string& log);
int wait_for(int process);
// A temporary folder of the user that start_program() takes.
std::string make_folder(const char* name);

class Cluster {
 public:
  Cluster();
  // A standby that follows `primary`, from what that has now.
  explicit Cluster(const Cluster* primary);
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  static Cluster& shared();

  // Of a database that is made for this call.
  Options options(bool over_tcp = false) const;
  std::uint16_t port() const noexcept { return port_; }
  const std::string& folder() const noexcept { return folder_; }
  // As pg_ctl would: SIGINT, or SIGKILL with all that the server started.
  void stop(bool at_once);
  void start();
  // One statement by its own connection, in a database or the first one; its first value.
  std::string ask(const std::string& statement, const std::string& database = "postgres") const;

 private:
  bool answers() const;
  std::string log() const;

  std::string folder_;
  std::uint16_t port_ = 0;
  int process_ = -1;
  mutable int databases_ = 0;
};

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
