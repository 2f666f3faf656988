#include "katana/identity/auth/certificate.hpp"

#include <utility>

namespace katana::auth {
namespace {

std::string first_of_names(const std::vector<std::string>& names) {
  return names.empty() ? std::string() : names.front();
}

std::string name_in(const net::PeerCertificate& shown, CertificateName by) {
  switch (by) {
    case CertificateName::subject: return shown.subject;
    case CertificateName::dns: return first_of_names(shown.dns_names);
    case CertificateName::uri: return first_of_names(shown.uris);
    case CertificateName::email: break;
  }
  return first_of_names(shown.emails);
}

class Certificates final : public Authenticator {
 public:
  explicit Certificates(CertificateOptions options) : options_(std::move(options)) {}

  Attempt attempt(const RequestView&, session::Exchange& exchange) const override {
    const net::PeerCertificate* const shown = exchange.peer_certificate();
    if (shown == nullptr) return Attempt::none();
    PrincipalFacts facts;
    if (options_.find) {
      auto found = options_.find(*shown);
      if (!found) return Attempt::none();
      facts = *std::move(found);
    } else {
      facts.id = name_in(*shown, options_.by);
    }
    if (facts.id.empty()) return Attempt::none();
    if (facts.issuer.empty()) facts.issuer = shown->issuer;
    facts.method = Method::certificate;
    return Attempt::of(Principal(std::move(facts)));
  }

  std::string challenge() const override { return "Certificate"; }
  SecurityScheme scheme() const override {
    return {.name = "certificate", .kind = SecurityScheme::Kind::mutual_tls};
  }

 private:
  const CertificateOptions options_;
};

}  // namespace

Authentication certificate(CertificateOptions options) {
  return Authentication(std::make_shared<const Certificates>(std::move(options)));
}

}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
