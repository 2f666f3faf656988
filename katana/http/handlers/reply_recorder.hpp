// ReplyRecorder: records the reply to a request before it is sent, whether or not the client still
// waits. A middleware leaves one in the RequestContext of a request; see identity/idempotency.
//
//   the handler ──▶ its reply ──▶ record() ──▶ `after` of the middleware ──▶ sent
//        └── a coroutine: as a task of the reactor, which goes on when the client has left
//
// The task is work of its request (Exchange::spawn()). Until it has ended, the request counts in
// every limit that admitted it, and the memory of the task is charged to the reactor.
//
// Owns       the task of the reactor: the handler, its reply, and the recorder.
// Borrows    the exchange, until it ends; the route, which outlives the reactor.
// Thread     the reactor's.
// Allocates  from the recycler: a copy of the request, the frames, the state in the exchange.
// Fails      an Error or exception of record() is reported, and the reply is sent all the same. A
//            reactor that has too many tasks sends the reply without record(). If there are too
//            many tasks, or no memory for the handler, before it has begun, the reply is 503.
// Invariant  a recorder records once, or learns that the handler never began. A handler ends at its
//            usual deadline, whatever its client does.
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
  // There is no reply. `share` counts the request. If the handler did not begin, work that this
  // starts keeps the share until it has ended.
  virtual void give_up(const session::RequestShare& /*share*/) noexcept {}
  // Records the reply as its handler made it, before any `after`; the reply stays in place
  // meanwhile. `is_whole`: the reply has its body; otherwise the body is streamed.
  virtual Task<Result<void>> record(const Reply& reply, bool is_whole) = 0;
};

// A handler's coroutine with any type of result. One coroutine of serve_alone() awaits it. A
// coroutine template would add one coroutine for each type of result. g++ 12 refuses it in a unity
// build where that type is in an anonymous namespace.
class HandlerRun {
 public:
  virtual ~HandlerRun() = default;
  virtual std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiting) noexcept = 0;
  virtual Reply await_resume() = 0;  // rethrows the handler's exception
  virtual const TaskState& state() const noexcept = 0;
};

// Each REQUIRES a route with functions as middleware, and does nothing without a recorder.

// Returns true if the reply was taken: it is sent when it is recorded.
KATANA_RARE bool record_first(session::Exchange& exchange, const Route& route,
                              const RequestView& request, Reply& reply) noexcept;
// Records the head of a reply that is written in pieces, before it is sent. The reply does not wait
// for that.
KATANA_RARE void record_head(session::Exchange& exchange, const Route& route,
                             const Reply& head) noexcept;
bool has_recorder(session::Exchange& exchange) noexcept;
// A handler that writes its reply in pieces begins.
KATANA_RARE void note_begun(session::Exchange& exchange) noexcept;
// Runs a handler that has not begun. REQUIRES has_recorder().
KATANA_RARE void serve_alone(session::Exchange& exchange, const Route& route,
                             const RequestView& request, const Suspended& suspended,
                             std::unique_ptr<HandlerRun> handler);

}  // namespace detail
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
