// SecondLevelBreaker: the second level as a cache uses it, with a timeout for each call. While the
// level fails it gets no calls. A key whose removal did not reach it is "owed", and not read there.
//
//   closed ── failures_max in a row ──▶ open ── pause ──▶ one call tries ──▶ closed
//                                        ▲                     │ fails: the pause doubles
//                                        └─────────────────────┘
//
// Owns       a share of the level; the keys that are owed.
// Thread     any: coroutines run on the reactor that began them.
// Allocates  frames, keys and bytes.
// Fails      get_or_lock() never: after a failure it finds nothing. remove() with the level's
//            Error; the key is owed then.
// Invariant  at most owed_max keys are owed. When there would be more, nothing is read there until
//            all values that could be there have expired (ttl).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/values/timestamp.hpp"
#include "katana/stores/cache/flight.hpp"
#include "katana/stores/cache/options.hpp"
#include "katana/stores/cache/second_level.hpp"

namespace katana::cache::detail {

// Converts values to bytes and back.
struct Codec {
  void (*encode)(const void* value, std::string& to) = nullptr;
  // Nothing: the bytes are no such value.
  std::optional<LoadedValue> (*decode)(Bytes octets) = nullptr;
};

class SecondLevelBreaker : public std::enable_shared_from_this<SecondLevelBreaker> {
 public:
  SecondLevelBreaker(std::shared_ptr<SecondLevel> level, const Options& options, Codec codec);

  struct Got {
    std::optional<LoadedValue> value = {};
    std::optional<Lease> lease = {};         // to be given to put_loaded(), or unlock()
    std::optional<std::uint64_t> mark = {};  // likewise; nothing: no tags are known here yet
  };
  // Returns a value, or nothing after a while. The lease is set where the options let one instance
  // load, and it is this one.
  Task<Got> get_or_lock(std::string key);
  // Stores a loaded value. False: one of its tags was removed meanwhile.
  Task<bool> put_loaded(std::string key, LoadedValue loaded, Duration ttl,
                        std::optional<std::uint64_t> mark);
  Task<void> unlock(std::string key, Lease lease);
  // A key that is about to change in the level. It is not read there while this lives, and is owed
  // when this ends without note_done().
  class Change {
   public:
    Change(std::shared_ptr<SecondLevelBreaker> of, std::string key);
    Change(Change&& other) noexcept = default;
    ~Change();
    const std::string& key() const noexcept { return key_; }
    void note_done() noexcept { is_done_ = true; }

   private:
    std::shared_ptr<SecondLevelBreaker> of_;
    std::string key_;
    std::uint64_t number_;
    bool is_done_ = false;
  };
  Change change(std::string key) { return {shared_from_this(), std::move(key)}; }
  Task<Result<void>> remove(Change change);
  // Write in the background, on this thread's reactor. Without a reactor, and when writes_max run,
  // the key is owed.
  void begin_put(std::string key, LoadedValue loaded, Duration ttl);
  void begin_remove(std::string key);
  // The removal of a tag: nothing is read in the level while this lives, and until it is done.
  struct TagRemoval {
    TagRemoval(std::shared_ptr<SecondLevelBreaker> breaker, std::string name);
    TagRemoval(TagRemoval&&) noexcept = default;
    ~TagRemoval();
    std::shared_ptr<SecondLevelBreaker> of;
    std::string tag;
    std::uint64_t number;
    bool is_done = false;
  };
  TagRemoval tag_removal(std::string tag) { return {shared_from_this(), std::move(tag)}; }
  // Removes all values with that tag. An Error: the tag is owed.
  Task<Result<void>> remove_tag(TagRemoval removal);
  void begin_remove_tag(TagRemoval removal);

  SecondLevel& level() const noexcept { return *level_; }
  void add_to(Statistics& statistics) const;

 private:
  template <class T>
  Task<Result<T>> call(Task<Result<T>> task);
  struct RepairEnd {
    explicit RepairEnd(SecondLevelBreaker& breaker) noexcept : of(breaker) {}
    ~RepairEnd();
    SecondLevelBreaker& of;
  };
  struct WriteEnd {
    explicit WriteEnd(SecondLevelBreaker& breaker) noexcept : of(breaker) {}
    ~WriteEnd() { of.writes_.fetch_sub(1, std::memory_order_relaxed); }
    SecondLevelBreaker& of;
  };
  void begin_write(Task<void> task);
  static Task<void> run_write(std::shared_ptr<SecondLevelBreaker> self, Task<void> task);
  Task<void> put_changed(Change change, LoadedValue loaded, Duration ttl);
  Task<void> remove_unseen(Change change);
  Task<std::optional<LoadedValue>> get(std::string key);
  // Nothing: it was not written. False: one of its tags was removed since `mark`.
  Task<std::optional<bool>> write(std::string key, LoadedValue loaded, Duration ttl,
                                  std::optional<std::uint64_t> mark);
  Task<std::optional<std::uint64_t>> tag_mark();
  void note_tag_removed(const std::string& tag, std::uint64_t number);
  Task<void> remove_tag_unseen(TagRemoval removal);
  std::optional<std::pair<std::string, std::uint64_t>> next_owed_tag() const;
  static Task<void> repair(std::shared_ptr<SecondLevelBreaker> self);
  bool may_call(Instant now) noexcept;
  void note_success();
  void note_failure(const Error& error, Instant now);
  bool trusts(const std::string& key, Instant now) const;
  // Called when a write or removal that began after change `number` brought the key up to date.
  void note_current(const std::string& key, std::uint64_t number);
  std::uint64_t number_now() const;
  // A key that is owed, and the number of the change that made it so.
  std::optional<std::pair<std::string, std::uint64_t>> next_owed() const;
  // REQUIRES that the mutex is held.
  void owe(const std::string& key, Instant now);

  const std::shared_ptr<SecondLevel> level_;
  const SecondLevelOptions options_;
  const std::string name_;
  const std::string prefix_;
  const Duration ttl_max_;
  const Codec codec_;

  mutable std::mutex mutex_;  // what follows
  unsigned failures_ = 0;     // in a row
  Duration pause_ = {};       // 0: closed
  Instant retry_at_ = {};
  std::uint64_t changes_ = 0;                                 // so far
  std::unordered_map<std::string, std::size_t> changing_;     // how many of each run
  std::unordered_map<std::string, std::uint64_t> owed_;       // by the number of the change
  std::unordered_map<std::string, std::uint64_t> owed_tags_;  // likewise
  std::size_t tags_going_ = 0;                                // that are being removed
  Instant distrusted_until_ = {};
  bool is_repairing_ = false;

  // Set when a value with tags was seen: marks are asked for from then on. Relaxed: the first such
  // value is not written there.
  std::atomic<bool> uses_tags_ = false;
  std::atomic<std::size_t> writes_ = 0;
  std::atomic<std::uint64_t> hits_ = 0;
  std::atomic<std::uint64_t> misses_ = 0;
  std::atomic<std::uint64_t> failed_ = 0;
  std::atomic<std::uint64_t> invalid_ = 0;
  std::atomic<std::uint64_t> skipped_ = 0;
};

}  // namespace katana::cache::detail

// SPDX-License-Identifier: Apache-2.0
