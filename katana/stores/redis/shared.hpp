// Shared: the state that the connections of all reactors of one Client share.
//
// Owns       the options, and the counters of each connection, also of those that are gone.
// Thread     any.
// Allocates  for each connection.
// Invariant  at most connections_max of them at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "katana/net/upstream/shared.hpp"
#include "katana/stores/redis/counters.hpp"
#include "katana/stores/redis/options.hpp"

namespace katana::redis {

class Shared {
 public:
  Shared(Options options, std::shared_ptr<upstream::Shared> servers)
      : options_(std::move(options)),
        servers_(std::move(servers)),
        password_(options_.password.copy()) {}

  // The options given to make(), with the values that make() has filled in.
  const Options& options() const noexcept { return options_; }
  // The addresses and the states of the servers.
  const std::shared_ptr<upstream::Shared>& servers() const noexcept { return servers_; }

  // The password of the connections that are made from now on.
  SecretText password() const;
  void set_password(SecretText password);

  // The counters of a new connection. Null: there are connections_max already. The place is given
  // back when the last share of the counters is gone.
  std::shared_ptr<Counters> join();
  Totals totals() const;

 private:
  const Options options_;
  const std::shared_ptr<upstream::Shared> servers_;
  mutable std::mutex mutex_;  // guards what follows
  SecretText password_;
  std::vector<const Counters*> joined_;  // of connections that are there
  Totals gone_;
};

}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
