// ChatSession: a talk on its own connection, whose bytes are the lines.
//
// Owns       the talk.
// Thread     its reactor's.
// Allocates  as the talk does.
// Fails      as the talk does; one that is given up is reset.
// Invariant  the connection is paused while the talk waits.
#pragma once

#include "apps/chat/chat_client.hpp"
#include "katana/net/reactor/connection.hpp"
#include "katana/net/reactor/session.hpp"

namespace katana::chat {

class ChatSession final : public net::Session, private ChatClient {
 public:
  // `number` is 0 for a connection above the limit.
  ChatSession(ChatProtocol& protocol, net::Connection& connection, std::uint64_t number);
  ~ChatSession() override { cease(); }

  std::size_t on_bytes(Bytes input) noexcept override;
  void on_input_end() noexcept override;
  void on_writable() noexcept override;
  void on_deadline() noexcept override;
  void on_drain() noexcept override;
  std::size_t held_bytes() const noexcept override { return queued_bytes(); }
  std::size_t on_memory_scarce() noexcept override;

 private:
  // ---- Member ----
  void on_output() noexcept override { connection_.wake(); }
  void on_backlog() noexcept override;
  void on_may_publish() noexcept override;
  // ---- ChatClient ----
  Instant now() const noexcept override { return connection_.reactor().now(); }
  bool paused() const noexcept override { return connection_.paused(); }
  bool ending() const noexcept override { return connection_.finishing(); }
  void wait_for_relay() noexcept override;
  void wait_for_rate() noexcept override;
  void finish(bool said) noexcept override;
  void give_up() noexcept override { connection_.reset(); }
  void note_reply() noexcept override { (void)connection_.output_full(); }

  void update_deadline() noexcept { connection_.set_deadline(deadline()); }

  net::Connection& connection_;
};

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
