// Bridge: takes messages of this server to the others of its chat over the bus, and back.
//
//   hub ──relay──> the bridge's hub ──> Bus "chat.room.lobby" ──> bridge of another server
//                                                                    │ relays
//                                        members <── hubs <──────────┘
//
//   PREFIX.room.ROOM   what is said in a room; servers that have members in it subscribe
//   PREFIX.all         frames for all (frame.hpp)
//   PREFIX.to.ID       frames for one server
//
// A batch goes out as it was framed. The block that the recipients here have is the payload, and
// one message serves all servers. A message that comes in is given to the members here like a batch
// of another reactor, within the same bounds. It waits in relays. Messages that the relays cannot
// take are counted as missed, and the members are told.
//
// Owns       its hub, its node, and its knowledge of other servers.
// Borrows    the bus, the directory and the history, which outlive it; its reactor, from attach()
//            to end(); the hubs.
// Thread     its reactor's; claim(), release() and counters() any.
// Allocates  for control frames; a block for small messages that come in.
// Fails      std::bad_alloc. Messages that the bus does not take are counted, and the other servers
//            report them as missed.
// Invariant  the messages of one member are published in their order, and given to members here in
//            the order of their server. A message of this server does not come back.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/chat/cluster/node.hpp"
#include "apps/chat/hub.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/stores/bus/bus.hpp"

namespace katana::chat::cluster {

// Receives events for operators, on the bridge's reactor.
class BridgeObserver {
 public:
  // `missing_s` above 0: it is back, and was not heard for so long.
  virtual void on_server_came(Bytes name, double missing_s) noexcept = 0;
  virtual void on_server_went(Bytes name, bool was_told) noexcept = 0;
  virtual void on_numbers_moved(std::uint16_t before, std::uint16_t now) noexcept = 0;
  virtual void on_slot_twice(Bytes name, std::uint16_t slot) noexcept = 0;
  virtual void on_missed(Bytes room, std::uint64_t messages, Bytes why) noexcept = 0;
  virtual void on_not_published(std::uint64_t messages, const Error& why) noexcept = 0;
  virtual void on_subscription_failed(Bytes subject, const Error& why) noexcept = 0;
  virtual void on_bus_notice(Bytes what) noexcept = 0;

 protected:
  ~BridgeObserver() = default;
};

// Fixed when the Bridge is made.
struct BridgeOptions {
  ClusterOptions cluster = {};         // its id, name and slot, and how long it waits
  std::string prefix = "chat";         // prefix of its subjects: separates chats on one bus
  BridgeObserver* observer = nullptr;  // borrowed; null: not told
};

// Since it was made; read from any thread.
struct BridgeCounters {
  Count published;          // messages of members here, once each
  Count published_batches;  // messages of the bus that these were
  Count published_bytes;    // their payloads, without headers
  Count not_published;      // messages that the bus did not take
  Count received;           // messages of members elsewhere, once each
  Count received_batches;   // messages of the bus that these were
  Count received_bytes;     // their payloads, without headers
  Count overflowed;         // the part of these for which the reactors here were too far behind
  Count copied;             // batches that came in blocks much larger than they are
  Count malformed;          // messages of the bus that are none of a chat
  Count histories;          // requests to other servers
};

class Bridge final : public NameAuthority, private NodeHost, private BatchTap, private Turn {
 public:
  // `index`: of its hub, behind those of the reactors.
  Bridge(const BridgeOptions& options, bus::Bus& bus, Directory& directory,
         const HubOptions& hub_options, unsigned index);
  ~Bridge();

  // Has no members: relays lead from it to the hubs of the reactors, and back.
  Hub& hub() noexcept { return hub_; }
  // The hubs of the reactors, by index. Its reactor is the first one's. Before any runs.
  void attach(net::Reactor& reactor, const std::vector<Hub*>& hubs);
  // Subscribes, and says that this server is there. On its reactor's thread, or before any runs.
  // The others are told that it stops once the reactor drains and all members have left.
  Result<void> start();
  // REQUIRED when the reactors have stopped, before the first of them is destroyed.
  void end() noexcept;

  // The counters of this server's node; read from any thread.
  NodeCounters& node_counters() noexcept { return node_.counters(); }
  // For the bus; any thread.
  BridgeCounters& counters() noexcept { return counters_; }
  // The number that this server has now, 0 to 999. Its reactor's thread.
  std::uint16_t slot() const noexcept { return node_.slot(); }
  // The members on the other servers. On the reactor's thread, except add_to().
  const Roster& roster() const noexcept { return roster_; }
  // Messages of the room that another server is known to have published: each was given to the
  // members here, or told as missed. Its reactor's thread.
  IncomingStreams::Heard heard(NodeId node, Bytes room) const { return node_.heard(node, room); }

  // ---- NameAuthority ----
  void claim(unsigned hub, std::uint64_t token, Bytes name) override;
  void release(Bytes name) override;

 private:
  struct Alarm : net::TimerEntry {
    explicit Alarm(Bridge& owner) noexcept;
    Bridge& bridge;
  };
  struct Doorbell : Message {
    explicit Doorbell(Bridge& owner) noexcept;
    Bridge& bridge;
  };
  struct Room {
    std::string name;
    RoomKey key;
    bus::Subscription subscription;
    bool outward = false;
    bool history_asked = false;
    // The number of the last entry in the room's history when the bridge began to tell others. No
    // stream has the entries up to it.
    std::uint64_t untold = UINT64_MAX;
  };
  // The room that a key of the directory stands for, or stood for lately. The last messages of a
  // room that has ended may still be on their way from another reactor.
  struct Place {
    std::string name;
    std::string subject;
  };
  struct Wish {
    std::uint64_t token = 0;  // 0: the name is given back
    std::string name;
  };
  using Rooms = std::map<std::string, Room, std::less<>>;

  // ---- Turn ----
  void defer(Message& message) noexcept override { reactor_->defer(message); }
  void post(Message& message) noexcept override { reactor_->post(message); }
  HeldMemory* memory() noexcept override { return &reactor_->memory(); }
  // ---- BatchTap ----
  void on_relayed(const Relayed& relayed, Batch& batch) override;
  // ---- NodeHost ----
  void broadcast(Bytes frame) override;
  void send(NodeId to, Bytes frame) override;
  void watch(Bytes room) override;
  void unwatch(Bytes room) override;
  void set_outward(Bytes room) override;
  void on_missed(Bytes room, std::uint64_t messages) override;
  void on_claim_decided(std::uint64_t token, Bytes name, bool granted) override;
  void on_name_lost(Bytes name) override;
  void on_slot(std::uint16_t before, std::uint16_t now) override;
  void on_came(Bytes name, double missing_s) override;
  void on_went(Bytes name, bool was_told) override;
  void on_slot_twice(Bytes name, std::uint16_t slot) override;
  void on_members_gone(Bytes room, std::uint32_t members) override;

  void ring() noexcept;
  void on_doorbell() noexcept;
  void on_alarm() noexcept;
  void arm() noexcept;
  void take_changes();
  void take_wishes();
  void on_frame(const bus::Delivery& message);
  void on_said(Bytes room, const bus::Delivery& message);
  void on_notice(const bus::Notice& notice);
  void give(const Room& room, const bus::Delivery& message, const BatchStamp& stamp);
  void tell_missed(const Room& room, std::uint64_t messages, Bytes why);
  void order_all(const HubOrder& order);
  std::string subject_of(Bytes room) const;
  void note_place(RoomKey key, const std::string& room);
  const Place* find_place(RoomKey key) const;
  void want_history(Room& room);
  void on_history_wanted(NodeId from, const HistoryWanted& wanted);
  void on_history(NodeId from, const History& history);
  Result<bus::Subscription> subscribe(const std::string& subject, bus::Handler handler);
  void publish_frame(const std::string& subject, Bytes frame);
  Task<void> stop_when_drained();

  const BridgeOptions options_;
  bus::Bus& bus_;
  Directory& directory_;
  Roster roster_;
  Node node_;
  const HubOptions hub_options_;
  const unsigned index_;
  Hub hub_;
  net::Reactor* reactor_ = nullptr;
  std::vector<Hub*> hubs_;
  BridgeCounters counters_;
  Alarm alarm_{*this};
  Doorbell doorbell_{*this};
  Rooms rooms_;
  std::map<std::uint64_t, Place> places_;  // by place and generation
  std::vector<bus::Subscription> subscriptions_;
  std::string subject_all_;
  std::uint64_t last_history_ = 0;
  std::map<std::uint64_t, std::string> histories_;  // requested rooms, by token

  std::mutex mutex_;  // guards what follows
  std::vector<Wish> wishes_;
  bool rung_ = false;
  bool ended_ = false;
};

}  // namespace katana::chat::cluster

// SPDX-License-Identifier: Apache-2.0
