// A server in the middle gets neither the password nor a session.
#include <gtest/gtest.h>

#include <string>

#include "katana/wire/postgres/start_client_test.hpp"
#include "katana/wire/postgres/startup.hpp"

namespace katana::postgres {
namespace {

using test::authentication;
using test::certificate;
using test::events_of;
using test::first_scram;
using test::nonce;
using test::over_tls;
using test::plain;
using test::plus_offer;
using test::refused;
using test::sasl;
using test::scram_offer;
using test::ScramServer;
using test::session_begins;
using test::Sink;
using test::StartClient;

TEST(PostgresDowngrade, a_server_that_refuses_tls_gets_neither_user_nor_password) {
  StartClient client(over_tls());
  client.written();
  EXPECT_EQ(client.receive("N"), refused(Refusal::encryption_refused));
  client.receive(authentication(3) + authentication(0) + test::ready());
  EXPECT_EQ(client.written(), "");
  EXPECT_EQ(client.startup.state(), StartState::ended);
}

// CVE-2021-23222: bytes of somebody on the way would count as the server's.
TEST(PostgresDowngrade, bytes_before_tls_end_the_start) {
  for (const std::string& injected : {"S" + authentication(0), std::string("SS"),
                                      std::string("S\x16"), "N" + authentication(0)}) {
    StartClient client(over_tls());
    client.written();
    EXPECT_EQ(client.receive(injected), refused(Refusal::bytes_before_tls));
    EXPECT_EQ(client.written(), "");
  }
}

// CVE-2024-10977: an error before TLS is anybody's text.
TEST(PostgresDowngrade, an_error_before_tls_is_not_read) {
  StartClient client(over_tls());
  client.written();
  const std::string error = test::report('E', "FATAL", "28000", "send your password elsewhere");
  EXPECT_EQ(client.receive(error), refused(Refusal::bad_encryption_answer));
  EXPECT_EQ(client.written(), "");
}

TEST(PostgresDowngrade, direct_tls_wants_the_name_of_the_protocol) {
  StartupOptions options = over_tls();
  options.tls = TlsStart::direct;
  for (const Bytes name : {"", "http/1.1", "postgresq"}) {
    StartClient client(options);
    client.facts.alpn = name;
    EXPECT_EQ(client.receive(" "), "encrypt\n" + refused(Refusal::wrong_alpn));
    EXPECT_EQ(client.written(), "");
  }
  Sink sink;
  Startup startup(options, nonce);
  EXPECT_EQ(startup.begin(sink), Submitted::ok);
  EXPECT_EQ(sink.text, "");
  EXPECT_EQ(startup.next("", sink).event, StartEvent::encrypt);
  EXPECT_EQ(startup.encrypted({.alpn = "postgresql"}, sink), Submitted::ok);
  Startup refusing(options, nonce);
  EXPECT_EQ(refusing.begin(sink), Submitted::ok);
  EXPECT_EQ(refusing.encrypted({.alpn = "h2"}, sink), Submitted::wrong_state);
  EXPECT_NE(sink.text, "");
}

// Servers before 17 have no name. One with another name is a server of another protocol.
TEST(PostgresDowngrade, tls_by_request_takes_no_foreign_name) {
  StartClient without(over_tls());
  without.facts.alpn = "";
  EXPECT_EQ(without.receive("S"), "encrypt\n");
  StartClient other(over_tls());
  other.written();
  other.facts.alpn = "h2";
  EXPECT_EQ(other.receive("S"), "encrypt\n" + refused(Refusal::wrong_alpn));
  EXPECT_EQ(other.written(), "");
}

TEST(PostgresDowngrade, a_weaker_method_than_scram_is_refused_before_a_password_is_used) {
  for (const std::string& asked : {authentication(3), authentication(5, "salt"), authentication(0),
                                   authentication(0) + session_begins}) {
    StartClient client(plain());
    client.written();
    client.receive(asked);
    EXPECT_EQ(client.startup.state(), StartState::ended);
    EXPECT_EQ(client.written(), "");
  }
  EXPECT_EQ(events_of(plain(), authentication(3)), refused(Refusal::method_not_allowed));
  EXPECT_EQ(events_of(plain(), authentication(5, "salt")), refused(Refusal::method_not_allowed));
  EXPECT_EQ(events_of(plain(), authentication(0)), refused(Refusal::not_authenticated));
  for (const std::uint32_t code : {1u, 2u, 4u, 6u, 7u, 8u, 9u, 13u, 0xffff'ffffu}) {
    EXPECT_EQ(events_of(plain(), authentication(code)), refused(Refusal::unknown_method)) << code;
  }
  EXPECT_EQ(events_of(plain(), sasl({"OAUTHBEARER"})), refused(Refusal::unknown_method));
  StartupOptions options = plain();
  options.methods = {.scram = false, .cleartext = true};
  EXPECT_EQ(events_of(options, scram_offer), refused(Refusal::method_not_allowed));
}

TEST(PostgresDowngrade, ok_before_the_servers_signature_is_refused) {
  ScramServer server("pw", "salt", 4096);
  StartClient challenged(plain());
  EXPECT_EQ(challenged.receive(scram_offer + authentication(0)),
            "scram\n" + refused(Refusal::not_authenticated));
  for (const bool answers : {false, true}) {
    StartupOptions options = plain();
    options.methods.nothing = answers;  // no excuse once SCRAM has begun
    StartClient proven(options);
    proven.answers = answers;
    proven.written();
    proven.receive(scram_offer);
    proven.receive(authentication(11, server.challenge(proven.last_body().substr(14 + 4))));
    EXPECT_EQ(proven.receive(authentication(0)),
              "scram\nproof\n" + refused(Refusal::not_authenticated));
  }
}

TEST(PostgresDowngrade, a_server_without_the_password_is_refused) {
  ScramServer server("another", "salt", 4096);
  StartClient client(plain());
  client.written();
  client.receive(scram_offer);
  client.receive(authentication(11, server.challenge(client.last_body().substr(14 + 4))));
  const std::string signature = "v=" + encode_base64(std::string(32, 'x'));
  client.receive(authentication(12, signature) + authentication(0) + session_begins);
  EXPECT_EQ(client.events, "scram\nproof\n" + refused(Refusal::wrong_signature));
}

TEST(PostgresDowngrade, few_iterations_are_refused_before_the_proof) {
  for (const std::uint32_t iterations : {1u, 4095u, 600'001u}) {
    ScramServer server("pw", "salt", iterations);
    StartClient client(plain());
    client.written();
    client.receive(scram_offer);
    client.receive(authentication(11, server.challenge(client.last_body().substr(14 + 4))));
    EXPECT_EQ(client.events, "scram\n" + refused(iterations < 4096 ? Refusal::too_few_iterations
                                                                   : Refusal::too_many_iterations));
    EXPECT_EQ(client.written(), "");
  }
}

TEST(PostgresDowngrade, required_channel_binding_takes_nothing_less) {
  StartupOptions options = over_tls();
  options.binding = ChannelBinding::required;
  options.methods = {.scram = true, .md5 = true, .cleartext = true, .nothing = true};
  EXPECT_EQ(events_of(options, "S"), "encrypt\n");
  const auto answer = [&options](const std::string& sent) {
    StartClient client(options);
    client.receive("S");
    client.written();
    client.receive(sent);
    EXPECT_EQ(client.written(), "");
    return client.events;
  };
  EXPECT_EQ(answer(scram_offer), "encrypt\n" + refused(Refusal::channel_binding_missing));
  EXPECT_EQ(answer(authentication(3)), "encrypt\n" + refused(Refusal::channel_binding_missing));
  EXPECT_EQ(answer(authentication(5, "salt")),
            "encrypt\n" + refused(Refusal::channel_binding_missing));
  EXPECT_EQ(answer(authentication(0)), "encrypt\n" + refused(Refusal::not_authenticated));
  // A certificate without a digest (RFC 5929 §4.1) cannot be bound.
  EXPECT_EQ(first_scram(options, plus_offer, {alpn_name, ""}),
            "encrypt\n" + refused(Refusal::channel_binding_missing));
  options.tls = TlsStart::off;
  EXPECT_EQ(events_of(options, scram_offer), refused(Refusal::channel_binding_missing));
}

// A server that offered -PLUS sees the flag y, which the proof covers, and ends the exchange.
TEST(PostgresDowngrade, an_offer_that_was_removed_is_told_to_the_server) {
  const std::string bare = "n=,r=" + encode_base64(nonce);
  EXPECT_EQ(first_scram(over_tls(), scram_offer), "SCRAM-SHA-256 y,," + bare);
  EXPECT_EQ(first_scram(over_tls(), plus_offer),
            "SCRAM-SHA-256-PLUS p=tls-server-end-point,," + bare);
  EXPECT_EQ(first_scram(over_tls(), plus_offer, {alpn_name, ""}), "SCRAM-SHA-256 n,," + bare);
  EXPECT_EQ(first_scram(plain(), scram_offer), "SCRAM-SHA-256 n,," + bare);
  StartupOptions off = over_tls();
  off.binding = ChannelBinding::off;
  EXPECT_EQ(first_scram(off, plus_offer), "SCRAM-SHA-256 n,," + bare);
  EXPECT_EQ(first_scram(off, sasl({"SCRAM-SHA-256-PLUS"})),
            "encrypt\n" + refused(Refusal::method_not_allowed));
}

TEST(PostgresDowngrade, an_offer_of_binding_without_tls_is_refused) {
  EXPECT_EQ(events_of(plain(), plus_offer), refused(Refusal::plus_without_tls));
}

}  // namespace
}  // namespace katana::postgres

// SPDX-License-Identifier: Apache-2.0
