// Flight: one load of one key, and the callers that wait for it.
//
//   Core::join() ── leads ──▶ Core::run() on the leader's reactor ──▶ ended, everyone is woken
//        │ joins                     │ that reactor ends
//        ▼                           ▼
//     waiters ◀── the first goes on ─┘ with the load on its own reactor: it moves
//
// Owns       the key, the loader, the outcome; a share of the cache.
// Thread     the members below "the shard's mutex" need that mutex. The loader runs on the thread
//            of the load. The outcome is written before `ended` and read after it.
// Allocates  by std::make_shared.
// Fails      the outcome has the Error.
// Invariant  a flight that is detached (its key was put, removed or invalidated) still answers
//            its waiters, but the cache does not keep its value.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/system/result.hpp"
#include "katana/stores/cache/shared_wait.hpp"

namespace katana::cache::detail {

class Core;

// relaxed: a figure, and nothing that was written before it.
inline void count(std::atomic<std::uint64_t>& number) noexcept {
  number.fetch_add(1, std::memory_order_relaxed);
}

// The result of a loader.
struct LoadedValue {
  std::shared_ptr<const void> value = {};   // null: there is none
  std::size_t bytes = 0;                    // of the heap, all that goes with it
  Duration ttl = {};                        // 0: the option's
  std::vector<std::uint64_t> tags = {};     // hashes
  std::vector<std::string> tag_names = {};  // of a cache with a second level
};

using Load = std::move_only_function<Task<Result<LoadedValue>>()>;

struct Flight {
  Flight(std::shared_ptr<Core> of, Bytes name, std::uint64_t key_hash)
      : core(std::move(of)), key(name), hash(key_hash) {}

  const std::shared_ptr<Core> core;
  const std::string key;
  const std::uint64_t hash;
  Load load;

  // The shard's mutex.
  SharedWaiter::List waiters;
  std::size_t joining = 0;  // callers that are about to wait: they found it, or are to take it over
  bool ended = false;
  bool detached = false;
  bool is_leaderless = false;       // the caller that was woken takes it over
  bool is_refresh = false;          // no caller waits at first, and an entry is there
  std::uint64_t invalidations = 0;  // that there had been when it began

  Result<LoadedValue> outcome = fail(Code::cancelled);
  std::exception_ptr thrown;
};

}  // namespace katana::cache::detail

// SPDX-License-Identifier: Apache-2.0
