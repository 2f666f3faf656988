#include "katana/base/values/base64.hpp"

#include <gtest/gtest.h>

#include <array>

namespace katana {
namespace {

struct Vector {
  Bytes octets, text;
};
// RFC 4648 §10.
constexpr Vector vectors[] = {{"", ""},
                              {"f", "Zg=="},
                              {"fo", "Zm8="},
                              {"foo", "Zm9v"},
                              {"foob", "Zm9vYg=="},
                              {"fooba", "Zm9vYmE="},
                              {"foobar", "Zm9vYmFy"}};

Bytes without_padding(Bytes text) { return text.substr(0, text.find('=')); }

TEST(Base64, the_vectors_of_the_standard_are_encoded_and_decoded) {
  for (const auto& [octets, text] : vectors) {
    EXPECT_EQ(encode_base64(octets), text);
    EXPECT_EQ(decode_base64(text), octets);
    EXPECT_EQ(encode_base64url(octets), without_padding(text));
    EXPECT_EQ(decode_base64url(without_padding(text)), octets);
  }
}

TEST(Base64, each_form_has_its_last_two_digits) {
  const std::string octets = "\xfb\xff\xbf";
  EXPECT_EQ(encode_base64(octets), "+/+/");
  EXPECT_EQ(encode_base64url(octets), "-_-_");
  EXPECT_EQ(decode_base64("-_-_"), std::nullopt);
  EXPECT_EQ(decode_base64url("+/+/"), std::nullopt);
}

TEST(Base64, what_no_encoder_makes_is_refused) {
  for (const Bytes text : {"Z", "Zg", "Zg=", "Zg===", "=", "====", "Zh==", "Zm9=", "Zm 9v",
                           "Zm9v\n", "Z=g=", "Zm9v====", "Zg==Zg=="}) {
    EXPECT_EQ(decode_base64(text), std::nullopt) << text;
    std::array<char, 16> memory;
    EXPECT_EQ(decode_base64(text, memory), std::nullopt) << text;
  }
  for (const Bytes text : {"Z", "Zg==", "Zh", "Zm9", "Zm 9v", "Zm9v=", "Zm9vY", "\xc3\xa4"}) {
    EXPECT_EQ(decode_base64url(text), std::nullopt) << text;
  }
}

TEST(Base64, every_octet_comes_back_at_every_length) {
  std::string octets;
  for (int octet = 0; octet < 256; ++octet) octets.push_back(static_cast<char>(octet * 7));
  for (std::size_t size = 0; size <= octets.size(); ++size) {
    const Bytes part = Bytes(octets).substr(0, size);
    EXPECT_EQ(decode_base64(encode_base64(part)), part);
    std::array<char, 300> memory;
    EXPECT_EQ(decode_base64url(encode_base64url(part), memory), part);
    std::array<char, 400> text;
    EXPECT_EQ(encode_base64(part, text), encode_base64(part));
    EXPECT_EQ(decode_base64(encode_base64(part, text), memory), part);
  }
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
