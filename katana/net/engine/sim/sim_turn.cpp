#include <algorithm>
#include <utility>

#include "katana/base/system/check.hpp"
#include "katana/net/engine/sim/sim_kernel.hpp"

namespace katana::engine {
namespace {

constexpr Duration wait_ceiling = seconds(3'600);
constexpr Duration spurious_wait_max = milliseconds(1);
// The most rounds of a turn that deliver events which became ready during the turn.
constexpr int rounds_max = 4;

}  // namespace

// ---- turns -----------------------------------------------------------------------------------

bool SimKernel::has_work() const {
  // acquire: the turn that wake() causes sees all writes made before wake().
  return woken_.load(std::memory_order_acquire) || !touched_.empty() ||
         first_due_ <= network_.now() || can_finish_listeners() ||
         std::ranges::any_of(listeners_, [this](const auto& each) { return can_accept(each); }) ||
         std::ranges::any_of(watched_, [this](const auto& each) {
           return network_.ready_for(each.fd, each.wanted) != Readiness{};
         });
}

void SimKernel::turn(Duration wait_max) {
  KATANA_REQUIRE(started_ && !in_turn_);
  in_turn_ = true;
  const bool spurious = network_.chance(network_.faults().spurious_turn);
  wait(wait_max, spurious);
  woken_.store(false, std::memory_order_release);
  now_ = network_.now();
  wall_clock_s_ = network_.wall_clock_s(address_);
  network_.note("on_turn", 0, spurious ? 1 : 0);
  sink_turn(now_);
  if (spurious) {
    ++counters_.spurious_turns;
  } else {
    deliver_ready();
    for (int round = 0; round < rounds_max && deliver_round(); ++round) {
    }
    if (can_finish_listeners()) finish_listeners();
  }
  in_turn_ = false;
}

void SimKernel::wait(Duration wait_max, bool spurious) {
  const Instant began = network_.now();
  const auto cost_us = std::max<std::uint32_t>(1, network_.draw(network_.faults().turn_us));
  network_.run_until(began + microseconds(cost_us));
  Duration wait = std::clamp(wait_max, Duration{0}, wait_ceiling);
  if (spurious) {
    const std::int64_t most_ns = std::min(wait, spurious_wait_max).ns;
    wait = nanoseconds(static_cast<std::int64_t>(
        network_.random().below(static_cast<std::uint64_t>(most_ns) + 1)));
  }
  const Instant deadline = began + wait;
  while (!has_work() && network_.run_next(deadline)) {
  }
  network_.run_until(network_.now());  // what happens at the same moment
}

void SimKernel::deliver_ready() {
  std::uint64_t position = 0;
  for (const Watched& each : std::vector<Watched>(watched_)) {
    ++position;  // in the trace instead of the descriptor, which differs from run to run
    // A watcher that ran before may have removed or replaced it.
    if (std::ranges::find(watched_, each.number, &Watched::number) == watched_.end()) continue;
    const Readiness ready = network_.ready_for(each.fd, each.wanted);
    if (ready == Readiness{}) continue;
    network_.clear_ready(each.fd, ready);
    network_.note("on_ready", 0, position);
    each.watcher->on_ready(ready);
  }
}

bool SimKernel::deliver_round() {
  for (const Link link : std::exchange(touched_, {})) {
    Slot* const slot = find(link);
    if (slot == nullptr) continue;
    slot->touched = false;
    look(link, *slot);
  }
  for (Listener index = 0; index < listeners_.size(); ++index) {
    if (can_accept(listeners_[index])) queue(Kind::accept, Link{index, 0}, Duration{});
  }
  std::vector<Completion> due = take_due();
  for (Completion& each : due) deliver(each);
  return !due.empty();
}

std::vector<SimKernel::Completion> SimKernel::take_due() {
  std::vector<Completion> due;
  std::vector<Completion> later;
  first_due_ = never;
  for (Completion& each : completions_) {
    if (each.due > now_) first_due_ = std::min(first_due_, each.due);
    (each.due <= now_ ? due : later).push_back(std::move(each));
  }
  completions_ = std::move(later);
  // A link has at most one completion of its receiving side under way: any order keeps its bytes in
  // order.
  if (network_.chance(network_.faults().shuffle)) {
    for (std::size_t left = due.size(); left > 1; --left) {
      std::swap(due[left - 1], due[network_.random().below(left)]);
    }
  }
  return due;
}

// ---- from state to completions ---------------------------------------------------------------

void SimKernel::queue(Kind kind, Link link, Duration delay, std::string bytes) {
  const Instant due = network_.now() + delay;
  completions_.push_back({due, kind, link, std::move(bytes)});
  first_due_ = std::min(first_due_, due);
  if (delay.ns > 0) network_.at(due, [] {});  // an event: time stops there
}

Duration SimKernel::draw_lateness() {
  const SimFaults& faults = network_.faults();
  if (!network_.chance(faults.late_completion)) return {};
  return microseconds(network_.draw(faults.completion_us));
}

std::size_t SimKernel::draw_fragment(const Slot& slot, std::size_t available) {
  const std::size_t most = std::min({available, options_.receive_bytes_max, slot.receive_max});
  if (!network_.chance(network_.faults().fragment)) return most;
  // Biased towards common failures: single bytes, and all but the last one.
  switch (network_.random().below(4)) {
    case 0: return 1;
    case 1: return network_.random().between(1, std::min<std::size_t>(most, 16));
    case 2: return std::max<std::size_t>(most - 1, 1);
    default: return network_.random().between(1, most);
  }
}

void SimKernel::look(Link link, Slot& slot) {
  if (slot.gone) return;
  look_at_send(link, slot);
  look_at_input(link, slot);
}

void SimKernel::look_at_send(Link link, Slot& slot) {
  if (!slot.send.active || slot.send.queued) return;
  if (slot.connection->broken(slot.side)) {
    slot.break_noticed = true;
    return;
  }
  if (room(slot) == 0) return;
  slot.send.queued = true;
  queue(slot.send.lent ? Kind::take : Kind::sent, link, draw_lateness());
}

void SimKernel::look_at_input(Link link, Slot& slot) {
  const SimConnection& connection = *slot.connection;
  const bool broken = connection.broken(slot.side);
  if (broken && !slot.break_drawn) {
    slot.break_drawn = true;
    if (!network_.chance(network_.faults().unnoticed_reset)) slot.break_noticed = true;
  }
  if (slot.receive_queued) return;
  if (slot.paused) {
    if (broken && slot.break_noticed && !slot.break_told) queue_input(Kind::broken, link, slot);
  } else if (connection.arrived(slot.side) > 0) {
    queue_receive(link, slot);
  } else if (broken) {
    queue_input(Kind::broken, link, slot);
  } else if (connection.ended(slot.side) && !slot.input_ended) {
    queue_input(Kind::input_end, link, slot);
  }
}

void SimKernel::queue_input(Kind kind, Link link, Slot& slot) {
  slot.receive_queued = true;
  queue(kind, link, draw_lateness());
}

void SimKernel::queue_receive(Link link, Slot& slot) {
  const SimFaults& faults = network_.faults();
  slot.receive_queued = true;
  if (network_.chance(faults.ring_exhausted)) {
    ++counters_.ring_exhausted;
    queue(Kind::retry, link, microseconds(network_.draw(faults.completion_us)));
    return;
  }
  const std::size_t available = slot.connection->arrived(slot.side);
  const std::size_t count = draw_fragment(slot, available);
  if (count < available) ++counters_.fragments;
  slot.taken_bytes = count;
  queue(Kind::receive, link, draw_lateness(), slot.connection->take(slot.side, count));
}

// ---- from completions to the Sink ------------------------------------------------------------

void SimKernel::deliver(Completion& completion) {
  const Link link = completion.link;
  if (completion.kind == Kind::accept) return accept_from(link.index);
  Slot* const slot = find(link);
  const bool is_of_send = completion.kind == Kind::take || completion.kind == Kind::sent;
  if (slot == nullptr || slot->gone || (is_of_send && !slot->send.active)) {
    if (completion.kind != Kind::retry) ++counters_.late_completions;
    network_.note("completion dies", 0, static_cast<std::uint64_t>(completion.kind));
    return;
  }
  switch (completion.kind) {
    case Kind::accept: return;  // above
    case Kind::take: return take_lent(link, *slot);
    case Kind::sent: return deliver_sent(link, *slot);
    case Kind::receive: return deliver_bytes(link, *slot, completion.bytes);
    case Kind::input_end: return deliver_closed(link, *slot, Closed::input);
    case Kind::broken: return deliver_closed(link, *slot, Closed::link);
    case Kind::retry: slot->receive_queued = false; return look_at_input(link, *slot);
  }
}

void SimKernel::deliver_bytes(Link link, Slot& slot, const std::string& bytes) {
  slot.receive_queued = false;
  slot.taken_bytes = 0;
  if (slot.paused) {
    ++counters_.held_for_pause;
    slot.connection->give_back(slot.side, bytes);
    return touch(link);
  }
  slot.connection->acknowledge(slot.side, bytes.size());
  if (network_.chance(network_.faults().multishot_end)) {
    ++counters_.multishot_ends;
    slot.receive_queued = true;
    queue(Kind::retry, link, microseconds(network_.draw(network_.faults().completion_us)));
  } else {
    touch(link);
  }
  network_.note("on_bytes", slot.connection->number(), bytes.size());
  // Memory of exactly this size, overwritten after the call: a use after the call then shows.
  std::vector<char> borrowed(bytes.begin(), bytes.end());
  sink_bytes(link, Bytes(borrowed.data(), borrowed.size()));
  std::ranges::fill(borrowed, '\xdd');
  // Otherwise the compiler may drop the fill, because the memory is released next.
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

void SimKernel::deliver_closed(Link link, Slot& slot, Closed closed) {
  slot.receive_queued = false;
  if (closed == Closed::input) {
    // Paused, or overtaken by a break.
    if (slot.paused || slot.connection->broken(slot.side)) return touch(link);
    slot.input_ended = true;
  } else {
    if (slot.paused && (!slot.break_noticed || slot.break_told)) return;
    // Resumed meanwhile: bytes that arrived come first.
    if (!slot.paused && slot.connection->arrived(slot.side) > 0) return touch(link);
    (slot.paused ? slot.break_told : slot.gone) = true;
    check_lent(slot);
    slot.send = PendingSend{};  // nothing is borrowed from here on
  }
  network_.note(closed == Closed::input ? "on_closed input" : "on_closed link",
                slot.connection->number(), 0);
  sink_closed(link, closed);
}

void SimKernel::check_lent(const Slot& slot) const {
  if (!slot.send.lent) return;
  const std::string& copy = slot.send.copy;
  network_.require(copy_of(slot.send.parts, 0, copy.size()) == copy,
                   "bytes given to send() are immutable until on_sent()");
}

void SimKernel::take_lent(Link link, Slot& slot) {
  slot.send.queued = false;
  SimConnection& connection = *slot.connection;
  check_lent(slot);
  std::size_t count = std::min(room(slot), slot.send.copy.size());
  if (count == 0 || connection.broken(slot.side)) {
    touch(link);
    return;
  }
  if (network_.chance(network_.faults().short_send)) count = network_.random().between(1, count);
  connection.write(slot.side, copy_of(slot.send.parts, 0, count));
  network_.note("kernel takes", connection.number(), count);
  slot.send.taken = count;
  slot.send.queued = true;
  queue(Kind::sent, link, draw_lateness());
}

void SimKernel::deliver_sent(Link link, Slot& slot) {
  check_lent(slot);
  const std::size_t count = slot.send.taken;
  slot.send = PendingSend{};
  network_.note("on_sent", slot.connection->number(), count);
  sink_sent(link, count);
}

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
