// Core: a cache from keys of bytes to pointers whose types it does not know. Every Cache
// (cache.hpp) is made of it, whatever its types.
//
//   find ── hit ──▶ value          put, remove, invalidate ──▶ shard ──▶ level 2, in background
//     │ miss
//   join ── leads ──▶ run: level 2 ─▶ a place ─▶ the loader ─▶ end: shard, waiters ─▶ level 2
//     └─ joins ──▶ waits for the same                        (level 2: SecondLevelBreaker)
//
// Owns       shards, each with a lock: a Table and the loads of its keys. A load has a share of it.
// Thread     any.
// Allocates  for entries and loads. find() never.
// Fails      loads with the loader's failure, Code::resource_exhausted when too many run and wait,
//            Code::deadline_exceeded; join() throws std::logic_error on a thread without a reactor.
// Invariant  one load of a key at a time in the process. A load that began before a key was put,
//            removed or invalidated is not kept. Locks are never held while a value is destroyed
//            or a waiter is woken.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "katana/base/values/keyed_hash.hpp"
#include "katana/base/values/random.hpp"
#include "katana/base/values/word_hash.hpp"
#include "katana/stores/cache/clock.hpp"
#include "katana/stores/cache/flight.hpp"
#include "katana/stores/cache/options.hpp"
#include "katana/stores/cache/second_level.hpp"
#include "katana/stores/cache/second_level_breaker.hpp"
#include "katana/stores/cache/table.hpp"

namespace katana::cache::detail {

class Core final : public ChangeListener, public std::enable_shared_from_this<Core> {
 public:
  struct Look {
    bool is_found = false;
    bool refresh_is_due = false;  // for this caller alone
    std::shared_ptr<const void> value = {};
  };

  // REQUIRES options that passed check(). `level`: null: none.
  static std::shared_ptr<Core> make(const Options& options, std::shared_ptr<SecondLevel> level,
                                    Codec codec);
  Core(const Options& options, std::shared_ptr<SecondLevel> level, Codec codec);

  // Keyed, because clients choose keys.
  std::uint64_t hash_of(Bytes key) const noexcept {
    if (key.size() != sizeof(std::uint64_t)) return hash_.of(key);
    std::uint64_t word;
    std::memcpy(&word, key.data(), sizeof word);
    return word_hash_.of(word);
  }
  Look find(Bytes key, std::uint64_t hash, Instant now) noexcept {
    Garbage garbage;
    Shard& shard = shard_of(hash);
    const std::scoped_lock lock(shard.mutex);
    return look(shard, key, hash, now, garbage);
  }
  // False: it is too large, or one of its tags was removed since `mark`.
  bool put(Bytes key, const LoadedValue& loaded, std::uint64_t mark = UINT64_MAX);
  // The mark of this moment, for put(): it shows removals by tag or prefix from here on.
  std::uint64_t mark() const noexcept { return invalidations_.load(std::memory_order_acquire); }
  // Removes the key; true: it was in memory.
  bool remove(Bytes key);
  static Task<Result<void>> remove_everywhere(std::shared_ptr<Core> self, std::string key);
  // Removes entries from memory, and returns their number.
  std::size_t remove_tag(std::uint64_t tag);
  std::size_t remove_prefix(Bytes prefix);
  // Removes entries from memory, and in the background from the second level. Returns the number
  // in memory.
  std::size_t remove_tag_name(Bytes tag);
  static Task<Result<void>> remove_tag_everywhere(std::shared_ptr<Core> self, std::string tag);
  // The hashes of the names of tags, in order.
  std::vector<std::uint64_t> hashes_of(const std::vector<std::string>& tags) const;
  // Values with tags may be put.
  bool takes_tags() const noexcept { return breaker_ == nullptr || breaker_->level().has_tags(); }

  // The load of a key that was not found: one that runs, or a new one, which its caller has to
  // lead(). Null and an Error: no load may begin. Null without an Error: the key is there by now.
  struct Joined {
    std::shared_ptr<Flight> flight = {};
    bool leads = false;
    Look look = {};
    std::optional<Error> error = {};
  };
  Joined join(Bytes key, std::uint64_t hash, bool is_refresh);
  // Runs the load on this thread's reactor. It may have ended when this returns.
  void lead(const std::shared_ptr<Flight>& flight, Load load);
  // Waits for the load; takes it over when its reactor has ended. False: the load has ended.
  // `is_joining`: join() has counted the caller.
  bool wait_for(const std::shared_ptr<Flight>& flight, std::coroutine_handle<> waiting,
                SharedWait& wait, bool is_joining);
  // Called by the waiter that was woken to take the load over. False: the load has ended, or
  // another waiter has taken it.
  bool take_over(const std::shared_ptr<Flight>& flight);
  Lock& mutex_of(const Flight& flight) noexcept { return shard_of(flight.hash).mutex; }
  // Called when the waiter that was woken to take the load over does not do so.
  void pass_on(Flight& flight) noexcept;
  // Called when the reactor of a load ends before the load.
  void abandon(Flight& flight) noexcept;

  void on_changed(Bytes key) noexcept override;
  void on_tag_removed(Bytes tag) noexcept override { remove_tag(hash_of(tag)); }
  void on_all_changed() noexcept override;

  const Options& options() const noexcept { return options_; }
  bool has_second_level() const noexcept { return breaker_ != nullptr; }
  Result<void> second_level_health() const;
  Statistics statistics() const;
  std::size_t value_bytes_max() const noexcept { return Table::value_bytes_max(limits_); }

 private:
  struct Same {
    std::size_t operator()(std::uint64_t hash) const noexcept {
      return static_cast<std::size_t>(hash);
    }
  };
  using Flights = std::unordered_multimap<std::uint64_t, std::shared_ptr<Flight>, Same>;
  // A shard is at least as large as a cache line: two locks then do not share one.
  struct alignas(64) Shard {
    Shard(TableLimits limits, std::uint64_t seed) : table(limits), random(seed) {}
    // The members that a hit touches come first.
    mutable Lock mutex;  // what follows
    std::uint64_t hits = 0;
    Table table;
    Flights flights;
    Random random;
    std::uint64_t negative_hits = 0;
    std::uint64_t misses = 0;
  };
  // Abandons a flight that has not ended when its coroutine is destroyed; forgets one that has.
  struct RunEnd {
    explicit RunEnd(Flight& of) noexcept : flight(of) {}
    ~RunEnd();
    Flight& flight;
  };
  struct Running {
    explicit Running(std::atomic<std::size_t>& loads) noexcept : count(loads) { ++count; }
    ~Running() { --count; }
    std::atomic<std::size_t>& count;
  };
  // Tags that were invalidated, for loads that had begun before.
  struct Invalidated {
    std::uint64_t number = 0;
    std::uint64_t tag = 0;
  };
  static constexpr std::size_t invalidated_max = 1024;

  // Uses other bits of the hash than buckets and ghosts do.
  Shard& shard_of(std::uint64_t hash) const noexcept { return *shards_[hash >> 40 & shard_mask_]; }
  Look look(Shard& shard, Bytes key, std::uint64_t hash, Instant now, Garbage& garbage) noexcept;
  std::string whole_key(Bytes key) const { return prefix_ + std::string(key); }

  void remove_here(Bytes key);

  static Task<void> run(std::shared_ptr<Flight> flight);
  Task<Result<LoadedValue>> load(std::shared_ptr<Flight> flight);
  void begin_run(const std::shared_ptr<Flight>& flight);
  void end(Flight& flight, Result<LoadedValue> outcome, std::exception_ptr thrown);
  void keep(Shard& shard, Flight& flight, Instant now, Garbage& garbage);
  void postpone_refresh(Shard& shard, const Flight& flight, Instant now) noexcept;
  // Removes the load from those of its shard.
  void forget(Shard& shard, const Flight& flight) noexcept;
  void detach(Shard& shard, Bytes key, std::uint64_t hash) noexcept;
  bool is_detached(Flight& flight) noexcept;
  bool is_invalidated(std::uint64_t since, const LoadedValue& loaded) const;
  // 0: every tag.
  void note_invalidated(std::uint64_t tag);
  // Zero: the value must not be kept.
  Duration ttl_of(const LoadedValue& loaded) const noexcept;
  bool put_in(Shard& shard, Bytes key, std::uint64_t hash, const LoadedValue& loaded, Instant now,
              Garbage& garbage);

  const Options options_;
  const std::string prefix_;  // of keys in the second level
  const KeyedHash hash_;
  const WordHash word_hash_;  // of keys of eight bytes, as numbers are
  TableLimits limits_;        // of a shard
  std::size_t shard_mask_ = 0;
  std::vector<std::unique_ptr<Shard>> shards_;
  const std::shared_ptr<SecondLevelBreaker> breaker_;  // null: none
  bool hears_changes_ = false;
  SharedPlaces places_;

  mutable std::mutex invalidated_mutex_;
  std::vector<Invalidated> invalidated_;  // in turn
  std::atomic<std::uint64_t> invalidations_ = 0;

  std::atomic<std::size_t> flights_ = 0;
  std::atomic<std::size_t> loads_running_ = 0;
  std::atomic<std::uint64_t> loads_ = 0;
  std::atomic<std::uint64_t> load_failures_ = 0;
  std::atomic<std::uint64_t> loads_refused_ = 0;
  std::atomic<std::uint64_t> loads_moved_ = 0;
  std::atomic<std::uint64_t> joined_ = 0;
  std::atomic<std::uint64_t> refreshes_ = 0;
};

inline Core::Look Core::look(Shard& shard, Bytes key, std::uint64_t hash, Instant now,
                             Garbage& garbage) noexcept {
  Look look;
  Entry* const entry = shard.table.find(key, hash, now, garbage);
  if (entry == nullptr) {
    ++shard.misses;
    return look;
  }
  ++shard.hits;
  if (entry->value == nullptr) ++shard.negative_hits;
  look.is_found = true;
  look.value = entry->value;
  if (entry->refresh_is_due(now)) [[unlikely]] {
    entry->set_refresh_at(never);  // no other caller
    look.refresh_is_due = true;
  }
  return look;
}

// A wait for a load; the base of the awaitable that get_or_load() returns.
class LoadWait : public SharedWait {
 public:
  bool await_suspend(std::coroutine_handle<> waiting) {
    return flight_->core->wait_for(flight_, waiting, *this, is_joining_);
  }

 protected:
  explicit LoadWait(Core& core) noexcept : core_(core) {}
  ~LoadWait() override {
    if (withdraw()) core_.pass_on(*flight_);
  }

  // True: the key is there, or cannot be; take() says which. Otherwise `flight_` is the load, and
  // `leads` says whether the caller has to lead() it.
  bool find(Bytes key, bool& leads);
  bool has_ended() noexcept;
  Result<std::shared_ptr<const void>> take();

  Core& core_;
  Core::Look look_;
  std::shared_ptr<Flight> flight_;
  std::optional<Error> error_;

 private:
  bool is_joining_ = false;  // counted in Flight::joining, until await_suspend()

  bool waits_again(const Waiting& waiting) override;
};

}  // namespace katana::cache::detail

// SPDX-License-Identifier: Apache-2.0
