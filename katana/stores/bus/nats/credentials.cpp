#include "katana/stores/bus/nats/credentials.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <memory>
#include <utility>

#include "katana/base/values/base64.hpp"
#include "katana/base/values/secret_file.hpp"

namespace katana::bus {
namespace {

constexpr Bytes base32_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
constexpr unsigned char prefix_of_user = 20 << 3;  // 'U'
constexpr unsigned char prefix_of_seed = 18 << 3;  // 'S'
constexpr std::size_t key_bytes = 32;

struct KeyDeleter {
  void operator()(EVP_PKEY* key) const noexcept { EVP_PKEY_free(key); }
};
struct ContextDeleter {
  void operator()(EVP_MD_CTX* context) const noexcept { EVP_MD_CTX_free(context); }
};
using OwnedKey = std::unique_ptr<EVP_PKEY, KeyDeleter>;

// CRC-16/XMODEM.
std::uint16_t crc16(Bytes octets) noexcept {
  unsigned crc = 0;
  for (const char octet : octets) {
    crc ^= static_cast<unsigned>(static_cast<unsigned char>(octet)) << 8;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 0x8000) != 0 ? (crc << 1) ^ 0x1021 : crc << 1;
    crc &= 0xffff;
  }
  return static_cast<std::uint16_t>(crc);
}

// Nothing: a byte is no digit.
std::string decode_base32(Bytes text) {
  std::string octets;
  unsigned bits = 0;
  unsigned value = 0;
  for (const char digit : text) {
    const std::size_t found = base32_digits.find(digit);
    if (found == Bytes::npos) return {};
    value = (value << 5 | static_cast<unsigned>(found)) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    octets += static_cast<char>(value >> bits & 0xff);
  }
  return octets;
}

std::string encode_base32(Bytes octets) {
  std::string text;
  unsigned bits = 0;
  unsigned value = 0;
  for (const char octet : octets) {
    value = (value << 8 | static_cast<unsigned char>(octet)) & 0xfff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += base32_digits[value >> bits & 31];
    }
  }
  if (bits > 0) text += base32_digits[value << (5 - bits) & 31];
  return text;
}

OwnedKey key_of(Bytes seed) {
  return OwnedKey(EVP_PKEY_new_raw_private_key(
      EVP_PKEY_ED25519, nullptr, reinterpret_cast<const unsigned char*>(seed.data()), seed.size()));
}

// What stands between the lines "-----BEGIN NAME-----" and "------END NAME------".
Bytes block_of(Bytes text, Bytes name) noexcept {
  const std::string begin = fmt::format("BEGIN {}-", name);
  std::size_t from = text.find(begin);
  if (from == Bytes::npos) return {};
  from = text.find('\n', from);
  if (from == Bytes::npos) return {};
  const std::size_t to = text.find("--", from);
  return to == Bytes::npos ? Bytes() : without_blanks_around(text.substr(from, to - from));
}

}  // namespace

Result<NkeySeed> NkeySeed::parse(Bytes text) {
  constexpr const char* form = "a seed of a user's nkey begins with 'SU' and has 58 characters";
  std::string octets = decode_base32(without_blanks_around(text));
  // Two bytes of prefix, the seed, and two of the checksum, the low one first.
  if (octets.size() != 2 + key_bytes + 2) return fail(Code::invalid_argument, form);
  const Bytes checked = Bytes(octets).substr(0, 2 + key_bytes);
  const auto low = static_cast<unsigned char>(octets[2 + key_bytes]);
  const auto high = static_cast<unsigned char>(octets[2 + key_bytes + 1]);
  const auto first = static_cast<unsigned char>(octets[0]);
  const auto second = static_cast<unsigned char>(octets[1]);
  const bool is_seed = (first & 0xf8) == prefix_of_seed;
  const bool is_user = static_cast<unsigned char>((first & 7) << 5 | second >> 3) == prefix_of_user;
  if (crc16(checked) != (high << 8 | low) || !is_seed || !is_user) {
    erase_secret(octets);
    return fail(Code::invalid_argument, form);
  }
  NkeySeed seed;
  seed.seed_ = SecretText(checked.substr(2));
  erase_secret(octets);
  return seed;
}

Result<std::string> NkeySeed::public_key() const {
  const OwnedKey key = key_of(seed_.reveal());
  std::array<unsigned char, key_bytes> octets{};
  std::size_t size = octets.size();
  if (key == nullptr || EVP_PKEY_get_raw_public_key(key.get(), octets.data(), &size) != 1) {
    return fail(Code::internal, "no public key is to be had of the nkey");
  }
  std::string text(1, static_cast<char>(prefix_of_user));
  text.append(reinterpret_cast<const char*>(octets.data()), size);
  const std::uint16_t crc = crc16(text);
  text += static_cast<char>(crc & 0xff);
  text += static_cast<char>(crc >> 8);
  return encode_base32(text);
}

Result<std::string> NkeySeed::sign(Bytes nonce) const {
  const OwnedKey key = key_of(seed_.reveal());
  const std::unique_ptr<EVP_MD_CTX, ContextDeleter> context(EVP_MD_CTX_new());
  std::array<unsigned char, 64> signature{};
  std::size_t size = signature.size();
  if (key == nullptr || context == nullptr ||
      EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) != 1 ||
      EVP_DigestSign(context.get(), signature.data(), &size,
                     reinterpret_cast<const unsigned char*>(nonce.data()), nonce.size()) != 1) {
    return fail(Code::internal, "the nkey cannot sign what the server sent");
  }
  return encode_base64url({reinterpret_cast<const char*>(signature.data()), size});
}

Result<NkeySeed> read_nkey_file(const std::string& path) {
  auto text = read_secret_file(path);
  if (!text) return std::unexpected(text.error());
  auto seed = NkeySeed::parse(text->reveal());
  if (!seed) return std::unexpected(seed.error().within(fmt::format("'{}'", path)));
  return seed;
}

Result<Credentials> read_creds_file(const std::string& path) {
  auto text = read_file_of_secrets(path);
  if (!text) return std::unexpected(text.error());
  Credentials credentials;
  credentials.jwt = SecretText(block_of(*text, "NATS USER JWT"));
  auto seed = NkeySeed::parse(block_of(*text, "USER NKEY SEED"));
  erase_secret(*text);
  if (credentials.jwt.empty()) {
    return fail(Code::invalid_argument,
                fmt::format("'{}' has no block 'NATS USER JWT', as nsc writes it", path));
  }
  if (!seed) return std::unexpected(seed.error().within(fmt::format("'{}'", path)));
  credentials.nkey = *std::move(seed);
  return credentials;
}

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
