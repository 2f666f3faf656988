// TokenKeys: the keys for the verification of tokens, as one set that is replaced as a whole.
//
// Owns       a share of the set. A verification has another one: a replaced set ends with the last
//            verification that uses it.
// Thread     any.
// Allocates  when the set is replaced.
// Fails      keys() is null while no key may be used.
// Invariant  the generation changes with every replacement. Caches compare it.
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
  // The keys in the order in which they are tried.
  using Set = std::vector<jose::VerificationKey>;

  TokenKeys() = default;
  explicit TokenKeys(Set keys) { replace(std::move(keys)); }
  virtual ~TokenKeys() = default;
  TokenKeys(const TokenKeys&) = delete;
  TokenKeys& operator=(const TokenKeys&) = delete;

  // A number that every replacement changes.
  std::uint64_t generation() const noexcept {
    // Acquire: a reader of the number sees the set of that number, or a newer one.
    return generation_.load(std::memory_order_acquire);
  }
  // The present set; null: no key may be used at present.
  std::shared_ptr<const Set> keys() const {
    const std::lock_guard lock(mutex_);
    return keys_;
  }
  void replace(Set keys) { exchange(std::make_shared<const Set>(std::move(keys))); }
  // Removes the set: no key may be used until there are new ones.
  void withdraw() { exchange(nullptr); }

  // The request to refresh(): any keys at all, or newer ones because no key fits a token.
  enum class Want : std::uint8_t { any, newer };
  // Called before keys(). Returns a task that loads such keys; nothing: there is nothing to wait
  // for.
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
