#include "katana/wire/tls/failure.hpp"

#include <array>

namespace katana::tls {

Bytes name_of(Failure failure) noexcept {
  static constexpr std::array<Bytes, failure_count> names{
      "none", "not_tls",      "plain_http",         "version",    "no_shared_cipher",
      "alpn", "unknown_name", "client_certificate", "peer_alert", "broken_record",
      "left", "timed_out",    "renegotiation",      "other"};
  return names[static_cast<std::size_t>(failure)];
}

}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
