// FanOut: finds the subscribers of a message in this process: the ports of all reactors, by
// pattern.
//
// Every bus has one, whatever transport leads out of the process. MemoryBus has nothing else.
//
// Owns       its ports; each of them until its reactor has ended, too.
// Borrows    the Interest, which outlives it.
// Thread     any, but for a reactor's calls: subscribe(), and requests().
// Allocates  for each subscription, and for each message that has a subscriber.
// Fails      as Bus does.
// Invariant  Interest is told of a pattern or queue group when its first subscriber in this process
//            comes, and when the last one goes. It is told in this order, under one lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "katana/stores/bus/bus.hpp"
#include "katana/stores/bus/port.hpp"
#include "katana/stores/bus/subject_index.hpp"

namespace katana::bus {

// The transport to other processes, which is told the patterns that have subscribers here.
class Interest {
 public:
  // Called with the lock of the FanOut held: they must not call the FanOut.
  virtual void on_wanted(const std::shared_ptr<Pattern>& pattern, Bytes group) noexcept = 0;
  virtual void on_unwanted(const std::shared_ptr<Pattern>& pattern, Bytes group) noexcept = 0;

 protected:
  ~Interest() = default;
};

class FanOut final : private PortOwner {
 public:
  explicit FanOut(const BusOptions& options, Interest* interest = nullptr);
  // REQUIRES that no subscription is left, but on reactors that have ended.
  ~FanOut();
  FanOut(const FanOut&) = delete;
  FanOut& operator=(const FanOut&) = delete;

  using PortOwner::options;  // the limits it was made with; they never change
  using PortOwner::system;   // "nats" with an Interest, otherwise "in_process"
  using PortOwner::tracer;   // null: messages have no spans
  // Handlers of messages are spans from now on (message_span.hpp), if the tracer records
  // experimental ones. It outlives the bus's reactors.
  void trace_with(trace::Tracer& tracer) noexcept;

  // ---- a reactor's thread
  Result<Subscription> subscribe(Bytes pattern, Handler handler, SubscribeOptions options);
  // The port of this reactor; made if there is none. REQUIRES a reactor's thread.
  Port& port_here();

  // ---- any thread
  // Counts the publication as published, or as refused.
  Result<void> check(const Publication& publication);
  // Null: this thread has no reactor.
  Port* publishing_port();
  // Delivers to the subscribers of this process that are in no group, and with `groups` to one of
  // each group. `made` is the message if one was needed.
  bool deliver(const Publication& publication, bool groups, std::optional<HeldMessage>& made);
  // Delivers a message from another process to the subscribers of this pattern, or to one of this
  // group.
  void deliver_to(const std::shared_ptr<Pattern>& pattern, Bytes group, const Posted& message);
  // The patterns that match a subject.
  std::vector<std::shared_ptr<Pattern>> matching(Bytes subject) const;
  // Tells the subscribers of this pattern; null: all.
  void tell(const std::shared_ptr<Pattern>& pattern, const Notice& notice);
  // Tells the members of this group of the pattern.
  void tell_group(const std::shared_ptr<Pattern>& pattern, Bytes group, const Notice& notice);
  // The patterns that have subscribers, with their groups ("" for none).
  struct Wanted {
    std::shared_ptr<Pattern> pattern;  // without the prefix of a server
    std::string group;                 // queue group; empty: subscribers in none
  };
  std::vector<Wanted> wanted() const;
  void add_figures(BusStatistics& statistics) const;
  void count_received(std::uint64_t bytes) noexcept {
    received_.fetch_add(1, std::memory_order_relaxed);
    received_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }
  void count_missed(std::uint64_t count) noexcept {
    missed_.fetch_add(count, std::memory_order_relaxed);
  }
  void count_duplicate() noexcept { duplicates_.fetch_add(1, std::memory_order_relaxed); }

 private:
  class Ports;
  Port* find_port_here() const noexcept;
  void fill(Route& route, Port& port) override;
  void remove(const LocalSubscription& entry, Port& port) noexcept override;
  // REQUIRES that the lock is held.
  void fill_for(Route& route, Port* here);
  void add(const std::shared_ptr<Pattern>& pattern, Port& port, Bytes group, std::uint64_t number);
  std::shared_ptr<Pattern> find_or_add(Bytes pattern);
  static bool deliver_to_group(Pattern::Group& group, Port* here, const HeldMessage* message,
                               const Posted* posted);
  static bool concerns(const Pattern& pattern, const Port& port) noexcept;

  Interest* const interest_;
  const std::uint64_t id_;                    // no other one of the process has it
  std::atomic<std::uint64_t> published_ = 0;  // by threads without a port
  std::atomic<std::uint64_t> published_bytes_ = 0;
  std::atomic<std::uint64_t> refused_ = 0;
  std::atomic<std::uint64_t> received_ = 0;
  std::atomic<std::uint64_t> received_bytes_ = 0;
  std::atomic<std::uint64_t> missed_ = 0;
  std::atomic<std::uint64_t> uncertain_ = 0;
  std::atomic<std::uint64_t> duplicates_ = 0;

  mutable std::mutex mutex_;  // guards what follows, and what a Pattern has
  mutable SubjectIndex<std::shared_ptr<Pattern>> patterns_;
  std::vector<std::shared_ptr<Port>> ports_;
  std::size_t subscriptions_ = 0;
};

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
