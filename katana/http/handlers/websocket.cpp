#include "katana/http/handlers/websocket.hpp"

#include <fmt/format.h>

#include "katana/http/handlers/framework_problems.hpp"
#include "katana/http/session/websocket_upgrade.hpp"
#include "katana/wire/http/characters.hpp"

namespace katana::detail {
namespace {

class CallbackHandler final : public WebSocketHandler {
 public:
  explicit CallbackHandler(const WebSocketCallbacks& callbacks) noexcept : callbacks_(callbacks) {}
  void on_open(WebSocket& socket) override {
    if (callbacks_.on_open) callbacks_.on_open(socket);
  }
  void on_message(WebSocket& socket, Bytes payload, MessageKind kind) override {
    if (callbacks_.on_message) callbacks_.on_message(socket, payload, kind);
  }
  void on_writable(WebSocket& socket) override {
    if (callbacks_.on_writable) callbacks_.on_writable(socket);
  }
  void on_close(WebSocket& socket, CloseCode code, Bytes reason) override {
    if (callbacks_.on_close) callbacks_.on_close(socket, code, reason);
  }

  static void* operator new(std::size_t bytes) { return recycler::allocate(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept {
    recycler::release(memory, bytes);
  }

 private:
  const WebSocketCallbacks& callbacks_;  // of the route, which outlives its connections
};

class CallbackRoute final : public WebSocketRoute {
 public:
  CallbackRoute(WebSocketCallbacks callbacks, WebSocketRules rules)
      : WebSocketRoute(std::move(rules)), callbacks_(std::move(callbacks)) {}

 private:
  Made make(const Call&) const override { return std::make_unique<CallbackHandler>(callbacks_); }
  const WebSocketCallbacks callbacks_;
};

Reply handshake_problem(const session::Upgrade& refused) {
  switch (refused.status) {
    case 403: return problem(problem_types::origin_not_allowed, refused.detail);
    case 405: return problem(problem_types::method_not_served, refused.detail);
    case 426: return problem(problem_types::websocket_required, refused.detail);
    case 501: return problem(problem_types::not_implemented, refused.detail);
    case 503: return problem(problem_types::stopping, refused.detail);
    default: return problem(problem_types::malformed_handshake, refused.detail);
  }
}

}  // namespace

std::unique_ptr<Handler> make_websocket_route(WebSocketCallbacks callbacks, WebSocketRules rules) {
  return std::make_unique<CallbackRoute>(std::move(callbacks), std::move(rules));
}

WebSocketRoute::WebSocketRoute(WebSocketRules rules)
    : Handler(ContentWanted::no),
      rules_(std::move(rules)),
      origins_(rules_.origins.begin(), rules_.origins.end()),
      subprotocols_(rules_.subprotocols.begin(), rules_.subprotocols.end()) {}

std::string WebSocketRoute::mistake() const {
  for (const Bytes each : subprotocols_) {
    const bool is_token = !each.empty() && http::all_are(each, http::token_character);
    if (is_token && each.size() <= ws::subprotocol_bytes_max) continue;
    return fmt::format(
        "'{}' cannot be a subprotocol: give 1 to {} bytes without white space and "
        "separators (RFC 6455 §4.1)",
        each, ws::subprotocol_bytes_max);
  }
  return {};
}

void WebSocketRoute::serve(session::Exchange& exchange, const Route& route,
                           const RequestView& request) const {
  const session::UpgradeOptions options{
      .any_origin = rules_.any_origin, .origins = origins_, .subprotocols = subprotocols_};
  const session::Upgrade agreed = session::judge_upgrade(exchange, request.head(), options);
  if (agreed.status == 0) {
    auto handler = make({exchange, request, route.services});
    if (!handler) {
      send_reply(exchange, route, &request, std::move(handler.error()));
    } else if (!session::upgrade(exchange, agreed, *std::move(handler))) {
      send_reply(exchange, route, &request,
                 problem(problem_types::malformed_handshake,
                         "The connection ends with this request, or the request has content: "
                         "it cannot become a WebSocket connection."));
    }
    return;
  }
  Reply reply = handshake_problem(agreed);
  if (agreed.status == 426 || agreed.handshake.refusal == ws::HandshakeRefusal::other_version) {
    reply.add_field("Upgrade", "websocket");
    reply.add_field("Sec-WebSocket-Version", "13");
  }
  if (agreed.status == 405) reply.add_field("Allow", "GET");
  send_reply(exchange, route, &request, std::move(reply));
}

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
