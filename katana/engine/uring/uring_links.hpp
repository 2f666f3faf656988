// UringLinks: the slots of an io_uring engine's links, what is noted for the next submission, and
// what the notes draw from. The lowest of the parts that make up UringEngine:
//
//   UringLinks      a link gets its slot and gives it back; polls
//   UringSending    output: copied, staged, sent at once; closing and resetting
//   UringReceiving  receives, and what arrives for a paused link
//   UringAccepting  listeners, and connections that wait for a link
//   UringEngine     what a turn is: notes become entries, completions become calls of the sink
//
// Each calls those above it in this list, and they are one object: a reference between them would
// be a load on the way of every request.
//
// Owns       the rings, the socket of every link, and copies of what is being sent.
// Thread     the engine's.
// Allocates  at construction only, but for notes beyond what a turn had so far.
// Fails      find() is null when the link is gone.
#pragma once

#include <poll.h>

#include <cstdint>
#include <vector>

#include "katana/base/hints.hpp"
#include "katana/engine/clocks.hpp"
#include "katana/engine/engine.hpp"
#include "katana/engine/slot_table.hpp"
#include "katana/engine/sockets.hpp"
#include "katana/engine/uring/entries.hpp"
#include "katana/engine/uring/options.hpp"
#include "katana/engine/uring/outputs.hpp"
#include "katana/engine/uring/receive_ring.hpp"
#include "katana/engine/uring/ring.hpp"
#include "katana/engine/uring/state.hpp"

namespace katana::engine {

template <class S>
class UringLinks {
 protected:
  using Kind = UringKind;
  using Slot = UringSlot;
  using State = UringState;

 public:
  UringLinks(const Options& options, S& sink, const UringOptions& uring)
      : sink_(sink),
        options_(options),
        uring_(uring.resolve(options, true)),
        outputs_(uring_.outputs, uring_.output_bytes),
        // At 48 octets a slot would be much of what an idle connection may cost.
        slots_(options.links_max, Touch::at_start) {
    clocks_ = read_clocks();
  }
  UringLinks(const UringLinks&) = delete;
  UringLinks& operator=(const UringLinks&) = delete;

  int failure(Link link) {
    const Slot* const slot = find(link);
    return slot != nullptr ? slot->failure : 0;
  }

  // ---- for tests

  const UringCounters& counters() const noexcept { return counters_; }
  std::size_t outputs_under_way() const noexcept { return outputs_.count() - outputs_.available(); }

 protected:
  Slot* find(Link link) { return slots_.find(link); }

  // update() looks at the link before the next submission.
  void touch(Link link, Slot& slot) {
    if (slot.touched) return;
    slot.touched = true;
    touched_.push_back(link);
  }

  Link take_slot(int fd) {
    const Link link = slots_.take(fd);
    touch(link, slots_[link]);
    return link;
  }

  void release(Link link, Slot& slot) {
    if (slot.receiving && !slot.cancelling) cancels_.push_back(tag(Kind::receive, link));
    if (slot.hangup_watched) cancels_.push_back(tag(Kind::hangup, link));
    if (slot.writable_watched) cancels_.push_back(tag(Kind::writable, link));
    closes_.push_back(slot.fd);
    slots_.give(link, slot);
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
        // One that is limited is for one receive: a multishot one takes what it finds.
        const bool multishot = !slot->singly && slot->receive_max == 0;
        if (!submit_receive(ring_, slot->fd, multishot, slot->receive_max,
                            tag(Kind::receive, link))) {
          return false;
        }
        slot->receiving = true;
        slot->fed = false;
      }
    }
    slot->touched = false;
    return true;
  }

  KATANA_RARE void break_link(Link link, Slot& slot, int failure) {
    if (slot.state == State::broken) return;
    slot.state = State::broken;
    slot.failure = static_cast<std::uint16_t>(failure);
    sink_.on_closed(link, Closed::link);
  }

  KATANA_RARE void hung_up(Link link, int result) {
    Slot* const slot = find(link);
    if (slot == nullptr) return;
    // Both sides have ended, which is no error: nothing else can be told by this poll.
    if (result > 0 && (result & POLLERR) == 0) return;
    slot->hangup_watched = false;
    if (result > 0) break_link(link, *slot, take_socket_error(slot->fd));
  }

  S& sink_;
  Options options_;
  UringOptions uring_;
  Outputs outputs_;
  ReceiveRing receive_;
  Ring ring_;  // destroyed before the memory that it uses
  Clocks clocks_;
  UringCounters counters_;

  SlotTable<Slot> slots_;

  // Notes for the next submission.
  std::vector<std::uint64_t> cancels_;
  std::vector<std::uint32_t> staged_;
  std::vector<int> closes_;
  std::vector<Link> waits_for_blocks_;
  std::vector<Link> touched_;

  std::uint32_t leaving_ = 0;  // outputs of closed links
};

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
