// certificate: identifies the client by its certificate (mutual TLS). The listener has verified it:
// settings http.tls.client_authorities_file, client_certificate_optional.
//
//   api.use(auth::first_of({auth::certificate({.by = auth::CertificateName::uri}),
//                           auth::bearer(…)}));
//
// Owns       its options.
// Thread     the reactor's; one object serves all of them.
// Allocates  the principal, for each request.
// Fails      a connection without a certificate, and a certificate without such a name, have no
//            credentials of this kind: 401, or the next authenticator.
// Invariant  behind a proxy that ends TLS, the certificate of the client is never seen.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "katana/identity/auth/authenticator.hpp"
#include "katana/net/reactor/peer_certificate.hpp"

namespace katana::auth {

// The kind of name that becomes the id. The first of several names is taken.
enum class CertificateName : std::uint8_t { subject, dns, uri, email };

// The part of a certificate that identifies the client.
struct CertificateOptions {
  // The name that becomes the id, if there is no `find`.
  CertificateName by = CertificateName::subject;
  // Returns the principal, in place of `by`; nothing: no known client has the certificate. It runs
  // on the reactor, and must not block.
  std::function<std::optional<PrincipalFacts>(const net::PeerCertificate&)> find = {};
};

Authentication certificate(CertificateOptions options = {});

}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
