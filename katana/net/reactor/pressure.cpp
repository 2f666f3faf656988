// The measures of a reactor when its memory runs short. First all connections get less, then those
// that hold most give it back. Those that hold nothing go on.
//
//   output blocks free                     a connection is full when it has pending
//   half of all, or more                   more than outbox_high_bytes
//   from there down to the reserve         more than a share of it, down to one block
//   less than the reserve                  anything; with nothing pending it gets one block
//   less than half of the reserve          the same, and those that hold most are reset
//
//   held memory used                       what happens
//   half of the bound, or less             nothing
//   more                                   holders of more than a 1024th of the bound are not read;
//                                          one goes on until it is done, for shed_after at most
//   more than 7/8                          the largest holders are refused, down to 3/4
#include <algorithm>
#include <array>
#include <span>

#include "katana/net/reactor/reactor.hpp"

namespace katana::net {
namespace {

// A connection with its weight: the heaviest go first.
struct Candidate {
  Connection* connection;
  std::uint64_t weight;
};

// Keeps the heaviest of the connections that it is shown, in its own memory: under pressure it must
// not allocate.
class Heaviest {
 public:
  void show(Connection& connection, std::uint64_t weight) noexcept {
    if (weight == 0) return;
    if (size_ == kept_.size()) {
      if (weight <= kept_.front().weight) return;
      std::ranges::pop_heap(kept_, std::ranges::greater(), &Candidate::weight);
      --size_;
    }
    kept_[size_++] = {&connection, weight};
    std::ranges::push_heap(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(size_),
                           std::ranges::greater(), &Candidate::weight);
  }
  // The heaviest ones, in descending order.
  std::span<const Candidate> take() noexcept {
    const std::span<Candidate> shown(kept_.data(), size_);
    std::ranges::sort(shown, std::ranges::greater(), &Candidate::weight);
    return shown;
  }

 private:
  std::array<Candidate, 64> kept_;
  std::size_t size_ = 0;
};

}  // namespace

// ---- output blocks -----------------------------------------------------------------------------

std::size_t Reactor::scarce_mark() const noexcept {
  const std::size_t free = output_blocks_.available();
  const std::size_t reserve = options_.output_blocks_reserve;
  if (free < reserve) return 0;
  const std::size_t zone = output_blocks_scarce_ - reserve;
  const std::size_t high = options_.outbox_high_bytes;
  if (zone == 0) return high;
  return std::min(high,
                  std::max(options_.output_block_bytes,
                           high / zone * (free - reserve) + high % zone * (free - reserve) / zone));
}

std::size_t Connection::output_mark() const noexcept {
  if (!reactor_.output_scarce()) return reactor_.options_.outbox_high_bytes;
  const std::size_t mark = reactor_.scarce_mark();
  return mark != 0 || unsent() != 0 ? mark : outbox_.reserve_bytes_max();
}

std::size_t Connection::queue_mark(std::size_t most) const noexcept {
  if (!reactor_.output_scarce()) return most;
  return std::max(output_mark(), most / reactor_.options_.outbox_high_bytes * output_mark());
}

bool Connection::output_takes(std::size_t bytes) const noexcept {
  if (!reactor_.output_scarce()) return true;
  const std::size_t pending = unsent();
  const std::size_t per_block = outbox_.reserve_bytes_max();
  // A request for one block may be a head and a little of the body: it fits the next block, too.
  if (pending == 0 && bytes <= per_block) return true;
  if (pending + bytes <= reactor_.scarce_mark()) return true;
  // A single piece may be larger than the mark: its source determines its size.
  const std::size_t free = reactor_.output_blocks_.available();
  const std::size_t reserve = reactor_.options_.output_blocks_reserve;
  return pending == 0 && free > reserve && bytes / per_block + 1 < free - reserve;
}

bool Connection::pause_for_blocks(std::size_t bytes) noexcept {
  const bool reserved =
      reactor_.output_blocks_.available() < reactor_.options_.output_blocks_reserve;
  if (reserved) reactor_.relief_due_ = true;  // it may take a reserved block that has to come back
  if (output_takes(bytes)) return false;
  blocks_wanted_ = unsent() == 0;
  pause(reserved || blocks_wanted_ ? PauseReason::pool_low : PauseReason::outbox_full);
  return true;
}

bool Connection::regain_capacity() noexcept {
  bool gained = false;
  if (has(PauseReason::outbox_full)) {
    // While blocks are scarce the output may fit only an empty outbox: asking sooner would mean
    // asking in every turn.
    const bool low = reactor_.output_scarce()
                         ? unsent() == 0
                         : outbox_.pending() <= reactor_.options_.outbox_low_bytes;
    if (low) {
      resume(PauseReason::outbox_full);
      gained = true;
    }
  }
  if (has(PauseReason::pool_low) && !blocks_wanted_ && unsent() == 0) {
    resume(PauseReason::pool_low);
    gained = true;
  }
  return gained;
}

std::size_t Connection::blocks_held() const noexcept {
  return outbox_.blocks_held() + (transform_ != nullptr ? transform_->output().blocks_held() : 0) +
         session_->blocks_held();
}

void Connection::wait_for_blocks() noexcept {
  if (queued_at_ != nullptr) return;  // woken: it comes here again once it has been attended
  enqueue(reactor_.first_waiting_for_blocks_);
  queued_for_ = QueuedFor::blocks;
  ++reactor_.counters_.pool_pauses;
  reactor_.relief_due_ = true;
  if (!blocks_wanted_ || reactor_.shed_at_ != never) return;
  reactor_.shed_at_ = reactor_.now_ + reactor_.options_.shed_after;
  reactor_.timers_.arm(reactor_.shed_timer_, reactor_.shed_at_);
}

bool Reactor::has_waiters_for_blocks() const noexcept {
  for (const Connection* each = first_waiting_for_blocks_; each != nullptr;
       each = each->next_queued_) {
    if (each->blocks_wanted_) return true;
  }
  return false;
}

void Reactor::relieve_output() noexcept {
  const std::size_t reserve = options_.output_blocks_reserve;
  if (output_blocks_.available() < reserve / 2) shed_output(reserve);
  if (now_ >= shed_at_) {
    shed_at_ = never;
    if (has_waiters_for_blocks()) shed_output(2 * reserve);
  }
  // Twice the reserve: connections that go on then do not stop again at the next message.
  const bool enough = output_blocks_.available() >= 2 * reserve;
  while (Connection* const connection = enough ? first_waiting_for_blocks_ : nullptr) {
    connection->resume(PauseReason::pool_low);
    connection->blocks_wanted_ = false;
    connection->writable_due_ = true;
    connection->wake();
  }
  relief_due_ = first_waiting_for_blocks_ != nullptr;
  if (!relief_due_) {
    shed_at_ = never;
    shed_timer_.cancel();
  } else if (shed_at_ == never && has_waiters_for_blocks()) {
    shed_at_ = now_ + options_.shed_after;
    timers_.arm(shed_timer_, shed_at_);
  }
}

void Reactor::shed_output(std::size_t blocks_wanted) noexcept {
  while (output_blocks_.available() < blocks_wanted) {
    Heaviest heaviest;
    for (Connection* const each : links()) {
      if (each == nullptr || each->outgoing_) continue;
      // A client that takes bytes extends its deadline: the time left shows how little it took.
      const std::int64_t silent_ns =
          each->send_deadline_ == never
              ? 0
              : options_.send_timeout.ns - (each->send_deadline_ - now_).ns;
      const auto silent_ms =
          static_cast<std::uint64_t>(std::max<std::int64_t>(0, silent_ns)) / 1'000'000;
      heaviest.show(*each, each->blocks_held() * (1 + silent_ms));
    }
    const auto found = heaviest.take();
    if (found.empty()) return;
    for (const Candidate& each : found) {
      if (output_blocks_.available() >= blocks_wanted) return;
      ++counters_.output_shed;
      reset_link(*each.connection);
    }
  }
}

// ---- held memory -------------------------------------------------------------------------------

void Reactor::ease_memory(Connection& connection) noexcept {
  if (memory_.pressed()) relieve_memory();
  if (memory_.scarce()) slow_holder(connection);
}

// A burst of request bodies may fit one by one, but not together: one after another is completed,
// and none is refused. The request that sends at this moment goes on. No request waits longer than
// shed_after for another: otherwise an attacker could make others wait.
void Reactor::slow_holder(Connection& connection) noexcept {
  if (slowing_ == Slowing::given_up || connection.paused() || connection.finishing()) return;
  if (connection.session_->held_bytes() <= memory_.bytes_max() / 1024) return;
  if (slowing_ == Slowing::no) {
    slowing_ = Slowing::yes;
    preferred_ = &connection;
    slowing_end_ = now_ + options_.shed_after;
    timers_.arm(slowing_timer_, slowing_end_);
  } else if (preferred_ != &connection) {
    connection.pause(PauseReason::memory_low);
    ++counters_.memory_pauses;
  }
}

// Decides whether waiting connections go on: the first of them over the mark is then preferred.
void Reactor::review_slowing() noexcept {
  const bool enough = !memory_.scarce();
  if (slowing_ == Slowing::given_up) {
    if (enough) slowing_ = Slowing::no;
    return;
  }
  const bool done = preferred_ == nullptr || preferred_->session_->held_bytes() == 0;
  const bool late = now_ >= slowing_end_;
  if (!enough && !done && !late) return;
  slowing_ = !enough && !done ? Slowing::given_up : Slowing::no;
  preferred_ = nullptr;
  slowing_timer_.cancel();
  for (Connection* const each : links()) {
    if (each == nullptr || !each->has(PauseReason::memory_low)) continue;
    each->resume(PauseReason::memory_low);
    each->wake();
  }
}

void Reactor::relieve_memory() noexcept {
  if (relief_failed_in_ == counters_.turns) return;
  std::size_t going = 0;  // freed once the connections that were told are attended
  while (memory_.used() > memory_.low() + going) {
    Heaviest heaviest;
    for (Connection* const each : links()) {
      if (each == nullptr || each->finishing()) continue;
      heaviest.show(*each, each->session_->held_bytes());
    }
    const std::size_t before = memory_.used() - std::min(going, memory_.used());
    for (const Candidate& each : heaviest.take()) {
      if (memory_.used() <= memory_.low() + going) break;
      ++counters_.memory_shed;
      going += each.connection->session_->on_memory_scarce();
      each.connection->wake();
    }
    if (memory_.used() >= before + going) {  // the rest cannot be given up
      relief_failed_in_ = counters_.turns;
      break;
    }
  }
  memory_.relieved();
}

// ---- reports -----------------------------------------------------------------------------------

PauseCounts Reactor::paused_links() const noexcept {
  PauseCounts counts;
  std::uint32_t left = links_open_;  // links() has an entry for every possible link
  for (const Connection* const connection : links()) {
    if (left == 0) break;
    if (connection == nullptr) continue;
    --left;
    counts.add(*connection);
  }
  return counts;
}

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
