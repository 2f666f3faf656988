#include "katana/http/session/websocket_handle.hpp"

#include <string>

#include "katana/http/session/websocket_session.hpp"

namespace katana::session {

SendOutcome WebSocketHandle::send(Bytes payload, MessageKind kind) const {
  if (post_ == nullptr) return SendOutcome::closed;
  if (post_->is_here()) {
    WebSocketSession* const session = post_->find(slot_);
    return session != nullptr ? session->send(payload, kind) : SendOutcome::closed;
  }
  if (!is_sendable(payload, kind)) return SendOutcome::not_utf8;
  Batch& batch = frame_message(payload, kind);
  batch.block().share();
  const SendOutcome outcome = post_->post({.slot = slot_, .block = &batch.block()});
  batch.let_go();
  return outcome;
}

SendOutcome WebSocketHandle::close(CloseCode code, Bytes reason) const {
  if (post_ == nullptr) return SendOutcome::closed;
  if (post_->is_here()) {
    WebSocketSession* const session = post_->find(slot_);
    if (session == nullptr) return SendOutcome::closed;
    session->close(code, reason);
    return SendOutcome::sent;
  }
  return post_->post({.slot = slot_, .code = code, .reason = std::string(reason)});
}

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
