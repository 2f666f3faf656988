// TLS servers for tests: OpenSSL alone, and a target that trusts them.
//
// Owns       a certificate for localhost, made once.
// Thread     any, once made.
// Fails      by aborting: without a certificate there is no test.
#pragma once

#include <fmt/format.h>
#include <openssl/ssl.h>

#include <cstring>
#include <memory>
#include <string>

#include "katana/base/system/check.hpp"
#include "katana/wire/tls/client_test.hpp"
#include "lab/load/http2_requests.hpp"
#include "lab/load/target.hpp"
#include "lab/load/tls_connection.hpp"

namespace katana::load {

inline const tls::TestCertificate& test_certificate() {
  static const tls::TestCertificate made;
  return made;
}

using ServerContext = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;

// `protocol`: its choice if the client offers it (ALPN), a literal; empty: it does not choose.
inline ServerContext server_context(const char* protocol = "", int version_max = 0) {
  ServerContext made(SSL_CTX_new(TLS_server_method()), &SSL_CTX_free);
  SSL_CTX_use_certificate(made.get(), test_certificate().certificate.get());
  SSL_CTX_use_PrivateKey(made.get(), test_certificate().key.get());
  SSL_CTX_set_max_proto_version(made.get(), version_max);
  SSL_CTX_set_session_cache_mode(made.get(), SSL_SESS_CACHE_OFF);  // tickets are enough
  const auto select = [](SSL*, const unsigned char** out, unsigned char* size,
                         const unsigned char* in, unsigned in_size, void* wanted) {
    const std::string_view name(static_cast<const char*>(wanted));
    const std::string_view list(reinterpret_cast<const char*>(in), in_size);
    for (std::size_t at = 0; at < list.size(); at += 1 + in[at]) {
      if (list.substr(at + 1, in[at]) != name) continue;
      *out = in + at + 1;
      *size = in[at];
      return SSL_TLSEXT_ERR_OK;
    }
    return SSL_TLSEXT_ERR_NOACK;
  };
  if (protocol[0] != '\0') {
    SSL_CTX_set_alpn_select_cb(made.get(), select, const_cast<char*>(protocol));
  }
  return made;
}

inline Target tls_target(std::uint16_t port, const LoadPlan& plan, const RequestSpec& request = {},
                         const TlsSpec& trusted = {.insecure = true, .authorities_file = {}}) {
  const auto url = parse_url(fmt::format("https://127.0.0.1:{}/", port));
  Target target{*url, *resolve(*url), *make_requests(*url, request, "")};
  target.url.host = "localhost";
  auto tls = make_tls(trusted, plan);
  KATANA_CHECK(tls.has_value());
  target.tls = *tls;
  if (plan.http2) KATANA_CHECK(add_blocks(target, request).has_value());
  return target;
}

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
