// Cluster: a PostgreSQL server for one test, in a temporary folder, as an unprivileged user.
//
//   const Cluster& cluster = Cluster::shared();   // of this process, started once
//   Options options = cluster.options();          // its own database each time
//
// Owns       its folder and its server, which ends with the process, also when that is killed.
// Thread     one.
// Allocates  yes.
// Fails      by std::runtime_error, with the server's output.
// Invariant  the server listens on a Unix socket in its folder and on a free port of 127.0.0.1. It
//            flushes nothing: its data survives the server, but not the machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "katana/base/system/program_fixture_test.hpp"
#include "katana/stores/database/postgres/options.hpp"

namespace katana::database::postgres {

// The path of a program of the newest PostgreSQL among Debian's packages.
std::string postgres_program(const char* name);
// Starts a program as an unprivileged user and in its own process group, which dies with the
// thread that started it. Its output goes to `log`.
int start_program(const std::vector<std::string>& words, const std::string& log);
int wait_for(int process);
// A temporary folder of the user that start_program() takes.
std::string make_folder(const char* name);

class Cluster {
 public:
  Cluster();
  // A standby that follows `primary`, and begins with a copy of its present data.
  explicit Cluster(const Cluster* primary);
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  static Cluster& shared();

  // The options of a database that is made for this call.
  Options options(bool over_tcp = false) const;
  std::uint16_t port() const noexcept { return port_; }
  const std::string& folder() const noexcept { return folder_; }
  // Stops the server as pg_ctl would, by SIGINT; `at_once`: by SIGKILL with all its processes.
  void stop(bool at_once);
  void start();
  // Runs one statement by its own connection, in a database or the first one. Returns the first
  // value.
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
