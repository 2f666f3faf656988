// Reactor: one thread's share of the server: its links, its clock, its timers, its mailbox, its
// memory.
//
// Owns       every connection and the pools they draw from; sized at construction, see
//            memory_budget().
// Thread     one. post(), request_drain() and request_stop() may be called from any.
// Allocates  at construction only.
// Fails      start() and listen() return an Error.
// Invariant  a session's calls never nest; a connection is destroyed only between them.
//
// This class is what sessions and services see. ReactorOn<Engine> (reactor_on.hpp) adds the engine.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "katana/base/coroutine/executor.hpp"
#include "katana/base/coroutine/mailbox.hpp"
#include "katana/base/memory/block_pool.hpp"
#include "katana/base/memory/held_memory.hpp"
#include "katana/base/system/adaptive_spin.hpp"
#include "katana/base/system/hints.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/net/engine/engine.hpp"
#include "katana/net/reactor/carry.hpp"
#include "katana/net/reactor/client_limits.hpp"
#include "katana/net/reactor/connection.hpp"
#include "katana/net/reactor/connection_balance.hpp"
#include "katana/net/reactor/handover.hpp"
#include "katana/net/reactor/reactor_options.hpp"
#include "katana/net/reactor/session.hpp"
#include "katana/net/reactor/task_scope.hpp"
#include "katana/net/reactor/timer_wheel.hpp"

namespace katana::net {

// What a reactor has counted since it was made.
struct Counters {
  std::uint64_t accepted = 0;         // connections that were accepted and are served here
  std::uint64_t passed_on = 0;        // accepted here, and given to a reactor that had fewer
  std::uint64_t connected = 0;        // begun by us, whatever came of it
  std::uint64_t closed = 0;           // connections that have ended, whatever side ended them
  std::uint64_t cut_off = 0;          // still open when the drain deadline came
  std::uint64_t accept_failures = 0;  // no descriptor or no memory for a new connection
  // Closed as they were accepted: their client had left, and its address is unknown.
  std::uint64_t peers_unknown = 0;
  // Closed as they were accepted: their client is none that the listener is for.
  std::uint64_t peers_untrusted = 0;
  // Closed likewise, by what their client may have, by ClientRefusal; and requests and receives.
  std::array<std::uint64_t, client_refusals> client_refusals_by{};
  std::uint64_t client_requests_refused = 0;
  std::uint64_t client_receive_pauses = 0;  // because a client sent too fast
  std::uint64_t connections_aged = 0;       // that began to end because of their age
  std::uint64_t send_timeouts = 0;
  std::uint64_t file_failures = 0;  // connections that broke, or a file that did, while it was sent
  std::uint64_t pool_pauses = 0;    // times that a connection waited for output blocks
  std::uint64_t pool_exhausted = 0;  // connections reset because a pool was empty
  std::uint64_t output_shed = 0;     // and because they held blocks that others needed
  std::uint64_t memory_pauses = 0;  // times that a holder was not read, so that another's completes
  std::uint64_t memory_shed = 0;    // requests and messages given up because memory was scarce
  std::uint64_t bytes_received = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t turns = 0;
  std::uint64_t output_deferrals = 0;  // times that output waited because a turn had sent enough
  std::uint64_t openings_delayed = 0;  // transforms that waited for their turn
};

// Which clients may connect to a listener, and whether what they have is limited. Borrowed by the
// reactor.
struct ListenerGuard {
  const NetworkSet* peers = nullptr;  // null: anybody; others are closed at once
  ClientLimits* limits = nullptr;     // null: none
  // A proxy speaks for the clients, in a header (Transform::hand_on()): what they may have is
  // judged by whom it names.
  bool is_proxied = false;
  // What Connection::listener() says of its connections: of several sockets that are one
  // listener to the server. None: its own position.
  std::optional<engine::Listener> known_as = {};
};

// What somebody keeps for one reactor: a pool of connections.
class Attachment {
 public:
  virtual ~Attachment() = default;
};

// Connections that have a pause reason; one may have several.
struct PauseCounts {
  // By PauseReason, where each is explained.
  std::uint32_t outbox_full = 0;
  std::uint32_t handler_pending = 0;
  std::uint32_t content_unwanted = 0;
  std::uint32_t pool_low = 0;
  std::uint32_t throttled = 0;
  std::uint32_t relay_full = 0;
  std::uint32_t opening = 0;
  std::uint32_t memory_low = 0;

  // Counts the reasons of one connection.
  void add(const Connection& connection) noexcept {
    outbox_full += connection.has(PauseReason::outbox_full) ? 1 : 0;
    handler_pending += connection.has(PauseReason::handler_pending) ? 1 : 0;
    content_unwanted += connection.has(PauseReason::content_unwanted) ? 1 : 0;
    pool_low += connection.has(PauseReason::pool_low) ? 1 : 0;
    throttled += connection.has(PauseReason::throttled) ? 1 : 0;
    relay_full += connection.has(PauseReason::relay_full) ? 1 : 0;
    opening += connection.has(PauseReason::opening) ? 1 : 0;
    memory_low += connection.has(PauseReason::memory_low) ? 1 : 0;
  }
};

class Reactor : public Executor {
 public:
  virtual ~Reactor();
  Reactor(const Reactor&) = delete;
  Reactor& operator=(const Reactor&) = delete;

  // The reactor that took the last turn on this thread; null when none did, or it is gone.
  static Reactor* current() noexcept { return current_; }

  // Monotonic time of the turn; the same throughout a turn.
  Instant now() const noexcept { return now_; }
  // The time at this moment, for who measures what happens within a turn; now() where time is
  // virtual. Costs a reading of the clock.
  virtual Instant read_clock() const noexcept { return now_; }
  std::int64_t wall_clock_s() const noexcept { return wall_clock_s_; }
  TimerWheel& timers() noexcept { return timers_; }
  const ReactorOptions& options() const noexcept { return options_; }
  // When it woke to what it is doing; never: it waits. From any thread, for who watches it: who
  // reads the time also sees all that the reactor wrote in the turns before.
  Instant busy_since() const noexcept { return {busy_since_ns_.load(std::memory_order_acquire)}; }
  const Counters& counters() const noexcept { return counters_; }
  std::uint32_t links_open() const noexcept { return links_open_; }
  // Of those, the ones that a drain does not wait for (Connection::outlast_drain()).
  std::uint32_t links_lasting() const noexcept { return links_lasting_; }
  HeldMemory& memory() noexcept { return memory_; }
  const HeldMemory& memory() const noexcept { return memory_; }
  bool draining() const noexcept { return draining_; }
  // Set when the drain begins.
  AsyncEvent& drain_begun() noexcept { return drain_begun_; }
  FailureObserver* failure_observer() const noexcept override { return tasks_.options().failures; }
  // What was spawned here, and keeps a drain waiting.
  TaskScope& tasks() noexcept { return tasks_; }
  const TaskScope& tasks() const noexcept { return tasks_; }

  virtual MemoryBudget memory_budget() const noexcept = 0;  // constant after start()
  // Of the budget, what is taken at present.
  virtual MemoryBudget memory_used() const noexcept = 0;
  // Looks at every connection: for reports.
  PauseCounts paused_links() const noexcept;
  virtual Result<void> start() = 0;
  // Sessions of this listener are made by `protocol`, which is borrowed and must outlive the
  // reactor.
  virtual Result<void> listen(const engine::ListenOptions& options, Protocol& protocol) = 0;
  // The same, with a transform between each session and its link. Both are borrowed.
  virtual Result<void> listen_transformed(const engine::ListenOptions&, Protocol&,
                                          TransformFactory&) {
    return fail(Code::unsupported, "this reactor has no transforms");
  }
  // For a listener that listens; before the reactor runs.
  virtual void guard(engine::Listener, const ListenerGuard&) {}
  // From now on connections are shared with the other reactors of a ConnectionBalance, whose
  // listeners are the same. Borrowed; before any of them runs.
  virtual void balance(ConnectionBalance::Share&) {}
  virtual std::uint16_t port(engine::Listener listener) const = 0;
  // Its descriptor, which is the reactor's; -1: it has none.
  virtual int socket(engine::Listener) const { return -1; }
  // Begins a connection. With `transforms` its session is opened when the transform is, or else
  // Protocol::on_not_opened() is called; without, at once, and what it writes waits until the other
  // side has answered. Calls for what it wrote outside of a call: Connection::wake(). Both are
  // borrowed until the connection is gone.
  virtual Result<Connection*> connect(const engine::ConnectOptions&, Protocol&,
                                      TransformFactory* /*transforms*/ = nullptr) {
    return fail(Code::unsupported, "this reactor cannot open connections");
  }
  virtual Result<void> watch(int fd, engine::Watcher& watcher) = 0;
  virtual void unwatch(int fd) = 0;

  // One turn: waits at most `wait_max`, then does everything that is due.
  virtual void turn(Duration wait_max) = 0;
  // The next turn has something to do at once, whatever the engine brings. For who turns several.
  virtual bool turn_is_due() const noexcept { return true; }
  // Turns until stopped, or until drained.
  void run();

  // From any thread. The message runs on the reactor's thread.
  void post(Message& message) noexcept final {
    if (!mailbox_.post(message)) return;
    wake_engine();
    // release: the sender's last touch of this reactor; see receive_expected().
    wakes_done_.fetch_add(1, std::memory_order_release);
  }

  // On the reactor's thread: runs `message` once all that arrived in this turn has been delivered,
  // and before what was made of it is sent; said after that, in the next turn, which does not wait.
  // Costs neither a locked instruction nor a system call.
  void defer(Message& message) noexcept {
    message.next = nullptr;
    *deferred_end_ = &message;
    deferred_end_ = &message.next;
  }

  // What was attached under `key`; null: nothing. It is destroyed with the reactor, after every
  // connection is gone.
  Attachment* attached(const void* key) const noexcept {
    for (const Attached& each : attachments_) {
      if (each.key == key) return each.attachment.get();
    }
    return nullptr;
  }
  void attach(const void* key, std::unique_ptr<Attachment> attachment) {
    attachments_.push_back({key, std::move(attachment)});
  }

  // From any thread: accept nothing new, let sessions finish, cut off what is left after
  // `deadline_after`.
  void request_drain(Duration deadline_after) noexcept;
  // The same, and another process has those listeners: nothing that waits there is accepted. Once;
  // borrowed from here on.
  void request_handover(Duration deadline_after, const Handover& handover) noexcept;
  // Once it drains because of that; null: it does not.
  const Handover* handover() const noexcept { return draining_ ? handover_ : nullptr; }
  // How long an idle connection may still begin a request while this drains.
  Duration idle_at_drain(Duration otherwise) const noexcept {
    return handover() != nullptr ? handover()->idle : otherwise;
  }
  // REQUIRES handover(). When to tell the next client that it is to come back: each at another time
  // within Handover::spread, however many there are.
  Duration next_return() noexcept;
  // From any thread: cut everything off now.
  void request_stop() noexcept;
  // Its last turn is over.
  bool stopped() const noexcept { return stopped_; }

 protected:
  explicit Reactor(const ReactorOptions& options, Instant now);
  virtual void wake_engine() noexcept = 0;    // called from other threads
  virtual void close_listeners() noexcept {}  // REQUIRES that draining() is true
  // As Engine::hand_over().
  virtual void hand_over(engine::Listener) noexcept {}
  // Accepting and links both have ended.
  virtual bool drained() const noexcept = 0;
  // Nothing is open but what outlasts a drain, and nothing is pending on that.
  bool links_drained() const noexcept;

  // Of a turn that has nothing to do yet: true when it is not to sleep.
  bool should_spin() noexcept;
  void run_messages() noexcept;
  void run_deferred() noexcept;
  // The last thing before the engine ends: receives what was promised, and waits until every sender
  // has left post().
  void receive_expected() noexcept;
  void apply_requests() noexcept;
  void begin_drain() noexcept;
  void cut_off() noexcept;
  // Connections woken so far are attended in this turn, those woken meanwhile in the next.
  void take_woken() noexcept;
  Connection* pop_pending() noexcept;
  Connection* pop_backlog() noexcept;
  static void forget_queued(Connection& connection) noexcept;
  // From now on turn_bytes_max more may be sent.
  void renew_budget() noexcept { bytes_sent_end_ = counters_.bytes_sent + options_.turn_bytes_max; }
  // Work that waited for room goes on, if there is some. Out of line: a request whose reply is sent
  // at once waits for none.
  KATANA_RARE void offer_writable(Connection& connection) noexcept;
  bool budget_spent() const noexcept { return counters_.bytes_sent >= bytes_sent_end_; }
  inline void note_sent(Connection& connection, Outbox& outbox, std::size_t count) noexcept;
  void set_send_deadline(Connection& connection, Instant deadline) noexcept;
  // A place for every link that there may be; null: it is free.
  virtual std::span<Connection* const> links() const noexcept { return {}; }
  // Connections that another reactor has passed on, and this has not adopted.
  virtual void reset_arrived() noexcept {}
  // Between the calls of sessions.
  virtual void reset_link(Connection&) noexcept {}

  // Wakes those who wait for output blocks when there are enough again, or has some given back.
  void relieve_output() noexcept;
  bool has_waiters_for_blocks() const noexcept;
  // HeldMemory::strain() is not 0, and this connection has been attended.
  void ease_memory(Connection& connection) noexcept;
  void slow_holder(Connection& connection) noexcept;
  void review_slowing() noexcept;
  // Has the largest holders give back what they have, between the calls of sessions.
  void relieve_memory() noexcept;
  // Resets those that hold most and take least until so many blocks are free.
  void shed_output(std::size_t blocks_wanted) noexcept;
  bool output_scarce() const noexcept { return output_blocks_.available() < output_blocks_scarce_; }
  // Of what a connection may have pending at present.
  std::size_t scarce_mark() const noexcept;

  friend class Connection;

  struct Attached {
    const void* key;
    std::unique_ptr<Attachment> attachment;
  };

  inline static constinit thread_local Reactor* current_ = nullptr;
  ReactorOptions options_;
  Instant now_;
  std::int64_t wall_clock_s_ = 0;
  TimerWheel timers_;
  Mailbox mailbox_;
  AdaptiveSpin spin_;
  Instant spin_end_ = never;  // never: there is no promise to wait for
  bool spin_over_ = false;
  std::uint64_t wakes_due_ = 0;                // how often the mailbox was emptied
  std::atomic<std::uint64_t> wakes_done_ = 0;  // how often its first sender has woken the engine
  Counters counters_;
  ClientLimits* clients_ = nullptr;  // of all its listeners that have any; null: none has
  HeldMemory memory_;
  // Whether holders of much are slowed. given_up: that took too long; not again until less is used.
  enum class Slowing : std::uint8_t { no, yes, given_up };
  Slowing slowing_ = Slowing::no;
  Connection* preferred_ = nullptr;  // while slowing: the one that goes on; null: it is gone
  Instant slowing_end_ = never;
  TimerEntry slowing_timer_{[](TimerEntry&) noexcept {}};  // a turn is all that is due then
  std::uint64_t relief_failed_in_ = UINT64_MAX;            // the turn
  CarryPools carry_pools_;
  BlockPool output_blocks_;
  const std::size_t output_blocks_scarce_;              // fewer: outbox_high_bytes falls
  Instant shed_at_ = never;                             // never: no connection waits
  TimerEntry shed_timer_{[](TimerEntry&) noexcept {}};  // a turn is all that is due then
  bool relief_due_ = false;  // somebody waits for blocks, or has one of the reserve
  Message* first_deferred_ = nullptr;
  Message** deferred_end_ = &first_deferred_;
  Connection* first_woken_ = nullptr;
  Connection* first_pending_ = nullptr;
  Connection* first_waiting_for_blocks_ = nullptr;
  Connection* first_backlog_ = nullptr;  // they have more to send; the one that waited longest
  Connection** backlog_end_ = &first_backlog_;
  std::size_t backlog_count_ = 0;
  bool running_backlog_ = false;
  std::uint64_t bytes_sent_end_ = 0;  // of Counters::bytes_sent: the turn has sent enough
  std::uint32_t links_open_ = 0;
  std::uint32_t links_lasting_ = 0;
  ConnectionBalance::Share* share_ = nullptr;  // null: what is accepted here is served here
  std::atomic<std::int64_t> busy_since_ns_ = never.ns;
  bool draining_ = false;
  bool stopped_ = false;
  const Handover* handover_ = nullptr;
  std::uint32_t returns_ = 0;
  Instant drain_deadline_ = never;
  std::atomic<std::int64_t> drain_requested_ns_ = -1;  // duration; -1: not requested
  std::atomic<bool> stop_requested_ = false;
  std::vector<Attached> attachments_;
  AsyncEvent drain_begun_;
  TaskScope tasks_;
};

[[gnu::always_inline]] inline void Reactor::note_sent(Connection& connection, Outbox& outbox,
                                                      std::size_t count) noexcept {
  counters_.bytes_sent += count;
  connection.counters_.bytes_sent += count;
  outbox.advance(count);
  if (connection.send_deadline_ == never) return;
  if (outbox.empty()) {
    connection.send_deadline_ = never;
    return;
  }
  if (count == 0) return;
  set_send_deadline(connection,
                    extend_deadline(connection.send_deadline_, count, options_.rate_min_bytes_per_s,
                                    now_ + options_.send_timeout));
}

inline void Reactor::set_send_deadline(Connection& connection, Instant deadline) noexcept {
  connection.send_deadline_ = deadline;
  if (deadline < connection.armed_until_) connection.arm(deadline);
}

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
