// Middleware: what runs around the handlers of a group. A function with the parameters of a
// handler, plain or a coroutine, is the usual form:
//
//   Task<Result<User>> authenticate(Header<Credentials> credentials, Inject<Users> users) {
//     co_return co_await users->of_token(credentials->authorization);
//   }
//   api.use(authenticate);                      // handlers of the group may take FromContext<User>
//   api.use([](FromContext<User> user) -> std::optional<Reply> {
//     if (user->is_banned) return problem(403, "This account is banned.");
//     return std::nullopt;                      // goes on
//   });
//
//   returns                                     the request goes on
//   void                                        always
//   std::optional<Reply>                        when there is none
//   Result<void>, std::expected<void, Reply>    when there is no error
//   T, Result<T>, std::expected<T, Reply>       when there is a T, which FromContext<T> takes
//
// or a Task of one of them. Functions run in the order of use(), outermost group first, before
// content is asked for unless they take some (Json<T>, FormFields<T>); a Request or RequestView has
// no content before that. They run for streams and WebSocket handshakes as well, and an answer
// passes the `after` of the middleware of its route.
//
// Owns       what the function captures; one object serves all reactors.
// Thread     the reactor's.
// Allocates  from the recycler: the values, and the frame of a coroutine.
// Fails      an exception is answered with 500 and reported, as a handler's. When the client leaves
//            or the handler's time is up, a coroutine is destroyed where it waits.
// Invariant  while a coroutine waits the head is kept, and content is neither read nor read past.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "katana/base/coroutine/deadline.hpp"
#include "katana/base/coroutine/task.hpp"
#include "katana/base/system/function.hpp"
#include "katana/http/handlers/parameters.hpp"
#include "katana/http/handlers/reply.hpp"
#include "katana/http/handlers/request.hpp"
#include "katana/http/handlers/request_context.hpp"
#include "katana/http/session/exchange.hpp"

namespace katana {

struct DecompressionOptions;
struct RequestDocumentation;
struct SecurityDocumentation;
namespace detail {
class MiddlewareFunction;
}

// Where middleware stands among the others of a route. Middleware of an earlier phase runs first,
// whatever the order of use(); within a phase, and for `any`, the order of use() counts.
enum class Phase : std::uint8_t {
  any,        // where use() put it
  admission,  // load and connections: what costs least, for everybody
  trust,      // the proxy's word, and the hosts that are served
  identity,   // credentials, sessions, policies: identity and rights of the client
  shared,     // replies that serve several requests: response cache, idempotency keys
};

// `before` may answer instead of the handler; it is called with the head, before any
// content has come or been asked for (RFC 9110 §10.1.1), and sees none. `after` sees every reply to
// a request that has a path: those of `before`, of handlers that failed (500), and, from the
// middleware of the whole router, 404 and its like. Of a streamed reply it sees status and fields,
// before they are sent. In `after` the content of the request is gone when the handler was a
// coroutine that waited and did not take a Request.
struct Middleware {
  // A reply answers the request, and no handler is called. None: the request goes on.
  std::function<std::optional<Reply>(const RequestView&)> before = {};
  // As `before`, and called in front of it, for what depends on the connection or the time.
  std::function<std::optional<Reply>(const RequestView&, session::Exchange&)> admit = {};
  std::function<void(const RequestView&, Reply&)> after = {};
  // As `after`, and called behind it, for what depends on the connection.
  std::function<void(const RequestView&, session::Exchange&, Reply&)> amend = {};
  // The content of requests is decoded; see decompression() in http/middleware/compression.hpp.
  std::shared_ptr<const DecompressionOptions> decoding = {};
  // What is wrong with its options, for Router::build() to report; empty: nothing.
  std::string mistake = {};
  // Which clients may pass it; null: all. See identity/auth.
  std::shared_ptr<const SecurityDocumentation> security = {};
  // Headers and replies of requests that pass it, for OpenAPI; null: none.
  std::shared_ptr<const RequestDocumentation> words = {};
  // What Group::use() makes of a function; called behind `before`.
  std::shared_ptr<const detail::MiddlewareFunction> function = {};
  Phase phase = Phase::any;
  // It limits the work of handlers, as rate limits do, so that a shared reply may pass it by.
  // build() refuses other middleware of Phase::any that may answer behind Phase::shared.
  bool limits_work = false;
};

namespace detail {

class MiddlewareFunction {
 public:
  enum class Progress : std::uint8_t {
    goes_on,
    answered,  // the context has the answer
    waits,     // what the exchange holds resumes the request
  };

  // `provides`: null: nothing. `may_answer`: instead of the handler.
  MiddlewareFunction(bool wants, const registry::TypeInfo* value, std::vector<Need> of,
                     bool answers = true)
      : wants_content(wants), may_answer(answers), provides(value), needs(std::move(of)) {}
  virtual ~MiddlewareFunction() = default;
  virtual Progress run(const Call& call, RequestContext& context) const = 0;

  const bool wants_content;
  const bool may_answer;
  const registry::TypeInfo* const provides;
  const std::vector<Need> needs;
};

// False: the context has an answer.
template <class Key, class R>
bool take_result(RequestContext& context, R&& result) {
  auto value = ReturnedValue<R>::from(std::forward<R>(result));
  if (!value) {
    context.answer = std::move(value.error());
    return false;
  }
  if constexpr (!std::is_void_v<typename ReturnedValue<R>::Type>) {
    // Whether the request goes on depends on a principal.
    if constexpr (personal_value<Key> == session::Personal::principal) {
      context.personal_mark()->set(session::Personal::principal);
    }
    context.provide<Key>(*std::move(value));
  }
  return true;
}
template <class Key, class R>
bool take_result_of(RequestContext& context, Task<R>& task) {
  if constexpr (std::is_void_v<R>) {
    task.result();
    return true;
  } else {
    return take_result<Key>(context, task.result());
  }
}

// A coroutine that waits; owned by the exchange.
template <class Key, class R>
class PendingFunction final : public session::Pending {
 public:
  // `bytes`: what its parameters hold.
  PendingFunction(session::Exchange& exchange, Task<R> task, std::size_t bytes = 0)
      : exchange_(exchange), task_(std::move(task)), bytes_(bytes) {
    task_.on_done([](void* self) noexcept { static_cast<PendingFunction*>(self)->finish(); }, this);
  }
  std::size_t held_bytes() const noexcept override { return bytes_; }

 private:
  void finish() noexcept {
    RequestContext& context = RequestContext::of(exchange_);
    try {
      take_result_of<Key>(context, task_);
    } catch (...) {
      context.thrown = std::current_exception();
    }
    exchange_.resume_request();
  }

  session::Exchange& exchange_;
  Task<R> task_;
  const std::size_t bytes_;
};

template <class Key, class F>
class FunctionMiddleware final : public MiddlewareFunction {
 public:
  using Parameters = typename Signature<F>::Parameters;
  using Return = typename Signature<F>::Return;
  using Value = typename ReturnedValue<typename WithoutTask<Return>::Type>::Type;
  static constexpr bool provides_value = !std::is_void_v<Value>;
  // It returns neither nothing nor its value alone.
  using Returned = typename WithoutTask<Return>::Type;
  static constexpr bool answers =
      !std::same_as<Returned, Nothing> && !std::same_as<Returned, Value>;

  explicit FunctionMiddleware(F f)
      : MiddlewareFunction(any_wants_content<Parameters>, provided_type(), needs_of<Parameters>(),
                           answers),
        f_(std::move(f)) {}

  Progress run(const Call& call, RequestContext& context) const override {
    Progress progress = Progress::goes_on;
    const auto refuse = [&](Reply&& refused) {
      context.answer = std::move(refused);
      progress = Progress::answered;
    };
    if constexpr (is_task<Return>) {
      call_with<Parameters>(
          f_, call,
          [&](Return task, std::size_t bytes) {
            progress = proceed(call, context, std::move(task), bytes);
          },
          refuse);
    } else {
      call_with<Parameters>(
          f_, call, [&](auto&& result) { progress = proceed(call, context, std::move(result)); },
          refuse);
    }
    return progress;
  }

 private:
  static const registry::TypeInfo* provided_type() noexcept {
    if constexpr (provides_value) return registry::type_info_of<Key>();
    return nullptr;
  }
  template <class R>
  static Progress proceed(const Call&, RequestContext& context, R result) {
    return take_result<Key>(context, std::move(result)) ? Progress::goes_on : Progress::answered;
  }
  template <class R>
  static Progress proceed(const Call& call, RequestContext& context, Task<R> task,
                          std::size_t bytes) {
    const DeadlineScope time(call.exchange.handler_due());
    if (task.start()) {
      return take_result_of<Key>(context, task) ? Progress::goes_on : Progress::answered;
    }
    call.exchange.hold(
        std::make_unique<PendingFunction<Key, R>>(call.exchange, std::move(task), bytes));
    call.exchange.defer_request();
    return Progress::waits;
  }

  F f_;
};

// What a function says of its place: one that gives a principal is of Phase::identity.
template <class F>
constexpr Phase phase_of() {
  using Returned = typename WithoutTask<typename Signature<F>::Return>::Type;
  using Value = typename ReturnedValue<Returned>::Type;
  if constexpr (!std::is_void_v<Value>) {
    if (personal_value<Value> == session::Personal::principal) return Phase::identity;
  }
  return Phase::any;
}
// As Middleware::limits_work; said by the function's class.
template <class F>
inline constexpr bool limits_work = requires { requires F::limits_work; };

// `Key`: under which the value is found; void: under its own type. REQUIRES that it is_sound()
// (function_checks.hpp).
template <class Key = void, class F>
std::shared_ptr<const MiddlewareFunction> make_middleware_function(F f) {
  using Value =
      typename ReturnedValue<typename WithoutTask<typename Signature<F>::Return>::Type>::Type;
  using Found = std::conditional_t<std::is_void_v<Key>, Value, Key>;
  return std::make_shared<const FunctionMiddleware<Found, F>>(std::move(f));
}

}  // namespace detail
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
