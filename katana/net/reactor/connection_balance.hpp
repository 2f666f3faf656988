// ConnectionBalance: decides which of several reactors serves a connection that one has accepted.
//
// The kernel assigns connections to the reactors' queues by a hash, which is uneven. With 128
// connections the busiest of eight reactors has 22, where 16 are its share. A reactor that has
// clearly more connections than another therefore passes accepted ones on. The other serves them as
// if it had accepted them.
//
// It compares with two other reactors, drawn at random, and takes the lighter one. This is nearly
// as even as a comparison with all, without reading every reactor's cache line. Connections in
// transit count at once: a burst is dealt evenly. Short connections are not passed around. A
// reactor may have as many more than others as ended within short_life, because so much evens out
// without help.
//
// Owns       the counts, and a fixed number of places for connections in transit.
// Borrows    the reactors; it must outlive them. Sockets in transit belong to the receiver.
// Thread     a Share its reactor's, or any while that does not run; members that others read are
//            atomic.
// Allocates  at construction.
// Fails      never: a reactor that finds no lighter one, or no place, keeps the connection.
// Invariant  nothing is passed to a reactor after its leave(), nor knowingly to a full or stuck
//            one. Connections in transit at that time arrive.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "katana/base/coroutine/executor.hpp"
#include "katana/base/coroutine/mailbox.hpp"
#include "katana/base/system/hints.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/base/values/random.hpp"
#include "katana/net/engine/engine.hpp"
#include "katana/net/reactor/client_limits.hpp"

namespace katana::net {

// A connection in transit, with all known facts about it.
struct PassedConnection {
  int socket = -1;                 // result of Engine::detach()
  engine::Listener listener = 0;   // of the receiver, which has the same listeners
  engine::PeerEndpoint peer = {};  // reported by the acceptor's engine
  ClientLimits::Slot client = 0;   // its admission; 0: nothing is counted
};

class ConnectionBalance {
 public:
  class Share;

  // A connection that ends within this time is short, and is not passed on.
  static constexpr Duration short_life = milliseconds(250);
  // A reactor whose turn has lasted longer gets no connections.
  static constexpr Duration stuck_after = milliseconds(10);
  // The most connections in transit from one reactor.
  static constexpr std::size_t under_way_max = 256;

  // REQUIRES at least one.
  explicit ConnectionBalance(std::size_t reactors);
  ~ConnectionBalance();
  ConnectionBalance(const ConnectionBalance&) = delete;
  ConnectionBalance& operator=(const ConnectionBalance&) = delete;

  // For the reactor with this position.
  Share& share(std::size_t index) noexcept;

 private:
  const std::size_t count_;
  const std::unique_ptr<Share[]> shares_;
};

// The state of one reactor. Its cache line is written when a connection opens or closes.
class alignas(64) ConnectionBalance::Share {
 public:
  Share() = default;
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

  // Sets the reactor of this share, before any of them runs. It has `links_max` links.
  // `busy_since_ns` holds when its turn began, in nanoseconds (never.ns: it waits). `arrived` is
  // posted to it when there is something to take. All are borrowed.
  void serve(Executor& reactor, Message& arrived, const std::atomic<std::int64_t>& busy_since_ns,
             std::uint32_t links_max) noexcept;

  // Counts an accepted or adopted connection as open, or as closed.
  void opened(Instant now) noexcept {
    recent(now).opened += 1;
    set_open(open_.load(std::memory_order_relaxed) + 1);
  }
  void closed(Instant now) noexcept {
    Recent& present = recent(now);
    if (std::uint32_t& fresh = present.opened != 0 ? present.opened : before_.opened; fresh != 0) {
      --fresh;
      ++present.ended;
    }
    set_open(open_.load(std::memory_order_relaxed) - 1);
  }

  // Returns the reactor that gets the next connection instead, and reserves a place there; pass()
  // follows. Null: the connection stays.
  Share* lighter(Instant now) noexcept {
    const std::uint32_t own = load();
    const std::uint32_t more = slack(own, now);
    return own < more ? nullptr : find_lighter(own - more, now);
  }
  void pass(Share& to, const PassedConnection& connection) noexcept;

  // Takes the arrived connections. Called when `arrived` runs, or when the reactor has ended.
  void receive() noexcept;
  // The first of the received connections; null: none. It stays until drop_first().
  const PassedConnection* first_arrived() const noexcept;
  void drop_first() noexcept;
  // Whether places are reserved here, or arrived connections were not dropped.
  bool expects() const noexcept { return (coming_.load(std::memory_order_acquire) & count) != 0; }
  // No reservations from now on.
  void leave() noexcept { coming_.fetch_or(left, std::memory_order_acq_rel); }

  // The number of its connections, including reserved ones; any thread.
  std::uint32_t load() const noexcept {
    return open_.load(std::memory_order_relaxed) +
           (coming_.load(std::memory_order_relaxed) & count);
  }

 private:
  friend class ConnectionBalance;
  static constexpr std::uint32_t left = 1u << 31;
  static constexpr std::uint32_t count = left - 1;

  struct Parcel : Message {
    Parcel() noexcept : Message([](Message&) noexcept {}) {}  // it is taken, not run
    PassedConnection connection;
    std::atomic<bool> used = false;
  };
  // Counts of one span of short_life: open connections that began in it, and those that ended
  // again.
  struct Recent {
    std::uint32_t opened = 0;
    std::uint32_t ended = 0;
  };

  Recent& recent(Instant now) noexcept {
    if (now >= recent_until_) [[unlikely]]
      begin_recent(now);
    return recent_;
  }
  void begin_recent(Instant now) noexcept;
  // How many more connections than another reactor it may have. A thirty-second part of them is not
  // worth a message.
  std::uint32_t slack(std::uint32_t own, Instant now) noexcept {
    const std::uint32_t ended = recent(now).ended + before_.ended;
    return 1 + own / 32 + std::min(ended, 16 + own / 4);
  }
  // Finds a reactor with a load of at most load_max.
  KATANA_RARE Share* find_lighter(std::uint32_t load_max, Instant now) noexcept;
  bool reserve(std::uint32_t load_max, Instant now) noexcept;
  Parcel* free_parcel() noexcept;
  // Called by the only writer.
  void set_open(std::uint32_t open) noexcept { open_.store(open, std::memory_order_relaxed); }

  // Members that other reactors read and write.
  std::atomic<std::uint32_t> open_ = 0;
  std::atomic<std::uint32_t> coming_ = 0;  // reserved, or arrived; and `left`
  Mailbox arrivals_;
  Executor* reactor_ = nullptr;
  const std::atomic<std::int64_t>* busy_since_ns_ = nullptr;
  Message* arrived_ = nullptr;
  std::uint32_t links_max_ = 0;

  // Members of this reactor alone.
  alignas(64) Instant recent_until_{};
  Recent recent_;
  Recent before_;
  Message* first_ = nullptr;  // first of those that have arrived
  std::span<Share> all_;
  std::size_t index_ = 0;
  Random random_{0};
  std::unique_ptr<std::array<Parcel, under_way_max>> parcels_;
  std::size_t next_parcel_ = 0;
};

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
