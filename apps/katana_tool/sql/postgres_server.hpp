// PostgresServer: a PostgreSQL that is started for a check, in a temporary folder.
//
// Owns       its folder and its process, which ends with this one.
// Thread     one.
// Allocates  yes.
// Fails      start() with the missing program and the remedy, or with the output of the server.
// Invariant  it listens on a Unix socket in its folder only, which no other user may enter; it runs
//            as an unprivileged user.
#pragma once

#include <memory>
#include <string>

#include "katana/base/system/result.hpp"
#include "katana/stores/database/postgres/options.hpp"

namespace katana::tool::sql {

class PostgresServer {
 public:
  static Result<std::unique_ptr<PostgresServer>> start();
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  // Where it is, for a session of its superuser.
  database::postgres::Options options() const;

 private:
  explicit PostgresServer(std::string folder) : folder_(std::move(folder)) {}

  std::string folder_;
  int process_ = 0;
};

}  // namespace katana::tool::sql

// SPDX-License-Identifier: Apache-2.0
