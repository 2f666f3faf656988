#include "katana/http/session/http1_session.hpp"

#include <algorithm>
#include <utility>

#include "katana/base/memory/poison.hpp"
#include "katana/http/session/client_places.hpp"
#include "katana/http/session/websocket_connection.hpp"
#include "katana/wire/http/status.hpp"

namespace katana::session {

using http1::Event;
using net::Finish;
using net::PauseReason;
using Mode = ExchangeCore::Mode;

namespace {

// A file of at most this size is read into the block of its head. This is one send instead of two,
// without references to pages. See docs/decisions/0058.
constexpr std::uint64_t file_bytes_copied_max = 8 * 1024;

}  // namespace

Http1Session::Http1Session(Http1Protocol& protocol, net::Connection& connection) noexcept
    : protocol_(protocol),
      connection_(connection),
      machine_(protocol.context(), connection.reactor().now()) {
  update_deadline();
  if (connection.reactor().draining()) on_drain();
}

Http1Session::~Http1Session() {
  if (core_.pending != nullptr) ++protocol_.counters().handlers_cancelled;
  if (active_ && protocol_.options().observer != nullptr) {
    if (core_.end_reason == ExchangeEnd::replied) core_.end_reason = ExchangeEnd::peer_left;
    tell_observer();
  }
  if (counted_) end_limited();
  core_.end(memory());
}

// ---- what each request has, inlined into the calls below

inline void Http1Session::begin_exchange() noexcept {
  active_ = true;
  replied_ = false;
  core_.patient = false;
  core_.end_reason = ExchangeEnd::replied;
  core_.status = 0;
  core_.content_bytes = 0;
  core_.route = nullptr;
  if (ExchangeObserver* const observer = protocol_.options().observer) {
    tell_observer_of_begin(*observer);
  }
}

inline void Http1Session::end_exchange_inlined() noexcept {
  if (protocol_.options().observer != nullptr) tell_observer();
  active_ = resume_due_ = false;
  if (counted_) [[unlikely]]
    end_limited();
  core_.end(memory());
  if (core_.context != nullptr) core_.drop_context();
  connection_.resume(PauseReason::handler_pending, PauseReason::content_unwanted);
}

inline void Http1Session::serve_head() noexcept {
  if (!connection_.may_limit_requests()) [[likely]] {
    protocol_.handler().on_request(*this, *core_.head());
  } else {
    serve_limited();
  }
}

void Http1Session::serve_limited() noexcept {
  if (auto place = begin_request(connection_, protocol_.trust(), core_.head())) {
    connection_.keep_place(*std::move(place));
    counted_ = true;
    protocol_.handler().on_request(*this, *core_.head());
  } else {
    refuse_by(protocol_.handler(), 429, too_many_requests);
  }
}

void Http1Session::end_limited() noexcept {
  counted_ = false;
  core_.stop_work(memory());
  core_.leave(memory(), {.client = connection_.take_place()});
}

inline void Http1Session::on_head(bool complete) noexcept {
  ++protocol_.counters().requests;
  core_.lend_head(&protocol_.context().head);
  core_.content_pending = !complete;
  core_.mode = Mode::ignore;
  begin_exchange();
  const bool last =
      ++connection_.counters().requests == protocol_.options().requests_per_connection_max;
  if (last || reactor().draining()) machine_.close_after_reply();
  if (core_.context == nullptr) [[likely]] {
    serve_head();  // in a call by the reactor no activity is current
  } else {
    const ActivityScope scope(core_.context.get());
    serve_head();
  }
  if (active_ && replied_) [[likely]] {
    end_exchange_inlined();
  } else {
    after_handler();
  }
}

// ---- calls by the reactor

std::size_t Http1Session::on_bytes(Bytes input) noexcept {
  const Lending head(&protocol_.context().head, sizeof(http::Head));
  in_call_ = true;
  std::size_t consumed = 0;
  // No bytes are offered to a paused or finishing session.
  while (!connection_.output_full()) {
    bool more;
    const Bytes rest(input.data() + consumed, input.size() - consumed);
    if (const std::size_t bytes = machine_.next_request(rest); bytes != 0) [[likely]] {
      consumed += bytes;
      input_left_ = static_cast<std::uint32_t>(input.size() - consumed);
      on_head(true);
      more = input_left_ != 0;  // without a body there is nothing to refuse
    } else {
      more = on_event(rest);
      consumed = input.size() - input_left_;
    }
    if (upgraded_) return consumed;  // the replacement gets the rest and the deadline
    if (!more || connection_.paused() || connection_.finishing()) break;
  }
  if (active_) return_head();
  update_deadline();
  in_call_ = false;
  return consumed;
}

void Http1Session::on_input_end() noexcept {
  const bool request_complete = machine_.state() == http1::State::reply;
  if (active_ && request_complete) {
    give_grace();
    update_deadline();
    return;
  }
  // Nothing is carried when the reactor calls this outside of an exchange: the input has ended for
  // the machine, too.
  if (!connection_.paused())
    on_bytes({});
  else
    connection_.wake();
}

void Http1Session::on_writable() noexcept {
  in_call_ = true;
  machine_.restart_deadline(now());  // the body could not be taken
  if (core_.pending != nullptr) {
    if (std::exchange(head_suffices_, false)) {
      end_reply();
    } else if (std::exchange(resume_due_, false)) {
      on_resumed();
    } else {
      const ActivityScope scope(core_.context.get());
      core_.pending->on_writable();
    }
    after_handler();
    if (upgraded_) return;  // the replacement sets the deadline
  }
  update_deadline();
  in_call_ = false;
}

void Http1Session::on_deadline() noexcept {
  in_call_ = true;
  if (active_ && now() >= core_.handler_deadline) {
    cancel(connection_.input_ended() ? Cancelled::peer_left : Cancelled::handler_timeout);
  } else if (connection_.paused()) {
    // The client's time begins anew when it has to send again.
    connection_.set_deadline(core_.handler_deadline);
    in_call_ = false;
    return;
  } else {
    machine_.on_deadline(now());
    if (machine_.closing()) end_connection();
    if (machine_.state() == http1::State::refused) on_refused();
  }
  update_deadline();
  in_call_ = false;
}

void Http1Session::on_drain() noexcept {
  machine_.close_after_reply();
  // Its reply is complete; the rest of the body is unwanted.
  if (machine_.state() == http1::State::discard) connection_.finish(Finish::linger);
  if (active_ && core_.pending != nullptr) {
    in_call_ = true;
    core_.pending->on_drain();
    after_handler();
    update_deadline();
    in_call_ = false;
  }
  if (active_ || machine_.state() != http1::State::idle) return;
  machine_.end_idle_by(now() + reactor().idle_at_drain(protocol_.options().drain_idle));
  update_deadline();
}

// ---- events of the machine

void Http1Session::tell_observer_of_begin(ExchangeObserver& observer) noexcept {
  core_.began = reactor().read_clock();
  core_.context = observer.on_exchange_begin(core_.head(), *this);
}

bool Http1Session::on_event(Bytes rest) noexcept {
  const http1::Step step = machine_.next_otherwise(rest, now());
  rest.remove_prefix(step.consumed);
  input_left_ = static_cast<std::uint32_t>(rest.size());
  switch (step.event) {
    case Event::head: on_head(step.last); break;
    case Event::content: on_content(step.last); break;
    case Event::paused: connection_.pause(PauseReason::handler_pending); break;
    case Event::refused:
      if (hand_over(rest)) {
        upgraded_ = true;
        return false;
      }
      on_refused();
      break;
    case Event::closed: end_connection(); break;
    case Event::need_bytes:
      if (step.consumed != 0) return true;
      return connection_.input_ended() && machine_.end_of_input();
  }
  return input_left_ != 0 || machine_.state() == http1::State::refused;
}

void Http1Session::on_content(bool complete) noexcept {
  if (complete) core_.content_pending = false;
  if (core_.mode == Mode::collect) {
    Bytes content = machine_.content();
    if (core_.is_detached()) {
      if (!core_.grow(memory(), content.size())) {
        refuse_for_memory();
        return;
      }
      core_.append_content(content);
      content = core_.content();
    }
    if (!complete) return;
    {
      const ActivityScope scope(core_.context.get());
      protocol_.handler().on_content_collected(*this, *core_.head(), content);
    }
    core_.drop_content();  // a handler that continues has a copy
    after_handler();
  } else if (core_.mode == Mode::stream && core_.pending != nullptr) {
    give_handler_time();
    const bool wants_more = core_.pending->on_content(machine_.content(), complete);
    if (active_) charge();
    if (!complete && active_) {
      if (wants_more) {
        // The client has to send, and the machine has a deadline for it.
        core_.handler_deadline = never;
      } else {
        connection_.pause(PauseReason::content_unwanted);
      }
    }
    after_handler();
  } else {
    after_handler();
  }
}

// The line was parsed as any other: clients of HTTP/1.1 pay nothing for this check.
bool Http1Session::hand_over(Bytes refused) noexcept {
  constexpr Bytes line = "PRI * HTTP/2.0\r\n";
  const bool is_first = connection_.counters().requests == 0 &&
                        machine_.refusal() == http1::Refusal::unsupported_version;
  if (!is_first || protocol_.http2() == nullptr || !refused.starts_with(line)) return false;
  if (connection_.application_protocol() == "http/1.1") return false;  // ALPN agreed on it
  connection_.replace_session(std::make_unique<net::PlainReplacement>(*protocol_.http2()));
  return true;
}

void Http1Session::on_refused() noexcept {
  const http1::RefusalText& text = http1::text_of(machine_.refusal());
  ++protocol_.counters().refused;
  if (machine_.reply_begun()) {
    core_.pending.reset();
    abort();
    return;
  }
  if (!active_) {
    core_.lend_head(nullptr);
    begin_exchange();
  }
  replied_ = false;
  refuse_by(protocol_.handler(), text.status, text.detail);
  after_handler();
}

// The handler's call has ended: it answered, or work is pending, or the body is awaited.
void Http1Session::after_handler() noexcept {
  if (!active_) return;
  if (replied_) {
    end_exchange();
    return;
  }
  if (!core_.goes_on()) {
    report_failure({.what = "the handler returned without a reply"});
    refuse_by(protocol_.handler(), 500, no_reply_made);
    end_exchange();
    return;
  }
  if (core_.content_pending) return;
  // A handler that waits for room has no deadline: the client has to read, and the reactor has a
  // deadline for that.
  if (core_.handler_deadline == never && !connection_.waits_until_writable()) {
    give_handler_time();
    if (connection_.input_ended()) give_grace();
  }
  charge();
  connection_.pause(PauseReason::handler_pending);
}

// ---- content

std::optional<std::uint64_t> Http1Session::content_length() const noexcept {
  const http1::Framing& framing = machine_.framing();
  if (framing.content == http1::ContentKind::chunked) return std::nullopt;
  return framing.content_length;
}

const net::ConnectionCounters& Http1Session::connection_counters() noexcept {
  return connection_.counters();
}

engine::PeerAddress Http1Session::peer() noexcept { return connection_.peer().text(); }
Arrival Http1Session::arrival() noexcept {
  return {connection_.peer(), connection_.transform() != nullptr, protocol_.trust()};
}

const net::PeerCertificate* Http1Session::peer_certificate() {
  return connection_.peer_certificate();
}
engine::Listener Http1Session::listener() noexcept { return connection_.listener(); }

void Http1Session::collect_content(std::uint64_t bytes_max) {
  core_.mode = Mode::collect;
  if (!machine_.limit_content(bytes_max)) return;
  // The received part of the body is shown in place.
  const auto length = content_length();
  if (length && *length <= input_left_) return;
  if (!machine_.send_continue(connection_.outbox())) abort();
  core_.detach_head();
  charge();
}

// The received part of the body may have to wait for room, and is then collected with its head.
void Http1Session::return_head() {
  if (core_.return_head(protocol_.options().observer != nullptr)) charge();
}

// ---- memory ----------------------------------------------------------------------------------

std::size_t Http1Session::on_memory_scarce() noexcept {
  in_call_ = true;
  if (active_ && !replied_) refuse_for_memory();
  update_deadline();
  in_call_ = false;
  return 0;
}

void Http1Session::refuse_for_memory() noexcept {
  ++protocol_.counters().memory_refusals;
  if (machine_.reply_begun()) {
    core_.cancel_handler();
    connection_.reset();
    core_.end_reason = ExchangeEnd::aborted;
  } else {
    machine_.close_after_reply();
    refuse_by(protocol_.handler(), 503, memory_scarce);
    if (refusal_goes_on()) return;
  }
  end_exchange();
}

void Http1Session::stream_content(std::uint64_t bytes_max) {
  core_.mode = Mode::stream;
  if (!machine_.limit_content(bytes_max)) return;
  connection_.pause(PauseReason::content_unwanted);
  give_handler_time();
}

void Http1Session::want_content() noexcept {
  if (!connection_.has(PauseReason::content_unwanted)) return;
  core_.handler_deadline = never;  // the machine has a deadline for the client
  if (!machine_.send_continue(connection_.outbox())) abort();
  machine_.restart_deadline(now());
  connection_.resume(PauseReason::content_unwanted);
  flush_later();
}

// ---- a deferred request ------------------------------------------------------------------------

void Http1Session::defer_request() {
  core_.detach_head();
  if (core_.content_pending) {
    core_.mode = Mode::stream;  // it must not be skipped
    connection_.pause(PauseReason::content_unwanted);
    charge();
  }
  give_handler_time();
}

void Http1Session::resume_request() noexcept {
  resume_due_ = true;
  connection_.want_writable();
  flush_later();
}

void Http1Session::on_resumed() noexcept {
  core_.mode = Mode::ignore;
  input_left_ = 0;  // the received bytes wait elsewhere
  connection_.resume(PauseReason::content_unwanted);
  connection_.resume(PauseReason::handler_pending);
  {
    const ActivityScope scope(core_.context.get());
    protocol_.handler().on_resumed(*this, *core_.head());
  }
  if (machine_.state() == http1::State::refused) on_refused();  // its content is too large
  // The client has to send, and the machine has a deadline for it.
  if (core_.content_pending && core_.mode == Mode::collect) core_.handler_deadline = never;
}

// ---- reply -----------------------------------------------------------------------------------

void Http1Session::respond(const http::ReplyHead& given, Bytes content,
                           bool content_stays) noexcept {
  if (!active_ || replied_) return;
  protocol_.set_date(reactor().wall_clock_s());
  const bool is_sent =
      core_.context == nullptr
          ? machine_.respond(given, content, content_stays, now(), connection_.outbox())
          : respond_with_fields(given, content, content_stays);
  if (!is_sent) {
    abort();
    return;
  }
  core_.note_reply(given.status, content.size());
  after_reply();
}

bool Http1Session::respond_with_fields(const http::ReplyHead& given, Bytes content,
                                       bool content_stays) noexcept {
  const http::ReplyHead head = core_.with_fields(given);
  return machine_.respond(head, content, content_stays, now(), connection_.outbox());
}

bool Http1Session::upgrade(const http::ReplyHead& head,
                           std::unique_ptr<WebSocketReplacement> replacement) noexcept {
  if (!active_ || replied_ || !in_call_ || core_.content_pending || !machine_.may_upgrade()) {
    return false;
  }
  respond(head, {}, false);
  if (core_.end_reason == ExchangeEnd::aborted) return true;
  replacement->keep_places(places_kept());
  connection_.replace_session(std::move(replacement));
  upgraded_ = true;
  return true;
}

// The connection continues as the work of this request.
RequestShare Http1Session::places_kept() {
  if (std::exchange(counted_, false)) share()->places.client = connection_.take_place();
  return core_.take_places();
}

void Http1Session::begin_reply(const http::ReplyHead& given) noexcept {
  if (!active_ || replied_) return;
  protocol_.set_date(reactor().wall_clock_s());
  const http::ReplyHead head = core_.with_fields(given);
  if (!machine_.begin_reply(head, connection_.outbox())) abort();
  core_.note_reply(head.status, 0);
  give_handler_time();
  flush_later();
}

bool Http1Session::takes_whole(std::size_t bytes) noexcept {
  return connection_.output_takes(bytes);
}

bool Http1Session::may_write(std::size_t bytes) noexcept {
  if (!active_ || replied_) return false;
  if (connection_.output_full(bytes)) {
    core_.handler_deadline = never;  // the reactor has a deadline for the client
    return false;
  }
  give_handler_time();
  return true;
}

bool Http1Session::note_written(bool done, std::uint64_t size, std::size_t pending) noexcept {
  if (!done) {
    abort();
    return false;
  }
  flush_later();
  if (connection_.outbox().pending() != pending || size == 0) {
    core_.content_bytes += size;
    return true;
  }
  // A reply without a body (HEAD, 204, 205, 304) is complete with its head: on_writable() ends it.
  head_suffices_ = true;
  connection_.pause(PauseReason::outbox_full);
  return false;
}

bool Http1Session::write(Bytes content) noexcept {
  if (!may_write(content.size())) return false;
  const std::size_t pending = connection_.outbox().pending();
  const bool done = machine_.write_content(content, connection_.outbox());
  return note_written(done, content.size(), pending);
}

bool Http1Session::write_file(FilePart& part) noexcept {
  // A transform must see the bytes. A few bytes are sent with their head in one call.
  if (part.size <= file_bytes_copied_max || connection_.transform() != nullptr) {
    return Exchange::write_file(part);
  }
  if (!may_write(0)) return false;
  const std::size_t pending = connection_.outbox().pending();
  const bool done = machine_.write_content(part, connection_.outbox());
  if (!note_written(done, part.size, pending)) return false;
  part.remove_prefix(part.size);
  return true;
}

bool Http1Session::yield() noexcept {
  if (!active_ || replied_) return false;
  give_handler_time();
  connection_.want_writable();
  flush_later();
  return true;
}

void Http1Session::set_patient() noexcept {
  if (active_) note_patient(protocol_.options().observer);
  give_handler_time();
}

void Http1Session::end_reply() noexcept {
  if (!active_ || replied_) return;
  if (!machine_.end_reply(now(), connection_.outbox())) {
    abort();
    return;
  }
  after_reply();
}

void Http1Session::after_reply() noexcept {
  replied_ = true;
  // If the server ends the connection, the client may have sent its next request already.
  if (machine_.closing()) {
    if (reactor().draining()) connection_.finish(Finish::linger);
    end_connection();
  }
  // Outside of a call by the reactor a pending handler answers, and no other code ends its
  // exchange.
  if (!in_call_) {
    end_exchange();
    update_deadline();
    connection_.wake();
  }
}

void Http1Session::abort() noexcept {
  ++protocol_.counters().replies_aborted;
  replied_ = true;
  core_.end_reason = ExchangeEnd::aborted;
  connection_.reset();
  flush_later();
}

void Http1Session::end_exchange() noexcept { end_exchange_inlined(); }

void Http1Session::tell_observer() noexcept {
  const ActivityScope scope(core_.context.get());
  const bool is_websocket = core_.status == 101;
  const ExchangeRecord record =
      core_.record(reactor().read_clock() - core_.began, connection_.counters().requests,
                   is_websocket, answers_head());
  protocol_.options().observer->on_exchange_end(*this, record);
}

void Http1Session::cancel(Cancelled why) noexcept {
  HttpCounters& counters = protocol_.counters();
  ++(why == Cancelled::peer_left ? counters.handlers_cancelled : counters.handler_timeouts);
  if (why == Cancelled::peer_left || machine_.reply_begun()) {
    core_.cancel_handler();
    connection_.reset();
    core_.end_reason = why == Cancelled::peer_left ? ExchangeEnd::peer_left : ExchangeEnd::aborted;
    end_exchange();
    return;
  }
  machine_.close_after_reply();
  refuse_by(protocol_.handler(), 503, handler_late);
  if (!refusal_goes_on()) end_exchange();
}

// An `after` of the route has made it a stream, which ends as that of a handler does.
bool Http1Session::refusal_goes_on() noexcept {
  if (replied_ || core_.pending == nullptr) return false;
  core_.handler_deadline = never;
  after_handler();
  return true;
}

void Http1Session::give_grace() noexcept {
  core_.give_grace(now() + protocol_.options().half_close_grace, core_.handler_deadline);
}

void Http1Session::end_connection() noexcept {
  connection_.finish(machine_.input_may_follow() ? Finish::linger : Finish::close);
}

void Http1Session::flush_later() noexcept {
  if (!in_call_) connection_.wake();
}

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
