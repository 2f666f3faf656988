// Hub: the rooms of one reactor: frames each message once, and lets every recipient refer to it.
//
// Messages in a room within a turn are gathered into a draft. When all input of the turn has
// arrived, the draft is sealed into a batch (batch.hpp). Every member's outbox refers to the batch,
// except for the parts that the member has said itself. Each member costs one reference and one
// gathered send, without a copy. Hubs of other reactors with members in the room get the batch
// through a relay (relay.hpp).
//
//   publish ──> draft ──flush──> batch ──┬─> outbox ──────────> sent
//                                        ├─> backlog ──refill─> outbox   the reader is slow
//                                        └─> relay ──> hub of another reactor
//
// Slow readers: the outbox takes window_bytes, the backlog the rest up to queue_bytes_max in all.
// Beyond it, SlowReader decides. Either the oldest batches of the backlog are dropped and the
// member is told the number of messages, or the member is disconnected. Other members do not
// notice. The messages for a member in one turn, from all reactors, are smaller than its queue: a
// member that reads loses nothing.
//
// Owns       drafts, and batches until their recipients have them.
// Borrows    members, from join() to remove(); the directory; the turn; the history and the client
//            of other servers, if there are any.
// Thread     its reactor's.
// Allocates  blocks for batches, from the recycler; backlogs.
// Fails      std::bad_alloc, as everything that grows.
// Invariant  each message of a member reaches every recipient in order, whole and once, or is
//            counted as dropped for that recipient. A batch lies in one block, whatever the number
//            of recipients. A message goes to all members that have joined when it is said; members
//            join and leave between batches. With notices, the others are told of it, but not of a
//            member that is disconnected because it reads too slowly.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "apps/chat/counters.hpp"
#include "apps/chat/directory.hpp"
#include "apps/chat/history.hpp"
#include "apps/chat/member.hpp"
#include "apps/chat/neighbours.hpp"
#include "apps/chat/relay.hpp"
#include "katana/base/coroutine/executor.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::chat {

// The choice of what to drop when a member's queue is full.
enum class SlowReader : std::uint8_t {
  drop,        // its oldest messages
  disconnect,  // it
};

// The least that Options::queue_bytes_max may be.
inline constexpr std::size_t queue_bytes_min = 64 * 1024;
// The most that fit_queue() makes a turn, and a send, of.
inline constexpr std::size_t turn_bytes_most = 256 * 1024;

// Receives events for operators. Calls come from reactors.
class Observer {
 public:
  // A reader that kept up so far does so no more. Not said again before it has caught up.
  virtual void on_slow_reader(std::uint64_t number, SlowReader policy) noexcept = 0;
  virtual void on_turned_away() noexcept = 0;

 protected:
  ~Observer() = default;
};

// The options of each of the hubs that are connected; objects that they refer to are borrowed.
struct HubOptions {
  SlowReader slow_reader = SlowReader::drop;  // when queue_bytes_max is reached
  // The most bytes for one member, outbox and backlog together.
  std::size_t queue_bytes_max = 4 * turn_bytes_most;
  // The part of them that the outbox refers to, which can no longer be dropped. It is sent in one
  // gathered send, which is cheapest when it takes a whole turn. At most a quarter.
  std::size_t window_bytes = turn_bytes_most;
  // The most bytes said in one turn; half of it by this reactor's members if there are other
  // reactors. The rest waits for the next turn: messages are then sent before more is read. At most
  // a quarter of the queue. A member that has not read for a moment then loses nothing of the next
  // turns.
  std::size_t turn_bytes_max = turn_bytes_most;
  std::size_t line_bytes_max = 8 * 1024;
  // On their way from one reactor to another.
  std::uint32_t relay_batches_max = 256;  // a power of two
  // True: members of a room are told when others join and leave.
  bool notices = false;
  Observer* observer = nullptr;
  // The last messages in each room, of all hubs; null: members are not told.
  History* history = nullptr;
  // Null: there are no other servers.
  NameAuthority* names = nullptr;

  // A queue of `bytes`, and what belongs to it.
  void fit_queue(std::size_t bytes) noexcept;
};

// The result of a request for a name.
enum class Naming : std::uint8_t {
  given,    // the member has it
  taken,    // it is taken, or must not be taken
  pending,  // the other servers are asked; Member::on_name_decided() follows
};

// An order that another thread gives to a hub.
struct HubOrder {
  // The action of an order, and the members that it reads.
  enum class Kind : std::uint8_t {
    miss,         // `count` messages of other servers in `room` will not come
    decide_name,  // decides the claim `count`: `name`, given if `granted`
    lose_name,    // the member with `name` loses it
    renumber,     // numbers of the slot `count` are of the slot `other`, of `stride` slots
    recall,       // `name` has `count` lines of the history of `room`
  };
  Kind kind = Kind::miss;    // the kind defines the other fields
  RoomKey room = {};         // miss, recall: whose members are told
  std::uint64_t count = 0;   // messages, the token of a claim, or a slot
  std::uint64_t other = 0;   // renumber: the slot that they have now
  std::uint64_t stride = 0;  // renumber: of numbers from one connection to the next
  bool granted = false;      // decide_name: no other member has it
  std::string name = {};     // a name, or lines of the history
};

// The services of the reactor that a hub needs.
class Turn {
 public:
  // Runs the message once everything that this turn brings has arrived.
  virtual void defer(Message& message) noexcept = 0;
  // From any thread.
  virtual void post(Message& message) noexcept = 0;
  // Where queues are charged; null: nowhere.
  virtual HeldMemory* memory() noexcept { return nullptr; }

 protected:
  ~Turn() = default;
};

class Hub {
 public:
  // The hub of reactor number `index`.
  Hub(const HubOptions& options, Directory& directory, unsigned index, Turn& turn);
  ~Hub();
  Hub(const Hub&) = delete;
  Hub& operator=(const Hub&) = delete;

  // Relays between every two of them. Before any reactor runs; hubs are then destroyed when none
  // does any more.
  static void connect(const std::vector<Hub*>& hubs);
  // From here on the hub posts nothing, and drops what others send. REQUIRED of every hub when the
  // reactors have stopped, before the first of them is destroyed.
  void stop() noexcept;

  // ---- members ----
  // Moves the member from where it is, if it is anywhere. False: it would be one room too many, and
  // the member stays where it is.
  bool join(Member& member, Bytes room);
  Naming rename(Member& member, Bytes name);
  // Gives the member the last messages of a room with a history, if they are known. After join().
  void recall(Member& member);
  // Takes the member out of its room: nothing more is promised to it.
  void leave(Member& member) noexcept;
  // The member is about to be destroyed. Messages that its outbox or its backlog still has are
  // counted as lost.
  void remove(Member& member, Loss why) noexcept;

  // ---- messages ----
  // False: the member has said its share of this turn (fair_turn.hpp), or other reactors are
  // behind. on_may_publish() follows if wait_to_publish() was called.
  bool may_publish(const Member& member) const noexcept {
    return fair_turn_.allows(member) && overflow_batches_ == 0;
  }
  void wait_to_publish(Member& member) noexcept { fair_turn_.wait(member); }
  // To all others in the member's room. REQUIRES it to be in one, and a text of at most
  // line_bytes_max.
  void publish(Member& member, Bytes text);

  // Turns the drafts into batches now.
  void flush() noexcept;
  // The same, with all batches that other reactors have handed over: members are about to end.
  void flush_for_end() noexcept;
  // The outbox of the member has room: moves there as much as fits. False: the reactor has no
  // output blocks.
  bool refill(Member& member) noexcept;
  // Moves all of the backlog, whatever the window: the connection ends once it is sent. Messages
  // for which there is no output block are counted as lost.
  void refill_for_end(Member& member, Loss otherwise) noexcept;

  // ---- other servers ----
  // Before any reactor runs. Borrowed.
  void set_tap(BatchTap& tap) noexcept { tap_ = &tap; }
  // From any thread: is done on the hub's, in order.
  void order(HubOrder order);
  // To the members of all other hubs. REQUIRES lines of `batch`, and may_pass_on().
  void pass_on(const Relayed& relayed) { relay(relayed); }
  // The other hubs are not far behind.
  bool may_pass_on() const noexcept { return overflow_batches_ < options_.relay_batches_max; }

  // ---- for when memory is scarce ----
  // The bytes of batches, and of the list of them, that the member's queue keeps.
  static std::size_t queued_bytes(const Member& member) noexcept {
    // A block that the outbox refers to a part of is at most twice that part.
    return 2 * member.outbox_.pending() + member.backlog_.charged_bytes();
  }
  // Drops all of the member's backlog, as that of a slow reader. False: it has none.
  bool drop_for_memory(Member& member) noexcept;

  // The one that all hubs of the server share.
  Directory& directory() noexcept { return directory_; }
  // Written on its reactor's thread, read from any.
  HubCounters& counters() noexcept { return counters_; }
  // The options of construction; any thread.
  const HubOptions& options() const noexcept { return options_; }
  // The index of its reactor, from 0 on; a bridge's is behind those.
  unsigned index() const noexcept { return index_; }

 private:
  static constexpr std::uint32_t no_span = UINT32_MAX;

  // A line in a draft.
  struct Span {
    std::uint32_t begin;
    std::uint32_t end;
    std::uint32_t next_of_member;
  };
  // The messages in a room since the last batch.
  struct Draft {
    std::uint64_t number = 0;  // the number of this use; no two drafts have the same
    RoomKey room;
    std::size_t size = 0;
    std::vector<Span> spans;
    std::unique_ptr<char[]> bytes;
  };
  struct LocalRoom {
    std::uint32_t generation = 0;
    std::vector<Member*> members;
    std::unique_ptr<Draft> draft;
  };
  struct FlushMessage : Message {
    explicit FlushMessage(Hub& owner) noexcept;
    Hub& hub;
  };
  struct OrdersBell : Message {
    explicit OrdersBell(Hub& owner) noexcept;
    Hub& hub;
  };
  struct Outgoing {
    Hub* to;
    std::unique_ptr<Relay> relay;
    std::vector<Relayed> overflow;  // bounded by what one turn may say
  };
  struct Incoming {
    Hub* from;
    Relay* relay;
    std::size_t taken_bytes;  // in this turn
  };

  LocalRoom& local(RoomKey room);
  Draft& draft_for(Member& member, std::size_t bytes);
  std::size_t put_line(Member& member, Bytes prefix, Bytes text);
  void announce(Member& member, Bytes what);
  void seal(LocalRoom& room);
  void deliver(LocalRoom& room, Batch& batch, const Draft& own);
  void deliver_relayed(const Relayed& relayed, Batch& batch);
  void deliver_around_own(Member& member, Batch& batch, const Draft& draft);
  void deliver_copy(Member& member, Batch& batch, const Draft& draft);
  void promise(Member& member, Batch& batch, std::uint32_t begin, std::uint32_t size,
               std::uint32_t messages);
  bool refer(Member& member, Batch& batch, std::uint32_t begin, std::uint32_t size,
             std::uint32_t messages) noexcept;
  void queue(Member& member, Batch& batch, std::uint32_t begin, std::uint32_t size,
             std::uint32_t messages);
  void limit_queue(Member& member) noexcept;
  std::uint64_t drop_backlog(Member& member, Loss why) noexcept;
  void note_backlog(Member& member, std::size_t bytes_before) noexcept;
  void drop_oldest(Member& member, std::size_t bytes_max) noexcept;
  void note_sent(Member& member) noexcept;
  bool report_gap(Member& member) noexcept;
  void detach(Member& member) noexcept;
  void let_publish() noexcept;
  void relay(const Relayed& relayed);
  void push_overflow() noexcept;
  // Takes as many batches of the relay as this turn has room for.
  void take_from(Relay& relay, bool all) noexcept;
  void ask_those_left() noexcept;
  void flush_this_turn() noexcept;
  void on_relay_writable() noexcept;
  LocalRoom* find_room(RoomKey room) noexcept;
  void take_name(Member& member, Bytes name);
  void lose_name(Bytes name);
  void call_by_number(Member& member);
  void run_orders() noexcept;
  void run(const HubOrder& order);
  void decide_name(const HubOrder& order);
  void miss(const HubOrder& order);
  void renumber(const HubOrder& order);
  void recall(const HubOrder& order);

  const HubOptions options_;
  Directory& directory_;
  const unsigned index_;
  Turn& turn_;
  HubCounters counters_;
  std::vector<LocalRoom> rooms_;  // by RoomKey::place
  std::vector<RoomKey> drafted_;  // rooms that have had a draft since the last flush
  std::vector<std::unique_ptr<Draft>> spare_drafts_;
  std::uint64_t draft_number_ = 0;
  std::size_t draft_bytes_max_;
  FairTurn fair_turn_;
  // The bytes taken from other reactors in this turn, at most fair_turn_.bytes_max(). Each relay
  // that had more than the last turn held gets the same share of them.
  std::size_t taken_bytes_ = 0;
  std::size_t relay_share_bytes_ = SIZE_MAX;
  bool flush_due_ = false;
  bool stopped_ = false;
  FlushMessage flush_message_{*this};
  std::vector<Outgoing> outgoing_;
  std::vector<Incoming> incoming_;
  std::vector<Relay*> left_for_next_turn_;  // with batches that are not announced
  std::size_t overflow_batches_ = 0;
  BatchTap* tap_ = nullptr;
  struct Wish {
    Member* member = nullptr;
    std::string name;
  };
  std::map<std::uint64_t, Wish> wishes_;  // for names, by claim
  std::uint64_t last_claim_ = 0;
  OrdersBell orders_doorbell_{*this};
  std::mutex orders_mutex_;  // guards what follows
  std::vector<HubOrder> orders_;
  bool orders_stopped_ = false;
};

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
