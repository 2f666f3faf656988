// WebSocket routes: which requests become WebSocket connections, and their handlers.
//
//   router.websocket("/echo", {.on_message = [](WebSocket& to, Bytes payload, MessageKind kind) {
//     to.send(payload, kind);
//   }});
//   router.websocket("/chat", [&](const RequestView& request) {
//     return std::make_unique<Chat>(topics, request.field("Cookie"));
//   });
//
// The routes are in the same table as all others. The middleware of their groups runs before the
// handshake, and may answer instead of it; `after` sees refusals, and not the 101. A handler's
// factory may take a value of middleware: [](FromContext<User> user) { … }.
//
// Owns       the function that makes handlers, or the callbacks.
// Thread     one object serves all reactors at once; a WebSocketHandler belongs to one.
// Fails      an invalid handshake is answered with a problem document: 400, 403, 405, 426.
#pragma once

#include <concepts>
#include <expected>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/system/function.hpp"
#include "katana/base/system/result.hpp"
#include "katana/http/handlers/handler.hpp"
#include "katana/http/session/websocket.hpp"
#include "katana/http/session/websocket_handle.hpp"

namespace katana {

using session::CloseCode;
using session::MessageKind;
using session::SendOutcome;
using session::WebSocket;
using session::WebSocketHandle;
using session::WebSocketHandler;

// The handshakes that a route accepts.
struct WebSocketRules {
  // Pages of all other hosts may connect. Use it only where nothing depends on cookies.
  bool any_origin = false;
  // The origins of other pages that may connect, as "https://example.org". Pages of the same host
  // always may.
  std::vector<std::string> origins = {};
  // The subprotocols of the route, the preferred one first; at most 64 bytes each.
  std::vector<std::string> subprotocols = {};
};

// A handler without state, for all connections of a route.
struct WebSocketCallbacks {
  // As those of WebSocketHandler; an empty one does nothing.
  std::function<void(WebSocket&)> on_open = {};
  std::function<void(WebSocket&, Bytes payload, MessageKind)> on_message = {};
  std::function<void(WebSocket&)> on_writable = {};
  std::function<void(WebSocket&, CloseCode, Bytes reason)> on_close = {};
};

namespace detail {

class WebSocketRoute : public Handler {
 public:
  explicit WebSocketRoute(WebSocketRules rules);
  std::string mistake() const override;
  void serve(session::Exchange& exchange, const Route& route,
             const RequestView& request) const override;

 protected:
  using Made = std::expected<std::unique_ptr<WebSocketHandler>, Reply>;
  virtual Made make(const Call& call) const = 0;

 private:
  const WebSocketRules rules_;
  std::vector<Bytes> origins_;  // of rules_
  std::vector<Bytes> subprotocols_;
};

template <class F>
concept TakesRequestView = requires(const F& f, const RequestView& request) {
  { f(request) } -> std::convertible_to<Result<std::unique_ptr<WebSocketHandler>>>;
};
template <class F>
concept MakesWebSocketHandlers =
    TakesRequestView<F> ||
    (HasSignature<F> &&
     std::convertible_to<typename Signature<F>::Return, Result<std::unique_ptr<WebSocketHandler>>>);

template <class F>
class WebSocketFactory final : public WebSocketRoute {
 public:
  WebSocketFactory(F f, WebSocketRules rules)
      : WebSocketRoute(std::move(rules)), f_(std::move(f)) {}

 private:
  static Made of(Result<std::unique_ptr<WebSocketHandler>> result) {
    if (!result) return std::unexpected(problem(result.error()));
    return *std::move(result);
  }
  Made make(const Call& call) const override {
    if constexpr (TakesRequestView<F>) {
      return of(f_(call.request));
    } else {
      Made made;
      call_with<typename Signature<F>::Parameters>(
          f_, call, [&](auto&& result) { made = of(std::move(result)); },
          [&](Reply&& refused) { made = std::unexpected(std::move(refused)); });
      return made;
    }
  }
  F f_;
};

std::unique_ptr<Handler> make_websocket_route(WebSocketCallbacks callbacks, WebSocketRules rules);

}  // namespace detail
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
