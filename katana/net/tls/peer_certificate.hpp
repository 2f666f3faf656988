// What a verified certificate says of who has shown it.
//
// Borrows    the certificate, for the call.
// Thread     any.
// Allocates  the texts.
// Fails      never: what cannot be read is left out.
#pragma once

#include "katana/net/reactor/peer_certificate.hpp"
#include "katana/net/tls/openssl.hpp"

namespace katana::tls {

// As texts.
net::PeerCertificate read_peer_certificate(X509& certificate);

}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
