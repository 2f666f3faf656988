#include "apps/chat/directory.hpp"

#include <algorithm>
#include <utility>

#include "katana/base/system/check.hpp"

namespace katana::chat {
namespace {

bool is_given_name(Bytes name) noexcept {
  return name.size() > 4 && name.starts_with("USER") &&
         std::ranges::all_of(name.substr(4), [](char each) { return each >= '0' && each <= '9'; });
}

}  // namespace

Directory::Directory(std::uint32_t connections_max, std::uint32_t rooms_max, unsigned reactors)
    : connections_max_(connections_max),
      reactors_(reactors),
      members_on_(
          std::make_unique<std::atomic<std::uint32_t>[]>(std::size_t{rooms_max} * reactors)),
      places_(rooms_max) {
  KATANA_REQUIRE(rooms_max > 0 && reactors > 0);
  places_[0].name = lobby_name;
  by_name_.emplace(lobby_name, 0);
}

std::uint64_t Directory::admit() noexcept {
  if (connections_.fetch_add(1, std::memory_order_relaxed) >= connections_max_) {
    dismiss();
    return 0;
  }
  const std::uint64_t nth = number_.fetch_add(1, std::memory_order_relaxed) + 1;
  const std::uint64_t numbering = numbering_.load(std::memory_order_relaxed);
  return nth * (numbering >> 32) + (numbering & UINT32_MAX);
}

std::optional<std::uint32_t> Directory::find_or_add(Bytes room) {
  if (const auto found = by_name_.find(room); found != by_name_.end()) return found->second;
  const auto free =
      std::ranges::find_if(places_, [](const Room& each) { return each.name.empty(); });
  if (free == places_.end()) return std::nullopt;
  free->name = room;
  const auto place = static_cast<std::uint32_t>(free - places_.begin());
  by_name_.emplace(room, place);
  return place;
}

std::optional<RoomKey> Directory::join(Bytes room, unsigned reactor, std::uint64_t number,
                                       Bytes name) {
  const std::lock_guard lock(mutex_);
  const auto place = find_or_add(room);
  if (!place) return std::nullopt;
  Room& joined = places_[*place];
  joined.members.emplace(number, name);
  members_on_[std::size_t{*place} * reactors_ + reactor].fetch_add(1, std::memory_order_relaxed);
  note_change(joined.name);
  return RoomKey{*place, joined.generation};
}

bool Directory::leave(RoomKey room, unsigned reactor, std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  Room& left = places_[room.place];
  KATANA_CHECK(left.generation == room.generation && left.members.erase(number) == 1);
  members_on_[std::size_t{room.place} * reactors_ + reactor].fetch_sub(1,
                                                                       std::memory_order_relaxed);
  note_change(left.name);
  if (!left.members.empty() || room.place == 0) return false;
  // Where it goes beside its members (set_outward()) ends with it.
  for (unsigned each = 0; each < reactors_; ++each) {
    members_on_[std::size_t{room.place} * reactors_ + each].store(0, std::memory_order_relaxed);
  }
  by_name_.erase(left.name);
  left.name.clear();
  ++left.generation;
  return true;
}

std::optional<Presence> Directory::who(Bytes room, std::size_t names_max) const {
  const std::lock_guard lock(mutex_);
  const auto found = by_name_.find(room);
  Presence presence{std::string(room), 0, {}};
  std::vector<Person> first;
  if (found != by_name_.end()) {
    const Room& asked = places_[found->second];
    presence.members = asked.members.size();
    for (const auto& [number, name] : asked.members) {
      if (first.size() == names_max) break;
      first.push_back({number, name});
    }
  }
  if (remote_ != nullptr) {
    presence.members += remote_->add_to(room, names_max, first);
    std::ranges::sort(first, {}, &Person::number);
    first.resize(std::min(first.size(), names_max));
  }
  if (found == by_name_.end() && presence.members == 0) return std::nullopt;
  for (Person& each : first) presence.names.push_back(std::move(each.name));
  return presence;
}

std::string Directory::name_of(RoomKey room) const {
  const std::lock_guard lock(mutex_);
  return places_[room.place].name;
}

std::uint32_t Directory::rooms() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::uint32_t>(by_name_.size());
}

bool Directory::take_name(Bytes name) {
  if (is_given_name(name)) return false;
  const std::lock_guard lock(mutex_);
  return names_.emplace(name).second;
}

void Directory::give_name(Bytes name) {
  const std::lock_guard lock(mutex_);
  if (const auto found = names_.find(name); found != names_.end()) names_.erase(found);
}

void Directory::rename(RoomKey room, std::uint64_t number, Bytes name) {
  const std::lock_guard lock(mutex_);
  places_[room.place].members.at(number) = name;
  note_change(places_[room.place].name);
}

void Directory::renumber(RoomKey room, std::uint64_t number, std::uint64_t now, Bytes name) {
  const std::lock_guard lock(mutex_);
  Room& in = places_[room.place];
  KATANA_CHECK(in.members.erase(number) == 1);
  in.members.emplace(now, name);
  note_change(in.name);
}

// ---- other servers of the same chat ------------------------------------------------------------

void Directory::attach(const RemoteMembers& remote, void (*on_change)(void*) noexcept,
                       void* context) {
  const std::lock_guard lock(mutex_);
  KATANA_REQUIRE(remote_ == nullptr);
  remote_ = &remote;
  on_change_ = on_change;
  on_change_context_ = context;
  for (const Room& each : places_) {
    if (!each.members.empty()) note_change(each.name);
  }
}

void Directory::detach() noexcept {
  const std::lock_guard lock(mutex_);
  remote_ = nullptr;
  on_change_ = nullptr;
  changed_.clear();
}

void Directory::note_change(const std::string& room) {
  if (on_change_ == nullptr) return;
  const bool is_first = changed_.empty();
  if (changed_.emplace(room).second && is_first) on_change_(on_change_context_);
}

std::vector<ChangedRoom> Directory::take_changed(std::size_t names_max) {
  const std::lock_guard lock(mutex_);
  std::vector<ChangedRoom> changed;
  for (const std::string& name : std::exchange(changed_, {})) {
    ChangedRoom& room = changed.emplace_back();
    room.name = name;
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) continue;
    const Room& place = places_[found->second];
    room.key = {found->second, place.generation};
    room.members = static_cast<std::uint32_t>(place.members.size());
    for (const auto& [number, of] : place.members) {
      if (room.first.size() == names_max) break;
      room.first.push_back({number, of});
    }
  }
  return changed;
}

void Directory::set_outward(RoomKey room, unsigned reactor) noexcept {
  const std::lock_guard lock(mutex_);
  if (places_[room.place].generation != room.generation || places_[room.place].name.empty()) return;
  members_on_[std::size_t{room.place} * reactors_ + reactor].store(1, std::memory_order_relaxed);
}

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
