#include "katana/net/tls/contexts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "katana/net/tls/development.hpp"
#include "katana/net/tls/setup.hpp"
#include "katana/wire/tls/machine.hpp"

namespace katana::tls {
namespace {

constexpr std::size_t name_bytes_max = 255;  // of a DNS name (RFC 1035 §2.3.4)

const Contexts& contexts_of(const SSL& ssl) noexcept {
  return *static_cast<const Contexts*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(&ssl)));
}

}  // namespace

// The functions that OpenSSL calls during a handshake.
struct Contexts::Callbacks {
  static int name(SSL* ssl, int* alert, void*) noexcept {
    const char* const asked = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    if (asked == nullptr) return SSL_TLSEXT_ERR_NOACK;
    const Contexts& contexts = contexts_of(*ssl);
    SSL_CTX* const found = contexts.find(asked);
    if (found != nullptr) {
      if (found != SSL_get_SSL_CTX(ssl)) SSL_set_SSL_CTX(ssl, found);
      return SSL_TLSEXT_ERR_OK;
    }
    if (!contexts.names_must_match_) return SSL_TLSEXT_ERR_NOACK;
    Machine::of(*ssl).note_failure(Failure::unknown_name);
    *alert = SSL_AD_UNRECOGNIZED_NAME;
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }

  static int protocol(SSL* ssl, const unsigned char** chosen, unsigned char* size,
                      const unsigned char* offered, unsigned offered_size, void*) noexcept {
    const Bytes own = Machine::of(*ssl).protocols();
    const Bytes ours = own.empty() ? Bytes(contexts_of(*ssl).protocols_) : own;
    if (ours.empty()) return SSL_TLSEXT_ERR_NOACK;
    unsigned char* found = nullptr;
    const int match =
        SSL_select_next_proto(&found, size, reinterpret_cast<const unsigned char*>(ours.data()),
                              static_cast<unsigned>(ours.size()), offered, offered_size);
    if (match != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_ALERT_FATAL;
    *chosen = found;
    return SSL_TLSEXT_ERR_OK;
  }

  static int ticket(SSL* ssl, unsigned char* name, unsigned char* vector, EVP_CIPHER_CTX* cipher,
                    EVP_MAC_CTX* digest, int seal) noexcept {
    const int done = contexts_of(*ssl).tickets_.prepare(name, vector, cipher, digest, seal == 1,
                                                        Machine::of(*ssl).now());
    // Clients of TLS 1.3 use a ticket once (RFC 8446 §C.4). Each resumption therefore has to give
    // another one, which the result 2 asks for.
    const bool opened = seal == 0 && done == 1;
    return opened && SSL_version(ssl) == TLS1_3_VERSION ? 2 : done;
  }
};

SSL_CTX* Contexts::find(Bytes name) const noexcept {
  if (name.size() > name_bytes_max) return nullptr;
  if (name.ends_with('.')) name.remove_suffix(1);
  const std::string wanted = lower_case(name);
  if (const auto exact = exact_.find(wanted); exact != exact_.end()) return exact->second;
  const std::size_t dot = wanted.find('.');
  if (dot == std::string::npos || dot == 0) return nullptr;
  const auto wildcard = wildcards_.find(wanted.substr(dot + 1));
  return wildcard != wildcards_.end() ? wildcard->second : nullptr;
}

Result<std::shared_ptr<const Contexts>> Contexts::make(const TlsOptions& options,
                                                       TicketKeys& tickets) {
  std::shared_ptr<Contexts> made(new Contexts(tickets));
  if (auto loaded = made->load(options); !loaded) return std::unexpected(loaded.error());
  return made;
}

Result<void> Contexts::load(const TlsOptions& options) {
  names_must_match_ = options.names_must_match;
  auto protocols = encode_protocols(options.protocols);
  if (!protocols) return std::unexpected(protocols.error());
  protocols_ = *std::move(protocols);
  for (const Certificate& certificate : options.certificates) {
    if (auto added = add(options, certificate); !added) return added;
  }
  if (options.development) {
    auto certificate = make_development_certificate(options.development_names);
    if (!certificate) return std::unexpected(certificate.error());
    if (auto added = add(options, *certificate); !added) return added;
  }
  if (sites_.empty()) {
    return fail(Code::invalid_argument,
                "TLS needs a certificate: give one with its key, or ask for one for development");
  }
  for (const Site& site : sites_) {
    for (const std::string& name : site.names) {
      SSL_CTX* const context = site.context.get();
      if (name.starts_with("*.")) {
        wildcards_.emplace(name.substr(2), context);  // of two, the first one given
      } else {
        exact_.emplace(name, context);
      }
    }
  }
  return {};
}

Result<void> Contexts::add(const TlsOptions& options, const Certificate& certificate) {
  auto identity = load_identity(certificate, notes_);
  if (!identity) return std::unexpected(identity.error());
  std::ranges::sort(identity->names);
  const int key_type = EVP_PKEY_get_base_id(identity->key.get());
  const auto goes_with = [&](const Site& site) {
    return site.names == identity->names &&
           std::ranges::find(site.key_types, key_type) == site.key_types.end();
  };
  auto site = std::ranges::find_if(sites_, goes_with);
  if (site == sites_.end()) {
    auto context = make_context(options);
    if (!context) return std::unexpected(context.error());
    sites_.push_back({*std::move(context), identity->names, {}});
    site = sites_.end() - 1;
  }
  site->key_types.push_back(key_type);
  ++certificates_;
  return use_identity(*site->context, *identity);
}

Result<OwnedContext> Contexts::make_context(const TlsOptions& options) {
  OwnedContext made(SSL_CTX_new(TLS_server_method()));
  if (made == nullptr) return fail(Code::internal, "OpenSSL: " + last_error());
  SSL_CTX& context = *made;
  // Tickets carry the session: the server remembers none.
  if (auto set = set_up(context, options.version_min,
                        {options.ciphers_1_2, options.ciphers_1_3, options.groups});
      !set) {
    return std::unexpected(set.error());
  }
  SSL_CTX_set_options(&context, SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
  if (options.ticket_lifetime > Duration{}) {
    SSL_CTX_set_tlsext_ticket_key_evp_cb(&context, &Callbacks::ticket);
    SSL_CTX_set_timeout(&context, static_cast<long>(options.ticket_lifetime.ns / 1'000'000'000));
  } else {
    SSL_CTX_set_options(&context, SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(&context, 0);
  }
  SSL_CTX_set_tlsext_servername_callback(&context, &Callbacks::name);
  SSL_CTX_set_alpn_select_cb(&context, &Callbacks::protocol, nullptr);
  SSL_CTX_set_app_data(&context, this);
  Machine::prepare(context);
  if (auto asked = ask_for_certificates(context, options); !asked) {
    return std::unexpected(asked.error());
  }
  return made;
}

Result<void> Contexts::ask_for_certificates(SSL_CTX& context, const TlsOptions& options) {
  std::string text = options.client_authorities_text;
  std::string source = "(given as text)";
  if (!options.client_authorities_file.empty()) {
    source = options.client_authorities_file;
    auto read = read_file(source, "client authorities");
    if (!read) return std::unexpected(read.error());
    text = *std::move(read);
  }
  // A session is resumed only under the authorities with which it began: its client showed a
  // certificate then, and shows none when it resumes.
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned digest_size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &digest_size, EVP_sha256(), nullptr);
  SSL_CTX_set_session_id_context(&context, digest.data(),
                                 std::min(digest_size, unsigned{SSL_MAX_SID_CTX_LENGTH}));
  if (text.empty()) return {};
  auto authorities = read_certificates(text, source);
  if (!authorities) return std::unexpected(authorities.error().within("client authorities"));
  X509_STORE* const store = SSL_CTX_get_cert_store(&context);
  for (const OwnedCertificate& each : *authorities) {
    if (X509_STORE_add_cert(store, each.get()) != 1 ||
        SSL_CTX_add_client_CA(&context, each.get()) != 1) {
      return fail(Code::invalid_argument,
                  fmt::format("client authorities '{}' cannot be used: {}", source, last_error()));
    }
  }
  const int demanded = options.client_certificate_optional ? 0 : SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
  SSL_CTX_set_verify(&context, SSL_VERIFY_PEER | demanded, nullptr);
  return {};
}

}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
