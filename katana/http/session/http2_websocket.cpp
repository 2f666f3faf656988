#include "katana/http/session/http2_websocket.hpp"

#include <algorithm>
#include <utility>

#include "katana/http/session/http2_exchange.hpp"

namespace katana::session {

Http2WebSocket::Http2WebSocket(Http2Exchange& exchange) noexcept
    : WebSocketCarrier(exchange.reactor(), own_outbox_),
      exchange_(exchange),
      own_outbox_(exchange.streams().outbox().blocks()) {}

Http2WebSocket::~Http2WebSocket() { finishing_ = true; }

void Http2WebSocket::open(WebSocketReplacement& replacement) noexcept {
  session_ = replacement.open_on(*this);
  after_call();
}

// ---- what comes --------------------------------------------------------------------------------

// The window of the connection is shared: a waiting session does not keep it. The window of the
// stream follows the bytes that the session takes.
void Http2WebSocket::on_content(Bytes piece, bool complete) noexcept {
  exchange_.streams().machine().consume(nullptr, piece.size(), exchange_.streams().outbox());
  input_ended_ = complete;
  if (finishing_) return;  // skipped: the window stays closed
  if (!waiting().empty() || !may_take()) {
    keep(piece);
    if (may_take()) offer_waiting();
  } else {
    const std::size_t used = session_->on_bytes(piece);
    note_taken(used);
    keep(piece.substr(used));
    offered_ = may_go_on();
  }
  end_input();
  after_call();
}

void Http2WebSocket::keep(Bytes bytes) noexcept {
  if (bytes.empty()) return;
  offered_ = false;
  if (taken_ > received_.size() / 2) {
    Text rest(waiting());
    received_ = std::move(rest);
    taken_ = 0;
  }
  received_.append(bytes);
  exchange_.charge();
}

void Http2WebSocket::offer_waiting() noexcept {
  const std::size_t used = session_->on_bytes(waiting());
  note_taken(used);
  taken_ += used;
  if (taken_ == received_.size()) {
    received_ = Text();
    taken_ = 0;
    exchange_.charge();
  }
  offered_ = may_go_on();
}

void Http2WebSocket::note_taken(std::size_t bytes) noexcept {
  exchange_.streams().set_content_held(exchange_, held_bytes());
  exchange_.return_window(bytes);
}

void Http2WebSocket::end_input() noexcept {
  if (input_ended_ && (offered_ || waiting().empty()) && may_go_on()) session_->on_input_end();
}

bool Http2WebSocket::may_take() noexcept {
  full_ = full_ || own_outbox_.pending() >= exchange_.streams().connection().output_mark();
  return may_go_on();
}

// ---- what is sent ------------------------------------------------------------------------------

// The limit of the queue, in addition to the bytes that other streams hold back.
std::size_t Http2WebSocket::queue_bytes_max(std::size_t most) const noexcept {
  StreamScheduler& streams = exchange_.streams();
  const std::size_t others = streams.held_bytes() - noted_bytes_;
  const std::size_t limit = streams.options().http2.held_bytes_max;
  return std::min(streams.connection().queue_mark(most), limit - std::min(limit, others));
}

bool Http2WebSocket::is_writable() const noexcept {
  const std::size_t pending = own_outbox_.pending();
  const net::ReactorOptions& options = exchange_.streams().connection().reactor().options();
  return (full_ && pending <= options.outbox_low_bytes) || (writable_wanted_ && pending == 0);
}

void Http2WebSocket::note_unsent() noexcept {
  StreamScheduler& streams = exchange_.streams();
  streams.release(noted_bytes_);
  noted_bytes_ = own_outbox_.pending();
  streams.hold(noted_bytes_);
}

void Http2WebSocket::flush(std::size_t output_max) noexcept {
  StreamScheduler& streams = exchange_.streams();
  const std::size_t before = own_outbox_.pending();
  if (!streams.machine().move_content(exchange_, own_outbox_, output_max, streams.outbox())) {
    reset_ = true;
  }
  const std::size_t sent = before - own_outbox_.pending();
  streams.note_written(sent);
  note_unsent();
  if (reset_) {
    streams.note_over(exchange_);
    return;
  }
  if (sent != 0) exchange_.buy_time(sent);
  exchange_.set_blocked(has_unsent());
  if (finishing_ && !has_unsent()) exchange_.end_socket();
}

void Http2WebSocket::after_call() noexcept {
  StreamScheduler& streams = exchange_.streams();
  if (exchange_.over || exchange_.reply_sent) return;
  exchange_.streams().set_content_held(exchange_, held_bytes());
  flush(streams.output_max());
  const bool has_waiting = !waiting().empty() && !offered_;
  const bool due = is_writable() || (may_go_on() && (has_waiting || input_ended_));
  if (due && !finishing()) streams.note_delivery_due();
  if (streams.delivery_due() || deadline_ < streams.connection().deadline()) {
    streams.touch_at_once();
  }
  streams.touch();
}

bool Http2WebSocket::run_pending(std::uint64_t pass) noexcept {
  if (finishing() || std::exchange(last_pass_, pass) == pass) return false;
  bool done = false;
  if (is_writable()) {
    full_ = writable_wanted_ = false;
    session_->on_writable();
    done = true;
  }
  if (!waiting().empty() && !offered_ && may_take()) {
    offer_waiting();
    done = true;
  }
  end_input();
  if (done || input_ended_) after_call();
  return done;
}

// ---- its end, and time -------------------------------------------------------------------------

bool Http2WebSocket::finishing() const noexcept { return finishing_ || reset_ || exchange_.over; }

void Http2WebSocket::set_deadline(Instant deadline) noexcept {
  exchange_.set_deadline(deadline_, deadline);
}

void Http2WebSocket::on_deadline() noexcept {
  deadline_ = never;
  session_->on_deadline();
  // A deadline that is due again at once waits for the next turn, as on a connection.
  if (deadline_ <= reactor().now()) set_deadline(reactor().now() + milliseconds(1));
  after_call();
}

void Http2WebSocket::on_drain() noexcept {
  session_->on_drain();
  after_call();
}

engine::PeerAddress Http2WebSocket::peer() noexcept { return exchange_.peer(); }

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
