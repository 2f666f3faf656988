#include "katana/wire/postgres/scram.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "katana/wire/postgres/md5.hpp"
#include "katana/wire/postgres/password_form.hpp"
#include "katana/wire/postgres/server_test.hpp"

namespace katana::postgres {
namespace {

using test::nonce;
constexpr Bytes nonce_text = "MDEyMzQ1Njc4OWFiY2RlZmdo";
const std::string salt_text = "c2FsdHNhbHQ=";

using Memory = std::array<char, scram_message_bytes_max>;

std::string first_of(const Scram& scram) {
  Memory memory;
  return std::string(scram.write_first(memory));
}
std::string proof_of(Scram& scram, Bytes password) {
  Memory memory;
  return std::string(scram.write_proof(derive_scram_keys(password, scram.challenge()), memory));
}
std::string challenge(const std::string& iterations = "4096") {
  return "r=" + std::string(nonce_text) + "more,s=" + salt_text + ",i=" + iterations;
}
Refusal read(const std::string& message) {
  return Scram(nonce, BindingFlag::unsupported, {}).read_challenge(message, {});
}

// RFC 7677 §3.
TEST(PostgresScram, keys_and_proofs_are_those_of_rfc_7677) {
  const std::string salt = *decode_base64("W22ZaJ0SNY7soEsUEjb6gQ==");
  const std::string messages =
      "n=user,r=rOprNGfwEbeRWgbNEkqO,"
      "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,"
      "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
  const ScramProof made = prove_scram(derive_scram_keys("pencil", {salt, 4096}), messages);
  EXPECT_EQ(encode_base64({made.proof.data(), made.proof.size()}),
            "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=");
  EXPECT_EQ(encode_base64({made.signature.data(), made.signature.size()}),
            "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
}

TEST(PostgresScram, a_server_that_knows_the_password_and_the_client_believe_one_another) {
  Scram scram(nonce, BindingFlag::unsupported, {});
  test::ScramServer server("secret", "salty", 4096);
  EXPECT_EQ(first_of(scram), "n,,n=,r=" + std::string(nonce_text));
  ASSERT_EQ(scram.read_challenge(server.challenge(first_of(scram)), {}), Refusal::none);
  EXPECT_EQ(scram.challenge().salt, "salty");
  EXPECT_EQ(scram.challenge().iterations, 4096u);
  const std::string signature = server.signature(proof_of(scram, "secret"));
  ASSERT_NE(signature, "");
  EXPECT_EQ(scram.verify(signature), Refusal::none);
}

TEST(PostgresScram, a_wrong_password_convinces_no_server) {
  Scram scram(nonce, BindingFlag::unsupported, {});
  test::ScramServer server("secret", "salty", 4096);
  ASSERT_EQ(scram.read_challenge(server.challenge(first_of(scram)), {}), Refusal::none);
  EXPECT_EQ(server.signature(proof_of(scram, "Secret")), "");
}

TEST(PostgresScram, a_server_that_does_not_know_the_password_is_refused) {
  Scram scram(nonce, BindingFlag::unsupported, {});
  test::ScramServer server("secret", "salty", 4096);
  ASSERT_EQ(scram.read_challenge(server.challenge(first_of(scram)), {}), Refusal::none);
  std::string signature = server.signature(proof_of(scram, "secret"));
  EXPECT_EQ(scram.verify("v=" + encode_base64(std::string(32, '\0'))), Refusal::wrong_signature);
  // Each bit counts.
  const std::string octets = *decode_base64(signature.substr(2));
  for (std::size_t bit = 0; bit < 256; ++bit) {
    std::string other = octets;
    other[bit / 8] = static_cast<char>(other[bit / 8] ^ (1 << bit % 8));
    EXPECT_EQ(scram.verify("v=" + encode_base64(other)), Refusal::wrong_signature);
  }
  EXPECT_EQ(scram.verify("e=invalid-proof"), Refusal::scram_error);
  for (const std::string& malformed :
       {std::string(), std::string("v="), "v=" + encode_base64(std::string(31, 'a')),
        "v=" + encode_base64(std::string(33, 'a')), signature + ",", signature + ",x=y",
        "x" + signature.substr(1), "v:" + signature.substr(2),
        "v=" + encode_base64(std::string(100, 'a')), signature.substr(2), " " + signature,
        signature + "="}) {
    EXPECT_EQ(scram.verify(malformed), Refusal::bad_scram) << malformed;
  }
  EXPECT_EQ(scram.verify(signature), Refusal::none);
}

TEST(PostgresScram, a_bound_exchange_proves_the_certificate_that_the_client_saw) {
  const std::string seen(32, 'c');
  const std::string other(32, 'm');
  Scram scram(nonce, BindingFlag::bound, seen);
  test::ScramServer server("secret", "salty", 4096);
  EXPECT_EQ(first_of(scram), "p=tls-server-end-point,,n=,r=" + std::string(nonce_text));
  ASSERT_EQ(scram.read_challenge(server.challenge(first_of(scram)), {}), Refusal::none);
  const std::string proof = proof_of(scram, "secret");
  // A server in the middle has another certificate, and the real server sees it.
  EXPECT_EQ(server.signature(proof, other), "");
  EXPECT_EQ(scram.verify(server.signature(proof, seen)), Refusal::none);
}

TEST(PostgresScram, the_flag_tells_a_server_that_its_offer_was_removed) {
  Scram scram(nonce, BindingFlag::not_offered, {});
  test::ScramServer server("secret", "salty", 4096);
  EXPECT_EQ(first_of(scram), "y,,n=,r=" + std::string(nonce_text));
  ASSERT_EQ(scram.read_challenge(server.challenge(first_of(scram)), {}), Refusal::none);
  const std::string proof = proof_of(scram, "secret");
  EXPECT_TRUE(proof.starts_with("c=eSws,"));  // "y,,": the proof covers the flag
  EXPECT_EQ(scram.verify(server.signature(proof)), Refusal::none);
}

TEST(PostgresScram, a_malformed_challenge_is_refused_with_its_reason) {
  const std::string n = "r=" + std::string(nonce_text) + "more";
  const std::string s = ",s=" + salt_text;
  EXPECT_EQ(read(challenge()), Refusal::none);
  for (const std::string& message : {std::string(),
                                     n,
                                     n + s,
                                     n + s + ",i=",
                                     n + s + ",i=0",
                                     n + s + ",i=04096",
                                     n + s + ",i=-4096",
                                     n + s + ",i=4096x",
                                     n + s + ",i=4096,",
                                     n + s + ",i=4096,x=y",
                                     n + ",s=,i=4096",
                                     n + ",s=c2Fsd,i=4096",
                                     n + ",s=!2FsdHNhbHQ=,i=4096",
                                     n + ",i=4096" + s,
                                     "m=x," + challenge(),
                                     "x" + challenge().substr(1),
                                     "r:" + challenge().substr(2),
                                     n + ",x=" + salt_text + ",i=4096",
                                     n + s + ",x=4096",
                                     std::string("r"),
                                     "r= " + challenge().substr(2),
                                     n + s + ",i=99999999999999999999",
                                     n + ",s=" + encode_base64(std::string(257, 's')) + ",i=4096",
                                     n + std::string(1000, 'x') + s + ",i=4096"}) {
    EXPECT_EQ(read(message), Refusal::bad_scram) << message;
  }
  EXPECT_EQ(read(n + ",s=" + encode_base64(std::string(256, 's')) + ",i=4096"), Refusal::none);
}

TEST(PostgresScram, a_nonce_that_is_not_an_extension_of_the_clients_is_refused) {
  const std::string rest = ",s=" + salt_text + ",i=4096";
  EXPECT_EQ(read("r=" + std::string(nonce_text) + rest), Refusal::foreign_nonce);
  EXPECT_EQ(read("r=x" + std::string(nonce_text) + rest), Refusal::foreign_nonce);
  EXPECT_EQ(read("r=" + std::string(nonce_text.substr(1)) + "xxx" + rest), Refusal::foreign_nonce);
}

TEST(PostgresScram, iterations_have_a_least_and_a_most) {
  EXPECT_EQ(read(challenge("4095")), Refusal::too_few_iterations);
  EXPECT_EQ(read(challenge("1")), Refusal::too_few_iterations);
  EXPECT_EQ(read(challenge("4096")), Refusal::none);
  EXPECT_EQ(read(challenge("600000")), Refusal::none);
  EXPECT_EQ(read(challenge("600001")), Refusal::too_many_iterations);
  EXPECT_EQ(read(challenge("999999999")), Refusal::too_many_iterations);
}

TEST(PostgresScram, a_number_or_salt_beyond_its_size_is_refused) {
  EXPECT_EQ(read(challenge("4294971392")), Refusal::bad_scram);  // 4096 in 32 bits
  EXPECT_EQ(read(challenge("1000000000")), Refusal::bad_scram);
  const std::string n = "r=" + std::string(nonce_text);
  const std::string salt = ",s=" + encode_base64(std::string(600, 's'));
  EXPECT_EQ(read(n + "x" + salt + ",i=4096"), Refusal::bad_scram);
}

TEST(PostgresScram, a_nonce_has_printable_characters) {
  const auto with = [](const std::string& more) {
    return read("r=" + std::string(nonce_text) + more + ",s=" + salt_text + ",i=4096");
  };
  EXPECT_EQ(with("!~"), Refusal::none);
  for (const char* more : {" ", "\x7f", "\x1f", "\xc3\xa4"}) {
    EXPECT_EQ(with(more), Refusal::bad_scram) << more;
  }
}

TEST(PostgresScram, the_longest_messages_have_room) {
  const std::string binding(scram_binding_bytes_max, 'b');
  Scram scram(nonce, BindingFlag::bound, binding);
  const std::string rest = ",s=" + salt_text + ",i=4096";
  std::string message = "r=" + std::string(nonce_text);
  message += std::string(scram_server_first_max - message.size() - rest.size(), 'x') + rest;
  ASSERT_EQ(message.size(), scram_server_first_max);
  ASSERT_EQ(scram.read_challenge(message, {}), Refusal::none);
  EXPECT_LE(proof_of(scram, "secret").size(), scram_message_bytes_max);
}

// Python: unicodedata.normalize("NFKC", …) and the tables of stringprep.
TEST(PostgresPassword, a_password_that_saslprep_does_not_change_is_taken_as_it_is) {
  for (const Bytes password : {Bytes(""), Bytes("pencil"), Bytes(" ~"), Bytes("\x01\x7f"),
                               Bytes("pa\xffss"), Bytes("\xc3\xa9"),
                               Bytes("Stra\xc3\x9f"
                                     "e"),
                               Bytes("\xd0\xbf\xd0\xb0\xd1\x80\xd0\xbe"),
                               Bytes("\xe5\xaf\x86\xe7\xa0\x81"), Bytes("\xe2\x82\xac")}) {
    EXPECT_TRUE(is_prepared_password(password)) << password;
  }
}
TEST(PostgresPassword, a_password_that_saslprep_may_change_is_not_taken) {
  for (const Bytes password : {Bytes("a\xc2\xa0"
                                     "b"),  // no-break space becomes a space
                               Bytes("a\xc2\xad"
                                     "b"),          // soft hyphen is removed
                               Bytes("e\xcc\x81"),  // e and a combining accent become one character
                               Bytes("\xc2\xaa"),   // ª becomes a
                               Bytes("\xe2\x85\xa8"),       // Ⅸ becomes IX
                               Bytes("\xef\xbd\x81"),       // full-width a becomes a
                               Bytes("\xd7\x90"),           // from right to left: further rules
                               Bytes("\xf0\x9f\x94\x91")})  // not of Unicode 3.2
  {
    EXPECT_FALSE(is_prepared_password(password)) << password;
  }
}

// RFC 1321 §A.5.
TEST(PostgresMd5, digests_are_those_of_rfc_1321) {
  const auto digest = [](Bytes text) {
    const Md5Text made = md5_of(text.substr(0, text.size() / 2), text.substr(text.size() / 2));
    return std::string(made.begin(), made.end());
  };
  EXPECT_EQ(digest(""), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(digest("abc"), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(digest("message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
  EXPECT_EQ(digest("1234567890123456789012345678901234567890"
                   "1234567890123456789012345678901234567890"),
            "57edf4a22be3c955ac49da2e2107b67a");
}

TEST(PostgresMd5, an_answer_covers_user_password_and_salt) {
  const Md5Answer made = md5_answer("katana", "secret", "\x01\x02\x03\x04");
  EXPECT_EQ(std::string(made.begin(), made.end()), "md5f64783379c4ff30fe91c81be7e7f5c9f");
}

}  // namespace
}  // namespace katana::postgres

// SPDX-License-Identifier: Apache-2.0
