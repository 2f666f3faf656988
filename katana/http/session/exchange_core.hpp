// ExchangeCore: the part of an exchange that does not depend on the version of HTTP: its head,
// handler, time, record and memory. HTTP/1.1 and a stream of HTTP/2 have one each, and add the
// transport of bytes.
//
// Owns       the head and the body once they are detached, the pending handler and its context. A
//            share of its state, which tasks may have as well (request_state.hpp).
// Borrows    the head until then: it is the reactor's, which other connections overwrite. It is
//            lent from lend_head() to return_head(), in one call by the reactor. Nothing here or
//            below reads it afterwards.
// Thread     its reactor's.
// Allocates  from the recycler, when a request outlives its call by the reactor.
// Invariant  charge() and grow() charge kept memory to the reactor, and end() gives it back. Work
//            that continues without the exchange has charged its memory by then.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "katana/base/memory/held_memory.hpp"
#include "katana/base/text/text.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/http/session/exchange_context.hpp"
#include "katana/http/session/exchange_observer.hpp"
#include "katana/http/session/pending.hpp"
#include "katana/http/session/request_state.hpp"
#include "katana/wire/http/head.hpp"
#include "katana/wire/http/reply_head.hpp"
#include "katana/wire/http/status.hpp"

namespace katana::session {

// The bytes that count for the frames of a suspended handler, in addition to its known memory.
inline constexpr std::size_t frame_bytes_counted = 1024;

// Texts for the client instead of a handler's reply.
inline constexpr Bytes memory_scarce = "The server has no memory for the request at present.";
inline constexpr Bytes too_many_requests = "Too many requests of this client are in progress.";
inline constexpr Bytes no_reply_made = "The handler returned without a reply.";
inline constexpr Bytes handler_late = "The handler did not answer in time.";

class ExchangeCore {
 public:
  // The treatment of the request's body.
  enum class Mode : std::uint8_t { ignore, collect, stream };

  // ---- the head ----
  // Null: the head is unknown, or no longer needed.
  const http::Head* head() const noexcept { return head_; }
  void lend_head(const http::Head* head) noexcept { head_ = head; }
  bool is_detached() const noexcept { return detached_ != nullptr; }
  // Does nothing if the head is detached.
  void detach_head();
  // The call that lent the head ends. Returns true if the head was detached: for a body that is to
  // be collected, or because it is to be `kept`. The caller then calls charge().
  bool return_head(bool kept);

  // ---- the content ----
  bool waits_for_content() const noexcept { return content_pending && mode != Mode::ignore; }
  // REQUIRES is_detached().
  void append_content(Bytes piece) { detached_->content.append(piece); }
  Bytes content() const noexcept {
    return detached_ != nullptr ? detached_->content.bytes() : Bytes();
  }
  void drop_content() noexcept {
    if (detached_ != nullptr) detached_->content = {};
  }

  // ---- the handler ----
  // After the handler's call: false if there is neither a reply nor work that will make one.
  bool goes_on() const noexcept { return pending != nullptr || waits_for_content(); }
  // Records of a cancelled coroutine have its own fields.
  void cancel_handler() noexcept {
    const ActivityScope scope(context.get());
    pending.reset();
  }
  // The handler's time: the timeout of its route, or else `usual`.
  Duration handler_time(Duration usual) const noexcept {
    return route != nullptr && route->timeout > Duration{} ? route->timeout : usual;
  }
  // The client has ended its side: a handler that has not answered by `end` is cancelled. Work that
  // continues without it keeps its deadline, `due`.
  void give_grace(Instant end, Instant due) noexcept {
    if (state && state->due == never) state->due = due;
    if (end < handler_deadline) handler_deadline = end;
  }
  // A reply that may be silent has no deadline, unless its client has ended its side.
  void give_time(Instant deadline, bool input_ended) noexcept {
    handler_deadline = patient && !input_ended ? never : deadline;
  }

  // ---- the reply ----
  // Returns the head with the fields that the observer adds to every reply.
  http::ReplyHead with_fields(const http::ReplyHead& given) const noexcept {
    http::ReplyHead reply = given;
    if (context != nullptr) reply.more_fields = context->reply_fields;
    return reply;
  }
  void note_reply(unsigned reply_status, std::uint64_t bytes) noexcept {
    status = static_cast<std::uint16_t>(reply_status);
    content_bytes = bytes;
  }

  // ---- the record ----
  ExchangeRecord record(Duration duration, std::uint32_t request, bool is_websocket,
                        bool answers_head) const noexcept;
  // A coroutine that ended the exchange may still be in it, or in an activity that it made of it.
  void drop_context() noexcept {
    if (current_activity != nullptr && context != nullptr &&
        (current_activity == context.get() ||
         (!context->name.empty() && current_activity->name.data() == context->name.data()))) {
      current_activity = nullptr;
    }
    context.reset();
  }

  // ---- memory ----
  // The bytes that it keeps, with `more` of a collected body. A handler that continues has copied
  // the head; Pending::held_bytes() counts its other memory.
  std::size_t kept_bytes(std::size_t more) const noexcept;
  // `own`: additional bytes that its owner keeps for it.
  void charge(HeldMemory& memory, std::size_t own = 0) noexcept {
    note_head_bytes();
    memory.set(Holder::request, held_, kept_bytes(0) + own);
  }
  // Charges `more` bytes of a collected body. Returns false if there is no memory for them.
  bool grow(HeldMemory& memory, std::size_t more, std::size_t own = 0) noexcept {
    return memory.grow(Holder::request, held_, kept_bytes(more) + own);
  }
  void release(HeldMemory& memory) noexcept {
    if (held_ != 0) memory.set(Holder::request, held_, 0);
  }
  std::size_t held_bytes() const noexcept { return held_; }

  // ---- the end ----
  // Ends the handler. Returns true if work of the request continues, which has a share of the
  // state. The caller then calls leave() with the places in which the request was counted.
  bool stop_work(HeldMemory& memory) noexcept;
  void leave(HeldMemory& memory, RequestPlaces places) noexcept;
  // The same for an exchange that becomes a WebSocket connection: only the places remain. Null if
  // there are none.
  RequestShare take_places() noexcept {
    pending.reset();
    const bool has_any = state && (state->keep_places() || state->places.client);
    return has_any ? std::move(state) : RequestShare();
  }
  // Releases the memory for the handler; the caller releases the context.
  void end(HeldMemory& memory) noexcept {
    handler_deadline = never;
    head_ = nullptr;
    if (keeps_anything()) [[unlikely]]
      drop_all(memory);
  }
  void drop_head() noexcept {
    detached_.reset();
    head_ = nullptr;
  }

 private:
  // One branch for all of them.
  bool keeps_anything() const noexcept {
    const auto word = [](const void* owned) { return reinterpret_cast<std::uintptr_t>(owned); };
    return (word(pending.get()) | word(state.get()) | word(detached_.get()) | held_) != 0;
  }
  [[gnu::noinline]] void drop_all(HeldMemory& memory) noexcept;

  // A request that outlives the engine's buffer.
  struct Detached {
    http::Head head;
    Text head_bytes;
    Text content;
    static void* operator new(std::size_t bytes) { return recycler::allocate(bytes); }
    static void operator delete(void* memory, std::size_t bytes) noexcept {
      recycler::release(memory, bytes);
    }
  };
  void note_head_bytes() noexcept {
    if (head_ != nullptr) head_bytes_ = static_cast<std::uint16_t>(head_->bytes().size());
  }

  // The shared head during the call that lends it, then that of detached_, or null.
  const http::Head* head_ = nullptr;
  std::unique_ptr<Detached> detached_;
  std::size_t held_ = 0;  // charged to the reactor's memory
  std::uint16_t head_bytes_ = 0;

 public:
  // ---- facts, which the owner keeps; ordered by size ----
  std::uint16_t status = 0;                       // of the reply; 0: not begun
  Mode mode = Mode::ignore;                       // treatment of bytes that arrive
  ExchangeEnd end_reason = ExchangeEnd::replied;  // counts once the exchange is over
  bool content_pending = false;                   // the body is not received completely
  bool patient = false;                           // the reply may be silent without limit
  const RouteMark* route = nullptr;               // null: no route matched
  std::unique_ptr<ExchangeContext> context;       // of the observer; null: there is none
  RequestShare state;                // made on first use; tasks of the request share it
  std::unique_ptr<Pending> pending;  // ends before its state and its context
  Instant handler_deadline = never;  // the handler is cancelled then (503)
  Instant began;                     // when the head was complete
  std::uint64_t content_bytes = 0;   // of the reply
};

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
