// Frame: what the servers of one chat say to one another; one message of the bus is one frame.
//
//   'k' 'c'  version  kind │ from (8) │ body of that kind; numbers are little-endian
//
//   heartbeat       name, slot, round, …, positions   somebody is here, and how far it is; how far
//                                                     it has heard those that are gone
//   changes         version, rooms, names             what has changed since version − 1
//   sync_wanted     to                                the version was missed: send a snapshot
//   snapshot        version, part of parts, …         all rooms, names and positions
//   positions       positions                         how far the sender is in rooms
//   goodbye                                           the sender stops
//   claim           token, name                       may somebody be called so?
//   verdict         to, token, granted                the answer of each of the others
//   held            name                              somebody here has that name
//   history_wanted  token, room, messages             what was said last in a room?
//   history         token, room, entries              the answer
//
// What is said in a room is no frame: its lines are the message as they are, so that everybody
// refers to the block that they were framed in, and a BatchStamp stands in a header.
//
// Owns       a decoded frame its texts.
// Thread     any.
// Allocates  what is decoded, in proportion to the bytes.
// Fails      read functions give nothing for what is cut short, too long, or no name.
// Invariant  what was written is read as it was; whatever the bytes, nothing beyond them is read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/bytes.hpp"
#include "katana/chat/directory.hpp"

namespace katana::chat::cluster {

// Of one run of one server: random, so that no two are the same.
using NodeId = std::uint64_t;

enum class Kind : std::uint8_t {
  heartbeat = 1,
  changes,
  sync_wanted,
  snapshot,
  positions,
  goodbye,
  claim,
  verdict,
  held,
  history_wanted,
  history,
  count_,
};

inline constexpr std::size_t frame_head_bytes = 12;
inline constexpr std::size_t control_bytes_max = 64 * 1024;
// What is put into one frame before the next is begun.
inline constexpr std::size_t control_bytes_wanted = 24 * 1024;
inline constexpr std::size_t names_per_room_max = 255;

struct FrameHead {
  Kind kind = Kind::heartbeat;
  NodeId from = 0;
  Bytes body;
};

// "from first messages" in hexadecimal digits.
struct BatchStamp {
  NodeId from = 0;
  std::uint64_t first = 0;  // messages that the server had for the room before
  std::uint32_t messages = 0;
  bool operator==(const BatchStamp&) const = default;
};
inline constexpr Bytes stamp_header = "Katana-Chat";

struct RoomRecord {
  std::string room;
  std::uint32_t members = 0;
  std::vector<Person> first;  // to come, as many as are told of
  bool operator==(const RoomRecord&) const = default;
};
// Two that took a name without knowing of each other: the earlier keeps it.
struct NameRecord {
  std::string name;
  std::int64_t taken_ms = 0;
  bool operator==(const NameRecord&) const = default;
};
struct Position {
  NodeId of = 0;  // whose stream; 0: the sender's
  std::string room;
  std::uint64_t next = 0;
  bool operator==(const Position&) const = default;
};

struct Heartbeat {
  std::string name;  // of the server
  std::uint16_t slot = 0;
  std::int64_t claimed_ms = 0;  // when it took the slot
  std::uint64_t version = 0;
  // The number of this heartbeat, and which of its frames this is. Whoever has missed some of them
  // in a row asks for a snapshot: what they said is not said again.
  std::uint64_t round = 0;
  std::uint16_t part = 0;
  std::uint16_t parts = 1;
  // Of rooms in which something was said lately, and of servers that have departed lately.
  std::vector<Position> positions;
};
struct Changes {
  std::uint64_t version = 0;
  std::vector<RoomRecord> rooms;
  std::vector<NameRecord> names;
};
struct Snapshot {
  std::uint64_t version = 0;
  std::uint16_t part = 0;
  std::uint16_t parts = 0;
  std::vector<RoomRecord> rooms;
  std::vector<NameRecord> names;
  std::vector<Position> positions;
};
struct Claim {
  std::uint64_t token = 0;
  NameRecord name;
};
struct Verdict {
  NodeId to = 0;
  std::uint64_t token = 0;
  bool granted = false;
};
struct HistoryWanted {
  NodeId to = 0;
  std::uint64_t token = 0;
  std::string room;
  std::uint32_t messages = 0;
};
struct HistoryEntry {
  NodeId origin = 0;  // 0: it was said before there was a stream of the room
  std::uint64_t first = 0;
  std::uint32_t messages = 0;
  std::string lines;
};
struct History {
  NodeId to = 0;
  std::uint64_t token = 0;
  std::string room;
  std::vector<HistoryEntry> entries;
};
std::optional<FrameHead> read_head(Bytes frame) noexcept;

std::string write(const BatchStamp& stamp);
std::optional<BatchStamp> read_stamp(Bytes header) noexcept;
// So many whole lines, and nothing else.
bool are_lines(Bytes text, std::uint32_t messages) noexcept;

std::string write(NodeId from, const Heartbeat& heartbeat);
std::string write(NodeId from, const Changes& changes);
std::string write(NodeId from, const Snapshot& snapshot);
std::string write(NodeId from, const Claim& claim);
std::string write(NodeId from, const Verdict& verdict);
std::string write(NodeId from, const HistoryWanted& wanted);
std::string write(NodeId from, const History& history);
std::string write_positions(NodeId from, const std::vector<Position>& positions);
std::string write_held(NodeId from, const NameRecord& name);
std::string write_sync_wanted(NodeId from, NodeId to);
std::string write_goodbye(NodeId from);

std::optional<Heartbeat> read_heartbeat(Bytes body);
std::optional<Changes> read_changes(Bytes body);
std::optional<Snapshot> read_snapshot(Bytes body);
std::optional<Claim> read_claim(Bytes body);
std::optional<Verdict> read_verdict(Bytes body);
std::optional<HistoryWanted> read_history_wanted(Bytes body);
std::optional<History> read_history(Bytes body);
std::optional<std::vector<Position>> read_positions(Bytes body);
std::optional<NameRecord> read_held(Bytes body);
std::optional<NodeId> read_sync_wanted(Bytes body);

// About what the record takes of a frame.
std::size_t written_bytes(const RoomRecord& record) noexcept;

}  // namespace katana::chat::cluster

// SPDX-License-Identifier: Apache-2.0
