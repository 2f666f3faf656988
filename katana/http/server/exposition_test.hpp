// exposition_of(): the metrics of a registry as a scraper reads them.
//
// Thread     any.
#pragma once

#include <string>

#include "katana/observe/metrics/exposition.hpp"

namespace katana::server {

inline std::string exposition_of(metrics::Registry& registry) {
  std::string text;
  metrics::write_exposition(registry, metrics::Format::prometheus, text);
  return text;
}

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
