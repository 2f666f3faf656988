#include "katana/net/reactor/connection_balance.hpp"

#include <algorithm>
#include <utility>

#include "katana/base/system/check.hpp"

namespace katana::net {

ConnectionBalance::ConnectionBalance(std::size_t reactors)
    : count_(reactors), shares_(std::make_unique<Share[]>(reactors)) {
  for (std::size_t index = 0; index < count_; ++index) {
    Share& each = shares_[index];
    each.all_ = {shares_.get(), count_};
    each.index_ = index;
    each.random_ = Random(index);  // the same in every run of a simulation
    each.parcels_ = std::make_unique<std::array<Share::Parcel, under_way_max>>();
  }
}

ConnectionBalance::~ConnectionBalance() = default;

ConnectionBalance::Share& ConnectionBalance::share(std::size_t index) noexcept {
  KATANA_REQUIRE(index < count_);
  return shares_[index];
}

void ConnectionBalance::Share::serve(Executor& reactor, Message& arrived,
                                     const std::atomic<std::int64_t>& busy_since_ns,
                                     std::uint32_t links_max) noexcept {
  reactor_ = &reactor;
  arrived_ = &arrived;
  busy_since_ns_ = &busy_since_ns;
  links_max_ = links_max;
}

void ConnectionBalance::Share::begin_recent(Instant now) noexcept {
  before_ = now < recent_until_ + short_life ? recent_ : Recent{};
  recent_ = {};
  recent_until_ = now + short_life;
}

ConnectionBalance::Share* ConnectionBalance::Share::find_lighter(std::uint32_t load_max,
                                                                 Instant now) noexcept {
  if (all_.size() == 1 || (coming_.load(std::memory_order_relaxed) & left) != 0) return nullptr;
  // Draws one of the n - 1 others, and another one of the remaining n - 2.
  const std::size_t others = all_.size() - 1;
  const std::size_t first = 1 + random_.below(others);
  std::size_t second = first;
  if (others > 1) second = 1 + (first + random_.below(others - 1)) % others;
  Share* light = &all_[(index_ + first) % all_.size()];
  Share* heavy = &all_[(index_ + second) % all_.size()];
  if (heavy->load() < light->load()) std::swap(light, heavy);
  if (light->load() > load_max || free_parcel() == nullptr) return nullptr;
  if (light->reserve(load_max, now)) return light;
  return heavy != light && heavy->reserve(load_max, now) ? heavy : nullptr;
}

bool ConnectionBalance::Share::reserve(std::uint32_t load_max, Instant now) noexcept {
  std::uint32_t coming = coming_.load(std::memory_order_acquire);
  if ((coming & left) != 0 || reactor_ == nullptr) return false;
  const Instant since{busy_since_ns_->load(std::memory_order_relaxed)};
  if (since != never && now - since > stuck_after) return false;
  const std::uint32_t most = std::min(load_max, links_max_ - 1);
  do {
    if ((coming & left) != 0) return false;
    if (open_.load(std::memory_order_relaxed) + coming > most) return false;
    // acq_rel, as in leave(): a share that has left sees every earlier reservation.
  } while (!coming_.compare_exchange_weak(coming, coming + 1, std::memory_order_acq_rel,
                                          std::memory_order_relaxed));
  return true;
}

ConnectionBalance::Share::Parcel* ConnectionBalance::Share::free_parcel() noexcept {
  // Parcels come back roughly in the order in which they were sent.
  for (std::size_t looked = 0; looked < under_way_max; ++looked) {
    Parcel& each = (*parcels_)[next_parcel_];
    // acquire: its receiver has read it.
    if (!each.used.load(std::memory_order_acquire)) return &each;
    next_parcel_ = (next_parcel_ + 1) % under_way_max;
  }
  return nullptr;
}

void ConnectionBalance::Share::pass(Share& to, const PassedConnection& connection) noexcept {
  Parcel* const parcel = free_parcel();
  KATANA_CHECK(parcel != nullptr);  // find_lighter() has seen one, and no other thread takes it
  parcel->connection = connection;
  parcel->used.store(true, std::memory_order_relaxed);  // posting publishes it
  // A thread that finds the list empty announces it. The list is not empty again before the message
  // has run.
  if (to.arrivals_.post(*parcel)) to.reactor_->post(*to.arrived_);
}

void ConnectionBalance::Share::receive() noexcept {
  Message** end = &first_;
  while (*end != nullptr) end = &(*end)->next;
  *end = arrivals_.take_all();
}

const PassedConnection* ConnectionBalance::Share::first_arrived() const noexcept {
  return first_ != nullptr ? &static_cast<Parcel*>(first_)->connection : nullptr;
}

void ConnectionBalance::Share::drop_first() noexcept {
  auto* const parcel = static_cast<Parcel*>(std::exchange(first_, first_->next));
  parcel->used.store(false, std::memory_order_release);
  coming_.fetch_sub(1, std::memory_order_release);
}

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
