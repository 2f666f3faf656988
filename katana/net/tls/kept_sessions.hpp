// KeptSessions: sessions that a server lets its client resume, kept until a connection asks for
// one.
//
// Owns       at most four.
// Thread     one.
// Allocates  by OpenSSL only.
// Invariant  all are of one context and one name; their owner ensures it. A resumed session is not
//            verified again. A session of TLS 1.3 is given out once: an eavesdropper then cannot
//            tell that two connections are the same client's (RFC 8446 §C.4).
#pragma once

#include <array>
#include <cstddef>

#include "katana/base/values/instant.hpp"
#include "katana/net/tls/openssl.hpp"

namespace katana::tls {

// A TLS session that can be resumed, and the time when the server was verified.
struct KeptSession {
  OwnedSession session;   // null: none
  Instant verified_at{};  // when the server showed its certificate
};

class KeptSessions {
 public:
  static constexpr std::size_t sessions_max = 4;  // a further one replaces the oldest

  // Takes the youngest session that OpenSSL would ask for and that was verified less than
  // `lifetime` ago.
  KeptSession take(Instant now, Duration lifetime) noexcept;
  // Keeps a copy, because OpenSSL spoils the session of a connection that is reset. Drops the
  // oldest when it is full.
  void keep(KeptSession kept) noexcept;
  void clear() noexcept;
  std::size_t size() const noexcept { return size_; }

 private:
  std::array<KeptSession, sessions_max> kept_;  // the youngest last
  std::size_t size_ = 0;
};

}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
