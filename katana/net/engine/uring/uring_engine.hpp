// UringEngine: the engine contract on io_uring.
//
// Owns       the rings, listeners, the socket of every link, and copies of output.
// Thread     one: its reactor's; start() and listen() may be called by another before it.
// Allocates  at construction and in start(); later only for bytes that arrive late for a paused
//            link (Held), which is rare and bounded.
// Fails      start() and listen() return an Error; afterwards everything is an event.
// Invariant  a completion names its link with the generation that submitted it; a late one finds no
//            link in find() and has no effect.
//
// One system call in a turn. The reactor's calls in a turn are only noted: in slots, in staged
// output, in lists of changes. submit() turns the notes into entries. One io_uring_enter submits
// them, lets the kernel do its work, and waits.
//
// The other parts are its bases (uring_links.hpp lists them), and have their own essays: receiving,
// sending, closing, accepting.
//
// Failures, and the function that handles each:
//
//   no buffer (ENOBUFS), an early end of multishot, a cancellation   received()
//   a full completion queue: ends multishots, keeps the overflow     Ring::enter()
//   a full submission queue: the rest goes next turn                 submit()
//   EMFILE                                                           accepted()
//   connections that were accepted in spite of a pause               waiting_
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "katana/base/system/check.hpp"
#include "katana/base/system/hints.hpp"
#include "katana/base/system/result.hpp"
#include "katana/net/engine/clocks.hpp"
#include "katana/net/engine/engine.hpp"
#include "katana/net/engine/sockets.hpp"
#include "katana/net/engine/uring/features.hpp"
#include "katana/net/engine/uring/uring_accepting.hpp"
#include "katana/net/engine/uring/watches.hpp"

namespace katana::engine {

template <class S>
class UringEngine : public UringAccepting<S> {
  using Base = UringAccepting<S>;
  using Base::accepted, Base::admit_waiting, Base::can_admit, Base::cancels_, Base::clocks_,
      Base::closes_, Base::closing_at_, Base::cut_overdue, Base::deliver_held, Base::delivery_check,
      Base::find, Base::finish_listeners, Base::has_capacity, Base::held_max, Base::held_sum_,
      Base::hung_up, Base::leaving_, Base::listeners_, Base::listeners_closed_, Base::options_,
      Base::receive_, Base::received, Base::resumed_, Base::ring_, Base::sent, Base::sink_,
      Base::slots_, Base::staged_, Base::submit_output, Base::take_slot, Base::touched_,
      Base::update, Base::update_listeners, Base::uring_, Base::waiting_, Base::waits_for_blocks_;
  using Kind = UringKind;
  using Slot = UringSlot;
  using State = UringState;
  using ListenSocket = UringListener;
  using Waiting = UringWaiting;

 public:
  UringEngine(const Options& options, S& sink, const UringOptions& uring = {})
      : Base(options, sink, uring) {
    static_assert(Sink<S>);
  }

  ~UringEngine() {
    for (Slot& slot : slots_) close_descriptor(slot.fd);
    for (const ListenSocket& listener : listeners_) close_descriptor(listener.fd);
    for (const Waiting& each : waiting_) close_descriptor(each.fd);
    for (const int fd : closes_) close_descriptor(fd);
    close_descriptor(wake_);
  }

  // See engine.hpp.
  Result<void> start() {
    ignore_broken_pipes();
    const auto features = probe_uring();
    if (!features) return std::unexpected(features.error());
    uring_.incremental = uring_.incremental && features->incremental;
    if (!features->min_wait) uring_.batch = 1;
    uring_ = uring_.resolve(options_, features->incremental);
    if (auto started = ring_.start(uring_); !started) return started;
    if (auto started = receive_.start(ring_, uring_.receive_buffer_bytes, uring_.receive_buffers(),
                                      uring_.incremental);
        !started) {
      return started;
    }
    // Not O_NONBLOCK: on a ring it would mean to fail instead of to wait.
    wake_ = eventfd(0, EFD_CLOEXEC);
    if (wake_ < 0) return std::unexpected(system_error("create an eventfd", errno));
    return {};
  }

  // A poll reports when the other side has answered; nothing else is armed before.
  Result<Link> connect(const ConnectOptions& options) {
    if (slots_.is_full()) return std::unexpected(no_link_left(slots_.links_max()));
    auto opened = open_connection(options);
    if (!opened) return std::unexpected(opened.error());
    set_blocking(*opened, Blocking::yes);  // for the ring: to wait instead of to fail
    const Link link = take_slot(*opened);
    slots_[link].state = State::connecting;
    return link;
  }

  // No entry has been submitted for it yet.
  int detach(Link link) {
    Slot* const slot = find(link);
    KATANA_REQUIRE(slot != nullptr && !slot->receiving);
    const int fd = slot->fd;
    slots_.give(link, *slot);
    return fd;
  }
  Result<Link> adopt(int socket) {
    KATANA_REQUIRE(!slots_.is_full());
    return take_slot(socket);
  }
  void discard(int socket) {
    reset_on_close(socket);
    ::close(socket);
  }

  // See engine.hpp.
  Result<void> watch(int fd, Readiness wanted, Watcher& watcher) {
    return watches_.set(fd, wanted, watcher, cancels_);
  }
  void unwatch(int fd) { watches_.remove(fd, cancels_); }  // see engine.hpp

  // See engine.hpp; any thread.
  void wake() noexcept {
    const std::uint64_t one = 1;
    // Ignored: the only failure is an interruption, and then the counter is almost full.
    (void)!::write(wake_, &one, sizeof one);
  }

  // See engine.hpp; at most one io_uring_enter, unless the queue fills.
  void turn(Duration wait_max) {
    // No completion reports a closed socket, and a drain waits for it: see accepting().
    const bool last_closes = closing_at_ != never && !closes_.empty();
    const bool submitted = submit();
    const Duration wait_now = submitted && !last_closes ? wait(wait_max) : Duration{};
    ring_.enter({wait_now, uring_.batch, uring_.collect});
    clocks_ = read_clocks();
    sink_.on_turn(clocks_.now);
    admit_waiting();
    deliver_held();
    ring_.reap([this](const io_uring_cqe& completion) { dispatch(completion); });
    receive_.publish();
    if (leaving_ > 0) cut_overdue();
    if (closing_at_ != never && !listeners_closed_ && clocks_.now >= closing_at_)
      finish_listeners();
  }

  Instant now() const { return clocks_.now; }                       // monotonic time of the turn
  Instant read_clock() const noexcept { return read_monotonic(); }  // monotonic time of this moment
  std::int64_t wall_clock_s() const { return clocks_.wall_clock_s; }  // Unix time of the turn
  // The most memory that it can use.
  std::size_t memory_bytes() const { return reserved_bytes() + held_max(); }
  std::size_t memory_used() const { return reserved_bytes() + held_sum_; }  // in use at present

 private:
  std::size_t reserved_bytes() const {
    const UringOptions sizes = uring_;
    return ring_.memory_bytes() + receive_.memory_bytes() + sizes.outputs * sizes.output_bytes;
  }
  Duration wait(Duration wait_max) const {
    if (!resumed_.empty() || can_admit()) return Duration{};
    if (leaving_ > 0) wait_max = std::min(wait_max, delivery_check());
    if (closing_at_ != never && !listeners_closed_) {
      const Duration left = closing_at_ - clocks_.now;
      wait_max = std::min(wait_max, left.ns > 0 ? left : ListenSocket::accept_poll);
    }
    return wait_max;
  }

  // ---- from notes to entries -------------------------------------------------------------------

  // Submits the members of a list in their order. False: the queue is full; the list keeps the
  // members that were not submitted.
  template <class List, class Submit>
  static bool submit_each(List& list, Submit submit_one) {
    std::size_t count = 0;
    while (count < list.size() && submit_one(list[count])) ++count;
    const bool all = count == list.size();
    if (all) {
      list.clear();
    } else {
      list.erase(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(count));
    }
    return all;
  }

  // False: the kernel takes no more at present, and the rest waits for the next turn. Output comes
  // before the close of its socket; nothing else depends on the order.
  bool submit() {
    return (wake_armed_ || submit_wake()) &&
           submit_each(cancels_,
                       [this](std::uint64_t each) { return submit_cancel(ring_, each); }) &&
           submit_each(staged_, [this](std::uint32_t each) { return submit_output(each); }) &&
           submit_each(closes_, [this](int each) { return submit_close(ring_, each); }) &&
           submit_each(waits_for_blocks_, [this](Link each) { return update(each); }) &&
           submit_each(touched_, [this](Link each) { return update(each); }) &&
           watches_.submit(ring_) && update_listeners();
  }

  KATANA_RARE bool submit_wake() {
    wake_armed_ = submit_read(ring_, wake_, &wakes_, sizeof wakes_, tag(Kind::wake, 0, 0));
    return wake_armed_;
  }

  // ---- from completions to the sink ------------------------------------------------------------

  void dispatch(const io_uring_cqe& completion) {
    const auto kind = static_cast<Kind>(completion.user_data >> 56);
    const Link link{static_cast<std::uint32_t>(completion.user_data & 0xff'ffff),
                    static_cast<std::uint32_t>(completion.user_data >> 24)};
    switch (kind) {
      case Kind::receive: received(link, completion); break;
      case Kind::send: sent(link.index, completion.res); break;
      case Kind::accept: accepted(link.index, completion); break;
      case Kind::writable: has_capacity(link); break;
      case Kind::hangup: hung_up(link, completion); break;
      case Kind::watch: watches_.ready(link, completion.res); break;
      case Kind::wake: wake_armed_ = false; break;
      case Kind::ignored: break;
    }
  }

  int wake_ = -1;
  bool wake_armed_ = false;
  std::uint64_t wakes_ = 0;  // the kernel writes here while a read is armed
  UringWatches watches_;
};

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
