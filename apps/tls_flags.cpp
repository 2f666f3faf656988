#include "tls_flags.hpp"

namespace katana::apps {

void TlsFlags::describe(CLI::App& app) {
  app.add_option("--tls-cert", certificates_,
                 "use TLS with the certificate and its chain in this PEM file; may be repeated, "
                 "each with its --tls-key, and clients choose by name (SNI)");
  app.add_option("--tls-key", keys_, "PEM file of the private key");
  app.add_flag("--tls-dev", development_,
               "use TLS with a self-signed certificate for localhost that is made at "
               "the start");
  app.add_option("--tls-min", version_min_, "lowest version of TLS: 1.2 or 1.3")
      ->check(CLI::IsMember({"1.2", "1.3"}))
      ->capture_default_str();
  app.add_option("--tls-client-ca", client_authorities_,
                 "PEM file of authorities; clients need a certificate that one of them signed");
  app.add_option("--tls-handshake-s", handshake_s_,
                 "most seconds of a handshake; then the connection is closed")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
}

Result<std::optional<tls::TlsOptions>> TlsFlags::options() const {
  if (certificates_.size() != keys_.size()) {
    return fail(Code::invalid_argument,
                "--tls-cert and --tls-key belong together: give as many of each");
  }
  const bool wanted = development_ || !certificates_.empty();
  if (!wanted && !client_authorities_.empty()) {
    return fail(Code::invalid_argument,
                "--tls-client-ca needs --tls-cert and --tls-key, or --tls-dev");
  }
  if (!wanted) return std::nullopt;
  tls::TlsOptions options;
  for (std::size_t index = 0; index < keys_.size(); ++index) {
    options.certificates.push_back({.chain_file = certificates_[index], .key_file = keys_[index]});
  }
  options.development = development_;
  if (version_min_ == "1.3") options.version_min = tls::Version::tls_1_3;
  options.client_authorities_file = client_authorities_;
  return options;
}

}  // namespace katana::apps

// SPDX-License-Identifier: Apache-2.0
