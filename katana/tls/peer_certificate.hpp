// What a verified certificate says of who has shown it.
//
// Borrows    the certificate, for the call.
// Thread     any.
// Allocates  the texts.
// Fails      never: what cannot be read is left out.
#pragma once

#include "katana/core/peer_certificate.hpp"
#include "katana/tls/openssl.hpp"

namespace katana::tls {

// As texts.
core::PeerCertificate read_peer_certificate(X509& certificate);

}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
