// Sequencer: numbers the messages of one publisher, by subject. GapDetector: finds by these numbers
// the messages that did not arrive.
//
// A transport that delivers at most once says nothing of a loss. Each message therefore carries its
// publisher and its number among this publisher's messages to this subject. When the subject has
// been silent for a while, the publisher repeats the number without a message: this shows a loss at
// the end. It adds the age of the first number. A receiver that subscribed before that time then
// knows that it missed all messages before the first one that it saw.
//
//   number       what stands in front of it        what is told
//   n + 1        n                                 nothing
//   n + 4        n                                 missed 3
//   n or less    n                                 nothing: a duplicate, which nobody is given
//   1            none                              nothing
//   5            none, first number older than     nothing: the others were before its time
//                the subscription
//   5            none, first number younger        missed 4
//   5            forgotten: the table was full     may have missed
//
// Owns       a table of subjects each, with subjects_max, or entries_max, places.
// Thread     one.
// Allocates  a place when a subject is new.
// Fails      std::bad_alloc.
// Invariant  a subject that leaves the full table of a Sequencer comes back with a new generation
//            in the upper bits of its numbers. The subject that was silent for longest leaves.
//            Receivers see no gap before the first number of a generation: no false gap is told.
//            A loss that falls together with such an exchange may not be counted.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "katana/base/memory/linked_list.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/base/values/keyed_hash.hpp"
#include "katana/stores/bus/message.hpp"

namespace katana::bus {

// Bits of a number that count messages; those above them are its generation.
inline constexpr unsigned generation_shift = 40;

// The number of subjects that a publisher remembers, and the time after which a loss is found.
struct SequencerOptions {
  std::size_t subjects_max = 16 * 1024;  // at least 1; beyond it the longest silent one goes
  // The number is repeated this long after a message, and then twice more, each time after twice as
  // long. While messages come, it is repeated at this interval, too.
  Duration repeat_after = seconds(2);
};

class Sequencer {
 public:
  // REQUIRES a publisher that is not 0.
  explicit Sequencer(std::uint64_t publisher, const SequencerOptions& options = {});
  ~Sequencer();
  Sequencer(const Sequencer&) = delete;
  Sequencer& operator=(const Sequencer&) = delete;

  // The publisher as given: not 0, and unlike that of every other publisher of the bus.
  std::uint64_t publisher() const noexcept { return publisher_; }
  // The number of the message that is published now.
  Origin next(Bytes subject, Instant now);

  // A number to send again, without a message.
  struct Repeat {
    Bytes subject;  // borrowed, for the visit
    Origin origin;  // the last number
    Duration age;   // since the first of its generation
  };
  // The time when repeat() has something to do.
  Instant due() const noexcept { return due_.empty() ? never : due_.begin()->first; }
  // Calls `visit(Repeat)` for each subject that is due, at most `count`.
  template <class Visit>
  void repeat(Instant now, std::size_t count, Visit&& visit) {
    for (; count > 0 && due() <= now; --count) visit(repeat_first(now));
  }
  std::size_t subjects() const noexcept { return order_.size(); }

 private:
  struct Entry : ListHook<Entry> {
    std::string subject;
    std::uint64_t number = 0;
    Instant first;
    Instant last;
    Instant repeated;
    Instant due = never;
    unsigned silent_repeats = 0;
  };
  struct Hash {
    using is_transparent = void;
    KeyedHash hash;
    std::size_t operator()(Bytes text) const noexcept { return hash.of(text); }
  };
  Repeat repeat_first(Instant now);
  void set_due(Entry& entry, Instant due);
  Entry& add(Bytes subject, Instant now);

  const std::uint64_t publisher_;
  const SequencerOptions options_;
  std::uint64_t generation_ = 0;
  std::unordered_map<std::string, std::unique_ptr<Entry>, Hash, std::equal_to<>> entries_;
  LinkedList<Entry> order_;  // the one that was silent for longest is first
  std::multimap<Instant, Entry*> due_;
};

// The receivers' side. One detector serves all subscriptions of a connection.
class GapDetector {
 public:
  explicit GapDetector(std::size_t entries_max = 64 * 1024);
  ~GapDetector();
  GapDetector(const GapDetector&) = delete;
  GapDetector& operator=(const GapDetector&) = delete;

  // `subscription`: a number that no other one has.
  void add(std::uint64_t subscription, Instant now);
  void remove(std::uint64_t subscription) noexcept;

  // The findings that subscribers are told; all zero: nothing to tell.
  struct Verdict {
    std::uint64_t missed = 0;      // messages that are known to be lost
    bool may_have_missed = false;  // the table has forgotten this publisher's last number
    bool is_duplicate = false;     // the message is to be dropped
  };
  // The verdict is empty for a subscription that was not added, or an origin that does not count.
  Verdict on_message(std::uint64_t subscription, Bytes subject, Origin origin);
  // Judges a repeated number; `age` is the time since the first number of its generation.
  Verdict on_repeat(std::uint64_t subscription, Bytes subject, Origin origin, Duration age,
                    Instant now);
  std::size_t entries() const noexcept { return order_.size(); }

 private:
  struct Subscribed {
    Instant since;
    bool has_forgotten = false;  // an entry that is still wanted has left the full table
  };
  struct Key {
    std::uint64_t subscription;
    std::uint64_t publisher;
    std::string subject;
    auto operator<=>(const Key&) const = default;
  };
  struct KeyView {
    std::uint64_t subscription;
    std::uint64_t publisher;
    Bytes subject;
  };
  struct Hash {
    using is_transparent = void;
    KeyedHash hash;
    template <class K>
    std::size_t operator()(const K& key) const noexcept {
      return hash.of(Bytes(key.subject)) ^ (key.subscription * 0x9e3779b97f4a7c15) ^ key.publisher;
    }
  };
  struct Equal {
    using is_transparent = void;
    template <class A, class B>
    bool operator()(const A& a, const B& b) const noexcept {
      return a.subscription == b.subscription && a.publisher == b.publisher &&
             Bytes(a.subject) == Bytes(b.subject);
    }
  };
  struct Entry : ListHook<Entry> {
    const Key* key = nullptr;
    std::uint64_t number = 0;
    std::uint64_t unknown = 0;  // numbers in front of the first one that was seen
  };
  Entry& find_or_add(const KeyView& key, bool& is_new);
  void forget_one() noexcept;
  static std::uint64_t step(Entry& entry, std::uint64_t number) noexcept;

  const std::size_t entries_max_;
  std::unordered_map<std::uint64_t, Subscribed> subscriptions_;
  std::unordered_map<Key, std::unique_ptr<Entry>, Hash, Equal> entries_;
  LinkedList<Entry> order_;
};

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
