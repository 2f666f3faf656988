#include "katana/net/tls/setup.hpp"

#include <fmt/format.h>

namespace katana::tls {
namespace {

// Ciphers with forward secrecy and authenticated encryption, the cheap ones first. It is the list
// that Mozilla calls intermediate, without finite-field groups. Every client of the last ten years
// works without those.
constexpr const char* default_ciphers_1_2 =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:"
    "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:"
    "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305";
constexpr const char* default_ciphers_1_3 =
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";
constexpr const char* default_groups = "X25519:P-256:P-384";

constexpr std::size_t protocol_bytes_max = 255;

std::unexpected<Error> wrong(const char* option, const std::string& value) {
  return fail(Code::invalid_argument,
              fmt::format("TLS {} '{}': {}: see openssl ciphers -v and openssl list", option, value,
                          last_error()));
}

}  // namespace

Result<void> set_up(SSL_CTX& context, Version version_min, const Algorithms& algorithms) {
  SSL_CTX_set_options(&context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  // The bytes of SSL_write may have moved when it is called again; it is never called with fewer.
  SSL_CTX_set_mode(&context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_session_cache_mode(&context, SSL_SESS_CACHE_OFF);
  const bool is_1_3 = version_min == Version::tls_1_3;
  SSL_CTX_set_min_proto_version(&context, is_1_3 ? TLS1_3_VERSION : TLS1_2_VERSION);
  const auto chosen = [](const std::string& given, const char* otherwise) {
    return given.empty() ? otherwise : given.c_str();
  };
  if (SSL_CTX_set_cipher_list(&context, chosen(algorithms.ciphers_1_2, default_ciphers_1_2)) != 1) {
    return wrong("1.2 ciphers", algorithms.ciphers_1_2);
  }
  if (SSL_CTX_set_ciphersuites(&context, chosen(algorithms.ciphers_1_3, default_ciphers_1_3)) !=
      1) {
    return wrong("1.3 ciphers", algorithms.ciphers_1_3);
  }
  // For DHE ciphers, if the options name some: OpenSSL takes 2048 bits or more, as the certificate
  // asks for.
  SSL_CTX_set_dh_auto(&context, 1);
  if (SSL_CTX_set1_groups_list(&context, chosen(algorithms.groups, default_groups)) != 1) {
    return wrong("groups", algorithms.groups);
  }
  return {};
}

Result<void> use_identity(SSL_CTX& context, const Identity& identity) {
  if (SSL_CTX_use_certificate(&context, identity.certificate.get()) != 1 ||
      SSL_CTX_use_PrivateKey(&context, identity.key.get()) != 1) {
    return fail(
        Code::invalid_argument,
        fmt::format("certificate '{}' cannot be used: {} (keys of RSA need 2048 bits, those "
                    "of elliptic curves 256)",
                    identity.source, last_error()));
  }
  for (const OwnedCertificate& each : identity.chain) {
    if (SSL_CTX_add1_chain_cert(&context, each.get()) != 1) {
      return fail(Code::invalid_argument, fmt::format("the chain in '{}' cannot be used: {}",
                                                      identity.source, last_error()));
    }
  }
  return {};
}

Result<std::string> encode_protocols(const std::vector<std::string>& protocols) {
  std::string encoded;
  for (const std::string& protocol : protocols) {
    if (protocol.empty() || protocol.size() > protocol_bytes_max) {
      return fail(Code::invalid_argument,
                  fmt::format("TLS protocol '{}': an ALPN name has 1 to 255 bytes", protocol));
    }
    encoded += static_cast<char>(protocol.size());
    encoded += protocol;
  }
  return encoded;
}

}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
