#include "katana/http/client/http2_driver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "katana/base/system/check.hpp"
#include "katana/http/client/upload.hpp"

namespace katana::client {

using http2::Begun;
using http2::ClientEvent;
using http2::ClientStep;
using http2::ClientStream;
using http2::ClientStreamState;
using http2::ErrorCode;
using http2::Lost;

namespace {

// The bytes that one stream sends before it is the next stream's turn.
constexpr std::size_t turn_bytes = 16 * 1024;
// The bytes by which the window of a stream is widened if its body is kept whole.
constexpr std::int64_t widened_bytes = 1024 * 1024;
// The extension of a protocol deadline that passes while this side does not read.
constexpr Duration paused_grace = seconds(1);

Error no_blocks() {
  return Error(Code::resource_exhausted,
               "the reactor has no output blocks left; raise output_blocks_max");
}

}  // namespace

Http2Driver::Http2Driver(const DriverEnvironment& environment) noexcept
    : ProtocolDriver(environment),
      machine_(context_.http2(), context_.reactor().now()),
      received_at_(context_.reactor().now()) {
  started_ = machine_.start(outbox());
  connection_.set_deadline(machine_.deadline());
  connection_.wake();
}

Instant Http2Driver::now() const noexcept { return context_.reactor().now(); }

std::uint32_t Http2Driver::capacity() const noexcept {
  if (!started_) return 1;  // begin() fails the call with the reason
  if (ending() || !machine_.can_begin()) return 0;
  std::uint32_t most = machine_.streams_max();
  const std::uint32_t known = origin_.calls_per_connection;  // learned on another connection
  if (!machine_.has_settings() && known != 0) most = std::min(most, known);
  return most - std::min(most, machine_.stream_count());
}

// ---- calls -------------------------------------------------------------------------------------

void Http2Driver::begin(Call& call) noexcept {
  call.set_carrier(*this);
  busy_ = true;
  const http2::RequestHead head = call.outgoing().http2_head();
  const Bytes content = call.outgoing().content.bytes();
  if (!http2::is_sendable(head)) {
    call.fail(
        Error(Code::invalid_argument,
              fmt::format("Host {:?} or target {:?} cannot be sent over HTTP/2: leave Host out, "
                          "or set http2 to never",
                          head.authority, head.target.substr(0, 200))),
        Repeat::never);
    return after_call();
  }
  Exchange& exchange = take_exchange(call);
  const bool is_all = content.empty() && call.upload() == nullptr;
  const Begun begun = started_ ? machine_.begin(exchange, head, is_all, outbox()) : Begun::no_room;
  if (begun != Begun::yes) {
    free_.push_back(&exchange);
    call.fail(why_not(begun), Repeat::never);
    if (!started_) connection_.reset();
  } else if (call.upload() != nullptr) {
    exchange.upload = call.upload();
    ++unbegun_;
  } else if (!content.empty()) {
    exchange.unsent = content;
    ++uploads_;
  }
  after_call();
  connection_.wake();
}

Error Http2Driver::why_not(Begun begun) const {
  if (begun == Begun::no_room) return no_blocks();
  if (begun == Begun::too_large) {
    return Error(Code::resource_exhausted,
                 "the head of the request exceeds the limit of this server "
                 "(SETTINGS_MAX_HEADER_LIST_SIZE) or 64 KiB: send fewer or shorter fields");
  }
  return Error(Code::internal);  // the caller has checked capacity()
}

Http2Driver::Exchange& Http2Driver::take_exchange(Call& call) {
  if (free_.empty()) free_.push_back(&exchanges_.emplace_back());
  Exchange& exchange = *free_.back();
  free_.pop_back();
  exchange = Exchange();
  exchange.call = &call;
  exchange.begun = now();
  return exchange;
}

Http2Driver::Exchange* Http2Driver::find(const Call& call) noexcept {
  for (ClientStream* each = machine_.first(); each != nullptr; each = each->next_in_list()) {
    if (exchange_of(*each).call == &call) return &exchange_of(*each);
  }
  return nullptr;
}

void Http2Driver::cancel_call(Call& call, CancelReason reason) noexcept {
  Exchange* const exchange = find(call);
  KATANA_CHECK(exchange != nullptr);
  const Duration waited = std::min(call.timeout(), now() - exchange->begun);
  unresponsive_ =
      unresponsive_ || (reason == CancelReason::deadline && now() - received_at_ >= waited);
  release(*exchange);
  connection_.wake();
  if (idle() && !answered()) {  // no other call waits for the connection to open
    retire();
    connection_.reset();
    return;
  }
  after_call();
}

void Http2Driver::on_upload(Call& call) noexcept {
  Exchange* const exchange = find(call);
  KATANA_CHECK(exchange != nullptr && !exchange->sends());
  exchange->unsent = exchange->upload->ready();
  exchange->end_due = exchange->upload->ended();
  if (exchange->sends()) ++uploads_;
  after_call();
  connection_.wake();
}

void Http2Driver::on_content_read(Call& call, std::size_t bytes) noexcept {
  Exchange* const exchange = find(call);
  KATANA_CHECK(exchange != nullptr && bytes <= exchange->unread);
  exchange->unread -= bytes;
  machine_.consume(exchange, bytes, outbox());
  after_call();
  connection_.wake();
}

// REQUIRES that its call has ended, or ends now. Returns unread bytes of the body to the
// connection's window.
void Http2Driver::release(Exchange& exchange) noexcept {
  if (exchange.state != ClientStreamState::closed) {
    machine_.reset(exchange, ErrorCode::cancel, outbox());
  }
  if (exchange.sends()) --uploads_;
  if (exchange.upload != nullptr && !exchange.upload->begun()) --unbegun_;
  machine_.consume(nullptr, exchange.unread, outbox());
  exchange.call = nullptr;
  free_.push_back(&exchange);
  capacity_grew_ = true;
}

// ---- input -------------------------------------------------------------------------------------

std::size_t Http2Driver::on_bytes(Bytes input) noexcept {
  received_at_ = now();
  const std::size_t used = pull(input);
  after_call();
  return used;
}

// After GOAWAY the machine reports more events than the input has frames.
std::size_t Http2Driver::pull(Bytes input) noexcept {
  std::size_t at = 0;
  while (started_ && !machine_.closed() && !is_full()) {
    const ClientStep step = machine_.next(input.substr(at), now(), outbox());
    at += step.consumed;
    if (step.event == ClientEvent::closed) return input.size();
    take(step);
    if (step.event == ClientEvent::need_bytes && (step.consumed == 0 || at == input.size())) break;
  }
  return at;
}

void Http2Driver::take(const ClientStep& step) noexcept {
  auto* const exchange = static_cast<Exchange*>(step.stream);
  bool goes_on = true;
  switch (step.event) {
    case ClientEvent::head: take_head(*exchange, step.last); break;
    case ClientEvent::content: goes_on = take_content(*exchange); break;
    case ClientEvent::over: return lose(*exchange, step);
    case ClientEvent::goaway: goaway_ = step.code; break;
    case ClientEvent::room: capacity_grew_ = true; break;
    case ClientEvent::interim: take_interim(*exchange); break;
    case ClientEvent::trailers:
    case ClientEvent::need_bytes:
    case ClientEvent::closed: break;
  }
  if (!step.last || !goes_on) return;
  // The reply may be complete before the request is sent (such as 413); the rest is dropped.
  Call& call = *exchange->call;
  release(*exchange);
  ++served_;
  call.complete();
}

void Http2Driver::take_interim(Exchange& exchange) noexcept {
  const bool asks = context_.http2().reader.status() == 100;
  if (asks && exchange.upload != nullptr) exchange.upload->go();
}

void Http2Driver::take_head(Exchange& exchange, bool last) noexcept {
  const http2::ReplyReader& reader = context_.http2().reader;
  Call& call = *exchange.call;
  call.take_head(reader.status(), reader.fields());
  if (last || call.streams()) return;
  // The body is kept whole in any case, and a small window would only cost round trips.
  const std::int64_t most = exchange.receive_window;
  const bool is_known = exchange.content_left != http2::no_length;
  if (is_known && exchange.content_left <= most) return;
  const std::int64_t more = is_known ? exchange.content_left - most : widened_bytes;
  machine_.widen(exchange, static_cast<std::uint32_t>(std::min(more, widened_bytes)), outbox());
}

// Returns false if the call has failed with its own error.
bool Http2Driver::take_content(Exchange& exchange) noexcept {
  const Bytes content = machine_.content();
  Call& call = *exchange.call;
  exchange.unread += content.size();
  if (!content.empty() && !call.take_content(content)) {
    release(exchange);
    return false;
  }
  if (call.streams()) return true;
  exchange.unread -= content.size();
  machine_.consume(&exchange, content.size(), outbox());
  return true;
}

void Http2Driver::lose(Exchange& exchange, const ClientStep& step) noexcept {
  Call& call = *exchange.call;
  release(exchange);
  const bool undone = step.lost == Lost::refused || step.lost == Lost::unprocessed;
  call.fail(why_lost(step), undone ? Repeat::always : Repeat::never);
}

Error Http2Driver::why_lost(const ClientStep& step) const {
  switch (step.lost) {
    case Lost::refused:
      return Error(Code::unavailable,
                   "the server refused the stream without processing the request");
    case Lost::unprocessed:
      return Error(Code::unavailable,
                   fmt::format("the server is closing the connection (GOAWAY, {}) and did not "
                               "process the request",
                               http2::name_of(goaway_)));
    case Lost::too_large:
      return Error(Code::resource_exhausted,
                   fmt::format("the head of the reply exceeds {} bytes or 128 fields; raise "
                               "head_bytes_max",
                               context_.http2().limits.head_bytes_max));
    case Lost::malformed:
      return Error(Code::data_loss,
                   fmt::format("the reply is not valid HTTP/2: it violates RFC 9113 §8 ({})",
                               http2::name_of(step.code)));
    default: break;
  }
  const bool wants_http1 = step.code == ErrorCode::http_1_1_required;
  return Error(Code::unavailable,
               fmt::format("the server reset the stream ({}){}", http2::name_of(step.code),
                           wants_http1 ? ": set http2 to never for this server" : ""));
}

// While the output is full, nothing is read until on_writable(), which extends the server's
// deadlines.
bool Http2Driver::is_full() noexcept {
  const bool full = connection_.output_full();
  was_full_ = was_full_ || full;
  return full;
}

void Http2Driver::on_writable() noexcept {
  if (std::exchange(was_full_, false)) machine_.restart_deadline(now());
  pull({});
  after_call();
}

void Http2Driver::on_deadline() noexcept {
  if (connection_.paused()) {
    machine_.restart_deadline(now());
    connection_.set_deadline(now() + paused_grace);
    return;
  }
  machine_.on_deadline(now(), outbox());
  after_call();
}

// ---- output ------------------------------------------------------------------------------------

// The body is read from its source only after the connection is established: otherwise bytes would
// be lost if it never is.
void Http2Driver::begin_uploads() noexcept {
  if (!answered()) return connection_.want_writable();
  for (ClientStream* each = machine_.first(); each != nullptr; each = each->next_in_list()) {
    Upload* const upload = exchange_of(*each).upload;
    if (upload == nullptr || upload->begun()) continue;
    upload->begin();
    --unbegun_;
  }
}

// Writes request bodies into the outbox as the windows allow, stream by stream in turn. It fills at
// most half of the outbox, because a full outbox stops reading. A server that sends before it reads
// would then wait for ever.
void Http2Driver::upload() noexcept {
  const std::size_t most = context_.reactor().options().outbox_high_bytes / 2;
  while (outbox().pending() < most) {
    Exchange* const exchange = next_upload();
    if (exchange == nullptr) return;  // ClientEvent::room reports when one can
    uploaded_last_ = exchange->id;
    const std::size_t bytes = std::min(turn_bytes, most - outbox().pending());
    const bool ends = exchange->upload == nullptr || exchange->end_due;
    const std::size_t before = exchange->unsent.size();
    const bool has_capacity =
        machine_.write_content(*exchange, exchange->unsent, false, ends, bytes, outbox());
    if (!has_capacity) {
      if (is_full()) return;  // on_writable() is called when there are blocks again
      break;
    }
    after_piece(*exchange, before - exchange->unsent.size());
  }
  if (uploads_ > 0) connection_.want_writable();
}

// Notes that `bytes` of its body were written, or the end.
void Http2Driver::after_piece(Exchange& exchange, std::size_t bytes) noexcept {
  if (exchange.unsent.empty()) {
    exchange.end_due = false;
    --uploads_;
  }
  if (exchange.upload != nullptr && bytes > 0) exchange.upload->advance(bytes);
}

// Returns the next exchange after the last turn's that may send; null if there is none.
Http2Driver::Exchange* Http2Driver::next_upload() noexcept {
  Exchange* found = nullptr;
  if (uploads_ == 0) return found;
  for (ClientStream* each = machine_.first(); each != nullptr; each = each->next_in_list()) {
    const Exchange& exchange = exchange_of(*each);
    if (!exchange.sends() || (!exchange.end_due && machine_.window(*each) == 0)) continue;
    if (each->id > uploaded_last_) return &exchange_of(*each);
    if (found == nullptr) found = &exchange_of(*each);
  }
  return found;
}

// ---- closing -----------------------------------------------------------------------------------

// Sends, closes or reports, as the last operation requires.
void Http2Driver::after_call() noexcept {
  if (unbegun_ > 0) begin_uploads();
  if (uploads_ > 0 && !machine_.closed()) upload();
  if (machine_.closed()) {
    fail_all(why_closed(), false);
    connection_.finish(net::Finish::close);  // GOAWAY carries the reason
    return;
  }
  if (connection_.finishing()) return;
  connection_.set_deadline(machine_.deadline());
  if (machine_.has_settings()) origin_.calls_per_connection = machine_.streams_max();
  if (idle() && (ending() || should_close())) {
    announce_close();
    connection_.finish(net::Finish::close);
    return;
  }
  if (idle() && answered() && std::exchange(busy_, false)) events_.on_idle();
  if (std::exchange(capacity_grew_, false)) events_.on_more_capacity();
}

// `lost`: neither side closed the connection on purpose.
void Http2Driver::fail_all(const Error& error, bool lost) noexcept {
  machine_.end_of_input();
  while (ClientStream* const stream = machine_.first()) {
    Exchange& exchange = exchange_of(*stream);
    Call& call = *exchange.call;
    const bool nothing_came = !stream->has_head && stream->interims == 0;
    release(exchange);
    const bool may_repeat = lost && served_ > 0 && nothing_came;
    call.fail(error, may_repeat ? Repeat::if_idempotent : Repeat::never);
  }
}

Error Http2Driver::why_closed() const {
  const http2::Failure failure = machine_.failure();
  if (failure == http2::Failure::no_room) return no_blocks();
  const bool late =
      failure == http2::Failure::head_timeout || failure == http2::Failure::settings_timeout;
  const char* remedy = "";
  if (failure == http2::Failure::bad_preface) {
    remedy = " If the server speaks HTTP/1.1 only, set http2 to by_alpn.";
  } else if (failure == http2::Failure::continuation_flood) {
    remedy = " If its heads are that large, raise head_bytes_max.";
  }
  return Error(
      late ? Code::deadline_exceeded : Code::data_loss,
      fmt::format("HTTP/2 with the server failed: {}{}", http2::text_of(failure).detail, remedy));
}

void Http2Driver::on_input_end() noexcept {
  // The calls read the rest first; this is called again when the connection resumes.
  if (connection_.paused()) return;
  std::string text = "the server closed the connection before the reply was complete";
  if (goaway_ != ErrorCode::no_error) text += fmt::format(" (GOAWAY, {})", http2::name_of(goaway_));
  fail_all(Error(Code::unavailable, std::move(text)), true);
  connection_.finish(net::Finish::close);
}

void Http2Driver::on_lost(const Error& error) noexcept { fail_all(error, true); }

void Http2Driver::take_unsent_calls(CallList& calls) noexcept {
  machine_.end_of_input();
  while (ClientStream* const stream = machine_.first()) {
    Exchange& exchange = exchange_of(*stream);
    Call& call = *exchange.call;
    release(exchange);
    calls.push_front(call);
  }
}

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
