#include "katana/net/tls/contexts.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "katana/net/tls/peer_certificate.hpp"
#include "katana/net/tls/talk_test.hpp"

namespace katana::tls {
namespace {

using testing::HasSubstr;

class ContextsTest : public testing::Test {
 protected:
  std::shared_ptr<const Contexts> make(const TlsOptions& options) {
    auto made = Contexts::make(options, keys_);
    EXPECT_TRUE(made) << (made ? "" : made.error().describe());
    return made ? *made : nullptr;
  }
  std::string error_of(const TlsOptions& options) {
    auto made = Contexts::make(options, keys_);
    EXPECT_FALSE(made);
    return made ? "" : made.error().describe();
  }

  TicketKeys keys_{seconds(3600)};
};

// ---- certificates by name ---------------------------------------------------------------------

TEST_F(ContextsTest, the_certificate_is_that_of_the_name_asked_for) {
  const TestCertificate first({"one.example"}), exact({"two.example", "three.example"}),
      wildcard({"*.example.org"});
  TlsOptions options = options_with(first);
  options.certificates.push_back(text_of(exact));
  options.certificates.push_back(text_of(wildcard));
  const auto contexts = make(options);
  const auto shown = [&](const std::string& name) {
    return talk(*contexts, {.name = name})->client.shown_name();
  };
  EXPECT_EQ(shown("one.example"), "one.example");
  EXPECT_EQ(shown("two.example"), "two.example");
  EXPECT_EQ(shown("THREE.Example"), "two.example");
  EXPECT_EQ(shown("a.example.org"), "*.example.org");
  EXPECT_EQ(shown("a.b.example.org"), "one.example");  // one label only (RFC 6125 §6.4.3)
  EXPECT_EQ(shown("example.org"), "one.example");
  EXPECT_EQ(shown("unknown"), "one.example");
  EXPECT_EQ(shown(""), "one.example");
}

TEST_F(ContextsTest, a_name_without_a_certificate_is_refused_if_names_must_match) {
  TlsOptions options = options_with(shared_certificate());
  options.names_must_match = true;
  const auto contexts = make(options);
  EXPECT_TRUE(talk(*contexts, {.name = "localhost"})->client.opened());
  const auto bench = talk(*contexts, {.name = "elsewhere"});
  EXPECT_FALSE(bench->client.opened());
  EXPECT_EQ(bench->machine.failure(), Failure::unknown_name);
}

TEST_F(ContextsTest, of_two_key_types_for_the_same_name_the_client_chooses) {
  const TestCertificate curve({"both.example"}), rsa({"both.example"}, true);
  TlsOptions options = options_with(curve);
  options.certificates.push_back(text_of(rsa));
  const auto contexts = make(options);
  EXPECT_EQ(contexts->certificate_count(), 2u);
  const auto key_type = [&](const std::string& ciphers) {
    const auto bench = talk(
        *contexts, {.version = TLS1_2_VERSION, .name = "both.example", .ciphers_1_2 = ciphers});
    EXPECT_TRUE(bench->client.opened());
    return bench->client.shown_key_type();
  };
  EXPECT_EQ(key_type("ECDHE-ECDSA-AES128-GCM-SHA256"), EVP_PKEY_EC);
  EXPECT_EQ(key_type("ECDHE-RSA-AES128-GCM-SHA256"), EVP_PKEY_RSA);
}

TEST_F(ContextsTest, the_chain_is_sent_with_the_certificate) {
  const TestCertificate root({"root.example"});
  const TestCertificate leaf({"leaf.example"}, false, &root);
  TlsOptions options;
  options.certificates.push_back({.chain_text = leaf.certificate_text() + root.certificate_text(),
                                  .key_text = leaf.key_text()});
  const auto contexts = make(options);
  const auto bench = talk(*contexts, {.name = "leaf.example"});
  EXPECT_EQ(sk_X509_num(SSL_get_peer_cert_chain(bench->client.ssl())), 2);
  EXPECT_TRUE(contexts->notes().empty());
}

TEST_F(ContextsTest, an_exact_name_goes_before_a_wildcard_and_the_first_certificate_before_others) {
  const TestCertificate wildcard({"*.example.org"}), exact({"a.example.org"}),
      again({"a.example.org", "b.example.org"}), other_wildcard({"*.example.org", "c.example"});
  TlsOptions options = options_with(wildcard);
  for (const TestCertificate* each : {&exact, &again, &other_wildcard}) {
    options.certificates.push_back(text_of(*each));
  }
  const auto contexts = make(options);
  SSL_CTX* const by_wildcard = contexts->find("x.example.org");
  EXPECT_EQ(by_wildcard, &contexts->first());
  SSL_CTX* const by_name = contexts->find("a.example.org");
  EXPECT_NE(by_name, by_wildcard);
  EXPECT_NE(by_name, contexts->find("b.example.org")) << "the first certificate with that name";
  EXPECT_NE(contexts->find("b.example.org"), by_wildcard);
}

TEST_F(ContextsTest, a_name_may_end_with_a_dot_and_has_at_most_255_bytes) {
  const TestCertificate made({"one.example", "*.example.org"});
  const auto contexts = make(options_with(made));
  EXPECT_NE(contexts->find("one.example."), nullptr);
  EXPECT_EQ(contexts->find("one.example.."), nullptr);
  EXPECT_EQ(contexts->find(".example.org"), nullptr)
      << "the wildcard is a label of at least a byte";
  const std::string rest = ".example.org";
  EXPECT_NE(contexts->find(std::string(255 - rest.size(), 'a') + rest), nullptr);
  EXPECT_EQ(contexts->find(std::string(256 - rest.size(), 'a') + rest), nullptr);
}

TEST_F(ContextsTest, a_client_that_asks_for_no_name_is_served_also_if_names_must_match) {
  TlsOptions options = options_with(shared_certificate());
  options.names_must_match = true;
  EXPECT_TRUE(talk(*make(options), {.name = ""})->client.opened());
}

// ---- versions, ciphers, protocols -------------------------------------------------------------

TEST_F(ContextsTest, the_oldest_version_is_what_was_asked_for) {
  TlsOptions options = options_with(shared_certificate());
  EXPECT_TRUE(talk(*make(options), {.version = TLS1_2_VERSION})->client.opened());
  EXPECT_TRUE(talk(*make(options), {.version = TLS1_3_VERSION})->client.opened());
  EXPECT_FALSE(talk(*make(options), {.version = TLS1_1_VERSION})->client.opened());
  options.version_min = Version::tls_1_3;
  EXPECT_TRUE(talk(*make(options), {.version = TLS1_3_VERSION})->client.opened());
  const auto bench = talk(*make(options), {.version = TLS1_2_VERSION});
  EXPECT_FALSE(bench->client.opened());
  EXPECT_EQ(bench->machine.failure(), Failure::version);
}

// RFC 9113 §9.2.1: the smallest sizes that every endpoint has, if its options name such ciphers.
TEST_F(ContextsTest, key_exchanges_of_2048_and_224_bits_are_supported) {
  const TestCertificate certificate({"localhost"}, true);
  struct Case {
    const char* ciphers;
    const char* groups;
    int bits;
  };
  for (const Case& each : {Case{"DHE-RSA-AES128-GCM-SHA256", "", 2048},
                           Case{"ECDHE-RSA-AES128-GCM-SHA256", "P-224", 224},
                           Case{"ECDHE-RSA-AES128-GCM-SHA256", "P-256", 256}}) {
    TlsOptions options = options_with(certificate);
    options.ciphers_1_2 = each.ciphers;
    options.groups = each.groups;
    const auto contexts = make(options);
    ASSERT_NE(contexts, nullptr);
    const auto bench = talk(
        *contexts, {.version = TLS1_2_VERSION, .groups = each.groups, .ciphers_1_2 = each.ciphers});
    ASSERT_TRUE(bench->client.opened()) << each.ciphers << " " << each.groups;
    EVP_PKEY* key = nullptr;
    ASSERT_EQ(SSL_get_peer_tmp_key(bench->client.ssl(), &key), 1);
    EXPECT_EQ(EVP_PKEY_get_bits(key), each.bits);
    EVP_PKEY_free(key);
  }
}

TEST_F(ContextsTest, ciphers_without_forward_secrecy_are_not_spoken) {
  const TestCertificate rsa({"localhost"}, true);
  const auto contexts = make(options_with(rsa));
  for (const char* const weak : {"AES128-GCM-SHA256", "ECDHE-RSA-AES128-SHA", "AES256-SHA"}) {
    const auto bench = talk(*contexts, {.version = TLS1_2_VERSION, .ciphers_1_2 = weak});
    EXPECT_EQ(bench->machine.failure(), Failure::no_shared_cipher) << weak;
  }
}

TEST_F(ContextsTest, the_server_chooses_the_cipher_but_a_client_that_prefers_chacha_gets_it) {
  const std::string aes_256 = "ECDHE-ECDSA-AES256-GCM-SHA384",
                    aes_128 = "ECDHE-ECDSA-AES128-GCM-SHA256",
                    chacha = "ECDHE-ECDSA-CHACHA20-POLY1305";
  const auto contexts = make(options_with(shared_certificate()));
  const auto chosen = [&](const std::string& offered) -> std::string {
    const auto bench = talk(*contexts, {.version = TLS1_2_VERSION, .ciphers_1_2 = offered});
    EXPECT_TRUE(bench->client.opened());
    return SSL_get_cipher_name(bench->client.ssl());
  };
  EXPECT_EQ(chosen(aes_256 + ":" + aes_128), aes_128);
  EXPECT_EQ(chosen(aes_128 + ":" + chacha), aes_128);
  EXPECT_EQ(chosen(chacha + ":" + aes_128), chacha);
}

TEST_F(ContextsTest, of_the_protocols_both_speak_ours_comes_first) {
  TlsOptions options = options_with(shared_certificate());
  options.protocols = {"h2", "http/1.1"};
  const auto contexts = make(options);
  const auto agreed = [&](const std::vector<std::string>& offered) {
    const auto bench = talk(*contexts, {.protocols = offered});
    EXPECT_TRUE(bench->client.opened());
    EXPECT_EQ(bench->machine.application_protocol(), bench->client.protocol());
    return bench->client.protocol();
  };
  EXPECT_EQ(agreed({"http/1.1", "h2"}), "h2");
  EXPECT_EQ(agreed({"http/1.1"}), "http/1.1");
  EXPECT_EQ(agreed({"spdy/3", "http/1.1"}), "http/1.1");
  EXPECT_EQ(agreed({"h2c", "http/1.1"}), "http/1.1") << "RFC 9113 §3.2: not by TLS";
  EXPECT_EQ(agreed({}), "");
  const auto bench = talk(*contexts, {.protocols = {"imap"}});
  EXPECT_EQ(bench->machine.failure(), Failure::application_protocol);
}

TEST_F(ContextsTest, options_that_openssl_does_not_know_are_named) {
  TlsOptions options = options_with(shared_certificate());
  options.ciphers_1_2 = "NO-SUCH-CIPHER";
  EXPECT_THAT(error_of(options), HasSubstr("NO-SUCH-CIPHER"));
  options = options_with(shared_certificate());
  options.ciphers_1_3 = "TLS_NONE";
  EXPECT_THAT(error_of(options), HasSubstr("TLS_NONE"));
  options = options_with(shared_certificate());
  options.groups = "P-1";
  EXPECT_THAT(error_of(options), HasSubstr("P-1"));
  options = options_with(shared_certificate());
  options.protocols = {""};
  EXPECT_THAT(error_of(options), HasSubstr("ALPN"));
}

// ---- clients that show certificates -----------------------------------------------------------

TEST_F(ContextsTest, with_authorities_only_clients_that_they_signed_are_served) {
  const TestCertificate authority({"authority.example"}), other({"other.example"});
  const TestCertificate signed_by_it({"client"}, false, &authority);
  const TestCertificate signed_by_other({"client"}, false, &other);
  TlsOptions options = options_with(shared_certificate());
  options.client_authorities_text = authority.certificate_text();
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const auto contexts = make(options);
    EXPECT_TRUE(
        talk(*contexts, {.version = version, .certificate = &signed_by_it})->machine.opened());
    const auto wrong = talk(*contexts, {.version = version, .certificate = &signed_by_other});
    EXPECT_EQ(wrong->machine.failure(), Failure::client_certificate);
    const auto none = talk(*contexts, {.version = version});
    EXPECT_EQ(none->machine.failure(), Failure::client_certificate);
  }
  options.client_certificate_optional = true;
  EXPECT_TRUE(talk(*make(options))->machine.opened());
  EXPECT_EQ(talk(*make(options), {.certificate = &signed_by_other})->machine.failure(),
            Failure::client_certificate);
}

TEST_F(ContextsTest, what_a_client_has_shown_is_read_also_when_it_resumes) {
  const TestCertificate authority({"authority.example"});
  const TestCertificate robot({"robot.example", "other.example"}, false, &authority);
  TlsOptions options = options_with(shared_certificate());
  options.client_authorities_text = authority.certificate_text();
  options.client_certificate_optional = true;
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const auto contexts = make(options);
    EXPECT_EQ(talk(*contexts, {.version = version})->machine.peer_certificate(), nullptr);
    const auto first = talk(*contexts, {.version = version, .certificate = &robot});
    ASSERT_NE(first->machine.peer_certificate(), nullptr);
    const net::PeerCertificate shown = read_peer_certificate(*first->machine.peer_certificate());
    EXPECT_EQ(shown.dns_names, (std::vector<std::string>{"robot.example", "other.example"}));
    EXPECT_EQ(shown.subject, "CN=robot.example");
    EXPECT_EQ(shown.issuer, "CN=authority.example");
    EXPECT_EQ(shown.fingerprint.size(), 64U);
    EXPECT_TRUE(shown.uris.empty());
  }
}

TEST_F(ContextsTest, authorities_are_read_from_a_file_which_an_error_names) {
  const TestCertificate authority({"authority.example"});
  const TestCertificate signed_by_it({"client"}, false, &authority);
  std::string name = (std::filesystem::temp_directory_path() / "katana_tls_XXXXXX").string();
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  TlsOptions options = options_with(shared_certificate());
  options.client_authorities_file = name + "/authorities.pem";
  EXPECT_THAT(error_of(options), HasSubstr("client authorities '" + name));
  std::ofstream(options.client_authorities_file) << authority.certificate_text();
  const auto contexts = make(options);
  std::filesystem::remove_all(name);
  EXPECT_TRUE(talk(*contexts, {.certificate = &signed_by_it})->machine.opened());
  EXPECT_EQ(talk(*contexts)->machine.failure(), Failure::client_certificate);
  options.client_authorities_file.clear();
  options.client_authorities_text = "nothing";
  EXPECT_THAT(error_of(options), HasSubstr("no PEM certificate"));
}

TEST_F(ContextsTest, every_kind_of_name_of_a_client_is_read_but_none_with_unprintable_bytes) {
  TestCertificate made({"x"});
  X509* const certificate = made.certificate.get();
  X509_EXTENSION_free(
      X509_delete_ext(certificate, X509_get_ext_by_NID(certificate, NID_subject_alt_name, -1)));
  GENERAL_NAMES* const names = GENERAL_NAMES_new();
  const auto add = [names](int kind, Bytes text) {
    ASN1_IA5STRING* const value = ASN1_IA5STRING_new();
    ASN1_STRING_set(value, text.data(), static_cast<int>(text.size()));
    GENERAL_NAME* const each = GENERAL_NAME_new();
    GENERAL_NAME_set0_value(each, kind, value);
    sk_GENERAL_NAME_push(names, each);
  };
  add(GEN_DNS, "good.example");
  add(GEN_DNS, Bytes("bank.example\0.evil.example", 26));
  add(GEN_DNS, "with blank");
  add(GEN_DNS, "beyond\x7f");
  add(GEN_DNS, "");
  add(GEN_URI, "spiffe://example/robot~!");
  add(GEN_EMAIL, "robot@example.org");
  X509_add1_ext_i2d(certificate, NID_subject_alt_name, names, 0, X509V3_ADD_DEFAULT);
  GENERAL_NAMES_free(names);
  const net::PeerCertificate read = read_peer_certificate(*certificate);
  EXPECT_EQ(read.dns_names, std::vector<std::string>{"good.example"});
  EXPECT_EQ(read.uris, std::vector<std::string>{"spiffe://example/robot~!"});
  EXPECT_EQ(read.emails, std::vector<std::string>{"robot@example.org"});
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  X509_digest(certificate, EVP_sha256(), digest.data(), &size);
  std::string hex;
  for (unsigned index = 0; index < size; ++index) hex += fmt::format("{:02x}", digest.at(index));
  EXPECT_EQ(read.fingerprint, hex);
}

// ---- sessions that are resumed ----------------------------------------------------------------

TEST_F(ContextsTest, a_session_is_resumed_by_its_ticket) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const auto contexts = make(options_with(shared_certificate()));
    const auto first = talk(*contexts, {.version = version});
    EXPECT_FALSE(first->client.resumed());
    ASSERT_NE(first->client.session(), nullptr);
    const auto second = talk(*contexts, {.version = version, .session = first->client.session()});
    EXPECT_TRUE(second->client.resumed());
    EXPECT_TRUE(second->machine.resumed());
    // Like after a reload: other contexts, the same keys.
    const auto reloaded = make(options_with(shared_certificate()));
    const auto other = talk(*contexts, {.version = version});
    const auto third = talk(*reloaded, {.version = version, .session = other->client.session()});
    EXPECT_TRUE(third->client.resumed());
  }
}

TEST_F(ContextsTest, without_tickets_no_session_is_resumed) {
  TlsOptions options = options_with(shared_certificate());
  options.ticket_lifetime = {};
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const auto contexts = make(options);
    const auto first = talk(*contexts, {.version = version});
    ASSERT_TRUE(first->client.opened());
    if (first->client.session() == nullptr) continue;  // no ticket to resume with
    const auto second = talk(*contexts, {.version = version, .session = first->client.session()});
    EXPECT_TRUE(second->client.opened());
    EXPECT_FALSE(second->client.resumed());
  }
}

TEST_F(ContextsTest, a_session_without_certificate_is_not_resumed_where_one_is_asked_for) {
  const TestCertificate authority({"authority.example"});
  const auto open = make(options_with(shared_certificate()));
  TlsOptions options = options_with(shared_certificate());
  options.client_authorities_text = authority.certificate_text();
  const auto strict = make(options);
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const auto first = talk(*open, {.version = version});
    const auto second = talk(*strict, {.version = version, .session = first->client.session()});
    EXPECT_FALSE(second->machine.opened());
  }
}

// The client of a resumed session shows no certificate again, so other authorities must see it.
TEST_F(ContextsTest, a_session_is_not_resumed_under_other_authorities) {
  const TestCertificate former({"former.example"}), present({"present.example"});
  const TestCertificate robot({"robot.example"}, false, &former);
  TlsOptions options = options_with(shared_certificate());
  options.client_certificate_optional = true;
  options.client_authorities_text = former.certificate_text();
  const auto before = make(options);
  const auto same = make(options);
  options.client_authorities_text = present.certificate_text();
  const auto after = make(options);
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    for (const bool changed : {false, true}) {
      const auto first = talk(*before, {.version = version, .certificate = &robot});
      ASSERT_NE(first->machine.peer_certificate(), nullptr);
      ASSERT_NE(first->client.session(), nullptr);
      const auto second =
          talk(changed ? *after : *same, {.version = version, .session = first->client.session()});
      EXPECT_TRUE(second->machine.opened());
      EXPECT_EQ(second->machine.resumed(), !changed);
      EXPECT_EQ(second->machine.peer_certificate() == nullptr, changed);
    }
  }
}

TEST_F(ContextsTest, a_ticket_lives_as_long_as_the_options_say) {
  TlsOptions options = options_with(shared_certificate());
  options.ticket_lifetime = seconds(1'234);
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const auto bench = talk(*make(options), {.version = version});
    ASSERT_NE(bench->client.session(), nullptr);
    EXPECT_EQ(SSL_SESSION_get_ticket_lifetime_hint(bench->client.session()), 1'234u);
  }
}

// ---- mistakes in files ------------------------------------------------------------------------

TEST_F(ContextsTest, certificates_and_keys_that_cannot_be_used_are_named_with_a_remedy) {
  EXPECT_THAT(error_of({}), HasSubstr("needs a certificate"));
  TlsOptions options;
  options.certificates = {{.chain_file = "no/such.pem", .key_file = "no/such.key"}};
  EXPECT_THAT(error_of(options),
              HasSubstr("certificate 'no/such.pem' cannot be read (No such file"));
  options.certificates = {{.chain_file = "/", .key_file = "/"}};
  EXPECT_THAT(error_of(options), HasSubstr("certificate '/'"));
  const Certificate good = text_of(shared_certificate());
  options.certificates = {{.chain_text = "nothing", .key_text = good.key_text}};
  EXPECT_THAT(error_of(options), HasSubstr("openssl x509 -inform DER"));
  options.certificates = {{.chain_text = good.chain_text, .key_text = "nothing"}};
  EXPECT_THAT(error_of(options), HasSubstr("-----BEGIN PRIVATE KEY-----"));
  const TestCertificate other;
  options.certificates = {{.chain_text = good.chain_text, .key_text = other.key_text()}};
  EXPECT_THAT(error_of(options), HasSubstr("is not that of the certificate"));
  std::string damaged = good.chain_text;
  damaged[damaged.size() / 2] = '!';
  options.certificates = {{.chain_text = good.chain_text + damaged, .key_text = good.key_text}};
  EXPECT_THAT(error_of(options), HasSubstr("number 2 in it, is damaged"));
}

TEST_F(ContextsTest, a_key_with_a_pass_phrase_is_named_and_nobody_is_asked) {
  const std::string sealed = TestCertificate::text_of([](BIO* to) {
    unsigned char phrase[] = "secret";
    PEM_write_bio_PrivateKey(to, shared_certificate().key.get(), EVP_aes_128_cbc(), phrase, 6,
                             nullptr, nullptr);
  });
  TlsOptions options;
  options.certificates = {
      {.chain_text = shared_certificate().certificate_text(), .key_text = sealed}};
  EXPECT_THAT(error_of(options), HasSubstr("has a pass phrase"));
}

TEST_F(ContextsTest, certificates_that_end_soon_are_noted) {
  const TestCertificate soon({"localhost"}, false, nullptr, 3),
      late({"localhost"}, false, nullptr, -3);
  EXPECT_THAT(make(options_with(soon))->notes().at(0), HasSubstr("valid for"));
  EXPECT_THAT(make(options_with(late))->notes().at(0), HasSubstr("out of date"));
  EXPECT_TRUE(make(options_with(shared_certificate()))->notes().empty());
  const TestCertificate stranger({"stranger.example"});
  TlsOptions options;
  options.certificates.push_back(
      {.chain_text = shared_certificate().certificate_text() + stranger.certificate_text(),
       .key_text = shared_certificate().key_text()});
  EXPECT_THAT(make(options)->notes().at(0), HasSubstr("not in order"));
}

TEST_F(ContextsTest, one_for_development_is_made_at_once) {
  TlsOptions options;
  options.development = true;
  options.development_names = {"dev.example", "10.0.0.1"};
  const auto contexts = make(options);
  EXPECT_TRUE(talk(*contexts)->client.opened());
  EXPECT_NE(contexts->find("dev.example"), nullptr);
  options.development_names = {"a,DNS:b"};
  EXPECT_THAT(error_of(options), HasSubstr("neither a DNS name nor an address"));
}

}  // namespace
}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
