#include "katana/http/session/websocket_upgrade.hpp"

#include <array>
#include <utility>

#include "katana/http/session/websocket_connection.hpp"

namespace katana::session {

Upgrade judge_upgrade(Exchange& exchange, const http::Head& head,
                      const UpgradeOptions& options) noexcept {
  WebSocketShare* const share = exchange.websockets();
  if (share == nullptr) return {501, "WebSocket is not served on this connection."};
  if (exchange.reactor().draining()) {
    ++share->counters().handshakes_refused;
    return {503, "The server is stopping: connect again."};
  }
  const ws::DeflateOptions& deflate = share->options().deflate;
  const Client client = exchange.client(head);
  const ws::HandshakeOptions wanted{
      .origins = options.any_origin ? ws::Origins::any : ws::Origins::same_host,
      // A proxy may have replaced Host.
      .host = exchange.arrival().from_proxy() ? client.host : Bytes(),
      .is_secure = client.is_secure(),
      .more_origins = options.origins,
      .subprotocols = options.subprotocols,
      .on_stream = exchange.upgrades_stream(),
      .deflate_window_bits = deflate.enabled ? deflate.window_bits : 0};
  Upgrade judged{.handshake = ws::judge_handshake(head, wanted)};
  if (judged.handshake.refusal == ws::HandshakeRefusal::none) return judged;
  ++share->counters().handshakes_refused;
  const ws::HandshakeRefusalText& text = ws::text_of(judged.handshake.refusal);
  // HTTP/2 has no Upgrade, and 426 means nothing without it (RFC 9110 §15.5.22).
  judged.status = wanted.on_stream && text.status == 426 ? 400 : text.status;
  judged.detail = text.sentence;
  return judged;
}

bool upgrade(Exchange& exchange, const Upgrade& agreed, std::unique_ptr<WebSocketHandler> handler) {
  std::array<char, ws::answer_bytes_max> fields;
  const bool on_stream = exchange.upgrades_stream();
  const char* const end = on_stream ? ws::write_stream_answer(fields.data(), agreed.handshake)
                                    : ws::write_answer(fields.data(), agreed.handshake);
  const http::ReplyHead head{
      .status = on_stream ? 200u : 101u,
      .content_type = {},
      .fields = {fields.data(), static_cast<std::size_t>(end - fields.data())}};
  const ExchangeContext* const context = exchange.context();
  WebSocketTerms terms{
      .window_bits = agreed.handshake.window_bits,
      .request = UpgradeRequest::make(agreed.handshake.subprotocol, exchange.route(),
                                      context != nullptr ? context->name : Bytes(),
                                      context != nullptr ? context->trace : Bytes(),
                                      exchange.reactor().now())};
  return exchange.upgrade(head, std::make_unique<WebSocketReplacement>(
                                    *exchange.websockets(), std::move(terms), std::move(handler)));
}

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
