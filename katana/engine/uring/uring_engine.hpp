// UringEngine: the engine contract on io_uring.
//
// Owns       the rings, listeners, the socket of every link, and copies of what is being sent.
// Thread     one: its reactor's; start() and listen() may be called by another before it.
// Allocates  at construction and in start(); later only for what a paused link's receive brings
//            late (Held), which is rare and bounded.
// Fails      start() and listen() return an Error; afterwards everything is an event.
// Invariant  a completion names its link with the generation that submitted it, so one that comes
//            late finds no link in find() and dies there.
//
// One system call in a turn. What the core says in a turn is only noted: in slots, in staged
// output, in lists of what changed. submit() turns the notes into entries, and one io_uring_enter
// submits them, lets the kernel do its work, and waits.
//
// Receiving. A link's first receive is single, because a connection with one request ends before a
// second; from then on one multishot receive stays armed. Neither has a buffer until bytes are
// there: the kernel takes one of the ReceiveRing, and the core parses in it. A pause tells the
// kernel nothing. Only if bytes come nevertheless they are held (copied, so that no link keeps a
// buffer of the ring), and the receive is cancelled; a link that pauses goes on with single
// receives until a delivery leaves it unpaused. What is held is bounded by what the kernel receives
// within a turn: the ReceiveRing. A paused link without a receive has a poll for its reset.
//
// Sending. The kernel never sees memory of the core after the call: short output is copied into a
// block of Outputs, is `completed` for the core, and goes with the turn's submission, several
// replies of a link in one entry. Longer output is sent by sendmsg at once, where a copy would cost
// more than the call, and waits for room by a poll. So close() has no output to take back, the core
// may release its blocks right after it, and nothing has to be cancelled synchronously.
//
// Closing. Output that is staged or under way is delivered first, in two ways that need no link
// between the entries: entries are executed in order, and a send under way has its own reference of
// the socket, whose last one ends the connection. A peer that does not read holds its block for
// `delivery_grace` at most; accepting() stays true so long, so that a drain waits. reset() drops or
// cancels instead.
//
// What may go wrong, and where: no buffer (ENOBUFS), an early end of multishot and a cancellation
// in received(); a full completion queue, which ends multishots and keeps what does not fit, in
// Ring::enter(); a full submission queue in submit(), which goes on next turn; EMFILE in
// accepted(); connections that were accepted in spite of a pause in waiting_.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/check.hpp"
#include "katana/base/hints.hpp"
#include "katana/engine/clocks.hpp"
#include "katana/engine/engine.hpp"
#include "katana/engine/sockets.hpp"
#include "katana/engine/uring/entries.hpp"
#include "katana/engine/uring/features.hpp"
#include "katana/engine/uring/options.hpp"
#include "katana/engine/uring/outputs.hpp"
#include "katana/engine/uring/receive_ring.hpp"
#include "katana/engine/uring/ring.hpp"
#include "katana/engine/uring/state.hpp"
#include "katana/engine/uring/watches.hpp"

namespace katana::engine {

template <class S>
class UringEngine {
 public:
  UringEngine(const Options& options, S& sink, const UringOptions& uring = {})
      : sink_(sink),
        options_(options),
        uring_(uring.resolve(options, true)),
        outputs_(uring_.outputs, uring_.output_bytes),
        slots_(options.links_max),
        free_count_(options.links_max) {
    static_assert(Sink<S>);
    for (std::uint32_t index = 0; index < options.links_max; ++index) {
      slots_[index].next_free = index + 1;
    }
    clocks_ = read_clocks();
  }

  ~UringEngine() {
    for (Slot& slot : slots_) close_descriptor(slot.fd);
    for (const ListenSocket& listener : listeners_) close_descriptor(listener.fd);
    for (const Waiting& each : waiting_) close_descriptor(each.fd);
    for (const int fd : closes_) close_descriptor(fd);
    close_descriptor(wake_);
  }
  UringEngine(const UringEngine&) = delete;
  UringEngine& operator=(const UringEngine&) = delete;

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
    // Not O_NONBLOCK: for the ring that would mean to fail instead of to wait.
    wake_ = eventfd(0, EFD_CLOEXEC);
    if (wake_ < 0) return std::unexpected(system_error("create an eventfd", errno));
    return {};
  }

  Result<Listener> listen(const ListenOptions& options) {
    auto opened = open_listener(options);
    if (!opened) return std::unexpected(opened.error());
    listeners_.push_back({*opened, options.peer_speaks_first, options.socket >= 0});
    return static_cast<Listener>(listeners_.size() - 1);
  }

  std::uint16_t port(Listener listener) const { return port_of(socket(listener)); }
  int socket(Listener listener) const { return listeners_[listener].fd; }

  // A poll says when the peer has answered; nothing else is armed before.
  Result<Link> connect(const ConnectOptions& options) {
    if (free_count_ == 0) return std::unexpected(no_link_left(slots_.size()));
    auto opened = open_connection(options);
    if (!opened) return std::unexpected(opened.error());
    set_blocking(*opened, Blocking::yes);  // for the ring: to wait instead of to fail
    const Link link = take_slot(*opened);
    slots_[link.index].state = State::connecting;
    return link;
  }
  int failure(Link link) {
    const Slot* const slot = find(link);
    return slot != nullptr ? slot->failure : 0;
  }

  void pause_accept() { accept_paused_ = true; }
  void resume_accept() { accept_paused_ = false; }

  void close_listeners() {
    if (closing_at_ != never) return;
    for (const ListenSocket& listener : listeners_) {
      if (!listener.shared) refuse_new_handshakes(listener.fd);
    }
    closing_at_ = clocks_.now + ListenSocket::handshake_grace;
    accept_paused_ = false;
  }
  bool accepting() const { return !listeners_closed_ || leaving_ > 0 || !closes_.empty(); }

  Sent send(Link link, std::span<const iovec> gathered, std::size_t& accepted) {
    accepted = 0;
    Slot* const slot = find(link);
    if (slot == nullptr || slot->state != State::open) return send_nothing(slot);
    const std::size_t wanted = bytes_in(gathered);
    if (slot->output == Outputs::none) {
      if (wanted <= outputs_.block_bytes()) slot->output = outputs_.take(link, slot->fd);
      if (slot->output == Outputs::none) {
        return send_directly(link, *slot, gathered, wanted, accepted);
      }
      staged_.push_back(slot->output);
    } else if (outputs_[slot->output].state != Output::State::staged) {
      slot->send_wanted = true;
      return Sent::pending;
    } else if (!outputs_.has_capacity(slot->output, wanted)) {
      return send_behind_staged(link, *slot, gathered, wanted, accepted);
    }
    outputs_.append(slot->output, gathered);
    ++counters_.sends_staged;
    accepted = wanted;
    return Sent::completed;
  }

  // By system calls of its own: an entry that splices would wait for a thread of the kernel.
  Sent send_file(Link link, std::span<const iovec> before, const FilePart& part,
                 std::size_t& accepted) {
    accepted = 0;
    Slot* const slot = find(link);
    if (slot == nullptr || slot->state != State::open) return send_nothing(slot);
    if (slot->output != Outputs::none) {  // what was sent before goes first
      slot->send_wanted = true;
      return Sent::pending;
    }
    const FileSent sent = send_file_now(slot->fd, before, part, Blocking::yes);
    ++counters_.sends_direct;
    if (sent.failed) return Sent::failed;
    accepted = sent.accepted;
    if (!sent.full) return Sent::completed;
    slot->send_wanted = true;
    touch(link, *slot);
    return Sent::pending;
  }

  void pause_receive(Link link) {
    if (Slot* const slot = find(link)) slot->paused = slot->singly = true;
  }

  void resume_receive(Link link) {
    Slot* const slot = find(link);
    if (slot == nullptr || !slot->paused) return;
    slot->paused = false;
    if (slot->held != nullptr) {
      resumed_.push_back(link);
    } else {
      touch(link, *slot);
    }
  }

  void shutdown_send(Link link) {
    Slot* const slot = find(link);
    if (slot == nullptr) return;
    if (slot->output != Outputs::none) {
      slot->shutdown_wanted = true;
    } else {
      ::shutdown(slot->fd, SHUT_WR);
    }
  }

  void close(Link link) {
    Slot* const slot = find(link);
    if (slot == nullptr) return;
    if (slot->output != Outputs::none) {
      Output& output = outputs_[slot->output];
      output.abandoned = true;
      output.abandoned_at = clocks_.now;
      ++leaving_;
    }
    release(link, *slot);
  }

  void reset(Link link) {
    Slot* const slot = find(link);
    if (slot == nullptr) return;
    reset_on_close(slot->fd);
    if (slot->output != Outputs::none) {
      outputs_[slot->output].dropped = true;
      if (outputs_[slot->output].state == Output::State::under_way) {
        cancels_.push_back(tag(Kind::send, slot->output, 0));
      }
    }
    release(link, *slot);
  }

  Result<void> watch(int fd, Watcher& watcher) { return watches_.add(fd, watcher); }
  void unwatch(int fd) { watches_.remove(fd, cancels_); }

  void wake() noexcept {
    const std::uint64_t one = 1;
    // Ignored: the only failure is an interruption, and then the counter is about to be full.
    (void)!::write(wake_, &one, sizeof one);
  }

  void turn(Duration wait_max) {
    // Nothing reports that a socket was closed, and a drain waits for it: see accepting().
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

  Instant now() const { return clocks_.now; }
  Instant read_clock() const noexcept { return read_monotonic(); }
  std::int64_t wall_clock_s() const { return clocks_.wall_clock_s; }
  std::size_t memory_bytes() const {
    const UringOptions sizes = uring_;
    return ring_.memory_bytes() + receive_.memory_bytes() + sizes.outputs * sizes.output_bytes;
  }

  // ---- for tests -----------------------------------------------------------------------------

  const UringCounters& counters() const noexcept { return counters_; }
  std::size_t outputs_under_way() const noexcept { return outputs_.count() - outputs_.available(); }

 private:
  using Kind = UringKind;
  using Held = UringHeld;
  using Slot = UringSlot;
  using State = UringState;
  using ListenSocket = UringListener;
  using Waiting = UringWaiting;

  Slot* find(Link link) {
    Slot& slot = slots_[link.index];
    return slot.generation == link.generation && slot.fd >= 0 ? &slot : nullptr;
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

  // update() looks at the link before the next submission.
  void touch(Link link, Slot& slot) {
    if (slot.touched) return;
    slot.touched = true;
    touched_.push_back(link);
  }

  // A list in the order in which its members are to be submitted. False: the queue is full; what
  // was not submitted is left.
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

  bool submit_output(std::uint32_t index) {
    Output& output = outputs_[index];
    if (output.dropped) {
      outputs_.give(index);
      return true;
    }
    const Bytes bytes(outputs_.bytes(index) + output.begin, output.end - output.begin);
    if (!submit_send(ring_, output.fd, bytes, tag(Kind::send, index, 0))) return false;
    output.state = Output::State::under_way;
    return true;
  }

  // Arms what the link's state asks for and is not armed.
  bool update(Link link) {
    Slot* const slot = find(link);
    if (slot == nullptr) return true;
    if (slot->state == State::broken) {
      slot->touched = false;
      return true;
    }
    const bool connecting = slot->state == State::connecting;
    const bool wants_writable = connecting || (slot->send_wanted && slot->output == Outputs::none);
    if (wants_writable && !slot->writable_watched) {
      if (!submit_poll(ring_, slot->fd, POLLOUT, tag(Kind::writable, link))) return false;
      slot->writable_watched = true;
    }
    if (!slot->receiving && !connecting) {
      if (slot->paused || slot->held != nullptr || slot->input_ended) {
        if (!slot->hangup_watched) {
          if (!submit_poll(ring_, slot->fd, 0, tag(Kind::hangup, link))) return false;
          slot->hangup_watched = true;
        }
      } else {
        if (!submit_receive(ring_, slot->fd, !slot->singly, tag(Kind::receive, link))) return false;
        slot->receiving = true;
        slot->fed = false;
      }
    }
    slot->touched = false;
    return true;
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
      case Kind::hangup: hung_up(link, completion.res); break;
      case Kind::watch: watches_.ready(link, completion.res); break;
      case Kind::wake: wake_armed_ = false; break;
      case Kind::ignored: break;
    }
  }

  void received(Link link, const io_uring_cqe& completion) {
    const int result = completion.res;
    Bytes bytes;
    // Whoever it was for: the buffer's place depends on every completion.
    if ((completion.flags & IORING_CQE_F_BUFFER) != 0) bytes = receive_.claim(completion);
    Slot* const slot = find(link);
    if (slot == nullptr) {
      ++counters_.late_completions;
      return;
    }
    if ((completion.flags & IORING_CQE_F_MORE) == 0) {
      slot->receiving = slot->cancelling = false;
      counters_.multishot_ends += result > 0 && !slot->singly ? 1 : 0;
      // Who found no buffer at all is the first to be armed again, so that buffers go round.
      if (result == -ENOBUFS && !slot->fed && !slot->touched) {
        slot->touched = true;
        waits_for_blocks_.push_back(link);
      } else {
        touch(link, *slot);
      }
    }
    if (result > 0) [[likely]] {
      slot->fed = true;
      deliver(link, *slot, bytes);
    } else if (result == 0) {
      end_input(link, *slot);
    } else if (result == -ENOBUFS) {
      ++counters_.no_buffer;  // armed again before the next wait; by then buffers are free
    } else if (result != -ECANCELED && result != -EINTR && result != -EAGAIN) {
      break_link(link, *slot, -result);
    }
  }

  void deliver(Link link, Slot& slot, Bytes bytes) {
    if (slot.paused || slot.held != nullptr) {
      hold(link, slot, bytes);
      return;
    }
    sink_.on_bytes(link, bytes);
    if (Slot* const after = find(link); after != nullptr && !after->paused) after->singly = false;
  }

  KATANA_RARE void hold(Link link, Slot& slot, Bytes bytes) {
    if (slot.held == nullptr) slot.held = std::make_unique<Held>();
    slot.held->bytes.append(bytes);
    counters_.held_bytes += bytes.size();
    if (slot.receiving && !slot.cancelling) {
      slot.cancelling = true;
      cancels_.push_back(tag(Kind::receive, link));
    }
  }

  KATANA_RARE void end_input(Link link, Slot& slot) {
    if (slot.paused || slot.held != nullptr) {
      hold(link, slot, {});
      slot.held->ended = true;
      return;
    }
    slot.input_ended = true;
    sink_.on_closed(link, Closed::input);
  }

  KATANA_RARE void break_link(Link link, Slot& slot, int failure) {
    if (slot.state == State::broken) return;
    slot.state = State::broken;
    slot.failure = static_cast<std::uint16_t>(failure);
    sink_.on_closed(link, Closed::link);
  }

  // Links that were resumed before this turn, in turn with everybody else.
  void deliver_held() {
    if (resumed_.empty()) [[likely]]
      return;
    std::vector<Link> links = std::exchange(resumed_, {});
    for (const Link link : links) deliver_held(link);
  }

  KATANA_RARE void deliver_held(Link link) {
    Slot* slot = find(link);
    std::size_t budget = Held::per_turn_max;
    while (slot != nullptr && slot->held != nullptr && !slot->paused &&
           slot->state != State::broken) {
      // Ours for the call, in which the link may be closed.
      std::unique_ptr<Held> held = std::move(slot->held);
      const Bytes left = Bytes(held->bytes).substr(held->begin);
      const Bytes bytes = left.substr(0, uring_.receive_buffer_bytes);
      if (!bytes.empty()) {
        held->begin += bytes.size();
        sink_.on_bytes(link, bytes);
      } else {
        slot->input_ended = true;
        sink_.on_closed(link, Closed::input);
      }
      slot = find(link);
      if (slot == nullptr || slot->input_ended) return;
      if (held->begin < held->bytes.size() || held->ended) {
        slot->held = std::move(held);
        if (slot->paused) return;
        budget -= std::min(budget, bytes.size());
        if (budget == 0) {
          resumed_.push_back(link);
          return;
        }
      } else {
        if (!slot->paused) slot->singly = false;
        touch(link, *slot);
      }
    }
  }

  void sent(std::uint32_t index, int result) {
    Output& output = outputs_[index];
    const Link link = output.link;
    if (output.abandoned) --leaving_;
    Slot* const slot = output.abandoned || output.dropped ? nullptr : find(link);
    if (slot == nullptr) {
      outputs_.give(index);
      ++counters_.late_completions;
      return;
    }
    const bool retry = result == -EINTR || result == -EAGAIN || result == -ENOBUFS;
    if (retry || (result > 0 && output.begin + static_cast<std::uint32_t>(result) < output.end)) {
      output.begin += retry ? 0 : static_cast<std::uint32_t>(result);
      output.state = Output::State::staged;
      staged_.push_back(index);
      return;
    }
    outputs_.give(index);
    slot->output = Outputs::none;
    if (result <= 0) {
      break_link(link, *slot, -result);
      return;
    }
    if ((slot->shutdown_wanted | slot->send_wanted) != 0) after_output(link, *slot);
  }

  KATANA_RARE void after_output(Link link, Slot& slot) {
    if (slot.shutdown_wanted) ::shutdown(slot.fd, SHUT_WR);
    slot.shutdown_wanted = false;
    if (!std::exchange(slot.send_wanted, false)) return;
    sink_.on_sent(link, 0);
  }

  KATANA_RARE void has_capacity(Link link) {
    Slot* const slot = find(link);
    if (slot == nullptr) return;
    slot->writable_watched = false;
    if (slot->state == State::connecting && !answered(link, *slot)) return;
    if (!std::exchange(slot->send_wanted, false)) return;
    sink_.on_sent(link, 0);
  }

  // The peer of a connecting link has. False: with a refusal.
  KATANA_RARE bool answered(Link link, Slot& slot) {
    if (const int failure = take_socket_error(slot.fd); failure != 0) {
      break_link(link, slot, failure);
      return false;
    }
    slot.state = State::open;
    touch(link, slot);
    return true;
  }

  // On a link that is gone or broken, or whose peer has yet to answer.
  KATANA_RARE static Sent send_nothing(Slot* slot) {
    if (slot == nullptr || slot->state == State::broken) return Sent::failed;
    slot->send_wanted = true;
    return Sent::pending;
  }

  KATANA_RARE void hung_up(Link link, int result) {
    Slot* const slot = find(link);
    if (slot == nullptr) return;
    // Both sides have ended, which is no error: nothing else can be told by this poll.
    if (result > 0 && (result & POLLERR) == 0) return;
    slot->hangup_watched = false;
    if (result > 0) break_link(link, *slot, take_socket_error(slot->fd));
  }

  // More than a copy is worth, or no block left for one.
  Sent send_directly(Link link, Slot& slot, std::span<const iovec> gathered, std::size_t wanted,
                     std::size_t& accepted) {
    if (!send_some(slot, gathered, 0, accepted, counters_)) return Sent::failed;
    if (accepted == wanted) return Sent::completed;
    slot.send_wanted = true;
    touch(link, slot);
    return Sent::pending;
  }

  // What is staged goes first. Who has more to send than a block holds would get rid of one block
  // in each turn otherwise.
  KATANA_RARE Sent send_behind_staged(Link link, Slot& slot, std::span<const iovec> gathered,
                                      std::size_t wanted, std::size_t& accepted) {
    Output& output = outputs_[slot.output];
    const iovec staged{outputs_.bytes(slot.output) + output.begin, output.end - output.begin};
    std::size_t sent = 0;
    if (!send_some(slot, {&staged, 1}, MSG_MORE, sent, counters_)) return Sent::failed;
    output.begin += static_cast<std::uint32_t>(sent);
    if (output.begin < output.end) {
      slot.send_wanted = true;
      return Sent::pending;
    }
    const auto at = std::find(staged_.rbegin(), staged_.rend(), slot.output);  // one of the last
    staged_.erase(std::next(at).base());
    outputs_.give(std::exchange(slot.output, Outputs::none));
    return send_directly(link, slot, gathered, wanted, accepted);
  }

  // ---- links -----------------------------------------------------------------------------------

  void release(Link link, Slot& slot) {
    if (slot.receiving && !slot.cancelling) cancels_.push_back(tag(Kind::receive, link));
    if (slot.hangup_watched) cancels_.push_back(tag(Kind::hangup, link));
    if (slot.writable_watched) cancels_.push_back(tag(Kind::writable, link));
    closes_.push_back(slot.fd);
    const std::uint32_t generation = slot.generation + 1;
    slot = Slot{};
    slot.generation = generation == 0 ? 1 : generation;
    slot.next_free = first_free_;
    first_free_ = link.index;
    ++free_count_;
  }

  Link take_slot(int fd) {
    const std::uint32_t index = first_free_;
    Slot& slot = slots_[index];
    first_free_ = slot.next_free;
    --free_count_;
    slot.fd = fd;
    const Link link{index, slot.generation};
    touch(link, slot);
    return link;
  }

  void add_link(int fd, Listener listener, const PeerEndpoint& peer) {
    const Link link = take_slot(fd);
    slots_[link.index].singly =
        uring_.rules.first_receive_single && listeners_[listener].peer_speaks_first;
    if (!sink_.on_accepted(link, listener, peer)) close(link);
  }

  Duration delivery_check() const {
    return std::min(Output::delivery_check_max, uring_.delivery_grace);
  }

  // Blocks of closed links whose peers do not read.
  KATANA_RARE void cut_overdue() {
    if (clocks_.now < next_delivery_check_) return;
    next_delivery_check_ = clocks_.now + delivery_check();
    for (std::uint32_t index = 0; index < outputs_.count(); ++index) {
      Output& output = outputs_[index];
      if (output.state != Output::State::under_way || !output.abandoned) continue;
      if (clocks_.now - output.abandoned_at < uring_.delivery_grace) continue;
      ++counters_.sends_cut;
      cancels_.push_back(tag(Kind::send, index, 0));
    }
  }

  // ---- accepting -------------------------------------------------------------------------------

  bool finishing() const { return closing_at_ != never && clocks_.now >= closing_at_; }
  bool can_admit() const { return !waiting_.empty() && !accept_paused_ && free_count_ > 0; }
  bool wants_accept(const ListenSocket& listener) const {
    // What waits in the queue of a shared one is for its next owner.
    const bool ours = !listener.shared || closing_at_ == never;
    return listener.fd >= 0 && ours && !accept_paused_ && free_count_ > 0 && waiting_.empty() &&
           !finishing();
  }

  bool update_listeners() {
    for (std::uint32_t index = 0; index < listeners_.size(); ++index) {
      ListenSocket& listener = listeners_[index];
      const bool few = free_count_ <= uring_.rules.multishot_slots_min;
      const bool wants = wants_accept(listener);
      if (!listener.armed) {
        if (!wants) continue;
        if (!submit_accept(ring_, listener.fd, !few, tag(Kind::accept, index, 0))) return false;
        listener.armed = true;
        listener.multishot = !few;
      } else if ((!wants || (few && listener.multishot)) && !listener.cancelling) {
        if (!submit_cancel(ring_, tag(Kind::accept, index, 0))) return false;
        listener.cancelling = true;
      }
    }
    return true;
  }

  void accepted(std::uint32_t index, const io_uring_cqe& completion) {
    ListenSocket& listener = listeners_[index];
    if ((completion.flags & IORING_CQE_F_MORE) == 0) listener.armed = listener.cancelling = false;
    if (completion.res < 0) return survive_accept_error(-completion.res);
    // A multishot accept has one place for the addresses of all that it brings, so each is asked
    // for: the one system call of an accepted connection (decision 0073). Now, not when somebody
    // wants to know: a peer that resets the connection takes its address along.
    const PeerEndpoint peer = peer_of(completion.res);
    if (accept_paused_ || free_count_ == 0 || !waiting_.empty()) {
      waiting_.push_back({completion.res, index, peer});
    } else {
      add_link(completion.res, index, peer);
    }
  }

  // Anything else: the connection failed before it was accepted (accept(2), "Error handling").
  KATANA_RARE void survive_accept_error(int error_number) {
    const bool descriptors = error_number == EMFILE || error_number == ENFILE;
    if (!descriptors && error_number != ENOBUFS && error_number != ENOMEM) return;
    if (accept_paused_) return;
    pause_accept();
    sink_.on_accept_failed(descriptors ? AcceptFailure::descriptors : AcceptFailure::memory);
  }

  // Connections that the kernel had accepted when we no longer wanted them come first.
  void admit_waiting() {
    while (can_admit()) [[unlikely]] {
      const Waiting each = waiting_.front();
      waiting_.pop_front();
      add_link(each.fd, each.listener, each.peer);
    }
  }

  // The grace is over: a listener closes as soon as everything in its queue is accepted.
  KATANA_RARE void finish_listeners() {
    listeners_closed_ = waiting_.empty();
    for (std::uint32_t index = 0; index < listeners_.size(); ++index) {
      ListenSocket& listener = listeners_[index];
      if (listener.fd < 0) continue;
      if (listener.armed || (!listener.shared && !accept_rest(index))) {
        listeners_closed_ = false;
        continue;
      }
      ::close(listener.fd);
      listener.fd = -1;
    }
  }

  // True: the kernel's queue is empty. Listeners do not block.
  bool accept_rest(std::uint32_t index) {
    while (!accept_paused_ && free_count_ > 0 && waiting_.empty()) {
      AcceptedPeer peer;
      const int fd = accept4(listeners_[index].fd, peer.address(), peer.size(), SOCK_CLOEXEC);
      if (fd >= 0) {
        add_link(fd, index, peer.endpoint(fd));
      } else if (errno == EAGAIN) {
        return true;
      } else {
        survive_accept_error(errno);
      }
    }
    return false;
  }

  S& sink_;
  Options options_;
  UringOptions uring_;
  Outputs outputs_;
  ReceiveRing receive_;
  Ring ring_;  // destroyed before the memory that it uses
  int wake_ = -1;
  bool wake_armed_ = false;
  std::uint64_t wakes_ = 0;  // the kernel writes here while a read is armed
  Clocks clocks_;
  UringCounters counters_;

  std::vector<Slot> slots_;
  std::uint32_t first_free_ = 0;
  std::uint32_t free_count_;
  std::vector<Link> resumed_;  // with bytes held

  // Notes for submit().
  std::vector<std::uint64_t> cancels_;
  std::vector<std::uint32_t> staged_;
  std::vector<int> closes_;
  std::vector<Link> waits_for_blocks_;
  std::vector<Link> touched_;

  std::uint32_t leaving_ = 0;  // outputs of closed links
  Instant next_delivery_check_{};

  std::vector<ListenSocket> listeners_;
  std::deque<Waiting> waiting_;
  bool accept_paused_ = false;
  bool listeners_closed_ = false;
  Instant closing_at_ = never;

  UringWatches watches_;
};

}  // namespace katana::engine
