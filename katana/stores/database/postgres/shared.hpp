// Shared: the state that the pools of one database share. It has the options, the right to open
// connections, works that a pool could not serve, counts, health, and threads for blocking calls.
//
// A pool that has no connection and may not open one gives its works to all pools. The first pool
// with room takes them: therefore there may be more reactors than connections.
//
// Owns       works that wait for any pool; the threads.
// Borrows    pools, from enrol() to leave().
// Thread     any.
// Allocates  a Poke for each call of another thread.
// Fails      helper() with the reason why there are no threads.
// Invariant  no more than Options::connections_max permits are out.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "katana/base/thread/pool.hpp"
#include "katana/stores/database/backend.hpp"
#include "katana/stores/database/postgres/options.hpp"
#include "katana/stores/database/postgres/topology.hpp"

namespace katana::database::postgres {

class ConnectionPool;
// The request of another thread to the pool that has a transaction or stream.
struct Command {
  // roll_back: of `transaction`. close: of `cursor`.
  enum class Verb : std::uint8_t { roll_back, close } verb;  // decides which member counts
  std::uint64_t transaction = 0;                             // of Verb::roll_back
  Cursor* cursor = nullptr;                                  // of Verb::close
};

// The works and commands of other threads for a pool; guarded by Shared's mutex.
struct Inbox {
  WorkList works;                 // accepted elsewhere, for this pool
  std::vector<Command> commands;  // for transactions and streams of this pool
};

// The target of messages to a pool, which may outlive the pool. Its members belong to the pool's
// thread.
struct PoolHandle {
  ConnectionPool* pool = nullptr;  // null: the pool is gone
};

// Counters of all pools of one database; Statistics describes them.
struct Tallies {
  using Count = std::atomic<std::uint64_t>;  // any thread, relaxed
  // Sums since the database was opened.
  Count reads = 0, writes = 0, commits = 0, transactions = 0, transactions_expired = 0;
  Count refused_full = 0, refused_waited = 0, timeouts = 0, cancelled = 0;
  Count statements_prepared = 0, outages = 0, refused_unusable = 0;
  // Levels at present.
  std::atomic<std::uint32_t> waiting = 0, busy = 0, streams_open = 0;
};
// Counts one more.
inline void add(Tallies::Count& count) noexcept { count.fetch_add(1, std::memory_order_relaxed); }

class Shared {
 public:
  // `of_topology`: the probes measure it. `as_replica`: this database is the replica of it.
  explicit Shared(Options given, std::shared_ptr<Topology> of_topology = nullptr,
                  bool as_replica = false);
  ~Shared();
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  const Options options;                     // constant
  const std::shared_ptr<Topology> topology;  // null: one server is all that matters
  const bool of_replica;                     // this is the part for reads from standbys
  Tallies tallies;                           // of all pools

  bool take_permit() noexcept;    // false: connections_max connections are open
  void return_permit() noexcept;  // for each connection that has closed
  // Connections that are open or opening.
  std::uint32_t permits_out() const noexcept { return permits_.load(std::memory_order_relaxed); }

  // Adds a pool, and returns its number, which is at least 1. Other threads find the pool by it.
  std::uint32_t enrol(ConnectionPool& pool, std::shared_ptr<PoolHandle> handle, Executor& executor);
  void leave(std::uint32_t number) noexcept;
  // False: there is no such pool any more.
  bool send(std::uint32_t number, Work& work);
  void send(std::uint32_t number, const Command& command);
  // Takes the works and commands that were sent to a pool; called on the pool's thread.
  void receive(std::uint32_t number, WorkList& works, std::vector<Command>& commands);
  // Has every pool look at its works, and at those that wait for any pool.
  void poke_all();

  // Gives works to the first pool that has room.
  void hand_over(WorkList& works);
  bool has_handed_over() const noexcept { return handed_over_count_.load() != 0; }
  // Takes at most `most` works that have to begin no later than `begin_by`.
  void take_handed_over(WorkList& works, std::size_t most, Instant begin_by);
  void take_expired(WorkList& works, Instant now);
  void take_all_handed_over(WorkList& works);

  void report_usable(Instant now) noexcept;  // a server has answered: calls are accepted again
  // REQUIRES that no connection is open, or that the open ones get no answers.
  void report_failure(std::string_view why, Instant now);
  // True when an attempt has failed and none has succeeded since. Calls then fail at once, and one
  // pool finds out when the outage is over.
  bool known_down() const noexcept { return known_down_.load(std::memory_order_relaxed); }
  // The number of outages that have ended.
  std::uint64_t recoveries() const noexcept { return recoveries_.load(std::memory_order_relaxed); }
  void observe_outages(OutageObserver observer);
  // Adds `change` to the number of open connections, and returns the sum.
  std::int32_t count_open(std::int32_t change) noexcept {
    return open_.fetch_add(change, std::memory_order_relaxed) + change;
  }
  // Connections that were begun before are not used again, and closed once they are idle.
  void renew_connections();
  std::uint64_t generation() const noexcept { return generation_.load(std::memory_order_relaxed); }
  // Has every connection prepare its statements anew, but not more than once in a second. This
  // bounds the cost of one statement that fails each time.
  void note_schema_change(Instant now) noexcept;
  std::uint64_t schema_changes() const noexcept {
    return schema_changes_.load(std::memory_order_relaxed);
  }
  // The number of cancel requests that run; their threads may outlive the database.
  const std::shared_ptr<std::atomic<unsigned>> cancels_running =
      std::make_shared<std::atomic<unsigned>>(0);
  katana::Result<void> health() const;  // an Error: calls fail at once, with the reason
  // False: calls fail at once.
  bool usable() const noexcept { return usable_.load(std::memory_order_relaxed); }
  std::string failure() const;  // the reason why it is not usable; empty: it is

  // Threads for blocking calls: look-ups of names, and files.
  katana::Result<thread::Pool*> helper();
  void close();
  bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }

 private:
  struct Enrolled {
    ConnectionPool* pool = nullptr;
    std::shared_ptr<PoolHandle> handle;
    Executor* executor = nullptr;
    Inbox inbox;
    bool poked = false;
  };
  void poke(Enrolled& enrolled);
  void poke_each();

  const std::string where_;
  std::atomic<std::uint32_t> permits_ = 0;
  std::atomic<std::size_t> handed_over_count_ = 0;
  std::atomic<std::int32_t> open_ = 0;
  std::atomic<std::uint64_t> generation_ = 1;
  std::atomic<std::uint64_t> schema_changes_ = 0;
  std::atomic<std::int64_t> schema_changed_ns_ = INT64_MIN;
  std::atomic<bool> usable_ = false;
  std::atomic<bool> known_down_ = false;
  std::atomic<std::uint64_t> recoveries_ = 0;
  std::atomic<bool> closed_ = false;
  mutable std::mutex mutex_;  // what follows
  std::vector<std::unique_ptr<Enrolled>> pools_;
  WorkList handed_over_;
  std::string failure_ = "no connection was made yet";
  Instant failed_at_ = never;  // the outage began
  OutageObserver observer_;
  std::unique_ptr<thread::Pool> helper_;
};

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
