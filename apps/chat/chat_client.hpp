// ChatClient: one client of the chat, whatever transport carries its lines. It executes the
// client's lines, and delivers to the client the messages that its reactor's hub has for this
// member.
//
// Owns       the machine and the member.
// Borrows    the outbox of its connection, which outlives it.
// Thread     its reactor's.
// Allocates  its prefix; otherwise as the hub does.
// Fails      a connection above the limit gets a message and is ended. A connection whose reply
//            finds no room is given up.
// Invariant  a line of the client counts from the moment at which it is complete. A reply to a
//            command may come before messages that wait for room.
//
// A client sees the lines of others as "[NAME] text". Lines that begin with "* " are the server's.
// Lines that begin with "! " say why the client's own line was not accepted.
#pragma once

#include <algorithm>

#include "apps/chat/member.hpp"
#include "apps/chat/protocol.hpp"
#include "apps/chat/wire/machine.hpp"

namespace katana::chat {

class ChatClient : protected Member {
 public:
  ChatClient(const ChatClient&) = delete;
  ChatClient& operator=(const ChatClient&) = delete;

 protected:
  // `number` is 0 for a connection above the limit.
  ChatClient(ChatProtocol& protocol, Outbox& outbox, std::uint64_t number, Instant now);
  ~ChatClient() = default;

  // ---- what carries it ----
  virtual Instant now() const noexcept = 0;
  // No line is read at present.
  virtual bool paused() const noexcept = 0;
  virtual bool ending() const noexcept = 0;
  // read() is not called again before on_may_publish() is.
  virtual void wait_for_relay() noexcept = 0;
  // … before end_throttle() is, at deadline().
  virtual void wait_for_rate() noexcept = 0;
  // The connection ends when everything is sent. `said`: a last line may be on its way.
  virtual void finish(bool said) noexcept = 0;
  // A reply has found no room: nothing sensible can be sent any more.
  virtual void give_up() noexcept = 0;
  // A reply stands in the outbox: who does not take replies may not ask for more.
  virtual void note_reply() noexcept = 0;

  // ---- what it does with it ----
  // Once: joins the lobby, or is turned away, or told that the server stops.
  void begin(bool draining);
  // Obeys the lines in `input`, and returns how many bytes are done with.
  std::size_t read(Bytes input) noexcept;
  // The client sends no more.
  void leave() noexcept;
  // There is room: moves there what waits. False: the reactor has no output blocks.
  bool refill() noexcept { return hub().refill(*this); }
  void drain() noexcept;
  // The number of bytes that are queued for this client.
  std::size_t queued_bytes() const noexcept { return Hub::queued_bytes(*this); }
  // Gives up the backlog. False: there is none, and the connection is to be reset.
  bool shed() noexcept;
  // REQUIRED in the destructor of what carries it: the hub may still have to say something.
  void cease() noexcept;
  // Its deadline has come, or not yet.
  void meet_deadline() noexcept;
  // True: the wait for the rate is over.
  bool end_throttle() noexcept;
  void restart_deadline() noexcept { machine_.restart_deadline(now()); }
  Instant deadline() const noexcept { return std::min(machine_.deadline(), throttled_until_); }

  void on_too_slow(std::uint64_t messages_dropped) noexcept override;
  void on_name_decided(Bytes name, bool given) noexcept override;
  void on_renamed(Bytes before) noexcept override;

 private:
  bool may_go_on() noexcept;
  bool is_within_rate() noexcept;
  void obey(const Step& step) noexcept;
  void join(Bytes room);
  void list_members_to(Bytes room);
  void rename(Bytes name);
  void tell_name(Bytes name, bool given) noexcept;
  void refuse(Bytes why) noexcept;
  // REQUIRES whole lines.
  void reply(Bytes lines) noexcept;
  // The connection ends once everything that was promised is sent.
  void end(Bytes last_line, Loss otherwise) noexcept;
  Hub& hub() noexcept { return protocol_.hub(); }

  ChatProtocol& protocol_;
  Machine machine_;
  // A line may be read while this time is at most the burst ahead of the present. Each line moves
  // it on by the line's share of a second.
  Instant rate_mark_{};
  Instant throttled_until_ = never;
  Loss loss_ = Loss::left;  // the kind of loss of promises that are not kept
};

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
