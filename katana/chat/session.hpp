// ChatSession: the chat machine on a connection, and a member of its reactor's hub.
//
// Owns       the machine and the member.
// Thread     its reactor's.
// Allocates  its prefix; else as the hub does.
// Fails      a connection above the limit is told so and ended; one whose reply finds no output
//            block is reset.
// Invariant  what it says counts from the moment that its line is complete. A reply to a command
//            may come before messages that wait for room.
//
// What a client sees, beside "[NAME] text" of others: lines that begin with "* " are the server's,
// those that begin with "! " say why a line of its own was not accepted.
#pragma once

#include "katana/chat/member.hpp"
#include "katana/chat/protocol.hpp"
#include "katana/core/connection.hpp"
#include "katana/core/session.hpp"
#include "katana/wire/chat/machine.hpp"

namespace katana::chat {

class ChatSession final : public core::Session, private Member {
 public:
  // `number` is 0 for a connection above the limit.
  ChatSession(ChatProtocol& protocol, core::Connection& connection, std::uint64_t number);
  ~ChatSession() override;

  std::size_t on_bytes(Bytes input) noexcept override;
  void on_input_end() noexcept override;
  void on_room() noexcept override;
  void on_deadline() noexcept override;
  void on_drain() noexcept override;

 private:
  // ---- Member ----
  void on_output() noexcept override { connection_.wake(); }
  void on_backlog() noexcept override;
  void on_too_slow(std::uint64_t messages_dropped) noexcept override;
  void on_may_publish() noexcept override;

  bool may_go_on() noexcept;
  bool is_within_rate() noexcept;
  void obey(const Step& step) noexcept;
  void join(Bytes room);
  void tell_who(Bytes room);
  void rename(Bytes name);
  void refuse(Bytes why) noexcept;
  // REQUIRES whole lines.
  void reply(Bytes lines) noexcept;
  // The connection ends once everything that was promised is sent.
  void end(Bytes last_line, Loss otherwise) noexcept;
  void update_deadline() noexcept;
  Instant now() const noexcept { return connection_.reactor().now(); }
  Hub& hub() noexcept { return protocol_.hub(); }

  ChatProtocol& protocol_;
  core::Connection& connection_;
  Machine machine_;
  // A line may be read when this is no more than the burst ahead of the present; each moves it on
  // by its share of a second.
  Instant rate_mark_{};
  Instant throttled_until_ = never;
  Loss loss_ = Loss::left;  // what becomes of promises that are not kept
};

}  // namespace katana::chat
