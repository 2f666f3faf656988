#include "katana/net/tls/kept_sessions.hpp"

#include <algorithm>
#include <utility>

namespace katana::tls {

KeptSession KeptSessions::take(Instant now, Duration lifetime) noexcept {
  while (size_ > 0) {
    KeptSession& youngest = kept_[size_ - 1];
    const bool is_good = now - youngest.verified_at < lifetime &&
                         SSL_SESSION_is_resumable(youngest.session.get()) == 1;
    if (is_good && SSL_SESSION_get_protocol_version(youngest.session.get()) < TLS1_3_VERSION) {
      return {OwnedSession(SSL_SESSION_dup(youngest.session.get())), youngest.verified_at};
    }
    --size_;
    KeptSession taken = std::exchange(youngest, KeptSession());
    if (is_good) return taken;
  }
  return {};
}

void KeptSessions::keep(KeptSession kept) noexcept {
  kept.session.reset(SSL_SESSION_dup(kept.session.get()));
  if (kept.session == nullptr) return;  // no memory
  if (size_ == sessions_max) {
    std::ranges::rotate(kept_, kept_.begin() + 1);
    --size_;
  }
  kept_[size_++] = std::move(kept);
}

void KeptSessions::clear() noexcept {
  while (size_ > 0) kept_[--size_] = {};
}

}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
