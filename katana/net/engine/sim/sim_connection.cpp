#include "katana/net/engine/sim/sim_connection.hpp"

#include <algorithm>
#include <utility>

namespace katana::engine {
namespace {

const char* name(SimSide side, const char* of_server, const char* of_peer) {
  return side == SimSide::server ? of_server : of_peer;
}

}  // namespace

SimConnection::SimConnection(SimNetwork& network, std::size_t to_peer_window,
                             std::size_t to_server_window)
    : network_(network), number_(network.next_connection_number()) {
  at(SimSide::server).window = to_peer_window;
  at(SimSide::peer).window = to_server_window;
}

Duration SimConnection::draw_delay(SimSide writer) {
  const SimFaults& faults = network_.faults();
  return microseconds(
      network_.draw(writer == SimSide::server ? faults.to_peer_us : faults.to_server_us));
}

void SimConnection::travel(SimSide writer, std::size_t bytes, SimNetwork::Action action) {
  Side& stream = at(writer);
  const Instant arrival = std::max(stream.arrival, network_.now() + draw_delay(writer));
  stream.arrival = network_.topology().carry(address(writer), address(other_side(writer)), bytes,
                                             arrival, std::move(action));
}

void SimConnection::request(SimAddress from, SimAddress to, std::uint16_t port) {
  addresses_[static_cast<std::size_t>(SimSide::peer)] = from;
  addresses_[static_cast<std::size_t>(SimSide::server)] = to;
  if (from != 0 || to != 0) network_.topology().add(shared_from_this());
  const Instant arrival =
      network_.now() + microseconds(network_.draw(network_.faults().to_server_us));
  network_.topology().carry(from, to, 0, arrival, [self = shared_from_this(), port] {
    self->network_.handshake(self, port);
  });
}

void SimConnection::establish() {
  if (network_.chance(network_.faults().link_reset)) {
    const Duration moment = microseconds(network_.draw(network_.faults().reset_after_us));
    break_event_ = network_.after(moment, [self = shared_from_this()] { self->break_both(); });
  }
  travel(SimSide::server, 0, [self = shared_from_this()] {
    if (self->at(SimSide::peer).closed || self->broken(SimSide::peer)) return;
    self->opened_ = true;
    // The acknowledgement that ends the handshake goes ahead of the bytes.
    const std::uint32_t epoch = self->at(SimSide::peer).epoch;
    self->travel(SimSide::peer, 0, [self, epoch] {
      if (self->at(SimSide::peer).epoch != epoch) return;
      self->established_ = true;
      self->notify(SimSide::server);
    });
    self->notify(SimSide::peer);
    self->pump(SimSide::peer);
  });
}

void SimConnection::write(SimSide side, Bytes bytes) {
  Side& stream = at(side);
  if (stream.closed || stream.broken) return;
  stream.waiting.append(bytes);
  pump(side);
}

std::size_t SimConnection::room(SimSide side) const noexcept {
  const Side& stream = at(side);
  const std::size_t used = stream.outstanding + stream.waiting.size();
  return used < stream.window ? stream.window - used : 0;
}

void SimConnection::pump(SimSide writer) {
  Side& stream = at(writer);
  if (!opened_ || stream.broken || stream.finish_sent) return;
  std::size_t sent = 0;
  while (sent < stream.waiting.size() && stream.outstanding < stream.window) {
    const std::size_t count =
        std::min<std::size_t>({network_.draw(network_.faults().segment_bytes),
                               stream.waiting.size() - sent, stream.window - stream.outstanding});
    travel(writer, count,
           [self = shared_from_this(), writer, epoch = stream.epoch,
            bytes = stream.waiting.substr(sent, count)] { self->arrive(writer, epoch, bytes); });
    stream.outstanding += count;
    sent += count;
  }
  stream.waiting.erase(0, sent);
  if (!stream.finish_wanted || !stream.waiting.empty()) return;
  stream.finish_sent = true;
  travel(writer, 0, [self = shared_from_this(), writer, epoch = stream.epoch] {
    if (self->at(writer).epoch != epoch) return;
    if (self->meets_vanished(other_side(writer))) return;
    self->at(writer).ended = true;
    self->notify(other_side(writer));
  });
}

void SimConnection::arrive(SimSide writer, std::uint32_t epoch, Bytes bytes) {
  if (at(writer).epoch != epoch) return;
  const SimSide reader = other_side(writer);
  if (meets_vanished(reader)) return;
  if (at(reader).closed) {
    // The bytes will not be read: a kernel answers with a reset.
    if (network_.chance(network_.faults().close_resets)) {
      abandon(reader);
    } else {
      acknowledge(reader, bytes.size());
    }
    return;
  }
  at(writer).arrived.append(bytes);
  notify(reader);
}

std::string SimConnection::take(SimSide side, std::size_t count) {
  std::string& arrived = from(side).arrived;
  std::string bytes = arrived.substr(0, count);
  arrived.erase(0, count);
  return bytes;
}

void SimConnection::acknowledge(SimSide side, std::size_t count) {
  const SimSide writer = other_side(side);
  if (count == 0 || at(writer).broken) return;
  network_.topology().carry(address(side), address(writer), 0, network_.now() + draw_delay(side),
                            [self = shared_from_this(), writer, epoch = at(writer).epoch, count] {
                              self->acknowledged(writer, epoch, count);
                            });
}

void SimConnection::acknowledged(SimSide writer, std::uint32_t epoch, std::size_t count) {
  Side& stream = at(writer);
  if (stream.epoch != epoch) return;
  stream.outstanding -= count;
  pump(writer);
  notify(writer);
}

void SimConnection::finish(SimSide side) {
  Side& stream = at(side);
  if (stream.finish_wanted) return;
  network_.note(name(side, "server ends", "peer ends"), number_, 0);
  stream.finish_wanted = true;
  pump(side);
}

void SimConnection::close(SimSide side) {
  if (at(side).closed) return;
  // A socket that is closed while it connects sends no end of a stream.
  if (side == SimSide::peer && !opened_) return reset(side);
  const std::size_t unread = arrived(side);
  if (unread > 0 && !broken(side) && network_.chance(network_.faults().close_resets)) {
    reset(side);
    return;
  }
  network_.note(name(side, "server closes", "peer closes"), number_, unread);
  network_.close_descriptor(number_, side == SimSide::server);
  at(side).closed = true;
  at(side).end = nullptr;
  from(side).arrived.clear();
  acknowledge(side, unread);
  if (!broken(side)) finish(side);
  cancel_break_if_over();
}

void SimConnection::reset(SimSide side) {
  if (at(side).closed) return;
  network_.close_descriptor(number_, side == SimSide::server);
  at(side).closed = true;
  at(side).end = nullptr;
  if (!broken(side)) abandon(side);
  cancel_break_if_over();
}

// `side` sends a reset and neither takes nor sends anything more.
void SimConnection::abandon(SimSide side) {
  Side& own = at(side);
  Side& read = from(side);
  own.waiting.clear();
  own.finish_sent = true;
  read.arrived.clear();
  ++read.epoch;
  const bool loses = network_.chance(network_.faults().reset_loses);
  network_.note(name(side, "server resets", "peer resets"), number_, loses ? 1 : 0);
  if (loses) {
    ++own.epoch;
    own.arrival = network_.now();
  }
  travel(side, 0,
         [self = shared_from_this(), side, loses] { self->see_break(other_side(side), loses); });
}

void SimConnection::vanish(SimSide side) {
  Side& own = at(side);
  if (own.closed) return;
  network_.note(name(side, "server vanishes", "peer vanishes"), number_, 0);
  network_.close_descriptor(number_, side == SimSide::server);
  if (side == SimSide::server) link_state = SimLink::closed;
  own.closed = own.vanished = true;
  own.end = nullptr;
  own.waiting.clear();
  own.finish_sent = true;  // it never comes
  // Bytes that the other side has sent and got no acknowledgement for are sent again.
  own.unanswered = from(side).outstanding > 0;
  from(side).arrived.clear();
  cancel_break_if_over();
}

void SimConnection::answer_after_vanishing(SimSide side) {
  if (at(side).vanished && at(side).unanswered) (void)meets_vanished(side);
}

// True: `side` has vanished. It answers once, if its host is on.
bool SimConnection::meets_vanished(SimSide side) {
  Side& own = at(side);
  if (!own.vanished) return false;
  own.unanswered = true;
  if (network_.topology().is_off(address(side)) || own.broken) return true;
  own.broken = true;
  abandon(side);
  return true;
}

bool SimConnection::is_over() const noexcept {
  return (at(SimSide::server).closed || at(SimSide::server).broken) &&
         (at(SimSide::peer).closed || at(SimSide::peer).broken);
}

void SimConnection::break_both() {
  network_.note("network resets", number_, 0);
  for (const SimSide side : {SimSide::server, SimSide::peer}) ++at(side).epoch;
  for (const SimSide side : {SimSide::server, SimSide::peer}) see_break(side, true);
}

void SimConnection::see_break(SimSide side, bool loses) {
  if (at(side).closed || at(side).broken) return;
  at(side).broken = true;
  at(side).waiting.clear();
  ++at(side).epoch;
  if (loses) from(side).arrived.clear();
  notify(side);
  cancel_break_if_over();
}

void SimConnection::notify(SimSide side) {
  if (at(side).end != nullptr) at(side).end->on_stream(*this);
}

// A connection that is over on the server's side is no longer reset.
void SimConnection::cancel_break_if_over() {
  if (at(SimSide::server).closed || at(SimSide::server).broken) network_.cancel(break_event_);
}

void SimConnection::defer(Duration delay) {
  defer_event_ = network_.after(delay, [self = shared_from_this()] {
    self->defer_over_ = true;
    self->notify(SimSide::server);
  });
}

PeerEndpoint SimConnection::peer(bool is_v6) const {
  // Addresses that RFC 5737 and RFC 3849 keep for documentation.
  const auto host = static_cast<std::uint8_t>(number_ % 250 + 1);
  PeerEndpoint peer;
  peer.port = static_cast<std::uint16_t>(number_ / 250 % 50'000 + 10'000);
  if (is_v6) {
    peer.address = {0x20, 0x01, 0x0d, 0xb8};
    peer.address.back() = host;
    peer.family = PeerEndpoint::Family::v6;
  } else {
    peer.address = {192, 0, 2, host};
    if (const SimAddress from = address(SimSide::peer); from != 0) {
      peer.address = {198, 18, static_cast<std::uint8_t>(from / 256 % 256),
                      static_cast<std::uint8_t>(from % 256)};
    }
    peer.family = PeerEndpoint::Family::v4;
  }
  return peer;
}

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
