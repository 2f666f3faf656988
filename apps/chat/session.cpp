#include "apps/chat/session.hpp"

#include "katana/net/reactor/reactor.hpp"

namespace katana::chat {

ChatSession::ChatSession(ChatProtocol& protocol, net::Connection& connection, std::uint64_t number)
    : ChatClient(protocol, connection.outbox(), number, connection.reactor().now()),
      connection_(connection) {
  begin(connection.reactor().draining());
  if (!connection_.finishing()) update_deadline();
}

// ---- calls by the reactor ----------------------------------------------------------------------

std::size_t ChatSession::on_bytes(Bytes input) noexcept {
  const std::size_t consumed = read(input);
  update_deadline();
  return consumed;
}

void ChatSession::on_input_end() noexcept {
  // Paused, it has lines that were not read yet; it is told again when they are.
  if (!connection_.finishing() && !connection_.paused()) leave();
}

void ChatSession::on_writable() noexcept {
  if (!refill()) (void)connection_.output_full();
}

void ChatSession::on_deadline() noexcept {
  if (connection_.finishing()) return;
  if (end_throttle()) connection_.resume(net::PauseReason::throttled);
  meet_deadline();
  update_deadline();
}

void ChatSession::on_drain() noexcept { drain(); }

std::size_t ChatSession::on_memory_scarce() noexcept {
  if (shed()) return 0;
  const std::size_t going = queued_bytes();
  connection_.reset();
  return going;
}

// ---- what carries the talk ---------------------------------------------------------------------

void ChatSession::wait_for_relay() noexcept { connection_.pause(net::PauseReason::relay_full); }

void ChatSession::wait_for_rate() noexcept { connection_.pause(net::PauseReason::throttled); }

void ChatSession::finish(bool said) noexcept {
  connection_.finish(said ? net::Finish::linger : net::Finish::close);
  connection_.wake();
}

void ChatSession::on_backlog() noexcept {
  connection_.want_writable();
  connection_.wake();
}

void ChatSession::on_may_publish() noexcept {
  connection_.resume(net::PauseReason::relay_full);
  restart_deadline();
  connection_.wake_first();
}

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
