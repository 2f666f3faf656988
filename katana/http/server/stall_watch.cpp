#include "katana/http/server/stall_watch.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <utility>

#include "katana/base/system/check.hpp"
#include "katana/base/system/monotonic_clock.hpp"
#include "katana/http/server/quiet_thread.hpp"

namespace katana::server {
namespace {

Bytes name_of(const std::string* site) noexcept {
  return site != nullptr ? Bytes(*site) : Bytes("something outside of a handler");
}

}  // namespace

Result<std::unique_ptr<StallWatch>> StallWatch::make(Duration threshold, log::Logger logger,
                                                     metrics::Registry* metrics) {
  KATANA_REQUIRE(threshold > Duration{});
  std::unique_ptr<StallWatch> made(new StallWatch(threshold, logger));
  if (metrics == nullptr) return made;
  auto stalls = metrics->counters({.name = "katana_reactor_stalls",
                                   .help = "Turns of the reactor that took longer than the "
                                           "threshold.",
                                   .labels = {"reactor"}});
  if (!stalls) return std::unexpected(stalls.error());
  auto seconds = metrics->observed_counters(
      {.name = "katana_reactor_stalled_seconds",
       .help = "Time spent in turns that took longer than the threshold.",
       .labels = {"reactor"},
       .unit = "seconds"});
  if (!seconds) return std::unexpected(seconds.error());
  made->stall_family_ = *stalls;
  made->seconds_family_ = *seconds;
  return made;
}

StallWatch::StallWatch(Duration threshold, log::Logger logger)
    : threshold_(threshold), logger_(logger) {}

StallWatch::~StallWatch() {
  stop();
  for (const Watched& watched : watched_) watched.reactor->watch_turns(nullptr, {});
}

void StallWatch::add(net::Reactor& reactor) {
  const std::string number = std::to_string(watched_.size());
  sights_.emplace_back();
  Watched& watched = watched_.emplace_back();
  watched.reactor = &reactor;
  if (stall_family_) watched.stalls = stall_family_->with(number);
  if (seconds_family_) watched.seconds = seconds_family_->with(number);
}

Duration StallWatch::interval() const noexcept {
  return std::clamp(Duration{threshold_.ns / 2}, milliseconds(1), seconds(1));
}

void StallWatch::look(std::size_t reactor, const Sight& sight, Instant now) {
  Watched& watched = watched_[reactor];
  if (watched.since != never && watched.since != sight.busy_since) end(watched, reactor);
  if (sight.busy_since != never && now - sight.busy_since >= threshold_) {
    watched.seen = now - sight.busy_since;
    if (watched.since == never) begin(watched, reactor, sight);
  }
  if (std::exchange(changed_, false)) tell_change();
}

void StallWatch::on_change(std::function<void(std::span<const unsigned>)> moved) {
  on_change_ = std::move(moved);
}

void StallWatch::tell_change() {
  if (!on_change_) return;
  std::vector<unsigned> moving;
  for (unsigned index = 0; index < watched_.size(); ++index) {
    if (watched_[index].since == never) moving.push_back(index);
  }
  on_change_(moving);
}

void StallWatch::begin(Watched& watched, std::size_t number, const Sight& sight) {
  watched.since = sight.busy_since;
  changed_ = true;
  watched.site = sight.site;
  watched.stalls.add();
  stalls_.fetch_add(1, std::memory_order_relaxed);
  watched.told = told_.insert(sight.site).second;
  if (!watched.told) return;
  logger_.warn(
      "reactor {} is stalled: busy for {} ms with {}: everything else on it waits; move what "
      "blocks "
      "or computes to a pool (co_await pool.run(…))",
      number, watched.seen.count_ms(), name_of(watched.site), log::field("reactor", number),
      log::field("site", name_of(watched.site)));
}

void StallWatch::end(Watched& watched, std::size_t number) {
  watched.stalled.ns += watched.seen.ns;
  watched.seconds.observe(static_cast<double>(watched.stalled.ns) / 1e9);
  if (watched.told) {
    logger_.warn("reactor {} was stalled for {} ms by {}", number, watched.seen.count_ms(),
                 name_of(watched.site), log::field("reactor", number),
                 log::field("site", name_of(watched.site)));
  }
  watched.since = never;
  changed_ = true;
}

Instant StallWatch::next_look(std::span<const Sight> sights, Instant now) const noexcept {
  Instant next = never;
  for (std::size_t index = 0; index < sights.size(); ++index) {
    // A stall is followed until its end is seen.
    const bool is_stalled = watched_[index].since != never;
    const Instant since = sights[index].busy_since;
    if (is_stalled) {
      next = std::min(next, now + interval());
    } else if (since != never) {
      next = std::min(next, std::max(since + threshold_, now));
    }
  }
  return next;
}

Instant StallWatch::look_at_all() {
  const Instant now = monotonic_now();
  for (std::size_t index = 0; index < watched_.size(); ++index) {
    const net::Reactor& reactor = *watched_[index].reactor;
    // In this order: the site is then never reported for a turn that has ended.
    sights_[index].site = reactor.site();
    sights_[index].busy_since = reactor.busy_since();
    look(index, sights_[index], now);
  }
  return next_look(sights_, now);
}

// A turn that begins after a look sets the alarm itself.
void StallWatch::run() {
  pthread_setname_np(pthread_self(), "katana-stalls");
  while (alarm_.wait()) alarm_.set(look_at_all());
}

Result<void> StallWatch::start() {
  if (auto opened = alarm_.open(); !opened) {
    return std::unexpected(opened.error().within("watch the reactors"));
  }
  auto started = start_quiet_thread("watch the reactors", [this] { run(); });
  if (!started) return std::unexpected(started.error());
  thread_ = *std::move(started);
  for (const Watched& watched : watched_) watched.reactor->watch_turns(&alarm_, threshold_);
  return {};
}

void StallWatch::stop() noexcept {
  alarm_.end();
  if (thread_.joinable()) thread_.join();
}

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
