// certificate: identifies the client by the certificate that it has shown (mutual TLS), which the
// listener has verified: settings http.tls.client_authorities_file, client_certificate_optional.
//
//   api.use(auth::first_of({auth::certificate({.by = auth::CertificateName::uri}),
//                           auth::bearer(…)}));
//
// Owns       its options.
// Thread     the reactor's; one object serves all of them.
// Allocates  the principal, for each request.
// Fails      a connection without a certificate, and a certificate without such a name, have no
//            credentials of this kind: 401, or the next authenticator.
// Invariant  a certificate of a connection through a proxy that ends TLS is never seen.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "katana/identity/auth/authenticator.hpp"
#include "katana/net/reactor/peer_certificate.hpp"

namespace katana::auth {

// Which of its names is the id; of several the first.
enum class CertificateName : std::uint8_t { subject, dns, uri, email };

// The part of a certificate that identifies the client.
struct CertificateOptions {
  // Without `find`.
  CertificateName by = CertificateName::subject;
  // Instead: the principal; nothing: the certificate is of no known client. Quick, on the reactor.
  std::function<std::optional<PrincipalFacts>(const net::PeerCertificate&)> find = {};
};

Authentication certificate(CertificateOptions options = {});

}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
