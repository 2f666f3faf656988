// ReactorSending: sends an outbox to the engine, through the connection's transform if it has one.
// A connection without a transform pays a branch in flush().
//
// Owns       the working memory of transforms.
// Borrows    blocks of an outbox, until the engine has accepted them.
// Thread     its reactor's.
// Allocates  prepare_transforms() once.
// Fails      false: the connection is gone.
// Invariant  at most one send of a connection is pending; the order of the outbox is kept.
#pragma once

#include <array>
#include <memory>
#include <span>

#include "katana/base/system/hints.hpp"
#include "katana/net/reactor/reactor_links.hpp"
#include "katana/net/reactor/records.hpp"
#include "katana/net/reactor/transform.hpp"

namespace katana::net {

template <class Engine>
class ReactorSending : public ReactorLinks<Engine> {
 protected:
  using Base = ReactorLinks<Engine>;
  using Base::Base;
  using Base::budget_spent, Base::counters_, Base::destroy, Base::engine_, Base::note_failure,
      Base::note_sent, Base::now_, Base::options_, Base::set_send_deadline;
  using typename Base::Cause;  // events that move a connection; see connection_states.hpp

  // Called once, before the first connection with a transform.
  void prepare_transforms() {
    if (buffers_ != nullptr) return;
    buffers_ = std::make_unique<TransformBuffers>(options_.engine.receive_bytes_max);
  }

  // The turn has sent enough, and pending output waits for a later one.
  bool defers(Connection& connection, std::size_t pending) noexcept {
    return budget_spent() && pending > options_.output_block_bytes && defer_output(connection);
  }

  // Inlined for one run of bytes that the other side takes at once, which is nearly every reply.
  [[gnu::always_inline]] bool flush(Connection& connection) noexcept {
    if (connection.transform_ != nullptr) [[unlikely]]
      return flush_sealed(connection);
    Outbox& outbox = connection.outbox_;
    iovec only;
    if (!outbox.gather_only(only)) return send(connection, outbox);
    std::size_t accepted = 0;
    const engine::Sent sent = engine_.send(connection.link_, {&only, 1}, accepted);
    if (sent != engine::Sent::completed) [[unlikely]]
      return note_incomplete(connection, outbox, sent, accepted);
    if (connection.send_deadline_ == never) [[likely]] {
      counters_.bytes_sent += only.iov_len;
      connection.counters_.bytes_sent += only.iov_len;
      outbox.advance_only();
      return true;
    }
    note_sent(connection, outbox, accepted);
    return outbox.empty() || send(connection, outbox);
  }

  // Seals pending output, up to the most that the other side may be behind, and sends it. False:
  // the connection is gone. REQUIRES that no send is pending.
  [[gnu::noinline]] bool flush_sealed(Connection& connection) noexcept {
    Outbox& output = connection.transform_->output();
    for (int round = 0; round < sealed_rounds_max; ++round) {
      if (round != 0 && budget_spent() && !connection.outbox_.empty()) break;
      if (!connection.outbox_.empty() && !seal(connection, output)) return false;
      if (output.empty()) return true;
      if (!send(connection, output)) return false;
      if (connection.send_pending_) return true;
    }
    connection.join_backlog();  // a long file and a fast reader
    return true;
  }

  std::unique_ptr<TransformBuffers> buffers_;  // null: no listener has transforms

 private:
  // Rounds of sealing and sending in one go.
  static constexpr int sealed_rounds_max = 16;

  KATANA_RARE bool defer_output(Connection& connection) noexcept {
    ++counters_.output_deferrals;
    connection.join_backlog();
    return true;
  }

  // Sends `outbox`, which is not empty: the connection's, or its transform's. False: the connection
  // is gone.
  [[gnu::noinline]] bool send(Connection& connection, Outbox& outbox) noexcept {
    std::array<iovec, gather_max> parts;
    do {
      const std::size_t count = outbox.gather(parts);
      std::size_t accepted = 0;
      if (outbox.has_files()) [[unlikely]] {
        if (const FilePart file = outbox.file_behind(count); file.size != 0) {
          return flush_file(connection, {parts.data(), count}, file);
        }
      }
      const engine::Sent sent = engine_.send(connection.link_, {parts.data(), count}, accepted);
      if (sent != engine::Sent::completed) {
        return note_incomplete(connection, outbox, sent, accepted);
      }
      note_sent(connection, outbox, accepted);
    } while (!outbox.empty());
    return true;
  }

  // The rest is sent later, or the link is lost. False: the connection is gone.
  [[gnu::noinline]] bool note_incomplete(Connection& connection, Outbox& outbox, engine::Sent sent,
                                         std::size_t accepted) noexcept {
    if (sent == engine::Sent::failed) {
      if (connection.failure_ != 0 && !connection.finishing()) {  // it reads the rest
        outbox.clear();
        return true;
      }
      note_failure(connection);
      destroy(connection, Cause::link_lost);
      return false;
    }
    note_send(connection, outbox, sent, accepted);
    return true;
  }

  // Sends `before`, and the file behind it. The rest waits for other connections: a client that
  // reads a long file fast does not keep the turn.
  KATANA_RARE bool flush_file(Connection& connection, std::span<const iovec> before,
                              const FilePart& file) noexcept {
    std::size_t accepted = 0;
    const engine::Sent sent = engine_.send_file(connection.link_, before, file, accepted);
    if (sent == engine::Sent::failed) {
      // Perhaps the file is shorter than its reply says. The other side must not take the end of
      // the connection for the end of the reply.
      ++counters_.file_failures;
      destroy(connection, Cause::cut_off);
      return false;
    }
    note_send(connection, connection.outbox_, sent, accepted);
    if (sent == engine::Sent::completed && !connection.outbox_.empty()) connection.join_backlog();
    return true;
  }

  void note_send(Connection& connection, Outbox& outbox, engine::Sent sent,
                 std::size_t accepted) noexcept {
    if (sent == engine::Sent::pending) {
      connection.send_pending_ = true;
      if (connection.send_deadline_ == never) {
        set_send_deadline(connection, now_ + options_.send_timeout);
      }
    }
    note_sent(connection, outbox, accepted);
  }

  // False: the connection is gone.
  bool seal(Connection& connection, Outbox& output) noexcept {
    while (!connection.outbox_.empty() && output.pending() < options_.sealed_high_bytes) {
      const Bytes record = next_record(connection.outbox_, buffers_->record);
      if (record.empty()) {
        ++counters_.file_failures;  // the file is shorter than its reply says
        destroy(connection, Cause::cut_off);
        return false;
      }
      const std::size_t sealed = connection.transform_->seal(record);
      if (sealed == 0 && !connection.transform_->can_seal()) {
        connection.outbox_.clear();
        connection.finish(Finish::linger);
        return true;
      }
      if (sealed == 0) {
        // Blocks are scarce: the connection that gives some back wakes this one. Its wait counts
        // against the other side's send timeout.
        connection.pause(PauseReason::pool_low);
        connection.blocks_wanted_ = connection.transform_->output().empty();
        if (connection.send_deadline_ == never) {
          set_send_deadline(connection, now_ + options_.send_timeout);
        }
        return true;
      }
      connection.blocks_wanted_ = false;
      connection.outbox_.advance(sealed);
    }
    return true;
  }
};

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
