// Member: a connection as its hub sees it: its name, its room, and the messages that it has to
// receive.
//
// Owns       its backlog.
// Borrows    its outbox, which outlives it.
// Thread     its reactor's.
// Allocates  its prefix, when it is named.
// Invariant  promised messages are in the outbox first, then in the backlog. Only the backlog can
//            be dropped from.
#pragma once

#include <cstdint>
#include <string>

#include "apps/chat/backlog.hpp"
#include "apps/chat/counters.hpp"
#include "apps/chat/directory.hpp"
#include "apps/chat/fair_turn.hpp"
#include "katana/base/memory/outbox.hpp"

namespace katana::chat {

class Member : private Sender {
 public:
  Member(std::uint64_t number, Outbox& outbox)
      : outbox_(outbox), number_(number), prefix_("[USER" + std::to_string(number) + "] ") {}
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  // The n of USERn; Hub::order() may give it another (HubOrder::Kind::renumber).
  std::uint64_t number() const noexcept { return number_; }
  // "USER12", or the name that the client has chosen.
  Bytes name() const noexcept { return Bytes(prefix_).substr(1, prefix_.size() - 3); }
  RoomKey room() const noexcept { return room_; }
  bool has_name() const noexcept { return named_; }
  // The messages for this member that wait for room in the outbox.
  const Backlog& backlog() const noexcept { return backlog_; }
  // The number of messages dropped from the backlog of which it has not been told yet.
  std::uint64_t gap() const noexcept { return gap_; }
  // It has asked for a name, and the other servers have not answered yet.
  bool claims_name() const noexcept { return claim_ != 0; }

 protected:
  ~Member() = default;

  // Something stands in the outbox: it is to be sent before the turn ends.
  virtual void on_output() noexcept = 0;
  // The hub wants Hub::refill() to be called once the outbox is empty.
  virtual void on_backlog() noexcept = 0;
  // It read too slowly, and is no member any more: it is to be told, and its connection to end.
  virtual void on_too_slow(std::uint64_t messages_dropped) noexcept = 0;
  // Hub::may_publish() has become true. Among several, the one that has waited longest is told
  // last: who has itself read in front of others here is read in order.
  virtual void on_may_publish() noexcept = 0;
  // The other servers have answered: it has the name that it asked for, or not.
  virtual void on_name_decided(Bytes /*name*/, bool /*given*/) noexcept {}
  // Another server gave its number, or its name, before: it is called otherwise from here on.
  virtual void on_renamed(Bytes /*before*/) noexcept {}
  // When all have been told, in order: for a member that has its lines at hand.
  virtual void on_turn() noexcept {}
  // Puts promised lines into the outbox, in the form that the member takes: whole lines, part of a
  // batch or not. False: there is no room, and nothing was written.
  virtual bool put(Bytes lines, Batch& batch) noexcept { return outbox_.refer(lines, batch); }
  virtual bool put(Bytes lines) noexcept { return outbox_.write(lines); }

 private:
  friend class Hub;
  static constexpr std::uint32_t nowhere = UINT32_MAX;

  Outbox& outbox_;
  Backlog backlog_;
  std::size_t held_ = 0;             // by the list of the backlog, charged to the reactor's memory
  std::uint64_t sent_messages_ = 0;  // referred to by the outbox since it was last empty
  std::uint32_t references_ = 0;     // references in the outbox since it was last empty
  // Its messages in the room's present draft.
  std::uint32_t first_span_ = 0;
  std::uint32_t last_span_ = 0;
  std::uint64_t draft_number_ = 0;
  std::uint32_t index_ = nowhere;  // in its room
  RoomKey room_;
  std::uint64_t gap_ = 0;
  std::uint64_t missed_ = 0;         // lost between servers, and it has not been told yet
  std::uint64_t claim_ = 0;          // 0: it asks for no name
  std::uint64_t history_until_ = 0;  // it has had the room's history up to this number
  std::uint64_t number_;
  std::string prefix_;  // "[USER12] "
  bool named_ = false;
};

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
