// SimConnection: a virtual TCP connection: two streams, their windows, their ends, and resets.
//
// Owns       the bytes between write() on one side and acknowledge() on the other.
// Borrows    its two ends, each until it closes or resets.
// Allocates  per segment in flight.
// Thread     the network's.
// Fails      never; a break is a state that each side sees after its delay.
// Invariant  a stream arrives complete and in order, or after a reset a prefix of it does.
//
// The life of a stream's bytes; acknowledged() gives the writer its room back:
//
//   write() ─> waiting ─window─> in flight ─delay─> arrived ─> take() ─> acknowledge() ─delay─>
//
// The side that ends it, and what the other side sees after the delay:
//
//   finish()      ended(), once every byte has been taken
//   close()       as finish(); with input unread, or when more arrives later, broken()
//                 (faults.close_resets)
//   reset()       broken(), behind the bytes in flight or overtaking them (faults.reset_loses)
//   break_both()  both sides see broken() at once; bytes in flight are lost
//   vanish()      nothing; later segments are answered with a reset once its host is back
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "katana/base/text/bytes.hpp"
#include "katana/net/engine/engine.hpp"
#include "katana/net/engine/sim/sim_network.hpp"
#include "katana/net/engine/sim/sim_topology.hpp"

namespace katana::engine {

// The two ends: the engine under test, and the client that the test drives.
enum class SimSide : std::uint8_t { server, peer };

// The end that receives what `side` sends.
constexpr SimSide other_side(SimSide side) {
  return side == SimSide::server ? SimSide::peer : SimSide::server;
}

// The state of the server's end of a connection.
//   connecting  the handshake is not over
//   queued      waits to be accepted
//   open        the reactor has it
//   closed      refused, or closed or reset by the reactor
enum class SimLink : std::uint8_t { connecting, queued, open, closed };

// One end of a connection. on_stream() reports a change: bytes, an end, room, or a break.
class SimEnd {
 public:
  // Called within the network's event; the end asks the connection for the change.
  virtual void on_stream(SimConnection& connection) = 0;

 protected:
  ~SimEnd() = default;
};

class SimConnection : public std::enable_shared_from_this<SimConnection> {
 public:
  // Windows: bytes that the writer may have written and the reader not acknowledged; 1 or more.
  SimConnection(SimNetwork& network, std::size_t to_peer_window, std::size_t to_server_window);

  std::uint64_t number() const noexcept { return number_; }  // from 1; the trace shows it
  SimNetwork& network() noexcept { return network_; }        // the network it belongs to

  // ---- handshake -----------------------------------------------------------------------------

  // The client's side asks a port of a host. The handshake arrives after a delay.
  void request(SimAddress from, SimAddress to, std::uint16_t port);
  SimAddress address(SimSide side) const noexcept {
    return addresses_[static_cast<std::size_t>(side)];
  }
  // The server's side answered. The client may write after a delay; the server sees established()
  // after two.
  void establish();
  bool opened() const noexcept { return opened_; }            // the client knows
  bool established() const noexcept { return established_; }  // the server knows

  // ---- actions of each side; `side` is the one that acts ---------------------------------------

  // Sets the receiver of on_stream(); null: no further calls.
  void attach(SimSide side, SimEnd* end) noexcept { at(side).end = end; }
  void write(SimSide side, Bytes bytes);  // REQUIRES that this side has not ended
  // Bytes that write() can put on the wire now.
  std::size_t room(SimSide side) const noexcept;
  // Written and not on the wire yet.
  std::size_t waiting(SimSide side) const noexcept { return at(side).waiting.size(); }
  void finish(SimSide side);
  void close(SimSide side);
  void reset(SimSide side);
  void break_both();
  // The side loses its power: it sends and notices nothing more.
  void vanish(SimSide side);
  // Its host is back: it resets a connection on which the other side has sent meanwhile.
  void answer_after_vanishing(SimSide side);
  // Neither side waits for the other any more.
  bool is_over() const noexcept;

  // ---- state that each side sees
  // -----------------------------------------------------------------

  // Bytes that take() can give.
  std::size_t arrived(SimSide side) const noexcept { return from(side).arrived.size(); }
  // The other side has ended, and everything was taken.
  bool ended(SimSide side) const noexcept { return from(side).ended && arrived(side) == 0; }
  bool broken(SimSide side) const noexcept { return at(side).broken; }  // a reset has arrived here
  // Takes bytes out; they count as unread until acknowledge().
  std::string take(SimSide side, std::size_t count);
  // Puts back the bytes that the last take() returned.
  void give_back(SimSide side, Bytes bytes) { from(side).arrived.insert(0, bytes); }
  void acknowledge(SimSide side, std::size_t count);

  // ---- for the engine that has the server's end ----------------------------------------------

  SimLink link_state = SimLink::connecting;  // of the server's end
  Link link;                                 // when link_state is open
  Listener listener = 0;                     // once the handshake has reached an engine
  // Calls on_stream() of the server after `delay`; from then on defer_over() is true.
  void defer(Duration delay);
  void stop_deferring() { network_.cancel(defer_event_); }
  bool defer_over() const noexcept { return defer_over_; }
  PeerEndpoint peer(bool is_v6) const;

 private:
  // A side, and the stream that it writes.
  struct Side {
    SimEnd* end = nullptr;
    bool closed = false;      // alone: it takes and sends nothing more
    bool broken = false;      // by the other side or the network, and visible here
    bool vanished = false;    // with the power of its host
    bool unanswered = false;  // something arrived for it since

    std::size_t window = 0;
    std::string waiting;
    std::size_t outstanding = 0;  // on the wire, arrived, or taken and not acknowledged
    std::uint32_t epoch = 0;      // bytes of an earlier epoch never arrive
    Instant arrival{};            // of the last sent bytes; the stream keeps its order
    bool finish_wanted = false;
    bool finish_sent = false;
    std::string arrived;  // at the other side
    bool ended = false;
  };

  Side& at(SimSide side) noexcept { return sides_[static_cast<std::size_t>(side)]; }
  const Side& at(SimSide side) const noexcept { return sides_[static_cast<std::size_t>(side)]; }
  // The stream that `side` reads.
  Side& from(SimSide side) noexcept { return at(other_side(side)); }
  const Side& from(SimSide side) const noexcept { return at(other_side(side)); }

  Duration draw_delay(SimSide writer);
  // Runs `action` at the other side, in the order of the stream.
  void travel(SimSide writer, std::size_t bytes, SimNetwork::Action action);
  void pump(SimSide writer);
  void arrive(SimSide writer, std::uint32_t epoch, Bytes bytes);
  void acknowledged(SimSide writer, std::uint32_t epoch, std::size_t count);
  void see_break(SimSide side, bool loses);
  void abandon(SimSide side);
  bool meets_vanished(SimSide side);
  void notify(SimSide side);
  void cancel_break_if_over();

  SimNetwork& network_;
  std::uint64_t number_;
  std::array<SimAddress, 2> addresses_{};
  bool opened_ = false;
  bool established_ = false;
  bool defer_over_ = false;
  SimNetwork::EventKey break_event_;
  SimNetwork::EventKey defer_event_;
  std::array<Side, 2> sides_;
};

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
