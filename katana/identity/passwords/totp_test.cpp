#include "katana/identity/passwords/totp.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace katana::passwords {
namespace {

// RFC 6238, appendix B: the secret's length depends on the hash.
TEST(TimeCodes, are_those_of_rfc_6238) {
  const std::string digits = "1234567890123456789012345678901234567890123456789012345678901234";
  const auto code = [&](crypto::Hash hash, std::size_t secret_bytes, std::int64_t now_s) {
    return totp(Bytes(digits).substr(0, secret_bytes), now_s, {.hash = hash, .digits = 8});
  };
  EXPECT_EQ(code(crypto::Hash::sha1, 20, 59), "94287082");
  EXPECT_EQ(code(crypto::Hash::sha256, 32, 59), "46119246");
  EXPECT_EQ(code(crypto::Hash::sha512, 64, 59), "90693936");
  EXPECT_EQ(code(crypto::Hash::sha1, 20, 1111111109), "07081804");
  EXPECT_EQ(code(crypto::Hash::sha1, 20, 20000000000), "65353130");
  EXPECT_EQ(code(crypto::Hash::sha256, 32, 1234567890), "91819424");
  EXPECT_EQ(code(crypto::Hash::sha512, 64, 2000000000), "38618901");
}

TEST(TimeCodes, are_right_one_step_before_and_after_and_once) {
  const Bytes secret = "12345678901234567890";
  const std::int64_t now_s = 1'800'000'000;
  for (const std::int64_t off_s : {-30, 0, 30}) {
    const auto step = verify_totp(secret, totp(secret, now_s + off_s), now_s, -1);
    ASSERT_TRUE(step) << off_s;
    EXPECT_EQ(*step, (now_s + off_s) / 30);
    EXPECT_FALSE(verify_totp(secret, totp(secret, now_s + off_s), now_s, *step));
  }
  const auto later = verify_totp(secret, totp(secret, now_s + 30), now_s, -1);
  EXPECT_FALSE(verify_totp(secret, totp(secret, now_s), now_s, *later));
  for (const std::int64_t off_s : {-60, 60}) {
    EXPECT_FALSE(verify_totp(secret, totp(secret, now_s + off_s), now_s, -1));
  }
  for (const char* code : {"", "12345", "1234567", "abcdef"}) {
    EXPECT_FALSE(verify_totp(secret, code, now_s, -1)) << code;
  }
}

TEST(TimeCodes, that_two_requests_have_at_a_time_are_right_for_one_of_them) {
  UsedSteps used(2);
  const Bytes secret = "12345678901234567890";
  const std::int64_t now_s = 1'800'000'000;
  const auto first = verify_totp(secret, totp(secret, now_s), now_s, -1);
  const auto second = verify_totp(secret, totp(secret, now_s), now_s, -1);
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(used.use("ann", *first));
  EXPECT_FALSE(used.use("ann", *second));
  EXPECT_FALSE(used.use("ann", *first - 1));
  EXPECT_TRUE(used.use("bob", *first));
  EXPECT_TRUE(used.use("ann", *first + 1));
  EXPECT_FALSE(used.use("cid", *first)) << "a full table refuses, and forgets nothing that counts";
  EXPECT_TRUE(used.use("cid", *first + 3)) << "a step that is too old for any code is forgotten";
  EXPECT_FALSE(used.use("bob", *first)) << "and stays used";
}

TEST(TimeCodes, have_a_uri_that_apps_read) {
  EXPECT_EQ(totp_uri("My Shop", "ann@example.org", "12345678901234567890"),
            "otpauth://totp/My%20Shop:ann%40example.org?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
            "&issuer=My%20Shop&algorithm=SHA1&digits=6&period=30");
}

TEST(TimeCodes, that_are_more_than_two_windows_behind_the_latest_are_used_up) {
  UsedSteps used(8);
  EXPECT_TRUE(used.use("ann", 100, {.window = 3}));
  EXPECT_TRUE(used.use("bob", 94, {.window = 3}));
  EXPECT_FALSE(used.use("cid", 93, {.window = 3}));
}

// RFC 3986 §2.3.
TEST(TimeCodes, have_a_uri_that_escapes_all_but_letters_digits_and_four_signs) {
  const Bytes plain = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-._~";
  for (int code = 0; code < 256; ++code) {
    const auto character = static_cast<char>(code);
    const std::string account(1, character);
    const std::string shown = plain.contains(character) ? account : fmt::format("%{:02X}", code);
    EXPECT_TRUE(totp_uri("x", account, "f").starts_with("otpauth://totp/x:" + shown + "?")) << code;
  }
}

// RFC 4648 §10.
TEST(Base32, is_that_of_rfc_4648) {
  const std::pair<Bytes, Bytes> vectors[] = {
      {"", ""},         {"f", "MY"},         {"fo", "MZXQ"},
      {"foo", "MZXW6"}, {"foob", "MZXW6YQ"}, {"foobar", "MZXW6YTBOI"}};
  for (const auto& [octets, text] : vectors) {
    EXPECT_EQ(encode_base32(octets), text);
    EXPECT_EQ(decode_base32(text), octets);
  }
  EXPECT_EQ(decode_base32("mzxw6==="), "foo");
  EXPECT_FALSE(decode_base32("M1"));
}

}  // namespace
}  // namespace katana::passwords

// SPDX-License-Identifier: Apache-2.0
