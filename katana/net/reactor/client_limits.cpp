#include "katana/net/reactor/client_limits.hpp"

#include <algorithm>
#include <bit>

#include "katana/base/system/check.hpp"
#include "katana/base/values/client_network.hpp"
#include "katana/base/values/keyed_hash.hpp"

namespace katana::net {

bool limits_anything(const ClientLimitOptions& options) noexcept {
  return options.connections_max != 0 || options.connections_per_s != 0 ||
         options.handshakes_max != 0 || options.requests_max != 0 ||
         options.received_bytes_per_s != 0 || !options.allow.empty() || !options.deny.empty();
}

ClientLimits::ClientLimits(const ClientLimitOptions& options, std::uint64_t secret)
    : options_(options),
      allow_(options.allow),
      deny_(options.deny),
      exempt_(options.exempt),
      secret_(secret),
      connection_ns_(options.connections_per_s == 0 ? 0
                                                    : seconds(1).ns / options.connections_per_s),
      byte_ns_(options.received_bytes_per_s == 0
                   ? 0
                   : static_cast<double>(seconds(1).ns) /
                         static_cast<double>(options.received_bytes_per_s)),
      sets_(std::bit_ceil(std::max<std::size_t>(1, options.clients_max / ways))),
      locks_(std::make_unique<std::mutex[]>(locks)) {}

ClientLimits::Home ClientLimits::home_of(const IpAddress& address) const noexcept {
  const IpAddress client =
      client_network(address, {.v4 = options_.v4_bits, .v6 = options_.v6_bits});
  const std::uint64_t hashed = KeyedHash(secret_, ~secret_).of(client.high(), client.low());
  return {hashed == 0 ? 1 : hashed, hashed & (sets_.size() - 1)};  // 0: no client
}

ClientLimits::Admission ClientLimits::admit(const engine::PeerEndpoint& peer, bool handshakes,
                                            Instant now) noexcept {
  const auto address = peer.ip();
  if (!address) {  // by a Unix-domain socket
    const bool denied = deny_.has_local() || (!allow_.empty() && !allow_.has_local());
    return {denied ? ClientRefusal::denied : ClientRefusal::none};
  }
  if (deny_.contains(*address)) return {ClientRefusal::denied};
  if (!allow_.empty() && !allow_.contains(*address)) return {ClientRefusal::denied};
  if (exempt_.contains(*address)) return {};
  const auto [key, index] = home_of(*address);
  Set& set = sets_[index];
  const std::lock_guard lock(lock_of(index));
  const std::size_t way = way_of(set, key, now.ns);
  Entry& entry = set.entries[way];
  if (const ClientRefusal refusal = judge(entry, handshakes, now.ns);
      refusal != ClientRefusal::none) {
    return {refusal};
  }
  ++entry.connections;
  entry.handshakes += handshakes ? 1 : 0;
  return {ClientRefusal::none, slot_of(index, way)};
}

// Returns the client's entry, or a free one, or the first forgotten one, or the shared one.
std::size_t ClientLimits::way_of(Set& set, std::uint64_t key, std::int64_t now_ns) noexcept {
  const auto found = std::ranges::find(set.keys, key);
  if (found != std::end(set.keys)) return static_cast<std::size_t>(found - set.keys);
  for (std::size_t way = 0; way < ways; ++way) {
    if (!set.entries[way].is_over(now_ns)) continue;
    set.keys[way] = key;
    set.entries[way] = {};
    return way;
  }
  return ways;
}

ClientRefusal ClientLimits::judge(Entry& entry, bool handshakes,
                                  std::int64_t now_ns) const noexcept {
  if (options_.connections_max != 0 && entry.connections >= options_.connections_max) {
    return ClientRefusal::connections;
  }
  if (handshakes && options_.handshakes_max != 0 && entry.handshakes >= options_.handshakes_max) {
    return ClientRefusal::handshakes;
  }
  if (connection_ns_ == 0) return ClientRefusal::none;
  now_ns = entry.seen_ns = std::max(entry.seen_ns, now_ns);
  // The rate is kept as the time at which it is full again (GCRA).
  const std::int64_t full_at = std::max(entry.connections_full_at_ns, now_ns) + connection_ns_;
  if (full_at - now_ns > connection_ns_ * options_.connections_burst) return ClientRefusal::rate;
  entry.connections_full_at_ns = full_at;
  return ClientRefusal::none;
}

void ClientLimits::end_handshake(Slot slot) noexcept {
  const std::lock_guard lock(lock_of(set_of(slot)));
  KATANA_CHECK(entry_of(slot).handshakes != 0);
  --entry_of(slot).handshakes;
}

void ClientLimits::leave(Slot slot) noexcept {
  const std::lock_guard lock(lock_of(set_of(slot)));
  KATANA_CHECK(entry_of(slot).connections != 0);
  --entry_of(slot).connections;
}

std::optional<ClientPlace> ClientLimits::begin_request(Slot slot) noexcept {
  const std::lock_guard lock(lock_of(set_of(slot)));
  Entry& entry = entry_of(slot);
  if (entry.requests >= options_.requests_max) return std::nullopt;
  ++entry.requests;
  return ClientPlace(*this, slot);
}

std::optional<ClientPlace> ClientLimits::begin_request(const IpAddress& address,
                                                       Instant now) noexcept {
  if (options_.requests_max == 0 || exempt_.contains(address)) return ClientPlace();
  const auto [key, index] = home_of(address);
  const std::lock_guard lock(lock_of(index));
  Set& set = sets_[index];
  const std::size_t way = way_of(set, key, now.ns);
  Entry& entry = set.entries[way];
  if (entry.requests >= options_.requests_max) return std::nullopt;
  ++entry.requests;
  return ClientPlace(*this, slot_of(index, way));
}

void ClientLimits::end_request(Slot slot) noexcept {
  const std::lock_guard lock(lock_of(set_of(slot)));
  KATANA_CHECK(entry_of(slot).requests != 0);
  --entry_of(slot).requests;
}

Duration ClientLimits::take_bytes(Slot slot, std::size_t bytes, Instant now) noexcept {
  const auto cost_ns = static_cast<std::int64_t>(static_cast<double>(bytes) * byte_ns_);
  const auto burst_ns =
      static_cast<std::int64_t>(static_cast<double>(options_.received_bytes_burst) * byte_ns_);
  const std::lock_guard lock(lock_of(set_of(slot)));
  Entry& entry = entry_of(slot);
  entry.bytes_full_at_ns = std::max(entry.bytes_full_at_ns, now.ns) + cost_ns;
  return nanoseconds(std::max<std::int64_t>(0, entry.bytes_full_at_ns - now.ns - burst_ns));
}

std::size_t ClientLimits::receive_max(bool has_burst) const noexcept {
  constexpr std::uint64_t least = 256;  // bytes, worth a system call
  const std::uint64_t most = std::max(least, options_.received_bytes_burst);
  if (has_burst) return most;
  return std::clamp(options_.received_bytes_per_s / 8, least, most);
}

std::size_t ClientLimits::clients(Instant now) const {
  std::size_t count = 0;
  for (std::size_t index = 0; index < sets_.size(); ++index) {
    const std::lock_guard lock(locks_[index % locks]);
    count += static_cast<std::size_t>(std::ranges::count_if(
        sets_[index].entries, [&](const Entry& entry) { return !entry.is_over(now.ns); }));
  }
  return count;
}

std::size_t ClientLimits::requests() const {
  std::size_t count = 0;
  for (std::size_t index = 0; index < sets_.size(); ++index) {
    const std::lock_guard lock(locks_[index % locks]);
    for (const Entry& each : sets_[index].entries) count += each.requests;
  }
  return count;
}

void ClientPlace::end() noexcept { limits_->end_request(slot_); }

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
