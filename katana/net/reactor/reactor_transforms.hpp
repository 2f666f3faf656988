// ReactorTransforms: unseals the bytes of a link with a transform before they are delivered, and
// opens its session when the transform is open. A turn opens a limited number
// (ReactorOptions::openings_per_turn_max); the others wait in line.
//
// Borrows    received bytes, for the call; bytes of a waiting transform are carried in sealed form.
// Thread     its reactor's.
// Allocates  a transform for each connection, by its factory.
// Fails      false: the connection is gone.
// Invariant  a connection is `opening` until its transform is open: its session is OpeningSession.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "katana/base/memory/poison.hpp"
#include "katana/base/system/check.hpp"
#include "katana/base/system/hints.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/net/reactor/opening_session.hpp"
#include "katana/net/reactor/reactor_offering.hpp"

namespace katana::net {

template <class Engine>
class ReactorTransforms : public ReactorOffering<Engine> {
 protected:
  using Base = ReactorOffering<Engine>;
  using Base::Base;
  using Base::buffers_, Base::counters_, Base::deliver, Base::destroy, Base::end_input,
      Base::admit_client, Base::flush_and_update, Base::flush_sealed, Base::keep, Base::now_,
      Base::open_session, Base::options_, Base::output_blocks_, Base::release, Base::update_receive,
      Base::waiting_;
  using typename Base::Cause;  // events that move a connection; see connection_states.hpp

  // False: no transform could be made, and the connection is gone. The engine closes the link.
  bool begin_opening(Connection& connection, Protocol& protocol,
                     TransformFactory& transforms) noexcept {
    connection.transform_ = transforms.make(output_blocks_);
    connection.session_ = new (&connection + 1) OpeningSession(connection, protocol);
    if (connection.transform_ != nullptr) return true;
    release(connection, Cause::cut_off);
    return false;
  }

  // Bytes of a link that has a transform.
  [[gnu::noinline]] void on_sealed(Connection& connection, Bytes bytes) noexcept {
    if (!unseal(connection, bytes)) return;
    if (connection.transform_ == nullptr) {  // the transform has handed on
      if (flush_and_update(connection)) update_receive(connection);
      return;
    }
    // The transform's own output: a handshake, an alert, new keys.
    const Outbox& output = connection.transform_->output();
    if (!output.empty() && !connection.send_pending_ && !flush_sealed(connection)) return;
    if (output.pending() > options_.sealed_high_bytes + sealed_slack_bytes) {
      destroy(connection, Cause::cut_off);  // it makes us send, and does not read
      return;
    }
    if (flush_and_update(connection)) update_receive(connection);
  }

  // At the beginning of a turn: opens waiting transforms, at most openings_per_turn_max.
  KATANA_RARE void admit_waiting() noexcept {
    while (openings_left_ != 0 && !waiting_.empty()) {
      Connection& connection = waiting_.pop();
      KATANA_CHECK(connection.carry_.bytes().size() <= buffers_->waited.size());
      connection.resume(PauseReason::opening);
      const Bytes carried = connection.carry_.bytes();
      std::ranges::copy(carried, buffers_->waited.begin());
      const Bytes bytes(buffers_->waited.data(), carried.size());
      connection.carry_.clear();
      on_sealed(connection, bytes);
    }
  }

  std::uint32_t openings_left_ = 0;  // in this turn

 private:
  // Pending output that may exceed sealed_high_bytes: a record, and the transform's own output.
  static constexpr std::size_t sealed_slack_bytes = 64 * 1024;

  bool say_first_word(Connection& connection) noexcept override {
    return unseal(connection, {}) && flush_sealed(connection);
  }

  // False: the connection is gone.
  bool unseal(Connection& connection, Bytes bytes) noexcept {
    std::vector<char>& plain = buffers_->plain;
    while (!connection.finishing()) {
      const Lending lent(plain.data(), plain.size());
      const TransformStep step = connection.transform_->receive(bytes, plain, now_);
      bytes.remove_prefix(step.consumed);
      switch (step.event) {
        case TransformEvent::need_bytes: return true;
        case TransformEvent::bytes:
          if (!deliver(connection, {plain.data(), step.produced})) return false;
          if (bytes.empty() && step.produced < plain.size()) return true;
          break;
        case TransformEvent::costly:
          if (openings_left_ == 0) return wait_for_turn(connection, bytes);
          --openings_left_;
          connection.transform_->admit();
          break;
        case TransformEvent::opened: end_opening(connection); break;
        case TransformEvent::handed_on:
          if (!replace_transform(connection)) return false;
          if (bytes.empty()) return true;
          if (connection.transform_ == nullptr) return deliver(connection, bytes);
          break;
        case TransformEvent::ended: return connection.input_ended_ || end_input(connection);
        case TransformEvent::failed:
          connection.outbox_.clear();  // its output cannot be sent any more
          // This client does not wait for a reply that a reset could destroy.
          connection.finish(connection.outgoing_ ? Finish::close : Finish::linger);
          break;
      }
    }
    return true;
  }

  // Replaces a transform that is done. False: the connection is gone.
  KATANA_RARE bool replace_transform(Connection& connection) noexcept {
    const std::unique_ptr<Transform> done = std::move(connection.transform_);
    HandedOn handed = done->hand_on();
    connection.transform_ = std::move(handed.next);
    if (handed.peer) connection.peer_ = *handed.peer;
    const bool handshakes = connection.transform_ != nullptr;
    ClientLimits::Slot slot = 0;
    if (handed.failed ||
        (connection.limited_behind_proxy_ && !admit_client(connection.peer_, handshakes, slot))) {
      destroy(connection, Cause::cut_off);
      return false;
    }
    if (slot != 0) {
      this->name_client(connection, slot);
    } else if (connection.limited_behind_proxy_) {
      this->expect_named_clients(connection);
    }
    connection.handshake_counted_ = handshakes && slot != 0;
    if (handshakes) {
      static_cast<OpeningSession*>(connection.session_)->begin_waiting(now_);
    } else {
      end_opening(connection);
    }
    return true;
  }

  void end_opening(Connection& connection) noexcept {
    if (connection.handshake_counted_) this->end_client_handshake(connection);
    auto* const opening = static_cast<OpeningSession*>(connection.session_);
    Protocol& protocol = opening->open();
    opening->~OpeningSession();
    connection.deadline_ = never;
    open_session(connection, protocol);
  }

  // The transform may not go on in this turn. The bytes behind it are carried in sealed form: there
  // is no session yet that could have carried bytes.
  KATANA_RARE bool wait_for_turn(Connection& connection, Bytes bytes) noexcept {
    if (!bytes.empty() && !keep(connection, bytes)) return false;
    connection.pause(PauseReason::opening);
    waiting_.push(*connection.transform_, connection);
    ++counters_.openings_delayed;
    return true;
  }
};

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
