// Handler: a user's function behind one virtual call. There are four forms, which differ in their
// return type and parameters:
//
//   Reply       f(const RequestView&, Path<…>…, Query<…>)  plain; views into the engine's buffer
//   Task<Reply> f(Request, Path<…>…, Query<…>)             coroutine; the request is owned
//   Task<Reply> f(Request, ContentReader, …)               the body in pieces, and one reply
//   Task<void>  f(Request, ContentReader, ReplyWriter, …)  streaming, both ways
//
// The parameters of extract.hpp and parameters.hpp may come in any order and be left out. A handler
// without a request parameter does not want the body. Result<Reply> and Answer<Reply> (answer.hpp)
// work where Reply does: an Error becomes a problem document. Json<T> reads and writes JSON bodies
// (http/handlers/json.hpp).
//
// Thread     its reactor's; one handler object serves all reactors at once, and its captures must
//            allow that.
// Fails      an exception is answered with 500, counted, and reported to HttpOptions::failures with
//            its cause, route and request. The process continues.
#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "katana/base/coroutine/deadline.hpp"
#include "katana/base/coroutine/task.hpp"
#include "katana/base/coroutine/task_state.hpp"
#include "katana/base/system/hints.hpp"
#include "katana/http/handlers/extract.hpp"
#include "katana/http/handlers/parameters.hpp"
#include "katana/http/handlers/reply.hpp"
#include "katana/http/handlers/reply_recorder.hpp"
#include "katana/http/handlers/request.hpp"
#include "katana/http/handlers/streaming.hpp"
#include "katana/http/session/exchange.hpp"

namespace katana {

struct DecompressionOptions;
struct Middleware;

namespace detail {

class Handler;

struct Route {
  std::unique_ptr<Handler> handler;
  std::vector<const Middleware*> middleware;  // outermost first
  std::uint64_t content_bytes_max = 0;
  std::size_t path_parameters = 0;                 // Path<> parameters of the handler
  const DecompressionOptions* decoding = nullptr;  // null: contents are left as they come
  bool development = false;                        // see Router::development()
  bool has_functions = false;                      // among its middleware
  bool functions_want_content = false;
  const registry::Singletons* services = nullptr;  // of Inject<T>; null: no handler needs any
  std::vector<Need> needs;                         // of the handler
  session::RouteMark mark = {};                    // of the fallback: empty
};

// A handler that suspends keeps the request for the middleware, and for the page of an error.
inline bool needs_request(const Route& route) noexcept {
  return !route.middleware.empty() || route.development;
}
// Sends the reply of a handler, after the route's middleware has seen it. `request` may be null if
// there is none.
void send_reply(session::Exchange& exchange, const Route& route, const RequestView* request,
                Reply&& reply) noexcept;
// A body of at most this many bytes fits into one block with its head.
inline constexpr std::size_t small_content_bytes = 2 * 1024;
// The same, inlined: a small reply without further work needs no separate call.
[[gnu::always_inline]] inline void send_reply_in_line(session::Exchange& exchange,
                                                      const Route& route,
                                                      const RequestView* request,
                                                      Reply&& reply) noexcept {
  const Bytes content = reply.content();
  if (!route.middleware.empty() || !reply.is_ordinary() ||
      (content.size() > small_content_bytes && !reply.content_stays())) [[unlikely]] {
    send_reply(exchange, route, request, std::move(reply));
    return;
  }
  exchange.respond({.status = reply.status(),
                    .content_type = reply.content_type(),
                    .fields = reply.fields(),
                    .content_length = http::unknown_length},
                   content, reply.content_stays());
}
// Reports the error that a sent reply stands for, as problem(error) made it. A refusal that is the
// client's fault is not reported.
KATANA_RARE void report_cause(session::Exchange& exchange, unsigned status,
                              const Error& cause) noexcept;
// Sends the reply of the session instead of the handler's, in the form of the route. REQUIRES that
// no reply was begun.
KATANA_RARE void send_refusal(session::Exchange& exchange, const Route& route,
                              const RequestView& request, unsigned status, Bytes detail) noexcept;
// Replies for a handler that failed, and reports the exception that is being handled, if there is
// one. With a route, its middleware sees the reply.
KATANA_RARE void send_failure(session::Exchange& exchange,
                              Bytes what = "the request cannot be dispatched") noexcept;
KATANA_RARE void send_failure(session::Exchange& exchange, const Route& route,
                              const RequestView* request,
                              Bytes what = "the handler threw") noexcept;

enum class ContentWanted : std::uint8_t { no, whole, stream };

class Handler {
 public:
  explicit Handler(ContentWanted wanted) noexcept : content_wanted(wanted) {}
  virtual ~Handler() = default;
  // Returns the reason why it cannot serve, for Router::build(); empty if it can.
  virtual std::string mistake() const { return {}; }
  virtual void serve(session::Exchange& exchange, const Route& route,
                     const RequestView& request) const = 0;
  const ContentWanted content_wanted;
};

// ToReply<R>::make(result) makes the reply from the result of a handler; json.hpp has more of them.
template <class R>
struct ToReply {
  static Reply make(R&& result)
    requires std::convertible_to<R, Reply>
  {
    return std::forward<R>(result);
  }
  static Reply make(R&& result)
    requires(!std::convertible_to<R, Reply> && std::convertible_to<R, Result<Reply>>)
  {
    Result<Reply> converted = std::forward<R>(result);
    return converted ? *std::move(converted) : problem(converted.error());
  }
};
template <>
struct ToReply<Reply> {
  static Reply&& make(Reply&& reply) noexcept { return std::move(reply); }
};
template <class T>
struct ToReply<Result<T>> {
  static Reply make(Result<T>&& result) {
    return result ? ToReply<T>::make(*std::move(result)) : problem(result.error());
  }
};
template <class T>
struct ToReply<Answer<T>> {
  static Reply make(Answer<T>&& result) {
    return result ? ToReply<T>::make(*std::move(result)) : std::move(result).error().reply();
  }
};
template <class R>
concept Replies = requires(R&& result) { ToReply<R>::make(std::move(result)); };

// ---- the forms ----

template <class F>
class PlainHandler final : public Handler {
 public:
  using Parameters = typename Signature<F>::Parameters;
  explicit PlainHandler(F f)
      : Handler(has_parameter<Parameters, RequestView> || has_parameter<Parameters, Request> ||
                        any_wants_content<Parameters>
                    ? ContentWanted::whole
                    : ContentWanted::no),
        f_(std::move(f)) {}

  void serve(session::Exchange& exchange, const Route& route,
             const RequestView& request) const override {
    const auto send = [&](auto&& result) {
      using R = std::remove_cvref_t<decltype(result)>;
      send_reply_in_line(exchange, route, &request, ToReply<R>::make(std::move(result)));
    };
    call_with<Parameters>(f_, {exchange, request, route.services}, send, [&](Reply&& refused) {
      send_reply(exchange, route, &request, std::move(refused));
    });
  }

 private:
  F f_;
};

// Drops the body that middleware has kept: the handler that suspends has its parameters.
void drop_content(session::Exchange& exchange) noexcept;

// The state with which a suspended handler begins, in addition to its task.
struct Suspended {
  std::optional<Request> owned;  // the request, where the handler took it
  std::size_t bytes = 0;         // the bytes that its parameters hold

  // For the `after` of the middleware: without the body, unless the handler has that, too.
  Request for_middleware(const RequestView& request) const;
  // The bytes of that request which `owned` does not hold already.
  std::size_t more_bytes(const Request& request) const noexcept {
    return owned ? 0 : request.held_bytes();
  }
};

// A Task<Reply> or Task<Result<Reply>> that suspended; owned by the exchange.
template <class R>
class PendingTask final : public session::Pending {
 public:
  PendingTask(session::Exchange& exchange, const Route& route, const RequestView& request,
              const Suspended& suspended, Task<R> task)
      : exchange_(exchange),
        route_(route),
        bytes_(suspended.bytes),
        task_(std::move(task)),
        listed_(task_.state(), exchange.context()) {
    if (needs_request(route)) {
      request_.emplace(suspended.for_middleware(request));
      bytes_ += suspended.more_bytes(*request_);
    }
    if (route.has_functions) drop_content(exchange);
    task_.on_done([](void* self) noexcept { static_cast<PendingTask*>(self)->finish(); }, this);
  }
  std::size_t held_bytes() const noexcept override { return bytes_; }

  bool refuse(unsigned status, Bytes detail) noexcept override {
    if (route_.middleware.empty()) return false;
    {
      listed_.end();
      const Task<R> ended = std::move(task_);
    }
    const std::optional<Request> request = std::move(request_);
    send_refusal(exchange_, route_, request->view(), status, detail);
    return true;
  }

  static void finish(session::Exchange& exchange, const Route& route, const RequestView* request,
                     Task<R>& task) noexcept {
    try {
      send_reply(exchange, route, request, ToReply<R>::make(task.result()));
    } catch (...) {
      send_failure(exchange, route, request);
    }
  }

 private:
  void finish() noexcept {
    // Sending ends the exchange, which destroys this object: a copy keeps the request until then.
    const std::optional<Request> request = std::move(request_);
    finish(exchange_, route_, request ? &request->view() : nullptr, task_);
  }

  session::Exchange& exchange_;
  const Route& route_;
  std::size_t bytes_;
  std::optional<Request> request_;  // for the middleware and the page of an error
  Task<R> task_;
  StartedTask listed_;
};

template <class R>
class HandlerTask final : public HandlerRun {
 public:
  explicit HandlerTask(Task<R> task) noexcept : task_(std::move(task)) {}
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiting) noexcept override {
    return std::move(task_).operator co_await().await_suspend(waiting);
  }
  Reply await_resume() override { return ToReply<R>::make(task_.result()); }
  const TaskState& state() const noexcept override { return task_.state(); }

 private:
  Task<R> task_;
};

template <class F>
class TaskHandler final : public Handler {
 public:
  using Parameters = typename Signature<F>::Parameters;
  explicit TaskHandler(F f)
      : Handler(has_parameter<Parameters, Request> || any_wants_content<Parameters>
                    ? ContentWanted::whole
                    : ContentWanted::no),
        f_(std::move(f)) {}

  void serve(session::Exchange& exchange, const Route& route,
             const RequestView& request) const override {
    Suspended suspended;
    if constexpr (has_parameter<Parameters, Request>) {
      if (needs_request(route)) suspended.owned.emplace(request);
    }
    const auto run = [&]<class R>(Task<R> task, std::size_t bytes) {
      suspended.bytes = bytes;
      if (route.has_functions && has_recorder(exchange)) [[unlikely]] {
        serve_alone(exchange, route, request, suspended,
                    std::make_unique<HandlerTask<R>>(std::move(task)));
        return;
      }
      const DeadlineScope time(exchange.handler_due());
      if (task.start()) {
        PendingTask<R>::finish(exchange, route, &request, task);
      } else {
        exchange.hold(
            std::make_unique<PendingTask<R>>(exchange, route, request, suspended, std::move(task)));
      }
    };
    const Request* const owned = suspended.owned ? &*suspended.owned : nullptr;
    call_with<Parameters>(
        f_, {exchange, request, route.services, nullptr, owned}, run,
        [&](Reply&& refused) { send_reply(exchange, route, &request, std::move(refused)); });
  }

 private:
  F f_;
};

// A streaming coroutine; owned by the exchange from the start.
class PendingStream final : public Stream {
 public:
  PendingStream(session::Exchange& exchange, const Route& route)
      : Stream(exchange, !route.middleware.empty()), route_(route) {}
  void run(const RequestView& request, const Suspended& suspended, Task<void> task) noexcept;
  // The one reply of a handler that reads the body in pieces. It is sent at the end of the task.
  void keep(Reply reply) noexcept { reply_.emplace(std::move(reply)); }
  std::size_t held_bytes() const noexcept override { return Stream::held_bytes() + bytes_; }
  // Decodes the body if the route says so and the coding of the request is known.
  void decode_content(const http::Head& head);
  bool refuse(unsigned status, Bytes detail) noexcept override;

 private:
  void run_middleware(Reply& reply) override;
  void finish() noexcept;
  void fail() noexcept;

  const Route& route_;
  std::size_t bytes_ = 0;           // of its parameters, and of the request
  std::optional<Request> request_;  // for the middleware and the page of an error
  std::optional<Reply> reply_;
  std::optional<Task<void>> task_;
  std::optional<StartedTask> listed_;
};

// Keeps the reply of a handler that reads the body in pieces.
template <class R>
Task<void> answer_with(PendingStream& stream, Task<R> handler) {
  stream.keep(ToReply<R>::make(co_await std::move(handler)));
}

template <class F>
class StreamHandler final : public Handler {
 public:
  using Parameters = typename Signature<F>::Parameters;
  using Return = typename Signature<F>::Return;
  explicit StreamHandler(F f)
      : Handler(has_parameter<Parameters, ContentReader> ? ContentWanted::stream
                : any_wants_content<Parameters>          ? ContentWanted::whole
                                                         : ContentWanted::no),
        f_(std::move(f)) {}

  void serve(session::Exchange& exchange, const Route& route,
             const RequestView& request) const override {
    auto owner = std::make_unique<PendingStream>(exchange, route);
    PendingStream* const stream = owner.get();
    Suspended suspended;
    if constexpr (has_parameter<Parameters, Request>) suspended.owned.emplace(request);
    const Request* const owned = suspended.owned ? &*suspended.owned : nullptr;
    call_with<Parameters>(
        f_, {exchange, request, route.services, stream, owned},
        [&](Return task, std::size_t bytes) {
          suspended.bytes = bytes;
          exchange.hold(std::move(owner));
          if (content_wanted == ContentWanted::stream) stream->decode_content(request.head());
          if (content_wanted == ContentWanted::stream && exchange.content_pending()) {
            exchange.stream_content(route.content_bytes_max);
          }
          if constexpr (std::same_as<Return, Task<void>>) {
            stream->run(request, suspended, std::move(task));
          } else {
            // Without a deadline: the time of a handler begins behind its body.
            stream->run(request, suspended, answer_with(*stream, std::move(task)));
          }
        },
        [&](Reply&& refused) { send_reply(exchange, route, &request, std::move(refused)); });
  }

 private:
  F f_;
};

// REQUIRES that it is_sound() (function_checks.hpp).
template <class F>
std::unique_ptr<Handler> make_handler(F f) {
  using Return = typename Signature<F>::Return;
  using Parameters = typename Signature<F>::Parameters;
  if constexpr (std::same_as<Return, Task<void>> || has_parameter<Parameters, ContentReader>) {
    return std::make_unique<StreamHandler<F>>(std::move(f));
  } else if constexpr (is_task<Return>) {
    return std::make_unique<TaskHandler<F>>(std::move(f));
  } else {
    return std::make_unique<PlainHandler<F>>(std::move(f));
  }
}

}  // namespace detail
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
