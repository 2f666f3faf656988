#include "katana/session/http2_exchange.hpp"

#include <algorithm>
#include <utility>

#include "katana/session/http2_session.hpp"
#include "katana/wire/http/status.hpp"

namespace katana::session {

using http2::StreamState;
using Mode = ExchangeCore::Mode;

namespace {

constexpr Bytes content_too_large =
    "The content is larger than this resource accepts (RFC 9110 §15.5.14).";

}  // namespace

Http2Exchange::Http2Exchange(Http2Session& session) noexcept : session_(session) {
  core_.end_reason = ExchangeEnd::peer_left;
}

// ---- the request -----------------------------------------------------------------------------

void Http2Exchange::begin(const http2::HeadReader& reader, bool complete) noexcept {
  core_.lend_head(&reader.head());
  core_.began = session_.now();
  announced_ = reader.content_length();
  expects_continue_ = reader.expects_continue() && !complete;
  complete_ = complete;
  asks_upgrade_ = reader.asks_upgrade();
  core_.content_pending = !complete && !asks_upgrade_;
  content_bytes_max_ = session_.protocol_.options().http2.limits.content_bytes_max;
  if (core_.content_pending) give_peer_time();
}

// `refused`: parts of the head may be missing.
void Http2Exchange::tell_observer_of_begin(bool refused) noexcept {
  if (refused) core_.lend_head(nullptr);
  ExchangeObserver* const observer = session_.protocol_.options().observer;
  if (observer != nullptr) core_.context = observer->on_exchange_begin(core_.head());
}

void Http2Exchange::dispatch() noexcept {
  const ActivityScope scope(core_.context.get());
  RequestHandler& handler = session_.protocol_.handler();
  if (refusal_ != 0) [[unlikely]] {
    handler.on_refused(*this, std::exchange(refusal_, std::uint16_t{0}), refusal_detail_);
  } else {
    handler.on_request(*this, *core_.head());
  }
  after_handler();
}

// The handler's call is over: it answered, or something is pending, or content is awaited.
void Http2Exchange::after_handler() noexcept {
  if (over_ || replied_) return;
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
  if (!core_.content_pending && core_.handler_deadline == never && !blocked_) give_handler_time();
}

void Http2Exchange::on_drain() noexcept {
  if (over_) return;
  if (socket_ != nullptr) {
    socket_->on_drain();
  } else if (core_.pending != nullptr) {
    core_.pending->on_drain();
  }
}

// The handler has copied what it needs. A head is kept for content that is to be collected, for a
// handler that waits to be called, and for the record of an exchange that goes on: it is made when
// the reply is sent, which may be long after it was given.
void Http2Exchange::return_head() {
  if (over_) return;
  if (core_.return_head(queued_ || session_.protocol_.options().observer != nullptr)) charge();
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
  if (limit_content(bytes_max)) want_content();
}

void Http2Exchange::stream_content(std::uint64_t bytes_max) {
  core_.mode = Mode::stream;
  if (!limit_content(bytes_max)) return;
  content_deadline_ = never;  // nobody reads it yet
  give_handler_time();
}

void Http2Exchange::want_content() noexcept {
  if (wanted_ || over_ || !core_.content_pending) return;
  wanted_ = true;
  core_.handler_deadline = never;  // it is the peer's turn
  give_peer_time();
  if (std::exchange(expects_continue_, false) && received_.empty()) {
    session_.machine().send_continue(*this, session_.outbox());
  }
  if (complete_ || !received_.empty()) {
    session_.delivery_due_ = true;
    if (!session_.in_call_) session_.wake_once();
  }
  session_.touch();
}

void Http2Exchange::on_content(Bytes piece, bool complete) noexcept {
  complete_ = complete;
  if (socket_ != nullptr && !over_) {
    socket_->on_content(piece, complete);
    return;
  }
  expects_continue_ = false;
  received_bytes_ += piece.size();
  if (over_) {
    session_.machine().consume(this, piece.size(), session_.outbox());
    return;
  }
  if (received_bytes_ > content_bytes_max_) {
    session_.machine().consume(this, piece.size(), session_.outbox());
    refuse(413, content_too_large);
    if (!queued_) answer_refusal();
    return;
  }
  if (content_deadline_ != never) {
    const HttpOptions& options = session_.protocol_.options();
    const Duration bought = nanoseconds(static_cast<std::int64_t>(piece.size()) *
                                        (1'000'000'000 / options.limits.rate_min_bytes_per_s));
    content_deadline_ =
        std::min(content_deadline_ + bought, session_.now() + options.limits.content_timeout);
  }
  const bool unwanted = core_.mode == Mode::stream && !wanted_;
  if (queued_ || unwanted || !received_.empty()) {
    received_.append(piece);
    charge();
    if (complete) content_deadline_ = never;
    return;
  }
  deliver(piece, complete);
}

bool Http2Exchange::deliver_received() noexcept {
  if (socket_ != nullptr) return !over_ && socket_->run_pending(session_.passes_);
  const bool due = core_.content_pending && !queued_ && !over_ && (complete_ || !received_.empty());
  if (!due || (core_.mode == Mode::stream && !wanted_)) return false;
  const Text piece = std::exchange(received_, Text());
  deliver(piece.bytes(), complete_);
  return true;
}

// What is taken may be sent again: the window follows whoever reads.
void Http2Exchange::deliver(Bytes piece, bool complete) noexcept {
  const ActivityScope scope(core_.context.get());
  if (complete) {
    core_.content_pending = false;
    content_deadline_ = never;
  }
  if (core_.mode == Mode::collect) {
    session_.machine().consume(nullptr, piece.size(), session_.outbox());
    collect(piece, complete);
    return;
  }
  session_.machine().consume(this, piece.size(), session_.outbox());
  if (core_.mode == Mode::stream && core_.pending != nullptr) {
    give_handler_time();
    wanted_ = false;
    const bool wants_more = core_.pending->on_content(piece, complete);
    if (over_ || replied_) return;
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
  note_content_held(core_.content().size());
  return_window(piece.size());
  if (!complete) return;
  const Bytes content = core_.content().empty() ? piece : core_.content();
  core_.copied_bytes = content.size();
  session_.protocol_.handler().on_content_collected(*this, *core_.head(), content);
  core_.drop_content();  // a handler that goes on has its own copy
  after_handler();
}

// ---- memory ----------------------------------------------------------------------------------

std::size_t Http2Exchange::own_bytes() const noexcept {
  const std::size_t bytes = sizeof *this + received_.capacity() + unsent_text_.capacity();
  return socket_ != nullptr ? bytes + socket_->kept_bytes() : bytes;
}

std::size_t Http2Exchange::on_memory_scarce() noexcept {
  if (over_) return 0;
  if (socket_ != nullptr && socket_->kept_for_peer() != 0) return socket_->on_memory_scarce();
  ++session_.protocol_.http_counters().memory_refusals;
  if (begun_ || socket_ != nullptr) {
    abort();
    return 0;
  }
  refuse(503, memory_scarce);
  core_.mode = Mode::ignore;  // what is still coming is read past
  if (!queued_) answer_refusal();
  session_.machine().consume(nullptr, received_.size(), session_.outbox());
  received_ = Text();
  core_.copied_bytes = 0;
  core_.drop_content();
  note_content_held(0);
  charge();
  return 0;
}

// ---- content that is held, and windows ---------------------------------------------------------

void Http2Exchange::note_content_held(std::size_t bytes) noexcept {
  session_.content_held_ = session_.content_held_ - content_held_ + bytes;
  content_held_ = bytes;
}

void Http2Exchange::return_window(std::size_t bytes) noexcept {
  if (bytes == 0 || complete_) return;
  if (withheld_ == 0 && session_.may_receive(*this)) {
    session_.machine().open_window(*this, bytes, session_.outbox());
    return;
  }
  if (withheld_ == 0) {
    ++session_.windows_held_;
    ++session_.protocol_.counters().windows_held;
  }
  withheld_ += bytes;
  if (receive_window <= 0) content_deadline_ = never;  // it is not the peer's fault
}

void Http2Exchange::release_window() noexcept {
  --session_.windows_held_;
  session_.machine().open_window(*this, std::exchange(withheld_, 0), session_.outbox());
  if (core_.mode == Mode::collect) give_peer_time();
}

// ---- the reply -------------------------------------------------------------------------------

http::ReplyHead Http2Exchange::complete_head(const http::ReplyHead& given) noexcept {
  session_.protocol_.set_date(reactor().wall_clock_s());
  return core_.with_fields(given);
}

void Http2Exchange::respond(const http::ReplyHead& given, Bytes content,
                            bool content_stays) noexcept {
  if (over_ || begun_) return;
  const http::ReplyHead head = complete_head(given);
  begun_ = replied_ = true;
  core_.end_reason = ExchangeEnd::replied;
  core_.note_reply(head.status, content.size());
  core_.handler_deadline = content_deadline_ = never;
  if (!session_.machine().respond(*this, head, content, content_stays, session_.output_max(),
                                  session_.now(), session_.outbox())) {
    abort();
    return;
  }
  if (!content.empty()) hold_back(content, content_stays);
  end_if_sent();
  session_.touch();
}

void Http2Exchange::begin_reply(const http::ReplyHead& given) noexcept {
  if (over_ || begun_) return;
  const http::ReplyHead head = complete_head(given);
  begun_ = true;
  core_.note_reply(head.status, 0);
  const bool has_content = http::status_has_content(head.status);
  const std::int64_t length = has_content ? head.content_length : http::unknown_length;
  const bool last = !has_content || is_head_request;
  if (length >= 0) reply_left_ = static_cast<std::uint64_t>(length);
  give_handler_time();
  if (!session_.machine().begin_reply(*this, head, length, last, session_.now(),
                                      session_.outbox())) {
    abort();
    return;
  }
  // Its head is all of it (HEAD, 204, 304): what the handler has beyond that is not asked for.
  if (last) {
    replied_ = true;
    core_.end_reason = ExchangeEnd::replied;
    end_if_sent();
  }
  session_.touch();
}

bool Http2Exchange::write(Bytes content) noexcept {
  if (over_ || replied_ || !begun_) return false;
  if (content.empty()) return true;
  if (content.size() > reply_left_) {
    abort();
    return false;
  }
  const std::size_t window = session_.machine().window(*this);
  const bool may_hold = content.size() <= window ||
                        session_.held_bytes_ < session_.protocol_.options().http2.held_bytes_max;
  if (has_unsent() || window == 0 || !may_hold || session_.output_max() == 0 ||
      session_.connection_.output_full(std::min(content.size(), window))) {
    waits_ = true;
    core_.handler_deadline = never;  // it is the peer's turn
    set_blocked(true);
    return false;
  }
  give_handler_time();
  const std::size_t size = content.size();
  if (!session_.machine().write_content(*this, content, false, false, size, session_.now(),
                                        session_.outbox())) {
    abort();
    return false;
  }
  reply_left_ -= reply_left_ == UINT64_MAX ? 0 : size;
  core_.content_bytes += size;
  session_.turn_bytes_left_ -= std::min(size, session_.turn_bytes_left_);
  if (!content.empty()) hold_back(content, false);
  session_.touch();
  return true;
}

bool Http2Exchange::yield() noexcept {
  if (over_ || replied_ || !begun_) return false;
  give_handler_time();
  yielded_ = session_.has_yielded_ = true;
  session_.connection_.want_writable();
  session_.touch();
  return true;
}

void Http2Exchange::resume_yielded() noexcept {
  if (!std::exchange(yielded_, false) || over_) return;
  waits_ = true;
  set_blocked(true);
}

void Http2Exchange::set_patient() noexcept {
  if (!over_) note_patient(session_.protocol_.options().observer);
  give_handler_time();
}

void Http2Exchange::end_reply() noexcept {
  if (over_ || replied_ || !begun_) return;
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
    if (!session_.machine().write_content(*this, nothing, false, true, 0, session_.now(),
                                          session_.outbox())) {
      abort();
      return;
    }
    end_if_sent();
  }
  session_.touch();
}

void Http2Exchange::end_if_sent() noexcept {
  if (state != StreamState::closed && state != StreamState::replied) return;
  sent_ = true;
  if (state == StreamState::closed) {
    session_.note_over(*this);
  } else {
    give_peer_time();  // for what is read past
  }
}

void Http2Exchange::hold_back(Bytes rest, bool stays) noexcept {
  stays_ = stays;
  if (stays) {
    unsent_ = rest;
  } else {
    unsent_text_ = Text(rest);
    unsent_ = unsent_text_.bytes();
    session_.held_bytes_ += rest.size();
    charge();
  }
  set_blocked(true);
}

// Who waits for a window has its time, as has who waits for room in the socket (core).
void Http2Exchange::set_blocked(bool blocked) noexcept {
  if (blocked == blocked_) return;
  blocked_ = blocked;
  session_.blocked_ = blocked ? session_.blocked_ + 1 : session_.blocked_ - 1;
  stall_deadline_ = never;
  if (!blocked) return;
  set_deadline(stall_deadline_, session_.now() + session_.protocol_.options().http2.stall_timeout);
  if (!session_.in_call_) session_.wake_once();
}

void Http2Exchange::proceed() noexcept {
  if (socket_ != nullptr) {
    socket_->proceed();
    return;
  }
  if (has_unsent()) {
    const std::size_t before = unsent_.size();
    const bool written = session_.machine().write_content(*this, unsent_, stays_, replied_,
                                                          session_.turn_bytes_left_, session_.now(),
                                                          session_.outbox());
    note_sent(before - unsent_.size());
    if (!written) abort();
    if (over_ || has_unsent()) return;
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
  if (!stays_) session_.held_bytes_ -= bytes;
  buy_time(bytes);
}

void Http2Exchange::buy_time(std::size_t bytes) noexcept {
  const HttpOptions& options = session_.protocol_.options();
  const Duration bought = nanoseconds(static_cast<std::int64_t>(bytes) *
                                      (1'000'000'000 / options.limits.rate_min_bytes_per_s));
  stall_deadline_ = std::min(stall_deadline_ == never ? never : stall_deadline_ + bought,
                             session_.now() + options.http2.stall_timeout);
}

void Http2Exchange::close_after_reply() noexcept { session_.begin_drain(); }

void Http2Exchange::abort() noexcept {
  if (over_) return;
  ++session_.protocol_.http_counters().replies_aborted;
  replied_ = true;
  core_.end_reason = ExchangeEnd::aborted;
  session_.note_over(*this);
}

void Http2Exchange::note_failure() noexcept {
  ++session_.protocol_.http_counters().handler_failures;
}

FailureObserver* Http2Exchange::failure_observer() noexcept {
  return session_.protocol_.options().failures;
}

// ---- WebSocket ---------------------------------------------------------------------------------

WebSocketShare* Http2Exchange::websockets() noexcept { return session_.protocol_.websockets(); }

bool Http2Exchange::upgrade(const http::ReplyHead& given,
                            std::unique_ptr<WebSocketReplacement> replacement) noexcept {
  if (!asks_upgrade_ || over_ || begun_ || complete_) return false;
  const http::ReplyHead head = complete_head(given);
  begun_ = true;
  core_.end_reason = ExchangeEnd::replied;
  core_.note_reply(head.status, 0);
  core_.handler_deadline = content_deadline_ = never;
  if (!session_.machine().begin_reply(*this, head, http::unknown_length, false, session_.now(),
                                      session_.outbox())) {
    abort();
    return true;
  }
  socket_.reset(new Http2WebSocket(*this));
  socket_->open(*replacement);
  if (const Text early = std::exchange(received_, Text()); !early.empty()) {
    socket_->on_content(early.bytes(), complete_);
  }
  session_.touch();
  return true;
}

// Its reply was the 200: what follows is none of it.
void Http2Exchange::end_exchange() noexcept {
  if (session_.protocol_.options().observer != nullptr) tell_observer();
  core_.drop_context();
  core_.drop_head();
}

void Http2Exchange::end_socket() noexcept {
  replied_ = true;
  Bytes nothing;
  if (!session_.machine().write_content(*this, nothing, false, true, 0, session_.now(),
                                        session_.outbox())) {
    session_.note_over(*this);
    return;
  }
  end_if_sent();
}

// ---- refusals and time -------------------------------------------------------------------------

void Http2Exchange::refuse(unsigned status, Bytes detail) noexcept {
  if (refusal_ != 0) return;
  ++session_.protocol_.http_counters().refused;
  refusal_ = static_cast<std::uint16_t>(status);
  refusal_detail_ = detail;
}

void Http2Exchange::answer_refusal() noexcept {
  fail(std::exchange(refusal_, std::uint16_t{0}), refusal_detail_);
}

// Answers instead of the handler, or breaks off what that has begun.
void Http2Exchange::fail(unsigned status, Bytes detail) noexcept {
  const ActivityScope scope(core_.context.get());
  core_.pending.reset();
  if (begun_) {
    abort();
    return;
  }
  session_.protocol_.handler().on_refused(*this, status, detail);
  if (!replied_) abort();
}

void Http2Exchange::on_deadline(Instant now) noexcept {
  if (socket_ != nullptr && !sent_ && now >= socket_->deadline()) {
    socket_->on_deadline();
  } else if (now >= core_.handler_deadline) {
    core_.handler_deadline = never;
    if (session_.connection_.input_ended()) {
      core_.end_reason = ExchangeEnd::peer_left;
      session_.note_over(*this);
      return;
    }
    ++session_.protocol_.http_counters().handler_timeouts;
    fail(503, handler_late);
  } else if (now >= content_deadline_) {
    content_deadline_ = never;
    if (sent_) {
      session_.note_over(*this);
      return;
    }
    refuse(408, "The content did not arrive in time (RFC 9110 §15.5.9).");
    answer_refusal();
  } else if (now >= stall_deadline_) {
    stall_deadline_ = never;
    if (session_.machine().window(*this) != 0) {
      set_deadline(stall_deadline_, now + session_.protocol_.options().http2.stall_timeout);
      return;
    }
    ++session_.protocol_.counters().streams_stalled;
    abort();
  }
}

// The peer has ended its side: what it has not sent will not come, and windows will not grow.
void Http2Exchange::shorten(Duration grace) noexcept {
  if (!complete_) {
    if (!sent_) core_.end_reason = ExchangeEnd::peer_left;
    session_.note_over(*this);
    return;
  }
  set_deadline(core_.handler_deadline, std::min(core_.handler_deadline, session_.now() + grace));
}

Instant Http2Exchange::deadline() const noexcept {
  if (over_) return never;
  const Instant socket = socket_ != nullptr && !sent_ ? socket_->deadline() : never;
  return std::min({core_.handler_deadline, content_deadline_, stall_deadline_, socket});
}

void Http2Exchange::set_deadline(Instant& which, Instant moment) noexcept {
  which = moment;
  session_.note_deadline(moment);
}

void Http2Exchange::give_handler_time() noexcept {
  const HttpOptions& options = session_.protocol_.options();
  const bool ended = session_.connection_.input_ended();
  core_.give_time(session_.now() + (ended ? options.half_close_grace : options.handler_timeout),
                  ended);
  session_.note_deadline(core_.handler_deadline);
}

void Http2Exchange::give_peer_time() noexcept {
  if (complete_) return;
  set_deadline(content_deadline_,
               session_.now() + session_.protocol_.options().limits.content_timeout);
}

// ---- what it belongs to ------------------------------------------------------------------------

core::Reactor& Http2Exchange::reactor() noexcept { return session_.connection_.reactor(); }

engine::PeerAddress Http2Exchange::peer() noexcept { return session_.connection_.peer().text(); }

engine::Listener Http2Exchange::listener() noexcept { return session_.connection_.listener(); }

const core::ConnectionCounters& Http2Exchange::connection_counters() noexcept {
  return session_.connection_.counters();
}

void Http2Exchange::tell_observer() noexcept {
  if (std::exchange(told_, true)) return;
  const ActivityScope scope(core_.context.get());
  const ExchangeRecord record =
      core_.record(session_.now() - core_.began, request_, socket_ != nullptr, is_head_request);
  session_.protocol_.options().observer->on_exchange_end(*this, record);
}

}  // namespace katana::session
