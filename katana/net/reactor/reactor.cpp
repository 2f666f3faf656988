#include "katana/net/reactor/reactor.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "katana/base/system/alarm.hpp"
#include "katana/base/system/check.hpp"
#include "katana/net/reactor/handover.hpp"

namespace katana::net {

namespace {

// The default bounds of HeldMemory.
constexpr std::size_t held_bytes_min = std::size_t{64} * 1024 * 1024;
constexpr std::size_t held_bytes_each = std::size_t{16} * 1024;
// Waits below this are exact: the duration of the turn before them counts.
constexpr Duration exact_wait_max = milliseconds(64);
constexpr Duration longest_wait = seconds(1'000'000'000);  // without an overflow in any engine

}  // namespace

void PauseCounts::add(const Connection& connection) noexcept {
  outbox_full += connection.has(PauseReason::outbox_full) ? 1 : 0;
  handler_pending += connection.has(PauseReason::handler_pending) ? 1 : 0;
  content_unwanted += connection.has(PauseReason::content_unwanted) ? 1 : 0;
  pool_low += connection.has(PauseReason::pool_low) ? 1 : 0;
  throttled += connection.has(PauseReason::throttled) ? 1 : 0;
  relay_full += connection.has(PauseReason::relay_full) ? 1 : 0;
  opening += connection.has(PauseReason::opening) ? 1 : 0;
  memory_low += connection.has(PauseReason::memory_low) ? 1 : 0;
}

Connection::Connection(Reactor& reactor, engine::Link link) noexcept
    : TimerEntry(&Connection::on_timer),
      reactor_(reactor),
      link_(link),
      outbox_(reactor.output_blocks_),
      carry_(reactor.carry_pools_) {
  counters_.opened_ticks = static_cast<std::uint32_t>(reactor.now().ns >> tick_bits);
}

// The reactor finds out which deadlines are due when it comes to the woken connections.
void Connection::on_timer(TimerEntry& entry) noexcept {
  auto& self = static_cast<Connection&>(entry);
  self.armed_until_ = never;
  self.wake();
}

std::optional<ClientPlace> Connection::begin_client_request() noexcept {
  const std::uint32_t slot = client_slot();
  if (slot == 0 || !reactor_.clients_->counts_requests()) return ClientPlace();
  std::optional<ClientPlace> place = reactor_.clients_->begin_request(slot);
  if (!place) ++reactor_.counters_.client_requests_refused;
  return place;
}

std::optional<ClientPlace> Connection::begin_request_of(const IpAddress& client) noexcept {
  std::optional<ClientPlace> place = reactor_.clients_->begin_request(client, reactor_.now());
  if (!place) ++reactor_.counters_.client_requests_refused;
  return place;
}

bool Connection::output_full(std::size_t bytes) noexcept {
  const std::size_t pending = outbox_.pending();
  if (pending + bytes > reactor_.options_.output_block_bytes) {
    if (pending > reactor_.options_.outbox_high_bytes) {
      pause(PauseReason::outbox_full);
      return true;
    }
    // The output would only be held until a later turn.
    if (reactor_.budget_spent()) [[unlikely]] {
      ++reactor_.counters_.output_deferrals;
      pause(PauseReason::outbox_full);
      join_backlog();
      return true;
    }
  }
  if (reactor_.output_scarce()) [[unlikely]]
    return pause_for_blocks(bytes);
  return false;
}

void Connection::outlast_drain() noexcept {
  KATANA_REQUIRE(outgoing_);
  if (!outlasts_drain_) ++reactor_.links_lasting_;
  outlasts_drain_ = true;
}

void Connection::arm(Instant expiry) noexcept {
  reactor_.timers_.arm(*this, expiry);
  // never: the next deadline, however late, comes here again.
  armed_until_ = reactor_.options_.lazy_timers ? expiry : never;
}

void Connection::wake() noexcept {
  if (queued_for_ == QueuedFor::blocks) Reactor::forget_queued(*this);
  if (queued_at_ == nullptr) enqueue(reactor_.first_woken_);
}

void Connection::wake_first() noexcept {
  Reactor::forget_queued(*this);
  enqueue(reactor_.first_woken_);
}

// A woken connection keeps its place: it is attended sooner, and comes here if it must.
void Connection::join_backlog() noexcept {
  if (queued_for_ == QueuedFor::blocks) Reactor::forget_queued(*this);
  if (queued_at_ != nullptr) return;
  next_queued_ = nullptr;
  queued_at_ = std::exchange(reactor_.backlog_end_, &next_queued_);
  *queued_at_ = this;
  queued_for_ = QueuedFor::backlog;
  ++reactor_.backlog_count_;
}

void Connection::enqueue(Connection*& first) noexcept {
  next_queued_ = first;
  if (first != nullptr) first->queued_at_ = &next_queued_;
  first = this;
  queued_at_ = &first;
}

void Reactor::take_woken() noexcept {
  first_pending_ = std::exchange(first_woken_, nullptr);
  if (first_pending_ != nullptr) first_pending_->queued_at_ = &first_pending_;
}

Connection* Reactor::pop_pending() noexcept {
  Connection* const connection = first_pending_;
  if (connection != nullptr) forget_queued(*connection);
  return connection;
}

Connection* Reactor::pop_backlog() noexcept {
  Connection* const connection = first_backlog_;
  if (connection != nullptr) forget_queued(*connection);
  return connection;
}

void Reactor::forget_queued(Connection& connection) noexcept {
  if (connection.queued_at_ == nullptr) return;
  *connection.queued_at_ = connection.next_queued_;
  if (connection.next_queued_ != nullptr) {
    connection.next_queued_->queued_at_ = connection.queued_at_;
  }
  if (connection.queued_for_ == Connection::QueuedFor::backlog) {
    Reactor& reactor = connection.reactor_;
    if (connection.next_queued_ == nullptr) reactor.backlog_end_ = connection.queued_at_;
    --reactor.backlog_count_;
  }
  connection.queued_at_ = nullptr;
  connection.queued_for_ = Connection::QueuedFor::attention;
}

Reactor::Reactor(const ReactorOptions& options, Instant now)
    : options_(options),
      now_(now),
      timers_(now),
      spin_(options.spin_max),
      memory_(options.held_bytes_max != 0
                  ? options.held_bytes_max
                  : std::max(held_bytes_min, options.engine.links_max * held_bytes_each)),
      carry_pools_{
          {options.carry_small_bytes, options.engine.links_max},
          {options.engine.receive_bytes_max + options.carry_extra_bytes, options.carry_large_max}},
      output_blocks_(options.output_block_bytes, options.output_blocks_max),
      output_blocks_scarce_(options.output_blocks_reserve == 0 ? 0 : options.output_blocks_max / 2),
      tasks_({.tasks_max = options.tasks_max}) {
  KATANA_REQUIRE(2 * options.output_blocks_reserve <= options.output_blocks_max);
  KATANA_REQUIRE(options.outbox_low_bytes <= options.outbox_high_bytes);
  KATANA_REQUIRE(options.rate_min_bytes_per_s > 0);
  KATANA_REQUIRE(options.openings_per_turn_max > 0);
}

Reactor::~Reactor() {
  if (current_ == this) current_ = nullptr;
}

void Reactor::run() {
  // The first turn does not wait: a message or a request from before start() could not wake it.
  if (!stopped_) turn({});
  while (!stopped_) {
    // After the drain deadline only the engine's events are left to wait for.
    const Instant due = std::min(timers_.next(), now_ < drain_deadline_ ? drain_deadline_ : never);
    turn(time_until(due));
  }
}

Duration Reactor::time_until(Instant due) const noexcept {
  const Duration left = due - now_;
  return left < exact_wait_max ? due - read_clock() : std::min(left, longest_wait);
}

void Reactor::attach(const void* key, std::unique_ptr<Attachment> attachment) {
  attachments_.push_back({key, std::move(attachment)});
}

Duration Reactor::idle_at_drain(Duration otherwise) const noexcept {
  return handover() != nullptr ? handover()->idle : otherwise;
}

void Reactor::watch_turns(Alarm* alarm, Duration after) noexcept {
  turn_alarm_ = alarm;
  turn_alarm_due_ns_ = alarm != nullptr ? &alarm->due_ns() : nullptr;
  turn_alarm_after_ = after;
}

void Reactor::set_turn_alarm(Instant due) noexcept { turn_alarm_->set(due); }

bool Reactor::should_spin() noexcept {
  if (expected() == 0 || options_.spin_max == Duration{}) [[likely]] {
    spin_end_ = never;
    return false;
  }
  if (spin_end_ == never) {
    spin_end_ = spin_.end(now_);
  } else if (now_ >= spin_end_ && !spin_over_) {
    spin_.failed(now_);
  }
  spin_over_ = now_ >= spin_end_;
  if (spin_over_) return mailbox_.has_messages();
  // About a microsecond: then the engine is asked for other events, and for the time.
  for (int pause = 0; pause < 32 && !mailbox_.has_messages(); ++pause) relax();
  return true;
}

void Reactor::run_messages() noexcept {
  Message* message = mailbox_.take_all();
  if (message == nullptr) return;
  ++wakes_due_;
  spin_end_ = never;  // later promises get their own spin
  while (message != nullptr) {
    Message* const next = message->next;
    message->run(*message);
    message = next;
  }
}

void Reactor::run_deferred() noexcept {
  Message* message = std::exchange(first_deferred_, nullptr);
  deferred_end_ = &first_deferred_;
  while (message != nullptr) {
    Message* const next = message->next;  // the message may be deferred again, or gone
    message->run(*message);
    message = next;
  }
}

void Reactor::receive_expected() noexcept {
  // Both waits are short: a destroyed coroutine has withdrawn its promise, unless the message is in
  // transit.
  while (true) {
    run_messages();
    end_turn();
    // acquire: the thread that woke the engine has finished with it.
    const bool quiet = wakes_done_.load(std::memory_order_acquire) == wakes_due_;
    if (quiet && expected() == 0) return;
    std::this_thread::yield();
  }
}

void Reactor::request_drain(Duration deadline_after) noexcept {
  // release: pairs with the acquire in apply_requests(), as do all requests.
  drain_requested_ns_.store(deadline_after.ns, std::memory_order_release);
  wake_engine();
}

void Reactor::request_handover(Duration deadline_after, const Handover& handover) noexcept {
  handover_ = &handover;  // read after the request has been seen
  request_drain(deadline_after);
}

Duration Reactor::next_return() noexcept {
  // Multiples of the golden ratio: no two fractions of a series are close together.
  const std::uint32_t fraction = ++returns_ * 2654435769u;
  return {static_cast<std::int64_t>(static_cast<double>(handover_->spread.ns) * fraction / 0x1p32)};
}

void Reactor::request_stop() noexcept {
  stop_requested_.store(true, std::memory_order_release);
  wake_engine();
}

void Reactor::apply_requests() noexcept {
  const std::int64_t drain_ns = drain_requested_ns_.load(std::memory_order_acquire);
  if (drain_ns >= 0 && !draining_) {
    draining_ = true;
    drain_deadline_ = now_ + nanoseconds(drain_ns);
    begin_drain();
  }
  const bool stop = stop_requested_.load(std::memory_order_acquire);
  if (stop || (draining_ && now_ >= drain_deadline_)) cut_off();
  if (stop || (draining_ && drained())) stopped_ = true;
}

void Reactor::offer_writable(Connection& connection) noexcept {
  if (connection.failure_ != 0) return;  // its output is dropped
  const bool has_capacity = (connection.waits_until_writable() && connection.regain_capacity()) ||
                            (connection.writable_wanted_ && connection.outbox_.empty());
  if (!has_capacity) return;
  connection.resume(PauseReason::outbox_full);
  connection.writable_wanted_ = false;
  connection.writable_due_ = true;
  if (running_backlog_ || budget_spent()) {
    connection.join_backlog();
  } else {
    connection.wake();
  }
}

void Reactor::begin_drain() noexcept {
  if (handover_ != nullptr) {
    for (const engine::Listener each : handover_->listeners) hand_over(each);
  }
  close_listeners();
  if (share_ != nullptr) share_->leave();
  drain_begun_.set();
  for (Connection* const connection : links()) {
    if (connection == nullptr || connection->finishing()) continue;
    connection->session_->on_drain();
    connection->wake();
  }
}

bool Reactor::links_drained() const noexcept {
  if (links_open_ != links_lasting_) return false;
  if (links_lasting_ == 0) return true;
  return std::ranges::none_of(links(), [](const Connection* connection) {
    return connection != nullptr && connection->unsent() > 0;
  });
}

void Reactor::cut_off() noexcept {
  for (Connection* const connection : links()) {
    if (connection == nullptr) continue;
    if (!connection->outlasts_drain_) ++counters_.cut_off;
    reset_link(*connection);
  }
  if (share_ != nullptr) share_->leave();
  reset_arrived();
  tasks_.cancel();
  close_listeners();
}

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
