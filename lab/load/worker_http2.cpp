// Worker: requests as streams of HTTP/2.
#include <cerrno>

#include "lab/load/worker.hpp"

namespace katana::load {
namespace {

constexpr std::size_t output_bytes_max = 256 * 1024;  // content, before the socket takes some

Failure failure_of(http2::Lost lost) {
  switch (lost) {
    case http2::Lost::reset: return Failure::stream_reset;
    case http2::Lost::refused: return Failure::stream_refused;
    case http2::Lost::unprocessed: return Failure::goaway;
    default: return Failure::malformed;
  }
}

}  // namespace

void Worker::begin_stream(Connection& connection, const InFlight& request) {
  Http2Connection& link = http2_of(connection);
  const Request& chosen = target_.requests[request.request];
  Exchange& exchange = link.take();
  exchange.request = request;
  const auto begun = link.machine().begin_block(exchange, chosen.block, chosen.is_head,
                                                chosen.content.empty(), link.outbox());
  KATANA_CHECK(begun == http2::Begun::yes);  // can_ask() said so
  if (chosen.content.empty()) return;
  exchange.unsent = chosen.content;
  ++link.uploads;
}

// Sends as much of the content as the server's windows take, and the socket will take soon.
void Worker::upload(Connection& connection) {
  Http2Connection& link = http2_of(connection);
  Exchange* next = nullptr;
  for (Exchange* each = link.first(); each != nullptr && link.uploads > 0; each = next) {
    next = Http2Connection::next(*each);
    if (each->unsent.empty()) continue;
    const std::size_t pending = link.outbox().pending();
    if (pending >= output_bytes_max) return;
    (void)link.machine().write_content(*each, each->unsent, true, true, output_bytes_max - pending,
                                       link.outbox());
    if (each->unsent.empty()) --link.uploads;
  }
}

void Worker::flush_frames(Connection& connection) {
  Http2Connection& link = http2_of(connection);
  Outbox& outbox = link.outbox();
  for (;;) {
    if (link.uploads > 0) upload(connection);
    if (outbox.empty()) break;
    const long written = send_some(connection, outbox);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      connection.unwritten = 1;  // there is something, EPOLLOUT is waited for
      return on_write_error(connection, errno);
    }
    if (connection.state == Connection::State::connecting) {
      read_clock();
      on_established(connection);
    }
  }
  connection.unwritten = 0;
}

// False: the connection was closed, or is another one by now.
bool Worker::take_frames(Connection& connection, Bytes rest) {
  Http2Connection& link = http2_of(connection);
  for (;;) {
    const http2::ClientStep step = link.machine().next(rest, {now_ns_}, link.outbox());
    if (!take_frame(connection, step)) return false;
    rest.remove_prefix(step.consumed);
    const bool waits = step.event == http2::ClientEvent::need_bytes;
    if (waits && (step.consumed == 0 || rest.empty())) break;
  }
  if (!rest.empty()) connection.carry.assign(rest);  // part of a frame
  return end_frames(connection);
}

// False: the connection was closed.
bool Worker::take_frame(Connection& connection, const http2::ClientStep& step) {
  Http2Connection& link = http2_of(connection);
  auto* const exchange = static_cast<Exchange*>(step.stream);
  switch (step.event) {
    case http2::ClientEvent::content:
      take_content(exchange->answer, link.machine().content());
      link.machine().consume(exchange, link.machine().content().size(), link.outbox());
      break;
    case http2::ClientEvent::head:
      exchange->answer.status = static_cast<std::uint16_t>(http2_->context.reader.status());
      break;
    case http2::ClientEvent::interim: ++now_->counts.interims; break;
    case http2::ClientEvent::over: lose_stream(connection, *exchange, failure_of(step.lost)); break;
    case http2::ClientEvent::closed:
      if (connection.in_flight == 0) now_->counts.count(Failure::unsolicited);
      flush(connection);  // GOAWAY says why
      fail_requests(connection, Failure::malformed);
      reopen(connection, true);
      return false;
    case http2::ClientEvent::trailers:
    case http2::ClientEvent::room:
    case http2::ClientEvent::goaway:
    case http2::ClientEvent::need_bytes: break;
  }
  if (step.last) end_stream(connection, *exchange);
  return true;
}

// Ends the reading of received frames. False: the connection was closed.
bool Worker::end_frames(Connection& connection) {
  Http2Connection& link = http2_of(connection);
  const std::uint32_t asked_max = plan_.requests_per_connection;
  const bool is_used_up = asked_max != 0 && connection.asked >= asked_max;
  if (connection.in_flight == 0 && (is_used_up || !link.machine().is_usable())) {
    link.machine().close(link.outbox());
    flush(connection);
    reopen(connection, !link.has_answered);
    open_queued();
    return false;
  }
  if (plan_.is_open_loop()) {
    flush(connection);
    make_ready(connection);
  }
  return true;
}

void Worker::end_exchange(Connection& connection, Exchange& exchange) {
  http2_of(connection).give(exchange);
  --connection.in_flight;
  --all_in_flight_;
}

void Worker::end_stream(Connection& connection, Exchange& exchange) {
  Http2Connection& link = http2_of(connection);
  judge(exchange.answer, exchange.request);
  connection.failures = 0;
  link.has_answered = true;
  // The reply came before all of the request was sent (413, say): the rest is of no use.
  if (exchange.state != http2::ClientStreamState::closed) {
    link.machine().reset(exchange, http2::ErrorCode::cancel, link.outbox());
  }
  end_exchange(connection, exchange);
}

void Worker::lose_stream(Connection& connection, Exchange& exchange, Failure failure) {
  count_failure(exchange.request, failure);
  end_exchange(connection, exchange);
}

// They stand in the order in which they were begun. A stream that is given up leaves the others.
void Worker::look_after_streams(Connection& connection) {
  Http2Connection& link = http2_of(connection);
  bool any = false;
  while (Exchange* const first = link.first()) {
    if (now_ns_ - first->request.sent_ns <= plan_.timeout.ns) break;
    link.machine().reset(*first, http2::ErrorCode::cancel, link.outbox());
    lose_stream(connection, *first, Failure::response_timeout);
    any = true;
  }
  if (!any) return;
  // A server that answers nothing is left: the connection may be what does not work.
  if (connection.in_flight == 0) {
    flush(connection);
    return reopen(connection, true);
  }
  if (plan_.is_open_loop()) {
    flush(connection);
    return make_ready(connection);
  }
  feed(connection);
}

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
