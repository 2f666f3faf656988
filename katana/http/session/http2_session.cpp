#include "katana/http/session/http2_session.hpp"

#include <algorithm>
#include <utility>

#include "katana/base/memory/poison.hpp"

namespace katana::session {

using net::Finish;

namespace {

// The limit of rounds in one call. Sending makes room, other replies then begin, and there is more
// to send.
constexpr int rounds_max = 8;

}  // namespace

Http2Session::Http2Session(Http2Protocol& protocol, net::Connection& connection) noexcept
    : protocol_(protocol),
      connection_(connection),
      machine_(new RecycledMachine(protocol.context(), connection.reactor().now())),
      streams_(protocol, connection, *machine_) {
  if (!machine_->start(outbox())) {
    connection_.reset();
    return;
  }
  connection_.set_deadline(machine_->deadline());
  if (connection.reactor().draining()) streams_.begin_drain();
}

Http2Session::~Http2Session() {
  streams_.begin_call();
  ended_ = true;
  cancel_all();
}

// ---- calls by the reactor

std::size_t Http2Session::on_bytes(Bytes input) noexcept {
  const Lending head = protocol_.context().reader.lend();
  streams_.begin_call();
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
    if (streams_.has_over()) sweep();
    if (machine_->closed()) {
      consumed = input.size();
      break;
    }
  }
  after_call();
  return consumed;
}

// Does nothing while paused: bytes that were not offered yet may complete a request.
void Http2Session::on_input_end() noexcept {
  if (connection_.paused()) return;
  streams_.begin_call();
  if (!std::exchange(input_end_noted_, true)) {
    for (http2::Stream* each = machine_->first(); each != nullptr; each = each->next_in_list()) {
      exchange_of(*each).shorten(protocol_.options().half_close_grace);
    }
  }
  after_call();
}

void Http2Session::on_writable() noexcept {
  streams_.begin_call();
  machine_->restart_deadline(now());
  if (streams_.take_yielded()) resume_yielded();
  after_call();
}

void Http2Session::on_deadline() noexcept {
  streams_.begin_call();
  // The client's time begins anew when it has to send again.
  if (!connection_.paused()) machine_->on_deadline(now(), outbox());
  if (streams_.streams_due()) expire_streams();
  if (streams_.take_drain_due()) machine_->end_drain(outbox());
  after_call();
}

// Streams with a sent reply only receive unwanted bytes; endless replies end.
void Http2Session::on_drain() noexcept {
  streams_.begin_call();
  streams_.begin_drain();
  http2::Stream* each = machine_->first();
  while (each != nullptr) {
    Http2Exchange& exchange = exchange_of(*each);
    each = each->next_in_list();
    if (exchange.reply_sent) {
      streams_.note_over(exchange);
    } else {
      exchange.on_drain();
    }
  }
  after_call();
}

// ---- memory

std::size_t Http2Session::blocks_held() const noexcept {
  return sum_of([](const Http2Exchange& of) { return of.blocks_held(); });
}

std::size_t Http2Session::held_bytes() const noexcept {
  return sum_of([](const Http2Exchange& of) { return of.over ? 0 : of.held_bytes(); });
}

std::size_t Http2Session::on_memory_scarce() noexcept {
  Http2Exchange* largest = nullptr;
  for (http2::Stream* each = machine_->first(); each != nullptr; each = each->next_in_list()) {
    Http2Exchange& exchange = exchange_of(*each);
    if (exchange.over) continue;
    if (largest == nullptr || exchange.held_bytes() > largest->held_bytes()) largest = &exchange;
  }
  if (largest == nullptr) return 0;
  streams_.begin_call();
  const std::size_t going = largest->on_memory_scarce();
  after_call();
  return going;
}

// ---- streams

void Http2Session::on_head(const http2::Step& step, bool refused) noexcept {
  auto* const exchange = new Http2Exchange(streams_);
  machine_->admit(*exchange);
  const std::uint32_t number = ++connection_.counters().requests;
  exchange->begin(protocol_.context().reader, number, step.last, refused);
  if (!refused) ++protocol_.http_counters().requests;
  const std::uint32_t most = protocol_.options().requests_per_connection_max;
  if (most != 0 && number == most) streams_.begin_drain();
  if (streams_.may_hold()) {
    exchange->dispatch();
  } else {
    streams_.note_queued(*exchange);
  }
  exchange->return_head();
}

// The client gave it up, or its reply is sent and its body skipped.
void Http2Session::on_over(Http2Exchange& exchange) noexcept {
  if (!exchange.reply_sent) ++protocol_.counters().streams_reset;
  exchange.note_peer_left();
  streams_.note_over(exchange);
}

void Http2Session::serve_queued() noexcept {
  http2::Stream* each = machine_->first();
  while (each != nullptr && streams_.has_queued() && streams_.may_hold()) {
    Http2Exchange& exchange = exchange_of(*each);
    each = each->next_in_list();
    if (!exchange.queued || exchange.over) continue;
    streams_.note_dispatched(exchange);
    exchange.dispatch();
    each = machine_->first();  // a handler may have changed other streams
  }
}

// A handler that wrote much has let others go first: those of this connection, and of all others.
void Http2Session::resume_yielded() noexcept {
  for (http2::Stream* each = machine_->first(); each != nullptr; each = each->next_in_list()) {
    exchange_of(*each).resume_yielded();
  }
}

void Http2Session::deliver_wanted() noexcept {
  streams_.begin_delivery();
  http2::Stream* each = machine_->first();
  while (each != nullptr) {
    // From the first stream again: a handler may have changed others.
    each = exchange_of(*each).deliver_received() ? machine_->first() : each->next_in_list();
  }
}

void Http2Session::expire_streams() noexcept {
  const auto due = [this]() -> Http2Exchange* {
    for (http2::Stream* each = machine_->first(); each != nullptr; each = each->next_in_list()) {
      if (now() >= exchange_of(*each).deadline()) return &exchange_of(*each);
    }
    return nullptr;
  };
  while (Http2Exchange* const exchange = due()) exchange->on_deadline(now());
  streams_.forget_deadlines();
  for (http2::Stream* each = machine_->first(); each != nullptr; each = each->next_in_list()) {
    streams_.note_deadline(exchange_of(*each).deadline());
  }
}

// ---- the end of exchanges

void Http2Session::sweep() noexcept {
  while (ScheduledStream* const stream = streams_.take_over()) {
    Http2Exchange& exchange = exchange_of(*stream);
    exchange.end();
    delete &exchange;
  }
}

// ---- the end of calls

void Http2Session::after_call() noexcept {
  bool more = true;
  for (int round = 0; more && round < rounds_max && !machine_->closed(); ++round) {
    if (streams_.delivery_due()) deliver_wanted();
    if (streams_.has_blocked()) {
      streams_.pump([](ScheduledStream& stream) { exchange_of(stream).proceed(); });
    }
    if (streams_.has_over()) sweep();
    if (streams_.has_queued()) serve_queued();
    if (streams_.has_withheld()) {
      streams_.release_windows(
          [](ScheduledStream& stream) { exchange_of(stream).release_window(); });
    }
    more = streams_.has_more();
  }
  streams_.end_call();
  if (machine_->closed()) {
    end();
    return;
  }
  const bool idle = machine_->first() == nullptr;
  if (machine_->drained()) connection_.finish(Finish::linger);
  if (idle && input_end_noted_) connection_.finish(Finish::close);
  connection_.set_deadline(more ? now() : std::min(machine_->deadline(), streams_.deadline()));
  if (more) connection_.wake();
}

void Http2Session::end() noexcept {
  if (std::exchange(ended_, true)) return;
  streams_.begin_call();
  ++protocol_.counters().failures[static_cast<std::size_t>(machine_->failure())];
  cancel_all();
  streams_.end_call();
  connection_.set_deadline(never);
  connection_.finish(Finish::linger);
}

void Http2Session::cancel_all() noexcept {
  for (sweep(); machine_->first() != nullptr; sweep()) {
    Http2Exchange& exchange = exchange_of(*machine_->first());
    exchange.note_peer_left();
    streams_.note_over(exchange);
  }
}

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
