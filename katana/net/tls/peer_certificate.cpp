#include "katana/net/tls/peer_certificate.hpp"

#include <openssl/x509v3.h>

#include <algorithm>
#include <array>

namespace katana::tls {
namespace {

using OwnedNames = std::unique_ptr<GENERAL_NAMES, Releases<GENERAL_NAMES_free>>;

std::string text_of(const X509_NAME* name) {
  const OwnedBio to(BIO_new(BIO_s_mem()));
  // Bytes that are not ASCII, and control characters, are escaped.
  if (!to || X509_NAME_print_ex(to.get(), name, 0, XN_FLAG_RFC2253) < 0) return {};
  char* text = nullptr;
  const long size = BIO_get_mem_data(to.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

void add(std::vector<std::string>& to, const ASN1_STRING* name) {
  const Bytes text(reinterpret_cast<const char*>(ASN1_STRING_get0_data(name)),
                   static_cast<std::size_t>(ASN1_STRING_length(name)));
  // A NUL in a name has made it look like another name (CVE-2009-2408).
  const bool is_printable = std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
  if (!text.empty() && is_printable) to.emplace_back(text);
}

std::string fingerprint_of(const X509& certificate) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash = {};
  unsigned size = 0;
  if (X509_digest(&certificate, EVP_sha256(), hash.data(), &size) != 1) return {};
  constexpr Bytes digits = "0123456789abcdef";
  std::string text;
  for (unsigned index = 0; index < size; ++index) {
    text.push_back(digits[hash.at(index) >> 4]);
    text.push_back(digits[hash.at(index) & 15]);
  }
  return text;
}

}  // namespace

net::PeerCertificate read_peer_certificate(X509& certificate) {
  net::PeerCertificate made;
  made.subject = text_of(X509_get_subject_name(&certificate));
  made.issuer = text_of(X509_get_issuer_name(&certificate));
  made.fingerprint = fingerprint_of(certificate);
  const OwnedNames names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int index = 0; names && index < sk_GENERAL_NAME_num(names.get()); ++index) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), index);
    if (name->type == GEN_DNS) add(made.dns_names, name->d.dNSName);
    if (name->type == GEN_URI) add(made.uris, name->d.uniformResourceIdentifier);
    if (name->type == GEN_EMAIL) add(made.emails, name->d.rfc822Name);
  }
  ERR_clear_error();
  return made;
}

}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
