// Frame: a message from one server of a chat to others; one message of the bus is one frame.
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
// A message in a room is not a frame: its lines are sent unchanged, and a header carries a
// BatchStamp. All recipients then refer to the block in which the lines were framed.
//
// Owns       the texts of a decoded frame.
// Thread     any.
// Allocates  the decoded values, in proportion to the bytes.
// Fails      read functions return nothing for input that is cut short, too long, or not a valid
//            name.
// Invariant  a frame is read as it was written. With any input, no byte beyond its end is read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/chat/directory.hpp"
#include "katana/base/text/bytes.hpp"

namespace katana::chat::cluster {

// For one run of one server: random, so that no two are the same.
using NodeId = std::uint64_t;

// The action of the receiver for each kind. Frames carry the number, so the order must not change.
enum class Kind : std::uint8_t {
  heartbeat = 1,   // notes that the sender is alive; asks for what it has missed
  changes,         // applies them, or asks for a snapshot if it has missed some
  sync_wanted,     // sends its snapshot
  snapshot,        // puts it in the place of all that the sender told
  positions,       // waits gap_grace for what it has not heard, then tells it as missed
  goodbye,         // forgets the sender and its members
  claim,           // answers with a verdict
  verdict,         // one that refuses ends the claim; all that grant it decide it
  held,            // gives up the name if its own member took it later
  history_wanted,  // answers with its history of the room
  history,         // shows it to members that came before it
  count_,          // never sent: a frame of this number or above is none
};

inline constexpr std::size_t frame_head_bytes = 12;          // up to `from`, included
inline constexpr std::size_t control_bytes_max = 64 * 1024;  // longer frames are refused
// The size at which a frame is closed and the next one is begun.
inline constexpr std::size_t control_bytes_wanted = 24 * 1024;
inline constexpr std::size_t names_per_room_max = 255;

// The first fields of every frame.
struct FrameHead {
  Kind kind = Kind::heartbeat;  // never count_, as read_head() gives it
  NodeId from = 0;              // the sender
  Bytes body;                   // refers to the frame
};

// "from first messages" in hexadecimal digits.
struct BatchStamp {
  NodeId from = 0;             // the server whose members sent it
  std::uint64_t first = 0;     // messages that the server had for the room before
  std::uint32_t messages = 0;  // lines of the payload, at least 1
  bool operator==(const BatchStamp&) const = default;
};
// The header of the bus that a BatchStamp stands in.
inline constexpr Bytes stamp_header = "Katana-Chat";

// The members of one server in a room.
struct RoomRecord {
  std::string room;           // the same name on all servers
  std::uint32_t members = 0;  // the members on that server; 0: none any more
  std::vector<Person> first;  // to come, as many as are told of
  bool operator==(const RoomRecord&) const = default;
};
// Two that took a name without knowing of each other: the earlier keeps it.
struct NameRecord {
  std::string name;           // the member's name
  std::int64_t taken_ms = 0;  // wall-clock time, in milliseconds since 1970
  bool operator==(const NameRecord&) const = default;
};
struct Position {
  NodeId of = 0;           // the stream's server; 0: the sender
  std::string room;        // in which the stream is
  std::uint64_t next = 0;  // messages of the stream so far: the number of the next one
  bool operator==(const Position&) const = default;
};

// To all, every ClusterOptions::heartbeat.
struct Heartbeat {
  std::string name;  // the server's name
  // 0 to 999; of two servers with the same the later gives it up, unless it is fixed.
  std::uint16_t slot = 0;
  std::int64_t claimed_ms = 0;  // when it took the slot
  std::uint64_t version = 0;    // the version of the sender's last changes
  // The number of this heartbeat, and which of its frames this is. A server that has missed some of
  // them in a row asks for a snapshot: the lost facts are not sent again.
  std::uint64_t round = 0;
  std::uint16_t part = 0;
  std::uint16_t parts = 1;
  // The positions of rooms with recent messages, and of servers that have departed lately.
  std::vector<Position> positions;
};
// To all; of one version either rooms or names.
struct Changes {
  std::uint64_t version = 0;      // one more than that of the changes before
  std::vector<RoomRecord> rooms;  // as they are now
  std::vector<NameRecord> names;  // taken since
};
// To one server, which applies it when all parts have come.
struct Snapshot {
  std::uint64_t version = 0;        // the version of the sender's last changes in it
  std::uint16_t part = 0;           // from 0 on
  std::uint16_t parts = 0;          // the number of parts of this version
  std::vector<RoomRecord> rooms;    // with members of the sender
  std::vector<NameRecord> names;    // the sender's members
  std::vector<Position> positions;  // the sender's streams
};
// To all, and again until it is decided.
struct Claim {
  std::uint64_t token = 0;  // the sender's number of the claim, for the answers
  NameRecord name;          // the earlier of two claims wins; at the same time, the lower NodeId
};
// To the server that claims.
struct Verdict {
  NodeId to = 0;            // the server that claims
  std::uint64_t token = 0;  // Claim::token
  bool granted = false;     // false: another member has the name, or claims it with more right
};
// To the server with the most members in the room.
struct HistoryWanted {
  NodeId to = 0;            // the server that is asked
  std::uint64_t token = 0;  // the sender's number of the question, for the answer
  std::string room;         // one that begins here
  // The sender's HistoryOptions::messages_max; the answer may have more.
  std::uint32_t messages = 0;
};
// Messages that follow one another in one stream.
struct HistoryEntry {
  NodeId origin = 0;           // 0: it was said before there was a stream of the room
  std::uint64_t first = 0;     // position of the first in the stream of `origin`
  std::uint32_t messages = 0;  // as many as lines
  std::string lines;           // as members are sent them, each with its '\n'
};
// To the server that asked.
struct History {
  NodeId to = 0;                      // the server that asked
  std::uint64_t token = 0;            // HistoryWanted::token
  std::string room;                   // HistoryWanted::room, or the answer is ignored
  std::vector<HistoryEntry> entries;  // oldest first
};
// Nothing: not a frame of this version, an unknown kind, or more than control_bytes_max.
std::optional<FrameHead> read_head(Bytes frame) noexcept;

// The value of stamp_header.
std::string write(const BatchStamp& stamp);
// Nothing: not three hexadecimal numbers, no messages, or a position beyond 2^60.
std::optional<BatchStamp> read_stamp(Bytes header) noexcept;
// True if the text has exactly `messages` whole lines.
bool are_lines(Bytes text, std::uint32_t messages) noexcept;

// A whole frame, as are those that follow. They REQUIRE texts of 255 bytes and lists of 65,535
// items at most.
std::string write(NodeId from, const Heartbeat& heartbeat);
std::string write(NodeId from, const Changes& changes);       // to all; of control_bytes_wanted
std::string write(NodeId from, const Snapshot& snapshot);     // to one; of control_bytes_wanted
std::string write(NodeId from, const Claim& claim);           // to all
std::string write(NodeId from, const Verdict& verdict);       // to `verdict.to`
std::string write(NodeId from, const HistoryWanted& wanted);  // to `wanted.to`
std::string write(NodeId from, const History& history);       // to `history.to`
std::string write_positions(NodeId from, const std::vector<Position>& positions);  // in portions
std::string write_held(NodeId from, const NameRecord& name);  // to who has it with less right
std::string write_sync_wanted(NodeId from, NodeId to);        // `to`: whose snapshot is wanted
std::string write_goodbye(NodeId from);                       // a head alone

// Reads FrameHead::body; the body has to end with the heartbeat. Nothing: also a server's name that
// is not valid.
std::optional<Heartbeat> read_heartbeat(Bytes body);
std::optional<Changes> read_changes(Bytes body);    // nothing: also an invalid name
std::optional<Snapshot> read_snapshot(Bytes body);  // nothing: also no such part
std::optional<Claim> read_claim(Bytes body);        // nothing: also an invalid name
std::optional<Verdict> read_verdict(Bytes body);    // nothing: also a truth value above 1
// Nothing: also an invalid name of a room.
std::optional<HistoryWanted> read_history_wanted(Bytes body);
std::optional<History> read_history(Bytes body);  // nothing: also other than whole lines
// Nothing: also a position beyond 2^60.
std::optional<std::vector<Position>> read_positions(Bytes body);
std::optional<NameRecord> read_held(Bytes body);     // nothing: also an invalid name
std::optional<NodeId> read_sync_wanted(Bytes body);  // the server whose snapshot is wanted

// The bytes that the record takes in a frame, approximately.
std::size_t written_bytes(const RoomRecord& record) noexcept;

}  // namespace katana::chat::cluster

// SPDX-License-Identifier: Apache-2.0
