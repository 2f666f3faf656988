// Failure: why a TLS connection could not be made, or broke.
//
// Thread     any.
// Allocates  never.
// Invariant  the names are those of the metric's labels, and stay.
#pragma once

#include <cstddef>
#include <cstdint>

#include "katana/base/text/bytes.hpp"

namespace katana::tls {

// Why a TLS connection failed. Label of the metric of failures.
enum class Failure : std::uint8_t {
  none,                  // it has not failed
  not_tls,               // the input is no TLS
  plain_http,            // the input is an HTTP request without TLS
  version,               // the other side speaks no version that we accept
  no_shared_cipher,      // or no signature algorithm or group
  application_protocol,  // the other side speaks none of those we offer (ALPN)
  unknown_name,          // there is no certificate for the name that it asked for (SNI)
  client_certificate,    // none was sent, or it does not verify
  peer_alert,            // the other side has refused us: an unknown authority, most often
  broken_record,         // bytes were changed on the way, or the other side is broken
  left,                  // the other side ended the connection in the midst of the handshake
  timed_out,             // the handshake took too long
  renegotiation,         // the other side began another handshake of TLS 1.2
  other,                 // an error of OpenSSL that is none of these
};

// Array size for counts by Failure.
inline constexpr std::size_t failure_count = static_cast<std::size_t>(Failure::other) + 1;

Bytes name_of(Failure failure) noexcept;  // label of the metric: "not_tls"

}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
