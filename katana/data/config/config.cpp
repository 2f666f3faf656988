#include "katana/data/config/config.hpp"

namespace katana::config::detail {

// Of the member itself, and of everything that its path begins.
void Merging::keep_origin(const Origins& of) {
  for (auto at = of.lower_bound(path); at != of.end() && at->first.starts_with(path); ++at) {
    const Bytes rest = Bytes(at->first).substr(path.size());
    if (rest.empty() || rest.front() == '.' || rest.front() == '[') origins.insert(*at);
  }
}

void Merging::note(bool applied, Bytes before, Bytes after) {
  const auto origin = fresh_origins.find(path);
  (applied ? found.applied : found.needs_restart)
      .push_back(
          fmt::format("{}: {} → {} ({})", path, before, after,
                      (origin == fresh_origins.end() ? Origin() : origin->second).describe()));
}

}  // namespace katana::config::detail

// SPDX-License-Identifier: Apache-2.0
