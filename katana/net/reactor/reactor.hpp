// Reactor: one thread's share of the server: its links, clock, timers, mailbox and memory.
//
// Owns       every connection and the pools they draw from; sized at construction, see
//            memory_budget().
// Thread     one. post(), request_drain() and request_stop() may be called from any.
// Allocates  at construction only.
// Fails      start() and listen() return an Error.
// Invariant  a session's calls never nest; a connection is destroyed only between them.
//
// Sessions and services see this class. ReactorOn<Engine> (reactor_on.hpp) adds the engine.
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
#include "katana/net/reactor/reactor_options.hpp"
#include "katana/net/reactor/session.hpp"
#include "katana/net/reactor/task_scope.hpp"
#include "katana/net/reactor/timer_wheel.hpp"

namespace katana {
class Alarm;
}  // namespace katana

namespace katana::net {

struct Handover;  // handover.hpp

// The counts of a reactor since it was made.
struct Counters {
  std::uint64_t accepted = 0;         // accepted connections that are served here
  std::uint64_t passed_on = 0;        // accepted here, and given to a reactor with fewer
  std::uint64_t connected = 0;        // outgoing connections, successful or not
  std::uint64_t closed = 0;           // connections that have ended, whatever side ended them
  std::uint64_t cut_off = 0;          // still open when the drain deadline came
  std::uint64_t accept_failures = 0;  // no descriptor or no memory for a new connection
  // Closed at the accept: the client had left, and its address is unknown.
  std::uint64_t peers_unknown = 0;
  // Closed at the accept: the listener does not accept the client's address.
  std::uint64_t peers_untrusted = 0;
  // Refused by client limits: connections by ClientRefusal; then requests and receives.
  std::array<std::uint64_t, client_refusals> client_refusals_by{};
  std::uint64_t client_requests_refused = 0;
  std::uint64_t client_receive_pauses = 0;  // because a client sent too fast
  std::uint64_t connections_aged = 0;       // began to end because of their age
  std::uint64_t send_timeouts = 0;
  std::uint64_t file_failures = 0;   // connections or files that broke while a file was sent
  std::uint64_t pool_pauses = 0;     // times that a connection waited for output blocks
  std::uint64_t pool_exhausted = 0;  // connections reset because a pool was empty
  std::uint64_t output_shed = 0;     // reset because they held blocks that others needed
  std::uint64_t memory_pauses = 0;   // times that a holder was not read, for another to complete
  std::uint64_t memory_shed = 0;     // requests and messages given up because memory was scarce
  std::uint64_t bytes_received = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t turns = 0;
  std::uint64_t output_deferrals = 0;  // times that output waited because the turn had sent enough
  std::uint64_t openings_delayed = 0;  // transforms that waited for their turn
};

// The clients that may connect to a listener, and their limits. Borrowed by the reactor.
struct ListenerGuard {
  const NetworkSet* peers = nullptr;  // null: all; other clients are closed at once
  ClientLimits* limits = nullptr;     // null: none
  // A proxy names the clients, in a header (Transform::hand_on()): limits apply to the client that
  // it names.
  bool is_proxied = false;
  // The result of Connection::listener() for its connections. Used when several sockets are one
  // listener to the server. None: its own position.
  std::optional<engine::Listener> known_as = {};
};

// An object that belongs to one reactor, such as a pool of connections.
class Attachment {
 public:
  virtual ~Attachment() = default;
};

// The number of connections with each pause reason; a connection may have several.
struct PauseCounts {
  // By PauseReason, which explains each.
  std::uint32_t outbox_full = 0;
  std::uint32_t handler_pending = 0;
  std::uint32_t content_unwanted = 0;
  std::uint32_t pool_low = 0;
  std::uint32_t throttled = 0;
  std::uint32_t relay_full = 0;
  std::uint32_t opening = 0;
  std::uint32_t memory_low = 0;

  void add(const Connection& connection) noexcept;  // counts the reasons of one connection
};

class Reactor : public Executor {
 public:
  virtual ~Reactor();
  Reactor(const Reactor&) = delete;
  Reactor& operator=(const Reactor&) = delete;

  // The reactor that took the last turn on this thread; null when none did, or when it is
  // destroyed.
  static Reactor* current() noexcept { return current_; }

  // Monotonic time of the turn; the same throughout a turn.
  Instant now() const noexcept { return now_; }
  // The time at this moment, to measure events within a turn; now() where time is virtual. Costs a
  // reading of the clock.
  virtual Instant read_clock() const noexcept { return now_; }
  std::int64_t wall_clock_s() const noexcept { return wall_clock_s_; }
  TimerWheel& timers() noexcept { return timers_; }
  const ReactorOptions& options() const noexcept { return options_; }
  // The time when it woke to its present work; never: it waits. For observers on any thread: a
  // reader also sees all writes of the reactor in earlier turns.
  Instant busy_since() const noexcept { return {busy_since_ns_.load(std::memory_order_seq_cst)}; }
  // For an observer of busy_since(): each turn sets `alarm` to the time `after` its begin. Null:
  // none. Borrowed. Call it while the reactor does not run.
  void watch_turns(Alarm* alarm, Duration after) noexcept;
  // On the reactor's thread, or while it does not run. Runs `message` once, when the next turn has
  // begun: what repeats can rest while the reactor waits. Null: nothing. The last call counts.
  void call_at_next_turn(Message* message) noexcept { at_next_turn_ = message; }
  const Counters& counters() const noexcept { return counters_; }
  std::uint32_t links_open() const noexcept { return links_open_; }
  // The open links that a drain does not wait for (Connection::outlast_drain()).
  std::uint32_t links_lasting() const noexcept { return links_lasting_; }
  HeldMemory& memory() noexcept { return memory_; }
  const HeldMemory& memory() const noexcept { return memory_; }
  bool draining() const noexcept { return draining_; }
  // Set when the drain begins.
  AsyncEvent& drain_begun() noexcept { return drain_begun_; }
  FailureObserver* failure_observer() const noexcept override { return tasks_.options().failures; }
  // The tasks that were spawned here; they keep a drain waiting.
  TaskScope& tasks() noexcept { return tasks_; }
  const TaskScope& tasks() const noexcept { return tasks_; }

  virtual MemoryBudget memory_budget() const noexcept = 0;  // constant after start()
  // The part of the budget that is in use at present.
  virtual MemoryBudget memory_used() const noexcept = 0;
  // Reads every connection: for reports.
  PauseCounts paused_links() const noexcept;
  // For lists: calls f(Connection&) for the open links of `count` places from `first` on, and
  // returns the next place. It is link_places() once all were visited. A caller with many links
  // visits them in several turns; links that open meanwhile may be left out.
  template <class F>
  std::size_t visit_links(std::size_t first, std::size_t count, F f) {
    const std::span<Connection* const> all = links();
    const std::size_t end = first + count < all.size() ? first + count : all.size();
    for (; first < end; ++first) {
      if (all[first] != nullptr) f(*all[first]);
    }
    return first;
  }
  std::size_t link_places() const noexcept { return links().size(); }
  virtual Result<void> start() = 0;
  // Opens a listener. `protocol` makes its sessions; it is borrowed and must outlive the reactor.
  virtual Result<void> listen(const engine::ListenOptions& options, Protocol& protocol) = 0;
  // The same, with a transform between each session and its link. Both are borrowed.
  virtual Result<void> listen_transformed(const engine::ListenOptions&, Protocol&,
                                          TransformFactory&) {
    return fail(Code::unsupported, "this reactor has no transforms");
  }
  // Sets the guard of a listener, before the reactor runs.
  virtual void guard(engine::Listener, const ListenerGuard&) {}
  // From now on connections are shared with the other reactors of a ConnectionBalance, which have
  // the same listeners. Borrowed; called before any of them runs.
  virtual void balance(ConnectionBalance::Share&) {}
  virtual std::uint16_t port(engine::Listener listener) const = 0;
  // The listener's descriptor, which the reactor owns; -1: it has none.
  virtual int socket(engine::Listener) const { return -1; }
  // Opens a connection. With `transforms` its session is opened when the transform is open;
  // otherwise Protocol::on_not_opened() is called. Without, the session is opened at once, and its
  // output waits until the other side has answered. Output that is written outside a call needs
  // Connection::wake(). Both arguments are borrowed until the connection is gone.
  virtual Result<Connection*> connect(const engine::ConnectOptions&, Protocol&,
                                      TransformFactory* /*transforms*/ = nullptr) {
    return fail(Code::unsupported, "this reactor cannot open connections");
  }
  // As of the engine: see engine.hpp.
  virtual Result<void> watch(int fd, engine::Readiness wanted, engine::Watcher& watcher) = 0;
  virtual void unwatch(int fd) = 0;

  // One turn: waits at most `wait_max`, then does all work that is due.
  virtual void turn(Duration wait_max) = 0;
  // Whether the next turn has work at once, without an event of the engine. For callers that turn
  // several reactors.
  virtual bool turn_is_due() const noexcept { return true; }
  // Turns until it is stopped or drained.
  void run();

  // From any thread. The message runs on the reactor's thread.
  void post(Message& message) noexcept final {
    if (!mailbox_.post(message)) return;
    wake_engine();
    // release: the sender's last access to this reactor; see receive_expected().
    wakes_done_.fetch_add(1, std::memory_order_release);
  }

  // On the reactor's thread. Runs `message` once all input of this turn has been delivered, and
  // before its output is sent. A message that is deferred after that runs in the next turn, which
  // does not wait. Costs neither a locked instruction nor a system call.
  void defer(Message& message) noexcept {
    message.next = nullptr;
    *deferred_end_ = &message;
    deferred_end_ = &message.next;
  }

  // The object attached under `key`; null: none. It is destroyed with the reactor, after all
  // connections.
  Attachment* attached(const void* key) const noexcept {
    for (const Attached& each : attachments_) {
      if (each.key == key) return each.attachment.get();
    }
    return nullptr;
  }
  void attach(const void* key, std::unique_ptr<Attachment> attachment);

  // From any thread: accepts nothing new, lets sessions finish, and cuts off the rest after
  // `deadline_after`.
  void request_drain(Duration deadline_after) noexcept;
  // The same when another process has the listeners: connections that wait there are not accepted.
  // Called once; `handover` is borrowed from here on.
  void request_handover(Duration deadline_after, const Handover& handover) noexcept;
  // The handover, once the reactor drains because of it; null: it does not.
  const Handover* handover() const noexcept { return draining_ ? handover_ : nullptr; }
  // How long an idle connection may still begin a request during a drain.
  Duration idle_at_drain(Duration otherwise) const noexcept;
  // REQUIRES handover(). The delay after which the next client is told to reconnect. Each call
  // returns another one within Handover::spread, however many there are.
  Duration next_return() noexcept;
  // From any thread: cuts everything off now.
  void request_stop() noexcept;
  // Whether its last turn is over.
  bool stopped() const noexcept { return stopped_; }

 protected:
  explicit Reactor(const ReactorOptions& options, Instant now);
  virtual void wake_engine() noexcept = 0;    // called from other threads
  virtual void close_listeners() noexcept {}  // REQUIRES that draining() is true
  // Like Engine::hand_over().
  virtual void hand_over(engine::Listener) noexcept {}
  // Both the listeners and the links have ended.
  virtual bool drained() const noexcept = 0;
  // Only links that outlast a drain are open, and they have no pending output.
  bool links_drained() const noexcept;

  Duration time_until(Instant due) const noexcept;        // at most so long may a turn wait
  KATANA_RARE void set_turn_alarm(Instant due) noexcept;  // the alarm of watch_turns()
  // For a turn that has no work yet: whether it spins instead of sleeping.
  bool should_spin() noexcept;
  void run_messages() noexcept;
  void run_deferred() noexcept;
  // The last step before the engine ends: receives promised messages, and waits until every sender
  // has left post().
  void receive_expected() noexcept;
  void apply_requests() noexcept;
  void begin_drain() noexcept;
  void cut_off() noexcept;
  // Connections woken so far are attended in this turn, and those woken meanwhile in the next.
  void take_woken() noexcept;
  Connection* pop_pending() noexcept;
  Connection* pop_backlog() noexcept;
  static void forget_queued(Connection& connection) noexcept;
  // Allows turn_bytes_max more bytes to be sent.
  void renew_budget() noexcept { bytes_sent_end_ = counters_.bytes_sent + options_.turn_bytes_max; }
  // Continues work that waited for room. Out of line: a request whose reply is sent at once does
  // not wait.
  KATANA_RARE void offer_writable(Connection& connection) noexcept;
  bool budget_spent() const noexcept { return counters_.bytes_sent >= bytes_sent_end_; }
  inline void note_sent(Connection& connection, Outbox& outbox, std::size_t count) noexcept;
  void set_send_deadline(Connection& connection, Instant deadline) noexcept;
  // An entry for every possible link; null: it is free.
  virtual std::span<Connection* const> links() const noexcept { return {}; }
  // Resets connections that another reactor has passed on and this one has not adopted.
  virtual void reset_arrived() noexcept {}
  // Called between the calls of sessions.
  virtual void reset_link(Connection&) noexcept {}

  // Wakes connections that wait for output blocks when there are enough, or frees some blocks.
  void relieve_output() noexcept;
  bool has_waiters_for_blocks() const noexcept;
  // Called after a connection was attended while HeldMemory::strain() is not 0.
  void ease_memory(Connection& connection) noexcept;
  void slow_holder(Connection& connection) noexcept;
  void review_slowing() noexcept;
  // Makes the largest holders give back memory, between the calls of sessions.
  void relieve_memory() noexcept;
  // Resets connections that hold most and take least until so many blocks are free.
  void shed_output(std::size_t blocks_wanted) noexcept;
  bool output_scarce() const noexcept { return output_blocks_.available() < output_blocks_scarce_; }
  // The most output that a connection may have pending at present.
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
  Instant spin_end_ = never;  // never: no promised message to wait for
  bool spin_over_ = false;
  std::uint64_t wakes_due_ = 0;                // how often the mailbox was emptied
  std::atomic<std::uint64_t> wakes_done_ = 0;  // how often its first sender has woken the engine
  Counters counters_;
  ClientLimits* clients_ = nullptr;  // shared by its guarded listeners; null: none has limits
  HeldMemory memory_;
  // Whether large holders are slowed. given_up: that took too long; not again until less is used.
  enum class Slowing : std::uint8_t { no, yes, given_up };
  Slowing slowing_ = Slowing::no;
  Connection* preferred_ = nullptr;  // while slowing: the one that goes on; null: it is gone
  Instant slowing_end_ = never;
  TimerEntry slowing_timer_{[](TimerEntry&) noexcept {}};  // a turn is all that is due then
  std::uint64_t relief_failed_in_ = UINT64_MAX;            // the turn in which relief failed
  CarryPools carry_pools_;
  BlockPool output_blocks_;
  const std::size_t output_blocks_scarce_;              // with fewer, outbox_high_bytes falls
  Instant shed_at_ = never;                             // never: no connection waits
  TimerEntry shed_timer_{[](TimerEntry&) noexcept {}};  // a turn is all that is due then
  bool relief_due_ = false;  // a connection waits for blocks, or has a reserved one
  Message* first_deferred_ = nullptr;
  Message** deferred_end_ = &first_deferred_;
  Connection* first_woken_ = nullptr;
  Connection* first_pending_ = nullptr;
  Connection* first_waiting_for_blocks_ = nullptr;
  Connection* first_backlog_ = nullptr;  // with more output; the longest waiting one comes first
  Connection** backlog_end_ = &first_backlog_;
  std::size_t backlog_count_ = 0;
  bool running_backlog_ = false;
  std::uint64_t bytes_sent_end_ = 0;  // of Counters::bytes_sent: the limit of this turn
  std::uint32_t links_open_ = 0;
  std::uint32_t links_lasting_ = 0;
  ConnectionBalance::Share* share_ = nullptr;  // null: accepted connections are served here
  std::atomic<std::int64_t> busy_since_ns_ = never.ns;
  Alarm* turn_alarm_ = nullptr;
  const std::atomic<std::int64_t>* turn_alarm_due_ns_ = nullptr;  // its time
  Duration turn_alarm_after_ = {};
  Message* at_next_turn_ = nullptr;
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
