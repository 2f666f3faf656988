// FairTurn: the share of each sender in one turn of a hub, when there is more than the turn holds.
//
//   0 ─────────────── open ────────────────────┬──────── reserve ────────┤ bytes_max
//   whoever waited, each its share of it;      │ those who have said no more than their part
//   then whoever comes                         │ of the reserve in this turn
//
// A turn holds bytes_max. Three quarters of it are divided by the number of senders that wait when
// the turn begins. A sender that waits alone gets all of them. The last quarter is kept for senders
// that say little. It is divided by the number of senders in the last turn. A sender that has said
// less than its part of it may speak until the turn is full. A sender that uses all that every turn
// allows therefore leaves room for a line of each other sender. That line is said in the turn in
// which it arrives.
//
// No sender starves. Waiting senders go on in the order in which they began to wait. Those that
// were refused before their first line in the turn come before those that had said one. A sender
// that waits because it has used its share has no part of the reserve until it has caught up. In
// each turn, only as many senders go on as have room for a line, judged by the last line of each.
//
// Owns       numbers. Lists through its speakers.
// Borrows    speakers, from wait() until they are let on or forgotten.
// Thread     its reactor's.
// Allocates  never.
// Invariant  the bytes said in a turn are fewer than bytes_max and one line.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace katana::chat {

// The state of one sender within a turn.
class Sender {
 public:
  Sender() = default;
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;
  // It is in a list of a FairTurn.
  bool waits() const noexcept { return next_ != this; }

 protected:
  ~Sender() = default;

 private:
  friend class FairTurn;
  void put_behind(Sender& last) noexcept {
    prev_ = &last;
    next_ = last.next_;
    prev_->next_ = next_->prev_ = this;
  }
  void take_out() noexcept {
    prev_->next_ = next_;
    next_->prev_ = prev_;
    prev_ = next_ = this;
  }

  Sender* prev_ = this;
  Sender* next_ = this;
  std::uint64_t turn_ = 0;        // in which it said
  std::size_t said_bytes_ = 0;    // bytes in this turn
  std::size_t line_bytes_ = 0;    // and of that, last
  std::uint64_t spent_turn_ = 0;  // in which it has no part of the reserve
  bool spent_ = false;            // it has waited since it had its share
};

// For one hub.
class FairTurn {
 public:
  explicit FairTurn(std::size_t bytes_max) noexcept { set_bytes_max(bytes_max); }

  // Sets the size of a turn, before any sender speaks.
  void set_bytes_max(std::size_t bytes) noexcept {
    bytes_max_ = bytes;
    open_bytes_max_ = bytes - bytes / 4;
    divide();
  }
  std::size_t bytes_max() const noexcept { return bytes_max_; }

  // True if the sender may say one line more in this turn.
  bool allows(const Sender& speaker) const noexcept {
    const std::size_t own = speaker.turn_ == turn_ ? speaker.said_bytes_ : 0;
    if (own < part_bytes_ && speaker.spent_turn_ != turn_) return said_bytes_ < bytes_max_;
    // Judged by the line before: the first sender of every turn would otherwise get an extra line.
    const bool has_share = own == 0 || own + speaker.line_bytes_ <= share_bytes_;
    return has_share && said_bytes_ < open_bytes_max_;
  }
  void note_said(Sender& speaker, std::size_t bytes) noexcept {
    said_bytes_ += bytes;
    if (speaker.turn_ != turn_) {
      speaker.turn_ = turn_;
      speaker.said_bytes_ = 0;
      ++senders_;
    }
    speaker.said_bytes_ += bytes;
    speaker.line_bytes_ = bytes;
  }
  // The next turn begins. REQUIRED soon after a sender was not allowed to speak.
  void begin() noexcept {
    ++turn_;
    said_bytes_ = 0;
    divide();
    senders_ = 0;
  }

  // True if a sender waits: begin() and let_on() are due.
  bool anybody_waits() const noexcept { return waiting_ != 0; }
  // Is let on by let_on(), in its turn.
  void wait(Sender& speaker) noexcept {
    if (speaker.waits()) return;
    const bool spoke = speaker.turn_ == turn_;
    speaker.spent_ = spoke || speaker.spent_turn_ == turn_;
    speaker.put_behind(*(spoke ? heard_ : unheard_).prev_);
    ++waiting_;
  }
  void forget(Sender& speaker) noexcept {
    if (!speaker.waits()) return;
    speaker.take_out();
    --waiting_;
  }

  // Lets on the waiting senders that are allowed to speak. `tell` is called for each, for the one
  // that has waited longest last. Then `go_on` is called for each, for that one first. go_on() may
  // make any sender wait or be forgotten; tell() must not.
  template <class Tell, class GoOn>
  void let_on(Tell&& tell, GoOn&& go_on) noexcept {
    Ends ready;
    std::size_t left = open_bytes_max_;
    take_ready(unheard_, ready, left);
    take_ready(heard_, ready, left);
    for (Sender* each = ready.prev_; each != &ready; each = each->prev_) tell(*each);
    while (ready.next_ != &ready) {
      Sender& first = *ready.next_;
      forget(first);
      go_on(first);
    }
  }

 private:
  struct Ends final : Sender {};

  // Among those who wait now, and those who spoke in the turn that ends.
  void divide() noexcept {
    share_bytes_ = std::max<std::size_t>(1, open_bytes_max_ / std::max<std::size_t>(1, waiting_));
    part_bytes_ = std::max<std::size_t>(
        1, (bytes_max_ - open_bytes_max_) / std::max<std::size_t>(1, senders_));
  }
  void take_ready(Ends& from, Ends& to, std::size_t& left) noexcept {
    for (Sender* each = from.next_; each != &from;) {
      Sender& speaker = *std::exchange(each, each->next_);
      if (!allows(speaker)) continue;
      if (speaker.spent_) {
        const std::size_t most = std::max(share_bytes_, speaker.line_bytes_);
        if (most > left && left != open_bytes_max_) {
          left = 0;  // nor does any sender behind it
          continue;
        }
        left -= std::min(left, most);
        speaker.spent_turn_ = turn_;
      }
      speaker.take_out();
      speaker.put_behind(*to.prev_);
    }
  }

  std::size_t bytes_max_ = 0;
  std::size_t open_bytes_max_ = 0;
  std::size_t share_bytes_ = 0;  // part of the open bytes, for each waiting sender
  std::size_t part_bytes_ = 0;   // part of the reserve, for each
  std::uint64_t turn_ = 1;
  std::size_t said_bytes_ = 0;
  std::size_t senders_ = 0;  // senders that have said something in this turn
  std::size_t waiting_ = 0;
  Ends unheard_;  // were refused before they had said anything in that turn
  Ends heard_;
};

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
