#include "katana/net/tls/client_context.hpp"

#include <gmock/gmock.h>
#include <openssl/core_names.h>
#include <openssl/hmac.h>
#include <openssl/params.h>

#include <algorithm>
#include <array>

#include "katana/net/tls/contexts.hpp"
#include "katana/net/tls/talk_test.hpp"
#include "katana/wire/tls/machine.hpp"

namespace katana::tls {
namespace {

using testing::HasSubstr;

ClientTlsOptions trusting(const TestCertificate& certificate) {
  ClientTlsOptions options;
  options.system_authorities = false;
  options.authorities_text = certificate.certificate_text();
  return options;
}

// Our transform and a server's machine, and the bytes between them.
struct Pair {
  Pair(const ClientTlsOptions& options, SSL_CTX& server_context, const std::string& name)
      : transforms(*ClientContext::make(options), name),
        client(transforms.make(blocks)),
        server(server_context) {}
  // A pair that asks for a session at that moment.
  Pair(const std::shared_ptr<const ClientContext>& context, SSL_CTX& server_context,
       KeptSessions& sessions, Instant moment)
      : now(moment), transforms(context, "localhost"), server(server_context) {
    transforms.resume(sessions, now);
    client = transforms.make(blocks);
    pass();
  }

  void pass(std::size_t piece = SIZE_MAX) {
    give_client({});
    for (int round = 0; round < 20; ++round) {
      const std::string up = take_all(client->output());
      for (std::size_t at = 0; at < up.size(); at += std::min(piece, up.size() - at)) {
        give_server(Bytes(up).substr(at, piece));
      }
      const std::string down = take_all(server_output);
      for (std::size_t at = 0; at < down.size(); at += std::min(piece, down.size() - at)) {
        give_client(Bytes(down).substr(at, piece));
      }
      if (up.empty() && down.empty()) return;
    }
  }
  void give_client(Bytes bytes) {
    std::array<char, 4096> plain;
    for (;;) {
      const auto step = client->receive(bytes, plain, now);
      bytes.remove_prefix(step.consumed);
      opened = opened || step.event == net::TransformEvent::opened;
      failed = failed || step.event == net::TransformEvent::failed;
      received.append(plain.data(), step.produced);
      if (step.event == net::TransformEvent::need_bytes || failed) return;
    }
  }
  void give_server(Bytes bytes) {
    std::array<char, 4096> plain;
    for (;;) {
      const Step step = server.next(bytes, plain, server_output, now);
      bytes.remove_prefix(step.consumed);
      if (step.event == Event::hello) server.admit();
      server_received.append(plain.data(), step.produced);
      if (step.event == Event::need_bytes || step.event == Event::failed) return;
    }
  }

  const Instant now{1};
  BlockPool blocks{4096, 64};
  ClientTransforms transforms;
  std::unique_ptr<net::Transform> client;
  Outbox server_output{blocks};
  Machine server;
  std::string received, server_received;
  bool opened = false, failed = false;
};

TestContext context_of(const TestCertificate& certificate) {
  return make_test_context(certificate);
}

TEST(ClientContext, a_server_that_is_trusted_is_talked_to_in_pieces_of_any_size) {
  const TestContext server = context_of(shared_certificate());
  for (const std::size_t piece : {std::size_t{1}, std::size_t{100}, SIZE_MAX}) {
    Pair pair(trusting(shared_certificate()), *server, "localhost");
    pair.pass(piece);
    ASSERT_TRUE(pair.opened) << pair.transforms.problem();
    EXPECT_EQ(pair.server.server_name(), "localhost");
    EXPECT_EQ(pair.client->seal("ping"), 4u);
    EXPECT_EQ(pair.server.seal("pong", pair.server_output), 4u);
    pair.pass(piece);
    EXPECT_EQ(pair.server_received, "ping");
    EXPECT_EQ(pair.received, "pong");
  }
}

TEST(ClientContext, a_certificate_that_nobody_trusted_has_signed_is_refused) {
  const TestContext server = context_of(shared_certificate());
  ClientTlsOptions options;
  options.system_authorities = false;
  Pair pair(options, *server, "localhost");
  pair.pass();
  EXPECT_TRUE(pair.failed);
  EXPECT_FALSE(pair.opened);
  EXPECT_THAT(pair.transforms.problem(), HasSubstr("the certificate of 'localhost' is refused: "
                                                   "self-signed certificate"));
  EXPECT_FALSE(pair.client->can_seal());
}

TEST(ClientContext, the_machines_own_authorities_do_not_trust_a_certificate_of_ours) {
  const TestContext server = context_of(shared_certificate());
  Pair pair({}, *server, "localhost");
  pair.pass();
  EXPECT_TRUE(pair.failed);
}

TEST(ClientContext, a_certificate_for_another_name_is_refused) {
  const TestCertificate certificate({"server.test", "*.wild.test"});
  const TestContext server = context_of(certificate);
  const std::pair<const char*, bool> names[] = {
      {"server.test", true},    {"SERVER.test", true}, {"a.wild.test", true}, {"other.test", false},
      {"a.b.wild.test", false}, {"wild.test", false},  {"127.0.0.1", false},  {"::1", false}};
  for (const auto& [name, trusted] : names) {
    Pair pair(trusting(certificate), *server, name);
    pair.pass();
    EXPECT_EQ(pair.opened, trusted) << name;
    if (trusted) continue;
    EXPECT_THAT(pair.transforms.problem(), HasSubstr("mismatch")) << name;
  }
}

TEST(ClientContext, an_address_is_verified_and_not_asked_for_as_a_name) {
  TestCertificate certificate({"x"});
  auto* const made = certificate.certificate.get();
  // An address in the place of the names.
  const int at = X509_get_ext_by_NID(made, NID_subject_alt_name, -1);
  X509_EXTENSION_free(X509_delete_ext(made, at));
  certificate.add_extension(NID_subject_alt_name, "IP:127.0.0.1,IP:::1");
  X509_sign(made, certificate.key.get(), EVP_sha256());
  const TestContext server = context_of(certificate);
  for (const char* address : {"127.0.0.1", "::1"}) {
    Pair pair(trusting(certificate), *server, address);
    pair.pass();
    EXPECT_TRUE(pair.opened) << pair.transforms.problem();
    EXPECT_EQ(pair.server.server_name(), "");
  }
}

TEST(ClientContext, the_common_name_of_a_certificate_is_no_name_of_its_server) {
  for (const char* const other : {"", "IP:192.0.2.1", "email:ann@server.test"}) {
    TestCertificate certificate({"server.test"});  // also its common name
    auto* const made = certificate.certificate.get();
    const int at = X509_get_ext_by_NID(made, NID_subject_alt_name, -1);
    X509_EXTENSION_free(X509_delete_ext(made, at));
    if (*other != '\0') certificate.add_extension(NID_subject_alt_name, other);
    X509_sign(made, certificate.key.get(), EVP_sha256());
    const TestContext server = context_of(certificate);
    Pair pair(trusting(certificate), *server, "server.test");
    pair.pass();
    EXPECT_TRUE(pair.failed) << other;
    EXPECT_FALSE(pair.opened) << other;
    EXPECT_THAT(pair.transforms.problem(), HasSubstr("mismatch")) << other;
  }
}

TEST(ClientContext, a_certificate_out_of_date_is_refused) {
  const TestCertificate old({"localhost"}, false, nullptr, -1);
  const TestContext server = context_of(old);
  Pair pair(trusting(old), *server, "localhost");
  pair.pass();
  EXPECT_TRUE(pair.failed);
  EXPECT_THAT(pair.transforms.problem(), HasSubstr("expired"));
}

TEST(ClientContext, any_certificate_is_accepted_only_when_that_is_called_dangerous) {
  const TestContext server = context_of(shared_certificate());
  ClientTlsOptions options;
  options.dangerously_accept_any_certificate = true;
  Pair pair(options, *server, "other.test");
  pair.pass();
  EXPECT_TRUE(pair.opened);
}

TEST(ClientContext, what_is_no_tls_is_said_to_be_none) {
  Pair pair(trusting(shared_certificate()), test_context(), "localhost");
  pair.give_client({});
  pair.give_client("HTTP/1.1 400 Bad Request\r\n\r\n");
  EXPECT_TRUE(pair.failed);
  EXPECT_THAT(pair.transforms.problem(), HasSubstr("TLS with 'localhost' failed: not_tls"));
}

TEST(ClientContext, both_sides_agree_on_a_protocol_and_show_certificates_when_asked) {
  TicketKeys tickets(seconds(60));
  TlsOptions server = options_with(shared_certificate());
  server.protocols = {"h2", "http/1.1"};
  server.client_authorities_text = shared_certificate().certificate_text();
  const auto contexts = Contexts::make(server, tickets);
  ASSERT_TRUE(contexts) << contexts.error().describe();
  ClientTlsOptions client = trusting(shared_certificate());
  client.certificate = text_of(shared_certificate());
  Pair pair(client, (*contexts)->first(), "localhost");
  pair.pass();
  ASSERT_TRUE(pair.opened) << pair.transforms.problem();
  EXPECT_TRUE(pair.server.opened());
  EXPECT_EQ(pair.client->application_protocol(), "http/1.1");
}

TEST(ClientContext, a_handshake_that_is_cut_says_why_and_the_next_one_begins_without_it) {
  const TestContext server = context_of(shared_certificate());
  Pair pair(trusting(shared_certificate()), *server, "localhost");
  pair.give_client({});
  pair.client->cut(net::TransformCut::timed_out);
  EXPECT_THAT(pair.transforms.problem(), HasSubstr("took too long"));
  pair.client = pair.transforms.make(pair.blocks);
  EXPECT_EQ(pair.transforms.problem(), "");
  pair.client->cut(net::TransformCut::input_ended);
  EXPECT_THAT(pair.transforms.problem(), HasSubstr("ended the connection"));
}

TEST(ClientContext, a_cut_behind_the_handshake_or_a_failure_is_no_problem_of_the_handshake) {
  const TestContext server = context_of(shared_certificate());
  Pair pair(trusting(shared_certificate()), *server, "localhost");
  pair.pass();
  ASSERT_TRUE(pair.opened);
  pair.client->cut(net::TransformCut::timed_out);
  EXPECT_EQ(pair.transforms.problem(), "");
  Pair other(trusting(shared_certificate()), *server, "other.test");
  other.pass();
  ASSERT_TRUE(other.failed);
  other.client->cut(net::TransformCut::input_ended);
  EXPECT_THAT(other.transforms.problem(), HasSubstr("mismatch")) << "the first cause stays";
}

TEST(ClientContext, a_failure_of_another_kind_does_not_blame_a_certificate_that_is_not_checked) {
  const TestContext server = context_of(shared_certificate());
  ClientTlsOptions options;
  options.dangerously_accept_any_certificate = true;
  Pair pair(options, *server, "other.test");
  pair.pass();
  ASSERT_TRUE(pair.opened);
  pair.give_client(std::string("\x17\x03\x03\x00\x20", 5) + std::string(32, 'x'));
  ASSERT_TRUE(pair.failed);
  EXPECT_THAT(pair.transforms.problem(), HasSubstr("TLS with 'other.test' failed"));
}

// A prelude that asks "?", and reads until "." (TLS may begin) or "!" (it failed).
struct AskingPrelude final : Prelude {
  Bytes request() const noexcept override { return "?"; }
  Step next(Bytes input) noexcept override {
    const std::size_t at = input.find_first_of(".!");
    if (at == Bytes::npos) return {State::going, input.size()};
    return {input[at] == '.' ? State::done : State::failed, at + 1};
  }
};

TEST(ClientContext, a_prelude_asks_once_and_tls_begins_behind_its_answer) {
  const TestContext server = context_of(shared_certificate());
  AskingPrelude prelude;
  Pair pair(trusting(shared_certificate()), *server, "localhost");
  pair.transforms.set_prelude(prelude);
  pair.client = pair.transforms.make(pair.blocks);
  pair.give_client({});
  pair.give_client("wait");
  EXPECT_EQ(take_all(pair.client->output()), "?");
  std::array<char, 4096> plain;
  EXPECT_EQ(pair.client->receive("ok.", plain, pair.now).consumed, 3u);
  pair.pass();
  EXPECT_TRUE(pair.opened) << pair.transforms.problem();

  pair.client = pair.transforms.make(pair.blocks);
  const auto refused = pair.client->receive("no!", plain, pair.now);
  EXPECT_EQ(refused.event, net::TransformEvent::failed);
  EXPECT_EQ(refused.consumed, 3u);
  EXPECT_EQ(take_all(pair.client->output()), "?") << "no byte of TLS";
}

// ---- sessions that are resumed ----

struct Resumption : testing::TestWithParam<int> {  // the version of TLS
  Resumption() : tickets(seconds(3600)) {
    contexts = *Contexts::make(options_with(shared_certificate()), tickets);
    limit(contexts->first());
    ClientTlsOptions options = trusting(shared_certificate());
    options.session_lifetime = seconds(60);
    context = *ClientContext::make(options);
  }
  static void limit(SSL_CTX& server) { SSL_CTX_set_max_proto_version(&server, GetParam()); }
  static Instant at_s(std::int64_t moment) { return Instant{} + seconds(moment); }

  TicketKeys tickets;
  std::shared_ptr<const Contexts> contexts;
  std::shared_ptr<const ClientContext> context;
  KeptSessions sessions;
};

TEST_P(Resumption, the_second_connection_goes_on_where_the_first_began) {
  Pair first(context, contexts->first(), sessions, at_s(1));
  ASSERT_TRUE(first.opened) << first.transforms.problem();
  EXPECT_FALSE(first.transforms.resumed());
  EXPECT_GE(sessions.size(), 1u);
  for (int count = 0; count < 10; ++count) {
    Pair next(context, contexts->first(), sessions, at_s(2));
    ASSERT_TRUE(next.opened) << next.transforms.problem();
    EXPECT_TRUE(next.transforms.resumed());
    EXPECT_TRUE(next.server.resumed());
    EXPECT_EQ(next.client->seal("ping"), 4u);
    next.pass();
    EXPECT_EQ(next.server_received, "ping");
    EXPECT_LE(sessions.size(), KeptSessions::sessions_max);
  }
}

TEST_P(Resumption, a_server_that_will_not_is_shaken_hands_with_anew) {
  Pair first(context, contexts->first(), sessions, at_s(1));
  TicketKeys others(seconds(3600));
  const auto restarted = *Contexts::make(options_with(shared_certificate()), others);
  limit(restarted->first());
  Pair second(context, restarted->first(), sessions, at_s(2));
  ASSERT_TRUE(second.opened) << second.transforms.problem();
  EXPECT_FALSE(second.transforms.resumed());
  Pair third(context, restarted->first(), sessions, at_s(3));
  EXPECT_TRUE(third.transforms.resumed());
}

TEST_P(Resumption, a_server_that_will_not_has_to_show_a_certificate_that_is_trusted) {
  Pair first(context, contexts->first(), sessions, at_s(1));
  TicketKeys others(seconds(3600));
  const TestCertificate forged;
  const auto forger = *Contexts::make(options_with(forged), others);
  limit(forger->first());
  Pair second(context, forger->first(), sessions, at_s(2));
  EXPECT_TRUE(second.failed);
  EXPECT_FALSE(second.opened);
  EXPECT_THAT(second.transforms.problem(), HasSubstr("is refused"));
  EXPECT_EQ(sessions.size(), 0u) << "none is continued after a failure (RFC 5246 §7.2.2)";
}

TEST_P(Resumption, the_certificate_is_looked_at_again_after_a_while_however_often_it_is_resumed) {
  Pair(context, contexts->first(), sessions, at_s(1));
  for (const std::int64_t moment : {30, 60}) {  // each gets its own session
    EXPECT_TRUE(Pair(context, contexts->first(), sessions, at_s(moment)).transforms.resumed());
  }
  EXPECT_FALSE(Pair(context, contexts->first(), sessions, at_s(61)).transforms.resumed());
  EXPECT_TRUE(Pair(context, contexts->first(), sessions, at_s(62)).transforms.resumed());
}

TEST_P(Resumption, none_is_kept_where_it_is_not_wanted) {
  ClientTlsOptions options = trusting(shared_certificate());
  options.session_lifetime = {};
  const auto careful = *ClientContext::make(options);
  for (int count = 0; count < 2; ++count) {
    Pair pair(careful, contexts->first(), sessions, at_s(1));
    ASSERT_TRUE(pair.opened);
    EXPECT_FALSE(pair.transforms.resumed());
    EXPECT_EQ(sessions.size(), 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Each, Resumption, testing::Values(TLS1_2_VERSION, TLS1_3_VERSION),
                         [](const auto& each) {
                           return std::string(each.param == TLS1_2_VERSION ? "tls_1_2" : "tls_1_3");
                         });

TEST(KeptSessions, a_session_of_tls_1_3_is_given_out_once) {
  TicketKeys tickets(seconds(3600));
  const auto contexts = *Contexts::make(options_with(shared_certificate()), tickets);
  const auto context = *ClientContext::make(trusting(shared_certificate()));
  KeptSessions sessions;
  Pair pair(context, contexts->first(), sessions, Instant{1});
  const std::size_t kept = sessions.size();
  ASSERT_GE(kept, 1u);
  const KeptSession one = sessions.take(Instant{2}, seconds(60));
  EXPECT_NE(one.session, nullptr);
  EXPECT_EQ(sessions.size(), kept - 1);
  EXPECT_EQ(sessions.take(Instant{2} + seconds(60), seconds(60)).session, nullptr);
  EXPECT_EQ(sessions.size(), 0u);
}

TEST(KeptSessions, a_further_one_replaces_the_oldest) {
  TicketKeys tickets(seconds(3600));
  const auto contexts = *Contexts::make(options_with(shared_certificate()), tickets);
  const auto context = *ClientContext::make(trusting(shared_certificate()));
  KeptSessions sessions;
  Pair pair(context, contexts->first(), sessions, Instant{1});
  const KeptSession one = sessions.take(Instant{2}, seconds(60));
  ASSERT_NE(one.session, nullptr);
  sessions.clear();
  constexpr int kept = int{KeptSessions::sessions_max} + 1;
  for (int count = 1; count <= kept; ++count) {
    sessions.keep({OwnedSession(SSL_SESSION_dup(one.session.get())), Instant{} + seconds(count)});
  }
  EXPECT_EQ(sessions.size(), KeptSessions::sessions_max);
  for (int count = kept; count > 1; --count) {
    const KeptSession taken = sessions.take(Instant{} + seconds(kept), seconds(60));
    EXPECT_EQ(taken.verified_at, Instant{} + seconds(count));
  }
  EXPECT_EQ(sessions.size(), 0u);
}

TEST(ClientContext, what_is_wrong_with_its_options_is_named) {
  ClientTlsOptions options;
  options.authorities_file = "no/such/file.pem";
  EXPECT_THAT(ClientContext::make(options).error().describe(), HasSubstr("'no/such/file.pem'"));
  options = {};
  options.authorities_text = "no certificate";
  EXPECT_THAT(ClientContext::make(options).error().describe(), HasSubstr("no PEM certificate"));
  options = {};
  options.ciphers_1_2 = "no such cipher";
  EXPECT_THAT(ClientContext::make(options).error().describe(), HasSubstr("'no such cipher'"));
  options = {};
  options.protocols = {""};
  EXPECT_THAT(ClientContext::make(options).error().describe(), HasSubstr("1 to 255 bytes"));
  options = {};
  options.session_lifetime = seconds(-1);
  EXPECT_THAT(ClientContext::make(options).error().describe(), HasSubstr("session_lifetime"));
}

// ---- what only a server may not do ------------------------------------------------------------

// RFC 9113 §9.2.1
TEST(ClientContext, key_exchanges_of_2048_to_4096_and_of_224_bits_are_accepted) {
  const TestCertificate certificate({"localhost"}, true);
  struct Case {
    const char* ciphers;
    const char* groups;  // of the server: of the curve, or of the finite field
  };
  for (const Case& each : {Case{"DHE-RSA-AES128-GCM-SHA256", "ffdhe2048"},
                           Case{"DHE-RSA-AES128-GCM-SHA256", "ffdhe4096"},
                           Case{"ECDHE-RSA-AES128-GCM-SHA256", "P-224"}}) {
    const TestContext server = context_of(certificate);
    SSL_CTX_set_max_proto_version(server.get(), TLS1_2_VERSION);
    SSL_CTX_set_cipher_list(server.get(), each.ciphers);
    ClientTlsOptions options = trusting(certificate);
    options.ciphers_1_2 = each.ciphers;
    if (Bytes(each.groups).starts_with("ffdhe")) {
      OSSL_PARAM group[] = {
          OSSL_PARAM_construct_utf8_string("group", const_cast<char*>(each.groups), 0),
          OSSL_PARAM_construct_end()};
      EVP_PKEY_CTX* const maker = EVP_PKEY_CTX_new_from_name(nullptr, "DH", nullptr);
      EVP_PKEY* parameters = nullptr;
      EVP_PKEY_paramgen_init(maker);
      EVP_PKEY_CTX_set_params(maker, group);
      ASSERT_EQ(EVP_PKEY_paramgen(maker, &parameters), 1);
      EVP_PKEY_CTX_free(maker);
      ASSERT_EQ(SSL_CTX_set0_tmp_dh_pkey(server.get(), parameters), 1);
    } else {
      SSL_CTX_set1_groups_list(server.get(), each.groups);
      options.groups = std::string("P-256:") + each.groups;  // TLS 1.3 has no P-224
    }
    Pair pair(options, *server, "localhost");
    pair.pass();
    EXPECT_TRUE(pair.opened) << each.groups << ": " << pair.transforms.problem();
  }
}

// The keys of a server's records, as its key log shows them; one at a time.
std::string& server_secret() {
  static std::string secret;
  return secret;
}

// Keeps the secret of the server's records.
void keep_secret(const SSL*, const char* line) {
  const Bytes text(line);
  if (!text.starts_with("SERVER_TRAFFIC_SECRET_0 ")) return;
  const Bytes digits = text.substr(text.rfind(' ') + 1);
  server_secret().clear();
  for (std::size_t at = 0; at + 1 < digits.size(); at += 2) {
    server_secret() += static_cast<char>(std::stoi(std::string(digits.substr(at, 2)), nullptr, 16));
  }
}

// HKDF-Expand-Label of RFC 8446 §7.1, of at most 32 bytes, for SHA-256.
std::string expand(const std::string& secret, const std::string& label, std::size_t bytes) {
  std::string info{'\0', static_cast<char>(bytes), static_cast<char>(6 + label.size())};
  info += "tls13 " + label + std::string(1, '\0') + "\x01";
  std::array<unsigned char, 32> made;
  unsigned size = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(info.data()), info.size(), made.data(), &size);
  return {reinterpret_cast<const char*>(made.data()), bytes};
}

// A record of the server with that number (RFC 8446 §5.2), by TLS_AES_128_GCM_SHA256.
std::string record_of(std::string plain, char type, unsigned char number) {
  const std::string key = expand(server_secret(), "key", 16);
  std::string nonce = expand(server_secret(), "iv", 12);
  nonce.back() = static_cast<char>(nonce.back() ^ number);
  plain += type;
  const std::size_t size = plain.size() + 16;
  std::string record = {'\x17', '\x03', '\x03', static_cast<char>(size >> 8),
                        static_cast<char>(size & 0xff)};
  const auto octets = [](const std::string& text) {
    return reinterpret_cast<const unsigned char*>(text.data());
  };
  std::string sealed(size, '\0');
  auto* const to = reinterpret_cast<unsigned char*>(sealed.data());
  EVP_CIPHER_CTX* const cipher = EVP_CIPHER_CTX_new();
  int count = 0;
  EVP_EncryptInit_ex2(cipher, EVP_aes_128_gcm(), octets(key), octets(nonce), nullptr);
  EVP_EncryptUpdate(cipher, nullptr, &count, octets(record), 5);
  EVP_EncryptUpdate(cipher, to, &count, octets(plain), static_cast<int>(plain.size()));
  EVP_EncryptFinal_ex(cipher, to + count, &count);
  EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, 16, to + plain.size());
  EVP_CIPHER_CTX_free(cipher);
  return record + sealed;
}

// RFC 9113 §9.2.3. OpenSSL as a server sends no such request to a client that has not offered to
// answer it, so the test makes the record.
TEST(ClientContext, a_request_for_a_certificate_behind_the_handshake_ends_the_connection) {
  const TestContext server = context_of(shared_certificate());
  SSL_CTX_set_min_proto_version(server.get(), TLS1_3_VERSION);
  SSL_CTX_set_ciphersuites(server.get(), "TLS_AES_128_GCM_SHA256");
  SSL_CTX_set_num_tickets(server.get(), 0);  // the first record behind the handshake is ours
  SSL_CTX_set_keylog_callback(server.get(), &keep_secret);
  const TestCertificate own({"client"});
  ClientTlsOptions options = trusting(shared_certificate());
  options.certificate = text_of(own);
  Pair pair(options, *server, "localhost");
  pair.pass();
  ASSERT_TRUE(pair.opened) << pair.transforms.problem();
  constexpr char application_data = '\x17', handshake = '\x16';
  pair.give_client(record_of("ordinary", application_data, 0));
  ASSERT_EQ(pair.received, "ordinary") << "the test seals as a server does";
  ASSERT_FALSE(pair.failed);
  const std::string request(
      "\x0d\0\0\x0c"                       // CertificateRequest
      "\x01c"                              // its context
      "\0\x08\0\x0d\0\x04\0\x02\x04\x03",  // signature_algorithms: ecdsa_secp256r1_sha256
      16);
  take_all(pair.client->output());
  pair.give_client(record_of(request, handshake, 1));
  EXPECT_TRUE(pair.failed);
  EXPECT_FALSE(pair.client->can_seal());
  EXPECT_GT(pair.client->output().pending(), 0u) << "the alert";
}

// RFC 9113 §9.2.1: the server asks for a renegotiation by HelloRequest.
TEST(ClientContext, a_renegotiation_that_the_server_asks_for_ends_the_connection) {
  const TestContext server(SSL_CTX_new(TLS_server_method()), &SSL_CTX_free);
  SSL_CTX_set_max_proto_version(server.get(), TLS1_2_VERSION);
  SSL_CTX_use_certificate(server.get(), shared_certificate().certificate.get());
  SSL_CTX_use_PrivateKey(server.get(), shared_certificate().key.get());
  BlockPool blocks{4096, 64};
  ClientTransforms transforms(*ClientContext::make(trusting(shared_certificate())), "localhost");
  const auto client = transforms.make(blocks);
  SSL* const ssl = SSL_new(server.get());
  BIO* const in = BIO_new(BIO_s_mem());
  BIO* const out = BIO_new(BIO_s_mem());
  SSL_set_bio(ssl, in, out);
  SSL_set_accept_state(ssl);
  bool failed = false;
  const auto exchange = [&] {
    std::array<char, 4096> plain;
    char* text = nullptr;
    const long size = BIO_get_mem_data(out, &text);
    std::string down(text, static_cast<std::size_t>(size));
    (void)BIO_reset(out);
    for (Bytes rest = down;;) {
      const auto step = client->receive(rest, plain, Instant{1});
      rest.remove_prefix(step.consumed);
      failed = failed || step.event == net::TransformEvent::failed;
      if (step.event == net::TransformEvent::need_bytes || failed) break;
    }
    const std::string up = take_all(client->output());
    BIO_write(in, up.data(), static_cast<int>(up.size()));
    SSL_do_handshake(ssl);
  };
  for (int round = 0; round < 4; ++round) exchange();
  ASSERT_TRUE(SSL_is_init_finished(ssl));
  ASSERT_FALSE(failed);
  ASSERT_EQ(SSL_renegotiate(ssl), 1);
  SSL_do_handshake(ssl);
  exchange();
  EXPECT_TRUE(failed);
  EXPECT_FALSE(client->can_seal());
  SSL_free(ssl);
}

}  // namespace
}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
