#include "katana/stores/cache/core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "katana/base/system/check.hpp"
#include "katana/base/system/failure.hpp"
#include "katana/base/system/misuse.hpp"
#include "katana/base/values/secrets.hpp"
#include "katana/net/reactor/timeout.hpp"

namespace katana::cache::detail {
namespace {

std::uint64_t random_word() {
  std::uint64_t word = 0;
  fill_random({reinterpret_cast<char*>(&word), sizeof word});
  return word;
}

// Each shard has at least 2 MiB and 512 entries, unless the whole cache is smaller. In smaller
// shards the largest value would be small, and one would be full while another has room.
std::size_t shards_for(const Options& options) noexcept {
  if (options.shards != 0) return std::bit_ceil(std::size_t{options.shards});
  constexpr std::size_t shards_max = 32;
  const std::size_t by_bytes = options.bytes_max / (std::size_t{2} << 20);
  const std::size_t by_entries = options.entries_max / 512;
  return std::bit_floor(std::clamp<std::size_t>(std::min(by_bytes, by_entries), 1, shards_max));
}

net::Reactor& reactor_for_loads() {
  net::Reactor* const reactor = net::Reactor::current();
  if (reactor == nullptr) [[unlikely]] {
    throw_misuse("a cache would load a value on a thread without a reactor",
                 "await get_or_load() in a handler or another coroutine that a reactor runs; get() "
                 "and put() may be called on any thread");
  }
  return *reactor;
}

}  // namespace

std::shared_ptr<Core> Core::make(const Options& options, std::shared_ptr<SecondLevel> level,
                                 Codec codec) {
  auto core = std::make_shared<Core>(options, level, codec);
  if (level != nullptr) core->hears_changes_ = level->listen(core->prefix_, core);
  return core;
}

Core::Core(const Options& options, std::shared_ptr<SecondLevel> level, Codec codec)
    : options_(options),
      prefix_(options.name + ":"),
      hash_(random_word(), random_word()),
      word_hash_(random_word(), random_word()),
      breaker_(level != nullptr
                   ? std::make_shared<SecondLevelBreaker>(std::move(level), options, codec)
                   : nullptr),
      places_(options.loads_max, options.loads_waiting_max) {
  const std::size_t shards = shards_for(options);
  limits_ = {.bytes_max = options.bytes_max / shards, .entries_max = options.entries_max / shards};
  shard_mask_ = shards - 1;
  for (std::size_t index = 0; index < shards; ++index) {
    shards_.push_back(std::make_unique<Shard>(limits_, random_word()));
  }
}

// ---- values ----

Duration Core::ttl_of(const LoadedValue& loaded) const noexcept {
  if (loaded.ttl > Duration{}) return loaded.ttl;
  return loaded.value != nullptr ? options_.ttl : options_.negative_ttl;
}

bool Core::put_in(Shard& shard, Bytes key, std::uint64_t hash, const LoadedValue& loaded,
                  Instant now, Garbage& garbage) {
  Duration ttl = ttl_of(loaded);
  if (ttl <= Duration{}) {
    shard.table.erase(key, hash, garbage);
    return true;
  }
  if (const auto percent = static_cast<std::int64_t>(options_.ttl_jitter_percent); percent != 0) {
    const std::int64_t most = ttl.ns / 100 * percent;
    if (most > 0) {
      ttl.ns -= static_cast<std::int64_t>(shard.random.below(static_cast<std::uint64_t>(most) + 1));
    }
  }
  const Duration unheard_max = options_.second_level.memory_ttl_max;
  if (breaker_ != nullptr && unheard_max > Duration{} &&
      !(hears_changes_ && breaker_->level().hears())) {
    ttl = std::min(ttl, unheard_max);
  }
  Contents contents{.value = loaded.value,
                    .value_bytes = loaded.bytes,
                    .expires = later(now, ttl),
                    .tags = loaded.tags};
  if (options_.refresh_ahead_percent != 0 && loaded.value != nullptr) {
    // Between half of that and all of it, by chance, before the end.
    const std::int64_t most =
        ttl.ns / 100 * static_cast<std::int64_t>(options_.refresh_ahead_percent);
    const auto half = static_cast<std::uint64_t>(most / 2);
    const Duration ahead =
        nanoseconds(static_cast<std::int64_t>(half + shard.random.below(half + 1)));
    contents.refresh_at = later(now, nanoseconds(ttl.ns - ahead.ns));
  }
  return shard.table.put(key, hash, contents, now, garbage);
}

bool Core::put(Bytes key, const LoadedValue& loaded, std::uint64_t mark) {
  const Instant time = now();
  const std::uint64_t hash = hash_of(key);
  bool is_kept = false;
  {
    Garbage garbage;
    Shard& shard = shard_of(hash);
    const std::scoped_lock lock(shard.mutex);
    if (mark != UINT64_MAX && is_invalidated(mark, loaded)) return false;
    detach(shard, key, hash);
    is_kept = put_in(shard, key, hash, loaded, time, garbage);
  }
  if (breaker_ != nullptr) {
    const Duration ttl = ttl_of(loaded);
    if (ttl > Duration{}) {
      breaker_->begin_put(whole_key(key), loaded, ttl);
    } else {
      breaker_->begin_remove(whole_key(key));
    }
  }
  return is_kept;
}

bool Core::remove(Bytes key) {
  const std::uint64_t hash = hash_of(key);
  if (breaker_ != nullptr) breaker_->begin_remove(whole_key(key));
  Garbage garbage;
  Shard& shard = shard_of(hash);
  const std::scoped_lock lock(shard.mutex);
  detach(shard, key, hash);
  return shard.table.erase(key, hash, garbage);
}

void Core::remove_here(Bytes key) {
  const std::uint64_t hash = hash_of(key);
  Garbage garbage;
  Shard& shard = shard_of(hash);
  const std::scoped_lock lock(shard.mutex);
  detach(shard, key, hash);
  shard.table.erase(key, hash, garbage);
}

Task<Result<void>> Core::remove_everywhere(std::shared_ptr<Core> self, std::string key) {
  if (self->breaker_ == nullptr) {
    self->remove_here(key);
    co_return {};
  }
  // Changing there before it is gone here: no load in between takes the old value from there.
  SecondLevelBreaker::Change change = self->breaker_->change(self->whole_key(key));
  self->remove_here(key);
  Result<void> removed = co_await self->breaker_->remove(std::move(change));
  co_return removed;
}

void Core::note_invalidated(std::uint64_t tag) {
  const std::scoped_lock lock(invalidated_mutex_);
  const std::uint64_t number = ++invalidations_;
  if (invalidated_.size() < invalidated_max) {
    invalidated_.push_back({number, tag});
  } else {
    invalidated_[(number - 1) % invalidated_max] = {number, tag};
  }
}

std::size_t Core::remove_tag(std::uint64_t tag) {
  note_invalidated(tag);
  std::size_t removed = 0;
  for (const auto& shard : shards_) {
    Garbage garbage;
    const std::scoped_lock lock(shard->mutex);
    removed += shard->table.erase_tag(tag, garbage);
  }
  return removed;
}

std::size_t Core::remove_tag_name(Bytes tag) {
  if (breaker_ == nullptr || !takes_tags()) return remove_tag(hash_of(tag));
  // Going there before it is gone here: no load in between takes an old value from there.
  auto removal = breaker_->tag_removal(std::string(tag));
  const std::size_t removed = remove_tag(hash_of(tag));
  breaker_->begin_remove_tag(std::move(removal));
  return removed;
}

Task<Result<void>> Core::remove_tag_everywhere(std::shared_ptr<Core> self, std::string tag) {
  if (self->breaker_ == nullptr || !self->takes_tags()) {
    self->remove_tag(self->hash_of(tag));
    co_return {};
  }
  auto removal = self->breaker_->tag_removal(tag);
  self->remove_tag(self->hash_of(tag));
  Result<void> removed = co_await self->breaker_->remove_tag(std::move(removal));
  co_return removed;
}

std::vector<std::uint64_t> Core::hashes_of(const std::vector<std::string>& tags) const {
  std::vector<std::uint64_t> hashes;
  hashes.reserve(tags.size());
  for (const std::string& tag : tags) hashes.push_back(hash_of(tag));
  std::ranges::sort(hashes);
  const auto [begin, end] = std::ranges::unique(hashes);
  hashes.erase(begin, end);
  return hashes;
}

std::size_t Core::remove_prefix(Bytes prefix) {
  note_invalidated(0);
  std::size_t removed = 0;
  for (const auto& shard : shards_) {
    Garbage garbage;
    const std::scoped_lock lock(shard->mutex);
    for (const auto& [hash, flight] : shard->flights) {
      if (flight->key.starts_with(prefix)) flight->detached = true;
    }
    removed += shard->table.erase_prefix(prefix, garbage);
  }
  return removed;
}

void Core::detach(Shard& shard, Bytes key, std::uint64_t hash) noexcept {
  const auto [begin, end] = shard.flights.equal_range(hash);
  for (auto each = begin; each != end; ++each) {
    if (each->second->key == key) each->second->detached = true;
  }
}

void Core::on_changed(Bytes key) noexcept {
  if (!key.starts_with(prefix_)) return;
  key.remove_prefix(prefix_.size());
  remove_here(key);
}

void Core::on_all_changed() noexcept { remove_prefix({}); }

// ---- loads ----

Core::Joined Core::join(Bytes key, std::uint64_t hash, bool is_refresh) {
  const Instant time = reactor_for_loads().now();
  Joined joined;
  Garbage garbage;
  Shard& shard = shard_of(hash);
  const std::scoped_lock lock(shard.mutex);
  if (!is_refresh) {
    // A load may have ended since it was not found.
    if (Entry* const entry = shard.table.find(key, hash, time, garbage)) {
      joined.look = {.is_found = true, .value = entry->value};
      return joined;
    }
  }
  const auto [begin, end] = shard.flights.equal_range(hash);
  for (auto each = begin; each != end; ++each) {
    Flight& flight = *each->second;
    if (flight.ended || flight.detached || flight.key != key) continue;
    if (!is_refresh) {
      count(joined_);
      ++flight.joining;
    }
    joined.flight = each->second;
    return joined;
  }
  if (flights_.load(std::memory_order_relaxed) >= options_.loads_max + options_.loads_waiting_max) {
    count(loads_refused_);
    joined.error =
        Error(Code::resource_exhausted,
              fmt::format("cache '{}': {} loads run and {} wait, which is the limit (loads_max, "
                          "loads_waiting_max)",
                          options_.name, options_.loads_max, options_.loads_waiting_max));
    return joined;
  }
  joined.flight = std::make_shared<Flight>(shared_from_this(), key, hash);
  joined.flight->is_refresh = is_refresh;
  joined.flight->invalidations = invalidations_.load(std::memory_order_acquire);
  joined.leads = true;
  shard.flights.emplace(hash, joined.flight);
  flights_.fetch_add(1, std::memory_order_relaxed);
  return joined;
}

void Core::lead(const std::shared_ptr<Flight>& flight, Load load) {
  flight->load = std::move(load);
  count(loads_);
  if (flight->is_refresh) count(refreshes_);
  begin_run(flight);
}

void Core::begin_run(const std::shared_ptr<Flight>& flight) {
  const Result<void> spawned =
      reactor_for_loads().tasks().spawn(run(flight), "a load of cache '" + options_.name + "'");
  if (spawned) return;
  end(*flight, std::unexpected(spawned.error()), nullptr);
  Shard& shard = shard_of(flight->hash);
  const std::scoped_lock lock(shard.mutex);
  forget(shard, *flight);
}

Task<void> Core::run(std::shared_ptr<Flight> flight) {
  const RunEnd run_end(*flight);
  Core& core = *flight->core;
  SecondLevelBreaker* const breaker = core.breaker_.get();
  std::string key;
  SecondLevelBreaker::Got got;
  Result<LoadedValue> outcome = fail(Code::internal);
  std::exception_ptr thrown;
  try {
    if (breaker != nullptr) {
      key = core.whole_key(flight->key);
      // A refresh wants another value than is there.
      if (!flight->is_refresh) got = co_await breaker->get_or_lock(key);
    }
    if (got.value) {
      got.value->tags = core.hashes_of(got.value->tag_names);
      outcome = *got.value;
    } else {
      outcome = co_await core.load(flight);
    }
  } catch (...) {
    thrown = std::current_exception();
  }
  const bool is_loaded = outcome && !got.value && thrown == nullptr;
  LoadedValue loaded;
  if (breaker != nullptr && is_loaded) loaded = *outcome;
  core.end(*flight, std::move(outcome), thrown);
  if (breaker != nullptr && is_loaded && !core.is_detached(*flight)) {
    const Duration ttl = core.ttl_of(loaded);
    if (ttl > Duration{}) {
      const bool is_current = co_await breaker->put_loaded(key, std::move(loaded), ttl, got.mark);
      if (!is_current) core.remove_here(flight->key);
    }
    // Removed while it was written: whichever came there last, it is gone.
    if (core.is_detached(*flight)) (void)co_await breaker->remove(breaker->change(key));
  }
  if (got.lease) co_await breaker->unlock(key, *got.lease);
}

Task<Result<LoadedValue>> Core::load(std::shared_ptr<Flight> flight) {
  Result<SharedPlaces::Place> place = co_await places_.acquire();
  if (!place) {
    count(loads_refused_);
    co_return fail(Code::resource_exhausted,
                   fmt::format("cache '{}': {} loads wait, which is the limit (loads_waiting_max)",
                               options_.name, options_.loads_waiting_max));
  }
  const Running running(loads_running_);
  Result<LoadedValue> loaded = co_await net::with_timeout(flight->load(), options_.load_timeout);
  if (!loaded && loaded.error().code() == Code::deadline_exceeded) {
    co_return std::unexpected(
        loaded.error().within(fmt::format("load a value of cache '{}'", options_.name)));
  }
  co_return loaded;
}

Core::RunEnd::~RunEnd() {
  // `ended` is this thread's to change while the flight runs here.
  if (!flight.ended) {
    flight.core->abandon(flight);
    return;
  }
  Shard& shard = flight.core->shard_of(flight.hash);
  const std::scoped_lock lock(shard.mutex);
  flight.core->forget(shard, flight);
}

bool Core::is_invalidated(std::uint64_t since, const LoadedValue& loaded) const {
  if (loaded.tags.empty()) return false;
  const std::scoped_lock lock(invalidated_mutex_);
  const std::uint64_t until = invalidations_.load(std::memory_order_relaxed);
  if (until - since > invalidated_.size()) return true;  // which tags they were is not known
  return std::ranges::any_of(invalidated_, [&](const Invalidated& each) {
    if (each.number <= since) return false;
    return each.tag == 0 || std::ranges::find(loaded.tags, each.tag) != loaded.tags.end();
  });
}

void Core::keep(Shard& shard, Flight& flight, Instant time, Garbage& garbage) {
  if (!flight.outcome || flight.thrown != nullptr) {
    if (flight.is_refresh) postpone_refresh(shard, flight, time);
    return;
  }
  if (flight.detached || is_invalidated(flight.invalidations, *flight.outcome)) return;
  try {
    put_in(shard, flight.key, flight.hash, *flight.outcome, time, garbage);
  } catch (const std::bad_alloc&) {
    // The waiters get their value all the same.
  }
}

void Core::end(Flight& flight, Result<LoadedValue> outcome, std::exception_ptr thrown) {
  if (!outcome || thrown != nullptr) count(load_failures_);
  flight.outcome = std::move(outcome);
  flight.thrown = thrown;
  Garbage garbage;
  SharedWaiter::List woken;
  Shard& shard = shard_of(flight.hash);
  {
    const std::scoped_lock lock(shard.mutex);
    keep(shard, flight, now(), garbage);
    flight.ended = true;
    while (!flight.waiters.empty()) woken.push_back(take_first(flight.waiters));
  }
  const bool is_unseen = flight.is_refresh && woken.empty();
  while (!woken.empty()) wake(woken.pop_front());
  if (!is_unseen || (flight.outcome && thrown == nullptr)) return;
  // No caller waits for the failed refresh: the observer is told.
  Executor* const executor = Executor::current();
  FailureObserver* const observer = executor != nullptr ? executor->failure_observer() : nullptr;
  if (observer == nullptr) return;
  const std::string place = fmt::format("cache '{}'", options_.name);
  observer->on_failure({.what = "a refresh of a value failed",
                        .exception = thrown,
                        .error = thrown == nullptr ? &flight.outcome.error() : nullptr,
                        .place = place,
                        .severity = Severity::warning});
}

void Core::postpone_refresh(Shard& shard, const Flight& flight, Instant time) noexcept {
  Entry* const entry = shard.table.peek(flight.key, flight.hash);
  if (entry == nullptr || time >= entry->expires) return;
  entry->set_refresh_at(time + nanoseconds((entry->expires - time).ns / 2 + 1));
}

void Core::forget(Shard& shard, const Flight& flight) noexcept {
  const auto [begin, end] = shard.flights.equal_range(flight.hash);
  for (auto each = begin; each != end; ++each) {
    if (each->second.get() != &flight) continue;
    // The caller has a share, so nothing is destroyed under the lock.
    shard.flights.erase(each);
    flights_.fetch_sub(1, std::memory_order_relaxed);
    return;
  }
}

bool Core::is_detached(Flight& flight) noexcept {
  const std::scoped_lock lock(mutex_of(flight));
  return flight.detached;
}

bool Core::wait_for(const std::shared_ptr<Flight>& flight, std::coroutine_handle<> waiting,
                    SharedWait& wait, bool is_joining) {
  {
    Lock& mutex = mutex_of(*flight);
    const std::scoped_lock lock(mutex);
    if (is_joining) --flight->joining;
    if (flight->ended) return false;
    wait.begin(waiting, flight->waiters, mutex);
    if (!flight->is_leaderless) return true;
  }
  take_over(flight);  // what ends at once wakes this, too
  return true;
}

// ---- loads that move ----

void Core::abandon(Flight& flight) noexcept {
  Shard& shard = shard_of(flight.hash);
  SharedWaiter* next = nullptr;
  {
    const std::scoped_lock lock(shard.mutex);
    if (flight.waiters.empty() && flight.joining != 0) {
      flight.is_leaderless = true;  // the first of them takes it over
      return;
    }
    if (flight.waiters.empty()) {
      flight.ended = true;
      if (flight.is_refresh) postpone_refresh(shard, flight, now());
      forget(shard, flight);
      return;
    }
    flight.is_leaderless = true;
    next = &take_first(flight.waiters);
    ++flight.joining;  // until it arrives, or is destroyed on its way
  }
  wake(*next);
}

bool Core::take_over(const std::shared_ptr<Flight>& flight) {
  {
    const std::scoped_lock lock(mutex_of(*flight));
    if (flight->ended || !flight->is_leaderless) return false;
    flight->is_leaderless = false;
  }
  count(loads_moved_);
  begin_run(flight);
  return true;
}

void Core::pass_on(Flight& flight) noexcept {
  {
    const std::scoped_lock lock(mutex_of(flight));
    if (flight.ended) return;
    --flight.joining;  // abandon() had woken it
    if (!flight.is_leaderless) return;
    flight.is_leaderless = false;
  }
  abandon(flight);
}

// ---- what waits ----

bool LoadWait::find(Bytes key, bool& leads) {
  const std::uint64_t hash = core_.hash_of(key);
  look_ = core_.find(key, hash, now());
  if (look_.is_found && !look_.refresh_is_due) [[likely]]
    return true;
  Core::Joined joined = core_.join(key, hash, look_.is_found);
  leads = joined.leads;
  flight_ = std::move(joined.flight);
  if (look_.is_found) return true;  // and perhaps led: the old value is good enough
  is_joining_ = flight_ != nullptr && !leads;
  look_ = std::move(joined.look);
  error_ = std::move(joined.error);
  return flight_ == nullptr;
}

bool LoadWait::has_ended() noexcept {
  const std::scoped_lock lock(core_.mutex_of(*flight_));
  return flight_->ended;
}

Result<std::shared_ptr<const void>> LoadWait::take() {
  if (look_.is_found) return std::move(look_.value);
  if (error_) return std::unexpected(*std::move(error_));
  if (is_late()) {
    return fail(Code::deadline_exceeded,
                fmt::format("a value of cache '{}' was not loaded within the caller's time",
                            core_.options().name));
  }
  if (flight_->thrown != nullptr) std::rethrow_exception(flight_->thrown);
  if (!flight_->outcome) return std::unexpected(flight_->outcome.error());
  return flight_->outcome->value;
}

bool LoadWait::waits_again(const Waiting& waiting) {
  {
    Lock& mutex = core_.mutex_of(*flight_);
    const std::scoped_lock lock(mutex);
    if (flight_->ended) return false;
    --flight_->joining;  // abandon() has woken it
    begin_again(waiting, flight_->waiters, mutex);
    if (!flight_->is_leaderless) return true;  // who has just joined has taken it over
  }
  core_.take_over(flight_);  // what ends at once wakes this, too
  return true;
}

// ---- figures ----

Result<void> Core::second_level_health() const {
  if (breaker_ == nullptr) return {};
  return breaker_->level().health();
}

Statistics Core::statistics() const {
  Statistics statistics;
  for (const auto& shard : shards_) {
    const std::scoped_lock lock(shard->mutex);
    const TableCounts& counts = shard->table.counts();
    statistics.hits += shard->hits;
    statistics.negative_hits += shard->negative_hits;
    statistics.misses += shard->misses;
    statistics.evictions += counts.evictions;
    statistics.expired += counts.expired;
    statistics.refused += counts.refused;
    statistics.entries += shard->table.count();
    statistics.bytes += shard->table.bytes();
  }
  statistics.loads = loads_.load(std::memory_order_relaxed);
  statistics.load_failures = load_failures_.load(std::memory_order_relaxed);
  statistics.loads_refused = loads_refused_.load(std::memory_order_relaxed);
  statistics.loads_moved = loads_moved_.load(std::memory_order_relaxed);
  statistics.joined = joined_.load(std::memory_order_relaxed);
  statistics.refreshes = refreshes_.load(std::memory_order_relaxed);
  statistics.loads_running = loads_running_.load(std::memory_order_relaxed);
  if (breaker_ != nullptr) breaker_->add_to(statistics);
  return statistics;
}

}  // namespace katana::cache::detail

namespace katana::cache {

Result<void> check(const Options& options) {
  std::string words;
  katana::check(options, [&words](Bytes pointer, std::string broken) {
    if (words.empty()) words = fmt::format("cache option {}: {}", pointer, broken);
  });
  if (!words.empty()) return fail(Code::invalid_argument, words);
  const auto is_named = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  if (!std::ranges::all_of(options.name, is_named)) {
    return fail(Code::invalid_argument,
                fmt::format("cache option name: '{}' has other characters than letters, digits, "
                            "'-', '_' and '.'",
                            options.name));
  }
  if (options.bytes_max / std::bit_ceil(std::max<std::size_t>(options.shards, 1)) < std::size_t{64}
                                                                                        << 10) {
    return fail(Code::invalid_argument,
                fmt::format("cache '{}': {} bytes for {} shards are less than 64 KiB each: take "
                            "fewer shards, or raise bytes_max",
                            options.name, options.bytes_max, options.shards));
  }
  if (options.entries_max / std::bit_ceil(std::max<std::size_t>(options.shards, 1)) < 1) {
    return fail(Code::invalid_argument,
                fmt::format("cache '{}': there are more shards than entries_max", options.name));
  }
  return {};
}

}  // namespace katana::cache

// SPDX-License-Identifier: Apache-2.0
