#include "katana/net/tls/development.hpp"

#include <fmt/format.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <algorithm>

#include "katana/net/tls/openssl.hpp"

namespace katana::tls {
namespace {

constexpr long day_s = 24 * 3600, valid_days = 30;

std::unexpected<Error> failed(const char* step) {
  return fail(Code::internal, fmt::format("development certificate: {}: {}", step, last_error()));
}

bool is_address(const std::string& name) {
  return name.find(':') != std::string::npos ||
         name.find_first_not_of("0123456789.") == std::string::npos;
}

// Excludes commas, which would begin another name, and colons, which name a section.
bool is_name(const std::string& name) {
  return !name.empty() && name.find_first_not_of(
                              "abcdefghijklmnopqrstuvwxyz"
                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "0123456789-._:*") == std::string::npos;
}

bool add_extension(X509* certificate, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* const made = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  const bool added = made != nullptr && X509_add_ext(certificate, made, -1) == 1;
  X509_EXTENSION_free(made);
  return added;
}

std::string text_of(BIO* writer) {
  char* text = nullptr;
  const long size = BIO_get_mem_data(writer, &text);
  return {text, static_cast<std::size_t>(size)};
}

}  // namespace

Result<Certificate> make_development_certificate(const std::vector<std::string>& names) {
  std::string alternatives = "DNS:localhost,IP:127.0.0.1,IP:::1";
  for (const std::string& name : names) {
    if (!is_name(name)) {
      return fail(
          Code::invalid_argument,
          fmt::format("development certificate: '{}' is neither a DNS name nor an address", name));
    }
    alternatives += (is_address(name) ? ",IP:" : ",DNS:") + name;
  }
  const OwnedKey key(EVP_EC_gen("P-256"));
  const OwnedCertificate certificate(X509_new());
  if (key == nullptr || certificate == nullptr) return failed("no key could be made");
  std::uint64_t serial = 0;
  RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial);
  X509_set_version(certificate.get(), X509_VERSION_3);
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate.get()), serial >> 1);
  // Valid since a day ago: the clocks of a virtual machine and its host differ.
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -day_s);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), valid_days * day_s);
  X509_NAME* const subject = X509_get_subject_name(certificate.get());
  const auto* const common_name =
      reinterpret_cast<const unsigned char*>("KATANA development certificate");
  X509_NAME_add_entry_by_NID(subject, NID_commonName, MBSTRING_ASC, common_name, -1, -1, 0);
  X509_set_issuer_name(certificate.get(), subject);
  X509_set_pubkey(certificate.get(), key.get());
  const bool extended =
      add_extension(certificate.get(), NID_subject_alt_name, alternatives) &&
      add_extension(certificate.get(), NID_basic_constraints, "critical,CA:FALSE") &&
      add_extension(certificate.get(), NID_ext_key_usage, "serverAuth");
  if (!extended) return failed("a name is not acceptable");
  if (X509_sign(certificate.get(), key.get(), EVP_sha256()) == 0) return failed("signing");
  const OwnedBio chain(BIO_new(BIO_s_mem())), secret(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_X509(chain.get(), certificate.get()) != 1 ||
      PEM_write_bio_PrivateKey(secret.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) !=
          1) {
    return failed("writing it as PEM");
  }
  return Certificate{.chain_text = text_of(chain.get()), .key_text = text_of(secret.get())};
}

}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
