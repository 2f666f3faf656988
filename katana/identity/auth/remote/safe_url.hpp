// is_safe_url(): URLs with answers that cannot be changed in transit.
//
// Thread     any.
// Allocates  never.
// Fails      never.
#pragma once

#include "katana/base/text/bytes.hpp"

namespace katana::auth {

// True for https, and for http to a loopback name.
constexpr bool is_safe_url(Bytes url) noexcept {
  if (url.starts_with("https://")) return true;
  for (const Bytes start :
       {Bytes("http://127.0.0.1"), Bytes("http://localhost"), Bytes("http://[::1]")}) {
    if (!url.starts_with(start)) continue;
    const Bytes rest = url.substr(start.size());
    if (rest.empty() || rest.starts_with(':') || rest.starts_with('/')) return true;
  }
  return false;
}

}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
