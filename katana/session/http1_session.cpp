#include "katana/session/http1_session.hpp"

#include <algorithm>
#include <utility>

#include "katana/base/poison.hpp"
#include "katana/session/websocket_connection.hpp"
#include "katana/wire/http/status.hpp"

namespace katana::session {

using core::Finish;
using core::PauseReason;
using http1::Event;

namespace {

// A file of so many bytes is read into the block of its head: one send instead of two, and no pages
// to refer to. See docs/decisions/0058.
constexpr std::uint64_t file_bytes_copied_max = 8 * 1024;

}  // namespace

Http1Session::Http1Session(Http1Protocol& protocol, core::Connection& connection) noexcept
    : protocol_(protocol),
      connection_(connection),
      machine_(protocol.context(), connection.reactor().now()) {
  update_deadline();
  if (connection.reactor().draining()) on_drain();
}

Http1Session::~Http1Session() {
  if (pending_ != nullptr) ++protocol_.counters().handlers_cancelled;
  if (held_ != 0) release_held();
  if (active_ && protocol_.options().observer != nullptr) {
    if (end_ == ExchangeEnd::replied) end_ = ExchangeEnd::peer_left;
    tell_observer();
  }
}

// ---- calls by the core

std::size_t Http1Session::on_bytes(Bytes input) noexcept {
  const Lending head(&protocol_.context().head, sizeof(http::Head));
  in_call_ = true;
  std::size_t consumed = 0;
  for (bool more = true; more && !connection_.paused() && !connection_.finishing();) {
    if (connection_.output_full()) break;
    const http1::Step step = machine_.next(input.substr(consumed), now());
    consumed += step.consumed;
    input_left_ = static_cast<std::uint32_t>(input.size() - consumed);
    switch (step.event) {
      case Event::head: on_head(step.last); break;
      case Event::content: on_content(step.last); break;
      case Event::paused: connection_.pause(PauseReason::handler_pending); break;
      case Event::refused:
        if (hand_over(input.substr(consumed))) return consumed;
        on_refused();
        break;
      case Event::closed: end_connection(); break;
      case Event::need_bytes:
        if (step.consumed != 0) continue;
        more = connection_.input_ended() && machine_.end_of_input();
        continue;
    }
    if (upgraded_) return consumed;  // the rest is its replacement's, as is the deadline
    more = input_left_ != 0 || machine_.state() == http1::State::refused;
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
  // Nothing is carried when the core calls this outside of an exchange, so the input is over for
  // the machine too.
  if (!connection_.paused())
    on_bytes({});
  else
    connection_.wake();
}

void Http1Session::on_writable() noexcept {
  in_call_ = true;
  machine_.restart_deadline(now());  // content could not be taken
  if (pending_ != nullptr) {
    if (std::exchange(head_suffices_, false)) {
      end_reply();
    } else {
      const ActivityScope scope(context_.get());
      pending_->on_writable();
    }
    after_handler();
  }
  update_deadline();
  in_call_ = false;
}

void Http1Session::on_deadline() noexcept {
  in_call_ = true;
  if (active_ && now() >= handler_deadline_) {
    cancel(connection_.input_ended() ? Cancelled::peer_left : Cancelled::handler_timeout);
  } else if (connection_.paused()) {
    // The peer's time begins anew when it is its turn again.
    connection_.set_deadline(handler_deadline_);
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
  // Its reply is complete; only content that nobody wants is still coming.
  if (machine_.state() == http1::State::discard) connection_.finish(Finish::linger);
  if (active_ && pending_ != nullptr) {
    in_call_ = true;
    pending_->on_drain();
    after_handler();
    update_deadline();
    in_call_ = false;
  }
  if (active_ || machine_.state() != http1::State::idle) return;
  machine_.end_idle_by(now() + protocol_.options().drain_idle);
  update_deadline();
}

// ---- events of the machine

void Http1Session::begin_exchange() noexcept {
  active_ = true;
  replied_ = false;
  patient_ = false;
  end_ = ExchangeEnd::replied;
  status_ = 0;
  content_bytes_ = 0;
  route_ = nullptr;
  if (ExchangeObserver* const observer = protocol_.options().observer) {
    began_ = reactor().read_clock();
    context_ = observer->on_exchange_begin(head_);
  }
}

void Http1Session::on_head(bool complete) noexcept {
  ++protocol_.counters().requests;
  head_ = &protocol_.context().head;
  content_pending_ = !complete;
  copied_bytes_ = 0;
  mode_ = Mode::ignore;
  begin_exchange();
  const bool last =
      ++connection_.counters().requests == protocol_.options().requests_per_connection_max;
  if (last || reactor().draining()) machine_.close_after_reply();
  {
    const ActivityScope scope(context_.get());
    protocol_.handler().on_request(*this, *head_);
  }
  after_handler();
}

void Http1Session::on_content(bool complete) noexcept {
  if (complete) content_pending_ = false;
  if (mode_ == Mode::collect) {
    Bytes content = machine_.content();
    if (detached_ != nullptr) {
      if (!reactor().memory().grow(Holder::request, held_, detached_bytes(content.size()))) {
        refuse_for_memory();
        return;
      }
      detached_->content.append(content);
      content = detached_->content.bytes();
    }
    if (!complete) return;
    copied_bytes_ = content.size();
    {
      const ActivityScope scope(context_.get());
      protocol_.handler().on_content_collected(*this, *head_, content);
    }
    if (detached_ != nullptr) detached_->content = {};  // a handler that goes on has its own copy
    after_handler();
  } else if (mode_ == Mode::stream && pending_ != nullptr) {
    give_handler_time();
    const bool wants_more = pending_->on_content(machine_.content(), complete);
    if (active_) charge();
    if (!complete && active_) {
      if (wants_more) {
        handler_deadline_ = never;  // it is the peer's turn, and the machine has a deadline for it
      } else {
        connection_.pause(PauseReason::content_unwanted);
      }
    }
    after_handler();
  } else {
    after_handler();
  }
}

// The line has been judged as any other: who speaks HTTP/1.1 pays nothing for the question.
bool Http1Session::hand_over(Bytes refused) noexcept {
  constexpr Bytes line = "PRI * HTTP/2.0\r\n";
  const bool is_first = connection_.counters().requests == 0 &&
                        machine_.refusal() == http1::Refusal::unsupported_version;
  if (!is_first || protocol_.http2() == nullptr || !refused.starts_with(line)) return false;
  if (connection_.application_protocol() == "http/1.1") return false;  // as ALPN agreed
  connection_.replace_session(std::make_unique<core::PlainReplacement>(*protocol_.http2()));
  return true;
}

void Http1Session::on_refused() noexcept {
  const http1::RefusalText& text = http1::text_of(machine_.refusal());
  ++protocol_.counters().refused;
  pending_.reset();
  if (machine_.reply_begun()) {
    abort();
    return;
  }
  if (!active_) {
    head_ = nullptr;
    begin_exchange();
  }
  replied_ = false;
  protocol_.handler().on_refused(*this, text.status, text.detail);
  after_handler();
}

// The handler's call is over: it answered, or something is pending, or content is awaited.
void Http1Session::after_handler() noexcept {
  if (!active_) return;
  if (replied_) {
    end_exchange();
    return;
  }
  const bool waits_for_content = content_pending_ && mode_ != Mode::ignore;
  if (pending_ == nullptr && !waits_for_content) {
    report_failure({.what = "the handler returned without a reply"});
    protocol_.handler().on_refused(*this, 500, "The handler returned without a reply.");
    end_exchange();
    return;
  }
  if (content_pending_) return;
  // A handler that waits for room has no deadline: it is the peer's turn, and the core has one.
  if (handler_deadline_ == never && !connection_.waits_until_writable()) {
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

const core::ConnectionCounters& Http1Session::connection_counters() noexcept {
  return connection_.counters();
}

engine::PeerAddress Http1Session::peer() noexcept { return connection_.peer().text(); }
engine::Listener Http1Session::listener() noexcept { return connection_.listener(); }

void Http1Session::collect_content(std::uint64_t bytes_max) {
  mode_ = Mode::collect;
  if (!machine_.limit_content(bytes_max)) return;
  // Content that is here already is shown where it lies.
  const auto length = content_length();
  if (length && *length <= input_left_) return;
  if (!machine_.send_continue(connection_.outbox())) abort();
  detach_head();
}

// Content that is here already may have to wait for room, and is collected for its head then.
void Http1Session::return_head() {
  if (detached_ != nullptr || head_ == nullptr) return;
  const bool collects = mode_ == Mode::collect && content_pending_;
  if (collects || protocol_.options().observer != nullptr) {
    detach_head();
  } else {
    head_ = nullptr;
  }
}

void Http1Session::detach_head() {
  detached_.reset(new Detached);
  detached_->head_bytes.append(head_->bytes());
  detached_->head = *head_;
  detached_->head.rebase(detached_->head_bytes.data());
  head_ = &detached_->head;
  charge();
}

// ---- memory ----------------------------------------------------------------------------------

std::size_t Http1Session::detached_bytes(std::size_t more) const noexcept {
  if (detached_ == nullptr) return 0;
  return sizeof(Detached) + detached_->head_bytes.capacity() +
         detached_->content.capacity_with(more);
}

// A handler that goes on has copied the head, and the content that was collected for it.
void Http1Session::charge() noexcept {
  if (head_ != nullptr) head_bytes_ = static_cast<std::uint16_t>(head_->bytes().size());
  std::size_t bytes = detached_bytes(0);
  if (pending_ != nullptr) {
    bytes += head_bytes_ + copied_bytes_ + pending_->held_bytes() + frame_bytes_counted;
  }
  reactor().memory().set(Holder::request, held_, bytes);
}

std::size_t Http1Session::on_memory_scarce() noexcept {
  in_call_ = true;
  if (active_ && !replied_) refuse_for_memory();
  update_deadline();
  in_call_ = false;
  return 0;
}

void Http1Session::refuse_for_memory() noexcept {
  ++protocol_.counters().memory_refusals;
  {
    const ActivityScope scope(context_.get());
    pending_.reset();
  }
  if (machine_.reply_begun()) {
    connection_.reset();
    end_ = ExchangeEnd::aborted;
  } else {
    machine_.close_after_reply();
    protocol_.handler().on_refused(*this, 503, memory_scarce);
  }
  end_exchange();
}

void Http1Session::stream_content(std::uint64_t bytes_max) {
  mode_ = Mode::stream;
  if (!machine_.limit_content(bytes_max)) return;
  connection_.pause(PauseReason::content_unwanted);
  give_handler_time();
}

void Http1Session::want_content() noexcept {
  if (!connection_.has(PauseReason::content_unwanted)) return;
  handler_deadline_ = never;  // it is the peer's turn, and the machine has a deadline for it
  if (!machine_.send_continue(connection_.outbox())) abort();
  machine_.restart_deadline(now());
  connection_.resume(PauseReason::content_unwanted);
  flush_later();
}

// ---- reply -----------------------------------------------------------------------------------

void Http1Session::respond(const http::ReplyHead& given, Bytes content,
                           bool content_stays) noexcept {
  if (!active_ || replied_) return;
  protocol_.set_date(reactor().wall_clock_s());
  http::ReplyHead head = given;
  if (context_ != nullptr) head.more_fields = context_->reply_fields;
  if (!machine_.respond(head, content, content_stays, now(), connection_.outbox())) {
    abort();
    return;
  }
  status_ = static_cast<std::uint16_t>(head.status);
  content_bytes_ = content.size();
  after_reply();
}

bool Http1Session::upgrade(const http::ReplyHead& head,
                           std::unique_ptr<WebSocketReplacement> replacement) noexcept {
  if (!active_ || replied_ || !in_call_ || content_pending_ || !machine_.may_upgrade()) {
    return false;
  }
  respond(head, {}, false);
  if (end_ == ExchangeEnd::aborted) return true;
  connection_.replace_session(std::move(replacement));
  upgraded_ = true;
  return true;
}

void Http1Session::begin_reply(const http::ReplyHead& given) noexcept {
  if (!active_ || replied_) return;
  protocol_.set_date(reactor().wall_clock_s());
  http::ReplyHead head = given;
  if (context_ != nullptr) head.more_fields = context_->reply_fields;
  if (!machine_.begin_reply(head, connection_.outbox())) abort();
  status_ = static_cast<std::uint16_t>(head.status);
  give_handler_time();
  flush_later();
}

bool Http1Session::takes_whole(std::size_t bytes) noexcept {
  return connection_.output_takes(bytes);
}

bool Http1Session::may_write(std::size_t bytes) noexcept {
  if (!active_ || replied_) return false;
  if (connection_.output_full(bytes)) {
    handler_deadline_ = never;  // it is the peer's turn, and the core has a deadline for it
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
    content_bytes_ += size;
    return true;
  }
  // A reply without content (HEAD, 204, 304) is complete with its head: on_writable() ends it.
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
  // A transform has to see the bytes; and a few of them go out with their head in one call.
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
  ExchangeObserver* const observer = protocol_.options().observer;
  if (active_ && !std::exchange(patient_, true) && observer != nullptr) {
    observer->on_events_begin(*this);
  }
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
  // When it is the server that ends, the peer may have sent its next request already.
  if (machine_.closing()) {
    if (reactor().draining()) connection_.finish(Finish::linger);
    end_connection();
  }
  // Outside of a call by the core it is a pending handler that answers, and nobody else will end
  // its exchange.
  if (!in_call_) {
    end_exchange();
    update_deadline();
    connection_.wake();
  }
}

void Http1Session::abort() noexcept {
  ++protocol_.counters().replies_aborted;
  replied_ = true;
  end_ = ExchangeEnd::aborted;
  connection_.reset();
  flush_later();
}

void Http1Session::end_exchange() noexcept {
  if (protocol_.options().observer != nullptr) tell_observer();
  active_ = false;
  handler_deadline_ = never;
  head_ = nullptr;
  if (pending_ != nullptr) pending_.reset();
  if (detached_ != nullptr) detached_.reset();
  if (held_ != 0) release_held();
  if (context_ != nullptr) drop_context();
  connection_.resume(PauseReason::handler_pending);
  connection_.resume(PauseReason::content_unwanted);
}

// A coroutine that ended the exchange is still in it.
void Http1Session::drop_context() noexcept {
  if (current_activity == context_.get()) current_activity = nullptr;
  context_.reset();
}

void Http1Session::tell_observer() noexcept {
  const ActivityScope scope(context_.get());
  ExchangeRecord record{.route = route_,
                        .status = status_,
                        .content_bytes = content_bytes_,
                        .duration = reactor().read_clock() - began_,
                        .request = connection_.counters().requests,
                        .end = end_,
                        .kind = status_ == 101 ? ExchangeKind::websocket
                                : patient_     ? ExchangeKind::events
                                               : ExchangeKind::request};
  if (head_ != nullptr) {
    record.method = head_->method_text();
    record.target = head_->target();
  }
  if (answers_head()) record.content_bytes = 0;
  if (!http::status_has_content(status_)) record.content_bytes = 0;
  protocol_.options().observer->on_exchange_end(*this, record);
}

void Http1Session::cancel(Cancelled why) noexcept {
  HttpCounters& counters = protocol_.counters();
  ++(why == Cancelled::peer_left ? counters.handlers_cancelled : counters.handler_timeouts);
  {
    const ActivityScope scope(context_.get());  // what a cancelled coroutine has to say is its own
    pending_.reset();
  }
  if (why == Cancelled::peer_left || machine_.reply_begun()) {
    connection_.reset();
    end_ = why == Cancelled::peer_left ? ExchangeEnd::peer_left : ExchangeEnd::aborted;
    end_exchange();
    return;
  }
  machine_.close_after_reply();
  protocol_.handler().on_refused(*this, 503, "The handler did not answer in time.");
  end_exchange();
}

void Http1Session::give_grace() noexcept {
  handler_deadline_ = std::min(handler_deadline_, now() + protocol_.options().half_close_grace);
}

void Http1Session::end_connection() noexcept {
  connection_.finish(machine_.input_may_follow() ? Finish::linger : Finish::close);
}

void Http1Session::flush_later() noexcept {
  if (!in_call_) connection_.wake();
}

}  // namespace katana::session
