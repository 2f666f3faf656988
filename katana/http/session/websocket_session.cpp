#include "katana/http/session/websocket_session.hpp"

#include <cstring>
#include <new>
#include <utility>

namespace katana::session {

using net::Finish;

namespace {

ws::Opcode opcode_of(MessageKind kind) noexcept {
  return kind == MessageKind::text ? ws::Opcode::text : ws::Opcode::binary;
}

}  // namespace

WebSocketShare::WebSocketShare(const WebSocketOptions& options, WebSocketCounters& counters,
                               ExchangeObserver* observer)
    : options_(options),
      counters_(counters),
      observer_(observer),
      deflate_memory_(options.deflate.enabled ? ws::DeflatePool::bytes_needed(options.deflate) : 0),
      deflate_(options.deflate.enabled
                   ? std::make_unique<ws::DeflatePool>(options.deflate, deflate_memory_)
                   : nullptr),
      context_(options.limits, ws::Role::server, deflate_.get()),
      post_(std::make_shared<WebSocketPost>(options.posted_bytes_max)) {}

UpgradeRequest::Pointer UpgradeRequest::make(Bytes subprotocol, const RouteMark* route,
                                             Bytes request_id, Bytes trace_id, Instant now) {
  request_id = request_id.substr(0, UINT8_MAX);
  trace_id = trace_id.substr(0, UINT8_MAX);
  void* const memory =
      recycler::allocate(sizeof(UpgradeRequest) + request_id.size() + trace_id.size());
  Pointer made(new (memory) UpgradeRequest);
  made->subprotocol_ = subprotocol;
  made->route_ = route;
  made->time_ = now;
  made->request_id_size_ = static_cast<std::uint8_t>(request_id.size());
  made->trace_id_size_ = static_cast<std::uint8_t>(trace_id.size());
  char* const ids = static_cast<char*>(memory) + sizeof(UpgradeRequest);
  if (!request_id.empty()) std::memcpy(ids, request_id.data(), request_id.size());
  if (!trace_id.empty()) std::memcpy(ids + request_id.size(), trace_id.data(), trace_id.size());
  return made;
}

WebSocketSession::WebSocketSession(WebSocketShare& share, WebSocketCarrier& carrier,
                                   WebSocketTerms terms,
                                   std::unique_ptr<WebSocketHandler> handler) noexcept
    : share_(share),
      carrier_(carrier),
      machine_(share.context(), carrier.reactor().now(), terms.window_bits),
      handler_(std::move(handler)),
      request_(std::move(terms.request)) {
  in_call_ = true;  // the code that opens a session completes the work
  ++share_.counters().opened;
  call_handler([this] { handler_->on_open(*this); });
  if (carrier.reactor().draining()) on_drain();
  update_deadline();
  in_call_ = false;
}

WebSocketSession::~WebSocketSession() {
  in_call_ = true;  // nothing is left to flush
  tell_close(CloseCode::abnormal, "The connection broke off.");
  ++share_.counters().closed;
  if (request_ != nullptr && share_.observer() != nullptr) {
    share_.observer()->on_websocket_end(now() - request_->time());
  }
  drop_message();
  share_.post()->close(slot_);
}

// ---- calls by the reactor ----------------------------------------------------------------------

std::size_t WebSocketSession::on_bytes(Bytes input) noexcept { return pump(input); }

std::size_t WebSocketSession::pump(Bytes input) noexcept {
  in_call_ = true;
  std::size_t consumed = 0;
  while (carrier_.may_take()) {
    const ws::Step step = machine_.next(input.substr(consumed), now());
    consumed += step.consumed;
    if (step.event == ws::Event::need_bytes) break;
    obey(step);
  }
  update_deadline();
  in_call_ = false;
  return consumed;
}

void WebSocketSession::on_input_end() noexcept {
  // A paused carrier has unread bytes; it calls this again when they are read.
  if (carrier_.paused() || carrier_.finishing()) return;
  machine_.end_of_input();
  tell_close(CloseCode::abnormal, "The client ended without a close frame.");
  carrier_.finish(Finish::close);
}

// Input that the carrier did not take during a pause needs no further bytes; the machine is asked
// again.
void WebSocketSession::on_writable() noexcept {
  machine_.restart_deadline(now());
  in_call_ = true;
  if (std::exchange(writable_owed_, false) && machine_.may_send()) {
    call_handler([this] { handler_->on_writable(*this); });
  }
  (void)pump({});
}

void WebSocketSession::on_deadline() noexcept {
  if (carrier_.finishing()) return;
  in_call_ = true;
  if (now() >= return_at_) {
    tell_to_return();
  } else if (carrier_.paused() && machine_.may_send()) {
    machine_.restart_deadline(now());  // silence while it is not read is not the client's fault
  } else {
    machine_.on_deadline(now());
    if (const ws::Step step = machine_.next({}, now()); step.event != ws::Event::need_bytes)
      obey(step);
  }
  update_deadline();
  in_call_ = false;
}

void WebSocketSession::on_drain() noexcept {
  if (carrier_.finishing() || !machine_.may_send()) return;
  if (reactor().handover() != nullptr) {
    return_at_ = now() + reactor().next_return();
    update_deadline();
    return;
  }
  call_handler([this] { handler_->on_drain(*this); });
  close(CloseCode::going_away, "The server is stopping.");
}

// Another process serves already: the client is to reconnect.
void WebSocketSession::tell_to_return() noexcept {
  return_at_ = never;
  if (!machine_.may_send()) return;
  call_handler([this] { handler_->on_drain(*this); });
  close(CloseCode::service_restart, "The service restarts: connect again.");
}

// ---- events of the machine ---------------------------------------------------------------------

void WebSocketSession::obey(const ws::Step& step) noexcept {
  switch (step.event) {
    case ws::Event::data: on_data(step); break;
    case ws::Event::packed: on_packed(step); break;
    case ws::Event::ping:
      if (!machine_.pong(machine_.payload(), carrier_.outbox())) carrier_.reset();
      break;
    case ws::Event::pong: break;
    case ws::Event::close: on_peer_close(); break;
    case ws::Event::refused: on_refused(); break;
    case ws::Event::ping_due:
      ++share_.counters().pings;
      if (!machine_.ping({}, carrier_.outbox())) carrier_.reset();
      break;
    case ws::Event::timed_out: on_timed_out(); break;
    case ws::Event::closed: carrier_.finish(Finish::close); break;
    case ws::Event::need_bytes: break;
  }
}

void WebSocketSession::on_data(const ws::Step& step) noexcept {
  if (step.first && step.last) [[likely]] {
    give_message(machine_.payload(), step.text);
    return;
  }
  if (!keep(machine_.payload()) || !step.last) return;
  const Text whole = std::move(message_);  // its memory is freed before the next begins
  drop_message();
  give_message(whole.bytes(), step.text);
}

// Keeps a compressed message until it is complete, and then decompresses it at once. No other code
// runs in between, and one decompressor serves every connection. An incomplete message of one
// connection thus keeps no other connection waiting.
void WebSocketSession::on_packed(const ws::Step& step) noexcept {
  const bool is_whole = step.first && step.last;
  if (!is_whole && (!keep(machine_.payload()) || !step.last)) return;
  const Text kept = std::move(message_);
  drop_message();  // room for the decompressed message
  Bytes packed = is_whole ? machine_.payload() : kept.bytes();
  for (;;) {
    const ws::Step made = machine_.unpack(packed);
    obey(made);
    if (made.event != ws::Event::data || made.last || !machine_.may_send()) return;
  }
}

bool WebSocketSession::keep(Bytes piece) noexcept {
  HeldMemory& memory = carrier_.reactor().memory();
  if (!memory.grow(Holder::message, held_, message_.capacity_with(piece.size()))) {
    refuse_message();
    return false;
  }
  try {
    message_.append(piece);
    return true;
  } catch (...) {
    on_handler_failed("a WebSocket message cannot be collected");
    close(CloseCode::too_big, "There is no memory for the message.");
    return false;
  }
}

void WebSocketSession::drop_message() noexcept {
  message_ = Text();
  carrier_.reactor().memory().set(Holder::message, held_, 0);
}

// A close frame would wait behind output that the client does not take, and keep all of it.
std::size_t WebSocketSession::on_memory_scarce() noexcept {
  const std::size_t shared = shared_bytes();
  if (held_ >= shared) {
    refuse_message();
    return 0;
  }
  ++share_.counters().disconnects;
  tell_close(CloseCode::abnormal, "The client reads too slowly, and memory is scarce.");
  carrier_.reset();
  return shared;
}

std::size_t WebSocketSession::shared_bytes() const noexcept {
  std::size_t sum = 0;
  carrier_.outbox().for_each_pending([&sum](Bytes bytes, const Retained* memory) {
    if (memory != nullptr) sum += bytes.size();
  });
  return sum;
}

// The handler gets on_close() as usual; the client may connect again.
void WebSocketSession::refuse_message() noexcept {
  if (held_ != 0) ++share_.counters().memory_refusals;
  close(CloseCode::try_again_later, "There is no memory for the message at present.");
  drop_message();
}

void WebSocketSession::give_message(Bytes payload, bool text) noexcept {
  ++share_.counters().messages_received;
  call_handler([&] {
    handler_->on_message(*this, payload, text ? MessageKind::text : MessageKind::binary);
  });
}

void WebSocketSession::on_peer_close() noexcept {
  tell_close(machine_.close_code(), machine_.payload());
  // False if it is the answer to our close frame: nothing is left to send.
  if (machine_.state() == ws::State::answering &&
      !machine_.close(machine_.close_code(), {}, now(), carrier_.outbox())) {
    carrier_.reset();
  }
  carrier_.finish(Finish::close);
}

void WebSocketSession::on_refused() noexcept {
  ++share_.counters().refused;
  const ws::RefusalText& text = ws::text_of(machine_.refusal());
  tell_close(text.code, text.sentence);
  if (!machine_.close(text.code, text.sentence, now(), carrier_.outbox())) carrier_.reset();
  carrier_.finish(Finish::linger);
}

void WebSocketSession::on_timed_out() noexcept {
  ++share_.counters().timeouts;
  tell_close(CloseCode::abnormal, "The client did not answer in time.");
  carrier_.reset();
}

template <class Call>
void WebSocketSession::call_handler(Call&& call) noexcept {
  try {
    call();
  } catch (...) {
    ++share_.counters().handler_failures;
    on_handler_failed("the WebSocket handler threw");
    close(CloseCode::internal_error, "The server failed to handle the connection.");
  }
}

// Called in the catch block of the exception.
void WebSocketSession::on_handler_failed(Bytes what) noexcept {
  FailureObserver* const observer = share_.options().failures;
  if (observer == nullptr) return;
  Failure failure{.what = what, .exception = std::current_exception(), .place = "WebSocket"};
  if (request_ != nullptr) {
    if (const RouteMark* const route = request_->route(); route != nullptr) {
      failure.place = route->name;
      failure.method = route->method;
    }
    failure.request_id = request_->request_id();
    failure.trace_id = request_->trace_id();
  }
  observer->on_failure(failure);
}

void WebSocketSession::tell_close(CloseCode code, Bytes reason) noexcept {
  if (std::exchange(close_told_, true)) return;
  call_handler([&] { handler_->on_close(*this, code, reason); });
}

// ---- what is sent ------------------------------------------------------------------------------

// Returns true if neither side has ended, as far as the handler knows.
bool WebSocketSession::may_send() const noexcept {
  return machine_.may_send() && !close_told_ && !carrier_.finishing();
}

bool WebSocketSession::queue_takes(std::size_t bytes) const noexcept {
  const std::size_t waiting = carrier_.outbox().pending();
  return waiting == 0 ||
         waiting + bytes <= carrier_.queue_bytes_max(share_.options().queue_bytes_max);
}

SendOutcome WebSocketSession::note_full() noexcept {
  writable_owed_ = true;
  carrier_.want_writable();
  flush_later();
  return SendOutcome::full;
}

SendOutcome WebSocketSession::send(Bytes payload, MessageKind kind) noexcept {
  if (!may_send()) return SendOutcome::closed;
  if (!queue_takes(payload.size())) return note_full();
  if (!is_sendable(payload, kind)) return SendOutcome::not_utf8;
  if (!machine_.send(opcode_of(kind), payload, carrier_.outbox())) return note_full();
  ++share_.counters().messages_sent;
  flush_later();
  return SendOutcome::sent;
}

SendOutcome WebSocketSession::send_shared(Bytes payload, Retained& memory,
                                          MessageKind kind) noexcept {
  if (!may_send()) return SendOutcome::closed;
  if (!queue_takes(payload.size()) ||
      !machine_.send_shared(opcode_of(kind), payload, memory, carrier_.outbox())) {
    return note_full();
  }
  ++share_.counters().messages_sent;
  flush_later();
  return SendOutcome::sent;
}

void WebSocketSession::deliver(Batch& message) noexcept {
  if (!may_send()) return;
  if (!queue_takes(message.bytes().size()) || !carrier_.outbox().refer(message.bytes(), message)) {
    limit_queue();
    return;
  }
  ++share_.counters().messages_sent;
  flush_later();
}

void WebSocketSession::limit_queue() noexcept {
  if (share_.options().slow_peer == SlowPeer::drop) {
    ++share_.counters().dropped;
    return;
  }
  ++share_.counters().disconnects;
  close(CloseCode::policy, "You read too slowly.");
}

void WebSocketSession::close(CloseCode code, Bytes reason) noexcept {
  if (!may_send()) return;
  if (!machine_.close(code, reason, now(), carrier_.outbox())) carrier_.reset();
  drop_message();     // the rest is not wanted
  carrier_.resume();  // but the client's close frame is
  update_deadline();
  flush_later();
}

void WebSocketSession::pause() noexcept {
  if (machine_.may_send()) carrier_.pause();
}

void WebSocketSession::resume() noexcept {
  if (!carrier_.paused_by_handler()) return;
  carrier_.resume();
  machine_.restart_deadline(now());
  carrier_.want_writable();  // on_writable() asks the machine again, which may need no bytes
  flush_later();
}

// ---- for others --------------------------------------------------------------------------------

WebSocketHandle WebSocketSession::handle() { return {share_.post(), slot()}; }

Slot WebSocketSession::slot() {
  if (slot_.generation == 0) slot_ = share_.post()->open(carrier_.reactor(), *this);
  return slot_;
}

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
