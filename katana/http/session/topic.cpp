#include "katana/http/session/topic.hpp"

#include <algorithm>

namespace katana::session {

void Topic::add(const std::shared_ptr<WebSocketPost>& post) {
  const std::lock_guard lock(mutex);
  const auto found = std::ranges::find(shares, post, &Share::post);
  if (found != shares.end()) {
    ++found->subscribers;
  } else {
    shares.push_back({post, 1});
  }
}

void Topic::remove(const WebSocketPost& post) noexcept {
  const std::lock_guard lock(mutex);
  const auto found =
      std::ranges::find_if(shares, [&](const Share& each) { return each.post.get() == &post; });
  if (found != shares.end() && --found->subscribers == 0) shares.erase(found);
}

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
