// Reads the fields of a verified certificate that identify its owner.
//
// Borrows    the certificate, for the call.
// Thread     any.
// Allocates  the texts.
// Fails      never: unreadable fields are left out.
#pragma once

#include "katana/net/reactor/peer_certificate.hpp"
#include "katana/net/tls/openssl.hpp"

namespace katana::tls {

// Returns the fields as texts.
net::PeerCertificate read_peer_certificate(X509& certificate);

}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
