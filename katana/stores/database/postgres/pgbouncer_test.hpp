// Pgbouncer: a pooler of transactions in front of a Cluster, for one test.
//
// Owns       its folder and its process, which ends with the process that started it.
// Thread     one.
// Fails      by std::runtime_error, with the output of pgbouncer.
// Invariant  no more than two sessions of a database: clients take turns on them.
#pragma once

#include <string>

#include "katana/stores/database/postgres/cluster_test.hpp"
#include "katana/stores/database/postgres/options.hpp"

namespace katana::database::postgres {

class Pgbouncer {
 public:
  explicit Pgbouncer(const Cluster& cluster);
  ~Pgbouncer();
  Pgbouncer(const Pgbouncer&) = delete;
  Pgbouncer& operator=(const Pgbouncer&) = delete;

  // The pooler in front of the shared cluster; started once in this process.
  static Pgbouncer& shared();

  // The same database, through the pooler.
  Options through(Options options) const;

 private:
  bool answers() const;

  std::string folder_;
  std::uint16_t port_ = 0;
  int process_ = -1;
};

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
