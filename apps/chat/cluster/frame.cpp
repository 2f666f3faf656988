#include "apps/chat/cluster/frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <concepts>
#include <system_error>
#include <utility>

#include "apps/chat/wire/limits.hpp"
#include "apps/chat/wire/line_text.hpp"
#include "katana/base/system/check.hpp"

namespace katana::chat::cluster {
namespace {

constexpr char version = 1;
// A server's name is a host and a port.
constexpr std::size_t node_name_bytes_max = 255;
// No sum of such numbers overflows, even if the sender made them up.
constexpr std::uint64_t position_max = std::uint64_t{1} << 60;

class Writer {
 public:
  Writer(Kind kind, NodeId from) {
    out_ = {'k', 'c', version, static_cast<char>(kind)};
    put(from);
  }
  template <std::unsigned_integral Number>
  Writer& put(Number number) {
    for (std::size_t at = 0; at < sizeof number; ++at) {
      out_ += static_cast<char>((std::uint64_t{number} >> (8 * at)) & 0xff);
    }
    return *this;
  }
  Writer& put(std::int64_t number) { return put(static_cast<std::uint64_t>(number)); }
  Writer& put(Bytes text) {
    KATANA_REQUIRE(text.size() <= 255);
    put(static_cast<std::uint8_t>(text.size()));
    out_ += text;
    return *this;
  }
  Writer& put(const std::string& text) { return put(Bytes(text)); }
  Writer& put(const NameRecord& name) { return put(name.name).put(name.taken_ms); }
  Writer& put(const Position& position) {
    return put(position.of).put(position.room).put(position.next);
  }
  Writer& put(const RoomRecord& record) {
    put(record.room).put(record.members);
    const std::size_t count = std::min(record.first.size(), names_per_room_max);
    put(static_cast<std::uint8_t>(count));
    for (std::size_t at = 0; at < count; ++at)
      put(record.first[at].number).put(record.first[at].name);
    return *this;
  }
  Writer& put(const HistoryEntry& entry) {
    put(entry.origin).put(entry.first).put(entry.messages);
    put(static_cast<std::uint32_t>(entry.lines.size()));
    out_ += entry.lines;
    return *this;
  }
  template <class Item>
  Writer& put(const std::vector<Item>& list) {
    KATANA_REQUIRE(list.size() <= UINT16_MAX);
    put(static_cast<std::uint16_t>(list.size()));
    for (const Item& each : list) put(each);
    return *this;
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

class Reader {
 public:
  explicit Reader(Bytes bytes) noexcept : left_(bytes) {}

  template <std::unsigned_integral Number>
  Reader& get(Number& number) noexcept {
    std::uint64_t sum = 0;
    const Bytes bytes = take(sizeof number);
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      sum |= std::uint64_t{static_cast<std::uint8_t>(bytes[at])} << (8 * at);
    }
    number = static_cast<Number>(sum);
    return *this;
  }
  Reader& get(std::int64_t& number) noexcept {
    std::uint64_t bits = 0;
    get(bits);
    number = static_cast<std::int64_t>(bits);
    return *this;
  }
  Bytes text() noexcept {
    std::uint8_t size = 0;
    get(size);
    return take(size);
  }
  // For a person or a room.
  Bytes name() noexcept {
    const Bytes found = text();
    if (good_ && (check_text(found) != Refusal::none || !is_name(found))) good_ = false;
    return good_ ? found : Bytes();
  }
  Reader& get_name(std::string& to) {
    to = name();
    return *this;
  }
  Reader& get(NameRecord& to) { return get_name(to.name).get(to.taken_ms); }
  Reader& get(Position& to) {
    get(to.of).get_name(to.room).get(to.next);
    if (to.next > position_max) good_ = false;
    return *this;
  }
  Reader& get(Person& to) { return get(to.number).get_name(to.name); }
  Reader& get(RoomRecord& to) {
    std::uint8_t count = 0;
    get_name(to.room).get(to.members).get(count);
    for (std::size_t at = 0; good_ && at < count; ++at) get(to.first.emplace_back());
    if (to.first.size() > to.members) good_ = false;
    return *this;
  }
  Reader& get(HistoryEntry& to) {
    std::uint32_t size = 0;
    get(to.origin).get(to.first).get(to.messages).get(size);
    to.lines = take(size);
    if (good_ && (!are_lines(to.lines, to.messages) || to.first > position_max)) good_ = false;
    return *this;
  }
  template <class Item>
  Reader& get(std::vector<Item>& list) {
    std::uint16_t count = 0;
    get(count);
    // No more is reserved than the bytes can hold: each item takes some.
    for (std::size_t at = 0; good_ && at < count; ++at) get(list.emplace_back());
    return *this;
  }
  Bytes rest() noexcept { return std::exchange(left_, {}); }
  // Everything was there, and nothing more.
  bool whole() const noexcept { return good_ && left_.empty(); }
  bool good() const noexcept { return good_; }

 private:
  Bytes take(std::size_t size) noexcept {
    if (!good_ || size > left_.size()) {
      good_ = false;
      return {};
    }
    const Bytes taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }
  Bytes left_;
  bool good_ = true;
};

template <class Value>
std::optional<Value> if_whole(const Reader& reader, Value value) {
  if (!reader.whole()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<FrameHead> read_head(Bytes frame) noexcept {
  if (frame.size() < frame_head_bytes || frame[0] != 'k' || frame[1] != 'c' ||
      frame[2] != version) {
    return std::nullopt;
  }
  const auto kind = static_cast<std::uint8_t>(frame[3]);
  if (kind == 0 || kind >= static_cast<std::uint8_t>(Kind::count_)) return std::nullopt;
  FrameHead head{static_cast<Kind>(kind), 0, {}};
  if (frame.size() > control_bytes_max) return std::nullopt;
  Reader reader(frame.substr(4));
  reader.get(head.from);
  head.body = reader.rest();
  return head;
}

std::string write(const BatchStamp& stamp) {
  return fmt::format("{:x} {:x} {:x}", stamp.from, stamp.first, stamp.messages);
}

std::optional<BatchStamp> read_stamp(Bytes header) noexcept {
  const auto number = [&header](auto& to, bool last) {
    const char* const end = header.data() + header.size();
    const auto [at, error] = std::from_chars(header.data(), end, to, 16);
    if (error != std::errc{} || (at == end) != last || (!last && *at != ' ')) return false;
    header.remove_prefix(static_cast<std::size_t>(at - header.data()) + (last ? 0 : 1));
    return true;
  };
  BatchStamp stamp;
  if (!number(stamp.from, false) || !number(stamp.first, false) || !number(stamp.messages, true) ||
      stamp.first > position_max || stamp.messages == 0) {
    return std::nullopt;
  }
  return stamp;
}

bool are_lines(Bytes text, std::uint32_t messages) noexcept {
  return text.ends_with('\n') &&
         static_cast<std::uint64_t>(std::ranges::count(text, '\n')) == messages;
}

std::string write(NodeId from, const Heartbeat& heartbeat) {
  return Writer(Kind::heartbeat, from)
      .put(heartbeat.name)
      .put(heartbeat.slot)
      .put(heartbeat.claimed_ms)
      .put(heartbeat.version)
      .put(heartbeat.round)
      .put(heartbeat.part)
      .put(heartbeat.parts)
      .put(heartbeat.positions)
      .take();
}

std::optional<Heartbeat> read_heartbeat(Bytes body) {
  Reader reader(body);
  Heartbeat heartbeat;
  heartbeat.name = reader.text();
  reader.get(heartbeat.slot).get(heartbeat.claimed_ms).get(heartbeat.version);
  reader.get(heartbeat.round).get(heartbeat.part).get(heartbeat.parts).get(heartbeat.positions);
  if (heartbeat.part >= heartbeat.parts) return std::nullopt;
  if (heartbeat.name.empty() || heartbeat.name.size() > node_name_bytes_max ||
      check_text(heartbeat.name) != Refusal::none) {
    return std::nullopt;
  }
  return if_whole(reader, std::move(heartbeat));
}

std::string write(NodeId from, const Changes& changes) {
  return Writer(Kind::changes, from)
      .put(changes.version)
      .put(changes.rooms)
      .put(changes.names)
      .take();
}

std::optional<Changes> read_changes(Bytes body) {
  Reader reader(body);
  Changes changes;
  reader.get(changes.version).get(changes.rooms).get(changes.names);
  return if_whole(reader, std::move(changes));
}

std::string write(NodeId from, const Snapshot& snapshot) {
  return Writer(Kind::snapshot, from)
      .put(snapshot.version)
      .put(snapshot.part)
      .put(snapshot.parts)
      .put(snapshot.rooms)
      .put(snapshot.names)
      .put(snapshot.positions)
      .take();
}

std::optional<Snapshot> read_snapshot(Bytes body) {
  Reader reader(body);
  Snapshot snapshot;
  reader.get(snapshot.version).get(snapshot.part).get(snapshot.parts);
  reader.get(snapshot.rooms).get(snapshot.names).get(snapshot.positions);
  if (snapshot.part >= snapshot.parts) return std::nullopt;
  return if_whole(reader, std::move(snapshot));
}

std::string write(NodeId from, const Claim& claim) {
  return Writer(Kind::claim, from).put(claim.token).put(claim.name).take();
}

std::optional<Claim> read_claim(Bytes body) {
  Reader reader(body);
  Claim claim;
  reader.get(claim.token).get(claim.name);
  return if_whole(reader, std::move(claim));
}

std::string write(NodeId from, const Verdict& verdict) {
  return Writer(Kind::verdict, from)
      .put(verdict.to)
      .put(verdict.token)
      .put(static_cast<std::uint8_t>(verdict.granted))
      .take();
}

std::optional<Verdict> read_verdict(Bytes body) {
  Reader reader(body);
  Verdict verdict;
  std::uint8_t granted = 0;
  reader.get(verdict.to).get(verdict.token).get(granted);
  if (granted > 1) return std::nullopt;
  verdict.granted = granted == 1;
  return if_whole(reader, verdict);
}

std::string write(NodeId from, const HistoryWanted& wanted) {
  return Writer(Kind::history_wanted, from)
      .put(wanted.to)
      .put(wanted.token)
      .put(wanted.room)
      .put(wanted.messages)
      .take();
}

std::optional<HistoryWanted> read_history_wanted(Bytes body) {
  Reader reader(body);
  HistoryWanted wanted;
  reader.get(wanted.to).get(wanted.token).get_name(wanted.room).get(wanted.messages);
  return if_whole(reader, std::move(wanted));
}

std::string write(NodeId from, const History& history) {
  return Writer(Kind::history, from)
      .put(history.to)
      .put(history.token)
      .put(history.room)
      .put(history.entries)
      .take();
}

std::optional<History> read_history(Bytes body) {
  Reader reader(body);
  History history;
  reader.get(history.to).get(history.token).get_name(history.room).get(history.entries);
  return if_whole(reader, std::move(history));
}

std::string write_positions(NodeId from, const std::vector<Position>& positions) {
  return Writer(Kind::positions, from).put(positions).take();
}

std::optional<std::vector<Position>> read_positions(Bytes body) {
  Reader reader(body);
  std::vector<Position> positions;
  reader.get(positions);
  return if_whole(reader, std::move(positions));
}

std::string write_held(NodeId from, const NameRecord& name) {
  return Writer(Kind::held, from).put(name).take();
}

std::optional<NameRecord> read_held(Bytes body) {
  Reader reader(body);
  NameRecord name;
  reader.get(name);
  return if_whole(reader, std::move(name));
}

std::string write_sync_wanted(NodeId from, NodeId to) {
  return Writer(Kind::sync_wanted, from).put(to).take();
}

std::optional<NodeId> read_sync_wanted(Bytes body) {
  Reader reader(body);
  NodeId to = 0;
  reader.get(to);
  return if_whole(reader, to);
}

std::string write_goodbye(NodeId from) { return Writer(Kind::goodbye, from).take(); }

std::size_t written_bytes(const RoomRecord& record) noexcept {
  std::size_t bytes = record.room.size() + 6;
  for (const Person& each : record.first) bytes += each.name.size() + 9;
  return bytes;
}

}  // namespace katana::chat::cluster

// SPDX-License-Identifier: Apache-2.0
