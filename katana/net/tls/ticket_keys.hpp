// TicketKeys: the keys that seal session tickets (RFC 5077, RFC 8446 §4.6.1). By its ticket a
// client resumes a session that the server does not remember.
//
// A key seals for `lifetime` and opens for as long again. A stolen key opens all sessions that were
// sealed with it. No key is therefore kept longer, and none is written anywhere. A restart makes
// all tickets worthless, which costs their clients one full handshake.
//
// Owns       the keys; they are wiped when they are dropped.
// Thread     any; handshakes of all reactors share them.
// Allocates  never.
// Fails      if no key can be made (the system has no randomness), the session gets no ticket.
// Invariant  at most two keys: the one that seals, and the previous one.
#pragma once

#include <openssl/ssl.h>

#include <array>
#include <cstddef>
#include <mutex>
#include <optional>

#include "katana/base/values/instant.hpp"

namespace katana::tls {

class TicketKeys {
 public:
  // One key; it is in use for twice `lifetime`.
  struct Key {
    std::array<unsigned char, 16> name;    // begins each ticket; find() looks for it
    std::array<unsigned char, 32> cipher;  // AES-256-CBC
    std::array<unsigned char, 32> digest;  // HMAC-SHA256
  };
  // The result of find(): the key of a ticket.
  struct Found {
    Key key;     // a copy
    bool seals;  // false: the client should get a ticket of the present key
  };

  explicit TicketKeys(Duration lifetime) noexcept : lifetime_(lifetime) {}
  ~TicketKeys();
  TicketKeys(const TicketKeys&) = delete;
  TicketKeys& operator=(const TicketKeys&) = delete;

  // The key to seal with at `now`.
  std::optional<Key> present(Instant now) noexcept;
  // The key of that name, if it still opens tickets.
  std::optional<Found> find(const unsigned char* name, Instant now) noexcept;
  // The lifetime of a ticket.
  Duration lifetime() const noexcept { return lifetime_; }

  // For SSL_CTX_set_tlsext_ticket_key_evp_cb: returns its callback's result.
  int prepare(unsigned char* name, unsigned char* vector, EVP_CIPHER_CTX* cipher,
              EVP_MAC_CTX* digest, bool seal, Instant now) noexcept;

 private:
  void rotate(Instant now) noexcept;

  const Duration lifetime_;
  std::mutex mutex_;
  std::optional<Key> present_, previous_;  // guarded by mutex_, like the next line
  Instant present_until_, previous_until_;
};

}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
