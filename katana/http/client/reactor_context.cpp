#include "katana/http/client/reactor_context.hpp"

#include <algorithm>
#include <utility>

#include "katana/net/reactor/destinations.hpp"

namespace katana::client {
namespace {

// Unread streams hold up no other stream. Their windows fit into half of the connection's window;
// the other half may be consumed and not yet given back.
http2::Limits limits_of(const HttpClientOptions& options) {
  http2::Limits limits;
  const auto most = static_cast<std::uint32_t>(http2::window_bytes_max);
  const std::uint32_t window = static_cast<std::uint32_t>(
      std::clamp<std::size_t>(options.stream_bytes_max, http2::default_window_bytes, most / 2));
  limits.stream_window_bytes = window;
  limits.streams_max = std::min(options.streams_max, most / 2 / window);
  limits.connection_window_bytes =
      std::max(2 * window * limits.streams_max, limits.connection_window_bytes);
  limits.head_bytes_max = std::min(options.head_bytes_max, http2::head_bytes_limit);
  // A larger block fails only its own call.
  limits.block_bytes_max = std::max(limits.block_bytes_max, 2 * limits.head_bytes_max);
  // The timeout may begin before the connection is made.
  limits.settings_timeout.ns += options.connect_timeout.ns;
  return limits;
}

}  // namespace

ReactorContext::ReactorContext(net::Reactor& reactor, std::shared_ptr<const Shared> shared)
    : reactor_(reactor), shared_(std::move(shared)), random_(shared_->options().seed) {
  if (random_ == 0) random_ = net::Destinations::seed_for(reactor) | std::uint64_t{1} << 32;
}

http2::ClientContext& ReactorContext::http2() {
  if (http2_ == nullptr) http2_ = std::make_unique<http2::ClientContext>(limits_of(options()));
  return *http2_;
}

// xorshift64* (Marsaglia, Vigna): enough to keep clients from retrying in step.
Duration ReactorContext::random_part(Duration most) noexcept {
  random_ ^= random_ >> 12;
  random_ ^= random_ << 25;
  random_ ^= random_ >> 27;
  const std::uint64_t drawn = random_ * 0x2545f4914f6cdd1d;
  return nanoseconds(
      most.ns > 0 ? static_cast<std::int64_t>(drawn % (static_cast<std::uint64_t>(most.ns) + 1))
                  : 0);
}

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
