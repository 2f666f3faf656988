#include "lab/load/worker.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "katana/base/system/monotonic_clock.hpp"
#include "lab/process/usage.hpp"

namespace katana::load {
namespace {

constexpr std::size_t scratch_bytes = 64 * 1024;
constexpr std::size_t events_max = 512;
constexpr std::uint32_t sweep_slice = 128;
constexpr std::int64_t sweep_round_ns = 50'000'000;
constexpr std::int64_t sweep_pause_ns_min = 1'000'000;
constexpr std::uint64_t bell_tag = UINT64_MAX;

// To the index-th CPU that this process may use, round and round.
bool pin_to(std::uint32_t index) noexcept {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return false;
  auto wanted = static_cast<int>(index) % CPU_COUNT(&allowed);
  int cpu = 0;
  while (!CPU_ISSET(cpu, &allowed) || wanted-- > 0) ++cpu;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  return pthread_setaffinity_np(pthread_self(), sizeof one, &one) == 0;
}

std::uint64_t share_of(std::uint64_t all, std::uint32_t index, std::uint32_t of) {
  return all / of + (index < all % of ? 1 : 0);
}

}  // namespace

Worker::Worker(const LoadPlan& plan, const Target& target, std::uint32_t index, Doorbell& doorbell)
    : plan_(plan),
      target_(target),
      index_(index),
      outer_doorbell_(doorbell),
      schedule_(plan.rates, {.index = index,
                             .of = plan.threads,
                             .burst = plan.burst,
                             .poisson = plan.poisson,
                             .seed = plan.seed}),
      scratch_(std::make_unique_for_overwrite<char[]>(scratch_bytes)),
      events_(events_max),
      connections_(share_of(plan.connections, index, plan.threads)),
      in_flight_(connections_.size() * plan.pipeline),
      to_open_(connections_.size()),
      ready_ring_(connections_.size()),
      budget_(plan.requests_max == 0 ? UINT64_MAX
                                     : share_of(plan.requests_max, index, plan.threads)) {
  again_.reserve(connections_.size());
  again_now_.reserve(connections_.size());
  hungry_.reserve(connections_.size());
  for (std::uint32_t place = 0; place < connections_.size(); ++place) {
    connections_[place].index = place;
  }
  if (plan.http2) http2_ = std::make_unique<Http2Side>(plan, target, connections_.size());
  if (target.tls != nullptr) tls_ = std::make_unique<TlsSide>(plan, target, connections_.size());
  next_request_ = index % static_cast<std::uint32_t>(target.requests.size());
}

Worker::~Worker() {
  for (const Connection& connection : connections_) {
    if (connection.fd >= 0) ::close(connection.fd);
  }
}

std::size_t Worker::memory_bytes_max() const noexcept {
  const std::size_t each = sizeof(Connection) + plan_.pipeline * sizeof(InFlight) +
                           ResponseMachine::head_bytes_max + 4 * sizeof(std::uint32_t);
  return connections_.size() * each + scratch_bytes + events_max * sizeof(epoll_event) +
         2 * 5 * Histogram::counts_size * sizeof(std::uint64_t) +
         (http2_ != nullptr ? http2_->memory_bytes_max() : 0) +
         (tls_ != nullptr ? tls_->memory_bytes_max() : 0);
}

void Worker::start(Instant begin) noexcept {
  start_ns_.store(begin.ns, std::memory_order_release);
  doorbell_.ring();
}

void Worker::abandon() noexcept {
  abandon_.store(true, std::memory_order_release);
  doorbell_.ring();
}

void Worker::flip() noexcept {
  flips_asked_.fetch_add(1, std::memory_order_release);
  doorbell_.ring();
}

void Worker::run() noexcept {
  if (prepare()) {
    while (phase_ != Phase::ended) turn();
  }
  finish();
  ready_.store(true, std::memory_order_release);
  done_.store(true, std::memory_order_release);
  outer_doorbell_.ring();
}

bool Worker::prepare() {
  if (plan_.pin && !pin_to(index_)) {
    problem_ = fmt::format("cannot pin a thread: {}", std::strerror(errno));
    return false;
  }
  // The kernel may round sleeps up by 50 us otherwise, to save wake-ups.
  prctl(PR_SET_TIMERSLACK, 1);
  epoll_ = Descriptor(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event event{.events = EPOLLIN, .data = {.u64 = bell_tag}};
  if (epoll_.get() < 0 || ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, doorbell_.fd(), &event) != 0) {
    problem_ = fmt::format("no epoll instance: {}", std::strerror(errno));
    return false;
  }
  // A few connect at a time: many without an answer would take too long one after the other.
  opening_end_ns_ = read_clock() + 2 * plan_.connect_timeout.ns;
  wanted_ = unsettled_ = connections_wanted();
  for (std::uint32_t index = 0; index < wanted_; ++index) queue_open(connections_[index]);
  return true;
}

void Worker::turn() {
  const std::int64_t busy_until_ns = now_ns_;
  if (phase_ != Phase::opening) note_stall(busy_until_ns - turn_ns_);
  if (plan_.is_open_loop()) read_clock();
  const std::int64_t wake_ns = next_wake_ns(now_ns_);
  const int count = wait(wake_ns);
  turn_ns_ = read_clock();
  if (phase_ != Phase::opening) note_stall(turn_ns_ - std::max(wake_ns, busy_until_ns));
  obey();
  for (int index = 0; index < count; ++index) {
    on_event(events_[static_cast<std::size_t>(index)]);
    if (plan_.is_open_loop()) dispatch();
  }
  again_now_.swap(again_);
  for (const std::uint32_t index : again_now_) receive_again(connections_[index]);
  again_now_.clear();
  if (!plan_.connection_ramp.empty()) follow_ramp();
  feed_hungry();
  sweep();
  open_queued();
  if (plan_.is_open_loop()) dispatch();  // before the window ends: late requests, too
  advance_phase();
  publish_gauges();
}

std::int64_t Worker::next_wake_ns(std::int64_t now_ns) const noexcept {
  if (!again_.empty()) return now_ns;
  std::int64_t wake_ns = sweep_at_ns_;
  switch (phase_) {
    case Phase::opening: wake_ns = std::min(wake_ns, begin_ns_); break;
    case Phase::running: wake_ns = std::min(wake_ns, window_end_ns_); break;
    case Phase::draining: wake_ns = std::min(wake_ns, drain_end_ns_); break;
    case Phase::ended: break;
  }
  const Instant due = schedule_.due();
  if (may_send() && due != never && !ready_ring_.empty()) {
    wake_ns = std::min(wake_ns, begin_ns_ + due.ns - plan_.busy_tail.ns);
  }
  return wake_ns;
}

int Worker::wait(std::int64_t until_ns) {
  const std::int64_t left_ns = std::max<std::int64_t>(0, until_ns - now_ns_);
  const timespec timeout{.tv_sec = left_ns / 1'000'000'000, .tv_nsec = left_ns % 1'000'000'000};
  const int count = ::epoll_pwait2(epoll_.get(), events_.data(), static_cast<int>(events_.size()),
                                   &timeout, nullptr);
  if (count < 0 && errno != EINTR) {
    problem_ = fmt::format("epoll_pwait2: {} (it needs Linux 5.11)", std::strerror(errno));
    phase_ = Phase::ended;
  }
  // The turn only waited for the clock: this CPU time was for precision, not for load.
  if (left_ns == 0 && count == 0 && is_window_noted_) own_.spun_ns += monotonic_now().ns - now_ns_;
  return std::max(0, count);
}

void Worker::note_stall(std::int64_t late_ns) noexcept {
  if (late_ns <= own_.stall_max_ns && late_ns < stall_ns_min) return;
  own_.stall_max_ns = std::max(own_.stall_max_ns, late_ns);
  if (late_ns < stall_ns_min) return;
  ++own_.stalls;
  own_.stalled_ns += late_ns;
}

void Worker::obey() noexcept {
  if (abandon_.load(std::memory_order_acquire)) {
    if (phase_ == Phase::running) end_window();
    phase_ = Phase::ended;
  }
  if (begin_ns_ == INT64_MAX) {
    if (const auto start_ns = start_ns_.load(std::memory_order_acquire)) begin_ns_ = start_ns;
  }
  const std::uint32_t done = flips_done_.load(std::memory_order_relaxed);
  if (flips_asked_.load(std::memory_order_acquire) == done) return;
  now_ = &statistics_[(done + 1) % 2];
  flips_done_.store(done + 1, std::memory_order_release);
  outer_doorbell_.ring();
}

void Worker::publish_gauges() noexcept {
  open_gauge_.store(open_, std::memory_order_relaxed);
  in_flight_gauge_.store(all_in_flight_, std::memory_order_relaxed);
}

void Worker::begin_run() {
  phase_ = Phase::running;
  window_begin_ns_ = begin_ns_ + plan_.warm_up.ns;
  window_end_ns_ = window_begin_ns_ + plan_.duration.ns;
  note_window();
  if (plan_.is_open_loop()) return;
  for (Connection& connection : connections_) {
    if (connection.state == Connection::State::open) feed(connection);
  }
}

// The warm-up is over: from here on the generator watches itself.
void Worker::note_window() {
  if (is_window_noted_ || now_ns_ < window_begin_ns_) return;
  is_window_noted_ = true;
  own_ = {};
  own_.wall_ns = -now_ns_;
  cpu_begin_ns_ = lab::thread_cpu_ns();
  run_delay_begin_ns_ = lab::thread_run_delay_ns();
}

void Worker::advance_phase() {
  switch (phase_) {
    case Phase::opening:
      if ((unsettled_ == 0 || now_ns_ >= opening_end_ns_) &&
          !ready_.load(std::memory_order_relaxed)) {
        publish_gauges();  // a thread that sees that it is ready asks how many are open
        ready_.store(true, std::memory_order_release);
        outer_doorbell_.ring();
      }
      if (now_ns_ >= begin_ns_) begin_run();
      return;
    case Phase::running:
      note_window();
      if (now_ns_ < window_end_ns_ && budget_ > 0) return;
      end_window();
      phase_ = Phase::draining;
      drain_end_ns_ = now_ns_ + plan_.timeout.ns + 2 * sweep_round_ns;
      [[fallthrough]];
    case Phase::draining:
      if (all_in_flight_ == 0 || now_ns_ >= drain_end_ns_) phase_ = Phase::ended;
      return;
    case Phase::ended: return;
  }
}

// Ends the window: nothing is sent from here on.
void Worker::end_window() {
  const bool had_budget = budget_ > 0;
  budget_ = 0;
  // When the number of requests is what ends the run, the last replies are part of its time.
  if (had_budget) window_end_ns_ = std::min(window_end_ns_, now_ns_);
  if (!is_window_noted_) return;
  own_.wall_ns += now_ns_;
  own_.cpu_ns = lab::thread_cpu_ns() - cpu_begin_ns_;
  own_.run_delay_ns = lab::thread_run_delay_ns() - run_delay_begin_ns_;
  if (had_budget && plan_.is_open_loop()) {
    own_.unsent = schedule_.take_until({window_end_ns_ - begin_ns_});
  }
}

void Worker::finish() {
  publish_gauges();  // as it was at the end, before everything is closed
  own_.in_flight_at_end = all_in_flight_;
  if (!is_window_noted_) own_.wall_ns = 0;
  for (Connection& connection : connections_) {
    if (connection.fd >= 0) close(connection);
  }
}

void Worker::sweep() {
  if (now_ns_ < sweep_at_ns_) return;
  const auto all = static_cast<std::uint32_t>(connections_.size());
  const std::uint32_t slice = std::min(all, sweep_slice);
  for (std::uint32_t count = 0; count < slice; ++count) {
    look_after(connections_[sweep_next_]);
    if (++sweep_next_ == all) sweep_next_ = 0;
  }
  sweep_at_ns_ = now_ns_ + std::max(sweep_pause_ns_min, sweep_round_ns * slice / all);
}

void Worker::look_after(Connection& connection) {
  switch (connection.state) {
    case Connection::State::connecting:
      if (now_ns_ - connection.since_ns > plan_.connect_timeout.ns) {
        fail_connect(connection, ETIMEDOUT);
      }
      return;
    case Connection::State::securing:
      if (now_ns_ - connection.since_ns > plan_.connect_timeout.ns) {
        fail_handshake(connection, fmt::format("the {} took too long", handshake_name()));
      }
      return;
    case Connection::State::open:
      if (connection.in_flight == 0 && !is_wanted(connection)) return retire(connection);
      if (http2_ != nullptr) return look_after_streams(connection);
      if (connection.in_flight > 0 && now_ns_ - place(connection, 0).sent_ns > plan_.timeout.ns) {
        fail_requests(connection, Failure::response_timeout);
        reopen(connection, true);
      }
      return;
    case Connection::State::closed:
      if (now_ns_ >= connection.since_ns) queue_open(connection);
      return;
    case Connection::State::queued: return;
  }
}

std::uint32_t Worker::connections_wanted() const noexcept {
  if (plan_.connection_ramp.empty()) return static_cast<std::uint32_t>(connections_.size());
  const std::int64_t since_ns = phase_ == Phase::opening ? 0 : now_ns_ - window_begin_ns_;
  const std::uint64_t all = plan_.connection_ramp.at({since_ns});
  return static_cast<std::uint32_t>(share_of(all, index_, plan_.threads));
}

// A connection that is no longer wanted gets no more requests. The sweep closes it after its reply.
void Worker::follow_ramp() {
  if (phase_ != Phase::running) return;
  const std::uint32_t before = wanted_;
  wanted_ = connections_wanted();
  for (std::uint32_t index = before; index < wanted_; ++index) {
    Connection& connection = connections_[index];
    if (connection.state == Connection::State::closed) queue_open(connection);
    if (connection.state == Connection::State::open) feed(connection);
  }
}

void Worker::retire(Connection& connection) {
  close(connection);
  connection.since_ns = INT64_MAX;
}

// Sends whatever is due, on the connections that have had room for the longest time.
void Worker::dispatch() {
  if (!may_send()) return;
  while (schedule_.due() != never && budget_ > 0) {
    const std::int64_t due_ns = begin_ns_ + schedule_.due().ns;
    if (due_ns > now_ns_ || due_ns >= window_end_ns_) return;
    Connection* connection = take_ready();
    if (connection == nullptr) return;
    schedule_.take();
    read_clock();
    note_send_lag(due_ns);
    push_request(*connection, due_ns);
    flush(*connection);
    if (has_capacity(*connection)) make_ready(*connection);
  }
}

// Late because of the generator, or because no connection had room: only the first is its own lag.
void Worker::note_send_lag(std::int64_t due_ns) {
  if (due_ns < window_begin_ns_) return;
  const std::int64_t possible_ns = std::max(due_ns, room_since_ns_);
  if (room_since_ns_ > due_ns) ++own_.held_back;
  now_->send_lag.record(now_ns_ - possible_ns);
}

Connection* Worker::take_ready() {
  while (!ready_ring_.empty()) {
    Connection& connection = connections_[ready_ring_.pop()];
    connection.is_in_ready = false;
    if (has_capacity(connection)) return &connection;
  }
  return nullptr;
}

void Worker::make_ready(Connection& connection) {
  if (!plan_.is_open_loop() || connection.is_in_ready || !has_capacity(connection)) return;
  if (ready_ring_.empty()) room_since_ns_ = now_ns_;
  connection.is_in_ready = true;
  ready_ring_.push(connection.index);
}

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
