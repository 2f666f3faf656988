#include "katana/http/events/event_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "katana/base/values/secrets.hpp"

namespace katana {
namespace {

// Values in forgotten_ that are no hashes of keys. A gap is hash_of_gap plus the number of lost
// events; 0 lost: unknown.
constexpr std::uint64_t hash_of_none = 0;  // an event without a key
constexpr std::uint64_t hash_of_gap = 1;
constexpr std::uint64_t hash_min = std::uint64_t{1} << 32;
constexpr std::size_t forgotten_min = 4096;
constexpr std::chrono::seconds clocks_differ_max{1};
constexpr std::size_t forgotten_max = 64 * 1024;

KeyedHash random_hash() {
  std::uint64_t key[2] = {};
  fill_random({reinterpret_cast<char*>(key), sizeof(key)});
  return {key[0], key[1]};
}

bool read_whole(Bytes text, std::uint64_t& number, int base) noexcept {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return !text.empty() && failure == std::errc() && end == text.data() + text.size();
}

std::string id_in_stream(Timestamp stored_at, std::uint64_t sequence) {
  return fmt::format("{:x}-{}", static_cast<std::uint64_t>(stored_at.time_since_epoch().count()),
                     sequence);
}

}  // namespace

void append_event(std::string& to, Bytes id, const Event& event) {
  if (!id.empty()) to.append("id: ").append(id).append("\n");
  if (!event.name.empty()) to.append("event: ").append(event.name).append("\n");
  Bytes rest = event.data;
  for (bool more = true; more;) {
    const std::size_t end = rest.find_first_of("\r\n");
    more = end != Bytes::npos;
    to.append("data: ").append(rest.substr(0, end)).append("\n");
    if (more) rest.remove_prefix(end + (rest.substr(end).starts_with("\r\n") ? 2 : 1));
  }
  to.append("\n");
}

EventLog::EventLog(const Limits& limits, std::string epoch)
    : limits_(limits),
      epoch_(std::move(epoch)),
      hash_(random_hash()),
      is_loaded_(!epoch_.empty()) {}

// ---- events ------------------------------------------------------------------------------------

std::uint64_t EventLog::add(const Event& event) {
  const std::uint64_t number = next_number();
  auto octets = std::make_shared<std::string>();
  append_event(*octets, fmt::format("{}-{}", epoch_, number), event);
  keep({.octets = std::move(octets), .key = std::string(event.key)});
  ++published_;
  return number;
}

// If the sequences begin anew, the store may have been restored. Events that are kept here, and
// older ones, then arrive again.
bool EventLog::is_replayed(std::uint64_t sequence, Timestamp stored_at) {
  if (stored_at > replayed_until_) {
    is_replaying_ = false;
    return false;
  }
  std::uint64_t number = 0;
  const Entry* const first = first_event(number);
  if (first != nullptr && stored_at < first->stored_at) return true;
  return find(sequence, stored_at, number) != nullptr;
}

bool EventLog::add_stored(const Event& event, std::uint64_t sequence, Timestamp stored_at,
                          bool is_anew) {
  if (is_anew) {
    is_replaying_ = true;
    replayed_until_ = last_stored_at_;
  } else if (last_sequence_ == 0) {
    // The first readers then find the number of the event that they saw elsewhere.
    if (!is_loaded_ && entries_.empty()) {
      first_ = sequence;
      published_ = sequence - 1;
    }
  } else {
    if (sequence <= last_sequence_) return false;  // a duplicate
    if (sequence > last_sequence_ + 1 && !is_replaying_) add_gap(sequence - last_sequence_ - 1);
  }
  last_sequence_ = sequence;
  if (is_replaying_ && is_replayed(sequence, stored_at)) return false;
  last_stored_at_ = std::max(last_stored_at_, stored_at);
  auto octets = std::make_shared<std::string>();
  append_event(*octets, id_in_stream(stored_at, sequence), event);
  keep({.octets = std::move(octets),
        .key = std::string(event.key),
        .sequence = sequence,
        .stored_at = stored_at});
  ++published_;
  return true;
}

void EventLog::add_gap(std::uint64_t lost) {
  ++gaps_;
  published_ += lost;
  keep({.lost = lost});
}

std::uint64_t EventLog::hash_of(Bytes key) const noexcept {
  return std::max(hash_.of(key), hash_min);
}

void EventLog::keep(Entry entry) {
  if (entry.octets != nullptr) bytes_ += entry.octets->size();
  entries_.push_back(std::move(entry));
  while (size() > limits_.events_max || gaps_ > limits_.events_max ||
         (bytes_ > limits_.bytes_max && entries_.size() > 1)) {
    drop_first();
  }
}

void EventLog::drop_first() {
  const Entry& first = entries_.front();
  std::uint64_t hash = hash_of_none;
  if (first.octets == nullptr) {
    hash = std::min(hash_of_gap + first.lost, hash_min - 1);
    --gaps_;
  } else {
    bytes_ -= first.octets->size();
    if (!first.key.empty()) hash = hash_of(first.key);
  }
  forgotten_.push_back(hash);
  const std::size_t most = std::clamp(16 * limits_.events_max, forgotten_min, forgotten_max);
  if (forgotten_.size() > most) forgotten_.pop_front();
  entries_.pop_front();
  ++first_;
}

// ---- readers -----------------------------------------------------------------------------------

std::optional<EventLog::Id> EventLog::read_id(Bytes text) {
  const std::size_t dash = text.find('-');
  if (dash == Bytes::npos) return std::nullopt;
  Id id;
  if (!read_whole(text.substr(0, dash), id.high, 16)) return std::nullopt;
  if (!read_whole(text.substr(dash + 1), id.low, 10)) return std::nullopt;
  return id;
}

const EventLog::Entry* EventLog::find(std::uint64_t sequence, Timestamp stored_at,
                                      std::uint64_t& number) const {
  for (std::size_t index = entries_.size(); index-- > 0;) {
    const Entry& each = entries_[index];
    if (each.octets == nullptr || each.sequence != sequence || each.stored_at != stored_at) {
      continue;
    }
    number = first_ + index;
    return &each;
  }
  return nullptr;
}

const EventLog::Entry* EventLog::last_event() const noexcept {
  for (auto each = entries_.rbegin(); each != entries_.rend(); ++each) {
    if (each->octets != nullptr) return &*each;
  }
  return nullptr;
}

const EventLog::Entry* EventLog::first_event(std::uint64_t& number) const noexcept {
  number = first_;
  for (const Entry& each : entries_) {
    if (each.octets != nullptr) return &each;
    ++number;
  }
  return nullptr;
}

void EventLog::place(EventReader& reader) {
  reader.is_placed = true;
  if (reader.wanted_id.empty()) {
    reader.cursor = next_number() - std::min(entries_.size(), limits_.recent_for_new);
    if (reader.came_at != Timestamp{}) place_by_time(reader);
    return;
  }
  reader.cursor = first_;  // all kept events, if nothing better is known
  const auto id = read_id(reader.wanted_id);
  if (!id) return;
  if (is_of_stream()) return place_in_stream(reader, *id);
  // An id of an earlier run of the program: every kept event is new to this reader.
  const bool is_known =
      Bytes(reader.wanted_id).starts_with(epoch_ + "-") && id->low < next_number();
  if (is_known) reader.cursor = id->low + 1;
}

// The reader came before this process knew the stream. It gets the events that were stored since
// then. clocks_differ_max allows for different clocks of this process and of the server that stores
// the stream.
void EventLog::place_by_time(EventReader& reader) const {
  const Timestamp since = reader.came_at - clocks_differ_max;
  std::uint64_t number = next_number();
  while (number > first_) {
    const Entry& before = entries_[number - first_ - 1];
    if (before.octets != nullptr && before.stored_at < since) break;
    --number;
  }
  reader.cursor = std::min(reader.cursor, number);
  // Events that have left the stream may have been stored since then as well.
  reader.has_lost = number == first_ && number > 1 && !entries_.empty();
}

void EventLog::place_in_stream(EventReader& reader, const Id& id) {
  if (id.high > static_cast<std::uint64_t>(INT64_MAX)) return;
  const Timestamp time{std::chrono::microseconds(static_cast<std::int64_t>(id.high))};
  std::uint64_t number = 0;
  if (find(id.low, time, number) != nullptr) {
    reader.cursor = number + 1;
    return;
  }
  const Entry* const first = first_event(number);
  const Entry* const last = last_event();
  // The stream keeps nothing: the events that the reader saw are gone, and perhaps more.
  if (first == nullptr) reader.has_lost = true;
  if (first == nullptr || (id.low > last->sequence && time >= last->stored_at)) {
    // The id is of a process that is ahead of this one: the events up to it are not sent again.
    reader.cursor = next_number();
    reader.passed_until = id.low;
    reader.passed_until_time = time;
    return;
  }
  const bool is_older = id.low < first->sequence && time <= first->stored_at;
  const std::uint64_t between = is_older ? first->sequence - id.low - 1 : 0;
  // Without keys the sequences say how many events are missing. With keys this uses the numbers of
  // the entries here.
  if (is_older && reader.keys && between < number) {
    reader.cursor = number - between;
    return;
  }
  // The id is of another life of the stream, or from before this process knew the stream. Gaps in
  // front of the first event are reported together with this loss.
  reader.has_lost = !is_older || between != 0;
  reader.lost = reader.keys ? 0 : between;
  reader.cursor = number;
}

// Counts the lost events from the reader's cursor to the first kept entry.
void EventLog::count_lost(EventReader& reader) {
  const std::uint64_t from = std::exchange(reader.cursor, first_);
  const std::uint64_t remembered = first_ - forgotten_.size();
  bool is_countable = from >= remembered || !reader.keys;
  std::uint64_t count = !reader.keys && from < remembered ? remembered - from : 0;
  for (std::uint64_t number = std::max(from, remembered); number < first_; ++number) {
    const std::uint64_t hash = forgotten_[number - remembered];
    if (hash != hash_of_none && hash < hash_min) {
      is_countable = is_countable && !reader.keys && hash != hash_of_gap;
      count += hash - hash_of_gap;
      continue;
    }
    const auto is_own = [&](const std::string& key) { return hash_of(key) == hash; };
    if (!reader.keys || hash == hash_of_none || std::ranges::any_of(*reader.keys, is_own)) ++count;
  }
  reader.has_lost = !is_countable || count != 0;
  reader.lost = is_countable ? count : 0;
}

bool EventLog::wants(const EventReader& reader, const Entry& entry) {
  if (reader.passed_until != 0 && entry.sequence <= reader.passed_until &&
      entry.stored_at <= reader.passed_until_time) {
    return false;
  }
  if (!reader.keys || entry.key.empty()) return true;
  return std::ranges::find(*reader.keys, entry.key) != reader.keys->end();
}

// Reports gaps directly behind lost events together with them.
void EventLog::take_gaps(EventReader& reader) const {
  while (reader.cursor < next_number()) {
    const Entry& entry = entries_[reader.cursor - first_];
    if (entry.octets != nullptr) return;
    const bool is_countable = reader.lost != 0 && entry.lost != 0 && !reader.keys;
    reader.lost = is_countable ? reader.lost + entry.lost : 0;
    ++reader.cursor;
  }
}

EventLog::Taken EventLog::take(EventReader& reader) {
  place_if_loaded(reader);
  if (!reader.is_placed) return {};
  const bool is_slow = std::exchange(reader.has_begun, true) && reader.cursor < first_;
  if (reader.cursor < first_) count_lost(reader);
  if (std::exchange(reader.has_lost, false)) {
    take_gaps(reader);
    return {.is_lost = true, .lost = reader.lost, .is_slow = is_slow};
  }
  while (reader.cursor < next_number()) {
    const Entry& entry = entries_[reader.cursor++ - first_];
    if (entry.octets == nullptr) {
      return {.is_lost = true, .lost = reader.keys ? 0 : entry.lost};
    }
    if (!wants(reader, entry)) {
      reader.has_passed = true;
      continue;
    }
    reader.has_passed = false;
    return {.octets = entry.octets};
  }
  return {};
}

std::string EventLog::last_id(const EventReader& reader) const {
  constexpr Bytes begin = "id: ";
  for (std::uint64_t number = reader.cursor; number > first_; --number) {
    const Entry& entry = entries_[number - first_ - 1];
    if (entry.octets == nullptr) continue;
    const Bytes octets = Bytes(*entry.octets).substr(begin.size());
    return std::string(octets.substr(0, octets.find('\n')));
  }
  return {};
}

std::vector<EventLog::Octets> EventLog::from(std::uint64_t number) const {
  std::vector<Octets> found;
  for (std::uint64_t index = std::max(number, first_) - first_; index < entries_.size(); ++index) {
    if (entries_[index].octets != nullptr) found.push_back(entries_[index].octets);
  }
  return found;
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
