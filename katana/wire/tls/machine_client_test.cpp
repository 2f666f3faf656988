// Machine on both sides: what a client demands of its server, and what each knows of the other.
#include <gtest/gtest.h>
#include <openssl/err.h>

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "katana/wire/tls/machine_fixture_test.hpp"

namespace katana::tls {
namespace {

TestContext client_context(const TestCertificate* trusted) {
  TestContext made(SSL_CTX_new(TLS_client_method()), &SSL_CTX_free);
  if (trusted != nullptr) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(made.get()), trusted->certificate.get());
    SSL_CTX_set_verify(made.get(), SSL_VERIFY_PEER, nullptr);
  }
  Machine::prepare_to_resume(*made);
  return made;
}

const TestCertificate& authority() {
  static const TestCertificate made({"an authority"});
  return made;
}
const TestCertificate& certificate() {
  static const TestCertificate made({"a.example", "*.b.example"}, false, &authority());
  return made;
}

// One side of a connection, with what it was told.
struct End {
  End(SSL_CTX& context, Side side) : machine(context, side) {}

  void give(Bytes bytes) {
    std::array<char, 4096> plain;
    for (;;) {
      const Step step = machine.next(bytes, plain, output, Instant{7});
      bytes.remove_prefix(step.consumed);
      received.append(plain.data(), step.produced);
      if (step.event == Event::hello) {
        machine.admit();
        ++hellos;
      }
      ended = ended || step.event == Event::ended;
      if (step.event == Event::need_bytes) {
        EXPECT_EQ(step.produced, 0u);
        EXPECT_TRUE(bytes.empty());
        return;
      }
      if (step.event == Event::ended || step.event == Event::failed) return;
    }
  }

  BlockPool pool{4096, 64};
  Outbox output{pool};
  Machine machine;
  std::string received;
  bool ended = false;
  int hellos = 0;
};

struct Pair {
  explicit Pair(SSL_CTX& of_server, SSL_CTX& of_client)
      : server(of_server, Side::server), client(of_client, Side::client) {}
  void pass() {
    client.give({});
    for (bool moved = true; moved;) {
      const std::string up = take_all(client.output);
      server.give(up);
      const std::string down = take_all(server.output);
      client.give(down);
      moved = !up.empty() || !down.empty();
    }
  }
  bool opened() const { return server.machine.opened() && client.machine.opened(); }
  End server, client;
};

class TlsClientTest : public testing::Test {
 protected:
  TlsClientTest()
      : server_(make_test_context(certificate())), client_(client_context(&authority())) {}
  // Whether a client that expects the name opens the connection.
  bool opens_for(const char* name) {
    Pair pair(*server_, *client_);
    EXPECT_TRUE(pair.client.machine.expect_name(name)) << name;
    pair.pass();
    EXPECT_EQ(pair.opened(), pair.client.machine.certificate_problem() == nullptr) << name;
    EXPECT_EQ(pair.client.machine.peer_certificate() != nullptr, pair.opened()) << name;
    return pair.opened();
  }

  TestContext server_, client_;
};

TEST_F(TlsClientTest, both_sides_open_and_exchange_bytes_and_ends) {
  Pair pair(*server_, *client_);
  ASSERT_TRUE(pair.client.machine.expect_name("a.example"));
  pair.pass();
  ASSERT_TRUE(pair.opened());
  EXPECT_EQ(pair.server.machine.server_name(), "a.example");
  EXPECT_EQ(pair.server.hellos, 1);
  EXPECT_EQ(pair.client.hellos, 0);
  EXPECT_EQ(pair.client.machine.seal("question", pair.client.output), 8u);
  EXPECT_EQ(pair.server.machine.seal("answer", pair.server.output), 6u);
  pair.client.machine.end(pair.client.output);
  pair.pass();
  EXPECT_EQ(pair.server.received, "question");
  EXPECT_EQ(pair.client.received, "answer");
  EXPECT_TRUE(pair.server.ended);
  EXPECT_FALSE(pair.client.ended);
  EXPECT_FALSE(pair.server.machine.end_of_input());
  EXPECT_TRUE(pair.client.machine.end_of_input());
  EXPECT_EQ(ERR_peek_error(), 0u) << "nothing is left for the next connection of the thread";
}

TEST_F(TlsClientTest, the_name_of_the_certificate_has_to_be_the_expected_one) {
  EXPECT_TRUE(opens_for("a.example"));
  EXPECT_TRUE(opens_for("x.b.example"));
  EXPECT_FALSE(opens_for("b.example"));
  EXPECT_FALSE(opens_for("x.y.b.example"));
  EXPECT_FALSE(opens_for("other.example"));
  EXPECT_FALSE(opens_for("127.0.0.1")) << "an address is no DNS name";
}

TEST_F(TlsClientTest, the_common_name_of_a_certificate_is_no_identity) {
  const TestCertificate named({"other.example"}, false, &authority());
  X509_NAME_add_entry_by_NID(X509_get_subject_name(named.certificate.get()), NID_commonName,
                             MBSTRING_ASC, reinterpret_cast<const unsigned char*>("cn.example"), -1,
                             -1, 0);
  ASSERT_NE(X509_sign(named.certificate.get(), authority().key.get(), EVP_sha256()), 0);
  server_ = make_test_context(named);
  EXPECT_FALSE(opens_for("cn.example"));
  EXPECT_TRUE(opens_for("other.example"));
}

TEST_F(TlsClientTest, a_certificate_of_another_authority_is_refused_with_the_reason) {
  const TestCertificate stranger({"a.example"});
  server_ = make_test_context(stranger);
  Pair pair(*server_, *client_);
  ASSERT_TRUE(pair.client.machine.expect_name("a.example"));
  pair.pass();
  EXPECT_TRUE(pair.client.machine.has_failed());
  EXPECT_EQ(pair.client.machine.failure(), Failure::client_certificate);
  ASSERT_NE(pair.client.machine.certificate_problem(), nullptr);
  EXPECT_NE(std::string(pair.client.machine.certificate_problem()).find("self"), std::string::npos);
  EXPECT_EQ(pair.server.machine.failure(), Failure::peer_alert);
  EXPECT_EQ(ERR_peek_error(), 0u);
}

TEST_F(TlsClientTest, a_certificate_that_is_not_verified_is_shown_and_is_no_identity) {
  const TestCertificate stranger({"a.example"});
  server_ = make_test_context(stranger);
  client_ = client_context(&authority());
  SSL_CTX_set_verify(client_.get(), SSL_VERIFY_NONE, nullptr);
  Pair pair(*server_, *client_);
  ASSERT_TRUE(pair.client.machine.announce_name("a.example"));
  pair.pass();
  ASSERT_TRUE(pair.opened());
  EXPECT_NE(pair.client.machine.shown_certificate(), nullptr);
  EXPECT_EQ(pair.client.machine.peer_certificate(), nullptr);
  EXPECT_NE(pair.client.machine.certificate_problem(), nullptr);
  EXPECT_EQ(pair.server.machine.peer_certificate(), nullptr) << "the client has shown none";
}

TEST_F(TlsClientTest, a_name_is_announced_and_an_address_or_nonsense_is_not) {
  const auto announced = [&](const char* name) {
    Pair pair(*server_, *client_);
    if (!pair.client.machine.announce_name(name)) return std::string("refused");
    pair.pass();
    EXPECT_TRUE(pair.opened()) << name;
    return std::string(pair.server.machine.server_name());
  };
  EXPECT_EQ(announced("other.example"), "other.example") << "the certificate may have another";
  EXPECT_EQ(announced("127.0.0.1"), "");
  EXPECT_EQ(announced("::1"), "");
  const std::string too_long(300, 'x');
  EXPECT_EQ(announced(too_long.c_str()), "refused");
  EXPECT_EQ(ERR_peek_error(), 0u) << "nothing is left for the next connection of the thread";
  Pair pair(*server_, *client_);
  EXPECT_FALSE(pair.client.machine.expect_name(too_long.c_str()));
}

// ---- sessions that are resumed

class Sessions final : public SessionStore {
 public:
  ~Sessions() override { SSL_SESSION_free(last); }
  void keep(SSL_SESSION& session, Instant now) noexcept override {
    SSL_SESSION_free(std::exchange(last, &session));
    at = now;
    ++count;
  }
  SSL_SESSION* last = nullptr;
  Instant at{};
  int count = 0;
};

TEST_F(TlsClientTest, a_session_that_the_server_offered_is_resumed) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    SSL_CTX_set_max_proto_version(client_.get(), version);
    Sessions sessions;
    for (const bool again : {false, true}) {
      Pair pair(*server_, *client_);
      ASSERT_TRUE(pair.client.machine.expect_name("a.example"));
      pair.client.machine.resume(sessions.last, sessions);
      pair.pass();
      ASSERT_TRUE(pair.opened());
      EXPECT_EQ(pair.client.machine.version(), version);
      EXPECT_EQ(pair.client.machine.resumed(), again) << version;
      EXPECT_EQ(pair.server.machine.resumed(), again) << version;
      pair.client.machine.end(pair.client.output);  // OpenSSL gives up the session of a broken one
      pair.pass();
    }
    EXPECT_GE(sessions.count, 1);
    EXPECT_EQ(sessions.at, Instant{7});
  }
}

TEST_F(TlsClientTest, a_client_without_a_store_keeps_no_session) {
  Pair pair(*server_, *client_);
  ASSERT_TRUE(pair.client.machine.expect_name("a.example"));
  pair.pass();
  EXPECT_TRUE(pair.opened());
}

// ---- protocols, and mistakes of the other side

int choose_protocol(SSL* ssl, const unsigned char** out, unsigned char* size,
                    const unsigned char* offered, unsigned offered_size, void*) {
  const Bytes ours = Machine::of(*ssl).protocols();
  return SSL_select_next_proto(const_cast<unsigned char**>(out), size,
                               reinterpret_cast<const unsigned char*>(ours.data()),
                               static_cast<unsigned>(ours.size()), offered,
                               offered_size) == OPENSSL_NPN_NEGOTIATED
             ? SSL_TLSEXT_ERR_OK
             : SSL_TLSEXT_ERR_ALERT_FATAL;
}

TEST_F(TlsClientTest, both_sides_know_the_protocol_that_they_agreed_on) {
  SSL_CTX_set_alpn_select_cb(server_.get(), &choose_protocol, nullptr);
  const auto agreed = [&](Bytes ours) -> std::string {
    SSL_CTX_set_alpn_protos(client_.get(), reinterpret_cast<const unsigned char*>("\2h2\3abc"), 7);
    Pair pair(*server_, *client_);
    pair.server.machine.set_protocols(ours);
    EXPECT_TRUE(pair.client.machine.announce_name("a.example"));
    pair.pass();
    if (!pair.opened()) return std::string(name_of(pair.server.machine.failure()));
    EXPECT_EQ(pair.client.machine.application_protocol(),
              pair.server.machine.application_protocol());
    return std::string(pair.server.machine.application_protocol());
  };
  EXPECT_EQ(agreed("\3abc"), "abc");
  EXPECT_EQ(agreed("\2h2\3abc"), "h2");
  EXPECT_EQ(agreed("\3xyz"), std::string(name_of(Failure::application_protocol)));
}

TEST_F(TlsClientTest, a_server_that_speaks_no_tls_is_named) {
  End client(*client_, Side::client);
  ASSERT_TRUE(client.machine.announce_name("a.example"));
  client.give({});
  EXPECT_FALSE(client.output.empty()) << "the client speaks first";
  client.give("HTTP/1.1 400 Bad Request\r\n\r\n");
  EXPECT_EQ(client.machine.failure(), Failure::not_tls);
}

TEST_F(TlsClientTest, a_request_for_a_proxy_is_plain_http_and_not_tls) {
  End server(*server_, Side::server);
  server.give("CONNECT a.example:443 HTTP/1.1\r\n\r\n");
  EXPECT_EQ(server.machine.failure(), Failure::plain_http);
}

TEST_F(TlsClientTest, nothing_is_said_after_a_failure_nor_into_a_full_outbox) {
  Pair pair(*server_, *client_);
  ASSERT_TRUE(pair.client.machine.announce_name("a.example"));
  pair.client.machine.end(pair.client.output);
  EXPECT_TRUE(pair.client.output.empty()) << "the handshake is not complete";
  pair.pass();
  ASSERT_TRUE(pair.opened());
  std::vector<char*> taken;
  while (pair.client.pool.available() > 0) taken.push_back(pair.client.pool.take());
  pair.client.machine.end(pair.client.output);
  EXPECT_TRUE(pair.client.output.empty());
  EXPECT_TRUE(pair.client.machine.can_seal()) << "it can be said later";
  for (char* const block : taken) pair.client.pool.give(block);
  std::string broken("\x17\x03\x03\x00\x20", 5);
  broken += std::string(32, 'x');
  pair.client.give(broken);
  EXPECT_TRUE(pair.client.machine.has_failed());
  (void)take_all(pair.client.output);
  pair.client.machine.end(pair.client.output);
  EXPECT_TRUE(pair.client.output.empty());
  EXPECT_FALSE(pair.client.machine.can_seal());
  std::array<char, 16> plain;
  const Step step = pair.client.machine.next("more", plain, pair.client.output, Instant{8});
  EXPECT_EQ(step.event, Event::failed);
  EXPECT_EQ(step.consumed, 4u);
}

TEST_F(TlsClientTest, bytes_of_several_records_come_together_up_to_the_room_given) {
  Pair pair(*server_, *client_);
  ASSERT_TRUE(pair.client.machine.announce_name("a.example"));
  pair.pass();
  for (const char* const each : {"ab", "cd", "ef"}) {
    EXPECT_EQ(pair.client.machine.seal(each, pair.client.output), 2u);
  }
  const std::string up = take_all(pair.client.output);
  std::array<char, 4> plain;
  Step step = pair.server.machine.next(up, plain, pair.server.output, Instant{8});
  EXPECT_EQ(step.event, Event::bytes);
  EXPECT_EQ(std::string(plain.data(), step.produced), "abcd");
  step = pair.server.machine.next(Bytes(up).substr(step.consumed), plain, pair.server.output,
                                  Instant{9});
  EXPECT_EQ(std::string(plain.data(), step.produced), "ef");
  step = pair.server.machine.next({}, plain, pair.server.output, Instant{9});
  EXPECT_EQ(step.event, Event::need_bytes);
  EXPECT_EQ(step.produced, 0u);
  EXPECT_EQ(pair.server.machine.now(), Instant{9});
}

}  // namespace
}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
