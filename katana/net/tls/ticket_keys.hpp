// TicketKeys: the keys that session tickets are sealed with (RFC 5077, RFC 8446 §4.6.1), by which a
// client resumes a session that the server does not remember.
//
// A key seals for `lifetime` and opens for as long again. Anyone who gets a key can read the
// sessions that were sealed with it, so none is kept longer, and none is written anywhere: a
// restart makes all tickets worthless, which costs their clients one full handshake.
//
// Owns       the keys; they are wiped when they are dropped.
// Thread     any; handshakes of all reactors share them.
// Allocates  never.
// Fails      no key could be made (the system has no randomness): the session gets no ticket.
// Invariant  at most two keys: the one that seals, and the one before.
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
    std::array<unsigned char, 16> name;    // begins each ticket, so that the key is found again
    std::array<unsigned char, 32> cipher;  // AES-256-CBC
    std::array<unsigned char, 32> digest;  // HMAC-SHA256
  };
  // What find() gives: the key of a ticket.
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
  // The key of that name, if it still opens.
  std::optional<Found> find(const unsigned char* name, Instant now) noexcept;
  // How long a ticket is good for.
  Duration lifetime() const noexcept { return lifetime_; }

  // For SSL_CTX_set_tlsext_ticket_key_evp_cb: as OpenSSL wants it answered.
  int prepare(unsigned char* name, unsigned char* vector, EVP_CIPHER_CTX* cipher,
              EVP_MAC_CTX* digest, bool seal, Instant now) noexcept;

 private:
  void rotate(Instant now) noexcept;

  const Duration lifetime_;
  std::mutex mutex_;
  std::optional<Key> present_, previous_;  // guarded, as what follows
  Instant present_until_, previous_until_;
};

}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
