// WebSocketTalk: a client's side of an open WebSocket, on any protocol below it.
//
// Owns       the received messages.
// Thread     one.
// Fails      error() names what the server did that no server may do.
// Invariant  answers pings, and the server's close frame once. Nothing is sent behind its own.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "katana/wire/ws/frame.hpp"

namespace katana::simulation {

class WebSocketTalk {
 public:
  std::function<void(Bytes)> send_bytes;
  std::function<void(const std::string&)> on_message;

  void send(Bytes payload, ws::Opcode opcode = ws::Opcode::text, bool last = true) {
    if (close_sent_) return;
    std::string frame(ws::header_bytes_max, '\0');
    // A mask of zero: the payload is as it stands.
    char* const end = ws::write_header(frame.data(), opcode, last, false, payload.size(), true, 0);
    frame.resize(static_cast<std::size_t>(end - frame.data()));
    send_bytes(frame + std::string(payload));
  }
  void close(unsigned code) {
    send(std::string{static_cast<char>(code >> 8), static_cast<char>(code & 255)},
         ws::Opcode::close);
    close_sent_ = true;
  }

  void feed(Bytes bytes) {
    kept_ += bytes;
    for (;;) {
      const ws::Frame frame = ws::read_frame(kept_, false, false);
      if (frame.refusal != ws::Refusal::none) return fail("a frame that no server may send");
      if (frame.header_bytes == 0 || kept_.size() < frame.header_bytes + frame.length) return;
      const std::string payload = kept_.substr(frame.header_bytes, frame.length);
      kept_.erase(0, frame.header_bytes + frame.length);
      take(frame, payload);
    }
  }

  const std::vector<std::string>& messages() const { return messages_; }
  // For the server's close frame; 0: none came.
  unsigned closed() const { return closed_; }
  bool close_sent() const { return close_sent_; }
  unsigned pings() const { return pings_; }
  const std::string& error() const { return error_; }

 private:
  void fail(std::string what) {
    if (error_.empty()) error_ = std::move(what);
  }
  void take(const ws::Frame& frame, const std::string& payload) {
    if (closed_ != 0) return fail("a frame behind the close frame");
    if (!frame.last) return fail("a server that sends whole messages sent a fragment");
    switch (frame.opcode) {
      case ws::Opcode::text:
      case ws::Opcode::binary:
        messages_.push_back(payload);
        if (on_message) on_message(payload);
        break;
      case ws::Opcode::ping:
        ++pings_;
        send(payload, ws::Opcode::pong);
        break;
      case ws::Opcode::close:
        closed_ = payload.size() < 2 ? 1005
                                     : static_cast<unsigned char>(payload[0]) * 256u +
                                           static_cast<unsigned char>(payload[1]);
        if (!close_sent_) close(closed_ == 1005 ? 1000 : closed_);
        break;
      default: break;
    }
  }

  std::string kept_;
  std::vector<std::string> messages_;
  std::string error_;
  unsigned closed_ = 0;
  unsigned pings_ = 0;
  bool close_sent_ = false;
};

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
