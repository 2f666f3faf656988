// Directory: the data that all reactors of a chat server share: numbers, names, rooms.
//
// Owns       the names, and the members of each room.
// Borrows    the RemoteMembers (attach()), until detach().
// Thread     any. Joining, leaving, naming and asking take a mutex; a message does not.
// Allocates  when a member joins or takes a name.
// Fails      join() when there are rooms_max rooms, take_name() when another member has the name.
// Invariant  numbers are given in the order of admit(), and no two of the servers of one chat give
//            the same (set_numbering()). A name belongs to one member at a time; the names USER1,
//            USER2, … cannot be taken. A room exists while a member is in it, the lobby always.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "katana/base/text/bytes.hpp"

namespace katana::chat {

inline constexpr Bytes lobby_name = "lobby";  // every member begins here; it never ends

// The generation tells a room from earlier ones in its place.
struct RoomKey {
  std::uint32_t place = 0;       // from 0, which is the lobby's, to rooms_max - 1
  std::uint32_t generation = 0;  // grows with each room that is made in the place
  bool operator==(const RoomKey&) const = default;
};

// The answer of who() about a room, other servers included.
struct Presence {
  std::string room;                // the room that who() was asked for
  std::uint64_t members = 0;       // on all servers
  std::vector<std::string> names;  // the first members, at most names_max
};

// A member, as /who names it.
struct Person {
  std::uint64_t number = 0;  // the connection's number: the n of USERn
  std::string name;          // "USER12", or the name that was taken
  bool operator==(const Person&) const = default;
};

// The members in the rooms of other servers of the same chat.
class RemoteMembers {
 public:
  // Returns how many are in the room, and adds the first of them. From any thread, in a call of
  // the directory.
  virtual std::uint64_t add_to(Bytes room, std::size_t names_max,
                               std::vector<Person>& names) const = 0;

 protected:
  ~RemoteMembers() = default;
};

// A room in which a member came, left or took a name.
struct ChangedRoom {
  std::string name;           // the room's name
  RoomKey key;                // the lobby's if there is no such room any more
  std::uint32_t members = 0;  // 0: there is no such room any more, or the lobby is empty
  std::vector<Person> first;  // to come, as many as were asked for
};

class Directory {
 public:
  // REQUIRES rooms_max and reactors of 1 at least.
  Directory(std::uint32_t connections_max, std::uint32_t rooms_max, unsigned reactors);

  // A number for a new connection; 0: there are as many as there may be.
  std::uint64_t admit() noexcept;
  void dismiss() noexcept { connections_.fetch_sub(1, std::memory_order_relaxed); }
  std::uint32_t connections() const noexcept {
    return connections_.load(std::memory_order_relaxed);
  }

  // From here on the number of the connection that is admitted as the nth is n * stride + slot.
  void set_numbering(std::uint32_t stride, std::uint32_t slot) noexcept {
    // relaxed: a client admitted meanwhile has the one or the other.
    numbering_.store(std::uint64_t{stride} << 32 | slot, std::memory_order_relaxed);
  }

  // Connections that were given a number, so far.
  std::uint64_t admitted() const noexcept { return number_.load(std::memory_order_relaxed); }

  // ---- other servers of the same chat ----

  // `on_change(context)` is called when there is something to take_changed(), from any thread and
  // in a call of the directory. It is not called again before take_changed() was called. REQUIRES
  // that nothing is attached.
  void attach(const RemoteMembers& remote, void (*on_change)(void*) noexcept, void* context);
  void detach() noexcept;
  std::vector<ChangedRoom> take_changed(std::size_t names_max);
  // Messages in the room go to `reactor` too, until the room is gone.
  void set_outward(RoomKey room, unsigned reactor) noexcept;

  // Place and generation 0: it is there from the beginning.
  static RoomKey lobby() noexcept { return {}; }
  // Nothing: it would be one room too many.
  std::optional<RoomKey> join(Bytes room, unsigned reactor, std::uint64_t number, Bytes name);
  // True: no member is left, and the room has ended.
  bool leave(RoomKey room, unsigned reactor, std::uint64_t number);
  // Nothing: there is no such room.
  std::optional<Presence> who(Bytes room, std::size_t names_max) const;
  std::string name_of(RoomKey room) const;
  std::uint32_t rooms() const;

  // False: a member here has it, or it is of the form USERn. Other servers are not asked.
  bool take_name(Bytes name);
  // Frees the name; nothing happens if it was free.
  void give_name(Bytes name);
  // Sets the name that who() reports.
  void rename(RoomKey room, std::uint64_t number, Bytes name);
  // Gives a member another number.
  void renumber(RoomKey room, std::uint64_t number, std::uint64_t now, Bytes name);

  // The number of reactors whose members members_on() counts.
  unsigned reactors() const noexcept { return reactors_; }
  // Members that `reactor` has in the room: a moment later it may have others.
  std::uint32_t members_on(RoomKey room, unsigned reactor) const noexcept {
    return members_on_[std::size_t{room.place} * reactors_ + reactor].load(
        std::memory_order_relaxed);
  }

 private:
  struct Room {
    std::string name;  // empty: the place is free
    std::uint32_t generation = 0;
    std::map<std::uint64_t, std::string> members;
  };

  std::optional<std::uint32_t> find_or_add(Bytes room);
  void note_change(const std::string& room);

  const std::uint32_t connections_max_;
  const unsigned reactors_;
  std::atomic<std::uint32_t> connections_ = 0;
  std::atomic<std::uint64_t> number_ = 0;
  std::atomic<std::uint64_t> numbering_ = std::uint64_t{1} << 32;  // stride, slot
  std::unique_ptr<std::atomic<std::uint32_t>[]> members_on_;       // by place, then by reactor

  mutable std::mutex mutex_;  // guards what follows
  std::vector<Room> places_;
  std::map<std::string, std::uint32_t, std::less<>> by_name_;
  std::set<std::string, std::less<>> names_;
  const RemoteMembers* remote_ = nullptr;
  void (*on_change_)(void*) noexcept = nullptr;
  void* on_change_context_ = nullptr;
  std::set<std::string, std::less<>> changed_;
};

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
