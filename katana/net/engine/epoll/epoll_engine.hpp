// EpollEngine: the engine contract on epoll, edge- or level-triggered.
//
// Owns       the epoll descriptor, listeners, and the socket of every link.
// Thread     one: its reactor's.
// Allocates  at construction only: one receive buffer and room for links_max slots.
// Fails      start() and listen() return an Error; afterwards everything is an event.
// Invariant  a link in use has generation == the one in its Link; events of older generations
//            are ignored.
//
// Both forms share this file. Edge-triggered must remember the input that it did not read
// (`unread`). Level-triggered must remove interest in events that it does not want. Each `if
// constexpr (trigger == …)` below marks such a difference.
//
// System calls of a request on a kept connection: recv and send, and a share of epoll_wait. A recv
// that fills less than the buffer has drained the socket: there is no second recv to see EAGAIN.
// System calls of a connection with one request: accept4, recv, send, close. Options are inherited
// from the listener. The first recv comes before EPOLL_CTL_ADD: a link that is closed by then never
// needs it. A close() takes a descriptor out of the set: there is no EPOLL_CTL_DEL.
#pragma once

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <memory>
#include <vector>

#include "katana/base/memory/poison.hpp"
#include "katana/base/system/check.hpp"
#include "katana/base/system/hints.hpp"
#include "katana/net/engine/clocks.hpp"
#include "katana/net/engine/engine.hpp"
#include "katana/net/engine/epoll/rules.hpp"
#include "katana/net/engine/epoll/watches.hpp"
#include "katana/net/engine/slot_table.hpp"
#include "katana/net/engine/sockets.hpp"
#include "katana/net/engine/system_calls.hpp"

namespace katana::engine {

// When epoll reports a link.
enum class Trigger : std::uint8_t {
  edge,   // EPOLLET: once per arrival; the engine remembers unread input
  level,  // in each turn while input is there; a pause removes the interest
};

template <Trigger trigger, class S, class Rules = Decided>
class EpollEngine {
 public:
  EpollEngine(const Options& options, S& sink, const Rules& rules = {})
      : sink_(sink),
        rules_(rules),
        receive_bytes_max_(static_cast<std::uint32_t>(options.receive_bytes_max)),
        receive_buffer_(std::make_unique_for_overwrite<char[]>(options.receive_bytes_max)),
        slots_(options.links_max) {
    // Not on the parameter: a sink owns its engine, and is incomplete there.
    static_assert(Sink<S>);
    KATANA_REQUIRE(options.receive_bytes_max <= UINT32_MAX);
    unread_links_.reserve(options.links_max);
    clocks_ = read_clocks();
  }

  ~EpollEngine() {
    for (Slot& slot : slots_) {
      if (slot.fd >= 0) ::close(slot.fd);
    }
    close_left();
    for (const ListenSocket& listener : listeners_) {
      if (listener.fd >= 0) ::close(listener.fd);
    }
    if (wake_ >= 0) ::close(wake_);
    if (epoll_ >= 0) ::close(epoll_);
  }
  EpollEngine(const EpollEngine&) = delete;
  EpollEngine& operator=(const EpollEngine&) = delete;

  // Makes the epoll instance and the eventfd of wake(); SIGPIPE is ignored from here on.
  Result<void> start() {
    ignore_broken_pipes();
    epoll_ = epoll_create1(EPOLL_CLOEXEC);
    if (epoll_ < 0) return std::unexpected(system_error("create an epoll instance", errno));
    find_precision();
    wake_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (wake_ < 0) return std::unexpected(system_error("create an eventfd", errno));
    if (!control(EPOLL_CTL_ADD, wake_, EPOLLIN, special(wake_kind, 0))) {
      return std::unexpected(system_error("watch an eventfd", errno));
    }
    return {};
  }

  // An Error: the socket cannot be opened, bound or watched; earlier listeners stay.
  Result<Listener> listen(const ListenOptions& options) {
    auto opened = open_listener(options);
    if (!opened) return std::unexpected(opened.error());
    const auto listener = static_cast<Listener>(listeners_.size());
    if (!control(EPOLL_CTL_ADD, *opened, EPOLLIN, special(listener_kind, listener))) {
      const Error error = system_error("watch a listener", errno);
      ::close(*opened);
      return std::unexpected(error);
    }
    if (!rules_.deferred_accept) accept_at_handshake(*opened);
    listeners_.push_back(
        {*opened, options.peer_speaks_first, options.socket >= 0 && !options.drain_socket});
    return listener;
  }

  // The port that the kernel reports. REQUIRES a result of listen().
  std::uint16_t port(Listener listener) const { return port_of(socket(listener)); }
  // -1: it is closed. REQUIRES a result of listen().
  int socket(Listener listener) const { return listeners_[listener].fd; }

  // A connecting socket takes no bytes, like one whose other side does not read.
  Result<Link> connect(const ConnectOptions& options) {
    if (slots_.is_full()) return std::unexpected(no_link_left(slots_.links_max()));
    auto opened = open_connection(options);
    if (!opened) return std::unexpected(opened.error());
    return add_watched(*opened);
  }

  // Costs no system call: epoll does not know the socket yet.
  int detach(Link link) {
    Slot* const slot = find(link);
    KATANA_REQUIRE(slot != nullptr && !slot->in_set);
    const int fd = slot->fd;
    free_slot(link, *slot);
    return fd;
  }
  // The next turn() reports input that is already there.
  Result<Link> adopt(int socket) {
    KATANA_REQUIRE(!slots_.is_full());
    if (!rules_.inherited_options) set_stream_options(socket);
    return add_watched(socket);
  }
  // Resets by SO_LINGER of zero.
  void discard(int socket) {
    reset_on_close(socket);
    ::close(socket);
  }
  int failure(Link link) {
    Slot* const slot = find(link);
    if (slot == nullptr) return 0;
    if (slot->failure == 0) slot->failure = static_cast<std::uint16_t>(take_socket_error(slot->fd));
    return slot->failure;
  }

  // Removes the listeners' interest; connections wait in their queues.
  void pause_accept() { set_accept_paused(true); }
  // While the table of links is full this takes effect with the next close().
  void resume_accept() { set_accept_paused(false); }

  // The listeners close handshake_grace later, in a turn(). A listener shared with another process
  // is left to it at once.
  void close_listeners() {
    if (closing_at_ != never) return;
    for (ListenSocket& listener : listeners_) {
      if (listener.shared) {
        leave(listener);
      } else {
        refuse_new_handshakes(listener.fd);
      }
    }
    closing_at_ = clocks_.now + handshake_grace;
    set_accept_paused(false);
  }
  // close_listeners() then leaves its queue as it is.
  void hand_over(Listener listener) { listeners_[listener].shared = true; }
  // False once close_listeners() has closed them all; pausing does not count.
  bool accepting() const { return !listeners_closed_; }

  // One send or sendmsg now; the rest goes when epoll reports room (EPOLLOUT).
  [[gnu::always_inline]] Sent send(Link link, std::span<const iovec> gathered,
                                   std::size_t& accepted) {
    accepted = 0;
    Slot* const slot = find(link);
    if (slot == nullptr) return Sent::failed;
    const std::size_t wanted = bytes_in(gathered);
    const ssize_t count = send_now(slot->fd, gathered);
    if (count == static_cast<ssize_t>(wanted)) [[likely]] {
      accepted = wanted;
      return Sent::completed;
    }
    return send_later(link, *slot, count, accepted);
  }

  // Sends the file by sendfile, and never waits for the socket.
  Sent send_file(Link link, std::span<const iovec> before, const FilePart& part,
                 std::size_t& accepted) {
    accepted = 0;
    Slot* const slot = find(link);
    if (slot == nullptr) return Sent::failed;
    const FileSent sent = send_file_now(slot->fd, before, part, Blocking::no);
    if (sent.failure != 0) return break_off(*slot, sent.failure);
    if (sent.failed) return Sent::failed;
    accepted = sent.accepted;
    return sent.full ? wait_until_writable(link, *slot) : Sent::completed;
  }

  // Costs no system call. Level: the interest is removed when the kernel reports the link
  // meanwhile.
  void pause_receive(Link link) {
    // The kernel is not told: most pauses end before another byte arrives.
    if (Slot* const slot = find(link)) slot->paused = true;
  }

  // Unread input comes from a turn(), not from this call.
  void resume_receive(Link link) {
    Slot* const slot = find(link);
    if (slot == nullptr || !slot->paused) return;
    slot->paused = false;
    if (slot->unread && (trigger == Trigger::edge || slot->break_told)) {
      remember_unread(link, *slot);
    } else if constexpr (trigger == Trigger::level) {
      if (!slot->input_ended) want(link, *slot, slot->interest | EPOLLIN | EPOLLRDHUP);
    }
  }

  // Never more than Options::receive_bytes_max, which it is for a new link.
  void limit_receive(Link link, std::size_t bytes) {
    if (Slot* const slot = find(link)) {
      const std::size_t most = std::min<std::size_t>(bytes, receive_bytes_max_);
      slot->receive_max = static_cast<std::uint32_t>(most);
    }
  }

  // Calls shutdown(SHUT_WR): the other side sees the end after the kernel's bytes.
  void shutdown_send(Link link) {
    if (Slot* const slot = find(link)) ::shutdown(slot->fd, SHUT_WR);
  }

  // Frees the place in the table: when it was full, accepting goes on.
  void close(Link link) {
    Slot* const slot = find(link);
    if (slot == nullptr) return;
    close_socket(*slot);
    free_slot(link, *slot);
  }

  // Resets by SO_LINGER of zero: bytes that the kernel has not sent are dropped.
  void reset(Link link) {
    if (Slot* const slot = find(link)) reset_on_close(slot->fd);
    close(link);
  }

  // Level-triggered in both forms. An Error: epoll does not take the descriptor.
  Result<void> watch(int fd, Readiness wanted, Watcher& watcher) {
    return watches_.set(epoll_, fd, wanted, watcher);
  }
  // Takes the descriptor out of the set; nothing happens if it is not watched.
  void unwatch(int fd) { watches_.remove(epoll_, fd); }

  // Wakes by the eventfd; any thread, after start().
  void wake() noexcept {
    const std::uint64_t one = 1;
    // Ignored: the only failure is a full counter, and then the reactor has been woken already.
    (void)!::write(wake_, &one, sizeof one);
  }

  // One wait; time is read behind it.
  void turn(Duration wait_max) {
    const int count = wait(wait_max);
    clocks_ = read_clocks();
    sink_.on_turn(clocks_.now);
    for (int index = 0; index < count; ++index) {
      dispatch(events_[static_cast<std::size_t>(index)]);
    }
    if (!accepts_due_.empty()) accept_due();
    if (!unread_links_.empty()) read_what_was_left(static_cast<std::size_t>(count));
    close_left();
    if (closing_at_ != never && !listeners_closed_ && clocks_.now >= closing_at_)
      finish_listeners();
  }

  // The time of the last turn(); before the first one, of the construction.
  Instant now() const { return clocks_.now; }
  // CLOCK_MONOTONIC at this moment; any thread.
  Instant read_clock() const noexcept { return read_monotonic(); }
  // Seconds since 1970, read with now().
  std::int64_t wall_clock_s() const { return clocks_.wall_clock_s; }
  // The one receive buffer, which all links share.
  std::size_t memory_bytes() const { return receive_bytes_max_; }
  std::size_t memory_used() const { return receive_bytes_max_; }

 private:
  // A link that is idle owns one of these and little else: its size is counted.
  struct Slot {
    int fd = -1;
    std::uint32_t generation = 1;
    union {
      std::uint32_t next_free = 0;
      std::uint32_t interest;  // the interest that epoll has, once `in_set`
    };
    std::uint32_t receive_max = 0;
    std::uint16_t failure = 0;  // kernel's reason of the break, which it reports once
    bool in_set : 1 = false;    // epoll knows the descriptor
    bool paused : 1 = false;
    bool send_pending : 1 = false;
    bool input_ended : 1 = false;
    bool unread : 1 = false;    // readiness that was reported and not used up
    bool end_seen : 1 = false;  // edge: the end of the stream was reported, and will not be again
    bool listed : 1 = false;    // already in unread_links_
    bool broken : 1 = false;    // the rest can be read; the end follows
    bool break_told : 1 = false;
  };
  static_assert(sizeof(Slot) == 20);
  struct ListenSocket {
    int fd;
    bool peer_speaks_first;
    bool shared;  // with another process: ListenOptions::socket, hand_over()
  };

  // Epoll's user data is generation << 32 | index. Generation 0 is never a link's and marks the
  // special ones.
  static constexpr std::uint32_t listener_kind = 0;
  static constexpr std::uint32_t wake_kind = 1u << 30;
  static constexpr std::uint32_t edge_flag = trigger == Trigger::edge ? EPOLLET : 0u;
  static constexpr std::uint32_t receive_interest = EPOLLIN | EPOLLRDHUP | edge_flag;
  static constexpr Duration handshake_grace = milliseconds(100);
  static constexpr Duration accept_poll = milliseconds(10);

  static std::uint64_t special(std::uint32_t kind, std::uint32_t index) { return kind | index; }
  static std::uint64_t tag(Link link) { return std::uint64_t{link.generation} << 32 | link.index; }

  Slot* find(Link link) { return slots_.find(link); }

  int wait(Duration wait_max) {
    wait_max = limit_wait(wait_max);
    if (precise_waits_) [[likely]] {
      const timespec timeout{wait_max.ns / 1'000'000'000, wait_max.ns % 1'000'000'000};
      return wait_for_events(epoll_, events_.data(), rules_.events_per_wait_max, timeout);
    }
    // Rounded up: waking before a deadline would only mean to wait again.
    const std::int64_t count_ms = wait_max.ns / 1'000'000 + (wait_max.ns % 1'000'000 != 0 ? 1 : 0);
    return wait_for_events_ms(epoll_, events_.data(), rules_.events_per_wait_max,
                              static_cast<int>(std::min<std::int64_t>(count_ms, INT_MAX)));
  }

  Duration limit_wait(Duration wait_max) const {
    if (!unread_links_.empty()) return Duration{};
    if (closing_at_ != never && !listeners_closed_) {
      // Past the grace only a queue that cannot be accepted at present holds a listener open.
      const Duration left = closing_at_ - clocks_.now;
      wait_max = std::min(wait_max, left.ns > 0 ? left : accept_poll);
    }
    return std::max(wait_max, Duration{});
  }

  // Old kernels and some sandboxes have only waits in milliseconds.
  void find_precision() {
    const timespec none{};
    precise_waits_ = rules_.precise_waits && wait_for_events(epoll_, events_.data(), 1, none) >= 0;
  }

  bool control(int operation, int fd, std::uint32_t events, std::uint64_t data) {
    epoll_event event{};
    event.events = events;
    event.data.u64 = data;
    return epoll_ctl(epoll_, operation, fd, &event) == 0;
  }

  // A free link of a socket that is watched from the start. An Error: it is closed.
  Result<Link> add_watched(int fd) {
    const Link link = slots_.take(fd);
    Slot& slot = slots_[link];
    if (!control(EPOLL_CTL_ADD, fd, receive_interest, tag(link))) {
      const Error error = system_error("watch a connection", errno);
      ::close(fd);
      slots_.give(link, slot);
      return std::unexpected(error);
    }
    slot.receive_max = receive_bytes_max_;
    slot.interest = receive_interest;
    slot.in_set = true;
    return link;
  }

  void free_slot(Link link, Slot& slot) {
    slots_.give(link, slot);
    if (table_full_) {
      table_full_ = false;
      update_accept_interest();
    }
  }

  void want(Link link, Slot& slot, std::uint32_t interest) {
    // A link that is still in its accept has no interest yet: add_link() will tell the kernel all
    // at once.
    if (!slot.in_set || slot.interest == interest) return;
    slot.interest = interest;
    control(EPOLL_CTL_MOD, slot.fd, interest, tag(link));
  }

  void close_socket(const Slot& slot) {
    if (rules_.delete_before_close && slot.in_set) control(EPOLL_CTL_DEL, slot.fd, 0, 0);
    if (rules_.close_at_turn_end) {
      left_open_.push_back(slot.fd);
    } else {
      ::close(slot.fd);
    }
  }

  void close_left() {
    if (!rules_.close_at_turn_end) return;
    for (const int fd : left_open_) ::close(fd);
    left_open_.clear();
  }

  // Bytes that the kernel did not take go when it says that it has room.
  KATANA_RARE Sent send_later(Link link, Slot& slot, ssize_t count, std::size_t& accepted) {
    if (count < 0 && errno != EAGAIN) return break_off(slot, errno);
    accepted = count > 0 ? static_cast<std::size_t>(count) : 0;
    return wait_until_writable(link, slot);
  }

  // Ends a link that cannot send any more. The kernel reports this end like one of the other side.
  KATANA_RARE static Sent break_off(Slot& slot, int failure) {
    if (slot.break_told) return Sent::failed;
    slot.failure = static_cast<std::uint16_t>(failure);
    slot.broken = true;
    end_both_sides(slot.fd);
    return Sent::pending;
  }

  Sent wait_until_writable(Link link, Slot& slot) {
    slot.send_pending = true;
    want(link, slot, slot.interest | EPOLLOUT);
    return Sent::pending;
  }

  [[gnu::always_inline]] static ssize_t send_now(int fd, std::span<const iovec> gathered) {
    for (;;) {
      ssize_t count;
      if (gathered.size() == 1) {
        count = send_to(fd, gathered[0].iov_base, gathered[0].iov_len, MSG_NOSIGNAL);
      } else {
        msghdr message{};
        message.msg_iov = const_cast<iovec*>(gathered.data());  // msghdr has no const form
        message.msg_iovlen = gathered.size();
        count = send_gathered(fd, message, MSG_NOSIGNAL);
      }
      if (count >= 0 || errno != EINTR) return count;
    }
  }

  void dispatch(const epoll_event& event) {
    const Link link{static_cast<std::uint32_t>(event.data.u64),
                    static_cast<std::uint32_t>(event.data.u64 >> 32)};
    if (link.generation == 0) {
      dispatch_special(link.index, event.events);
      return;
    }
    Slot* const slot = find(link);
    if (slot == nullptr) return;
    if ((event.events & EPOLLERR) != 0 || slot->broken) [[unlikely]] {
      slot->broken = slot->end_seen = true;
      receive(link, *slot);
      return;
    }
    if ((event.events & EPOLLOUT) != 0 && slot->send_pending) {
      slot->send_pending = false;
      // Edge-triggered keeps the interest: epoll reports it once per change, and a second change
      // costs no system call.
      if constexpr (trigger == Trigger::level) {
        want(link, *slot, slot->interest & ~std::uint32_t{EPOLLOUT});
      }
      sink_.on_sent(link, 0);
      if (find(link) == nullptr) return;
    }
    if ((event.events & (EPOLLRDHUP | EPOLLHUP)) != 0) slot->end_seen = true;
    if ((event.events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP)) != 0) receive(link, *slot);
  }

  KATANA_RARE void dispatch_special(std::uint32_t index, std::uint32_t events) {
    if (index == wake_kind) {
      std::uint64_t count;
      (void)!::read(wake_, &count,
                    sizeof count);  // resets the counter; on_turn() finds posted messages
    } else if ((index & EpollWatches::kind) == 0) {
      accepts_due_.push_back(index);
    } else {
      watches_.ready(index & ~EpollWatches::kind, events);
    }
  }

  // One recv; after it the link may be gone. A receive that fills less than the buffer has drained
  // the socket, unless the end of the stream is known to follow.
  void receive(Link link, Slot& slot) {
    if ((unsigned{slot.paused} | unsigned{slot.input_ended}) != 0) [[unlikely]] {
      slot.unread = true;
      if (slot.broken) return tell_break(link, slot);
      if constexpr (trigger == Trigger::level) {
        want(link, slot, slot.interest & ~std::uint32_t{EPOLLIN | EPOLLRDHUP});
      }
      return;
    }
    const std::size_t most = slot.receive_max;
    const Lending buffer(receive_buffer_.get(), most);
    ssize_t count;
    do {
      count = receive_from(slot.fd, receive_buffer_.get(), most);
    } while (count < 0 && errno == EINTR);
    if (count > 0) {
      const auto size = static_cast<std::size_t>(count);
      if constexpr (trigger == Trigger::edge) {
        slot.unread = size == most || slot.end_seen || rules_.read_again;
        if (slot.unread) remember_unread(link, slot);
      } else if (slot.break_told) [[unlikely]] {
        remember_unread(link, slot);
      }
      sink_.on_bytes(link, Bytes(receive_buffer_.get(), size));
      return;
    }
    slot.unread = false;
    if (count < 0 && errno == EAGAIN && !slot.broken) return;
    end_input(link, slot, count < 0 ? errno : 0);
  }

  KATANA_RARE void end_input(Link link, Slot& slot, int failure) {
    if (slot.failure == 0 && failure != EAGAIN) slot.failure = static_cast<std::uint16_t>(failure);
    slot.input_ended = true;
    if (failure != 0 || slot.broken) {
      slot.broken = slot.break_told = true;
      sink_.on_closed(link, Closed::link);
    } else {
      sink_.on_closed(link, Closed::input);
    }
  }

  // Reports the break of a link that is not read at present, once. The rest is read when it is
  // resumed. The descriptor leaves the set, or the kernel would go on reporting it.
  KATANA_RARE void tell_break(Link link, Slot& slot) {
    if (slot.break_told) return;
    slot.break_told = true;
    if (slot.in_set) control(EPOLL_CTL_DEL, slot.fd, 0, 0);
    slot.in_set = false;
    sink_.on_closed(link, Closed::link);
  }

  KATANA_RARE void remember_unread(Link link, Slot& slot) {
    if (slot.listed) return;
    slot.listed = true;
    unread_links_.push_back(link);
  }

  // Links with unread input get one recv each in turn. Only a few per turn: input that arrived
  // since does not wait long. More of them when there are many events.
  void read_what_was_left(std::size_t events) {
    const std::size_t count =
        std::min(unread_links_.size(), std::max(events / 4, Decided::left_per_turn_min));
    for (std::size_t index = 0; index < count; ++index) {
      const Link link = unread_links_[index];
      Slot* const slot = find(link);
      if (slot == nullptr) continue;
      slot->listed = false;
      if (slot->unread && (!slot->paused || slot->broken)) receive(link, *slot);
    }
    unread_links_.erase(unread_links_.begin(),
                        unread_links_.begin() + static_cast<std::ptrdiff_t>(count));
  }

  // The next owner gets the connections in the queue. Others hold the socket, so closing this
  // descriptor would not take it out of the set.
  KATANA_RARE void leave(ListenSocket& listener) {
    control(EPOLL_CTL_DEL, listener.fd, 0, 0);
    ::close(listener.fd);
    listener.fd = -1;
  }

  // After existing connections: a flood of new connections comes last.
  KATANA_RARE void accept_due() {
    for (const std::uint32_t listener : accepts_due_) accept_from(listener);
    accepts_due_.clear();
  }

  // True: the kernel's queue is empty, or not ours any more.
  bool accept_from(std::uint32_t listener) {
    if (listeners_[listener].fd < 0) return true;
    int refused = 0;
    for (int count = 0; count < rules_.accepts_per_event_max && !accept_paused_; ++count) {
      if (refused == Decided::refusals_per_event_max) return false;
      if (slots_.is_full()) {
        table_full_ = true;
        update_accept_interest();
        return false;
      }
      AcceptedPeer peer;
      const int fd = accept4(listeners_[listener].fd, peer.address(), peer.size(),
                             SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd >= 0) {
        refused += add_link(fd, listener, peer.endpoint(fd)) ? 0 : 1;
      } else if (errno == EAGAIN) {
        return true;
      } else if (!survive_accept_error(errno)) {
        return false;
      }
    }
    return false;
  }

  // True: try again at once.
  KATANA_RARE bool survive_accept_error(int error_number) {
    switch (error_number) {
      case EMFILE:
      case ENFILE:
        pause_accept();
        sink_.on_accept_failed(AcceptFailure::descriptors);
        return false;
      case ENOBUFS:
      case ENOMEM:
        pause_accept();
        sink_.on_accept_failed(AcceptFailure::memory);
        return false;
      default:
        return true;  // the connection failed before it was accepted (accept(2), "Error handling")
    }
  }

  // False: the sink has refused it.
  bool add_link(int fd, std::uint32_t listener, const PeerEndpoint& peer) {
    const Link link = slots_.take(fd);
    Slot& slot = slots_[link];
    slot.receive_max = receive_bytes_max_;
    if (!sink_.on_accepted(link, listener, peer)) {
      close(link);
      return false;
    }
    if (find(link) == nullptr) return true;  // closed, or another engine's
    if (!rules_.inherited_options) set_stream_options(fd);
    if (rules_.first_read && listeners_[listener].peer_speaks_first) {
      receive(link, slot);
      if (find(link) == nullptr) return true;
    }
    slot.interest = receive_interest | (slot.send_pending ? std::uint32_t{EPOLLOUT} : 0u);
    slot.in_set = true;
    if (!control(EPOLL_CTL_ADD, fd, slot.interest, tag(link))) sink_.on_closed(link, Closed::link);
    return true;
  }

  void set_accept_paused(bool paused) {
    if (accept_paused_ == paused) return;
    accept_paused_ = paused;
    update_accept_interest();
  }

  KATANA_RARE void update_accept_interest() {
    const std::uint32_t interest = accept_paused_ || table_full_ ? 0u : std::uint32_t{EPOLLIN};
    for (std::uint32_t index = 0; index < listeners_.size(); ++index) {
      if (listeners_[index].fd < 0) continue;
      control(EPOLL_CTL_MOD, listeners_[index].fd, interest, special(listener_kind, index));
    }
  }

  // The grace is over: a listener closes as soon as everything in its queue is accepted.
  KATANA_RARE void finish_listeners() {
    listeners_closed_ = true;
    for (std::uint32_t index = 0; index < listeners_.size(); ++index) {
      int& fd = listeners_[index].fd;
      if (fd < 0) continue;
      if (!accept_from(index)) {
        listeners_closed_ = false;
        continue;
      }
      ::close(fd);
      fd = -1;
    }
  }

  S& sink_;
  [[no_unique_address]] Rules rules_;
  std::uint32_t receive_bytes_max_;
  std::unique_ptr<char[]> receive_buffer_;
  int epoll_ = -1;
  int wake_ = -1;
  bool precise_waits_ = false;  // the kernel has epoll_pwait2
  Clocks clocks_;

  SlotTable<Slot> slots_;
  std::vector<Link> unread_links_;
  std::vector<int> left_open_;  // Rules::close_at_turn_end: what this turn closed

  std::vector<ListenSocket> listeners_;
  std::vector<std::uint32_t> accepts_due_;  // listeners that this turn's events name
  bool accept_paused_ = false;
  bool table_full_ = false;
  bool listeners_closed_ = false;
  Instant closing_at_ = never;

  EpollWatches watches_;
  std::array<epoll_event, Decided::events_per_wait_max> events_;
};

// The two forms as templates of a sink alone, as a reactor needs them.
template <class S>
class EpollEdgeEngine final : public EpollEngine<Trigger::edge, S> {
  using EpollEngine<Trigger::edge, S>::EpollEngine;
};
template <class S>
class EpollLevelEngine final : public EpollEngine<Trigger::level, S> {
  using EpollEngine<Trigger::level, S>::EpollEngine;
};

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
