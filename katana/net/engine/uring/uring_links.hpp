// UringLinks: the slots of an io_uring engine's links, the notes for the next submission, and the
// data behind the notes. The lowest of the parts that make up UringEngine:
//
//   UringLinks      a link gets its slot and gives it back; polls
//   UringSending    output: copied, staged, sent at once; closing and resetting
//   UringReceiving  receives, and what arrives for a paused link
//   UringAccepting  listeners, and connections that wait for a link
//   UringEngine     the turn: notes become entries, completions become calls of the sink
//
// Each part calls those above it in this list. All are one object: a reference between them would
// be a load on the way of every request.
//
// Owns       the rings, the socket of every link, and copies of output.
// Thread     the engine's.
// Allocates  at construction only, except for notes beyond the most that a turn had so far.
// Fails      find() is null when the link is gone.
#pragma once

#include <poll.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "katana/base/system/hints.hpp"
#include "katana/net/engine/clocks.hpp"
#include "katana/net/engine/engine.hpp"
#include "katana/net/engine/slot_table.hpp"
#include "katana/net/engine/sockets.hpp"
#include "katana/net/engine/uring/entries.hpp"
#include "katana/net/engine/uring/options.hpp"
#include "katana/net/engine/uring/outputs.hpp"
#include "katana/net/engine/uring/receive_ring.hpp"
#include "katana/net/engine/uring/ring.hpp"
#include "katana/net/engine/uring/state.hpp"

namespace katana::engine {

template <class S>
class UringLinks {
 protected:
  using Kind = UringKind;    // of completions
  using Slot = UringSlot;    // data of a link
  using State = UringState;  // of a link

 public:
  UringLinks(const Options& options, S& sink, const UringOptions& uring)
      : sink_(sink),
        options_(options),
        uring_(uring.resolve(options, true)),
        outputs_(uring_.outputs, uring_.output_bytes),
        // With 48 bytes a slot is much of the memory budget of an idle connection.
        slots_(options.links_max, Touch::at_start) {
    clocks_ = read_clocks();
  }
  UringLinks(const UringLinks&) = delete;
  UringLinks& operator=(const UringLinks&) = delete;

  // Errno of the break; 0: none, or the link is gone.
  int failure(Link link) {
    const Slot* const slot = find(link);
    return slot != nullptr ? slot->failure : 0;
  }

  // ---- for tests

  // Counts of the engine's events so far.
  const UringCounters& counters() const noexcept { return counters_; }
  // Blocks of output that the kernel reads.
  std::size_t outputs_under_way() const noexcept { return outputs_.count() - outputs_.available(); }

 protected:
  Slot* find(Link link) { return slots_.find(link); }  // null: the link is gone

  // update() looks at the link before the next submission.
  void touch(Link link, Slot& slot) {
    if (slot.touched) return;
    slot.touched = true;
    touched_.push_back(link);
  }

  // Takes a slot for a link of that socket. REQUIRES a free slot.
  Link take_slot(int fd) {
    const Link link = slots_.take(fd);
    touch(link, slots_[link]);
    return link;
  }

  // Gives the slot back and closes the socket after the next submission.
  void release(Link link, Slot& slot) {
    if (slot.receiving && !slot.cancelling) cancels_.push_back(tag(Kind::receive, link));
    if (slot.hangup_watched) cancels_.push_back(tag(Kind::hangup, link));
    if (slot.writable_watched) cancels_.push_back(tag(Kind::writable, link));
    closes_.push_back(slot.fd);
    slots_.give(link, slot);
  }

  // Arms receives and polls that the link's state asks for and that are not armed.
  bool update(Link link) {
    Slot* const slot = find(link);
    if (slot == nullptr) return true;
    if (slot->state == State::over) {
      slot->touched = false;
      return true;
    }
    const bool connecting = slot->state == State::connecting;
    const bool wants_writable = connecting || (slot->send_wanted && slot->output == Outputs::none);
    if (wants_writable && !slot->writable_watched) {
      if (!submit_poll(ring_, slot->fd, POLLOUT, tag(Kind::writable, link))) return false;
      slot->writable_watched = true;
    }
    if (!connecting && !update_receive(link, *slot)) return false;
    slot->touched = false;
    return true;
  }

  // The link cannot send any more. Earlier input is read to the end, then end_link() is called. A
  // paused link is reported at once.
  KATANA_RARE void break_link(Link link, Slot& slot, int failure) {
    if (!mark_broken(link, slot, failure)) return;
    if (slot.paused && !std::exchange(slot.break_told, true)) sink_.on_closed(link, Closed::link);
  }
  KATANA_RARE void end_link(Link link, Slot& slot, int failure) {
    if (!mark_broken(link, slot, failure)) return;
    slot.state = State::over;
    sink_.on_closed(link, Closed::link);
  }

  // A send failed. The sink is not told within the reactor's own call.
  KATANA_RARE Sent break_off(Link link, Slot& slot, int failure) {
    if (slot.break_told || !mark_broken(link, slot, failure)) return Sent::failed;
    end_both_sides(slot.fd);
    return Sent::pending;
  }

  // The poll stays armed: it reports an end, and later a break of the connection behind it.
  KATANA_RARE void hung_up(Link link, const io_uring_cqe& completion) {
    Slot* const slot = find(link);
    if (slot == nullptr) return;
    if ((completion.flags & IORING_CQE_F_MORE) == 0) slot->hangup_watched = false;
    if (completion.res <= 0) return;
    slot->end_seen = true;
    const bool broken = (completion.res & POLLERR) != 0 || slot->state == State::broken;
    if (broken && !slot->is_reading()) {
      // Not for a link that is reading: its receive is to meet the error.
      const int failure = slot->failure != 0 ? slot->failure : take_socket_error(slot->fd);
      if (slot->input_ended) return end_link(link, *slot, failure);
      return break_link(link, *slot, failure);
    }
    touch(link, *slot);
  }

 private:
  // False: the link is already over.
  bool mark_broken(Link link, Slot& slot, int failure) {
    if (slot.state == State::over) return false;
    slot.state = State::broken;
    if (slot.failure == 0) slot.failure = static_cast<std::uint16_t>(failure);
    slot.send_wanted = slot.shutdown_wanted = false;
    slot.end_seen = true;
    touch(link, slot);
    return true;
  }

  // False: the submission queue is full.
  bool update_receive(Link link, Slot& slot) {
    if (!slot.is_reading()) return watch_end(link, slot);
    if (slot.receiving) {
      if (!slot.multishot || !slot.fed || slot.cancelling) return true;
      return slot.end_seen ? replace_receive(link, slot) : watch_end(link, slot);
    }
    // A limit holds for one receive: a multishot receive takes all that it finds.
    const bool multishot =
        !slot.singly && slot.receive_max == 0 && !slot.end_seen && !is_holding_much_;
    const std::uint32_t most = is_holding_much_ ? short_of(slot.receive_max) : slot.receive_max;
    if (!submit_receive(ring_, slot.fd, multishot, most, tag(Kind::receive, link))) {
      return false;
    }
    slot.receiving = true;
    slot.multishot = multishot;
    slot.fed = false;
    return true;
  }

  static std::uint32_t short_of(std::uint32_t receive_max) noexcept {
    return receive_max == 0 ? short_receive_bytes : std::min(receive_max, short_receive_bytes);
  }

  // Polls for the end of a link without a receive, and of a link with a break to report. Also of a
  // link whose receive may have missed the end (see uring_receiving.hpp), if no output shows it.
  KATANA_RARE bool watch_end(Link link, Slot& slot) {
    const bool is_deaf = slot.multishot && slot.fed && slot.output == Outputs::none;
    const bool is_untold = slot.state == State::broken && !slot.break_told;
    if (slot.hangup_watched || slot.break_told) return true;
    if (slot.receiving && !is_deaf && !is_untold) return true;
    if (!submit_hangup_poll(ring_, slot.fd, tag(Kind::hangup, link))) return false;
    slot.hangup_watched = true;
    return true;
  }

  KATANA_RARE bool replace_receive(Link link, Slot& slot) {
    if (!submit_cancel(ring_, tag(Kind::receive, link))) return false;
    slot.cancelling = true;
    ++counters_.ends_missed;
    return true;
  }

 protected:
  S& sink_;
  Options options_;
  UringOptions uring_;
  Outputs outputs_;
  ReceiveRing receive_;
  Ring ring_;  // destroyed before the memory that it uses
  Clocks clocks_;
  UringCounters counters_;

  // The size of a receive while many bytes are held.
  static constexpr std::uint32_t short_receive_bytes = 1024;
  std::size_t held_sum_ = 0;      // bytes held for paused links; slots_ counts in it
  bool is_holding_much_ = false;  // see uring_receiving.hpp
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
