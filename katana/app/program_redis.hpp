// ProgramRedis: a Redis of a program, as its settings want it: a client, its records in the log,
// its figures and its health check.
//
//   katana_redis_…{client}   connections, commands, waits, failures, by the name of the settings
//
// Owns       the client, and the password that its file has.
// Thread     make() and reload() one at a time; health() any.
// Allocates  the client.
// Fails      make() with an Error that names the setting, or the file.
// Invariant  the log has one record when the first connection is lost, and one when all are there
//            again. It has one for each other reason why a connection is missing, at most one in a
//            second.
#pragma once

#include <memory>
#include <string>

#include "katana/app/redis_settings.hpp"
#include "katana/app/settings.hpp"
#include "katana/base/coroutine/task.hpp"
#include "katana/base/system/result.hpp"
#include "katana/observe/log/log.hpp"
#include "katana/observe/metrics/registry.hpp"
#include "katana/stores/redis/client.hpp"

namespace katana::app {

class ProgramRedis final : private upstream::Observer {
 public:
  // `key`: of these settings, such as "redis". REQUIRES that they are given().
  static Result<std::unique_ptr<ProgramRedis>> make(const RedisSettings& settings, std::string key,
                                                    log::Logger logger);
  // Fails where make() would refuse, without making anything.
  static Result<void> check(const RedisSettings& settings, const std::string& key);

  // The client that the registry has.
  redis::Client& client() const noexcept { return *client_; }
  // The settings that it was made with.
  const RedisSettings& settings() const noexcept { return settings_; }
  // The families above, with the name of the settings as their label.
  Result<void> add_metrics(metrics::Registry& registry) const;
  // Ready, or why not.
  Result<void> health() const;
  // Connects, on a reactor: the first request then finds a connection, and health() an answer.
  Task<void> connect() const;
  // Reads the password file again, for connections from now on.
  Result<void> reload();

 private:
  ProgramRedis(RedisSettings settings, std::string key, log::Logger logger);
  void on_down(const std::string& server, const Error& why) noexcept override;
  void on_still_down(const std::string& server, const Error& why) noexcept override;
  void on_recovered(const std::string& server, Duration down_for) noexcept override;

  const RedisSettings settings_;
  const std::string key_;
  const log::Logger logger_;
  std::unique_ptr<redis::Client> client_;
};

// Checks all settings about Redis: fails where they contradict one another, or make() would refuse.
Result<void> check_redis(const ApplicationSettings& settings);

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
