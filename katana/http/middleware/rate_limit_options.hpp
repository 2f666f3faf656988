// RateLimitOptions: the key and the rate of rate_limit() (rate_limit.hpp).
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

// The treatment of requests while a SharedLimit is not available.
enum class WhenLimitUnknown : std::uint8_t {
  local,   // this instance counts alone, with the same rate and burst
  refuse,  // 503
};

// The number of requests of one key that are served, and the key.
struct RateLimitOptions {
  double per_second = 10;            // on average; above 0
  std::uint32_t burst = 20;          // at once; 1 or more
  std::size_t keys_max = 64 * 1024;  // remembered by this process
  // Returns the key of a request; requests with the same key are counted together. By default this
  // is the client's address (RequestView::client(), which believes trusted proxies) without its
  // port. The first 64 bits of an IPv6 address count, because one subscriber has all of these
  // addresses (client_network()). For a Unix-domain socket the key is the user. An unknown client
  // is refused (503, and counted as a failure). If the function returns an empty key, no limit
  // applies. For a value that a client can leave out, return something else in its place, such as
  // the client's address.
  std::function<Text(const RequestView&, session::Exchange&)> key = {};
  // Null: this process counts alone. A shared limit has a separate rate and burst.
  std::shared_ptr<SharedLimit> shared_limit = {};
  WhenLimitUnknown when_unknown = WhenLimitUnknown::local;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
