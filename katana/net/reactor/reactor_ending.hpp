// ReactorEnding: decides when a link is read, and how a connection ends: once its output is sent,
// after lingering, or at a deadline.
//
// Thread     its reactor's.
// Allocates  never.
// Fails      false: the connection is gone.
// Invariant  a link is not read while its session is paused. The exception is input that a pending
//            handler may still have carried. A lingering link is read, and its input is dropped.
#pragma once

#include <algorithm>
#include <cerrno>
#include <new>

#include "katana/base/system/hints.hpp"
#include "katana/net/reactor/reactor_sending.hpp"

namespace katana::net {

template <class Engine>
class ReactorEnding : public ReactorSending<Engine> {
 protected:
  using Base = ReactorSending<Engine>;
  using Base::Base;
  using Base::counters_, Base::destroy, Base::ease_memory, Base::engine_, Base::flush_sealed,
      Base::memory_, Base::now_, Base::options_, Base::set_send_deadline;
  using typename Base::Cause;

  // Receiving is off while the session is paused. It is also off while carried bytes wait for their
  // next turn: more would be carried on top of them. A pending handler alone leaves it on until a
  // block is full: a client or server that leaves is then noticed.
  void update_receive(Connection& connection) noexcept {
    if ((connection.pause_reasons_ | unsigned{connection.receive_paused_} |
         unsigned{connection.receive_slowed_} | unsigned{connection.writable_due_} |
         memory_.strain()) == 0) {
      return;
    }
    change_receive(connection);
  }

  // Counts bytes after the end; above linger_bytes_max the connection is reset.
  KATANA_RARE void drop(Connection& connection, Bytes bytes) noexcept {
    connection.input_unread_ = true;
    try {
      std::uint32_t& dropped = connection.extras().bytes_dropped;
      dropped += static_cast<std::uint32_t>(bytes.size());
      if (dropped <= options_.linger_bytes_max) return;
    } catch (const std::bad_alloc&) {  // no memory to count in
    }
    destroy(connection, Cause::linger_ends);
  }

  // The outbox is sent and the session has finished. With unread bytes, in the carry or in a socket
  // that is not being read, closing would reset the connection.
  KATANA_RARE bool end(Connection& connection) noexcept {
    if (connection.failure_ != 0) {  // see reads_on(); it has read enough
      destroy(connection, Cause::link_lost);
      return false;
    }
    if (connection.transform_ != nullptr) {
      connection.transform_->seal_end();
      if (!connection.send_pending_ && !flush_sealed(connection)) return false;
      if (!connection.transform_->output().empty()) return true;  // on_sent() calls this again
    }
    const bool unread =
        connection.input_unread_ || connection.receive_paused_ || !connection.carry_.empty();
    if (!unread || connection.input_ended_) {
      destroy(connection, Cause::sent);
      return false;
    }
    connection.enter(Cause::sent_unread);
    connection.send_pending_ = true;  // nothing is sent after the end of our side
    connection.carry_.clear();
    connection.pause_reasons_ = 0;
    connection.receive_slowed_ = false;  // its input is dropped
    // A separate deadline, because the session still sets its own.
    set_send_deadline(connection, now_ + options_.linger_timeout);
    engine_.shutdown_send(connection.link_);
    update_receive(connection);
    return true;
  }

  // The link of an outgoing connection is lost while its session does not read. The session still
  // gets earlier input when it reads on; then on_closed() is called again. Output is dropped
  // meanwhile.
  KATANA_RARE bool reads_on(Connection& connection) noexcept {
    const bool has_session = connection.state_ != ConnectionState::opening;
    if (!connection.outgoing_ || !connection.receive_paused_ || connection.finishing() ||
        !has_session) {
      return false;
    }
    if (connection.failure_ == 0) connection.failure_ = ECONNRESET;
    connection.outbox_.clear();
    if (connection.transform_ != nullptr) connection.transform_->output().clear();
    connection.send_pending_ = connection.blocks_wanted_ = false;
    connection.writable_wanted_ = connection.writable_due_ = false;
    connection.send_deadline_ = never;
    connection.resume(PauseReason::outbox_full, PauseReason::pool_low);
    connection.wake();
    return true;
  }

  // False: the connection is gone.
  bool meet_deadlines(Connection& connection) noexcept {
    if (now_ >= connection.send_deadline_) {
      counters_.send_timeouts += connection.lingering() ? 0 : 1;
      destroy(connection, connection.lingering() ? Cause::linger_ends : Cause::cut_off);
      return false;
    }
    if (now_ >= connection.deadline_) {
      connection.deadline_ = never;
      if (!connection.lingering()) connection.session_->on_deadline();
    }
    const Instant rare = connection.extras_ != nullptr ? meet_rare_deadlines(connection) : never;
    const Instant earliest =
        std::min(rare, std::min(connection.deadline_, connection.send_deadline_));
    if (earliest < connection.armed_until_) connection.arm(earliest);
    return true;
  }

 private:
  // Returns the next of them.
  KATANA_RARE Instant meet_rare_deadlines(Connection& connection) noexcept {
    ConnectionExtras& extras = *connection.extras_;
    if (now_ >= extras.receive_deadline) {
      extras.receive_deadline = never;
      connection.receive_slowed_ = false;
    }
    if (now_ >= extras.age_deadline) grow_old(connection);
    return std::min(extras.receive_deadline, extras.age_deadline);
  }
  // Ends like the drain of a reactor: work in progress is completed.
  KATANA_RARE void grow_old(Connection& connection) noexcept {
    connection.extras_->age_deadline = never;
    if (connection.finishing()) return;
    ++counters_.connections_aged;
    connection.session_->on_drain();
  }

  KATANA_RARE void change_receive(Connection& connection) noexcept {
    if (memory_.strain() != 0) ease_memory(connection);
    const unsigned hard =
        connection.pause_reasons_ & ~static_cast<unsigned>(PauseReason::handler_pending);
    const bool full =
        connection.paused() && connection.carry_.bytes().size() >= options_.carry_small_bytes;
    const bool carries_behind_output = connection.writable_due_ && !connection.carry_.empty();
    const bool pause = hard != 0 || full || carries_behind_output || connection.receive_slowed_;
    if (connection.has(PauseReason::pool_low)) connection.wait_for_blocks();
    if (pause == connection.receive_paused_) return;
    connection.receive_paused_ = pause;
    if (pause) {
      engine_.pause_receive(connection.link_);
    } else {
      engine_.resume_receive(connection.link_);
    }
  }
};

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
