#include "katana/stores/database/postgres/link_tls.hpp"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <array>
#include <memory>
#include <string_view>
#include <utility>

namespace katana::database::postgres {
namespace {

tls::ClientTlsOptions client_options(const LinkTlsOptions& options) {
  tls::ClientTlsOptions made;
  const bool checks = options.check != LinkTlsOptions::Check::nothing;
  made.dangerously_accept_any_certificate = !checks;
  made.system_authorities = checks && options.authorities.empty();
  if (checks) made.authorities_file = options.authorities;
  made.version_min = options.is_1_3_only ? tls::Version::tls_1_3 : tls::Version::tls_1_2;
  made.session_lifetime = {};
  made.certificate.chain_file = options.certificate;
  made.certificate.key_file = options.key;
  made.protocols = {std::string(protocol::alpn_name)};
  return made;
}

int give_pass_phrase(char* to, int room, int, void* given) {
  const Bytes phrase = static_cast<const SecretText*>(given)->reveal();
  if (phrase.size() > static_cast<std::size_t>(room)) return -1;
  phrase.copy(to, phrase.size());
  return static_cast<int>(phrase.size());
}

// Replaces the name of the key's file by the key, if there is a pass phrase.
katana::Result<void> decrypt_key(tls::Certificate& certificate, const LinkTlsOptions& options) {
  if (options.key_password.empty() || certificate.key_file.empty()) return {};
  const auto refuse = [&](std::string_view what) {
    return katana::fail(Code::invalid_argument,
                        fmt::format("private key '{}' {}", options.key, what));
  };
  const std::unique_ptr<BIO, decltype(&BIO_free)> file(BIO_new_file(options.key.c_str(), "r"),
                                                       &BIO_free);
  if (file == nullptr) return refuse("cannot be read: " + tls::last_error());
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
      PEM_read_bio_PrivateKey(file.get(), nullptr, give_pass_phrase,
                              const_cast<SecretText*>(&options.key_password)),
      &EVP_PKEY_free);
  if (key == nullptr) {
    return refuse("cannot be read with the pass phrase of sslpassword: " + tls::last_error());
  }
  const std::unique_ptr<BIO, decltype(&BIO_free)> text(BIO_new(BIO_s_secmem()), &BIO_free);
  char* bytes = nullptr;
  if (text == nullptr ||
      PEM_write_bio_PrivateKey(text.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return refuse("cannot be kept: " + tls::last_error());
  }
  const long size = BIO_get_mem_data(text.get(), &bytes);
  certificate.key_text.assign(bytes, static_cast<std::size_t>(size));
  certificate.key_file.clear();
  return {};
}

// Certificates that their authority has revoked.
katana::Result<void> set_revoked(SSL_CTX& context, const LinkTlsOptions& options) {
  if (options.revoked.empty() && options.revoked_dir.empty()) return {};
  if (options.check == LinkTlsOptions::Check::nothing) return {};
  const auto text_or_null = [](const std::string& text) {
    return text.empty() ? nullptr : text.c_str();
  };
  X509_STORE* const store = SSL_CTX_get_cert_store(&context);
  if (X509_STORE_load_locations(store, text_or_null(options.revoked),
                                text_or_null(options.revoked_dir)) != 1) {
    return katana::fail(Code::invalid_argument,
                        fmt::format("the revoked certificates '{}' cannot be read: {}",
                                    options.revoked.empty() ? options.revoked_dir : options.revoked,
                                    tls::last_error()));
  }
  X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
  return {};
}

}  // namespace

katana::Result<std::unique_ptr<LinkTls>> LinkTls::make(const LinkTlsOptions& options,
                                                       const std::string& host,
                                                       std::shared_ptr<BlockPool> blocks) {
  tls::ClientTlsOptions wanted = client_options(options);
  if (const auto read = decrypt_key(wanted.certificate, options); !read) {
    return std::unexpected(read.error());
  }
  auto context = tls::ClientContext::make(wanted);
  erase_secret(wanted.certificate.key_text);
  if (!context) return std::unexpected(context.error());
  SSL_CTX& shared = (*context)->get();  // of this session alone
  if (options.is_1_2_only) SSL_CTX_set_max_proto_version(&shared, TLS1_2_VERSION);
  if (auto set = set_revoked(shared, options); !set) return std::unexpected(set.error());
  std::unique_ptr<LinkTls> made(new LinkTls(*std::move(context), host, std::move(blocks)));
  bool good = made->machine_.valid();
  if (good && options.check == LinkTlsOptions::Check::name) {
    good = made->machine_.expect_name(host.c_str());
  } else if (good && options.sends_name) {
    good = made->machine_.announce_name(host.c_str());
  }
  if (!good) return katana::fail(Code::resource_exhausted, "no memory for TLS");
  return made;
}

std::size_t LinkTls::receive(Bytes input, std::span<char> plain) noexcept {
  std::size_t written = 0;
  for (bool is_first = true; is_first || !input.empty(); is_first = false) {
    const tls::Step step = machine_.next(input, plain.subspan(written), output_, {});
    input.remove_prefix(step.consumed);
    written += step.produced;
    // Bytes that are left behind the handshake are data of the server.
    const bool goes_on = step.event == tls::Event::bytes || step.event == tls::Event::opened;
    if (!goes_on || written == plain.size()) break;
  }
  return written;
}

protocol::TlsFacts LinkTls::facts() noexcept {
  if (X509* const shown = machine_.shown_certificate(); shown != nullptr && end_point_.empty()) {
    end_point_ = server_end_point(*shown);
  }
  return {.alpn = machine_.application_protocol(), .server_end_point = end_point_};
}

std::string server_end_point(const X509& certificate) {
  int digest = NID_undef;
  if (X509_get_signature_info(const_cast<X509*>(&certificate), &digest, nullptr, nullptr,
                              nullptr) != 1) {
    return {};
  }
  if (digest == NID_md5 || digest == NID_sha1) digest = NID_sha256;
  const EVP_MD* const method = EVP_get_digestbynid(digest);
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes;
  unsigned size = 0;
  if (method == nullptr || X509_digest(&certificate, method, bytes.data(), &size) != 1) return {};
  return {reinterpret_cast<const char*>(bytes.data()), size};
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
