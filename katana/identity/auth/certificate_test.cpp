#include "katana/identity/auth/certificate.hpp"

#include <gtest/gtest.h>

#include "katana/http/handlers/exchange_fixture_test.hpp"
#include "katana/identity/auth/policy.hpp"

namespace katana::auth {
namespace {

class CertificateTest : public ServiceTest {
 protected:
  // The id and the status of a request over a connection with this certificate.
  static std::pair<unsigned, std::string> ask(CertificateOptions options,
                                              const net::PeerCertificate* shown) {
    const Service service = make_service([&](Router& router) {
      router.use(certificate(std::move(options)));
      router.get("/", [](FromContext<Principal> who) {
        return Reply::text(
            Text(std::string(name_of(who->method())) + " " + who->id() + " by " + who->issuer()));
      });
    });
    Dispatcher dispatcher(service);
    FakeExchange exchange("GET", "/", "Host: example\n");
    exchange.certificate = shown;
    exchange.serve(dispatcher);
    return {exchange.status, exchange.content_sent};
  }
  const net::PeerCertificate robot_ = {.subject = "CN=robot",
                                       .issuer = "CN=authority",
                                       .dns_names = {"robot.example", "other.example"},
                                       .uris = {"spiffe://example/robot"}};
};

TEST_F(CertificateTest, the_name_that_is_chosen_says_who_asks) {
  using Answer = std::pair<unsigned, std::string>;
  EXPECT_EQ(ask({}, &robot_), Answer(200, "certificate CN=robot by CN=authority"));
  EXPECT_EQ(ask({.by = CertificateName::dns}, &robot_),
            Answer(200, "certificate robot.example by CN=authority"));
  EXPECT_EQ(ask({.by = CertificateName::uri}, &robot_),
            Answer(200, "certificate spiffe://example/robot by CN=authority"));
}

TEST_F(CertificateTest, without_a_certificate_or_such_a_name_nobody_asks) {
  EXPECT_EQ(ask({}, nullptr).first, 401U);
  EXPECT_EQ(ask({.by = CertificateName::email}, &robot_).first, 401U);
}

TEST_F(CertificateTest, a_function_may_know_better) {
  const auto find = [](const net::PeerCertificate& shown) -> std::optional<PrincipalFacts> {
    if (shown.subject != "CN=robot") return std::nullopt;
    return PrincipalFacts{.id = "7", .issuer = "devices"};
  };
  EXPECT_EQ(ask({.find = find}, &robot_).second, "certificate 7 by devices");
  const net::PeerCertificate other = {.subject = "CN=other"};
  EXPECT_EQ(ask({.find = find}, &other).first, 401U);
}

}  // namespace
}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
