// RateLimitOptions: what rate_limit() counts, and how much of it goes on (rate_limit.hpp).
//
// Owns       values only.
// Thread     a value.
// Allocates  as its members do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "katana/base/system/function.hpp"
#include "katana/base/text/text.hpp"

namespace katana {
class RequestView;
class SharedLimit;
}  // namespace katana
namespace katana::session {
class Exchange;
}  // namespace katana::session

namespace katana {

// What becomes of requests while a SharedLimit cannot be asked.
enum class WhenLimitUnknown : std::uint8_t {
  local,   // this instance counts for itself, by the same rate and burst
  refuse,  // 503
};

// How many requests of one key are served, and what the key is.
struct RateLimitOptions {
  double per_second = 10;            // on average; above 0
  std::uint32_t burst = 20;          // at once; 1 or more
  std::size_t keys_max = 64 * 1024;  // remembered by this process
  // Whose requests are counted together. By default the client's address (RequestView::client(),
  // which believes trusted proxies) without its port, of IPv6 the first 64 bits, which is what one
  // subscriber has (client_network()), and of a Unix-domain socket the user; an unknown client is
  // refused (503, and counted as a failure). Empty from a function given here: no limit applies;
  // so what a client can leave out needs something in its place, such as its
  // address.
  std::function<Text(const RequestView&, session::Exchange&)> key = {};
  // Null: this process counts alone. The rate and burst of what is here are its own.
  std::shared_ptr<SharedLimit> shared_limit = {};
  WhenLimitUnknown when_unknown = WhenLimitUnknown::local;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
