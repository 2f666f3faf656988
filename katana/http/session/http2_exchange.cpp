#include "katana/http/session/http2_exchange.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "katana/http/session/client_places.hpp"
#include "katana/wire/http/status.hpp"

namespace katana::session {

using http2::StreamState;
using Mode = ExchangeCore::Mode;

namespace {

constexpr Bytes content_too_large =
    "The content is larger than this resource accepts (RFC 9110 §15.5.14).";

}  // namespace

Http2Exchange::Http2Exchange(StreamScheduler& streams) noexcept : streams_(streams) {
  core_.end_reason = ExchangeEnd::peer_left;
}

// ---- the request -----------------------------------------------------------------------------

// `refused`: parts of the head may be missing.
void Http2Exchange::begin(const http2::HeadReader& reader, std::uint32_t number, bool complete,
                          bool refused) noexcept {
  core_.lend_head(refused ? nullptr : &reader.head());
  core_.began = streams_.now();
  request_ = number;
  announced_ = reader.content_length();
  expects_continue_ = reader.expects_continue() && !complete;
  request_complete = complete;
  asks_upgrade_ = reader.asks_upgrade();
  core_.content_pending = !complete && !asks_upgrade_;
  content_bytes_max_ = streams_.options().http2.limits.content_bytes_max;
  if (core_.content_pending) give_peer_time();
  if (ExchangeObserver* const observer = streams_.options().observer) {
    core_.context = observer->on_exchange_begin(core_.head(), *this);
  }
  bool may_begin = true;
  if (streams_.connection().may_limit_requests()) [[unlikely]] {
    auto place = begin_request(streams_.connection(), streams_.protocol().trust(), core_.head());
    may_begin = place.has_value();
    if (may_begin) place_ = *std::move(place);
  }
  if (refused) {
    refuse(reader.status(), reader.detail());
  } else if (!may_begin) [[unlikely]] {
    refuse(429, too_many_requests);
  }
}

void Http2Exchange::dispatch() noexcept {
  const ActivityScope scope(core_.context.get());
  RequestHandler& handler = streams_.protocol().handler();
  if (refusal_ != 0) [[unlikely]] {
    refuse_by(handler, std::exchange(refusal_, std::uint16_t{0}), refusal_detail_);
  } else {
    handler.on_request(*this, *core_.head());
  }
  after_handler();
}

// The handler's call has ended: it answered, or work is pending, or the body is awaited.
void Http2Exchange::after_handler() noexcept {
  if (over || replied_) return;
  if (socket_ != nullptr) {
    end_exchange();
    return;
  }
  if (refusal_ != 0) {
    answer_refusal();
    return;
  }
  if (!core_.goes_on()) {
    report_failure({.what = "the handler returned without a reply"});
    fail(500, no_reply_made);
    return;
  }
  charge();
  if (!core_.content_pending && core_.handler_deadline == never && !blocked) give_handler_time();
}

void Http2Exchange::on_drain() noexcept {
  if (over) return;
  if (socket_ != nullptr) {
    socket_->on_drain();
  } else if (core_.pending != nullptr) {
    core_.pending->on_drain();
  }
}

// The handler has copied the parts that it needs. A head is kept for a body that is to be
// collected, and for a handler that waits for its call. The record of an exchange that continues
// needs it, too: it is made when the reply is sent, which may be much later.
void Http2Exchange::return_head() {
  if (over) return;
  if (core_.return_head(queued || streams_.options().observer != nullptr)) charge();
}

// ---- content ---------------------------------------------------------------------------------

std::optional<std::uint64_t> Http2Exchange::content_length() const noexcept {
  if (announced_ < 0) return std::nullopt;
  return static_cast<std::uint64_t>(announced_);
}

bool Http2Exchange::limit_content(std::uint64_t bytes_max) noexcept {
  content_bytes_max_ = std::min(content_bytes_max_, bytes_max);
  if (announced_ <= 0 || static_cast<std::uint64_t>(announced_) <= content_bytes_max_) return true;
  refuse(413, content_too_large);
  return false;
}

void Http2Exchange::collect_content(std::uint64_t bytes_max) {
  core_.mode = Mode::collect;
  if (!limit_content(bytes_max)) return;
  if (received_bytes_ > content_bytes_max_) {  // while the request was deferred
    refuse(413, content_too_large);
    return;
  }
  want_content();
}

void Http2Exchange::stream_content(std::uint64_t bytes_max) {
  core_.mode = Mode::stream;
  if (!limit_content(bytes_max)) return;
  content_deadline_ = never;  // it is not read yet
  give_handler_time();
}

void Http2Exchange::want_content() noexcept {
  if (wanted_ || over || !core_.content_pending) return;
  wanted_ = true;
  core_.handler_deadline = never;  // the client has to send
  give_peer_time();
  if (std::exchange(expects_continue_, false) && received_.empty()) {
    streams_.machine().send_continue(*this, streams_.outbox());
  }
  if (request_complete || !received_.empty()) {
    streams_.note_delivery_due();
    streams_.touch_at_once();
  }
  streams_.touch();
}

void Http2Exchange::on_content(Bytes piece, bool complete) noexcept {
  request_complete = complete;
  if (socket_ != nullptr && !over) {
    socket_->on_content(piece, complete);
    return;
  }
  expects_continue_ = false;
  received_bytes_ += piece.size();
  if (over) {
    streams_.machine().consume(this, piece.size(), streams_.outbox());
    return;
  }
  if (received_bytes_ > content_bytes_max_) {
    streams_.machine().consume(this, piece.size(), streams_.outbox());
    refuse(413, content_too_large);
    if (!queued) answer_refusal();
    return;
  }
  if (content_deadline_ != never) {
    const http1::Limits& limits = streams_.options().limits;
    content_deadline_ =
        extend_deadline(content_deadline_, piece.size(), limits.rate_min_bytes_per_s,
                        streams_.now() + limits.content_timeout);
  }
  const bool unwanted = core_.mode == Mode::stream && !wanted_;
  if (queued || unwanted || !received_.empty()) {
    received_.append(piece);
    charge();
    if (complete) content_deadline_ = never;
    return;
  }
  deliver(piece, complete);
}

bool Http2Exchange::deliver_received() noexcept {
  if (resume_due_ && !over && !replied_) [[unlikely]] {
    on_resumed();
    return true;
  }
  if (socket_ != nullptr) return !over && socket_->run_pending(streams_.pass());
  const bool due =
      core_.content_pending && !queued && !over && (request_complete || !received_.empty());
  if (!due || (core_.mode == Mode::stream && !wanted_)) return false;
  const Text piece = std::exchange(received_, Text());
  deliver(piece.bytes(), request_complete);
  return true;
}

// ---- a deferred request ------------------------------------------------------------------------

void Http2Exchange::defer_request() {
  core_.detach_head();
  if (core_.content_pending) core_.mode = Mode::stream;  // it must not be skipped
  wanted_ = false;
  content_deadline_ = never;  // it is not read yet
  give_handler_time();
}

void Http2Exchange::resume_request() noexcept {
  resume_due_ = true;
  streams_.note_delivery_due();
  streams_.touch_at_once();
  streams_.touch();
}

void Http2Exchange::on_resumed() noexcept {
  resume_due_ = false;
  core_.mode = Mode::ignore;
  {
    const ActivityScope scope(core_.context.get());
    streams_.protocol().handler().on_resumed(*this, *core_.head());
  }
  after_handler();
}

// Returns the bytes that were taken to the window: it follows the reader.
void Http2Exchange::deliver(Bytes piece, bool complete) noexcept {
  const ActivityScope scope(core_.context.get());
  if (complete) {
    core_.content_pending = false;
    content_deadline_ = never;
  }
  if (core_.mode == Mode::collect) {
    streams_.machine().consume(nullptr, piece.size(), streams_.outbox());
    collect(piece, complete);
    return;
  }
  streams_.machine().consume(this, piece.size(), streams_.outbox());
  if (core_.mode == Mode::stream && core_.pending != nullptr) {
    give_handler_time();
    wanted_ = false;
    const bool wants_more = core_.pending->on_content(piece, complete);
    if (over || replied_) return;
    charge();
    wanted_ = wants_more && !complete;
    content_deadline_ = never;
    if (wanted_) {
      core_.handler_deadline = never;
      give_peer_time();
    }
    after_handler();
  } else {
    after_handler();
  }
}

void Http2Exchange::collect(Bytes piece, bool complete) noexcept {
  if (!complete || !core_.content().empty()) {
    if (!core_.grow(reactor().memory(), piece.size(), own_bytes())) {
      on_memory_scarce();
      return;
    }
    core_.append_content(piece);
  }
  streams_.set_content_held(*this, core_.content().size());
  return_window(piece.size());
  if (!complete) return;
  const Bytes content = core_.content().empty() ? piece : core_.content();
  streams_.protocol().handler().on_content_collected(*this, *core_.head(), content);
  core_.drop_content();  // a handler that continues has a copy
  after_handler();
}

// ---- memory ----------------------------------------------------------------------------------

std::size_t Http2Exchange::own_bytes() const noexcept {
  const std::size_t bytes = sizeof *this + received_.capacity() + unsent_text_.capacity();
  return socket_ != nullptr ? bytes + socket_->kept_bytes() : bytes;
}

std::size_t Http2Exchange::on_memory_scarce() noexcept {
  if (over) return 0;
  if (socket_ != nullptr && socket_->kept_for_peer() != 0) return socket_->on_memory_scarce();
  ++streams_.protocol().http_counters().memory_refusals;
  if (begun_ || socket_ != nullptr) {
    abort();
    return 0;
  }
  refuse(503, memory_scarce);
  core_.mode = Mode::ignore;  // the rest is skipped
  if (!queued) answer_refusal();
  streams_.machine().consume(nullptr, received_.size(), streams_.outbox());
  received_ = Text();
  core_.drop_content();
  streams_.set_content_held(*this, 0);
  charge();
  return 0;
}

// ---- content that is held, and windows ---------------------------------------------------------

void Http2Exchange::return_window(std::size_t bytes) noexcept {
  const bool returned = streams_.return_window(*this, bytes);
  if (!returned && receive_window <= 0) content_deadline_ = never;  // the client is not at fault
}

void Http2Exchange::release_window() noexcept {
  streams_.open_withheld(*this);
  if (core_.mode == Mode::collect && !reply_sent) give_peer_time();
}

// ---- the reply -------------------------------------------------------------------------------

http::ReplyHead Http2Exchange::complete_head(const http::ReplyHead& given) noexcept {
  streams_.protocol().set_date(reactor().wall_clock_s());
  return core_.with_fields(given);
}

void Http2Exchange::respond(const http::ReplyHead& given, Bytes content,
                            bool content_stays) noexcept {
  if (over || begun_) return;
  const http::ReplyHead head = complete_head(given);
  begun_ = replied_ = true;
  core_.end_reason = ExchangeEnd::replied;
  core_.note_reply(head.status, content.size());
  core_.handler_deadline = content_deadline_ = never;
  if (!streams_.machine().respond(*this, head, content, content_stays, streams_.output_max(),
                                  streams_.now(), streams_.outbox())) {
    abort();
    return;
  }
  if (!content.empty()) hold_back(content, content_stays);
  end_if_sent();
  streams_.touch();
}

void Http2Exchange::begin_reply(const http::ReplyHead& given) noexcept {
  if (over || begun_) return;
  const http::ReplyHead head = complete_head(given);
  begun_ = true;
  core_.note_reply(head.status, 0);
  const bool has_content = http::status_has_content(head.status);
  const bool is_empty = !has_content || head.status == http::reset_content;
  const std::int64_t full_length = is_empty ? 0 : head.content_length;
  const std::int64_t length = has_content ? full_length : http::unknown_length;
  const bool last = is_empty || is_head_request;
  if (length >= 0) reply_left_ = static_cast<std::uint64_t>(length);
  give_handler_time();
  if (!streams_.machine().begin_reply(*this, head, length, last, streams_.now(),
                                      streams_.outbox())) {
    abort();
    return;
  }
  // The head is the complete reply (HEAD, 204, 205, 304): the handler's body is not needed.
  if (last) {
    replied_ = true;
    core_.end_reason = ExchangeEnd::replied;
    end_if_sent();
  }
  streams_.touch();
}

bool Http2Exchange::write(Bytes content) noexcept {
  if (over || replied_ || !begun_) return false;
  if (content.empty()) return true;
  if (content.size() > reply_left_) {
    abort();
    return false;
  }
  const std::size_t window = streams_.machine().window(*this);
  const bool may_hold = content.size() <= window || streams_.may_hold();
  if (has_unsent() || window == 0 || !may_hold || streams_.output_max() == 0 ||
      streams_.connection().output_full(std::min(content.size(), window))) {
    waits_ = true;
    core_.handler_deadline = never;  // the client has to read
    set_blocked(true);
    return false;
  }
  give_handler_time();
  const std::size_t size = content.size();
  if (!streams_.machine().write_content(*this, content, false, false, size, streams_.now(),
                                        streams_.outbox())) {
    abort();
    return false;
  }
  reply_left_ -= reply_left_ == UINT64_MAX ? 0 : size;
  core_.content_bytes += size;
  streams_.note_written(size);
  if (!content.empty()) hold_back(content, false);
  streams_.touch();
  return true;
}

bool Http2Exchange::yield() noexcept {
  if (over || replied_ || !begun_) return false;
  give_handler_time();
  yielded_ = true;
  streams_.note_yielded();
  streams_.touch();
  return true;
}

void Http2Exchange::resume_yielded() noexcept {
  if (!std::exchange(yielded_, false) || over) return;
  waits_ = true;
  set_blocked(true);
}

void Http2Exchange::set_patient() noexcept {
  if (!over) note_patient(streams_.options().observer);
  give_handler_time();
}

void Http2Exchange::end_reply() noexcept {
  if (over || replied_ || !begun_) return;
  if (reply_left_ != 0 && reply_left_ != UINT64_MAX) {
    abort();
    return;
  }
  replied_ = true;
  waits_ = false;
  core_.end_reason = ExchangeEnd::replied;
  core_.handler_deadline = content_deadline_ = never;
  if (!has_unsent()) {
    set_blocked(false);
    Bytes nothing;
    if (!streams_.machine().write_content(*this, nothing, false, true, 0, streams_.now(),
                                          streams_.outbox())) {
      abort();
      return;
    }
    end_if_sent();
  }
  streams_.touch();
}

void Http2Exchange::end_if_sent() noexcept {
  if (state != StreamState::closed && state != StreamState::replied) return;
  reply_sent = true;
  if (state == StreamState::closed) {
    streams_.note_over(*this);
  } else {
    // Clients drop the reply if a reset arrives in the same read (curl 7.88). The rest of the
    // request therefore gets the time of a connection that lingers.
    set_deadline(content_deadline_, streams_.now() + reactor().options().linger_timeout);
  }
}

void Http2Exchange::hold_back(Bytes rest, bool stays) noexcept {
  stays_ = stays;
  if (stays) {
    unsent_ = rest;
  } else {
    unsent_text_ = Text(rest);
    unsent_ = unsent_text_.bytes();
    streams_.hold(rest.size());
    charge();
  }
  set_blocked(true);
}

// A stream that waits for a window has a deadline, as has one that waits for room in the socket
// (net/reactor).
void Http2Exchange::set_blocked(bool waits) noexcept {
  if (!streams_.set_blocked(*this, waits)) return;
  stall_deadline_ = never;
  if (!waits) return;
  set_deadline(stall_deadline_, streams_.now() + streams_.options().http2.stall_timeout);
  streams_.touch_at_once();
}

void Http2Exchange::proceed() noexcept {
  if (socket_ != nullptr) {
    socket_->proceed();
    return;
  }
  if (has_unsent()) {
    const std::size_t before = unsent_.size();
    const bool written = streams_.machine().write_content(*this, unsent_, stays_, replied_,
                                                          streams_.turn_bytes_left(),
                                                          streams_.now(), streams_.outbox());
    note_sent(before - unsent_.size());
    if (!written) abort();
    if (over || has_unsent()) return;
    unsent_text_ = Text();
    charge();
    if (!waits_) set_blocked(false);
    end_if_sent();
    return;
  }
  set_blocked(false);
  if (!std::exchange(waits_, false) || core_.pending == nullptr) return;
  const ActivityScope scope(core_.context.get());
  core_.pending->on_writable();
  after_handler();
}

void Http2Exchange::note_sent(std::size_t bytes) noexcept {
  if (!stays_) streams_.release(bytes);
  buy_time(bytes);
}

void Http2Exchange::buy_time(std::size_t bytes) noexcept {
  const HttpOptions& options = streams_.options();
  stall_deadline_ = extend_deadline(stall_deadline_, bytes, options.limits.rate_min_bytes_per_s,
                                    streams_.now() + options.http2.stall_timeout);
}

void Http2Exchange::close_after_reply() noexcept { streams_.begin_drain(); }

void Http2Exchange::abort() noexcept {
  if (over) return;
  ++streams_.protocol().http_counters().replies_aborted;
  replied_ = true;
  core_.end_reason = ExchangeEnd::aborted;
  streams_.note_over(*this);
}

void Http2Exchange::note_failure() noexcept {
  ++streams_.protocol().http_counters().handler_failures;
}

FailureObserver* Http2Exchange::failure_observer() noexcept { return streams_.options().failures; }

// Work that continues keeps the places of the request. A stream with a sent reply has ended for its
// client, too, which may open another one. A stream that was given up has not.
void Http2Exchange::part() noexcept {
  const bool goes_on = core_.stop_work(reactor().memory());
  RequestPlaces places{.client = std::move(place_)};
  if (goes_on && !reply_sent) places.stream = streams_.machine().take_place();
  core_.leave(reactor().memory(), std::move(places));
}

// Its session destroys it next.
void Http2Exchange::end() noexcept {
  streams_.forget(*this);
  if (core_.pending != nullptr && !replied_) {
    ++streams_.protocol().http_counters().handlers_cancelled;
  }
  part();
  if (socket_ != nullptr) {
    streams_.release(socket_->noted_bytes());
    socket_.reset();
  }
  if (state != StreamState::closed) {
    const http2::ErrorCode code = reply_sent ? http2::ErrorCode::no_error
                                  : core_.end_reason == ExchangeEnd::aborted
                                      ? http2::ErrorCode::internal_error
                                      : http2::ErrorCode::cancel;
    streams_.machine().reset(*this, code, streams_.now(), streams_.outbox());
  }
  streams_.machine().consume(nullptr, received_.size(), streams_.outbox());
  if (!stays_) streams_.release(unsent_.size());
  if (streams_.options().observer != nullptr) tell_observer();
  // Code that ended it during its own work does not continue under its name.
  core_.drop_context();
}

// ---- WebSocket ---------------------------------------------------------------------------------

WebSocketShare* Http2Exchange::websockets() noexcept { return streams_.protocol().websockets(); }

bool Http2Exchange::upgrade(const http::ReplyHead& given,
                            std::unique_ptr<WebSocketReplacement> replacement) noexcept {
  if (!asks_upgrade_ || over || begun_ || request_complete) return false;
  const http::ReplyHead head = complete_head(given);
  begun_ = true;
  core_.end_reason = ExchangeEnd::replied;
  core_.note_reply(head.status, 0);
  core_.handler_deadline = content_deadline_ = never;
  if (!streams_.machine().begin_reply(*this, head, http::unknown_length, false, streams_.now(),
                                      streams_.outbox())) {
    abort();
    return true;
  }
  replacement->keep_places(core_.take_places());
  socket_.reset(new Http2WebSocket(*this));
  socket_->open(*replacement);
  if (const Text early = std::exchange(received_, Text()); !early.empty()) {
    socket_->on_content(early.bytes(), request_complete);
  }
  streams_.touch();
  return true;
}

// Its reply was the 200: the later bytes are not part of it.
void Http2Exchange::end_exchange() noexcept {
  if (streams_.options().observer != nullptr) tell_observer();
  core_.drop_context();
  core_.stop_work(reactor().memory());
  core_.leave(reactor().memory(), {});
  core_.drop_head();
}

void Http2Exchange::end_socket() noexcept {
  replied_ = true;
  Bytes nothing;
  if (!streams_.machine().write_content(*this, nothing, false, true, 0, streams_.now(),
                                        streams_.outbox())) {
    streams_.note_over(*this);
    return;
  }
  end_if_sent();
}

// ---- refusals and time -------------------------------------------------------------------------

void Http2Exchange::refuse(unsigned status, Bytes detail) noexcept {
  if (refusal_ != 0) return;
  ++streams_.protocol().http_counters().refused;
  refusal_ = static_cast<std::uint16_t>(status);
  refusal_detail_ = detail;
}

void Http2Exchange::answer_refusal() noexcept {
  fail(std::exchange(refusal_, std::uint16_t{0}), refusal_detail_);
}

// Sends a refusal instead of the handler's reply, or breaks off a reply that has begun.
void Http2Exchange::fail(unsigned status, Bytes detail) noexcept {
  const ActivityScope scope(core_.context.get());
  if (begun_) {
    core_.pending.reset();
    abort();
    return;
  }
  refuse_by(streams_.protocol().handler(), status, detail);
  if (!replied_ && core_.pending == nullptr) abort();  // else an `after` has made a stream of it
}

void Http2Exchange::on_deadline(Instant now) noexcept {
  if (socket_ != nullptr && !reply_sent && now >= socket_->deadline()) {
    socket_->on_deadline();
  } else if (now >= core_.handler_deadline) {
    core_.handler_deadline = never;
    if (streams_.connection().input_ended()) {
      core_.end_reason = ExchangeEnd::peer_left;
      streams_.note_over(*this);
      return;
    }
    ++streams_.protocol().http_counters().handler_timeouts;
    fail(503, handler_late);
  } else if (now >= content_deadline_) {
    content_deadline_ = never;
    if (reply_sent) {
      streams_.note_over(*this);
      return;
    }
    refuse(408, "The content did not arrive in time (RFC 9110 §15.5.9).");
    answer_refusal();
  } else if (now >= stall_deadline_) {
    stall_deadline_ = never;
    if (streams_.machine().window(*this) != 0) {
      set_deadline(stall_deadline_, now + streams_.options().http2.stall_timeout);
      return;
    }
    ++streams_.protocol().counters().streams_stalled;
    abort();
  }
}

// The client has ended its side: unsent bytes will not come, and windows will not grow.
void Http2Exchange::shorten(Duration grace) noexcept {
  if (!request_complete) {
    if (!reply_sent) core_.end_reason = ExchangeEnd::peer_left;
    streams_.note_over(*this);
    return;
  }
  core_.give_grace(streams_.now() + grace, core_.handler_deadline);
  streams_.note_deadline(core_.handler_deadline);
}

Instant Http2Exchange::deadline() const noexcept {
  if (over) return never;
  const Instant socket = socket_ != nullptr && !reply_sent ? socket_->deadline() : never;
  return std::min({core_.handler_deadline, content_deadline_, stall_deadline_, socket});
}

void Http2Exchange::set_deadline(Instant& which, Instant moment) noexcept {
  which = moment;
  streams_.note_deadline(moment);
}

Duration Http2Exchange::handler_time() const noexcept {
  return core_.handler_time(streams_.options().handler_timeout);
}

void Http2Exchange::give_handler_time() noexcept {
  const bool ended = streams_.connection().input_ended();
  core_.give_time(streams_.now() + handler_time(), ended);
  if (ended) {
    const Instant grace_end = streams_.now() + streams_.options().half_close_grace;
    core_.give_grace(grace_end, core_.handler_deadline);
  }
  streams_.note_deadline(core_.handler_deadline);
}

void Http2Exchange::give_peer_time() noexcept {
  if (request_complete) return;
  set_deadline(content_deadline_, streams_.now() + streams_.options().limits.content_timeout);
}

// ---- what it belongs to ------------------------------------------------------------------------

net::Reactor& Http2Exchange::reactor() noexcept { return streams_.connection().reactor(); }

engine::PeerAddress Http2Exchange::peer() noexcept { return streams_.connection().peer().text(); }

Arrival Http2Exchange::arrival() noexcept {
  net::Connection& connection = streams_.connection();
  return {connection.peer(), connection.transform() != nullptr, streams_.protocol().trust()};
}

void Http2Exchange::note_forwarding_malformed() noexcept {
  ++streams_.protocol().http_counters().forwarded_malformed;
}

const net::PeerCertificate* Http2Exchange::peer_certificate() {
  return streams_.connection().peer_certificate();
}

engine::Listener Http2Exchange::listener() noexcept { return streams_.connection().listener(); }

const net::ConnectionCounters& Http2Exchange::connection_counters() noexcept {
  return streams_.connection().counters();
}

void Http2Exchange::tell_observer() noexcept {
  if (std::exchange(told_, true)) return;
  const ActivityScope scope(core_.context.get());
  ExchangeRecord record =
      core_.record(streams_.now() - core_.began, request_, socket_ != nullptr, is_head_request);
  record.is_http2 = true;
  streams_.options().observer->on_exchange_end(*this, record);
}

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
