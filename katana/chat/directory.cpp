#include "katana/chat/directory.hpp"

#include <algorithm>

#include "katana/base/check.hpp"

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
  return number_.fetch_add(1, std::memory_order_relaxed) + 1;
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
  return RoomKey{*place, joined.generation};
}

void Directory::leave(RoomKey room, unsigned reactor, std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  Room& left = places_[room.place];
  KATANA_CHECK(left.generation == room.generation && left.members.erase(number) == 1);
  members_on_[std::size_t{room.place} * reactors_ + reactor].fetch_sub(1,
                                                                       std::memory_order_relaxed);
  if (!left.members.empty() || room.place == 0) return;
  by_name_.erase(left.name);
  left.name.clear();
  ++left.generation;
}

std::optional<Presence> Directory::who(Bytes room, std::size_t names_max) const {
  const std::lock_guard lock(mutex_);
  const auto found = by_name_.find(room);
  if (found == by_name_.end()) return std::nullopt;
  const Room& asked = places_[found->second];
  Presence presence{asked.name, asked.members.size(), {}};
  for (const auto& [number, name] : asked.members) {
    if (presence.names.size() == names_max) break;
    presence.names.push_back(name);
  }
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
}

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
