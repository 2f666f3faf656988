#include "katana/wire/tls/machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "katana/wire/tls/machine_fixture_test.hpp"

namespace katana::tls {
namespace {

using Events = std::vector<Event>;

const Events whole_talk{Event::hello, Event::opened, Event::bytes, Event::ended};

class EachVersion : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Tls, EachVersion, testing::Values(TLS1_2_VERSION, TLS1_3_VERSION));

// ---- the handshake, and data ------------------------------------------------------------------

TEST_P(EachVersion, plaintext_arrives_in_both_directions_and_the_end_is_said) {
  Bench bench({.version = GetParam()});
  bench.pass();
  ASSERT_TRUE(bench.client.opened());
  EXPECT_EQ(bench.machine.version(), GetParam());
  bench.client.send("a question");
  bench.pass();
  bench.send("an answer");
  bench.machine.end(bench.output);
  bench.client.end();
  bench.pass();
  EXPECT_EQ(bench.received, "a question");
  EXPECT_EQ(bench.client.received(), "an answer");
  EXPECT_TRUE(bench.client.ended());
  EXPECT_EQ(bench.events, whole_talk);
  EXPECT_FALSE(bench.machine.end_of_input());
}

TEST_P(EachVersion, pieces_of_any_size_give_the_same) {
  for (const std::size_t piece : {1u, 2u, 3u, 5u, 16u, 100u, 1000u}) {
    Bench bench({.version = GetParam()});
    bench.pass(piece);
    bench.client.send(std::string(5'000, 'q'));
    bench.client.end();
    bench.pass(piece);
    EXPECT_EQ(bench.events, whole_talk) << "pieces of " << piece;
    EXPECT_EQ(bench.received, std::string(5'000, 'q'));
  }
}

TEST_P(EachVersion, a_cut_at_any_place_changes_nothing) {
  // Every place of the first record, and a sample of the others, which come one by one above.
  for (std::size_t cut = 0;; cut += cut < 64 ? 1 : 11) {
    Bench bench({.version = GetParam()});
    std::size_t passed = 0;
    bool was_cut = false;
    for (int round = 0; round < 4; ++round) {
      if (bench.client.opened() && round >= 2 && bench.received.empty()) {
        bench.client.send("question");
        bench.client.end();
      }
      const std::string up = bench.client.take_output();
      const std::size_t here = cut >= passed && cut < passed + up.size() ? cut - passed : up.size();
      was_cut = was_cut || here != up.size();
      bench.give(Bytes(up).substr(0, here));
      if (here != up.size()) bench.give(Bytes(up).substr(here));
      passed += up.size();
      bench.client.receive(take_all(bench.output));
    }
    ASSERT_EQ(bench.events, whole_talk) << "cut at " << cut;
    ASSERT_EQ(bench.received, "question");
    if (!was_cut) {
      EXPECT_GT(cut, 300u);  // otherwise the loop did not cut the flight
      return;
    }
  }
}

TEST(TlsMachine, records_that_arrive_together_are_given_together) {
  Bench bench;
  bench.pass();
  for (int count = 0; count < 3; ++count) bench.client.send("abc");
  const std::string up = bench.client.take_output();
  std::array<char, 4096> plain;
  const Step step = bench.machine.next(up, plain, bench.output, Instant{1});
  EXPECT_EQ(step.event, Event::bytes);
  EXPECT_EQ(step.consumed, up.size());
  EXPECT_EQ(std::string(plain.data(), step.produced), "abcabcabc");
}

TEST(TlsMachine, plaintext_larger_than_the_room_given_comes_in_several_steps) {
  Bench bench;
  bench.pass();
  const std::string question = std::string(9'000, 'a') + std::string(9'000, 'b');
  bench.client.send(question);
  std::string up = bench.client.take_output();
  std::array<char, 1000> plain;
  std::string received;
  for (Step step{Event::bytes}; step.event == Event::bytes;) {
    step = bench.machine.next(up, plain, bench.output, Instant{1});
    up.erase(0, step.consumed);
    received.append(plain.data(), step.produced);
  }
  EXPECT_TRUE(received == question);
}

TEST(TlsMachine, what_is_larger_than_a_record_is_sealed_in_several) {
  Bench bench;
  bench.pass();
  const std::string answer(100'000, 'x');
  EXPECT_EQ(bench.machine.seal(answer, bench.output), record_bytes_max);
  bench.send(Bytes(answer).substr(record_bytes_max));
  bench.pass();
  EXPECT_TRUE(bench.client.received() == answer);
}

// ---- admission --------------------------------------------------------------------------------

TEST_P(EachVersion, nothing_is_answered_before_the_handshake_is_admitted) {
  Bench bench({.version = GetParam()});
  bench.admits = false;
  bench.pass(7);
  EXPECT_EQ(bench.events, Events{Event::hello});
  EXPECT_TRUE(bench.output.empty());
  bench.give({});
  EXPECT_EQ(bench.events, Events{Event::hello});
  bench.admits = true;
  bench.give({});
  bench.pass();
  EXPECT_TRUE(bench.client.opened());
}

// ---- ends -------------------------------------------------------------------------------------

TEST_P(EachVersion, an_end_without_close_notify_is_known_as_a_truncation) {
  Bench bench({.version = GetParam()});
  EXPECT_FALSE(bench.machine.end_of_input());  // before the handshake there is nothing to cut
  bench.pass();
  bench.client.send("half of");
  bench.pass();
  EXPECT_TRUE(bench.machine.end_of_input());
}

TEST(TlsMachine, the_end_is_said_once_and_nothing_can_be_sealed_after_it) {
  Bench bench;
  bench.pass();
  bench.machine.end(bench.output);
  const std::size_t said = bench.output.pending();
  EXPECT_GT(said, 0u);
  bench.machine.end(bench.output);
  EXPECT_EQ(bench.output.pending(), said);
  EXPECT_FALSE(bench.machine.can_seal());
  EXPECT_EQ(bench.machine.seal("more", bench.output), 0u);
  EXPECT_FALSE(bench.machine.has_failed()) << "that is the caller's business, and no failure";
  EXPECT_EQ(bench.output.pending(), said);
}

TEST(TlsMachine, an_end_in_the_midst_of_the_handshake_is_not_said) {
  Bench bench;
  bench.give(Bytes(bench.client.take_output()).substr(0, 20));
  bench.machine.end(bench.output);
  EXPECT_TRUE(bench.output.empty());
}

TEST(TlsMachine, what_comes_behind_close_notify_is_consumed_and_forgotten) {
  Bench bench;
  bench.pass();
  bench.client.end();
  bench.pass();
  std::array<char, 16> plain;
  const Step step = bench.machine.next("more", plain, bench.output, Instant{1});
  EXPECT_EQ(step.event, Event::ended);
  EXPECT_EQ(step.consumed, 4u);
}

// ---- clients that are wrong -------------------------------------------------------------------

Failure failure_after(Bytes bytes) {
  Bench bench;
  bench.give(bytes);
  EXPECT_EQ(bench.machine.has_failed(), !bench.events.empty());
  return bench.machine.failure();
}

TEST(TlsMachine, bytes_that_are_no_tls_are_named) {
  EXPECT_EQ(failure_after("SSH-2.0-OpenSSH_9.2\r\n"), Failure::not_tls);
  EXPECT_EQ(failure_after(std::string(64, '\0')), Failure::not_tls);
  EXPECT_EQ(failure_after("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), Failure::plain_http);
  EXPECT_EQ(failure_after("POST / HTTP/1.1\r\n"), Failure::plain_http);
  EXPECT_EQ(failure_after("\x16\x03\x01"), Failure::none);  // may yet become one
}

TEST(TlsMachine, a_failure_stays_and_is_said_to_the_peer) {
  Bench bench;
  bench.pass();
  bench.client.send("question");
  std::string up = bench.client.take_output();
  up.back() = static_cast<char>(up.back() ^ 1);
  bench.give(up);
  EXPECT_EQ(bench.events.back(), Event::failed);
  EXPECT_EQ(bench.machine.failure(), Failure::broken_record);
  EXPECT_TRUE(bench.received.empty());
  EXPECT_FALSE(bench.output.empty());
  EXPECT_EQ(bench.machine.seal("answer", bench.output), 0u);
  bench.client.receive(take_all(bench.output));
  EXPECT_TRUE(bench.client.failed());
  bench.client.send("again");
  bench.give(bench.client.take_output());
  EXPECT_EQ(bench.events.back(), Event::failed);
}

TEST(TlsMachine, plaintext_in_front_of_a_broken_record_is_given_first) {
  Bench bench;
  bench.pass();
  bench.client.send("whole");
  std::string up = bench.client.take_output();
  bench.client.send("broken");
  up += bench.client.take_output();
  up.back() = static_cast<char>(up.back() ^ 1);
  bench.give(up);
  EXPECT_EQ(bench.received, "whole");
  EXPECT_EQ(bench.events.back(), Event::failed);
}

TEST(TlsMachine, any_changed_byte_of_a_handshake_is_noticed) {
  for (std::size_t at = 0;; ++at) {
    Bench bench;
    std::string up = bench.client.take_output();
    if (at >= up.size()) break;
    up[at] = static_cast<char>(up[at] ^ 0x41);
    bench.give(up);
    bench.pass();
    // The hashes of both sides differ: the handshake cannot complete. But the record's version,
    // which has no meaning (RFC 8446 §5.1), is not hashed.
    ASSERT_EQ(bench.client.opened() && bench.machine.opened(), at == 2) << at;
  }
}

TEST(TlsMachine, a_record_in_the_clear_behind_the_handshake_is_a_broken_record) {
  Bench bench({.version = TLS1_3_VERSION});
  bench.pass();
  bench.give(Bytes("\x16\x03\x03\x00\x04\x01\x00\x00\x00", 9));
  EXPECT_EQ(bench.events.back(), Event::failed);
  EXPECT_EQ(bench.machine.failure(), Failure::broken_record);
}

TEST(TlsMachine, a_client_that_is_too_old_is_told_why) {
  Bench bench({.version = TLS1_1_VERSION});
  bench.pass();
  EXPECT_EQ(bench.machine.failure(), Failure::version);
  EXPECT_TRUE(bench.client.failed());
}

TEST(TlsMachine, a_client_without_a_cipher_in_common_is_told_why) {
  const TestCertificate certificate;
  const TestContext context = make_test_context(certificate);
  SSL_CTX_set_cipher_list(context.get(), "ECDHE-ECDSA-AES256-GCM-SHA384");
  Bench bench({.version = TLS1_2_VERSION, .ciphers_1_2 = "ECDHE-ECDSA-AES128-GCM-SHA256"},
              *context);
  bench.pass();
  EXPECT_EQ(bench.machine.failure(), Failure::no_shared_cipher);
}

TEST(TlsMachine, a_message_out_of_its_place_is_a_failure_of_another_kind) {
  Bench bench;
  bench.give(Bytes("\x16\x03\x01\x00\x04\x0e\x00\x00\x00", 9));  // the end of a server's hello
  EXPECT_TRUE(bench.machine.has_failed());
  EXPECT_EQ(bench.machine.failure(), Failure::other);
}

TEST(TlsMachine, an_alert_of_the_peer_is_a_failure) {
  Bench bench;
  bench.give(bench.client.take_output());
  bench.give(Bytes("\x15\x03\x03\x00\x02\x02\x30", 7));  // fatal: unknown_ca
  EXPECT_EQ(bench.machine.failure(), Failure::peer_alert);
}

// RFC 9113 §9.2.1
TEST(TlsMachine, renegotiation_is_refused_and_ends_the_connection) {
  for (const char* const protocol : {"h2", "http/1.1"}) {
    Bench bench({.version = TLS1_2_VERSION, .protocols = {protocol}});
    bench.pass();
    bench.client.send("b");
    SSL_renegotiate(bench.client.ssl());
    SSL_do_handshake(bench.client.ssl());
    bench.give(bench.client.take_output());
    EXPECT_EQ(bench.received, "b");
    EXPECT_EQ(bench.machine.failure(), Failure::renegotiation);
    EXPECT_EQ(bench.events, (Events{Event::hello, Event::opened, Event::bytes, Event::failed}));
    EXPECT_GT(bench.output.pending(), 0u);  // no_renegotiation, a warning
    EXPECT_FALSE(bench.machine.can_seal());
  }
}

TEST(TlsMachine, new_keys_are_agreed_on_in_between) {
  Bench bench({.version = TLS1_3_VERSION});
  bench.pass();
  SSL_key_update(bench.client.ssl(), SSL_KEY_UPDATE_REQUESTED);
  bench.client.send("with new keys");
  bench.pass();
  bench.send("so be it");
  bench.pass();
  EXPECT_EQ(bench.received, "with new keys");
  EXPECT_EQ(bench.client.received(), "so be it");
}

// A context may have SSL_read() return behind each record that is no data.
TEST(TlsMachine, a_record_without_data_does_not_hold_up_the_bytes_behind_it) {
  const TestCertificate certificate;
  const TestContext context = make_test_context(certificate);
  SSL_CTX_clear_mode(context.get(), SSL_MODE_AUTO_RETRY);
  Bench bench({.version = TLS1_3_VERSION}, *context);
  bench.pass();
  for (int count = 0; count < 3; ++count) {
    SSL_key_update(bench.client.ssl(), SSL_KEY_UPDATE_NOT_REQUESTED);
    SSL_do_handshake(bench.client.ssl());
  }
  bench.client.send("behind");
  const std::string up = bench.client.take_output();
  std::array<char, 64> plain;
  const Step step = bench.machine.next(up, plain, bench.output, Instant{1});
  EXPECT_EQ(step.event, Event::bytes);
  EXPECT_EQ(step.consumed, up.size());
  EXPECT_EQ(std::string(plain.data(), step.produced), "behind");
  EXPECT_EQ(bench.machine.next({}, plain, bench.output, Instant{1}).event, Event::need_bytes);
}

// ---- memory -----------------------------------------------------------------------------------

TEST(TlsMachine, without_room_nothing_is_sealed_and_nothing_is_lost) {
  Bench bench;
  bench.pass();
  std::vector<char*> taken;
  while (bench.pool.available() > 3) taken.push_back(bench.pool.take());
  EXPECT_EQ(bench.machine.seal("answer", bench.output), 0u);
  EXPECT_TRUE(bench.output.empty());
  EXPECT_TRUE(bench.machine.can_seal());
  for (char* const block : taken) bench.pool.give(block);
  EXPECT_EQ(bench.machine.seal("answer", bench.output), 6u);
  bench.pass();
  EXPECT_EQ(bench.client.received(), "answer");
}

TEST(TlsMachine, a_handshake_that_finds_no_room_fails) {
  Bench bench;
  std::vector<char*> taken;
  while (bench.pool.available() > 0) taken.push_back(bench.pool.take());
  bench.give(bench.client.take_output());
  EXPECT_TRUE(bench.machine.has_failed());
  for (char* const block : taken) bench.pool.give(block);
}

TEST(TlsMachine, every_failure_has_a_name_of_its_own) {
  std::vector<std::string> names;
  for (std::size_t index = 0; index < failure_count; ++index) {
    names.emplace_back(name_of(static_cast<Failure>(index)));
    EXPECT_FALSE(names.back().empty());
  }
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

}  // namespace
}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
