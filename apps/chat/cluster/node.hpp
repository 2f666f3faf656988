// Node: one server of a chat. It knows the other servers, their members, and the progress of each.
//
//   unknown ──frame──> heard ──snapshot──> synced ──a version is missing──> heard
//                        │                   │
//                        └──── silence ──────┴──> departed ──frame──> heard
//                        └──── goodbye ──────┴──> forgotten
//
// Every server tells the others the changes in its rooms, with a version that each change
// increments. A server that has missed a change asks for a snapshot of everything. Heartbeats carry
// the version: a lost change is noticed half a second later.
//
// A server that is silent for too long is departed: its clients count as gone. The remaining
// servers tell one another how far they have heard it. If only some heard a message, the others
// then know that it is missing. The positions of a departed server are kept. If it was only cut
// off, they say how much was missed when it is back.
//
// Owns       its knowledge of the other servers.
// Borrows    its host and its roster.
// Thread     one; it is told the time.
// Allocates  as it hears of servers, rooms and names.
// Fails      std::bad_alloc. A frame that is not valid is counted and ignored.
// Invariant  every message of another server's stream (streams.hpp) is delivered or told as
//            missing, once, from the first position that was heard. Two servers that hear each
//            other and both have a number or a name agree on the one that keeps it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "apps/chat/cluster/options.hpp"
#include "apps/chat/cluster/roster.hpp"
#include "apps/chat/cluster/streams.hpp"
#include "apps/chat/counters.hpp"
#include "katana/base/values/random.hpp"

namespace katana::chat::cluster {

// Since it was made, but for the two present numbers; read from any thread.
struct NodeCounters {
  Count nodes;             // present number of others
  Count remote_members;    // present number
  Count departures;        // servers that were silent for too long
  Count returns;           // departed servers that came back
  Count missed;            // messages of others that did not come
  Count late;              // messages that came twice, or after they had been told as missing
  Count malformed;         // frames that are none
  Count refused;           // frames of servers above the limit
  Count syncs;             // snapshots that were asked for
  Count claims;            // names that were asked for
  Count claims_denied;     // names that another member had
  Count claims_unheard;    // names that were granted although not all had answered
  Count number_conflicts;  // numbers given up to another server
  Count name_conflicts;    // names likewise
  Count forgotten;         // positions that were dropped to make room
};

// The actions and notices of a Node. They run on its thread, within calls of the Node.
class NodeHost {
 public:
  // To all others; to one.
  virtual void broadcast(Bytes frame) = 0;
  virtual void send(NodeId to, Bytes frame) = 0;
  // The room has members here, or has none any more: subscribes to it, or ends the subscription.
  virtual void watch(Bytes room) = 0;
  virtual void unwatch(Bytes room) = 0;
  // Messages of members here in this room have to be passed to said(), for as long as the room
  // exists.
  virtual void set_outward(Bytes room) = 0;
  virtual void on_missed(Bytes room, std::uint64_t messages) = 0;
  virtual void on_claim_decided(std::uint64_t token, Bytes name, bool granted) = 0;
  // The member that has the name here loses it: another server's member had it before.
  virtual void on_name_lost(Bytes name) = 0;
  virtual void on_slot(std::uint16_t before, std::uint16_t now) = 0;
  // Notices for operators. `missing_s`: the time for which a server that is back was not heard.
  virtual void on_came(Bytes name, double missing_s) = 0;
  virtual void on_went(Bytes name, bool was_told) = 0;
  virtual void on_slot_twice(Bytes name, std::uint16_t slot) = 0;
  // `members` members of the room are gone together with their server.
  virtual void on_members_gone(Bytes room, std::uint32_t members) = 0;

 protected:
  ~NodeHost() = default;
};

class Node {
 public:
  Node(const ClusterOptions& options, NodeHost& host, Roster& roster);

  // ---- what its host tells it ----
  void start(Instant now);
  // The others are told that this server stops.
  void stop(Instant now);
  void on_frame(const FrameHead& frame, Instant now);
  // Something was lost on the bus, or it was away: it is unknown what.
  void on_bus_gap(Instant now);
  void on_deadline(Instant now);
  Instant deadline() const noexcept { return deadline_; }

  // A member came, left or took a name here; members of 0: the room is empty.
  void on_local_room(RoomRecord record, Instant now);
  // The way in which messages have to be published.
  struct Said {
    std::uint64_t first = 0;  // BatchStamp::first
    bool wanted = false;      // another server has members there
  };
  // Members here sent `messages` messages in the room. Returns the numbers that they take.
  Said said(Bytes room, std::uint32_t messages);
  // A batch of another server arrived.
  IncomingStreams::Arrival arrived(Bytes room, const BatchStamp& stamp, Instant now);
  // True if the members here were not given this entry of another server's history, and will not
  // be. The room has members here.
  bool is_before(Bytes room, const HistoryEntry& entry);

  // Decided by on_claim_decided(), at once or within claim_timeout.
  void claim_name(std::uint64_t token, Bytes name, Instant now);
  void release_name(Bytes name);

  // The positions of another server's stream, counted from the first position that was heard.
  IncomingStreams::Heard heard(NodeId node, Bytes room) const;

  // The id of this run of the server, from ClusterOptions.
  NodeId id() const noexcept { return options_.id; }
  // The number of this server now, 0 to 999; NodeHost::on_slot() tells of another.
  std::uint16_t slot() const noexcept { return slot_; }
  // Read from any thread.
  NodeCounters& counters() noexcept { return counters_; }
  // Other servers that are there.
  std::size_t nodes() const noexcept { return nodes_alive_; }

 private:
  struct Staging {
    std::uint64_t version = 0;
    std::set<std::uint16_t> parts;
    std::map<std::string, RoomRecord> rooms;
  };
  // A heartbeat of several frames is heard when all have come.
  struct Rounds {
    std::uint64_t whole = 0;  // the last that was heard
    std::uint64_t present = 0;
    std::set<std::uint16_t> parts;
  };
  struct Other {
    std::string name;  // empty: it has not introduced itself
    std::uint16_t slot = 0;
    std::int64_t claimed_ms = 0;
    std::uint64_t version = 0;
    bool synced = false;
    bool departed = false;
    bool gone = false;              // it said goodbye, and is erased when nothing is claimed of it
    std::uint64_t departed_in = 0;  // the round of this server
    Rounds rounds;
    Instant heard{};
    Instant sync_asked{INT64_MIN / 2};
    Instant snapshot_sent{INT64_MIN / 2};
    IncomingStreams streams;
    Staging staging;
  };
  struct LocalRoom {
    RoomRecord record;
    bool outward = false;
    std::uint64_t began = 0;  // the position of this server when its first member came
  };
  struct PendingClaim {
    NameRecord name;
    std::set<NodeId> waits_for;
    Instant due{};
    Instant repeat{};
  };
  using Others = std::map<NodeId, Other>;

  std::int64_t wall_ms(Instant now) const noexcept {
    return options_.epoch_ms + now.ns / 1'000'000;
  }
  void wake_at(Instant at) noexcept { deadline_ = std::min(deadline_, at); }

  Other* hear(NodeId from, Instant now);
  void make_room_for_departed();
  void depart(NodeId id, Other& other, Instant now);
  void on_heartbeat(NodeId from, Other& other, Heartbeat heartbeat, Instant now);
  void on_changes(NodeId from, Other& other, Changes changes, Instant now);
  void on_snapshot(NodeId from, Other& other, Snapshot snapshot, Instant now);
  void on_goodbye(NodeId from, Other& other, Instant now);
  void on_claim(NodeId from, const Claim& claim);
  void on_verdict(NodeId from, const Verdict& verdict);
  void on_name_held(NodeId from, const NameRecord& name);
  static bool note_round(Rounds& rounds, const Heartbeat& heartbeat);
  void begin_streams(Other& other, const std::vector<Position>& positions);
  void take_claims(Other& sender, const std::vector<Position>& positions, Instant now);
  void want_sync(NodeId id, Other& other, Instant now);
  void send_snapshot(NodeId to, Other& other, Instant now);
  void apply(NodeId from, RoomRecord record, std::vector<Position>& asked);
  void answer_positions(NodeId to, const std::vector<Position>& positions);
  void resolve_slot(const Other& other, NodeId from, Instant now);
  void update_outward(Bytes room);
  void beat(Instant now);
  std::vector<Position> lately() const;
  void flush_changes(Instant now);
  void expire(Instant now);
  void tell_missing(Instant now);
  void decide_due_claims(Instant now);
  void decide(std::map<std::uint64_t, PendingClaim>::iterator claim, bool granted);
  void forget_waiting(NodeId gone);
  void update_counts();

  const ClusterOptions options_;
  NodeHost& host_;
  Roster& roster_;
  Random random_;
  NodeCounters counters_;
  Instant deadline_ = never;
  bool started_ = false;

  std::uint16_t slot_ = 0;
  std::int64_t claimed_ms_ = 0;
  std::uint64_t version_ = 0;
  std::uint64_t rounds_ = 1;
  Instant beat_due_ = never;
  Instant flush_due_ = never;
  Others others_;
  std::size_t nodes_alive_ = 0;
  std::map<std::string, LocalRoom, std::less<>> rooms_;
  std::set<std::string, std::less<>> changed_rooms_;
  std::vector<NameRecord> changed_names_;
  OutgoingStreams outgoing_;
  std::map<std::string, std::int64_t, std::less<>> names_;  // taken here, and when
  std::map<std::uint64_t, PendingClaim> claims_;            // by token
};

}  // namespace katana::chat::cluster

// SPDX-License-Identifier: Apache-2.0
