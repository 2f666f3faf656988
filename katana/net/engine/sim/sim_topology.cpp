#include "katana/net/engine/sim/sim_topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "katana/base/text/format.hpp"
#include "katana/net/engine/sim/sim_connection.hpp"
#include "katana/net/engine/sim/sim_network.hpp"

namespace katana::engine {
namespace {

constexpr std::string_view address_prefix = "198.18.";
constexpr std::uint64_t resend_us_min = 200'000;  // Linux: TCP_RTO_MIN
constexpr unsigned losses_in_row_max = 6;

}  // namespace

std::string address_text(SimAddress host) {
  return fmt::format("{}{}.{}", address_prefix, host / 256 % 256, host % 256);
}

SimAddress host_of(const std::string& address) noexcept {
  if (!address.starts_with(address_prefix)) return 0;
  const char* const end = address.data() + address.size();
  unsigned high = 0;
  unsigned low = 0;
  const auto point = std::from_chars(address.data() + address_prefix.size(), end, high);
  if (point.ec != std::errc() || point.ptr == end || *point.ptr != '.') return 0;
  if (std::from_chars(point.ptr + 1, end, low).ec != std::errc()) return 0;
  return high * 256 + low;
}

template <class F>
void SimTopology::for_each(F&& f) {
  for (const auto& each : std::vector(connections_)) {
    if (const auto connection = each.lock()) f(*connection);
  }
}

void SimTopology::add(const std::shared_ptr<SimConnection>& connection) {
  if (connections_.size() >= pruned_at_) {
    std::erase_if(connections_, [](const auto& each) { return each.expired(); });
    pruned_at_ = connections_.size() * 2 + 64;
  }
  connections_.push_back(connection);
}

void SimTopology::set_path(SimAddress from, SimAddress to, const SimPath& path) {
  Way& way = ways_[{from, to}];
  way.path = path;
  if (!path.blocked) release(way);
}

SimPath SimTopology::path(SimAddress from, SimAddress to) const {
  const auto found = ways_.find({from, to});
  return found == ways_.end() ? SimPath{} : found->second.path;
}

void SimTopology::heal() {
  for (auto& [key, way] : ways_) {
    way.path = {};
    release(way);
  }
}

void SimTopology::release(Way& way) {
  if (way.held.empty()) return;
  const auto later = static_cast<std::int64_t>(network_.random().between(1'000, resend_us_min));
  // Not before what was sent ahead of the block and is still under way.
  way.not_before = std::max({way.not_before, way.held_until, network_.now() + microseconds(later)});
  for (auto& each : std::exchange(way.held, {})) network_.at(way.not_before, std::move(each));
}

Instant SimTopology::carry(SimAddress from, SimAddress to, std::size_t bytes, Instant arrival,
                           std::function<void()> action) {
  const auto found = ways_.find({from, to});
  if (found == ways_.end()) {
    network_.at(arrival, std::move(action));
    return arrival;
  }
  Way& way = found->second;
  if (way.path.blocked) {
    way.held.push_back(std::move(action));
    way.held_until = std::max(way.held_until, arrival);
    return arrival;
  }
  arrival = arrival + microseconds(network_.draw(way.path.extra_us));
  for (unsigned lost = 0; lost < losses_in_row_max && network_.chance(way.path.loss); ++lost) {
    arrival = arrival + microseconds(static_cast<std::int64_t>(resend_us_min << lost));
  }
  if (way.path.bytes_per_s > 0) {
    const auto takes_us =
        static_cast<std::int64_t>((bytes + 40) * 1'000'000 / way.path.bytes_per_s);
    way.free_at = std::max(way.free_at, network_.now()) + microseconds(takes_us);
    arrival = std::max(arrival, way.free_at);
  }
  arrival = std::max(arrival, way.not_before);
  network_.at(arrival, std::move(action));
  return arrival;
}

std::size_t SimTopology::break_connections(SimAddress host) {
  std::size_t count = 0;
  for_each([&](SimConnection& each) {
    const bool is_its =
        each.address(SimSide::server) == host || each.address(SimSide::peer) == host;
    if (is_its && !each.is_over()) each.break_both(), ++count;
  });
  return count;
}

std::size_t SimTopology::break_connections(SimAddress host, SimAddress other) {
  std::size_t count = 0;
  for_each([&](SimConnection& each) {
    const auto server = each.address(SimSide::server);
    const auto peer = each.address(SimSide::peer);
    const bool is_between = (server == host && peer == other) || (server == other && peer == host);
    if (is_between && !each.is_over()) each.break_both(), ++count;
  });
  return count;
}

void SimTopology::power_off(SimAddress host) {
  off_.insert(host);
  for_each([&](SimConnection& each) {
    for (const SimSide side : {SimSide::server, SimSide::peer}) {
      if (each.address(side) == host) each.vanish(side);
    }
  });
}

void SimTopology::power_on(SimAddress host) {
  off_.erase(host);
  for_each([&](SimConnection& each) {
    for (const SimSide side : {SimSide::server, SimSide::peer}) {
      if (each.address(side) == host) each.answer_after_vanishing(side);
    }
  });
}

Duration SimTopology::clock_skew(SimAddress host) const {
  const auto found = skews_.find(host);
  return found == skews_.end() ? Duration{} : found->second;
}

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
