// TokenKeys: the keys that tokens are verified with, as one set that is replaced as a whole.
//
// Owns       a share of the set; who verifies has another one, so a replaced set ends with the last
//            verification that uses it.
// Thread     any.
// Allocates  when the set is replaced.
// Fails      keys() is null while no key may be used.
// Invariant  the generation changes with every replacement, and is what caches compare.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/identity/jose/key.hpp"

namespace katana::auth {

class TokenKeys {
 public:
  // In the order in which they are tried.
  using Set = std::vector<jose::VerificationKey>;

  TokenKeys() = default;
  explicit TokenKeys(Set keys) { replace(std::move(keys)); }
  virtual ~TokenKeys() = default;
  TokenKeys(const TokenKeys&) = delete;
  TokenKeys& operator=(const TokenKeys&) = delete;

  // Another one: the set was replaced since.
  std::uint64_t generation() const noexcept {
    // Acquire: who sees the number sees at least the set that it was counted for.
    return generation_.load(std::memory_order_acquire);
  }
  // Null: there are none that may be used at present.
  std::shared_ptr<const Set> keys() const {
    const std::lock_guard lock(mutex_);
    return keys_;
  }
  void replace(Set keys) { exchange(std::make_shared<const Set>(std::move(keys))); }
  // No key may be used until there are others.
  void withdraw() { exchange(nullptr); }

  // What refresh() is asked for: any keys at all, or newer ones, because none fits a token.
  enum class Want : std::uint8_t { any, newer };
  // Called before keys() is looked at: what has to be awaited, so that there may be such keys.
  // Nothing: there is nothing to wait for.
  virtual std::optional<Task<void>> refresh(Want) { return std::nullopt; }

 private:
  void exchange(std::shared_ptr<const Set> keys) {
    {
      const std::lock_guard lock(mutex_);
      keys_.swap(keys);
    }
    generation_.fetch_add(1, std::memory_order_release);  // see generation()
  }

  mutable std::mutex mutex_;
  std::shared_ptr<const Set> keys_;
  std::atomic<std::uint64_t> generation_ = 0;
};

}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
