#include "katana/session/http2_session.hpp"

#include <algorithm>
#include <utility>

#include "katana/base/poison.hpp"

namespace katana::session {

using core::Finish;
using http2::StreamState;

namespace {

// What one stream sends before the others are considered.
constexpr std::size_t turn_bytes = 16 * 1024;
// Rounds of "sent, so others may begin, so there is more to send" in one call.
constexpr int rounds_max = 8;

}  // namespace

Http2Session::Http2Session(Http2Protocol& protocol, core::Connection& connection) noexcept
    : protocol_(protocol),
      connection_(connection),
      machine_(new RecycledMachine(protocol.context(), connection.reactor().now())) {
  if (!machine_->start(outbox())) {
    connection_.reset();
    return;
  }
  connection_.set_deadline(machine_->deadline());
  if (connection.reactor().draining()) begin_drain();
}

Http2Session::~Http2Session() {
  in_call_ = true;
  ended_ = true;
  cancel_all();
}

// ---- calls by the core

std::size_t Http2Session::on_bytes(Bytes input) noexcept {
  const Lending head = protocol_.context().reader.lend();
  in_call_ = true;
  std::size_t consumed = 0;
  while (consumed < input.size() && !connection_.paused() && !connection_.finishing()) {
    if (connection_.output_full()) break;
    const http2::Step step = machine_->next(input.substr(consumed), now(), outbox());
    consumed += step.consumed;
    if (step.event == http2::Event::need_bytes && step.consumed == 0) break;
    switch (step.event) {
      case http2::Event::head: on_head(step, false); break;
      case http2::Event::refused: on_head(step, true); break;
      case http2::Event::content:
        exchange_of(*step.stream).on_content(machine_->content(), step.last);
        break;
      case http2::Event::over: on_over(exchange_of(*step.stream)); break;
      default: break;
    }
    if (first_over_ != nullptr) sweep();
    if (machine_->closed()) {
      consumed = input.size();
      break;
    }
  }
  after_call();
  return consumed;
}

// Bytes that have not been offered yet may complete what is not complete.
void Http2Session::on_input_end() noexcept {
  if (connection_.paused()) return;
  in_call_ = true;
  if (!std::exchange(input_end_noted_, true)) {
    for (http2::Stream* each = machine_->first(); each != nullptr; each = each->next) {
      exchange_of(*each).shorten(protocol_.options().half_close_grace);
    }
  }
  after_call();
}

void Http2Session::on_writable() noexcept {
  in_call_ = true;
  machine_->restart_deadline(now());
  if (std::exchange(has_yielded_, false)) resume_yielded();
  after_call();
}

void Http2Session::on_deadline() noexcept {
  in_call_ = true;
  // The peer's time begins anew when it is its turn again.
  if (!connection_.paused()) machine_->on_deadline(now(), outbox());
  if (now() >= streams_deadline_) expire_streams();
  if (now() >= drain_deadline_) {
    drain_deadline_ = never;
    machine_->end_drain(outbox());
  }
  after_call();
}

// Only content that nobody wants is still coming of those whose replies are sent; replies that
// would go on for ever come to their end.
void Http2Session::on_drain() noexcept {
  in_call_ = true;
  begin_drain();
  http2::Stream* each = machine_->first();
  while (each != nullptr) {
    Http2Exchange& exchange = exchange_of(*each);
    each = each->next;
    if (exchange.sent_) {
      note_over(exchange);
    } else {
      exchange.on_drain();
    }
  }
  after_call();
}

// ---- memory

std::size_t Http2Session::blocks_held() const noexcept {
  return sum_of([](const Http2Exchange& of) {
    return of.socket_ != nullptr ? of.socket_->blocks_held() : 0;
  });
}

std::size_t Http2Session::held_bytes() const noexcept {
  return sum_of([](const Http2Exchange& of) { return of.over_ ? 0 : of.held_bytes(); });
}

std::size_t Http2Session::on_memory_scarce() noexcept {
  Http2Exchange* largest = nullptr;
  for (http2::Stream* each = machine_->first(); each != nullptr; each = each->next) {
    Http2Exchange& exchange = exchange_of(*each);
    if (exchange.over_) continue;
    if (largest == nullptr || exchange.held_bytes() > largest->held_bytes()) largest = &exchange;
  }
  if (largest == nullptr) return 0;
  in_call_ = true;
  const std::size_t going = largest->on_memory_scarce();
  after_call();
  return going;
}

// ---- streams

void Http2Session::on_head(const http2::Step& step, bool refused) noexcept {
  auto* const exchange = new Http2Exchange(*this);
  machine_->admit(*exchange);
  const http2::HeadReader& reader = protocol_.context().reader;
  exchange->begin(reader, step.last);
  exchange->request_ = ++connection_.counters().requests;
  exchange->tell_observer_of_begin(refused);
  if (refused) {
    exchange->refuse(reader.status(), reader.detail());
  } else {
    ++protocol_.http_counters().requests;
  }
  const std::uint32_t most = protocol_.options().requests_per_connection_max;
  if (most != 0 && exchange->request_ == most) begin_drain();
  if (may_dispatch()) {
    exchange->dispatch();
  } else {
    ++protocol_.counters().requests_held;
    exchange->queued_ = true;
    ++queued_;
  }
  exchange->return_head();
}

// Given up by the peer, or replied and read past.
void Http2Session::on_over(Http2Exchange& exchange) noexcept {
  if (!exchange.sent_) {
    ++protocol_.counters().streams_reset;
    exchange.core_.end_reason = ExchangeEnd::peer_left;
  }
  note_over(exchange);
}

// Replies that wait for their windows are memory: nobody begins another one meanwhile.
bool Http2Session::may_dispatch() const noexcept {
  return held_bytes_ < protocol_.options().http2.held_bytes_max;
}

void Http2Session::serve_queued() noexcept {
  http2::Stream* each = machine_->first();
  while (each != nullptr && queued_ != 0 && may_dispatch()) {
    Http2Exchange& exchange = exchange_of(*each);
    each = each->next;
    if (!exchange.queued_ || exchange.over_) continue;
    exchange.queued_ = false;
    --queued_;
    delivery_due_ = true;
    exchange.dispatch();
    each = machine_->first();  // whatever the handler did to others
  }
}

// Who wrote much has let others go first: those on this connection, and all other connections.
void Http2Session::resume_yielded() noexcept {
  for (http2::Stream* each = machine_->first(); each != nullptr; each = each->next) {
    exchange_of(*each).resume_yielded();
  }
}

// ---- content that is held

bool Http2Session::may_receive(const Http2Exchange& exchange) noexcept {
  return content_held_ < protocol_.options().http2.content_held_bytes_max ||
         first_in_line() == &exchange;
}

// Somebody has to get on, or nobody would ever be done: the first of those who are still receiving.
// But if there is a handler that is at work on what it has, room comes from that one.
Http2Exchange* Http2Session::first_in_line() noexcept {
  Http2Exchange* first = nullptr;
  for (http2::Stream* each = machine_->first(); each != nullptr; each = each->next) {
    Http2Exchange& exchange = exchange_of(*each);
    if (exchange.content_held_ == 0 || exchange.over_) continue;
    if (exchange.complete_) return nullptr;
    if (first == nullptr && exchange.is_receiving()) first = &exchange;
  }
  return first;
}

void Http2Session::release_windows() noexcept {
  const bool below_limit = content_held_ < protocol_.options().http2.content_held_bytes_max;
  const Http2Exchange* const first = below_limit ? nullptr : first_in_line();
  for (http2::Stream* each = machine_->first(); each != nullptr; each = each->next) {
    Http2Exchange& exchange = exchange_of(*each);
    const bool may = below_limit || &exchange == first;
    if (exchange.withheld_ != 0 && !exchange.over_ && may) exchange.release_window();
  }
}

void Http2Session::deliver_wanted() noexcept {
  delivery_due_ = false;
  ++passes_;
  http2::Stream* each = machine_->first();
  while (each != nullptr) {
    // From the first again, whatever the handler did to others.
    each = exchange_of(*each).deliver_received() ? machine_->first() : each->next;
  }
}

std::size_t Http2Session::output_max() noexcept {
  if (turn_ != nullptr) return turn_bytes_left_;
  const std::size_t high = connection_.output_mark();
  const std::size_t pending = outbox().pending();
  return blocked_ != 0 || pending >= high ? 0 : high - pending;
}

Http2Exchange* Http2Session::next_to_send() noexcept {
  Http2Exchange* best = nullptr;
  for (http2::Stream* each = machine_->first(); each != nullptr; each = each->next) {
    Http2Exchange& exchange = exchange_of(*each);
    const bool can = exchange.blocked_ && !exchange.over_ && exchange.tried_ != pumps_ &&
                     machine_->window(exchange) != 0;
    if (!can) continue;
    const auto rank = [](const Http2Exchange& of) {
      return std::tuple(of.priority.urgency, of.priority.incremental,
                        of.priority.incremental ? of.served_ : 0);
    };
    if (best == nullptr || rank(exchange) < rank(*best)) best = &exchange;
  }
  return best;
}

void Http2Session::pump() noexcept {
  ++pumps_;
  while (!machine_->closed() && !connection_.finishing() && !connection_.output_full()) {
    Http2Exchange* const exchange = next_to_send();
    if (exchange == nullptr) return;
    const std::size_t pending = outbox().pending();
    turn_ = exchange;
    turn_bytes_left_ = turn_bytes;
    exchange->served_ = ++turns_;
    exchange->proceed();
    turn_ = nullptr;
    if (outbox().pending() == pending) exchange->tried_ = pumps_;
  }
}

void Http2Session::expire_streams() noexcept {
  const auto due = [this]() -> Http2Exchange* {
    for (http2::Stream* each = machine_->first(); each != nullptr; each = each->next) {
      if (now() >= exchange_of(*each).deadline()) return &exchange_of(*each);
    }
    return nullptr;
  };
  while (Http2Exchange* const exchange = due()) exchange->on_deadline(now());
  streams_deadline_ = never;
  for (http2::Stream* each = machine_->first(); each != nullptr; each = each->next) {
    note_deadline(exchange_of(*each).deadline());
  }
}

// ---- the end of exchanges

void Http2Session::note_over(Http2Exchange& exchange) noexcept {
  if (std::exchange(exchange.over_, true)) return;
  exchange.set_blocked(false);
  exchange.next_over_ = nullptr;
  (first_over_ == nullptr ? first_over_ : last_over_->next_over_) = &exchange;
  last_over_ = &exchange;
  if (!in_call_) wake_once();
}

void Http2Session::sweep() noexcept {
  while (first_over_ != nullptr) {
    destroy(*std::exchange(first_over_, first_over_->next_over_));
  }
}

void Http2Session::destroy(Http2Exchange& exchange) noexcept {
  exchange.over_ = true;
  exchange.set_blocked(false);
  if (exchange.queued_) --queued_;
  if (exchange.core_.pending != nullptr && !exchange.replied_) {
    ++protocol_.http_counters().handlers_cancelled;
  }
  exchange.core_.pending.reset();
  exchange.note_content_held(0);
  exchange.core_.release(connection_.reactor().memory());
  if (exchange.withheld_ != 0) --windows_held_;
  if (exchange.socket_ != nullptr) {
    held_bytes_ -= exchange.socket_->noted_bytes();
    exchange.socket_.reset();
  }
  if (exchange.state != StreamState::closed) {
    const http2::ErrorCode code = exchange.sent_ ? http2::ErrorCode::no_error
                                  : exchange.core_.end_reason == ExchangeEnd::aborted
                                      ? http2::ErrorCode::internal_error
                                      : http2::ErrorCode::cancel;
    machine_->reset(exchange, code, now(), outbox());
  }
  machine_->consume(nullptr, exchange.received_.size(), outbox());
  if (!exchange.stays_) held_bytes_ -= exchange.unsent_.size();
  if (protocol_.options().observer != nullptr) exchange.tell_observer();
  // Whoever ended it in the midst of its own work does not go on under its name.
  if (current_activity == exchange.core_.context.get()) current_activity = nullptr;
  delete &exchange;
}

// ---- the end of calls

void Http2Session::wake_once() noexcept {
  connection_.set_deadline(now());
  connection_.wake();
}

void Http2Session::after_call() noexcept {
  bool more = true;
  for (int round = 0; more && round < rounds_max && !machine_->closed(); ++round) {
    if (delivery_due_) deliver_wanted();
    if (blocked_ != 0) pump();
    if (first_over_ != nullptr) sweep();
    if (queued_ != 0) serve_queued();
    if (windows_held_ != 0) release_windows();
    more = delivery_due_ || first_over_ != nullptr || (queued_ != 0 && may_dispatch());
  }
  in_call_ = false;
  if (machine_->closed()) {
    end();
    return;
  }
  const bool idle = machine_->first() == nullptr;
  if (machine_->drained()) connection_.finish(Finish::linger);
  if (idle && input_end_noted_) connection_.finish(Finish::close);
  connection_.set_deadline(
      more ? now() : std::min({machine_->deadline(), streams_deadline_, drain_deadline_}));
  if (more) connection_.wake();
}

void Http2Session::end() noexcept {
  if (std::exchange(ended_, true)) return;
  in_call_ = true;
  ++protocol_.counters().failures[static_cast<std::size_t>(machine_->failure())];
  cancel_all();
  in_call_ = false;
  connection_.set_deadline(never);
  connection_.finish(Finish::linger);
}

void Http2Session::cancel_all() noexcept {
  for (sweep(); machine_->first() != nullptr; sweep()) {
    Http2Exchange& exchange = exchange_of(*machine_->first());
    if (!exchange.sent_) exchange.core_.end_reason = ExchangeEnd::peer_left;
    note_over(exchange);
  }
}

void Http2Session::begin_drain() noexcept {
  if (machine_->draining()) return;
  machine_->drain(outbox());
  drain_deadline_ = now() + protocol_.options().drain_idle;
  note_deadline(drain_deadline_);
  connection_.set_deadline(std::min(connection_.deadline(), drain_deadline_));
}

}  // namespace katana::session
