// ReactorLinks: the connections of a reactor's links, and the engine of the links. The lowest of
// the parts that make up ReactorOn:
//
//   ReactorLinks       a link gets its connection, and gives it back
//   ReactorSending     output, sealed or not, and files; output of others comes first
//   ReactorEnding      receiving on or off, the end of a connection, its deadlines
//   ReactorOffering    offers received bytes, and carries out the session's actions
//   ReactorTransforms  unseals received bytes, and opens transforms
//   ReactorOn          the turn, and the calls of the engine
//
// Each part calls those above it in this list. All are one object: a reference between them would
// be a load on the way of every request.
//
// Owns       the engine; a block for every connection and its session.
// Thread     its reactor's.
// Allocates  at construction only.
// Fails      never.
// Invariant  connections_ has a connection for each open link; the link is given back before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "katana/base/system/check.hpp"
#include "katana/base/system/hints.hpp"
#include "katana/net/reactor/connection.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/net/reactor/transform.hpp"

namespace katana::net {

template <class Engine>
class ReactorLinks : public Reactor {
 protected:
  using Cause = ConnectionCause;  // events that move a connection; see connection_states.hpp

  struct AcceptRetry : TimerEntry {
    explicit AcceptRetry(Engine& engine_given) noexcept
        : TimerEntry([](TimerEntry& entry) noexcept {
            static_cast<AcceptRetry&>(entry).engine.resume_accept();
          }),
          engine(engine_given) {}
    Engine& engine;
  };

  // The signals of this reactor: others have passed connections on to it, or waiting connections
  // have room again.
  struct Arrivals {
    // Wakes this reactor for one of the two.
    struct Signal : Message {  // the two signals differ in `action`
      Signal(ReactorLinks& owner_given, void (*action)(Message&) noexcept) noexcept
          : Message(action), owner(owner_given) {}
      ReactorLinks& owner;  // the reactor that it wakes
    };
    explicit Arrivals(ReactorLinks& owner) noexcept
        : arrived(owner,
                  [](Message& message) noexcept {
                    ReactorLinks& self = static_cast<Signal&>(message).owner;
                    self.share_->receive();
                    self.adopt_arrived();
                  }),
          room(owner, [](Message& message) noexcept {
            ReactorLinks& self = static_cast<Signal&>(message).owner;
            self.arrivals_.is_deferred = false;
            self.adopt_arrived();
          }) {}
    Signal arrived;
    Signal room;
    bool is_deferred = false;
  };

  // `arguments` go to the engine's constructor after its options and sink.
  template <class Sink, class... Arguments>
  ReactorLinks(const ReactorOptions& options, std::size_t session_bytes_max, Sink& sink,
               Arguments&&... arguments)
      : Reactor(options, Instant{}),
        connection_blocks_(sizeof(Connection) + session_bytes_max, options.engine.links_max),
        engine_(options.engine, sink, arguments...) {
    connections_.reserve(options.engine.links_max);
    note_time();
  }

 public:
  Instant read_clock() const noexcept override {
    if constexpr (requires { engine_.read_clock(); }) return engine_.read_clock();
    return now_;
  }
  MemoryBudget memory_budget() const noexcept override {
    const std::size_t each = connection_blocks_.block_bytes() + heap_bytes_each_;
    return {each * connection_blocks_.capacity(),
            output_blocks_.block_bytes() * output_blocks_.capacity(),
            carry_pools_.small.block_bytes() * carry_pools_.small.capacity() +
                carry_pools_.large.block_bytes() * carry_pools_.large.capacity(),
            engine_.memory_bytes(),
            memory_.bytes_max(),
            shared_bytes_};
  }
  MemoryBudget memory_used() const noexcept override {
    return {used(connection_blocks_),
            used(output_blocks_),
            used(carry_pools_.small) + used(carry_pools_.large),
            engine_.memory_used(),
            memory_.used(),
            0};
  }

 protected:
  // Takes over the time of the engine's turn.
  void note_time() noexcept {
    now_ = engine_.now();
    current_turn_began = now_;
    wall_clock_s_ = engine_.wall_clock_s();
  }

  // REQUIRES that the link is open.
  Connection& connection_of(engine::Link link) noexcept { return *connections_[link.index]; }

  // Makes the connection in the block of the link's index.
  Connection& add_connection(engine::Link link) noexcept {
    char* const block = connection_blocks_.take();
    KATANA_CHECK(block != nullptr);  // there is one for every link
    auto* const connection = new (block) Connection(*this, link);
    // Within the reserved size; entries that no link has had are not written to.
    if (link.index >= connections_.size()) connections_.resize(link.index + 1);
    connections_[link.index] = connection;
    ++links_open_;
    return *connection;
  }

  // Constructs the session behind the connection.
  static void open_session(Connection& connection, Protocol& protocol) noexcept {
    connection.enter(Cause::opened);
    connection.session_ = protocol.open(&connection + 1, connection);
  }

  // Closes the link first: until then the engine may borrow bytes of the outbox.
  KATANA_RARE void destroy(Connection& connection, Cause cause) noexcept {
    const engine::Link link = connection.link_;
    if (cause == Cause::cut_off) {
      engine_.reset(link);
    } else {
      engine_.close(link);
    }
    release(connection, cause);
    if (accept_retry_.armed()) timers_.arm(accept_retry_, now_);  // a descriptor is free
  }

  // Keeps the errno value with which an outgoing connection broke.
  KATANA_RARE void note_failure(Connection& connection) noexcept {
    if (!connection.outgoing_) return;
    connection.failure_ = static_cast<std::uint16_t>(engine_.failure(connection.link_));
  }

  // Called at the end; destroys the sessions, too.
  void destroy_all() noexcept {
    for (Connection* const connection : connections_) {
      if (connection == nullptr) continue;
      // A reset would destroy output that the other side of a lasting connection has not received
      // yet.
      destroy(*connection, connection->outlasts_drain_ ? Cause::link_lost : Cause::cut_off);
    }
  }

  // Frees a connection whose link the engine closes, or has closed.
  void release(Connection& connection, Cause cause) noexcept {
    KATANA_CHECK(state_after(connection.state_, cause) == ConnectionState::closed);
    connection.session_->~Session();
    if (connection.client_slot() != 0) leave_client(connection);
    if (preferred_ == &connection) preferred_ = nullptr;
    forget_queued(connection);
    if (connection.transform_ != nullptr) waiting_.remove(*connection.transform_);
    connections_[connection.link_.index] = nullptr;
    const bool connection_outlasts = connection.outlasts_drain_;
    const bool was_outgoing = connection.outgoing_;
    connection.~Connection();
    connection_blocks_.give(reinterpret_cast<char*>(&connection));
    --links_open_;
    if (connection_outlasts) --links_lasting_;
    ++counters_.closed;
    if (share_ != nullptr) note_room(was_outgoing);
  }

  // A link is free, for the next passed-on connection.
  void note_room(bool was_outgoing) noexcept {
    if (!was_outgoing) share_->closed(now_);
    if (share_->first_arrived() == nullptr || std::exchange(arrivals_.is_deferred, true)) return;
    defer(arrivals_.room);
  }

  // ---- limits of clients ----
  // False: it may not connect; counted.
  [[gnu::noinline]] bool admit_client(const engine::PeerEndpoint& peer, bool handshakes,
                                      ClientLimits::Slot& slot) noexcept {
    const auto admission = clients_->admit(peer, handshakes, now_);
    slot = admission.slot;
    if (admission.refusal == ClientRefusal::none) return true;
    ++counters_.client_refusals_by[static_cast<std::size_t>(admission.refusal)];
    return false;
  }
  KATANA_RARE void name_client(Connection& connection, ClientLimits::Slot slot) noexcept {
    connection.extras().client_slot = slot;
    if (!clients_->counts_bytes()) return;
    engine_.limit_receive(connection.link_, clients_->receive_max(true));
  }
  // The connection was admitted and is not counted.
  KATANA_RARE void expect_named_clients(Connection& connection) noexcept {
    if (!clients_->counts_requests()) return;
    (void)connection.extras();
    connection.may_name_clients_ = true;
  }
  KATANA_RARE void end_client_handshake(Connection& connection) noexcept {
    connection.handshake_counted_ = false;
    clients_->end_handshake(connection.client_slot());
  }
  KATANA_RARE void leave_client(Connection& connection) noexcept {
    if (connection.handshake_counted_) end_client_handshake(connection);
    clients_->leave(std::exchange(connection.extras_->client_slot, ClientLimits::Slot{0}));
  }
  // Charges received bytes to the client, which may have to wait before it is read again.
  KATANA_RARE void charge_client(Connection& connection, std::size_t bytes) noexcept {
    if (!clients_->counts_bytes()) return;
    const Duration wait = clients_->take_bytes(connection.client_slot(), bytes, now_);
    engine_.limit_receive(connection.link_, clients_->receive_max(wait <= Duration{}));
    if (wait <= Duration{}) return;
    ++counters_.client_receive_pauses;
    connection.receive_slowed_ = true;
    // Up to half as long again, evenly spread: clients that were stopped together do not come back
    // together, and ahead of the others.
    const std::uint64_t spread = counters_.client_receive_pauses * 0x9E3779B97F4A7C15u >> 54;
    const Instant deadline =
        now_ + wait + nanoseconds(wait.ns / 2048 * static_cast<std::int64_t>(spread));
    connection.extras_->receive_deadline = deadline;
    if (deadline < connection.armed_until_) connection.arm(deadline);
  }

  BlockPool connection_blocks_;
  std::vector<Connection*> connections_;  // up to the highest index that a link has had
  std::size_t heap_bytes_each_ = 0;       // the most of all listeners
  std::size_t shared_bytes_ = 0;
  WaitingTransforms waiting_;
  Engine engine_;
  AcceptRetry accept_retry_{engine_};
  Arrivals arrivals_{*this};

 private:
  virtual void adopt_arrived() noexcept = 0;
  std::span<Connection* const> links() const noexcept override { return connections_; }
  void reset_link(Connection& connection) noexcept override { destroy(connection, Cause::cut_off); }
  static std::size_t used(const BlockPool& pool) noexcept {
    return (pool.capacity() - pool.available()) * pool.block_bytes();
  }
};

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
