#include "apps/chat/cluster/node.hpp"

#include <algorithm>
#include <utility>

#include "katana/base/system/check.hpp"

namespace katana::chat::cluster {
namespace {

// A position is told with so many heartbeats after the room has moved, or its server departed.
// A server that has heard none of so many asks for all.
constexpr std::uint64_t rounds_told = 5;
constexpr Duration sync_interval = milliseconds(300);
constexpr Duration snapshot_interval = milliseconds(200);
constexpr Duration introduction_delay = milliseconds(20);
constexpr std::size_t outgoing_streams_max = 4096;
// For a snapshot: beyond it the rest is not told, and /who is short of it.
constexpr std::size_t parts_max = 4096;

template <class Item, class Bytesof, class Send>
void in_portions(const std::vector<Item>& items, Bytesof&& bytes_of, Send&& send) {
  std::vector<Item> portion;
  std::size_t bytes = 0;
  for (const Item& each : items) {
    const std::size_t more = bytes_of(each);
    if (!portion.empty() && bytes + more > control_bytes_wanted) {
      send(std::exchange(portion, {}));
      bytes = 0;
    }
    portion.push_back(each);
    bytes += more;
  }
  if (!portion.empty()) send(std::move(portion));
}

std::size_t position_bytes(const Position& each) { return each.room.size() + 17; }
std::size_t name_bytes(const NameRecord& each) { return each.name.size() + 9; }

}  // namespace

Node::Node(const ClusterOptions& options, NodeHost& host, Roster& roster)
    : options_(options),
      host_(host),
      roster_(roster),
      random_(options.id),
      outgoing_(outgoing_streams_max) {
  KATANA_REQUIRE(options.id != 0 && !options.name.empty() && options.name.size() <= 255);
  KATANA_REQUIRE(!options.slot || *options.slot < slots);
  slot_ = options.slot.value_or(default_slot(options.name));
}

void Node::start(Instant now) {
  started_ = true;
  claimed_ms_ = wall_ms(now);
  host_.on_slot(slot_, slot_);
  beat(now);
}

void Node::stop(Instant now) {
  if (!std::exchange(started_, false)) return;
  beat(now);
  host_.broadcast(write_goodbye(options_.id));
  deadline_ = never;
}

// ---- who is there ------------------------------------------------------------------------------

Node::Other* Node::hear(NodeId from, Instant now) {
  auto found = others_.find(from);
  const bool is_full = nodes_alive_ + 1 >= options_.nodes_max;
  if (found == others_.end()) {
    // Servers that said goodbye are remembered for a while: at most as many as there may be
    // servers.
    if (is_full || others_.size() >= 2 * options_.nodes_max + options_.departed_max) {
      counters_.refused.add(1);
      return nullptr;
    }
    found = others_.emplace(from, Other()).first;
    ++nodes_alive_;
    found->second.heard = now;
    beat_due_ = std::min(beat_due_, now + introduction_delay);
    wake_at(beat_due_);
  }
  Other& other = found->second;
  if (other.gone) return nullptr;  // a frame that its goodbye has overtaken
  if (other.departed) {
    if (is_full) {  // its place is another's meanwhile
      counters_.refused.add(1);
      return nullptr;
    }
    other.departed = false;
    ++nodes_alive_;
    counters_.returns.add(1);
    roster_.set_hidden(from, false);
    other.synced = false;
    other.sync_asked = {INT64_MIN / 2};
    beat_due_ = std::min(beat_due_, now + introduction_delay);
    host_.on_came(other.name, milliseconds_of(now - other.heard) / 1e3);
  }
  other.heard = now;
  if (!other.synced) want_sync(from, other, now);
  wake_at(std::min(beat_due_, now + options_.expiry));
  return &other;
}

void Node::depart(NodeId id, Other& other, Instant now) {
  other.departed = true;
  other.synced = false;
  other.staging = {};
  --nodes_alive_;
  counters_.departures.add(1);
  host_.on_went(other.name, false);
  for (const std::string& room : roster_.rooms_of(id)) {
    if (rooms_.contains(room)) host_.on_members_gone(room, roster_.members_of(id, room));
  }
  roster_.set_hidden(id, true);
  other.departed_in = rounds_;
  beat_due_ = std::min(beat_due_, now);
  wake_at(beat_due_);
  forget_waiting(id);
  make_room_for_departed();
}

void Node::make_room_for_departed() {
  std::size_t departed = 0;
  auto oldest = others_.end();
  for (auto each = others_.begin(); each != others_.end(); ++each) {
    if (!each->second.departed) continue;
    ++departed;
    if (oldest == others_.end() || each->second.heard < oldest->second.heard) oldest = each;
  }
  if (departed <= options_.departed_max) return;
  counters_.forgotten.add(oldest->second.streams.size());
  roster_.remove(oldest->first);
  others_.erase(oldest);
}

void Node::expire(Instant now) {
  for (auto& [id, other] : others_) {
    if (other.departed || other.gone) continue;
    const Instant due = other.heard + options_.expiry;
    if (due <= now) {
      depart(id, other, now);
      return expire(now);  // it may have made another one be forgotten
    }
    wake_at(due);
  }
  std::erase_if(others_, [&](const auto& each) {
    const Other& other = each.second;
    return other.gone && other.heard + nanoseconds(4 * options_.gap_grace.ns) <= now;
  });
  for (const auto& [id, other] : others_) {
    if (other.gone) wake_at(other.heard + nanoseconds(4 * options_.gap_grace.ns));
  }
}

void Node::on_goodbye(NodeId from, Other& other, Instant now) {
  other.gone = true;
  other.heard = now;
  --nodes_alive_;
  host_.on_went(other.name, true);
  roster_.remove(from);
  forget_waiting(from);
  wake_at(now + nanoseconds(4 * options_.gap_grace.ns));
}

// ---- frames ------------------------------------------------------------------------------------

void Node::on_frame(const FrameHead& frame, Instant now) {
  if (!started_ || frame.from == options_.id || frame.from == 0) return;
  Other* const other = hear(frame.from, now);
  if (other == nullptr) return;
  const auto with = [this](auto decoded, auto&& act) {
    if (decoded) {
      act(*std::move(decoded));
    } else {
      counters_.malformed.add(1);
    }
  };
  const NodeId from = frame.from;
  switch (frame.kind) {
    case Kind::heartbeat:
      with(read_heartbeat(frame.body),
           [&](Heartbeat got) { on_heartbeat(from, *other, std::move(got), now); });
      break;
    case Kind::changes:
      with(read_changes(frame.body),
           [&](Changes got) { on_changes(from, *other, std::move(got), now); });
      break;
    case Kind::snapshot:
      with(read_snapshot(frame.body),
           [&](Snapshot got) { on_snapshot(from, *other, std::move(got), now); });
      break;
    case Kind::sync_wanted:
      with(read_sync_wanted(frame.body), [&](NodeId to) {
        if (to == options_.id) send_snapshot(from, *other, now);
      });
      break;
    case Kind::positions:
      with(read_positions(frame.body), [&](const std::vector<Position>& got) {
        begin_streams(*other, got);
        take_claims(*other, got, now);
      });
      break;
    case Kind::goodbye: on_goodbye(from, *other, now); break;
    case Kind::claim:
      with(read_claim(frame.body), [&](const Claim& got) { on_claim(from, got); });
      break;
    case Kind::verdict:
      with(read_verdict(frame.body), [&](const Verdict& got) {
        if (got.to == options_.id) on_verdict(from, got);
      });
      break;
    case Kind::held:
      with(read_held(frame.body), [&](const NameRecord& got) { on_name_held(from, got); });
      break;
    case Kind::history_wanted:
    case Kind::history:
    case Kind::count_: break;  // its host's
  }
  update_counts();
}

void Node::on_heartbeat(NodeId from, Other& other, Heartbeat heartbeat, Instant now) {
  if (other.name.empty()) {
    other.name = std::move(heartbeat.name);
    host_.on_came(other.name, 0);
    // The same server, started again: no server waits for the one that was killed.
    for (auto& [id, each] : others_) {
      const bool silent = each.heard + nanoseconds(options_.heartbeat.ns * 3 / 2) < now;
      if (id == from || each.departed || each.gone || each.name != other.name || !silent) continue;
      depart(id, each, now);
      break;
    }
  }
  other.slot = heartbeat.slot;
  other.claimed_ms = heartbeat.claimed_ms;
  resolve_slot(other, from, now);
  if (heartbeat.version != other.version || !note_round(other.rounds, heartbeat)) {
    other.synced = false;
  }
  if (!other.synced) want_sync(from, other, now);
  take_claims(other, heartbeat.positions, now);
}

// False: so many were missed that something may never be said again.
bool Node::note_round(Rounds& rounds, const Heartbeat& heartbeat) {
  if (heartbeat.round != rounds.present) {
    rounds.present = heartbeat.round;
    rounds.parts.clear();
  }
  rounds.parts.insert(heartbeat.part);
  const bool in_time = heartbeat.round < rounds.whole + rounds_told;
  if (rounds.parts.size() == heartbeat.parts) rounds.whole = heartbeat.round;
  return in_time;
}

void Node::begin_streams(Other& other, const std::vector<Position>& positions) {
  for (const Position& each : positions) {
    if (each.of == 0 && rooms_.contains(each.room)) other.streams.begin(each.room, each.next);
  }
}

void Node::want_sync(NodeId id, Other& other, Instant now) {
  if (now - other.sync_asked < sync_interval) return;
  other.sync_asked = now;
  counters_.syncs.add(1);
  host_.send(id, write_sync_wanted(options_.id, id));
}

void Node::on_changes(NodeId from, Other& other, Changes changes, Instant now) {
  if (!other.synced || changes.version != other.version + 1) {
    if (changes.version > other.version) {
      other.synced = false;
      want_sync(from, other, now);
    }
    return;
  }
  other.version = changes.version;
  std::vector<Position> asked;
  for (RoomRecord& each : changes.rooms) apply(from, std::move(each), asked);
  answer_positions(from, asked);
  for (const NameRecord& each : changes.names) on_name_held(from, each);
}

void Node::on_snapshot(NodeId from, Other& other, Snapshot snapshot, Instant now) {
  Staging& staging = other.staging;
  if (staging.parts.empty() || staging.version != snapshot.version) {
    if (!staging.parts.empty() && snapshot.version < staging.version) return;
    staging = {};
    staging.version = snapshot.version;
  }
  staging.parts.insert(snapshot.part);
  for (RoomRecord& each : snapshot.rooms) {
    if (staging.rooms.size() >= options_.rooms_max) break;
    std::string room = each.room;
    staging.rooms.insert_or_assign(std::move(room), std::move(each));
  }
  for (const NameRecord& each : snapshot.names) on_name_held(from, each);
  begin_streams(other, snapshot.positions);
  take_claims(other, snapshot.positions, now);
  if (staging.parts.size() < snapshot.parts) return;
  std::vector<Position> asked;
  for (const std::string& room : roster_.rooms_of(from)) {
    if (!staging.rooms.contains(room)) apply(from, {room, 0, {}}, asked);
  }
  for (auto& [room, record] : staging.rooms) apply(from, std::move(record), asked);
  other.version = staging.version;
  other.synced = true;
  staging = {};
  answer_positions(from, asked);
}

void Node::send_snapshot(NodeId to, Other& other, Instant now) {
  if (now - other.snapshot_sent < snapshot_interval) return;
  other.snapshot_sent = now;
  flush_changes(now);
  std::vector<Snapshot> parts;
  std::vector<RoomRecord> rooms;
  for (const auto& [name, room] : rooms_) rooms.push_back(room.record);
  in_portions(rooms, written_bytes, [&](std::vector<RoomRecord> portion) {
    parts.emplace_back().rooms = std::move(portion);
  });
  std::vector<NameRecord> names;
  for (const auto& [name, taken_ms] : names_) names.push_back({name, taken_ms});
  in_portions(names, name_bytes, [&](std::vector<NameRecord> portion) {
    parts.emplace_back().names = std::move(portion);
  });
  // The positions of every room that the other server has, and of rooms that have ended: it may
  // have missed the end.
  std::vector<Position> positions = outgoing_.all();
  for (const std::string& room : roster_.rooms_of(to)) {
    if (outgoing_.position(room) == 0) positions.push_back({0, room, 0});
  }
  for (const auto& [id, each] : others_) {
    if (each.departed) each.streams.add_to(positions, id);
  }
  in_portions(positions, position_bytes, [&](std::vector<Position> portion) {
    parts.emplace_back().positions = std::move(portion);
  });
  if (parts.empty()) parts.emplace_back();
  if (parts.size() > parts_max) parts.resize(parts_max);
  for (std::size_t part = 0; part < parts.size(); ++part) {
    parts[part].version = version_;
    parts[part].part = static_cast<std::uint16_t>(part);
    parts[part].parts = static_cast<std::uint16_t>(parts.size());
    host_.send(to, write(options_.id, parts[part]));
  }
}

// ---- rooms -------------------------------------------------------------------------------------

void Node::apply(NodeId from, RoomRecord record, std::vector<Position>& asked) {
  if (record.members > 0 && roster_.rooms_count(from) >= options_.rooms_max &&
      roster_.members_of(from, record.room) == 0) {
    counters_.refused.add(1);
    return;
  }
  std::string room = record.room;
  const bool has_members = record.members > 0;
  const std::uint32_t before = roster_.set(from, std::move(record));
  if (!has_members) return;
  update_outward(room);
  // From here on it is told the messages there. It has to know where they begin.
  if (before == 0) asked.push_back({0, room, outgoing_.position(room)});
}

void Node::answer_positions(NodeId to, const std::vector<Position>& positions) {
  in_portions(positions, position_bytes, [&](const std::vector<Position>& portion) {
    host_.send(to, write_positions(options_.id, portion));
  });
}

// Once it is on it stays on for as long as the room exists. A server that is cut off is told how
// many messages it missed.
void Node::update_outward(Bytes room) {
  const auto found = rooms_.find(room);
  if (found == rooms_.end() || found->second.outward) return;
  if (!roster_.is_anybody_in(room, true)) return;
  found->second.outward = true;
  host_.set_outward(room);
}

void Node::on_local_room(RoomRecord record, Instant now) {
  const auto found = rooms_.find(record.room);
  const bool has_members = record.members > 0;
  if (record.first.size() > options_.names_max) record.first.resize(options_.names_max);
  bool soon = false;
  std::string room = record.room;
  if (found == rooms_.end()) {
    if (!has_members) return;
    rooms_.emplace(room, LocalRoom{std::move(record), false, outgoing_.position(room)});
    host_.watch(room);
    update_outward(room);
    soon = true;
  } else if (has_members) {
    found->second.record = std::move(record);
    // The room may have ended and begun again meanwhile.
    if (found->second.outward) host_.set_outward(room);
  } else {
    rooms_.erase(found);
    host_.unwatch(room);
    for (auto& [id, other] : others_) other.streams.forget(room);
  }
  changed_rooms_.insert(std::move(room));
  flush_due_ = std::min(flush_due_, soon ? now : now + options_.presence_interval);
  wake_at(flush_due_);
}

void Node::flush_changes(Instant) {
  flush_due_ = never;
  std::vector<RoomRecord> rooms;
  for (const std::string& name : std::exchange(changed_rooms_, {})) {
    const auto found = rooms_.find(name);
    rooms.push_back(found == rooms_.end() ? RoomRecord{name, 0, {}} : found->second.record);
  }
  in_portions(rooms, written_bytes, [&](std::vector<RoomRecord> portion) {
    host_.broadcast(write(options_.id, Changes{++version_, std::move(portion), {}}));
  });
  in_portions(std::exchange(changed_names_, {}), name_bytes, [&](std::vector<NameRecord> portion) {
    host_.broadcast(write(options_.id, Changes{++version_, {}, std::move(portion)}));
  });
}

Node::Said Node::said(Bytes room, std::uint32_t messages) {
  const Said said{outgoing_.note(room, messages, rounds_), roster_.is_anybody_in(room, false)};
  counters_.forgotten.raise_to(outgoing_.forgotten());
  return said;
}

IncomingStreams::Arrival Node::arrived(Bytes room, const BatchStamp& stamp, Instant now) {
  if (!started_ || stamp.from == options_.id) return {};
  Other* const other = hear(stamp.from, now);
  if (other == nullptr || !rooms_.contains(room)) return {};
  const auto arrival = other->streams.take(room, stamp.first, stamp.messages);
  if (!arrival.fresh) counters_.late.add(stamp.messages);
  counters_.missed.add(arrival.missing);
  return arrival;
}

IncomingStreams::Heard Node::heard(NodeId node, Bytes room) const {
  const auto found = others_.find(node);
  if (found == others_.end()) return {};
  return found->second.streams.heard(room);
}

bool Node::is_before(Bytes room, const HistoryEntry& entry) {
  if (entry.origin == 0) return true;  // it was said before there was a stream
  if (entry.origin == options_.id) {
    const auto own = rooms_.find(room);
    return own != rooms_.end() && entry.first < own->second.began;
  }
  const auto found = others_.find(entry.origin);
  // No message arrives any more from a server that is gone.
  return found == others_.end() ||
         found->second.streams.is_before(room, entry.first, entry.first + entry.messages);
}

// ---- heartbeats and numbers --------------------------------------------------------------------

void Node::beat(Instant now) {
  ++rounds_;
  beat_due_ = now + options_.heartbeat;
  std::vector<Heartbeat> parts;
  in_portions(lately(), position_bytes, [&](std::vector<Position> portion) {
    parts.emplace_back().positions = std::move(portion);
  });
  if (parts.empty()) parts.emplace_back();
  for (std::size_t part = 0; part < parts.size(); ++part) {
    Heartbeat& each = parts[part];
    each.name = options_.name;
    each.slot = slot_;
    each.claimed_ms = claimed_ms_;
    each.version = version_;
    each.round = rounds_;
    each.part = static_cast<std::uint16_t>(part);
    each.parts = static_cast<std::uint16_t>(parts.size());
    host_.broadcast(write(options_.id, each));
  }
  wake_at(beat_due_);
}

// The positions told with this heartbeat: those of this server, and of departed servers.
std::vector<Position> Node::lately() const {
  const std::uint64_t since = rounds_ > rounds_told ? rounds_ - rounds_told : 0;
  std::vector<Position> positions = outgoing_.moved_since(since);
  for (const auto& [id, other] : others_) {
    if (other.departed && other.departed_in >= since) other.streams.add_to(positions, id);
  }
  return positions;
}

void Node::take_claims(Other& sender, const std::vector<Position>& positions, Instant now) {
  const Instant due = now + options_.gap_grace;
  for (const Position& each : positions) {
    Other* of = &sender;
    if (each.of != 0) {
      const auto found = others_.find(each.of);
      if (found == others_.end()) continue;
      of = &found->second;
    }
    of->streams.claim(each.room, each.next, due);
  }
  if (!positions.empty()) wake_at(due);
}

void Node::tell_missing(Instant now) {
  for (auto& [id, other] : others_) {
    wake_at(other.streams.tell_due(now, [this](const std::string& room, std::uint64_t missing) {
      counters_.missed.add(missing);
      host_.on_missed(room, missing);
    }));
  }
}

// Both see the same two pairs, so they agree on who keeps the slot.
void Node::resolve_slot(const Other& other, NodeId from, Instant now) {
  if (other.slot != slot_) return;
  if (options_.slot) {
    host_.on_slot_twice(other.name, slot_);
    return;
  }
  if (std::pair(claimed_ms_, options_.id) < std::pair(other.claimed_ms, from)) return;
  const std::uint16_t before = slot_;
  const auto is_free = [this, before](std::uint16_t slot) {
    return slot != before && std::ranges::none_of(others_, [slot](const auto& each) {
             return !each.second.gone && each.second.slot == slot;
           });
  };
  do {
    slot_ = static_cast<std::uint16_t>(random_.below(slots));
  } while (!is_free(slot_) && nodes_alive_ + 1 < slots);
  claimed_ms_ = wall_ms(now);
  counters_.number_conflicts.add(1);
  host_.on_slot(before, slot_);
  beat(now);
}

// ---- names -------------------------------------------------------------------------------------

void Node::claim_name(std::uint64_t token, Bytes name, Instant now) {
  counters_.claims.add(1);
  PendingClaim claim{{std::string(name), wall_ms(now)},
                     {},
                     now + options_.claim_timeout,
                     now + nanoseconds(options_.claim_timeout.ns / 2)};
  for (const auto& [id, other] : others_) {
    if (!other.departed && !other.gone) claim.waits_for.insert(id);
  }
  const auto added = claims_.insert_or_assign(token, std::move(claim)).first;
  if (added->second.waits_for.empty()) {
    decide(added, true);
    return;
  }
  host_.broadcast(write(options_.id, Claim{token, added->second.name}));
  wake_at(added->second.repeat);
}

void Node::decide(std::map<std::uint64_t, PendingClaim>::iterator claim, bool granted) {
  const auto [token, pending] = *claim;
  claims_.erase(claim);
  if (granted) {
    names_[pending.name.name] = pending.name.taken_ms;
    changed_names_.push_back(pending.name);
    flush_due_ = std::min(flush_due_, beat_due_);
    wake_at(flush_due_);
  } else {
    counters_.claims_denied.add(1);
  }
  host_.on_claim_decided(token, pending.name.name, granted);
}

void Node::release_name(Bytes name) {
  if (const auto found = names_.find(name); found != names_.end()) names_.erase(found);
  std::erase_if(changed_names_, [name](const NameRecord& each) { return each.name == name; });
}

void Node::on_claim(NodeId from, const Claim& claim) {
  bool granted = !names_.contains(claim.name.name);
  for (auto each = claims_.begin(); each != claims_.end(); ++each) {
    if (each->second.name.name != claim.name.name) continue;
    // Both have asked at a time.
    granted =
        std::pair(claim.name.taken_ms, from) < std::pair(each->second.name.taken_ms, options_.id);
    if (granted) decide(each, false);
    break;
  }
  host_.send(from, write(options_.id, Verdict{from, claim.token, granted}));
}

void Node::on_verdict(NodeId from, const Verdict& verdict) {
  const auto found = claims_.find(verdict.token);
  if (found == claims_.end()) return;
  if (!verdict.granted) {
    decide(found, false);
    return;
  }
  found->second.waits_for.erase(from);
  if (found->second.waits_for.empty()) decide(found, true);
}

void Node::forget_waiting(NodeId gone) {
  std::vector<std::uint64_t> decided;
  for (auto& [token, claim] : claims_) {
    claim.waits_for.erase(gone);
    if (claim.waits_for.empty()) decided.push_back(token);
  }
  for (const std::uint64_t token : decided) decide(claims_.find(token), true);
}

void Node::decide_due_claims(Instant now) {
  std::vector<std::uint64_t> due;
  for (auto& [token, claim] : claims_) {
    if (claim.due <= now) {
      due.push_back(token);
    } else if (claim.repeat <= now) {
      claim.repeat = never;
      host_.broadcast(write(options_.id, Claim{token, claim.name}));
    }
    wake_at(std::min(claim.due, claim.repeat));
  }
  for (const std::uint64_t token : due) {
    counters_.claims_unheard.add(1);
    decide(claims_.find(token), true);
  }
}

// A client of another server has the name. If two took it without knowing of each other, the
// earlier one keeps it.
void Node::on_name_held(NodeId from, const NameRecord& name) {
  const auto found = names_.find(name.name);
  if (found == names_.end()) return;
  if (std::pair(found->second, options_.id) < std::pair(name.taken_ms, from)) {
    host_.send(from, write_held(options_.id, {name.name, found->second}));
    return;
  }
  names_.erase(found);
  counters_.name_conflicts.add(1);
  host_.on_name_lost(name.name);
}

// ---- time --------------------------------------------------------------------------------------

void Node::on_bus_gap(Instant now) {
  if (!started_) return;
  for (auto& [id, other] : others_) {
    if (other.departed || other.gone) continue;
    other.synced = false;
    want_sync(id, other, now);
  }
  beat_due_ = std::min(beat_due_, now);
  wake_at(beat_due_);
}

void Node::on_deadline(Instant now) {
  if (!started_) return;
  deadline_ = never;
  if (flush_due_ <= now) flush_changes(now);
  expire(now);
  tell_missing(now);
  decide_due_claims(now);
  if (beat_due_ <= now) beat(now);
  wake_at(std::min(beat_due_, flush_due_));
  update_counts();
}

void Node::update_counts() {
  counters_.nodes.add(nodes_alive_ - counters_.nodes.value());
  const std::uint64_t members = roster_.members();
  counters_.remote_members.add(members - counters_.remote_members.value());
}

}  // namespace katana::chat::cluster

// SPDX-License-Identifier: Apache-2.0
