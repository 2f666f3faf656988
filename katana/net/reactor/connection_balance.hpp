// ConnectionBalance: which of several reactors serves a connection that one of them has accepted.
//
// The kernel deals connections to the reactors' queues by a hash, as dice do: of 128 the busiest of
// eight reactors has 22, where 16 are its share. Therefore a reactor that has clearly more
// connections than another passes on what it accepts, and the other serves it as if it had accepted
// it.
//
// It looks at two others, drawn at random, and at the lighter of them: nearly as even as looking at
// all, without reading every reactor's cache line. Connections on their way count at once, so
// that a burst is dealt evenly. Connections that end soon are not passed around: as many of them as
// ended lately, no older than short_life, a reactor may have more than others, because so much
// evens out without help.
//
// Owns       the counts, and a fixed number of places for connections on their way.
// Borrows    the reactors; it must outlive them. Sockets on their way are the receiver's.
// Thread     a Share its reactor's, or any while that does not run; what others read of it is
//            atomic.
// Allocates  at construction.
// Fails      never: a reactor that finds none lighter, or no place, keeps the connection.
// Invariant  nothing is passed to a reactor after its leave(), nor knowingly to one that is full or
//            stuck; what was on its way by then arrives.
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

// A connection on its way, and all that is known of it.
struct PassedConnection {
  int socket = -1;                 // as Engine::detach() gave it
  engine::Listener listener = 0;   // of the receiver, whose listeners are the same
  engine::PeerEndpoint peer = {};  // as the acceptor's engine said it
  ClientLimits::Slot client = 0;   // it was admitted; 0: nothing is counted
};

class ConnectionBalance {
 public:
  class Share;

  // A connection that has ended before was short, and nothing for others.
  static constexpr Duration short_life = milliseconds(250);
  // A reactor whose turn has lasted longer is not given any.
  static constexpr Duration stuck_after = milliseconds(10);
  // For one reactor.
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

// What one reactor has. Its cache line is written when a connection opens or closes.
class alignas(64) ConnectionBalance::Share {
 public:
  Share() = default;
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

  // Of a reactor that has so many links, and says in `busy_since_ns` when its turn began, in
  // nanoseconds (never.ns: it waits); `arrived` is posted to it when there is something to take.
  // All are borrowed. Before any of them runs.
  void serve(Executor& reactor, Message& arrived, const std::atomic<std::int64_t>& busy_since_ns,
             std::uint32_t links_max) noexcept;

  // A connection that was accepted, or adopted, is open; has closed.
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

  // The reactor that gets the next connection instead; null: it stays. One is reserved for it
  // there, and pass() follows.
  Share* lighter(Instant now) noexcept {
    const std::uint32_t own = load();
    const std::uint32_t more = slack(own, now);
    return own < more ? nullptr : find_lighter(own - more, now);
  }
  void pass(Share& to, const PassedConnection& connection) noexcept;

  // Takes what has arrived. When `arrived` runs, or the reactor has ended.
  void receive() noexcept;
  // The one that came first of those that were received; null: none. Stays until drop_first().
  const PassedConnection* first_arrived() const noexcept;
  void drop_first() noexcept;
  // Some are reserved here, or have arrived and were not dropped.
  bool expects() const noexcept { return (coming_.load(std::memory_order_acquire) & count) != 0; }
  // No reservations from now on.
  void leave() noexcept { coming_.fetch_or(left, std::memory_order_acq_rel); }

  // Of others too.
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
  // For one span of short_life: how many opened and have not ended, and how many of those ended.
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
  // By how much more than another's its connections are too many. A thirty-second part of them is
  // not worth a message.
  std::uint32_t slack(std::uint32_t own, Instant now) noexcept {
    const std::uint32_t ended = recent(now).ended + before_.ended;
    return 1 + own / 32 + std::min(ended, 16 + own / 4);
  }
  // With a load of at most so many.
  KATANA_RARE Share* find_lighter(std::uint32_t load_max, Instant now) noexcept;
  bool reserve(std::uint32_t load_max, Instant now) noexcept;
  Parcel* free_parcel() noexcept;
  // The only writer.
  void set_open(std::uint32_t open) noexcept { open_.store(open, std::memory_order_relaxed); }

  // What others read and write.
  std::atomic<std::uint32_t> open_ = 0;
  std::atomic<std::uint32_t> coming_ = 0;  // reserved, or arrived; and `left`
  Mailbox arrivals_;
  Executor* reactor_ = nullptr;
  const std::atomic<std::int64_t>* busy_since_ns_ = nullptr;
  Message* arrived_ = nullptr;
  std::uint32_t links_max_ = 0;

  // The reactor's own.
  alignas(64) Instant recent_until_{};
  Recent recent_;
  Recent before_;
  Message* first_ = nullptr;  // of those that have arrived
  std::span<Share> all_;
  std::size_t index_ = 0;
  Random random_{0};
  std::unique_ptr<std::array<Parcel, under_way_max>> parcels_;
  std::size_t next_parcel_ = 0;
};

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
