// HttpCacheOptions: the limits and rules of an HttpCache (http_cache.hpp).
//
// Owns       values only.
// Thread     a value.
// Allocates  as its members do.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "katana/base/values/instant.hpp"

namespace katana {

// Limits hold for all reactors together; Router::build() fails for wrong ones.
struct HttpCacheOptions {
  bool enabled = true;                                 // false: middleware() does nothing
  std::string name = "http";                           // in metrics
  std::size_t bytes_max = std::size_t{64} << 20;       // total memory
  std::size_t entries_max = 100'000;                   // replies that are kept
  std::size_t reply_bytes_max = std::size_t{1} << 20;  // of one reply's content
  // No reply is kept for longer, whatever it says.
  Duration fresh_max = seconds(24 * 3600);
  Duration wait_max = seconds(5);
  std::size_t waiting_max = 10'000;  // requests that wait for others' replies; more do not wait
  // Requests with one of these fields bypass the cache.
  std::vector<std::string> private_fields = {"authorization", "proxy-authorization", "cookie",
                                             "x-api-key"};
  // Keeps replies with Set-Cookie, and sends the cookie to all clients. Nearly always wrong.
  bool keep_set_cookie = false;
  // The name in Cache-Status; empty: the field is not sent.
  std::string status_name = "katana";
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
