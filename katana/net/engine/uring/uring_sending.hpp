// UringSending: output on its way to the kernel, and the end of a link.
//
// Owns       the socket of a closed link, until its close is submitted.
// Borrows    the memory of send(), for the call only.
// Thread     the engine's.
// Allocates  never, except for notes.
// Fails      Sent::failed: the link is gone.
// Invariant  a link has one block of Outputs at most; output keeps its order.
//
// Sending. The kernel never sees memory of the reactor after the call. Short output is copied into
// a block of Outputs and is `completed` for the reactor. It goes with the turn's submission,
// several replies of a link in one entry. Longer output is sent by sendmsg at once, where a copy
// would cost more than the call, and waits for room by a poll. Therefore close() has no output to
// take back. The reactor may release its blocks right after it, and nothing has to be cancelled
// synchronously.
//
// Closing. Output that is staged or under way is delivered first. Two facts make this work without
// links between the entries. Entries are executed in order. A send under way has its own reference
// to the socket, and the last reference ends the connection. A client or server that does not read
// holds its block for `delivery_grace` at most. Meanwhile accepting() stays true: a drain waits.
// reset() drops or cancels instead.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>

#include "katana/base/system/hints.hpp"
#include "katana/net/engine/engine.hpp"
#include "katana/net/engine/sockets.hpp"
#include "katana/net/engine/uring/uring_links.hpp"

namespace katana::engine {

template <class S>
class UringSending : public UringLinks<S> {
 protected:
  using Base = UringLinks<S>;
  using Base::Base;
  using Base::break_link, Base::break_off, Base::cancels_, Base::clocks_, Base::counters_,
      Base::end_link, Base::find, Base::leaving_, Base::outputs_, Base::release, Base::ring_,
      Base::sink_, Base::staged_, Base::touch, Base::uring_;
  using Kind = UringKind;    // of completions
  using Slot = UringSlot;    // data of a link
  using State = UringState;  // of a link

 public:
  // See engine.hpp; copies short output.
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

  // Makes its own system calls: an entry that splices would wait for a thread of the kernel.
  Sent send_file(Link link, std::span<const iovec> before, const FilePart& part,
                 std::size_t& accepted) {
    accepted = 0;
    Slot* const slot = find(link);
    if (slot == nullptr || slot->state != State::open) return send_nothing(slot);
    if (slot->output != Outputs::none) {  // earlier output goes first
      slot->send_wanted = true;
      return Sent::pending;
    }
    const FileSent sent = send_file_now(slot->fd, before, part, Blocking::yes);
    ++counters_.sends_direct;
    if (sent.failure != 0) return break_off(link, *slot, sent.failure);
    if (sent.failed) return Sent::failed;
    accepted = sent.accepted;
    if (!sent.full) return Sent::completed;
    slot->send_wanted = true;
    touch(link, *slot);
    return Sent::pending;
  }

  // See engine.hpp; after the output that is under way.
  void shutdown_send(Link link) {
    Slot* const slot = find(link);
    if (slot == nullptr) return;
    if (slot->output != Outputs::none) {
      slot->shutdown_wanted = true;
    } else {
      ::shutdown(slot->fd, SHUT_WR);
    }
  }

  // See engine.hpp; output that is under way is still delivered.
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

  // See engine.hpp; output that is under way is dropped.
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

 protected:
  // false: the submission queue is full.
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

  // A send of the block `index` has completed.
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
      break_off(link, *slot, -result);
      return;
    }
    if ((slot->shutdown_wanted | slot->send_wanted) != 0) after_output(link, *slot);
  }

  // The socket of a link whose send is pending has room.
  KATANA_RARE void has_capacity(Link link) {
    Slot* const slot = find(link);
    if (slot == nullptr) return;
    slot->writable_watched = false;
    if (slot->state == State::connecting && !answered(link, *slot)) return;
    if (!std::exchange(slot->send_wanted, false)) return;
    sink_.on_sent(link, 0);
  }

  // The interval between checks of the blocks of closed links.
  Duration delivery_check() const {
    return std::min(Output::delivery_check_max, uring_.delivery_grace);
  }

  // Cancels output of closed links whose other sides do not read.
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

 private:
  KATANA_RARE void after_output(Link link, Slot& slot) {
    if (slot.shutdown_wanted) ::shutdown(slot.fd, SHUT_WR);
    slot.shutdown_wanted = false;
    if (!std::exchange(slot.send_wanted, false)) return;
    sink_.on_sent(link, 0);
  }

  // The other side of a connecting link has answered. False: with a refusal.
  KATANA_RARE bool answered(Link link, Slot& slot) {
    if (const int failure = take_socket_error(slot.fd); failure != 0) {
      // Nothing can have arrived.
      slot.paused ? break_link(link, slot, failure) : end_link(link, slot, failure);
      return false;
    }
    slot.state = State::open;
    touch(link, slot);
    return true;
  }

  // Handles a link that is gone or broken, or whose other side has not answered yet.
  KATANA_RARE static Sent send_nothing(Slot* slot) {
    if (slot == nullptr || slot->state == State::over || slot->break_told) return Sent::failed;
    slot->send_wanted = slot->state == State::connecting;
    return Sent::pending;
  }

  // For output that is too long for a copy, or when no block is free.
  Sent send_directly(Link link, Slot& slot, std::span<const iovec> gathered, std::size_t wanted,
                     std::size_t& accepted) {
    if (const int failure = send_some(slot, gathered, 0, accepted, counters_)) {
      return break_off(link, slot, failure);
    }
    if (accepted == wanted) return Sent::completed;
    slot.send_wanted = true;
    touch(link, slot);
    return Sent::pending;
  }

  // Staged output goes first. Otherwise a link with more output than a block holds would send one
  // block in each turn.
  KATANA_RARE Sent send_behind_staged(Link link, Slot& slot, std::span<const iovec> gathered,
                                      std::size_t wanted, std::size_t& accepted) {
    Output& output = outputs_[slot.output];
    const iovec staged{outputs_.bytes(slot.output) + output.begin, output.end - output.begin};
    std::size_t sent = 0;
    if (const int failure = send_some(slot, {&staged, 1}, MSG_MORE, sent, counters_)) {
      return break_off(link, slot, failure);
    }
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

  Instant next_delivery_check_{};
};

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
