#include "katana/stores/cache/second_level_breaker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "katana/base/system/failure.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/net/reactor/timeout.hpp"
#include "katana/stores/cache/clock.hpp"
#include "katana/stores/cache/envelope.hpp"

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

SecondLevelBreaker::SecondLevelBreaker(std::shared_ptr<SecondLevel> level, const Options& options,
                                       Codec codec)
    : level_(std::move(level)),
      options_(options.second_level),
      name_(fmt::format("cache '{}'", options.name)),
      prefix_(options.name + ":"),
      ttl_max_(std::max(options.ttl, options.negative_ttl)),
      codec_(codec) {}

// ---- left alone, or not ----

bool SecondLevelBreaker::may_call(Instant now) noexcept {
  const std::scoped_lock lock(mutex_);
  if (pause_ == Duration{}) return true;
  if (now < retry_at_) {
    count(skipped_);
    return false;
  }
  retry_at_ = later(now, pause_);  // this one tries; others wait for what comes of it
  return true;
}

void SecondLevelBreaker::note_success() {
  std::shared_ptr<SecondLevelBreaker> repairer;
  {
    const std::scoped_lock lock(mutex_);
    failures_ = 0;
    pause_ = {};
    if ((owed_.empty() && owed_tags_.empty()) || is_repairing_) return;
    is_repairing_ = true;
    repairer = shared_from_this();
  }
  net::Reactor* const reactor = net::Reactor::current();
  if (reactor == nullptr || !reactor->tasks().spawn(repair(std::move(repairer)), name_)) {
    const std::scoped_lock lock(mutex_);
    is_repairing_ = false;
  }
}

void SecondLevelBreaker::note_failure(const Error& error, Instant now) {
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
Task<Result<T>> SecondLevelBreaker::call(Task<Result<T>> task) {
  std::exception_ptr thrown;
  try {
    Result<T> result = co_await net::with_timeout(std::move(task), options_.timeout);
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

// ---- owed keys ----

bool SecondLevelBreaker::trusts(const std::string& key, Instant now) const {
  const std::scoped_lock lock(mutex_);
  return now >= distrusted_until_ && owed_tags_.empty() && tags_going_ == 0 &&
         !owed_.contains(key) && !changing_.contains(key);
}

void SecondLevelBreaker::owe(const std::string& key, Instant now) {
  if (owed_.size() >= options_.owed_max && !owed_.contains(key)) {
    // Everything that it has now has ended by then.
    distrusted_until_ = later(now, ttl_max_);
    return;
  }
  owed_[key] = ++changes_;
}

void SecondLevelBreaker::note_current(const std::string& key, std::uint64_t number) {
  const std::scoped_lock lock(mutex_);
  const auto found = owed_.find(key);
  if (found != owed_.end() && found->second <= number) owed_.erase(found);
}

std::uint64_t SecondLevelBreaker::number_now() const {
  const std::scoped_lock lock(mutex_);
  return changes_;
}

std::optional<std::pair<std::string, std::uint64_t>> SecondLevelBreaker::next_owed() const {
  const std::scoped_lock lock(mutex_);
  if (owed_.empty()) return {};
  return *owed_.begin();
}

SecondLevelBreaker::Change::Change(std::shared_ptr<SecondLevelBreaker> of, std::string key)
    : of_(std::move(of)), key_(std::move(key)) {
  const std::scoped_lock lock(of_->mutex_);
  number_ = ++of_->changes_;
  ++of_->changing_[key_];
}

SecondLevelBreaker::Change::~Change() {
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

SecondLevelBreaker::RepairEnd::~RepairEnd() {
  const std::scoped_lock lock(of.mutex_);
  of.is_repairing_ = false;
}

Task<void> SecondLevelBreaker::repair(std::shared_ptr<SecondLevelBreaker> self) {
  const RepairEnd end(*self);
  for (auto owed = self->next_owed(); owed; owed = self->next_owed()) {
    const Result<void> removed = co_await self->call(self->level_->remove(owed->first));
    if (!removed) co_return;  // the next success begins again
    self->note_current(owed->first, owed->second);
  }
  for (auto tag = self->next_owed_tag(); tag; tag = self->next_owed_tag()) {
    const Result<void> removed =
        co_await self->call(self->level_->remove_tag(self->prefix_, tag->first));
    if (!removed) co_return;
    self->note_tag_removed(tag->first, tag->second);
  }
}

// ---- tags ----

// Called when the removal of the tag that began as change `number` is done.
void SecondLevelBreaker::note_tag_removed(const std::string& tag, std::uint64_t number) {
  const std::scoped_lock lock(mutex_);
  const auto found = owed_tags_.find(tag);
  if (found != owed_tags_.end() && found->second <= number) owed_tags_.erase(found);
}

std::optional<std::pair<std::string, std::uint64_t>> SecondLevelBreaker::next_owed_tag() const {
  const std::scoped_lock lock(mutex_);
  if (owed_tags_.empty()) return {};
  return *owed_tags_.begin();
}

SecondLevelBreaker::TagRemoval::TagRemoval(std::shared_ptr<SecondLevelBreaker> breaker,
                                           std::string name)
    : of(std::move(breaker)), tag(std::move(name)) {
  const std::scoped_lock lock(of->mutex_);
  number = ++of->changes_;
  ++of->tags_going_;
}

SecondLevelBreaker::TagRemoval::~TagRemoval() {
  if (of == nullptr) return;
  if (is_done) of->note_tag_removed(tag, number);
  const std::scoped_lock lock(of->mutex_);
  --of->tags_going_;
  if (is_done) return;
  if (of->owed_tags_.size() < of->options_.owed_max || of->owed_tags_.contains(tag)) {
    of->owed_tags_[tag] = ++of->changes_;
  } else {
    of->distrusted_until_ = later(now(), of->ttl_max_);
  }
}

Task<Result<void>> SecondLevelBreaker::remove_tag(TagRemoval removal) {
  if (!may_call(now())) {
    co_return fail(Code::unavailable,
                   fmt::format("the second level of {} fails; what has the tag is removed there "
                               "when it answers again",
                               name_));
  }
  Result<void> removed = co_await call(level_->remove_tag(prefix_, removal.tag));
  removal.is_done = removed.has_value();
  co_return removed;
}

Task<void> SecondLevelBreaker::remove_tag_unseen(TagRemoval removal) {
  (void)co_await remove_tag(std::move(removal));
}

void SecondLevelBreaker::begin_remove_tag(TagRemoval removal) {
  begin_write(remove_tag_unseen(std::move(removal)));
}

Task<std::optional<std::uint64_t>> SecondLevelBreaker::tag_mark() {
  if (!uses_tags_.load(std::memory_order_relaxed) || !may_call(now())) co_return std::nullopt;
  const Result<std::uint64_t> mark = co_await call(level_->tag_mark(prefix_));
  if (!mark) co_return std::nullopt;
  co_return *mark;
}

// ---- reading ----

Task<std::optional<LoadedValue>> SecondLevelBreaker::get(std::string key) {
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
  if (!opened->tags.empty()) uses_tags_.store(true, std::memory_order_relaxed);
  loaded->tag_names = opened->tags;
  loaded->ttl = opened->left;
  co_return loaded;
}

Task<SecondLevelBreaker::Got> SecondLevelBreaker::get_or_lock(std::string key) {
  Got got;
  got.mark = co_await tag_mark();
  got.value = co_await get(key);
  if (got.value || !options_.lock) co_return got;
  const Instant end = later(now(), options_.lease);
  while (may_call(now())) {
    const Result<std::optional<Lease>> locked =
        co_await call(level_->try_lock(key, options_.lease));
    if (!locked) break;
    if (locked->has_value()) {
      got.lease = **locked;
      got.value = co_await get(key);  // the holder of the lease may have put it there
      break;
    }
    if (now() >= end) break;
    co_await net::sleep_for(options_.lock_poll);
    got.value = co_await get(key);
    if (got.value) break;
  }
  co_return got;
}

Task<void> SecondLevelBreaker::unlock(std::string key, Lease lease) {
  if (may_call(now())) (void)co_await call(level_->unlock(std::move(key), lease));
}

// ---- writing ----

Task<std::optional<bool>> SecondLevelBreaker::write(std::string key, LoadedValue loaded,
                                                    Duration ttl,
                                                    std::optional<std::uint64_t> mark) {
  const bool is_tagged = !loaded.tag_names.empty();
  if (is_tagged) uses_tags_.store(true, std::memory_order_relaxed);
  // Without a mark it is unknown whether a tag was removed during the load.
  if ((is_tagged && !mark) || !may_call(now())) co_return std::nullopt;
  std::string octets;
  if (loaded.value != nullptr) codec_.encode(loaded.value.get(), octets);
  std::string sealed =
      seal(key, loaded.tag_names, loaded.value != nullptr ? &octets : nullptr, after(ttl));
  if (is_tagged) {
    const Result<bool> put = co_await call(level_->put_tagged(
        std::move(key), std::move(sealed), ttl, prefix_, std::move(loaded.tag_names), *mark));
    if (!put) co_return std::nullopt;
    co_return *put;
  }
  const Result<void> put = co_await call(level_->put(std::move(key), std::move(sealed), ttl));
  if (!put) co_return std::nullopt;
  co_return true;
}

Task<bool> SecondLevelBreaker::put_loaded(std::string key, LoadedValue loaded, Duration ttl,
                                          std::optional<std::uint64_t> mark) {
  const std::uint64_t number = number_now();
  const std::optional<bool> written = co_await write(key, std::move(loaded), ttl, mark);
  if (written == true) note_current(key, number);
  co_return written != false;
}

// The value is of this moment: a removal of one of its tags from here on removes it as well.
Task<void> SecondLevelBreaker::put_changed(Change change, LoadedValue loaded, Duration ttl) {
  std::optional<std::uint64_t> mark;
  if (!loaded.tag_names.empty()) {
    uses_tags_.store(true, std::memory_order_relaxed);
    mark = co_await tag_mark();
  }
  const std::optional<bool> written = co_await write(change.key(), std::move(loaded), ttl, mark);
  if (written == true) change.note_done();
}

Task<Result<void>> SecondLevelBreaker::remove(Change change) {
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

Task<void> SecondLevelBreaker::remove_unseen(Change change) {
  (void)co_await remove(std::move(change));
}

Task<void> SecondLevelBreaker::run_write(std::shared_ptr<SecondLevelBreaker> self,
                                         Task<void> task) {
  const WriteEnd end(*self);
  co_await std::move(task);
}

void SecondLevelBreaker::begin_write(Task<void> task) {
  net::Reactor* const reactor = net::Reactor::current();
  if (reactor == nullptr) return;
  if (writes_.fetch_add(1, std::memory_order_relaxed) < options_.writes_max &&
      reactor->tasks().spawn(run_write(shared_from_this(), std::move(task)), name_)) {
    return;
  }
  writes_.fetch_sub(1, std::memory_order_relaxed);
}

void SecondLevelBreaker::begin_put(std::string key, LoadedValue loaded, Duration ttl) {
  begin_write(put_changed(change(std::move(key)), std::move(loaded), ttl));
}

void SecondLevelBreaker::begin_remove(std::string key) {
  begin_write(remove_unseen(change(std::move(key))));
}

void SecondLevelBreaker::add_to(Statistics& statistics) const {
  statistics.second_hits = hits_.load(std::memory_order_relaxed);
  statistics.second_misses = misses_.load(std::memory_order_relaxed);
  statistics.second_failures = failed_.load(std::memory_order_relaxed);
  statistics.second_invalid = invalid_.load(std::memory_order_relaxed);
  statistics.second_skipped = skipped_.load(std::memory_order_relaxed);
  const std::scoped_lock lock(mutex_);
  statistics.owed = owed_.size() + owed_tags_.size();
}

}  // namespace katana::cache::detail

// SPDX-License-Identifier: Apache-2.0
