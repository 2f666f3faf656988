#include "katana/cache/outside.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "katana/base/failure.hpp"
#include "katana/cache/clock.hpp"
#include "katana/cache/envelope.hpp"
#include "katana/core/sleep.hpp"
#include "katana/core/timeout.hpp"

namespace katana::cache::detail {
namespace {

void report(Bytes what, const std::string& place, const Error& error) noexcept {
  const Executor* const executor = Executor::current();
  FailureObserver* const observer = executor != nullptr ? executor->failure_observer() : nullptr;
  if (observer == nullptr) return;
  observer->on_failure(
      {.what = what, .error = &error, .place = place, .severity = Severity::warning});
}

Timestamp after(Duration left) {
  return current_time() + std::chrono::microseconds(left.ns / 1000);
}

}  // namespace

Outside::Outside(std::shared_ptr<SecondLevel> level, const Options& options, Codec codec)
    : level_(std::move(level)),
      options_(options.second_level),
      name_(fmt::format("cache '{}'", options.name)),
      ttl_max_(std::max(options.ttl, options.negative_ttl)),
      codec_(codec) {}

// ---- left alone, or not ----

bool Outside::may_call(Instant now) noexcept {
  const std::scoped_lock lock(mutex_);
  if (pause_ == Duration{}) return true;
  if (now < retry_at_) {
    count(skipped_);
    return false;
  }
  retry_at_ = later(now, pause_);  // this one tries; others wait for what comes of it
  return true;
}

void Outside::note_success() {
  std::shared_ptr<Outside> repairer;
  {
    const std::scoped_lock lock(mutex_);
    failures_ = 0;
    pause_ = {};
    if (owed_.empty() || is_repairing_) return;
    is_repairing_ = true;
    repairer = shared_from_this();
  }
  core::Reactor* const reactor = core::Reactor::current();
  if (reactor == nullptr || !reactor->tasks().spawn(repair(std::move(repairer)), name_)) {
    const std::scoped_lock lock(mutex_);
    is_repairing_ = false;
  }
}

void Outside::note_failure(const Error& error, Instant now) {
  count(failed_);
  bool is_new = false;
  {
    const std::scoped_lock lock(mutex_);
    if (++failures_ < options_.failures_max) return;
    is_new = pause_ == Duration{};
    pause_ = is_new ? options_.pause_min : std::min(pause_ * 2, options_.pause_max);
    retry_at_ = later(now, pause_);
  }
  if (is_new) report("the second level fails, and values are loaded instead", name_, error);
}

template <class T>
Task<Result<T>> Outside::call(Task<Result<T>> task) {
  std::exception_ptr thrown;
  try {
    Result<T> result = co_await core::with_timeout(std::move(task), options_.timeout);
    if (result) {
      note_success();
    } else {
      note_failure(result.error(), now());
    }
    co_return result;
  } catch (...) {
    thrown = std::current_exception();
  }
  const Error error(Code::unavailable, describe(thrown));
  note_failure(error, now());
  co_return std::unexpected(error);
}

// ---- what is owed ----

bool Outside::trusts(const std::string& key, Instant now) const {
  const std::scoped_lock lock(mutex_);
  return now >= distrusted_until_ && !owed_.contains(key) && !changing_.contains(key);
}

void Outside::owe(const std::string& key, Instant now) {
  if (owed_.size() >= options_.owed_max && !owed_.contains(key)) {
    // Everything that it has now has ended by then.
    distrusted_until_ = later(now, ttl_max_);
    return;
  }
  owed_[key] = ++changes_;
}

void Outside::note_current(const std::string& key, std::uint64_t number) {
  const std::scoped_lock lock(mutex_);
  const auto found = owed_.find(key);
  if (found != owed_.end() && found->second <= number) owed_.erase(found);
}

std::uint64_t Outside::number_now() const {
  const std::scoped_lock lock(mutex_);
  return changes_;
}

std::optional<std::pair<std::string, std::uint64_t>> Outside::next_owed() const {
  const std::scoped_lock lock(mutex_);
  if (owed_.empty()) return {};
  return *owed_.begin();
}

Outside::Change::Change(std::shared_ptr<Outside> of, std::string key)
    : of_(std::move(of)), key_(std::move(key)) {
  const std::scoped_lock lock(of_->mutex_);
  number_ = ++of_->changes_;
  ++of_->changing_[key_];
}

Outside::Change::~Change() {
  if (of_ == nullptr) return;
  const std::scoped_lock lock(of_->mutex_);
  const auto changing = of_->changing_.find(key_);
  if (--changing->second == 0) of_->changing_.erase(changing);
  if (!is_done_) {
    of_->owe(key_, now());
    return;
  }
  const auto owed = of_->owed_.find(key_);
  if (owed != of_->owed_.end() && owed->second <= number_) of_->owed_.erase(owed);
}

Outside::RepairEnd::~RepairEnd() {
  const std::scoped_lock lock(of.mutex_);
  of.is_repairing_ = false;
}

Task<void> Outside::repair(std::shared_ptr<Outside> self) {
  const RepairEnd end(*self);
  for (auto owed = self->next_owed(); owed; owed = self->next_owed()) {
    const Result<void> removed = co_await self->call(self->level_->remove(owed->first));
    if (!removed) co_return;  // the next success begins again
    self->note_current(owed->first, owed->second);
  }
}

// ---- reading ----

Task<std::optional<LoadedValue>> Outside::get(std::string key) {
  if (!trusts(key, now())) {
    count(skipped_);
    co_return std::nullopt;
  }
  if (!may_call(now())) co_return std::nullopt;
  const Result<std::optional<std::string>> octets = co_await call(level_->get(key));
  if (!octets) co_return std::nullopt;
  if (!octets->has_value()) {
    count(misses_);
    co_return std::nullopt;
  }
  const std::optional<Opened> opened = open(**octets, key, current_time());
  std::optional<LoadedValue> loaded;
  if (opened && opened->absent) {
    loaded.emplace();
  } else if (opened) {
    loaded = codec_.decode(opened->value);
  }
  if (!loaded || !trusts(key, now())) {  // it may have been removed meanwhile
    count(invalid_);
    co_return std::nullopt;
  }
  count(hits_);
  loaded->ttl = opened->left;
  co_return loaded;
}

Task<Outside::Got> Outside::get_or_lock(std::string key) {
  Got got;
  got.value = co_await get(key);
  if (got.value || !options_.lock) co_return got;
  const Instant end = later(now(), options_.lease);
  while (may_call(now())) {
    const Result<std::optional<Lease>> locked =
        co_await call(level_->try_lock(key, options_.lease));
    if (!locked) break;
    if (locked->has_value()) {
      got.lease = **locked;
      got.value = co_await get(key);  // whoever had it may have put it there
      break;
    }
    if (now() >= end) break;
    co_await core::sleep_for(options_.lock_poll);
    got.value = co_await get(key);
    if (got.value) break;
  }
  co_return got;
}

Task<void> Outside::unlock(std::string key, Lease lease) {
  if (may_call(now())) (void)co_await call(level_->unlock(std::move(key), lease));
}

// ---- writing ----

Task<bool> Outside::write(std::string key, LoadedValue loaded, Duration ttl) {
  if (!may_call(now())) co_return false;
  std::string octets;
  if (loaded.value != nullptr) codec_.encode(loaded.value.get(), octets);
  std::string sealed = seal(key, loaded.value != nullptr ? &octets : nullptr, after(ttl));
  const Result<void> put = co_await call(level_->put(std::move(key), std::move(sealed), ttl));
  co_return put.has_value();
}

Task<void> Outside::put_loaded(std::string key, LoadedValue loaded, Duration ttl) {
  const std::uint64_t number = number_now();
  const bool written = co_await write(key, std::move(loaded), ttl);
  if (written) note_current(key, number);
}

Task<void> Outside::put_changed(Change change, LoadedValue loaded, Duration ttl) {
  const bool written = co_await write(change.key(), std::move(loaded), ttl);
  if (written) change.note_done();
}

Task<Result<void>> Outside::remove(Change change) {
  if (!may_call(now())) {
    co_return fail(Code::unavailable,
                   fmt::format("the second level of {} fails; the key is removed there when it "
                               "answers again",
                               name_));
  }
  Result<void> removed = co_await call(level_->remove(change.key()));
  if (removed) change.note_done();
  co_return removed;
}

Task<void> Outside::remove_unseen(Change change) { (void)co_await remove(std::move(change)); }

Task<void> Outside::run_write(std::shared_ptr<Outside> self, Task<void> task) {
  const WriteEnd end(*self);
  co_await std::move(task);
}

void Outside::begin_write(Task<void> task) {
  core::Reactor* const reactor = core::Reactor::current();
  if (reactor == nullptr) return;
  if (writes_.fetch_add(1, std::memory_order_relaxed) < options_.writes_max &&
      reactor->tasks().spawn(run_write(shared_from_this(), std::move(task)), name_)) {
    return;
  }
  writes_.fetch_sub(1, std::memory_order_relaxed);
}

void Outside::begin_put(std::string key, LoadedValue loaded, Duration ttl) {
  begin_write(put_changed(change(std::move(key)), std::move(loaded), ttl));
}

void Outside::begin_remove(std::string key) { begin_write(remove_unseen(change(std::move(key)))); }

void Outside::add_to(Figures& figures) const {
  figures.second_hits = hits_.load(std::memory_order_relaxed);
  figures.second_misses = misses_.load(std::memory_order_relaxed);
  figures.second_failures = failed_.load(std::memory_order_relaxed);
  figures.second_invalid = invalid_.load(std::memory_order_relaxed);
  figures.second_skipped = skipped_.load(std::memory_order_relaxed);
  const std::scoped_lock lock(mutex_);
  figures.owed = owed_.size();
}

}  // namespace katana::cache::detail

// SPDX-License-Identifier: Apache-2.0
