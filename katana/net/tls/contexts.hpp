// Contexts: everything that handshakes need, ready to use and never changed. Certificates by name,
// versions, ciphers, protocols, authorities of clients.
//
// Owns       an SSL_CTX for each certificate, or for two of different key types and the same names.
// Borrows    the TicketKeys, which must outlive it.
// Thread     any; handshakes of all reactors share one.
// Allocates  at make().
// Fails      make() says which option or file is wrong.
// Invariant  never changed once made: a reload makes another, and connections keep theirs.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/net/tls/identity.hpp"
#include "katana/net/tls/openssl.hpp"
#include "katana/net/tls/options.hpp"
#include "katana/net/tls/ticket_keys.hpp"

namespace katana::tls {

class Contexts {
 public:
  // Reads certificates and keys. An Error names the option or file.
  static Result<std::shared_ptr<const Contexts>> make(const TlsOptions& options,
                                                      TicketKeys& tickets);
  Contexts(const Contexts&) = delete;
  Contexts& operator=(const Contexts&) = delete;

  // The context with which every connection begins; the requested name may select another.
  SSL_CTX& first() const noexcept { return *sites_.front().context; }
  // The context for that name, in any case: exact, then by wildcard; null: there is none.
  SSL_CTX* find(Bytes name) const noexcept;

  // Warnings: certificates that are about to expire or have expired.
  const std::vector<std::string>& notes() const noexcept { return notes_; }
  std::size_t certificate_count() const noexcept { return certificates_; }

 private:
  struct Site {
    OwnedContext context;
    std::vector<std::string> names;
    std::vector<int> key_types;
  };
  struct Callbacks;

  explicit Contexts(TicketKeys& tickets) noexcept : tickets_(tickets) {}
  Result<void> load(const TlsOptions& options);
  Result<void> add(const TlsOptions& options, const Certificate& certificate);
  Result<OwnedContext> make_context(const TlsOptions& options);
  Result<void> ask_for_certificates(SSL_CTX& context, const TlsOptions& options);

  TicketKeys& tickets_;
  std::vector<Site> sites_;
  std::unordered_map<std::string, SSL_CTX*> exact_;
  std::unordered_map<std::string, SSL_CTX*> wildcards_;  // by the part after "*."
  std::vector<std::string> notes_;
  std::string protocols_;  // as sent: each with its length in front (RFC 7301 §3.1)
  bool names_must_match_ = false;
  std::size_t certificates_ = 0;
};

}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
