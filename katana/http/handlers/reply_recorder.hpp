// ReplyRecorder: what has to be done about the reply to a request before it is sent, and whether or
// not its client still waits for it. A middleware leaves one in the RequestContext of a request;
// see identity/idempotency.
//
//   the handler ──▶ its reply ──▶ record() ──▶ `after` of the middleware ──▶ sent
//        └── a coroutine: as a task of the reactor, which goes on when the client has left
//
// The task is work of its request (Exchange::spawn()): until it has ended, the request counts in
// every limit that admitted it, and what it keeps is charged to the memory of the reactor.
//
// Owns       the task of the reactor: the handler, its reply, and the recorder.
// Borrows    the exchange, until it ends; the route, which outlives the reactor.
// Thread     the reactor's.
// Allocates  from the recycler: a copy of the request, the frames, what the exchange holds.
// Fails      an Error of record(), and what it throws, are reported; the reply is sent all the
//            same. A reactor that has too many tasks sends it without record(). A handler that has
//            not begun is answered for with 503 where there are too many tasks, or no memory for
//            what it would keep.
// Invariant  a recorder records once, or is told that the handler never began. A handler ends at
//            the time at which it would have ended otherwise, whatever its client does.
#pragma once

#include <coroutine>
#include <memory>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/system/hints.hpp"
#include "katana/base/system/result.hpp"
#include "katana/http/session/exchange.hpp"

namespace katana {

class Reply;
class RequestView;

namespace detail {

struct Route;
struct Suspended;

class ReplyRecorder {
 public:
  virtual ~ReplyRecorder() = default;
  // The handler begins.
  virtual void note_begun() noexcept {}
  // There is no reply. Of a handler that did not begin, what is done about that keeps the share, by
  // which the request is counted, until it is done.
  virtual void give_up(const session::RequestShare& /*share*/) noexcept {}
  // Of the reply as its handler made it, before any `after`; it stays where it is meanwhile.
  // `is_whole`: it has its content, which else is streamed.
  virtual Task<Result<void>> record(const Reply& reply, bool is_whole) = 0;
};

// A handler's coroutine, whatever it comes to. One coroutine of serve_alone() awaits it: a
// coroutine template would be one more for each type of result, and g++ 12 refuses it in a unity
// build where that type is in an anonymous namespace.
class HandlerRun {
 public:
  virtual ~HandlerRun() = default;
  virtual std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiting) noexcept = 0;
  virtual Reply await_resume() = 0;  // rethrows what left it
};

// Each REQUIRES a route with functions as middleware, and does nothing without a recorder.

// True: the reply was taken, and is sent when it is recorded.
KATANA_RARE bool record_first(session::Exchange& exchange, const Route& route,
                              const RequestView& request, Reply& reply) noexcept;
// Of a reply that is written in pieces, whose head is about to be sent: no request waits for it.
KATANA_RARE void record_head(session::Exchange& exchange, const Route& route,
                             const Reply& head) noexcept;
bool has_recorder(session::Exchange& exchange) noexcept;
// A handler begins that writes its reply in pieces.
KATANA_RARE void note_begun(session::Exchange& exchange) noexcept;
// Runs the handler, which has not begun. REQUIRES has_recorder().
KATANA_RARE void serve_alone(session::Exchange& exchange, const Route& route,
                             const RequestView& request, const Suspended& suspended,
                             std::unique_ptr<HandlerRun> handler);

}  // namespace detail
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
