// Shared: what the connections of all reactors to the servers of one Options have in common.
//
// Owns       the options, the context of TLS, the resolver of names, the list of servers.
// Borrows    the observer of its options.
// Thread     any. Locks are held for looks into lists of a few servers.
// Allocates  at make(), and for announced servers.
// Fails      make() names the option, or the file of TLS.
// Invariant  the list is never empty: those of the options, and behind them what was announced
//            last.
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

// For readiness and metrics.
struct Status {
  std::uint32_t up = 0;     // connections that are established
  std::uint32_t down = 0;   // that want to be, and whose last attempt failed or that were lost
  std::string server = {};  // that the last failure is of
  std::optional<Error> why = std::nullopt;  // of the last failure; none: nothing is down
  Instant down_since = never;  // when the first of those that are down went down; never: none is
  std::uint64_t attempts = 0;  // to reach a server, since make()
  std::uint64_t failures = 0;  // attempts that did not come to be established
  std::uint64_t losses = 0;    // established connections that broke
};

class Shared {
 public:
  // Checks the options and reads the files of TLS.
  static Result<std::shared_ptr<Shared>> make(const Options& options);

  // As make() was given them.
  const Options& options() const noexcept { return options_; }
  // Null: plaintext.
  const std::shared_ptr<const tls::ClientContext>& tls() const noexcept { return tls_; }
  Resolver& resolver() noexcept { return resolver_; }

  // The one at `turn` modulo their count.
  Server server(std::size_t turn) const;
  std::size_t server_count() const;
  // What the cluster says of itself, in the place of what it said before: servers besides those of
  // the options. Of more than servers_max the last are left out; false then.
  bool announce(const std::vector<Server>& servers);

  // Of all connections at this moment.
  Status status() const;

  // ---- what connections report ----
  void note_attempt() noexcept { attempts_.fetch_add(1, std::memory_order_relaxed); }
  // `was_up`: an established connection broke. `is_first`: it was not down before.
  void note_failure(const Server& server, const Error& why, bool was_up, bool is_first,
                    Instant now) noexcept;
  void note_up(const Server& server, bool was_down, Instant now) noexcept;
  // A connection is given up on purpose.
  void note_stopped(bool was_up, bool was_down) noexcept;

 private:
  // REQUIRES an observer, and the lock.
  void tell(bool begins, const Error& why, Instant now) noexcept;

  Shared(const Options& options, std::shared_ptr<const tls::ClientContext> context);

  const Options options_;
  const std::shared_ptr<const tls::ClientContext> tls_;
  Resolver resolver_;
  std::atomic<std::uint64_t> attempts_ = 0;
  mutable std::mutex mutex_;  // guards what follows
  std::vector<Server> servers_;
  Status status_;
  std::string told_ = {};  // to the observer, of this outage
  Instant told_at_ = never;
};

}  // namespace katana::upstream

// SPDX-License-Identifier: Apache-2.0
