#include "katana/stores/database/postgres/topology.hpp"

#include <algorithm>
#include <utility>

namespace katana::database::postgres {

void Topology::note_primary(std::uint64_t position, Instant asked_at) noexcept {
  const std::lock_guard lock(mutex_);
  samples_[count_++ % samples_.size()] = {position, asked_at};
}

void Topology::note_replica(std::uint64_t position) noexcept {
  const std::lock_guard lock(mutex_);
  for (const Sample& sample : samples_) {
    if (sample.position != 0 && sample.position <= position) {
      has_until_ = std::max(has_until_, sample.asked_at);
    }
  }
}

void Topology::forget_primary() noexcept {
  const std::lock_guard lock(mutex_);
  samples_.fill({});
  has_until_ = {};
}

bool Topology::is_close(Instant now, Duration lag_max) const noexcept {
  const std::lock_guard lock(mutex_);
  return has_until_ != Instant{} && now - has_until_ <= lag_max;
}

bool Topology::measure(const std::string& server) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(server_, server) == server) return false;
  has_until_ = {};
  return true;
}

bool Topology::is_measured(const std::string& server) const {
  const std::lock_guard lock(mutex_);
  return server_ == server;
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
