// TestClient and TestCertificate: OpenSSL on the other side of a machine, in memory.
//
// Owns       its SSL; both directions are texts.
// Thread     one.
// Fails      by aborting when a certificate cannot be made.
// Invariant  take_output() is everything that the client wants the server to have.
#pragma once

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/text/bytes.hpp"

namespace katana::tls {

// A certificate and its key, made on the spot; self-signed, or signed by `issuer`.
struct TestCertificate {
  using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
  using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

  explicit TestCertificate(const std::vector<std::string>& names = {"localhost"}, bool rsa = false,
                           const TestCertificate* issuer = nullptr, long days = 30)
      : certificate(X509_new(), &X509_free),
        key(rsa ? EVP_RSA_gen(2048) : EVP_EC_gen("P-256"), &EVP_PKEY_free) {
    X509* const made = certificate.get();
    X509_set_version(made, X509_VERSION_3);
    static long serial = 1;
    ASN1_INTEGER_set(X509_get_serialNumber(made), serial++);
    X509_gmtime_adj(X509_getm_notBefore(made), -40L * 24 * 3600);
    X509_gmtime_adj(X509_getm_notAfter(made), days * 24 * 3600);
    X509_NAME* const subject = X509_get_subject_name(made);
    X509_NAME_add_entry_by_NID(subject, NID_commonName, MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(names.front().c_str()), -1,
                               -1, 0);
    X509_set_issuer_name(
        made, issuer != nullptr ? X509_get_subject_name(issuer->certificate.get()) : subject);
    X509_set_pubkey(made, key.get());
    std::string alternatives;
    for (const std::string& name : names) {
      alternatives += (alternatives.empty() ? "DNS:" : ",DNS:") + name;
    }
    add_extension(NID_subject_alt_name, alternatives.c_str());
    // Those that sign themselves may sign others.
    add_extension(NID_basic_constraints, issuer == nullptr ? "critical,CA:TRUE" : "CA:FALSE");
    const auto& signer = issuer != nullptr ? issuer->key : key;
    if (X509_sign(made, signer.get(), EVP_sha256()) == 0) std::abort();
  }

  void add_extension(int kind, const char* value) {
    X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value);
    X509_add_ext(certificate.get(), extension, -1);
    X509_EXTENSION_free(extension);
  }
  std::string certificate_text() const {
    return text_of([this](BIO* to) { PEM_write_bio_X509(to, certificate.get()); });
  }
  std::string key_text() const {
    return text_of([this](BIO* to) {
      PEM_write_bio_PrivateKey(to, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    });
  }

  template <class Write>
  static std::string text_of(Write write) {
    BIO* const memory = BIO_new(BIO_s_mem());
    write(memory);
    char* text = nullptr;
    const long size = BIO_get_mem_data(memory, &text);
    std::string made(text, static_cast<std::size_t>(size));
    BIO_free(memory);
    return made;
  }

  Certificate certificate;
  Key key;
};

struct ClientOptions {
  int version = 0;  // TLS1_3_VERSION …; 0: the best that both support
  std::string name = "localhost";
  std::vector<std::string> protocols = {};
  SSL_SESSION* session = nullptr;  // to be resumed
  const TestCertificate* certificate = nullptr;
  std::string groups = {};  // empty: the usual ones
  std::string ciphers_1_2 = {};
};

class TestClient {
 public:
  explicit TestClient(const ClientOptions& options = {})
      : context_(SSL_CTX_new(TLS_client_method())) {
    SSL_CTX_set_security_level(context_, 0);  // allows versions as old as a test wants
    if (options.version != 0) {
      SSL_CTX_set_min_proto_version(context_, options.version);
      SSL_CTX_set_max_proto_version(context_, options.version);
    }
    if (!options.ciphers_1_2.empty()) {
      SSL_CTX_set_cipher_list(context_, options.ciphers_1_2.c_str());
    }
    if (!options.groups.empty()) SSL_CTX_set1_groups_list(context_, options.groups.c_str());
    SSL_CTX_set_session_cache_mode(context_, SSL_SESS_CACHE_CLIENT);
    SSL_CTX_sess_set_new_cb(context_, [](SSL* ssl, SSL_SESSION* session) {
      auto& self = *static_cast<TestClient*>(SSL_get_app_data(ssl));
      SSL_SESSION_free(std::exchange(self.session_, session));
      return 1;
    });
    if (options.certificate != nullptr) {
      SSL_CTX_use_certificate(context_, options.certificate->certificate.get());
      SSL_CTX_use_PrivateKey(context_, options.certificate->key.get());
    }
    ssl_ = SSL_new(context_);
    SSL_set_app_data(ssl_, this);
    in_ = BIO_new(BIO_s_mem());
    out_ = BIO_new(BIO_s_mem());
    SSL_set_bio(ssl_, in_, out_);
    if (!options.name.empty()) SSL_set_tlsext_host_name(ssl_, options.name.c_str());
    std::string list;
    for (const std::string& each : options.protocols) {
      list += static_cast<char>(each.size()) + each;
    }
    if (!list.empty()) {
      SSL_set_alpn_protos(ssl_, reinterpret_cast<const unsigned char*>(list.data()),
                          static_cast<unsigned>(list.size()));
    }
    if (options.session != nullptr) SSL_set_session(ssl_, options.session);
    SSL_set_connect_state(ssl_);
    advance();
  }
  ~TestClient() {
    SSL_free(ssl_);
    SSL_SESSION_free(session_);
    SSL_CTX_free(context_);
  }
  TestClient(const TestClient&) = delete;
  TestClient& operator=(const TestClient&) = delete;

  // Takes bytes that the server has sent.
  void receive(Bytes bytes) {
    if (!bytes.empty()) BIO_write(in_, bytes.data(), static_cast<int>(bytes.size()));
    advance();
  }
  // REQUIRES that the handshake is complete.
  void send(Bytes plain) {
    ERR_clear_error();
    SSL_write(ssl_, plain.data(), static_cast<int>(plain.size()));
  }
  void end() { SSL_shutdown(ssl_); }
  std::string take_output() {
    char* text = nullptr;
    const long size = BIO_get_mem_data(out_, &text);
    std::string taken(text, static_cast<std::size_t>(size));
    (void)BIO_reset(out_);
    return taken;
  }

  SSL* ssl() noexcept { return ssl_; }
  bool opened() const noexcept { return opened_; }
  bool failed() const noexcept { return failed_; }
  bool ended() const noexcept { return ended_; }  // by the server's close_notify
  const std::string& received() const noexcept { return received_; }
  SSL_SESSION* session() const noexcept { return session_; }  // the last that it was given
  bool resumed() const noexcept { return SSL_session_reused(ssl_) == 1; }
  std::string protocol() const {
    const unsigned char* text = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(ssl_, &text, &size);
    return {reinterpret_cast<const char*>(text), size};
  }
  // The name in the server's certificate.
  std::string shown_name() const {
    X509* const shown = SSL_get0_peer_certificate(ssl_);
    char name[256] = "";
    if (shown != nullptr) {
      X509_NAME_get_text_by_NID(X509_get_subject_name(shown), NID_commonName, name, sizeof name);
    }
    return name;
  }
  int shown_key_type() const {
    return EVP_PKEY_get_base_id(X509_get0_pubkey(SSL_get0_peer_certificate(ssl_)));
  }

 private:
  void advance() {
    ERR_clear_error();
    if (!opened_) {
      const int done = SSL_do_handshake(ssl_);
      if (done != 1) {
        failed_ = failed_ || SSL_get_error(ssl_, done) != SSL_ERROR_WANT_READ;
        ERR_clear_error();
        return;
      }
      opened_ = true;
    }
    char text[4096];
    for (;;) {
      const int count = SSL_read(ssl_, text, sizeof text);
      if (count > 0) {
        received_.append(text, static_cast<std::size_t>(count));
        continue;
      }
      const int error = SSL_get_error(ssl_, count);
      ended_ = ended_ || error == SSL_ERROR_ZERO_RETURN;
      failed_ = failed_ || error == SSL_ERROR_SSL;
      ERR_clear_error();
      return;
    }
  }

  SSL_CTX* context_;
  SSL* ssl_;
  BIO* in_;
  BIO* out_;
  SSL_SESSION* session_ = nullptr;
  std::string received_;
  bool opened_ = false;
  bool failed_ = false;
  bool ended_ = false;
};

}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
