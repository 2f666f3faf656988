// UringAccepting: listeners, and connections on their way to a link.
//
// Owns       listening sockets, and the sockets of connections that wait for a link.
// Thread     the engine's; listen() may be called by another before start().
// Allocates  for listeners, and for connections that were accepted in spite of a pause.
// Fails      listen() returns an Error; a failing accept is reported to the sink.
// Invariant  connections become links in the order in which the kernel accepted them.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <deque>
#include <vector>

#include "katana/base/system/hints.hpp"
#include "katana/base/system/result.hpp"
#include "katana/net/engine/engine.hpp"
#include "katana/net/engine/sockets.hpp"
#include "katana/net/engine/uring/entries.hpp"
#include "katana/net/engine/uring/uring_receiving.hpp"

namespace katana::engine {

template <class S>
class UringAccepting : public UringReceiving<S> {
 protected:
  using Base = UringReceiving<S>;
  using Base::Base;
  using Base::clocks_, Base::closes_, Base::leaving_, Base::ring_, Base::sink_, Base::slots_,
      Base::take_slot, Base::uring_;
  using Kind = UringKind;              // of completions
  using ListenSocket = UringListener;  // data of a listener
  using Waiting = UringWaiting;        // accepted, without a slot yet

 public:
  // See engine.hpp.
  Result<Listener> listen(const ListenOptions& options) {
    auto opened = open_listener(options);
    if (!opened) return std::unexpected(opened.error());
    listeners_.push_back(
        {*opened, options.peer_speaks_first, options.socket >= 0 && !options.drain_socket});
    return static_cast<Listener>(listeners_.size() - 1);
  }

  // See engine.hpp.
  std::uint16_t port(Listener listener) const { return port_of(socket(listener)); }
  // The listening descriptor.
  int socket(Listener listener) const { return listeners_[listener].fd; }

  void pause_accept() { accept_paused_ = true; }    // see engine.hpp; connections then wait
  void resume_accept() { accept_paused_ = false; }  // see engine.hpp

  // See engine.hpp; connections whose handshake has begun are still accepted.
  void close_listeners() {
    if (closing_at_ != never) return;
    for (const ListenSocket& listener : listeners_) {
      if (!listener.shared) refuse_new_handshakes(listener.fd);
    }
    closing_at_ = clocks_.now + ListenSocket::handshake_grace;
    accept_paused_ = false;
  }

  // The descriptor is then closed with its queue left as it is.
  void hand_over(Listener listener) { listeners_[listener].shared = true; }

  // See engine.hpp: false when a drain does not have to wait any longer.
  bool accepting() const { return !listeners_closed_ || leaving_ > 0 || !closes_.empty(); }

 protected:
  // Whether a waiting connection can become a link.
  bool can_admit() const { return !waiting_.empty() && !accept_paused_ && !slots_.is_full(); }

  // Connections that the kernel had accepted although they were no longer wanted come first.
  void admit_waiting() {
    while (can_admit()) [[unlikely]] {
      const Waiting each = waiting_.front();
      waiting_.pop_front();
      add_link(each.fd, each.listener, each.peer);
    }
  }

  // Submits and cancels accepts as wanted; false: the queue is full.
  bool update_listeners() {
    for (std::uint32_t index = 0; index < listeners_.size(); ++index) {
      ListenSocket& listener = listeners_[index];
      const bool few = slots_.available() <= uring_.rules.multishot_slots_min;
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

  // An accept of the listener `index` has completed.
  void accepted(std::uint32_t index, const io_uring_cqe& completion) {
    ListenSocket& listener = listeners_[index];
    if ((completion.flags & IORING_CQE_F_MORE) == 0) listener.armed = listener.cancelling = false;
    if (completion.res < 0) return survive_accept_error(-completion.res);
    // A multishot accept has only one place for the addresses of all its connections. One system
    // call per accepted connection therefore asks for the address (decision 0073). It asks now:
    // after a reset the address is lost.
    const PeerEndpoint peer = peer_of(completion.res);
    if (accept_paused_ || slots_.is_full() || !waiting_.empty()) {
      waiting_.push_back({completion.res, index, peer});
    } else {
      add_link(completion.res, index, peer);
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

  std::vector<ListenSocket> listeners_;
  std::deque<Waiting> waiting_;
  bool listeners_closed_ = false;
  Instant closing_at_ = never;

 private:
  bool finishing() const { return closing_at_ != never && clocks_.now >= closing_at_; }
  bool wants_accept(const ListenSocket& listener) const {
    // The next owner of a shared listener gets the connections in its queue.
    const bool ours = !listener.shared || closing_at_ == never;
    return listener.fd >= 0 && ours && !accept_paused_ && !slots_.is_full() && waiting_.empty() &&
           !finishing();
  }

  void add_link(int fd, Listener listener, const PeerEndpoint& peer) {
    const Link link = take_slot(fd);
    slots_[link].singly =
        uring_.rules.first_receive_single && listeners_[listener].peer_speaks_first;
    if (!sink_.on_accepted(link, listener, peer)) this->close(link);
  }

  // Other errors: the connection failed before it was accepted (accept(2), "Error handling").
  KATANA_RARE void survive_accept_error(int error_number) {
    const bool descriptors = error_number == EMFILE || error_number == ENFILE;
    if (!descriptors && error_number != ENOBUFS && error_number != ENOMEM) return;
    if (accept_paused_) return;
    pause_accept();
    sink_.on_accept_failed(descriptors ? AcceptFailure::descriptors : AcceptFailure::memory);
  }

  // True: the kernel's queue is empty. Listeners do not block.
  bool accept_rest(std::uint32_t index) {
    while (!accept_paused_ && !slots_.is_full() && waiting_.empty()) {
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

  bool accept_paused_ = false;
};

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
