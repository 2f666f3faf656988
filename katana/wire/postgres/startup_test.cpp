#include "katana/wire/postgres/startup.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/system/source_tree_test.hpp"
#include "katana/wire/postgres/md5.hpp"
#include "katana/wire/postgres/start_client_test.hpp"

namespace katana::postgres {
namespace {

using test::authentication;
using test::certificate;
using test::events_of;
using test::key;
using test::message;
using test::nonce;
using test::number;
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
using test::version;
using test::zero_ended;

// ---- whole starts ------------------------------------------------------------------------------

TEST(PostgresStartup, by_scram_is_ready_however_the_bytes_are_cut) {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{2}, std::size_t{7}, SIZE_MAX}) {
    StartClient client(plain());
    EXPECT_EQ(client.written(), number(4 + 4 + 5 + 7 + 1, 4) + number(196610, 4) +
                                    zero_ended("user") + zero_ended("katana") + '\0');
    ScramServer server("pw", "salt", 4096);
    client.receive(scram_offer, piece);
    const std::string first = client.last_body();
    EXPECT_TRUE(first.starts_with(zero_ended("SCRAM-SHA-256")));
    client.receive(authentication(11, server.challenge(first.substr(14 + 4))), piece);
    const std::string signature = server.signature(client.last_body());
    ASSERT_NE(signature, "");
    client.receive(authentication(12, signature) + authentication(0) + session_begins, piece);
    EXPECT_EQ(client.events,
              "scram\nproof\nverified\nauthenticated\nserver_version=18.1\nkey 77 of 4\nready\n");
    EXPECT_EQ(client.startup.state(), StartState::ready);
    EXPECT_EQ(client.startup.version(), version_3_2);
    EXPECT_FALSE(client.startup.is_bound());
  }
}

TEST(PostgresStartup, by_tls_and_channel_binding_is_ready) {
  for (const ChannelBinding binding : {ChannelBinding::preferred, ChannelBinding::required}) {
    StartupOptions options = over_tls();
    options.binding = binding;
    StartClient client(options);
    EXPECT_EQ(client.written(), number(8, 4) + number(80'877'103, 4));
    client.receive("S");
    client.written();
    ScramServer server("pw", "salt", 4096);
    client.receive(plus_offer);
    const std::string first = client.last_body();
    EXPECT_TRUE(first.starts_with(zero_ended("SCRAM-SHA-256-PLUS")));
    client.receive(authentication(11, server.challenge(first.substr(19 + 4))));
    EXPECT_EQ(server.header(), "p=tls-server-end-point,,");
    const std::string signature = server.signature(client.last_body(), certificate);
    ASSERT_NE(signature, "");
    client.receive(authentication(12, signature) + authentication(0) + test::ready());
    EXPECT_EQ(client.events, "encrypt\nscram\nproof\nverified\nauthenticated\nready\n");
    EXPECT_TRUE(client.startup.is_bound());
  }
}

TEST(PostgresStartup, nothing_behind_ready_is_consumed) {
  StartupOptions options = plain();
  options.methods.nothing = true;
  Startup startup(options, nonce);
  Sink sink;
  ASSERT_EQ(startup.begin(sink), Submitted::ok);
  const std::string bytes = authentication(0) + test::ready() + test::notification("a", "b");
  std::size_t consumed = startup.next(bytes, sink).consumed;
  consumed += startup.next(Bytes(bytes).substr(consumed), sink).consumed;
  EXPECT_EQ(Bytes(bytes).substr(consumed), test::notification("a", "b"));
  EXPECT_EQ(startup.next(Bytes(bytes).substr(consumed), sink).consumed, 0u);
}

TEST(PostgresStartup, keys_of_another_thread_prove_as_the_password_does) {
  StartClient client(plain());
  client.answers = false;
  client.written();
  ScramServer server("pw", "salt", 4096);
  client.receive(scram_offer);
  client.receive(authentication(11, server.challenge(client.last_body().substr(14 + 4))));
  const ScramChallenge challenge = client.startup.challenge();
  EXPECT_EQ(challenge.salt, "salt");
  const ScramKeys keys = derive_scram_keys("pw", challenge);
  EXPECT_EQ(client.startup.prove(keys, client.sink), Submitted::ok);
  EXPECT_EQ(client.startup.prove(keys, client.sink), Submitted::wrong_state);
  client.receive(authentication(12, server.signature(client.last_body())) + authentication(0));
  EXPECT_EQ(client.events, "scram\nproof\nverified\nauthenticated\n");
}

TEST(PostgresStartup, passwords_are_sent_only_where_the_options_allow_them) {
  StartupOptions options = plain();
  options.methods.md5 = true;
  StartClient md5(options);
  md5.written();
  EXPECT_EQ(md5.receive(authentication(5, "\x01\x02\x03\x04")), "password\n");
  const Md5Answer made = md5_answer("katana", "pw", "\x01\x02\x03\x04");
  EXPECT_EQ(md5.written(), message('p', zero_ended({made.data(), made.size()})));
  md5.receive(authentication(0));
  EXPECT_EQ(md5.events, "password\nauthenticated\n");
  EXPECT_EQ(events_of(options, authentication(3)), refused(Refusal::method_not_allowed));

  options.methods = {.cleartext = true};
  StartClient cleartext(options);
  cleartext.written();
  EXPECT_EQ(cleartext.receive(authentication(3)), "password\n");
  EXPECT_EQ(cleartext.written(), message('p', zero_ended("pw")));
  EXPECT_EQ(events_of(options, authentication(5, "salt")), refused(Refusal::method_not_allowed));
}

TEST(PostgresStartup, the_first_message_has_the_parameters_and_is_bounded) {
  StartupOptions options = plain();
  options.database = "shop";
  options.version = version_3_0;
  std::vector<StartupParameter> parameters = {{"client_encoding", "UTF8"}};
  options.parameters = parameters;
  StartClient client(options);
  EXPECT_EQ(client.sink.text.substr(4),
            number(196608, 4) + zero_ended("user") + zero_ended("katana") + zero_ended("database") +
                zero_ended("shop") + zero_ended("client_encoding") + zero_ended("UTF8") + '\0');
  parameters.assign(30, {"a", "b"});
  options.parameters = parameters;
  Sink most;
  EXPECT_EQ(Startup(options, nonce).begin(most), Submitted::ok);
  parameters.assign(31, {"a", "b"});
  options.parameters = parameters;
  Sink sink;
  EXPECT_EQ(Startup(options, nonce).begin(sink), Submitted::too_large);
  options.parameters = {};
  const std::string user("kat\0ana", 7);
  options.user = user;
  EXPECT_EQ(Startup(options, nonce).begin(sink), Submitted::zero_byte);
  EXPECT_EQ(sink.text, "");
}

TEST(PostgresStartup, an_encryption_answer_is_one_byte_of_what_was_asked) {
  EXPECT_FALSE(read_encryption_answer(Encryption::tls, "").has_value());
  EXPECT_TRUE(read_encryption_answer(Encryption::tls, "S")->is_accepted);
  EXPECT_FALSE(read_encryption_answer(Encryption::tls, "N")->is_accepted);
  EXPECT_EQ(read_encryption_answer(Encryption::tls, "G")->refusal, Refusal::bad_encryption_answer);
  EXPECT_TRUE(read_encryption_answer(Encryption::gss, "G")->is_accepted);
  EXPECT_EQ(read_encryption_answer(Encryption::gss, "S")->refusal, Refusal::bad_encryption_answer);
  EXPECT_EQ(read_encryption_answer(Encryption::gss, "G.")->refusal, Refusal::bytes_before_tls);
}

// ---- versions and keys -------------------------------------------------------------------------

TEST(PostgresStartup, an_older_server_brings_the_version_down) {
  StartupOptions options = plain();
  options.methods.nothing = true;
  StartClient client(options);
  EXPECT_EQ(client.receive(version(version_3_0) + authentication(0) + session_begins),
            "version\nauthenticated\nserver_version=18.1\nkey 77 of 4\nready\n");
  EXPECT_EQ(client.startup.version(), version_3_0);
  options.version_min = version_3_2;
  EXPECT_EQ(events_of(options, version(version_3_0)), refused(Refusal::version_too_old));
  EXPECT_EQ(events_of(options, authentication(0)), "authenticated\n");
}

TEST(PostgresStartup, a_version_that_cannot_be_negotiated_is_refused) {
  StartupOptions options = plain();
  options.methods.nothing = true;
  for (const std::string& sent :
       {version(version_3_2), version(0x0003'0001), version(0x0003'0003), version(0x0002'0000),
        version(0), version(version_3_0, 1, zero_ended("_pq_.x")), version(version_3_0, 1),
        version(version_3_0, 0xffff'ffff), version(version_3_0, 0, "x")}) {
    EXPECT_EQ(events_of(options, sent), refused(Refusal::bad_negotiation));
  }
  const std::string once = version(version_3_0);
  EXPECT_EQ(events_of(options, once + once), "version\n" + refused(Refusal::bad_negotiation));
  EXPECT_EQ(events_of(options, authentication(0) + once),
            "authenticated\n" + refused(Refusal::unexpected_message));
  StartClient late(options);
  late.receive(authentication(0) + once);
  EXPECT_EQ(late.startup.version(), version_3_2);
  options.version = version_3_0;
  EXPECT_EQ(events_of(options, once), refused(Refusal::bad_negotiation));
}

TEST(PostgresStartup, a_cancel_key_has_a_size_of_the_version) {
  StartupOptions options = plain();
  options.methods.nothing = true;
  const std::string ok = authentication(0);
  EXPECT_EQ(events_of(options, ok + key(256)), "authenticated\nkey 77 of 256\n");
  EXPECT_EQ(events_of(options, ok + key(257)),
            "authenticated\n" + refused(Refusal::message_too_large));
  EXPECT_EQ(events_of(options, ok + key(3)), "authenticated\n" + refused(Refusal::bad_length));
  EXPECT_EQ(events_of(options, ok + key(4) + key(4)),
            "authenticated\nkey 77 of 4\n" + refused(Refusal::unexpected_message));
  options.version = version_3_0;
  EXPECT_EQ(events_of(options, ok + key(4)), "authenticated\nkey 77 of 4\n");
  EXPECT_EQ(events_of(options, ok + key(5)), "authenticated\n" + refused(Refusal::bad_cancel_key));
  // PgBouncer and others may have no key.
  EXPECT_EQ(events_of(options, ok + test::ready()), "authenticated\nready\n");
}

// ---- limits, forms and order -------------------------------------------------------------------

TEST(PostgresStartup, messages_without_end_are_refused) {
  StartupOptions options = plain();
  options.methods.nothing = true;
  Limits limits;
  limits.start_messages_max = 3;
  std::string sent = authentication(0);
  for (int at = 0; at < 3; ++at) sent += test::setting("a", "b");
  EXPECT_EQ(events_of(options, sent + test::ready(), limits),
            "authenticated\na=b\na=b\na=b\nready\n");
  for (const std::string& more :
       {test::setting("a", "b"), test::report('N', "NOTICE", "00000"), key(4)}) {
    EXPECT_EQ(events_of(options, sent + more, limits),
              "authenticated\na=b\na=b\na=b\n" + refused(Refusal::start_too_long));
  }
}

TEST(PostgresStartup, a_malformed_message_is_refused_with_its_reason) {
  StartupOptions options = plain();
  options.methods = {.scram = true, .md5 = true, .cleartext = true, .nothing = true};
  for (const std::string& sent :
       {authentication(0, "x"), authentication(3, "x"), authentication(5), authentication(5, "sal"),
        authentication(5, "salty"), authentication(10), authentication(10, "SCRAM-SHA-256"),
        authentication(10, zero_ended("SCRAM-SHA-256")),
        scram_offer.substr(0, 1) + number(static_cast<std::uint32_t>(scram_offer.size()), 4) +
            scram_offer.substr(5) + "x"}) {
    EXPECT_EQ(events_of(options, sent), refused(Refusal::bad_authentication));
  }
  EXPECT_EQ(events_of(options, sasl({})), refused(Refusal::unknown_method));
  EXPECT_EQ(events_of(options, scram_offer + authentication(11, "r=x")),
            "scram\n" + refused(Refusal::bad_scram));
  EXPECT_EQ(events_of(options, authentication(0) + test::ready('T')),
            "authenticated\n" + refused(Refusal::bad_transaction));
  EXPECT_EQ(events_of(options, "HTTP/1.1 400 Bad Request\r\n"),
            refused(Refusal::message_too_large));
  EXPECT_EQ(events_of(options, "X"), refused(Refusal::unknown_message));
  EXPECT_EQ(events_of(options, authentication(0) + message('S', zero_ended("a"))),
            "authenticated\n" + refused(Refusal::bad_setting));
  Limits limits;
  limits.authentication_bytes_max = 30;
  EXPECT_EQ(events_of(options, scram_offer, limits), "scram\n");
  EXPECT_EQ(events_of(options, plus_offer, limits), refused(Refusal::message_too_large));
}

TEST(PostgresStartup, an_error_of_the_server_ends_the_start) {
  StartClient client(plain());
  EXPECT_EQ(client.receive(test::report('E', "FATAL", "28P01")), "error 28P01\n");
  EXPECT_EQ(client.startup.state(), StartState::ended);
  EXPECT_EQ(client.startup.refusal(), Refusal::none);
  EXPECT_EQ(client.startup.next("", client.sink).event, StartEvent::refused);
}

TEST(PostgresStartup, without_room_the_same_input_comes_again) {
  Startup startup(plain(), nonce);
  Sink sink;
  Sink full(0);
  EXPECT_EQ(startup.begin(full), Submitted::no_room);
  ASSERT_EQ(startup.begin(sink), Submitted::ok);
  EXPECT_EQ(startup.begin(sink), Submitted::wrong_state);
  const StartStep step = startup.next(scram_offer, full);
  EXPECT_EQ(step.event, StartEvent::no_room);
  EXPECT_EQ(step.consumed, 0u);
  EXPECT_EQ(startup.next(scram_offer, sink).event, StartEvent::scram);
  ScramServer server("pw", "salt", 4096);
  const std::string first = sink.text.substr(sink.text.find("n,,"));
  EXPECT_EQ(startup.next(authentication(11, server.challenge(first)), sink).event,
            StartEvent::proof);
  StartupOptions others = over_tls();
  others.methods.cleartext = true;
  Startup encrypted(others, nonce);
  EXPECT_EQ(encrypted.begin(full), Submitted::no_room);
  EXPECT_EQ(encrypted.state(), StartState::idle);
  ASSERT_EQ(encrypted.begin(sink), Submitted::ok);
  ASSERT_EQ(encrypted.next("S", sink).event, StartEvent::encrypt);
  EXPECT_EQ(encrypted.encrypted({}, full), Submitted::no_room);
  ASSERT_EQ(encrypted.encrypted({}, sink), Submitted::ok);
  ASSERT_EQ(encrypted.next(authentication(3), sink).event, StartEvent::password);
  EXPECT_EQ(encrypted.answer("pw", full), Submitted::no_room);
  EXPECT_EQ(encrypted.state(), StartState::password);
  EXPECT_EQ(startup.answer("pw", full), Submitted::no_room);
  EXPECT_EQ(startup.answer("pw", sink), Submitted::ok);
}

TEST(PostgresStartup, a_call_that_it_does_not_wait_for_writes_nothing) {
  Startup startup(over_tls(), nonce);
  Sink sink;
  const ScramKeys keys;
  EXPECT_EQ(startup.encrypted({}, sink), Submitted::wrong_state);
  EXPECT_EQ(startup.answer("pw", sink), Submitted::wrong_state);
  EXPECT_EQ(startup.prove(keys, sink), Submitted::wrong_state);
  EXPECT_EQ(startup.next("", sink).event, StartEvent::need_bytes);
  EXPECT_EQ(sink.text, "");
  ASSERT_EQ(startup.begin(sink), Submitted::ok);
  sink.text.clear();
  EXPECT_EQ(startup.next("", sink).size, 1u);
  EXPECT_EQ(startup.encrypted({}, sink), Submitted::wrong_state);
  ASSERT_EQ(startup.next("S", sink).event, StartEvent::encrypt);
  ASSERT_EQ(startup.encrypted({.server_end_point = "e"}, sink), Submitted::ok);
  sink.text.clear();
  EXPECT_EQ(startup.encrypted({}, sink), Submitted::wrong_state);
  EXPECT_EQ(startup.answer("pw", sink), Submitted::wrong_state);
  EXPECT_EQ(sink.text, "");
  // One byte of a digest is one.
  ASSERT_EQ(startup.next(plus_offer, sink).event, StartEvent::scram);
  EXPECT_TRUE(startup.is_bound());
}

TEST(PostgresStartup, a_password_that_saslprep_may_change_is_named) {
  StartClient client(plain());
  client.answers = false;
  client.written();
  ScramServer server("pw", "salt", 4096);
  client.receive(scram_offer);
  client.receive(authentication(11, server.challenge(client.last_body().substr(14 + 4))));
  EXPECT_EQ(client.startup.answer("e\xcc\x81", client.sink), Submitted::password_form);
  EXPECT_EQ(client.written(), "");
}

// ---- the table ---------------------------------------------------------------------------------

TEST(PostgresStartTable, the_diagram_in_the_documentation_is_that_of_the_table) {
  expect_drawn("docs/diagrams/postgres_start.md",
               draw_states("States of the start of a PostgreSQL session",
                           "katana/wire/postgres/startup_states.hpp", start_transitions,
                           start_state_names, start_cause_names));
}

TEST(PostgresStartTable, every_state_but_the_last_two_can_be_left_and_no_state_twice_by_a_cause) {
  std::set<StartState> left;
  std::set<std::pair<StartState, StartCause>> seen;
  for (const StartTransition& each : start_transitions) {
    left.insert(each.from);
    EXPECT_TRUE(seen.insert({each.from, each.cause}).second);
    EXPECT_EQ(state_after(each.from, each.cause), each.to);
    EXPECT_NE(each.to, StartState::idle);
  }
  EXPECT_EQ(left.size(), start_state_count - 2);
}

// Small numbers of iterations, for speed.
Limits few_iterations() {
  Limits limits;
  limits.scram_iterations_min = 1;
  return limits;
}
StartupOptions all_methods() {
  StartupOptions options = plain();
  options.methods = {.scram = true, .md5 = true, .cleartext = true, .nothing = true};
  return options;
}

// Brings a client into a state that waits for the server.
void bring(StartClient& client, StartState state) {
  ScramServer server("pw", "salt", 1);
  const auto challenge = [&] {
    client.written();
    client.receive(scram_offer);
    client.receive(authentication(11, server.challenge(client.last_body().substr(14 + 4))));
  };
  client.answers = state != StartState::password && state != StartState::proving;
  switch (state) {
    case StartState::negotiated: client.receive(version(version_3_0)); break;
    case StartState::password:
    case StartState::password_sent: client.receive(authentication(3)); break;
    case StartState::challenged: client.receive(scram_offer); break;
    case StartState::proving:
    case StartState::proven: challenge(); break;
    case StartState::verified:
      challenge();
      client.receive(authentication(12, server.signature(client.last_body())));
      break;
    case StartState::authenticated: client.receive(authentication(0)); break;
    case StartState::keyed: client.receive(authentication(0) + key(4)); break;
    default: break;
  }
  ASSERT_EQ(client.startup.state(), state);
}
constexpr StartState waiting[] = {StartState::greeted,       StartState::negotiated,
                                  StartState::password,      StartState::password_sent,
                                  StartState::challenged,    StartState::proving,
                                  StartState::proven,        StartState::verified,
                                  StartState::authenticated, StartState::keyed};

// Not the challenge and the signature, which depend on the messages before: see the next test.
TEST(PostgresStartTable, in_each_state_each_message_is_allowed_by_the_table_or_refused) {
  const std::vector<std::pair<std::vector<StartCause>, std::string>> messages = {
      {{StartCause::version}, version(version_3_0)},
      {{StartCause::ask_password}, authentication(3)},
      {{StartCause::ask_password}, authentication(5, "salt")},
      {{StartCause::ask_scram}, scram_offer},
      {{StartCause::accept, StartCause::skip}, authentication(0)},
      {{StartCause::setting}, test::setting("a", "b")},
      {{StartCause::notice}, test::report('N', "NOTICE", "00000")},
      {{StartCause::key}, key(4)},
      {{StartCause::ready}, test::ready()},
      {{StartCause::error}, test::report('E', "FATAL", "28000")},
  };
  for (const StartState state : waiting) {
    for (const auto& [causes, sent] : messages) {
      StartClient client(all_methods(), few_iterations());
      bring(client, state);
      bool is_allowed = false;
      for (const StartCause cause : causes) {
        is_allowed |= state_after(state, cause) != StartState::idle;
      }
      client.written();
      client.receive(sent);
      EXPECT_EQ(client.startup.refusal() == Refusal::none, is_allowed)
          << start_state_names[static_cast<std::size_t>(state)] << " " << sent;
      if (!is_allowed) {
        EXPECT_EQ(client.written(), "");
      }
    }
  }
}

TEST(PostgresStartTable, a_step_of_scram_out_of_order_is_refused) {
  for (const StartState state : waiting) {
    for (const std::uint32_t code : {11u, 12u}) {
      if (code == 11 && state == StartState::challenged) continue;
      if (code == 12 && state == StartState::proven) continue;
      StartClient client(all_methods(), few_iterations());
      bring(client, state);
      client.receive(authentication(code, "v=x"));
      EXPECT_EQ(client.startup.refusal(), Refusal::unexpected_message);
    }
  }
}

TEST(PostgresStartTable, a_message_of_a_session_is_refused_in_each_state) {
  const std::vector<std::string> messages = {
      message('1', ""),           message('2', ""),           message('3', ""),
      message('c', ""),           message('I', ""),           message('n', ""),
      message('s', ""),           message('d', "data"),       message('D', number(0, 2)),
      message('T', number(0, 2)), message('t', number(0, 2)), message('G', number(0, 3)),
      message('H', number(0, 3)), test::complete("OK"),       test::notification("a", "b")};
  for (const StartState state : waiting) {
    for (const std::string& sent : messages) {
      StartClient client(all_methods(), few_iterations());
      bring(client, state);
      client.receive(sent);
      EXPECT_EQ(client.startup.refusal(), Refusal::unexpected_message) << sent;
    }
  }
}

}  // namespace
}  // namespace katana::postgres

// SPDX-License-Identifier: Apache-2.0
