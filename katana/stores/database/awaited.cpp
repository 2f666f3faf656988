#include "katana/stores/database/awaited.hpp"

#include <utility>

#include "katana/base/system/check.hpp"

namespace katana::database {

void AwaitedBackend::set_reason(std::string why) {
  const std::lock_guard lock(mutex_);
  why_ = std::move(why);
}

void AwaitedBackend::adopt(Database database) {
  KATANA_REQUIRE(!has_come());
  database.backend().observe_statements(observed().by);
  const std::lock_guard lock(mutex_);
  owned_.emplace(std::move(database));
  if (observer_) owned_->backend().observe_outages(observer_);
  // release: a call that sees it sees all of it.
  there_.store(&owned_->backend(), std::memory_order_release);
}

Error AwaitedBackend::unusable() const {
  const std::lock_guard lock(mutex_);
  return Error::unusable(why_);
}

Attempt AwaitedBackend::try_here(const Request& request, Outcome& outcome) noexcept {
  if (Backend* const there = backend()) [[likely]]
    return there->try_here(request, outcome);
  refused_.fetch_add(1, std::memory_order_relaxed);
  outcome.error = unusable();
  return Attempt::done;
}

void AwaitedBackend::submit(Work& work) noexcept {
  if (Backend* const there = backend()) [[likely]]
    return there->submit(work);
  refused_.fetch_add(1, std::memory_order_relaxed);
  work.taken_by = this;  // it is not the backend's, which may come before its coroutine goes on
  work.outcome.error = unusable();
  Completions().add(work);
}

void AwaitedBackend::withdraw(Work& work) noexcept {
  if (work.taken_by == this) return work.abandon();
  backend()->withdraw(work);
}

void AwaitedBackend::roll_back(std::uint64_t transaction) noexcept {
  if (Backend* const there = backend()) there->roll_back(transaction);
}

void AwaitedBackend::close(Cursor& cursor) noexcept {
  if (Backend* const there = backend()) there->close(cursor);
}

void AwaitedBackend::observe_outages(OutageObserver observer) {
  const std::lock_guard lock(mutex_);
  observer_ = std::move(observer);
  if (Backend* const there = backend()) there->observe_outages(observer_);
}

Backend& AwaitedBackend::replica() noexcept {
  Backend* const there = backend();
  return there != nullptr ? there->replica() : *this;
}

katana::Result<void> AwaitedBackend::health() const {
  if (const Backend* const there = backend()) return there->health();
  return std::unexpected(katana::Error(unusable()));
}

Statistics AwaitedBackend::statistics() const {
  Statistics statistics;
  if (const Backend* const there = backend()) statistics = there->statistics();
  statistics.refused_unusable += refused_.load(std::memory_order_relaxed);
  return statistics;
}

}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
