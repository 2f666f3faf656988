// Middleware: code that runs around the handlers of a group. The usual form is a function with the
// parameters of a handler, plain or a coroutine:
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
// or a Task of one of them. Functions run in the order of use(), outermost group first. They run
// before the body is read unless they take it (Json<T>, FormFields<T>). Before that a Request or
// RequestView has no body. They run for streams and WebSocket handshakes as well. Their reply
// passes the `after` of the middleware of the route.
//
// Owns       the captures of the function; one object serves all reactors.
// Thread     the reactor's.
// Allocates  from the recycler: the values, and the frame of a coroutine.
// Fails      an exception is answered with 500 and reported, as a handler's. When the client leaves
//            or the handler's time is over, a coroutine is destroyed where it waits.
// Invariant  while a coroutine waits, the head is kept, and no byte of the body is read.
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

// The place of middleware among the others of a route. Middleware of an earlier phase runs first,
// whatever the order of use(). Within a phase, and for `any`, the order of use() counts.
enum class Phase : std::uint8_t {
  any,        // where use() put it
  admission,  // load and connections: the cheapest checks, for all clients
  trust,      // headers of trusted proxies, and the hosts that are served
  identity,   // credentials, sessions, policies: identity and rights of the client
  shared,     // replies that serve several requests: response cache, idempotency keys
};

// `before` may answer instead of the handler. It is called with the head, before any of the body
// has arrived or is asked for (RFC 9110 §10.1.1), and sees no body.
// `after` sees every reply to a request that has a path: those of `before`, and those of handlers
// that failed (500). The middleware of the whole router also sees 404 and the like. In a streamed
// reply `after` sees status and fields before they are sent. The body of the request is gone in
// `after` when the handler was a coroutine that waited and did not take a Request.
struct Middleware {
  // Returns the reply to the request, and no handler is called; or nothing, and the request
  // continues.
  std::function<std::optional<Reply>(const RequestView&)> before = {};
  // As `before`, but called before it; for checks of the connection or the time.
  std::function<std::optional<Reply>(const RequestView&, session::Exchange&)> admit = {};
  std::function<void(const RequestView&, Reply&)> after = {};
  // As `after`, but called after it; for work that depends on the connection.
  std::function<void(const RequestView&, session::Exchange&, Reply&)> amend = {};
  // Request bodies are decoded; see decompression() in http/middleware/compression.hpp.
  std::shared_ptr<const DecompressionOptions> decoding = {};
  // The mistake in its options, which Router::build() reports; empty: none.
  std::string mistake = {};
  // The clients that may pass it; null: all. See identity/auth.
  std::shared_ptr<const SecurityDocumentation> security = {};
  // The headers and replies of requests that pass it, for OpenAPI; null: none.
  std::shared_ptr<const RequestDocumentation> words = {};
  // The function that was given to Group::use(); called after `before`.
  std::shared_ptr<const detail::MiddlewareFunction> function = {};
  Phase phase = Phase::any;
  // True for a limit on the work of handlers, such as a rate limit. A shared reply may bypass it.
  // build() refuses other middleware of Phase::any that may answer behind Phase::shared.
  bool limits_work = false;
};

namespace detail {

class MiddlewareFunction {
 public:
  enum class Progress : std::uint8_t {
    goes_on,
    answered,  // the context has the answer
    waits,     // an object that the exchange holds resumes the request
  };

  // `provides`: null: no value. `may_answer`: it may answer instead of the handler.
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

// Returns false if the context has a reply.
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
  // `bytes`: the bytes that its parameters hold.
  PendingFunction(session::Exchange& exchange, Task<R> task, std::size_t bytes = 0)
      : exchange_(exchange),
        task_(std::move(task)),
        listed_(task_.state(), exchange.context()),
        bytes_(bytes) {
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
  StartedTask listed_;
  const std::size_t bytes_;
};

template <class Key, class F>
class FunctionMiddleware final : public MiddlewareFunction {
 public:
  using Parameters = typename Signature<F>::Parameters;
  using Return = typename Signature<F>::Return;
  using Value = typename ReturnedValue<typename WithoutTask<Return>::Type>::Type;
  static constexpr bool provides_value = !std::is_void_v<Value>;
  // Its result may be a refusal: the return type is neither void nor the plain value.
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

// The phase of a function: one that returns a principal is of Phase::identity.
template <class F>
constexpr Phase phase_of() {
  using Returned = typename WithoutTask<typename Signature<F>::Return>::Type;
  using Value = typename ReturnedValue<Returned>::Type;
  if constexpr (!std::is_void_v<Value>) {
    if (personal_value<Value> == session::Personal::principal) return Phase::identity;
  }
  return Phase::any;
}
// As Middleware::limits_work; the class of the function declares it.
template <class F>
inline constexpr bool limits_work = requires { requires F::limits_work; };

// `Key`: the type under which the value is found; void: its own type. REQUIRES that it is_sound()
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
