// Port: the subscribers of one reactor on one bus, and the messages that wait for them.
//
//   publish() on this reactor ──> local queue ──defer──┐
//   publish() elsewhere ─────┐                         ├──> handlers, when all of the turn came
//   a server, a gap ─────────┴──> posted queue ──doorbell──┘
//
// However much is posted, the reactor is rung once a turn.
//
// Owns       its subscriptions, what waits, and the requests of its reactor.
// Borrows    the reactor, until it ends: the port is closed before that.
// Thread     post() any; everything else the reactor's.
// Allocates  entries of its queues, which it keeps; a subscription; a place of its cache.
// Fails      post() is false when the queue is full or the port closed. The subscribers concerned
//            are told of a refused message behind the messages that were posted before. They are
//            told in any case whether there is a server.
// Invariant  messages of one thread are given in the order in which they were posted. A handler
//            runs to its end before the next one begins, and is not called once it was cancelled.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "katana/base/coroutine/executor.hpp"
#include "katana/base/values/keyed_hash.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/stores/bus/bus.hpp"

namespace katana::trace {
class Tracer;  // only declared here
}

namespace katana::bus {

class Port;

// A pattern that has subscribers. The lock of the FanOut guards all members but the text.
struct Pattern {
  explicit Pattern(Bytes given) : text(given) {}

  // A reactor that has subscribers in no group.
  struct Share {
    std::shared_ptr<Port> port;   // each reactor stands in one Share
    std::size_t subscribers = 0;  // when it becomes 0, the Share is removed
  };
  // A subscriber of a group.
  struct Member {
    std::shared_ptr<Port> port;  // several members may have the same
    std::uint64_t number = 0;    // of its subscription on that port
  };
  // A queue group. Its members take turns; one whose reactor has no room is passed over.
  struct Group {
    std::vector<Member> members;  // in the order in which they subscribed
    std::size_t next = 0;         // who had the last message: the search begins behind it
  };
  // Then the FanOut forgets it.
  bool is_unused() const noexcept { return shares.empty() && groups.empty(); }

  const std::string text;                            // is_pattern(); read without the lock
  std::vector<Share> shares;                         // without those of groups
  std::map<std::string, Group, std::less<>> groups;  // by the name of the queue group
  std::uint64_t interest = 0;                        // what the Interest likes to remember
};

// Outlives its cancellation while messages are being given, so that lists stay valid.
struct LocalSubscription {
  std::shared_ptr<Pattern> pattern;  // shared with all who have the same text
  Handler handler;                   // not called once `alive` is false
  SubscribeOptions options;          // on_notice is called on the port's reactor
  std::uint64_t number = 0;          // of its port
  bool alive = true;  // false: cancelled, and skipped where it still stands in a list
};

// A message or a notice that waits for a reactor.
struct PortEntry {
  Posted message = {};                         // none: a notice
  std::shared_ptr<Pattern> pattern = nullptr;  // of whose subscribers; null: by the subject
  std::uint64_t member = 0;                    // of a queue group: to this one; a notice as well
  NoticeKind kind = NoticeKind::missed;        // this and the following: of a notice
  MissReason reason = MissReason::none;        // as Notice::reason
  std::uint64_t count = 0;                     // as Notice::count
  std::string subject = {};                    // a copy of Notice::subject, which is lent
};

// A counter that one thread writes, and any thread reads.
class PortCount {
 public:
  // relaxed: an independent number.
  void add(std::uint64_t more) noexcept {
    value_.store(value_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
  std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_ = 0;
};

// The receivers of messages that one reactor publishes to a subject.
struct Route {
  std::string subject;                   // the key: a place of the cache has one subject at a time
  std::uint64_t generation = 0;          // of the bus's subscriptions, when it was made
  std::uint64_t local_generation = 0;    // of the port's
  std::vector<LocalSubscription*> here;  // of this reactor, in no group
  std::vector<std::shared_ptr<Port>> others;  // reactors with a subscriber in no group; each once
  std::vector<std::shared_ptr<Pattern>> grouped;  // that have groups, wherever their members are
  bool is_pinned = false;  // `here` is being walked: it is not to be filled anew
};

// The bus, as its ports see it.
class PortOwner {
 public:
  // Any thread; they never change.
  const BusOptions& options() const noexcept { return options_; }
  // acquire: the caller then finds all subscribers that came before it read the generation.
  std::uint64_t generation() const noexcept { return generation_.load(std::memory_order_acquire); }
  // Records the handling of messages; null: none is recorded.
  trace::Tracer* tracer() const noexcept { return tracer_.load(std::memory_order_acquire); }
  // The name of the messaging system, for spans.
  Bytes system() const noexcept { return system_; }
  // Finds the receivers of the route's subject.
  virtual void fill(Route& route, Port& port) = 0;
  virtual void remove(const LocalSubscription& entry, Port& port) noexcept = 0;

 protected:
  PortOwner(const BusOptions& options, Bytes system) noexcept
      : options_(options), system_(system) {}
  ~PortOwner() = default;
  // Called after each change of the subscribers: every Route is then out of date.
  void note_change() noexcept { generation_.fetch_add(1, std::memory_order_release); }
  // release: with tracer()
  void set_tracer(trace::Tracer* tracer) noexcept {
    tracer_.store(tracer, std::memory_order_release);
  }

 private:
  const BusOptions options_;
  const Bytes system_;
  std::atomic<std::uint64_t> generation_ = 1;
  std::atomic<trace::Tracer*> tracer_ = nullptr;
};

class Port final : public SubscriptionOwner, public std::enable_shared_from_this<Port> {
 public:
  Port(PortOwner& owner, net::Reactor& reactor);
  ~Port();
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  // ---- any thread
  bool post(PortEntry&& entry) noexcept;
  std::size_t waiting(std::size_t& bytes) const noexcept;

  // ---- the reactor's thread
  net::Reactor& reactor() noexcept { return *reactor_; }
  // Returns the number of the subscription.
  std::uint64_t subscribe(std::shared_ptr<Pattern> pattern, Handler handler,
                          SubscribeOptions options);
  void cancel(std::uint64_t number) noexcept override;
  // The subscribers of exactly this pattern, without those of groups; null: none.
  const std::vector<LocalSubscription*>* subscribers(const Pattern& pattern) const noexcept;
  // Queues a message for the subscribers here; they get it at the end of the turn's input. False:
  // the queue is full.
  bool add_local(const HeldMessage& message, std::uint64_t member = 0);
  // Called when the reactor ends, or when the bus does.
  void close() noexcept;
  // The object that is destroyed when the port is closed; null: none.
  net::Attachment* attached() const noexcept { return attached_.get(); }
  void attach(std::unique_ptr<net::Attachment> attached) noexcept {
    attached_ = std::move(attached);
  }
  // The receivers of this subject; valid until the next call.
  Route& route(Bytes subject);

  // ---- counters: the reactor's thread writes
  PortCount published, published_bytes, refused, delivered, stream_dropped, requests_made,
      requests_failed;
  // Written under the lock of post().
  PortCount dropped;

 private:
  struct Doorbell : Message {
    Doorbell(Port& owner, void (*action)(Message&) noexcept) noexcept
        : Message(action), port(owner) {}
    Port& port;
  };
  struct LocalEntry {
    HeldMessage message;
    std::uint64_t member;
  };
  // The messages refused since a queue became full. They are told behind the queued messages.
  struct Gap {
    void add(Bytes of_subject, const std::shared_ptr<Pattern>& of_pattern, bool is_shared);
    std::uint64_t count = 0;
    std::string subject;
    std::shared_ptr<Pattern> pattern;  // null: all that match the subject
    bool is_mixed = false;             // several subjects, or what cannot be counted
  };
  static constexpr std::size_t routes_max = 512;  // a power of two

  void on_posted() noexcept;
  void on_local() noexcept;
  void give(const Delivery& message, const Pattern* pattern, std::uint64_t member) noexcept;
  void give_all(const std::vector<LocalSubscription*>& list, const Delivery& message) noexcept;
  void call(LocalSubscription& entry, const Delivery& message) noexcept;
  void call_within_span(trace::Tracer& tracer, LocalSubscription& entry,
                        const Delivery& message) noexcept;
  void tell(const PortEntry& entry) noexcept;
  void tell(LocalSubscription& entry, const Notice& notice) noexcept;
  void report(const LocalSubscription& entry) noexcept;
  void begin_giving() noexcept { ++giving_; }
  void end_giving() noexcept;
  void bury() noexcept;
  LocalSubscription* find_member(std::uint64_t number) noexcept;
  void tell(const Gap& gap) noexcept;

  PortOwner& owner_;
  net::Reactor* const reactor_;
  const KeyedHash hash_;
  std::unordered_map<const Pattern*, std::vector<LocalSubscription*>> by_pattern_;
  std::unordered_map<std::uint64_t, std::unique_ptr<LocalSubscription>> subscriptions_;
  std::vector<std::unique_ptr<LocalSubscription>> cancelled_;  // while somebody is given something
  std::uint64_t last_number_ = 0;
  std::uint64_t generation_ = 1;
  unsigned giving_ = 0;
  std::unique_ptr<std::array<Route, routes_max>> routes_;
  Route spare_route_;  // in the place of one that is in use
  Route* last_route_ = &spare_route_;
  std::vector<LocalEntry> local_;
  std::vector<LocalEntry> local_given_;
  std::size_t local_bytes_ = 0;
  Gap local_gap_;
  bool local_due_ = false;
  Doorbell local_doorbell_;
  Doorbell posted_doorbell_;
  std::unique_ptr<net::Attachment> attached_;
  std::vector<PortEntry> posted_given_;

  mutable std::mutex mutex_;  // guards what follows
  bool closed_ = false;
  bool rung_ = false;
  std::vector<PortEntry> posted_;
  std::size_t posted_bytes_ = 0;
  Gap gap_;
  std::optional<NoticeKind> state_behind_gap_;  // connected or disconnected: the last one
  std::shared_ptr<Port> alive_while_rung_;
};

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
