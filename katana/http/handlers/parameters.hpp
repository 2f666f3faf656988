// Parameters: how the arguments of a user's function are made from a request. Handlers, functions
// as middleware and FromRequest<T>::from() use it.
//
// A parameter is one of extract.hpp's and its companions', FromContext<T> (request_context.hpp),
// Inject<T>, or any type with a FromRequest<T> (from_request.hpp).
//
// Thread     its reactor's.
// Fails      the first parameter that cannot be made determines the reply, and the function is not
//            called. The reply is 503 if the function may suspend and there is no memory for its
//            parameters.
#pragma once

#include <concepts>
#include <cstddef>
#include <expected>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/registry/singletons.hpp"
#include "katana/data/container/heap_bytes.hpp"
#include "katana/http/handlers/answer.hpp"
#include "katana/http/handlers/extract.hpp"
#include "katana/http/handlers/reply.hpp"
#include "katana/http/handlers/request.hpp"
#include "katana/http/handlers/request_context.hpp"
#include "katana/http/handlers/streaming.hpp"
#include "katana/http/session/exchange.hpp"

namespace katana {

// A parameter: a singleton of the registry that Router::services() names, which outlives the
// Service. All reactors share it.
template <class T>
class Inject {
 public:
  explicit Inject(T& service) noexcept : service_(&service) {}
  T& operator*() const noexcept { return *service_; }
  T* operator->() const noexcept { return service_; }

 private:
  T* service_;
};

// Makes parameters of type T: specialise it for your own type. See from_request.hpp.
template <class T>
struct FromRequest;

// A parameter that counts the request in every limit that admitted it: limits of concurrency, of
// its client, and of memory. The request counts for as long as the lease lives, also after its
// reply was sent or its client has left. A handler passes the lease to the task that it spawns,
// with the data of that task:
//
//   router.post("/orders", [](Json<Order> order, RequestLease lease) -> Task<Result<Reply>> {
//     auto spawned = net::spawn(notify(std::move(order.value), std::move(lease)), "notify");
//
// Its reactor's thread.
class [[nodiscard]] RequestLease {
 public:
  // Counts nothing: for tests that call a handler directly.
  RequestLease() noexcept = default;
  RequestLease(session::RequestShare share, HeldCharge charge) noexcept
      : share_(std::move(share)), charge_(std::move(charge)) {}
  RequestLease(RequestLease&&) noexcept = default;
  RequestLease& operator=(RequestLease&&) noexcept = default;

 private:
  session::RequestShare share_;
  HeldCharge charge_;  // the memory of the handler's parameters
};

namespace detail {

// ---- the signature of a function ----

template <class F>
struct Signature : Signature<decltype(&F::operator())> {};
template <class R, class... P>
struct Signature<R (*)(P...)> {
  using Return = R;
  using Parameters = std::tuple<std::remove_cvref_t<P>...>;
  static constexpr bool takes_references = (std::is_reference_v<P> || ...);
};
template <class R, class... P>
struct Signature<R (*)(P...) noexcept> : Signature<R (*)(P...)> {};
template <class R, class C, class... P>
struct Signature<R (C::*)(P...)> : Signature<R (*)(P...)> {};
template <class R, class C, class... P>
struct Signature<R (C::*)(P...) const> : Signature<R (*)(P...)> {};
template <class R, class C, class... P>
struct Signature<R (C::*)(P...) const noexcept> : Signature<R (*)(P...)> {};

// A function, or an object with one operator() that is not a template.
template <class F>
concept HasSignature = std::is_function_v<std::remove_pointer_t<F>> || requires { &F::operator(); };

template <class Tuple, class T>
inline constexpr bool has_parameter = false;
template <class... P, class T>
inline constexpr bool has_parameter<std::tuple<P...>, T> = (std::same_as<P, T> || ...);

template <class Tuple>
inline constexpr std::size_t path_count = 0;
template <class... P>
inline constexpr std::size_t path_count<std::tuple<P...>> = (std::size_t{is_path<P>} + ... + 0);

template <class Tuple>
inline constexpr bool any_wants_content = false;
template <class... P>
inline constexpr bool any_wants_content<std::tuple<P...>> = (wants_content<P> || ...);

template <class R>
inline constexpr bool is_task = false;
template <class T>
inline constexpr bool is_task<Task<T>> = true;

// ---- parameters by FromRequest ----

template <class P>
concept ByFromRequest = requires { &FromRequest<P>::from; };
template <class P>
using FromSignature = Signature<decltype(&FromRequest<P>::from)>;
// The parameter may suspend. It then runs as middleware in front of the handler that takes it, and
// leaves its value in the context.
template <class P>
inline constexpr bool is_awaited = false;
template <ByFromRequest P>
inline constexpr bool is_awaited<P> = is_task<typename FromSignature<P>::Return>;
// Finds the value in the context.
template <class P>
struct Awaited {};

template <ByFromRequest P>
inline constexpr bool wants_content<P> = any_wants_content<typename FromSignature<P>::Parameters>;

template <ByFromRequest P>
struct SecretsOf<P> : SecretsOfAll<typename FromSignature<P>::Parameters> {};

// ---- results of a function in front of a handler: a value, or the reason why there is none ----

template <class R>
struct ReturnedValue {
  using Type = R;
  static std::expected<R, Reply> from(R&& value) { return std::move(value); }
};
template <class T>
struct ReturnedValue<std::expected<T, Error>> {
  using Type = T;
  static std::expected<T, Reply> from(std::expected<T, Error>&& result) {
    if (!result) return std::unexpected(problem(result.error()));
    if constexpr (std::is_void_v<T>) {
      return {};
    } else {
      return *std::move(result);
    }
  }
};
template <class T>
struct ReturnedValue<std::expected<T, Reply>> {
  using Type = T;
  static std::expected<T, Reply> from(std::expected<T, Reply>&& result) {
    return std::move(result);
  }
};
template <class T>
struct ReturnedValue<Answer<T>> {
  using Type = T;
  static std::expected<T, Reply> from(Answer<T>&& result) {
    if (!result) return std::unexpected(std::move(result).error().reply());
    if constexpr (std::is_void_v<T>) {
      return {};
    } else {
      return *std::move(result);
    }
  }
};
template <>
struct ReturnedValue<std::optional<Reply>> {
  using Type = void;
  static std::expected<void, Reply> from(std::optional<Reply>&& answer) {
    if (answer) return std::unexpected(*std::move(answer));
    return {};
  }
};
struct Nothing {};
template <>
struct ReturnedValue<Nothing> {
  using Type = void;
  static std::expected<void, Reply> from(Nothing) { return {}; }
};
template <class R>
struct WithoutTask {
  using Type = R;
};
template <class R>
struct WithoutTask<Task<R>> {
  using Type = R;
};
template <>
struct WithoutTask<void> {
  using Type = Nothing;
};
template <>
struct WithoutTask<Task<void>> {
  using Type = Nothing;
};

// ---- arguments ----

// The inputs of the arguments; borrowed for a call.
struct Call {
  session::Exchange& exchange;
  const RequestView& request;
  const registry::Singletons* services = nullptr;  // null: no parameter needs any
  Stream* stream = nullptr;                        // of a streaming handler
  const Request* owned = nullptr;                  // a copy of the request; null: none was made yet
};

Reply refusal(const Error& error);
Reply refusal(const Misfit& misfit);
inline Reply refusal(Refusal&& refused) { return std::move(refused.reply); }
Reply refuse_for_memory();

// The estimated memory of a value for each byte of the body, if its type does not tell its size. A
// list of digits needs this much.
inline constexpr std::size_t unknown_bytes_each = 40;
// This much is never refused, however little memory there is: any request needs it.
inline constexpr std::size_t parameter_bytes_granted = 4096;

// The heap bytes of a parameter that a handler has while it is suspended.
template <class P>
std::size_t parameter_bytes(const P& parameter, const RequestView& request) {
  container::KnownHeapBytes known;
  if constexpr (requires { parameter.value; }) {
    known = container::known_heap_bytes(parameter.value);
  } else {
    known = container::known_heap_bytes(parameter);
  }
  if (wants_content<P> && !known.is_all) {
    known.bytes += request.content().size() * unknown_bytes_each;
  }
  return sizeof(P) + known.bytes;
}

// The value of one parameter, kept until the call.
template <class P>
struct Made {
  decltype(Extractor<P>::from(std::declval<const RequestView&>(), 0)) value;
  Made(const Call& call, std::size_t index) : value(Extractor<P>::from(call.request, index)) {}
  bool is_made() const noexcept { return value.has_value(); }
  Reply refuse() { return refusal(std::move(value.error())); }
  P take() { return *std::move(value); }
  // REQUIRES is_made().
  std::size_t held_bytes(const Call& call) const { return parameter_bytes(*value, call.request); }
};
// Copies of one Request share its memory.
template <>
struct Made<Request> {
  Request value;
  Made(const Call& call, std::size_t)
      : value(call.owned != nullptr ? *call.owned : Request(call.request)) {}
  bool is_made() const noexcept { return true; }
  Reply refuse() { return Reply(500); }  // never asked
  Request take() { return std::move(value); }
  std::size_t held_bytes(const Call&) const { return value.held_bytes(); }
};
template <>
struct Made<RequestView> {
  const RequestView& request;
  Made(const Call& call, std::size_t) : request(call.request) {}
  bool is_made() const noexcept { return true; }
  Reply refuse() { return Reply(500); }  // never asked
  const RequestView& take() const { return request; }
  std::size_t held_bytes(const Call&) const noexcept { return 0; }
};
template <>
struct Made<RequestLease> {
  session::Exchange& exchange;
  HeldCharge charge;
  Made(const Call& call, std::size_t) : exchange(call.exchange), charge(exchange.work_charge()) {}
  bool is_made() const noexcept { return true; }
  Reply refuse() { return Reply(500); }  // never asked
  RequestLease take() { return RequestLease(exchange.share(), std::move(charge)); }
  std::size_t held_bytes(const Call&) const noexcept { return 0; }
};
template <class P>
  requires std::same_as<P, ContentReader> || std::same_as<P, ReplyWriter>
struct Made<P> {
  Stream* stream;
  Made(const Call& call, std::size_t) : stream(call.stream) {}
  bool is_made() const noexcept { return true; }
  Reply refuse() { return Reply(500); }  // never asked
  P take() const { return P(*stream); }
  std::size_t held_bytes(const Call&) const noexcept { return 0; }
};

template <class T>
struct Made<Inject<T>> {
  const registry::Singletons* services;
  Made(const Call& call, std::size_t) : services(call.services) {}
  bool is_made() const noexcept { return true; }
  Reply refuse() { return Reply(500); }  // never asked
  Inject<T> take() const { return Inject<T>(services->get<T>()); }
  std::size_t held_bytes(const Call&) const noexcept { return 0; }
};
template <class T>
struct Made<FromContext<T>> {
  std::shared_ptr<const T> value;
  Made(const Call& call, std::size_t)
      : value(RequestContext::of(call.exchange).find<T, const T>()) {
    if constexpr (personal_value<T> != session::Personal::none) {
      call.exchange.personalise(personal_value<T>);
    }
  }
  bool is_made() const noexcept { return true; }  // otherwise build() had refused the route
  Reply refuse() { return Reply(500); }           // never asked
  FromContext<T> take() { return FromContext<T>(std::move(value)); }
  std::size_t held_bytes(const Call&) const noexcept { return 0; }  // the context counts it
};
// The value was awaited in front, for this parameter.
template <class P>
  requires is_awaited<P>
struct Made<P> {
  std::shared_ptr<P> value;
  Made(const Call& call, std::size_t)
      : value(RequestContext::of(call.exchange).find<Awaited<P>, P>()) {}
  bool is_made() const noexcept { return true; }
  Reply refuse() { return Reply(500); }  // never asked
  P take() { return std::move(*value); }
  std::size_t held_bytes(const Call& call) const { return parameter_bytes(*value, call.request); }
};
template <ByFromRequest P>
  requires(!is_awaited<P>)
struct Made<P> {
  std::optional<std::expected<P, Reply>> value;
  Made(const Call& call, std::size_t);
  bool is_made() const noexcept { return value->has_value(); }
  Reply refuse() { return std::move(value->error()); }
  P take() { return **std::move(value); }
  std::size_t held_bytes(const Call& call) const { return parameter_bytes(**value, call.request); }
};

template <class... P, std::size_t... index>
constexpr std::size_t paths_before(std::size_t limit, std::index_sequence<index...>) {
  return ((is_path<P> && index < limit ? std::size_t{1} : std::size_t{0}) + ... + 0);
}

// Returns the bytes of the made parameters while a function with them is suspended. A RequestLease
// among them charges these bytes for as long as it lives; then the result is 0. Empty: there is no
// memory for them.
template <class... P>
std::optional<std::size_t> bytes_of(std::tuple<Made<P>...>& made, const Call& call) {
  const std::size_t bytes =
      std::apply([&](const auto&... each) { return (each.held_bytes(call) + ... + 0u); }, made);
  if constexpr ((std::same_as<P, RequestLease> || ...)) {
    if (!std::get<Made<RequestLease>>(made).charge.grow(bytes)) return std::nullopt;
    return 0;
  }
  if (bytes <= parameter_bytes_granted || call.exchange.memory().takes(bytes)) return bytes;
  return std::nullopt;
}

// Calls f with its parameters made from the request, and on_result with the result of f, or with
// Nothing if that is void. If a parameter cannot be made, it calls `on_refused(reply)` instead. An
// on_result that also takes a number gets the bytes that the parameters hold while f is suspended.
template <class F, class... P, std::size_t... index, class OnResult, class OnRefused>
void call_with(const F& f, std::tuple<P...>*, [[maybe_unused]] std::index_sequence<index...> all,
               [[maybe_unused]] const Call& call, OnResult&& on_result, OnRefused&& on_refused) {
  std::tuple<Made<P>...> made{Made<P>(call, paths_before<P...>(index, all))...};
  if ((std::get<index>(made).is_made() && ...)) [[likely]] {
    using Returned = decltype(f(std::get<index>(made).take()...));
    constexpr bool may_suspend = std::is_invocable_v<OnResult, Returned, std::size_t>;
    [[maybe_unused]] std::optional<std::size_t> bytes = 0;
    if constexpr (may_suspend || (std::same_as<P, RequestLease> || ...)) {
      bytes = bytes_of(made, call);
      if (!bytes) [[unlikely]]
        return on_refused(refuse_for_memory());
    }
    if constexpr (may_suspend) {
      on_result(f(std::get<index>(made).take()...), *bytes);
    } else if constexpr (std::is_void_v<Returned>) {
      f(std::get<index>(made).take()...);
      on_result(Nothing{});
    } else {
      on_result(f(std::get<index>(made).take()...));
    }
    return;
  }
  // The first parameter that cannot be made determines the reply.
  (void)((std::get<index>(made).is_made() || (on_refused(std::get<index>(made).refuse()), false)) &&
         ...);
}
template <class Parameters, class F, class OnResult, class OnRefused>
void call_with(const F& f, const Call& call, OnResult&& on_result, OnRefused&& on_refused) {
  call_with(f, static_cast<Parameters*>(nullptr),
            std::make_index_sequence<std::tuple_size_v<Parameters>>(), call,
            std::forward<OnResult>(on_result), std::forward<OnRefused>(on_refused));
}

template <ByFromRequest P>
  requires(!is_awaited<P>)
Made<P>::Made(const Call& call, std::size_t) {
  using Return = typename WithoutTask<typename FromSignature<P>::Return>::Type;
  static_assert(
      std::same_as<typename ReturnedValue<Return>::Type, P>,
      "FromRequest<T>::from() returns T, Result<T>, Answer<T> or std::expected<T, Reply>, "
      "or a Task of one of them");
  call_with<typename FromSignature<P>::Parameters>(
      &FromRequest<P>::from, call,
      [&](Return&& result) { value.emplace(ReturnedValue<Return>::from(std::move(result))); },
      [&](Reply&& refused) { value.emplace(std::unexpected(std::move(refused))); });
}

// ---- the needs of a parameter list, for Router::build() ----

struct Need {
  enum class Kind : std::uint8_t { context, service };
  Kind kind;
  const registry::TypeInfo* type;
  bool (*is_registered)(const registry::Singletons&) = nullptr;  // of a service
};

template <class P>
struct NeedsOf {
  static void add_to(std::vector<Need>&) {}
};
template <class T>
struct NeedsOf<FromContext<T>> {
  static void add_to(std::vector<Need>& needs) {
    needs.push_back({Need::Kind::context, registry::type_info_of<T>()});
  }
};
template <class T>
struct NeedsOf<Inject<T>> {
  static void add_to(std::vector<Need>& needs) {
    needs.push_back(
        {Need::Kind::service, registry::type_info_of<T>(),
         [](const registry::Singletons& services) { return services.find<T>() != nullptr; }});
  }
};
template <class Parameters>
struct NeedsOfAll;
template <class... P>
struct NeedsOfAll<std::tuple<P...>> {
  static void add_to(std::vector<Need>& needs) { (NeedsOf<P>::add_to(needs), ...); }
};
// An awaited parameter adds nothing: the middleware that awaits it has its needs.
template <ByFromRequest P>
  requires(!is_awaited<P>)
struct NeedsOf<P> : NeedsOfAll<typename FromSignature<P>::Parameters> {};
template <class Parameters>
std::vector<Need> needs_of() {
  std::vector<Need> needs;
  NeedsOfAll<Parameters>::add_to(needs);
  return needs;
}

}  // namespace detail
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
