// Connection: one link as its session sees it, independent of the kernel.
//
// Owns       its outbox and its carry; both are empty and hold no memory while the connection is
//            idle.
// Thread     its reactor's.
// Allocates  only the rarely used members (ConnectionExtras), from the recycler.
// Invariant  its life follows the table of connection_states.hpp; while a PauseReason is set the
//            session is not offered bytes, and the bits are also the metric.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "katana/base/memory/outbox.hpp"
#include "katana/base/memory/recycler.hpp"
#include "katana/base/system/check.hpp"
#include "katana/base/system/hints.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/net/engine/engine.hpp"
#include "katana/net/reactor/carry.hpp"
#include "katana/net/reactor/client_limits.hpp"
#include "katana/net/reactor/connection_states.hpp"
#include "katana/net/reactor/session.hpp"
#include "katana/net/reactor/timer_wheel.hpp"
#include "katana/net/reactor/transform.hpp"

namespace katana::net {

// The reasons for which a session is not offered bytes.
enum class PauseReason : std::uint8_t {
  outbox_full = 1 << 0,       // the other side reads slower than we write
  handler_pending = 1 << 1,   // a reply is being made; pipelined requests wait behind it
  content_unwanted = 1 << 2,  // a handler does not read its request body at present
  pool_low = 1 << 3,          // the reactor has few output blocks left
  throttled = 1 << 4,         // the other side sends more than it may
  relay_full = 1 << 5,        // subscribers of its data have not taken the earlier data yet
  opening = 1 << 6,           // its transform waits for the next turn's openings
  memory_low = 1 << 7,        // it holds much, and another request is to be complete first
};

// How a connection ends once its outbox is sent.
//   close   at once: everything that the other side sent has been read
//   linger  our side first; bytes of the other side are read and dropped until it ends too.
//           Closing with unread input makes the kernel reset the connection. The reset can destroy
//           the reply in transit (RFC 9112 §9.6).
enum class Finish : std::uint8_t { close, linger };

// The counts of one connection since it was accepted.
struct ConnectionCounters {
  std::uint64_t bytes_received = 0;  // by the engine, before a transform
  std::uint64_t bytes_sent = 0;      // accepted by the kernel, behind a transform
  std::uint32_t requests = 0;        // counted by the session
  std::uint32_t opened_ticks = 0;    // see Connection::opened_at()
};

// The members that a connection needs only while its session is replaced, with client limits, and
// with a greatest age. All other connections do without this memory.
struct ConnectionExtras {
  std::unique_ptr<SessionReplacement> replacement;  // null: the session is not to be replaced
  Instant age_deadline = never;                     // the time to end gently
  Instant receive_deadline = never;  // its client sends too fast: not read before this time
  std::uint32_t client_slot = 0;     // in the reactor's ClientLimits; 0: nothing is counted
  std::uint32_t bytes_dropped = 0;   // received after the end
  ClientPlace request_place = {};    // for a session with one request at a time

  // Takes memory from the recycler.
  static void* operator new(std::size_t bytes) { return recycler::allocate(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept {
    recycler::release(memory, bytes);
  }
};

// Aligned for any type, like the session that lies behind it.
class alignas(std::max_align_t) Connection : private TimerEntry {
 public:
  Connection(Reactor& reactor, engine::Link link) noexcept;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Reactor& reactor() noexcept { return reactor_; }  // its thread runs everything here
  // For calls of the engine; invalid once closed.
  engine::Link link() const noexcept { return link_; }
  // The address of the other side for the life of the connection, however it ends. The accept
  // reported it, and it is never empty then. For an outgoing connection: none.
  const engine::PeerEndpoint& peer() const noexcept { return peer_; }
  // The reactor's listener that accepted it, in the order of listen(). For an outgoing connection:
  // 0.
  engine::Listener listener() const noexcept { return listener_; }
  Outbox& outbox() noexcept { return outbox_; }

  // Calls Session::on_deadline() at `deadline`, or never. Moving it later costs nothing.
  void set_deadline(Instant deadline) noexcept {
    deadline_ = deadline;
    if (deadline < armed_until_) arm(deadline);
  }
  Instant deadline() const noexcept { return deadline_; }

  // Stops offering bytes to the session until every reason is resumed.
  void pause(PauseReason reason) noexcept { pause_reasons_ |= static_cast<std::uint8_t>(reason); }
  // Outside a call of the session, call wake() afterwards.
  void resume(PauseReason reason) noexcept {
    pause_reasons_ &= static_cast<std::uint8_t>(~static_cast<unsigned>(reason));
  }
  void resume(PauseReason one, PauseReason other) noexcept {
    const unsigned both = static_cast<unsigned>(one) | static_cast<unsigned>(other);
    pause_reasons_ &= static_cast<std::uint8_t>(~both);
  }
  bool has(PauseReason reason) const noexcept {
    return (pause_reasons_ & static_cast<std::uint8_t>(reason)) != 0;
  }
  bool paused() const noexcept { return pause_reasons_ != 0; }
  // True when the other side is too slow for the pending output. Also true when the reactor has too
  // few output blocks left for `bytes` more. It then pauses until room is back and
  // Session::on_writable() is called. With nothing pending it is false for all that fits a block,
  // however few blocks are left.
  bool output_full(std::size_t bytes = 0) noexcept;
  // The pending output above which the connection is full: ReactorOptions::outbox_high_bytes, and
  // less while the reactor's blocks are scarce.
  std::size_t output_mark() const noexcept;
  // The same share of a limit that a session has for output that it writes without a request.
  std::size_t queue_mark(std::size_t most) const noexcept;
  // Like output_full(), but pauses nothing.
  bool output_takes(std::size_t bytes) const noexcept;
  // Calls Session::on_writable() once the outbox is empty, without a pause: for a session that has
  // more to send without further input.
  void want_writable() noexcept { writable_wanted_ = true; }
  bool waits_until_writable() const noexcept {
    return (pause_reasons_ & (static_cast<unsigned>(PauseReason::outbox_full) |
                              static_cast<unsigned>(PauseReason::pool_low))) != 0;
  }

  ConnectionCounters& counters() noexcept { return counters_; }  // of this connection

  // ---- limits of its client (net/reactor/client_limits.hpp) ----
  // False: its client has no limit, nothing is counted, and the calls below are not needed.
  bool may_limit_requests() const noexcept { return extras_ != nullptr; }
  // None: its client has reached its limit of requests; counted. The place belongs to the work of
  // the request, which may go on after the connection is gone.
  std::optional<ClientPlace> begin_request() noexcept {
    if (extras_ == nullptr) return ClientPlace();
    return begin_client_request();
  }
  // Its client is not counted, and may be a proxy that sends the requests of other clients.
  bool may_name_clients() const noexcept { return may_name_clients_; }
  // Like begin_request(), for a client that a trusted proxy names.
  std::optional<ClientPlace> begin_request_of(const IpAddress& client) noexcept;
  // Keeps the place until take_place(), for a session with one request at a time. REQUIRES
  // may_limit_requests().
  void keep_place(ClientPlace place) noexcept { extras_->request_place = std::move(place); }
  ClientPlace take_place() noexcept {
    return extras_ != nullptr ? std::move(extras_->request_place) : ClientPlace();
  }

  // The other side has ended its side of the stream.
  bool input_ended() const noexcept { return input_ended_; }
  // The end was not authenticated (no close_notify): an attacker on the path may have forged it,
  // and input before it may be incomplete. Never true without a transform, the only one that can
  // tell.
  bool input_truncated() const noexcept { return input_truncated_; }

  // Whether this side has opened the connection.
  bool outgoing() const noexcept { return outgoing_; }
  // A drain does not wait for its end, only for its pending output, and its loss at the end of the
  // drain does not count. Requests in progress and tasks use it to the last. REQUIRES outgoing().
  void outlast_drain() noexcept;
  // The errno value with which an outgoing connection broke; 0: it did not, or nothing is known. It
  // is known while the session is destroyed. It is known from the break on if the session did not
  // read then and has yet to get earlier input.
  int failure() const noexcept { return failure_; }

  // Null: the session reads and writes the bytes of the link.
  Transform* transform() const noexcept { return transform_.get(); }
  // The protocol agreed on before the session was opened (ALPN); empty: none.
  Bytes application_protocol() const noexcept {
    return transform_ != nullptr ? transform_->application_protocol() : Bytes();
  }

  // Null: the other side has shown no certificate.
  const PeerCertificate* peer_certificate() const {
    return transform_ != nullptr ? transform_->peer_certificate() : nullptr;
  }

  // Ends the connection once the outbox is sent. No more bytes are offered.
  void finish(Finish how) noexcept {
    if (!finishing()) enter(ConnectionCause::finish);
    input_unread_ = input_unread_ || how == Finish::linger;
  }
  // True also when resetting or lingering: no more bytes are offered.
  bool finishing() const noexcept { return state_ >= ConnectionState::finishing; }
  // Ends the connection without sending pending output. No more bytes are offered.
  void reset() noexcept {
    if (state_ == ConnectionState::resetting) return;
    enter(ConnectionCause::reset);
    interrupted_ = true;
  }
  ConnectionState state() const noexcept { return state_; }

  // ---- for lists of connections ----
  // The time of the turn in which the link was opened, less 17 ms at most. Four bytes hold it,
  // because there are many idle connections.
  Instant opened_at() const noexcept { return {std::int64_t{counters_.opened_ticks} << tick_bits}; }
  // The result of Session::protocol_name(). Empty: it has no session yet.
  Bytes protocol_name() const noexcept {
    return session_ != nullptr ? session_->protocol_name() : Bytes();
  }
  // The reasons for which it is not read, as bits: see PauseReason.
  std::uint8_t pause_reasons() const noexcept { return pause_reasons_; }
  // The bytes that wait to be sent: those of the session, and those of the transform.
  std::size_t output_pending() const noexcept { return unsent(); }
  // The received bytes that its session has not consumed.
  std::size_t input_pending() const noexcept { return carry_.bytes().size(); }

  // Lets another session take over. Once the present call of the session has returned, it is
  // destroyed and `replacement` opens the next one in its memory. Unconsumed input is offered to
  // that one; written output goes out first. Pauses and the deadline of the old session end with
  // it. Nothing happens if the connection is finishing by then. REQUIRES that this session has not
  // requested another one yet.
  void replace_session(std::unique_ptr<SessionReplacement> replacement) noexcept {
    KATANA_REQUIRE(extras().replacement == nullptr && replacement != nullptr);
    extras_->replacement = std::move(replacement);
    interrupted_ = true;
    deadline_ = never;
  }

  // REQUIRED after a change of the connection outside a call of its session. Before the turn ends
  // the reactor sends pending output and offers waiting bytes.
  void wake() noexcept;
  // The same, ahead of all connections woken so far.
  void wake_first() noexcept;

 private:
  friend class Reactor;
  template <class>
  friend class ReactorLinks;
  template <class>
  friend class ReactorSending;
  template <class>
  friend class ReactorEnding;
  template <class>
  friend class ReactorOffering;
  template <class>
  friend class ReactorTransforms;
  template <template <class> class>
  friend class ReactorOn;

  // The reactor's list in which it is queued, if that is not the list of woken ones.
  enum class QueuedFor : std::uint8_t { attention, blocks, backlog };
  static constexpr int tick_bits = 24;  // a tick of opened_ticks is so many bits of nanoseconds

  void enter(ConnectionCause cause) noexcept {
    const ConnectionState next = state_after(state_, cause);
    KATANA_CHECK(next != state_);
    state_ = next;
  }
  bool lingering() const noexcept { return state_ == ConnectionState::lingering; }
  KATANA_RARE std::optional<ClientPlace> begin_client_request() noexcept;
  static void on_timer(TimerEntry& entry) noexcept;
  void arm(Instant expiry) noexcept;
  ConnectionExtras& extras() {
    if (extras_ == nullptr) extras_ = std::make_unique<ConnectionExtras>();
    return *extras_;
  }
  std::uint32_t client_slot() const noexcept {
    return extras_ != nullptr ? extras_->client_slot : 0;
  }
  // Waits until the reactor has output blocks again.
  void wait_for_blocks() noexcept;
  bool pause_for_blocks(std::size_t bytes) noexcept;
  // The number of bytes that wait to be sent, whether sealed or not.
  std::size_t unsent() const noexcept {
    return outbox_.pending() + (transform_ != nullptr ? transform_->output().pending() : 0);
  }
  // Ends waits for room or for blocks that are over. False: none is.
  bool regain_capacity() noexcept;
  bool take_session_replaced() noexcept {
    const bool succeeded = session_replaced_;
    session_replaced_ = false;
    return succeeded;
  }
  std::size_t blocks_held() const noexcept;
  void enqueue(Connection*& first) noexcept;
  // Queues it with more output to send, behind the other connections.
  void join_backlog() noexcept;

  Reactor& reactor_;
  engine::Link link_;
  Session* session_ = nullptr;
  std::unique_ptr<Transform> transform_;
  Outbox outbox_;
  ConnectionCounters counters_;
  Carry carry_;
  Instant deadline_ = never;
  Instant send_deadline_ = never;
  Instant armed_until_ = never;  // expiry of the timer; never: not armed
  // Small members stand together, because there are many idle connections.
  engine::PeerEndpoint peer_;
  std::uint16_t failure_ = 0;
  std::uint8_t listener_ = 0;
  std::uint8_t pause_reasons_ = 0;
  // A connection is in at most one list: of the woken, the attended, the starved, or the backlog
  // with more output to send.
  Connection* next_queued_ = nullptr;
  Connection** queued_at_ = nullptr;          // pointer to this one in its list; null: in none
  std::unique_ptr<ConnectionExtras> extras_;  // null: none of them is used
  ConnectionState state_ = ConnectionState::opening;
  bool writable_due_ = false;  // it has room again; the session was not told yet
  bool send_pending_ = false;
  bool receive_paused_ = false;
  bool input_ended_ = false;
  // A reset, a replacement of the session, or the first output of a transform: rare, and due at
  // once.
  bool interrupted_ = false;
  // Members that no request reads, or only together with one of those above.
  QueuedFor queued_for_ : 2 = QueuedFor::attention;
  bool receive_slowed_ : 1 = false;  // until extras_->receive_deadline
  bool writable_wanted_ : 1 = false;
  bool blocks_wanted_ : 1 = false;  // pool_low with nothing pending: it needs more than the reserve
  bool input_truncated_ : 1 = false;
  bool input_unread_ : 1 = false;  // or the session says so: it lingers once its output is sent
  bool outgoing_ : 1 = false;
  bool outlasts_drain_ : 1 = false;
  bool session_replaced_ : 1 = false;      // since the last offer
  bool handshake_counted_ : 1 = false;     // by ClientLimits
  bool limited_behind_proxy_ : 1 = false;  // counted once its proxy has named the client
  bool may_name_clients_ : 1 = false;      // ClientLimits count its requests by their heads
};

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
