#include <gtest/gtest.h>

#include <climits>
#include <string>

#include "katana/base/crypto/aead.hpp"
#include "katana/base/crypto/digest.hpp"

namespace katana::crypto {
namespace {

std::string octets_of(Bytes hex) {
  std::string octets;
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  for (std::size_t index = 0; index + 1 < hex.size(); index += 2) {
    octets.push_back(static_cast<char>(digit(hex[index]) << 4 | digit(hex[index + 1])));
  }
  return octets;
}
std::string hex_of(Bytes octets) {
  std::string hex;
  for (const char octet : octets) {
    hex.push_back("0123456789abcdef"[static_cast<unsigned char>(octet) >> 4]);
    hex.push_back("0123456789abcdef"[octet & 15]);
  }
  return hex;
}

// FIPS 180-4, the examples of "abc".
TEST(Digests, of_abc_are_those_of_the_standard) {
  EXPECT_EQ(hex_of(sha256("abc").bytes()),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex_of(sha384("abc").bytes()),
            "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed"
            "8086072ba1e7cc2358baeca134c825a7");
  EXPECT_EQ(hex_of(sha512("abc").bytes()),
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
            "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f");
}

// RFC 4231 §4.2, §4.3 and §4.7 (a key that is longer than a block).
TEST(HmacOf, vectors_are_those_of_rfc_4231) {
  const std::string key(20, '\x0b');
  EXPECT_EQ(hex_of(Hmac(Hash::sha256, key).of("Hi There").bytes()),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hex_of(Hmac(Hash::sha384, key).of("Hi There").bytes()),
            "afd03944d84895626b0825f4ab46907f15f9dadbe4101ec682aa034c7cebc59c"
            "faea9ea9076ede7f4af152e8b2fa9cb6");
  EXPECT_EQ(hex_of(Hmac(Hash::sha512, key).of("Hi There").bytes()),
            "87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cde"
            "daa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854");
  EXPECT_EQ(hex_of(Hmac(Hash::sha256, "Jefe").of("what do ya want for nothing?").bytes()),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hex_of(Hmac(Hash::sha256, std::string(131, '\xaa'))
                       .of("Test Using Larger Than Block-Size Key - Hash Key First")
                       .bytes()),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

// RFC 2202 §3, test 6: a key that is longer than a block of SHA-1, and shorter than one of SHA-512.
TEST(HmacOf, a_key_is_hashed_if_it_is_longer_than_a_block_and_not_if_it_is_as_long) {
  EXPECT_EQ(hex_of(Hmac(Hash::sha1, std::string(80, '\xaa'))
                       .of("Test Using Larger Than Block-Size Key - Hash Key First")
                       .bytes()),
            "aa4ae5e15272d00e95705637ce8a3b55ed402112");
  // printf 'Hi There' | openssl dgst -sha256 -mac HMAC -macopt hexkey:0b0b…
  EXPECT_EQ(hex_of(Hmac(Hash::sha256, std::string(64, '\x0b')).of("Hi There").bytes()),
            "21cd586aeca0579d99a1c938127c92525a371f807bc5ba6eb78bc825bd4f2be3");
  EXPECT_EQ(hex_of(Hmac(Hash::sha512, std::string(128, '\x0b')).of("Hi There").bytes()),
            "e0853e8ef09d70a6ae8431a46c5c87590e12ad57f6ab11504a15bf500b431c11"
            "2501952fe1fdcdc6464e3b16d26a070252abd243a0efafb5cd46fc11c6934658");
}

// RFC 7914 §11.
TEST(Pbkdf2, keys_are_those_of_rfc_7914) {
  std::string key(64, '\0');
  pbkdf2(Hash::sha256, "passwd", "salt", 1, key);
  EXPECT_EQ(hex_of(key),
            "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc"
            "49ca9cccf179b645991664b39d77ef317c71b845b1e30bd509112041d3a19783");
  pbkdf2(Hash::sha256, "Password", "NaCl", 80000, key);
  EXPECT_EQ(hex_of(key),
            "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56"
            "a1d425a1225833549adb841b51c9b3176a272bdebba1d078478f62b397f33c8d");
}

TEST(Pbkdf2, an_empty_password_is_one_of_no_bytes) {
  std::string of_null(32, '\0'), of_empty(32, '\0');
  pbkdf2(Hash::sha256, Bytes(), "salt", 2, of_null);
  pbkdf2(Hash::sha256, "", "salt", 2, of_empty);
  EXPECT_EQ(of_null, of_empty);
  EXPECT_EQ(hex_of(of_empty), "62384466264daadc4144018c6bd864648272b34da8980d31521ffcce92ae003b");
}

TEST(HmacOf, a_cut_or_changed_mac_does_not_match) {
  const Hmac hmac(Hash::sha256, "key");
  std::string mac(hmac.of("message").bytes());
  EXPECT_TRUE(hmac.matches("message", mac));
  EXPECT_FALSE(hmac.matches("message", Bytes(mac).substr(0, 16)));
  EXPECT_FALSE(hmac.matches("messages", mac));
  mac[31] ^= 1;
  EXPECT_FALSE(hmac.matches("message", mac));
}

// RFC 5869, A.1 and A.3 (neither salt nor info).
TEST(Hkdf, vectors_are_those_of_rfc_5869) {
  const std::string secret(22, '\x0b');
  EXPECT_EQ(hex_of(hkdf(Hash::sha256, secret, octets_of("000102030405060708090a0b0c"),
                        octets_of("f0f1f2f3f4f5f6f7f8f9"), 42)
                       .reveal()),
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"
            "34007208d5b887185865");
  EXPECT_EQ(hex_of(hkdf(Hash::sha256, secret, {}, {}, 42).reveal()),
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"
            "9d201395faa4b61a96c8");
}

// C2SP, XAES-256-GCM: both values of the bit that CMAC's subkey depends on.
TEST(AeadOf, vectors_are_those_of_xaes_256_gcm) {
  const Bytes nonce = "ABCDEFGHIJKLMNOPQRSTUVWX";
  const Bytes plain = "XAES-256-GCM";
  EXPECT_EQ(hex_of(Aead(std::string(32, '\x01')).seal_with(nonce, plain, {})),
            hex_of(nonce) + "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271");
  EXPECT_EQ(hex_of(Aead(std::string(32, '\x03')).seal_with(nonce, plain, "c2sp.org/XAES-256-GCM")),
            hex_of(nonce) + "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d");
}

TEST(AeadOf, what_is_larger_than_openssl_takes_is_refused_unread) {
  const std::string little = "little";
  EXPECT_FALSE(Aead(std::string(32, '\x07')).open(Bytes(little.data(), INT_MAX / 2), ""));
}

TEST(AeadOf, whatever_is_changed_is_not_opened) {
  const Aead aead(std::string(32, '\x07'));
  const std::string sealed = aead.seal("plain", "use");
  EXPECT_EQ(aead.open(sealed, "use"), "plain");
  EXPECT_FALSE(aead.open(sealed, "other use"));
  EXPECT_FALSE(Aead(std::string(32, '\x08')).open(sealed, "use"));
  for (std::size_t index = 0; index < sealed.size(); ++index) {
    std::string changed = sealed;
    changed[index] ^= 1;
    EXPECT_FALSE(aead.open(changed, "use")) << index;
    EXPECT_FALSE(aead.open(Bytes(sealed).substr(0, index), "use")) << index;
  }
  EXPECT_NE(aead.seal("plain", "use"), sealed);
  EXPECT_EQ(aead.open(aead.seal("", ""), ""), "");
}

}  // namespace
}  // namespace katana::crypto

// SPDX-License-Identifier: Apache-2.0
