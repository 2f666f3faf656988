// ReactorOffering: offers received bytes to the session. Right after each call it carries out the
// session's actions on its connection: output is sent, an end begins, another session takes over.
//
// deliver → offer (Session::on_bytes, as long as it makes progress) → flush_and_update. Bytes that
// were not consumed are carried, and offered again by run_pending.
//
// Borrows    received bytes, for the call.
// Thread     its reactor's.
// Allocates  never.
// Fails      false: the connection is gone.
// Invariant  a session's calls never nest; a paused or finishing session is offered nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "katana/base/system/check.hpp"
#include "katana/base/system/hints.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/net/reactor/reactor_ending.hpp"
#include "katana/net/reactor/session.hpp"

namespace katana::net {

template <class Engine>
class ReactorOffering : public ReactorEnding<Engine> {
 protected:
  using Base = ReactorEnding<Engine>;
  using Base::backlog_count_, Base::budget_spent, Base::connection_blocks_, Base::counters_,
      Base::defers, Base::destroy, Base::end, Base::first_backlog_, Base::flush, Base::flush_sealed,
      Base::meet_deadlines, Base::offer_writable, Base::pop_backlog, Base::renew_budget,
      Base::running_backlog_, Base::update_receive;
  using Base::Base;
  using typename Base::Cause;

  // Offers bytes to the session. False: the connection is gone.
  [[gnu::always_inline]] bool deliver(Connection& connection, Bytes bytes) noexcept {
    const bool direct = connection.carry_.empty() && !connection.paused();
    if (direct) {
      const Offered offered = offer(connection, bytes, writable_rounds_max);
      if (!offered.alive) return false;
      bytes.remove_prefix(offered.consumed);
    }
    if (!bytes.empty() && !keep(connection, bytes)) return false;
    return direct || connection.paused() || offer_carried(connection);
  }

  // False: the connection is gone.
  bool end_input(Connection& connection) noexcept {
    connection.input_ended_ = true;
    if (connection.finishing()) return true;
    // Input before the end goes first: it may be carried since a handler answered in this turn.
    if (!connection.paused() && !offer_carried(connection)) return false;
    // The session is told after the rest if it has yet to be offered the rest.
    const bool more =
        !connection.carry_.empty() && !connection.paused() && connection.writable_due_;
    if (!connection.finishing() && !more) connection.session_->on_input_end();
    return flush_and_update(connection);
  }

  // Keeps bytes that the session did not consume. False: no block is left, and the connection is
  // gone.
  KATANA_RARE bool keep(Connection& connection, Bytes bytes) noexcept {
    if (connection.carry_.append(bytes)) return true;
    ++counters_.pool_exhausted;
    destroy(connection, Cause::cut_off);
    return false;
  }

  // Sends pending output and carries out an end. False: the connection is gone.
  [[gnu::noinline]] bool flush_and_update(Connection& connection) noexcept {
    return flush_and_update_inlined(connection);
  }
  [[gnu::always_inline]] bool flush_and_update_inlined(Connection& connection) noexcept {
    if (connection.interrupted_ && !interrupt(connection)) return false;
    if (!connection.outbox_.empty() && !connection.send_pending_) {
      if (defers(connection, connection.outbox_.pending())) [[unlikely]]
        return true;
      if (!flush(connection)) return false;
    }
    if (connection.finishing() && connection.outbox_.empty() && !connection.lingering()) {
      return end(connection);
    }
    const bool waits = connection.waits_until_writable() || connection.writable_wanted_;
    if (waits && !connection.finishing()) [[unlikely]]
      offer_writable(connection);
    return true;
  }

  // Serves connections with more output in turn: each gets one round while others wait.
  KATANA_RARE void run_backlog() noexcept {
    renew_budget();
    running_backlog_ = true;
    for (std::size_t left = backlog_count_; left != 0 && !budget_spent(); --left) {
      Connection* const connection = pop_backlog();
      if (connection == nullptr) break;
      run_pending(*connection);
    }
    running_backlog_ = false;
  }

  // Handles a woken connection: its deadlines, new room, waiting bytes, and pending output.
  void run_pending(Connection& connection) noexcept {
    if (!meet_deadlines(connection)) return;
    const bool sealed = connection.transform_ != nullptr && !connection.send_pending_ &&
                        !connection.transform_->output().empty();
    if (sealed && !flush_sealed(connection)) return;
    run_pending_output(connection);
  }

  // Sends, and asks the session for more, a bounded number of times.
  void run_pending_output(Connection& connection) noexcept {
    const int rounds = first_backlog_ == nullptr ? writable_rounds_max : writable_rounds_shared;
    for (int round = 0; round < rounds; ++round) {
      if (!flush_and_update(connection)) return;
      if (connection.finishing()) {
        connection.writable_due_ = false;  // no caller waits for it any more
        break;
      }
      if (connection.writable_due_) {
        // Its output could not be sent in this round.
        if (round + 1 == rounds || budget_spent()) break;
        connection.writable_due_ = false;
        connection.session_->on_writable();
        continue;
      }
      if (connection.paused()) break;
      const std::size_t carried = connection.carry_.bytes().size();
      if (!offer_carried(connection)) return;
      if (connection.carry_.bytes().size() == carried && !connection.writable_due_) break;
    }
    if (connection.writable_due_) connection.join_backlog();
    if (connection.input_ended_ && !connection.writable_due_ && !connection.paused() &&
        !connection.finishing()) {
      connection.session_->on_input_end();
      if (!flush_and_update(connection)) return;
    }
    update_receive(connection);
  }

 private:
  struct Offered {
    std::size_t consumed;
    bool alive;
  };
  // The most rounds of sending and asking for more in one go. A fast reader of an endless reply
  // must not keep the turn to itself. With other senders a connection sends outbox_high_bytes. In
  // the last round the session is not asked for more.
  static constexpr int writable_rounds_max = 17;
  static constexpr int writable_rounds_shared = 2;

  // Offers `bytes` as long as the session takes some and may go on. A session that stopped for a
  // full outbox may go on when the other side took all of it, at most `rounds` times.
  [[gnu::always_inline]] Offered offer(Connection& connection, Bytes bytes, int rounds) noexcept {
    std::size_t consumed = 0;
    for (;;) {
      const std::size_t used =
          connection.session_->on_bytes({bytes.data() + consumed, bytes.size() - consumed});
      KATANA_CHECK(used <= bytes.size() - consumed);
      consumed += used;
      const bool was_paused = connection.paused();
      if (connection.finishing() && consumed < bytes.size()) connection.input_unread_ = true;
      if (!flush_and_update_inlined(connection)) return {consumed, false};
      if (connection.finishing()) return {bytes.size(), true};
      if (consumed == bytes.size() || connection.paused()) return {consumed, true};
      if (connection.take_session_replaced()) continue;  // the replacement gets the rest
      if (was_paused ? --rounds == 0 || budget_spent() : used == 0) return {consumed, true};
    }
  }

  // False: the connection is gone.
  KATANA_RARE bool offer_carried(Connection& connection) noexcept {
    if (connection.carry_.empty()) return true;
    const Offered offered = offer(connection, connection.carry_.bytes(), 1);
    if (!offered.alive) return false;
    if (connection.finishing()) {
      connection.carry_.clear();
    } else {
      connection.carry_.consume(offered.consumed);
    }
    return true;
  }

  // Handles a reset, another session, or the first output of a transform. False: the connection is
  // gone.
  KATANA_RARE bool interrupt(Connection& connection) noexcept {
    while (connection.interrupted_) {  // the connection may end, or another session may begin
      if (connection.state_ == ConnectionState::resetting) {
        destroy(connection, Cause::cut_off);
        return false;
      }
      connection.interrupted_ = false;
      if (connection.extras_ != nullptr && connection.extras_->replacement != nullptr) {
        replace_session(connection);
      } else if (!say_first_word(connection)) {
        return false;
      }
    }
    return true;
  }

  void replace_session(Connection& connection) noexcept {
    const std::unique_ptr<SessionReplacement> replacement =
        std::move(connection.extras_->replacement);
    if (connection.finishing()) return;
    KATANA_REQUIRE(sizeof(Connection) + replacement->session_bytes() <=
                   connection_blocks_.block_bytes());
    connection.session_->~Session();
    // Pauses for output remain: they belong to the connection, for every writer.
    connection.pause_reasons_ &= static_cast<std::uint8_t>(PauseReason::outbox_full) |
                                 static_cast<std::uint8_t>(PauseReason::pool_low);
    connection.writable_wanted_ = connection.writable_due_ = false;
    connection.session_replaced_ = true;
    connection.session_ = replacement->open(&connection + 1, connection);
    connection.wake();  // it is offered waiting bytes, and learns of the input's end
  }

  // Sends the first output of an outgoing connection's transform. False: the connection is gone.
  virtual bool say_first_word(Connection& connection) noexcept = 0;
};

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
