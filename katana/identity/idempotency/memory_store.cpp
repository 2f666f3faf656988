#include "katana/identity/idempotency/memory_store.hpp"

#include <chrono>
#include <cstring>
#include <utility>

#include "katana/net/reactor/reactor.hpp"

namespace katana::idempotency {
namespace {

// The approximate memory of a record, with its nodes and buckets in the two containers.
constexpr std::size_t record_bytes = 280;

// All reactors of a process have one clock.
Instant now_here() {
  const net::Reactor* const reactor = net::Reactor::current();
  if (reactor != nullptr) return reactor->now();
  return Instant{std::chrono::duration_cast<std::chrono::nanoseconds>(
                     std::chrono::steady_clock::now().time_since_epoch())
                     .count()};
}

}  // namespace

// The first bytes serve as the hash. They belong to a digest, and clients cannot choose them.
std::size_t MemoryStore::KeyHash::operator()(const crypto::Sha256& key) const noexcept {
  std::size_t hash = 0;
  std::memcpy(&hash, key.octets.data(), sizeof(hash));
  return hash;
}

void MemoryStore::erase(Records::iterator found) {
  bytes_ -= record_bytes + found->second.reply.capacity();
  ends_.erase(found->second.end);
  records_.erase(found);
}

void MemoryStore::remove_expired(Instant now) {
  while (!ends_.empty() && ends_.begin()->first <= now) erase(records_.find(ends_.begin()->second));
}

Task<Result<Claimed>> MemoryStore::claim(Claim claim, Duration lease) {
  const std::lock_guard lock(mutex_);
  const Instant now = now_here();
  remove_expired(now);
  if (const auto found = records_.find(claim.key); found != records_.end()) {
    const Record& record = found->second;
    const bool is_done = !record.reply.empty();
    co_return Claimed{is_done ? ClaimState::done : ClaimState::in_progress, record.fingerprint,
                      record.reply};
  }
  if (records_.size() >= options_.keys_max || bytes_ + record_bytes > options_.bytes_max) {
    co_return fail(Code::resource_exhausted,
                   "the memory for idempotency keys is full: raise idempotency.memory.keys_max or "
                   "bytes_max, keep replies for less time, or limit the rate of clients");
  }
  const auto end = ends_.emplace(now + lease, claim.key);
  records_.emplace(claim.key, Record{claim.fingerprint, claim.token, {}, end});
  bytes_ += record_bytes;
  co_return Claimed{};
}

Task<Result<bool>> MemoryStore::keep(Claim claim, std::string reply, Duration kept) {
  const std::lock_guard lock(mutex_);
  const Instant now = now_here();
  remove_expired(now);
  const auto found = records_.find(claim.key);
  if (found == records_.end() || found->second.token != claim.token ||
      !found->second.reply.empty()) {
    co_return false;
  }
  reply.shrink_to_fit();
  if (bytes_ + reply.capacity() > options_.bytes_max) {
    co_return fail(Code::resource_exhausted,
                   "the memory for idempotency keys has no room for a reply: raise "
                   "idempotency.memory.bytes_max, or keep replies for less time");
  }
  Record& record = found->second;
  ends_.erase(record.end);
  record.end = ends_.emplace(now + kept, claim.key);
  record.reply = std::move(reply);
  bytes_ += record.reply.capacity();
  co_return true;
}

Task<Result<void>> MemoryStore::release(Claim claim) {
  const std::lock_guard lock(mutex_);
  const auto found = records_.find(claim.key);
  if (found != records_.end() && found->second.token == claim.token &&
      found->second.reply.empty()) {
    erase(found);
  }
  co_return {};
}

MemoryStore::Statistics MemoryStore::statistics() const {
  const std::lock_guard lock(mutex_);
  return {records_.size(), bytes_};
}

}  // namespace katana::idempotency

// SPDX-License-Identifier: Apache-2.0
