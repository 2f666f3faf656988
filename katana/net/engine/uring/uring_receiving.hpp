// UringReceiving: bytes of links, parsed by the reactor where the kernel put them.
//
// Owns       resumed_; the link's slot owns the held bytes.
// Borrows    a buffer of the ReceiveRing, for the call of the sink.
// Thread     the engine's.
// Allocates  for bytes that arrive for a paused link (UringHeld), which is rare and bounded.
// Fails      never: a break of a link is reported to the sink.
// Invariant  a paused link gets no event until it is resumed, except that it broke.
//
// A link's first receive is single, because a connection with one request ends before a second.
// From then on one multishot receive stays armed. Neither has a buffer until bytes are there: the
// kernel takes one of the ReceiveRing, and the reactor parses in it. A pause tells the kernel
// nothing. Bytes that arrive nevertheless are held: they are copied, and no link keeps a buffer of
// the ring. The receive is then cancelled. A link that pauses goes on with single receives until a
// delivery leaves it unpaused. A paused link without a receive has a poll for its reset.
//
// held_max() bounds the memory of all links together. For one link it is at most two ReceiveRings:
// all that the kernel receives in two turns. Links that pause one after another must not hold as
// much each. From one ReceiveRing's worth on all multishot receives are cancelled. New receives are
// single and short until half of that is held.
//
// A multishot receive may miss an end that comes right behind bytes. The kernel is woken for both
// before it looks, takes the bytes, and counts both as done (seen with resets on Linux 6.18).
// Output that follows shows the end, because a send fails then. A link whose bytes are not answered
// in their turn gets one poll for its end. A receive that is still silent then is replaced by
// single ones, which miss nothing.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "katana/base/system/hints.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/net/engine/engine.hpp"
#include "katana/net/engine/uring/uring_sending.hpp"

namespace katana::engine {

template <class S>
class UringReceiving : public UringSending<S> {
 protected:
  using Base = UringSending<S>;
  using Base::Base;
  using Base::break_link, Base::cancels_, Base::counters_, Base::end_link, Base::find,
      Base::held_sum_, Base::is_holding_much_, Base::receive_, Base::short_receive_bytes,
      Base::sink_, Base::slots_, Base::touch, Base::uring_, Base::waits_for_blocks_;
  using Kind = UringKind;    // of completions
  using Held = UringHeld;    // bytes for a paused link
  using Slot = UringSlot;    // data of a link
  using State = UringState;  // of a link

 public:
  // See engine.hpp.
  void pause_receive(Link link) {
    if (Slot* const slot = find(link)) slot->paused = slot->singly = true;
  }

  // See engine.hpp.
  void limit_receive(Link link, std::size_t bytes) {
    Slot* const slot = find(link);
    if (slot == nullptr) return;
    slot->receive_max = bytes < uring_.receive_buffer_bytes ? static_cast<std::uint32_t>(bytes) : 0;
  }

  // See engine.hpp; held bytes are delivered first.
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

  // The most memory of held bytes. A ReceiveRing's worth before receives become short, as much in
  // that turn, and as much in the next, in which they are cancelled. All of it twice, because
  // strings grow by doubling. A short receive of each link comes on top.
  std::size_t held_max() const noexcept {
    return 6 * receive_.memory_bytes() + std::size_t{slots_.links_max()} * short_receive_bytes;
  }

 protected:
  // A receive has completed: bytes, the end, or an error.
  void received(Link link, const io_uring_cqe& completion) {
    const int result = completion.res;
    Bytes bytes;
    // Even for links that are gone: the place in the buffer depends on every completion.
    if ((completion.flags & IORING_CQE_F_BUFFER) != 0) bytes = receive_.claim(completion);
    Slot* const slot = find(link);
    if (slot == nullptr) {
      ++counters_.late_completions;
      return;
    }
    if ((completion.flags & IORING_CQE_F_MORE) == 0) {
      slot->receiving = slot->cancelling = false;
      counters_.multishot_ends += result > 0 && !slot->singly ? 1 : 0;
      // A link that found no buffer at all is armed again first: every link then gets buffers in
      // turn.
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
      end_broken(link, *slot, -result);
    }
  }

  // Delivers held bytes of links that were resumed before this turn, in turn with the other links.
  void deliver_held() {
    if (resumed_.empty() && !is_holding_much_) [[likely]]
      return;
    std::vector<Link> links = std::exchange(resumed_, {});
    for (const Link link : links) deliver_held_of(link);
    if (held_sum_ <= receive_.memory_bytes() / 2) is_holding_much_ = false;
  }

  std::vector<Link> resumed_;  // links with held bytes

 private:
  void deliver(Link link, Slot& slot, Bytes bytes) {
    if (slot.paused || slot.held != nullptr) {
      hold(link, slot, bytes);
      return;
    }
    sink_.on_bytes(link, bytes);
    Slot* const after = find(link);
    if (after == nullptr) return;
    if (!after->paused) after->singly = false;
    // Without an answer nothing would show that the connection ended right behind these bytes.
    if (after->output == Outputs::none && !after->hangup_watched) touch(link, *after);
  }

  KATANA_RARE void hold(Link link, Slot& slot, Bytes bytes) {
    if (slot.held == nullptr) slot.held = std::make_unique<Held>(held_sum_);
    slot.held->append(bytes);
    counters_.held_bytes += bytes.size();
    cancel_receive(link, slot);
    if (!is_holding_much_ && held_sum_ > receive_.memory_bytes()) end_multishots();
  }

  KATANA_RARE void end_multishots() {
    is_holding_much_ = true;
    ++counters_.held_much;
    std::uint32_t index = 0;
    for (Slot& slot : slots_) {
      if (slot.multishot) cancel_receive({index, slot.generation}, slot);
      ++index;
    }
  }

  KATANA_RARE void cancel_receive(Link link, Slot& slot) {
    if (!slot.receiving || slot.cancelling) return;
    slot.cancelling = true;
    cancels_.push_back(tag(Kind::receive, link));
  }

  KATANA_RARE void end_input(Link link, Slot& slot) {
    if (slot.paused || slot.held != nullptr) {
      hold(link, slot, {});
      slot.held->ended = true;
      return;
    }
    tell_end(link, slot);
  }

  // The kernel has no more bytes of the link.
  KATANA_RARE void end_broken(Link link, Slot& slot, int failure) {
    if (slot.is_reading()) return end_link(link, slot, failure);
    break_link(link, slot, failure);
  }

  KATANA_RARE void tell_end(Link link, Slot& slot) {
    if (slot.state == State::broken) return end_link(link, slot, slot.failure);
    slot.input_ended = true;
    sink_.on_closed(link, Closed::input);
  }

  KATANA_RARE void deliver_held_of(Link link) {
    Slot* slot = find(link);
    std::size_t budget = Held::per_turn_max;
    while (slot != nullptr && slot->held != nullptr && !slot->paused &&
           slot->state != State::over) {
      // Owned here during the call, in which the link may be closed.
      std::unique_ptr<Held> held = std::move(slot->held);
      const Bytes left = Bytes(held->bytes).substr(held->begin);
      const std::size_t most =
          slot->receive_max != 0 ? slot->receive_max : uring_.receive_buffer_bytes;
      const Bytes bytes = left.substr(0, most);
      if (!bytes.empty()) {
        held->begin += bytes.size();
        sink_.on_bytes(link, bytes);
      } else {
        tell_end(link, *slot);
      }
      slot = find(link);
      if (slot == nullptr || slot->input_ended || slot->state == State::over) return;
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
};

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
