// Shared: the state that the connections of all reactors to the servers of one Options share.
//
// Owns       the options, the context of TLS, the resolver of names, the list of servers.
// Borrows    the observer of its options.
// Thread     any. Locks are held for short accesses to lists of a few servers.
// Allocates  at make(), and for announced servers.
// Fails      make() names the option, or the file of TLS.
// Invariant  the list is never empty: the servers of the options, then the servers of the last
//            announcement.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/net/tls/client_context.hpp"
#include "katana/net/upstream/options.hpp"
#include "katana/net/upstream/resolver.hpp"

namespace katana::upstream {

// The state for readiness and metrics.
struct Status {
  std::uint32_t up = 0;                     // connections that are established
  std::uint32_t down = 0;                   // failed or lost, and not reached again since
  std::string server = {};                  // the server of the last failure
  std::optional<Error> why = std::nullopt;  // of the last failure; none: nothing is down
  Instant down_since = never;  // when the first of the down connections went down; never: none is
  std::uint64_t attempts = 0;  // to reach a server, since make()
  std::uint64_t failures = 0;  // attempts that ended before established()
  std::uint64_t losses = 0;    // established connections that broke
};

class Shared {
 public:
  // Checks the options and reads the files of TLS.
  static Result<std::shared_ptr<Shared>> make(const Options& options);

  // The options that make() got.
  const Options& options() const noexcept { return options_; }
  // Null: plaintext.
  const std::shared_ptr<const tls::ClientContext>& tls() const noexcept { return tls_; }
  Resolver& resolver() noexcept { return resolver_; }

  // The server at the index `turn` modulo their count.
  Server server(std::size_t turn) const;
  std::size_t server_count() const;
  // Replaces the servers of the last announcement; the servers of the options stay. Drops the last
  // ones beyond servers_max, and then returns false.
  bool announce(const std::vector<Server>& servers);

  // The status of all connections at this moment.
  Status status() const;

  // ---- what connections report ----
  void note_attempt() noexcept { attempts_.fetch_add(1, std::memory_order_relaxed); }
  // `was_up`: an established connection broke. `is_first`: it was not down before.
  void note_failure(const Server& server, const Error& why, bool was_up, bool is_first,
                    Instant now) noexcept;
  void note_up(const Server& server, bool was_down, Instant now) noexcept;
  // A connection was stopped on purpose.
  void note_stopped(bool was_up, bool was_down) noexcept;

 private:
  // REQUIRES an observer, and the lock.
  void tell(bool begins, const Error& why, Instant now) noexcept;

  Shared(const Options& options, std::shared_ptr<const tls::ClientContext> context);

  const Options options_;
  const std::shared_ptr<const tls::ClientContext> tls_;
  Resolver resolver_;
  std::atomic<std::uint64_t> attempts_ = 0;
  mutable std::mutex mutex_;  // guards the next members
  std::vector<Server> servers_;
  Status status_;
  std::string told_ = {};  // reason last reported in this outage
  Instant told_at_ = never;
};

}  // namespace katana::upstream

// SPDX-License-Identifier: Apache-2.0
