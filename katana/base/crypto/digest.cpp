#include "katana/base/crypto/digest.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <limits>
#include <span>
#include <string>

#include "katana/base/system/check.hpp"

namespace katana::crypto {
namespace {

// Fetched once, because OpenSSL 3 searches an algorithm by its name at each use of EVP_sha256().
const EVP_MD* md_of(Hash hash) noexcept {
  static const EVP_MD* const fetched[] = {
      EVP_MD_fetch(nullptr, "SHA256", nullptr), EVP_MD_fetch(nullptr, "SHA384", nullptr),
      EVP_MD_fetch(nullptr, "SHA512", nullptr), EVP_MD_fetch(nullptr, "SHA1", nullptr)};
  const EVP_MD* const md = fetched[static_cast<std::size_t>(hash)];
  KATANA_CHECK(md != nullptr);
  return md;
}

// A context for the calls of this thread: a digest then allocates nothing.
EVP_MD_CTX* scratch() noexcept {
  struct Owner {
    EVP_MD_CTX* context = EVP_MD_CTX_new();
    ~Owner() { EVP_MD_CTX_free(context); }
  };
  thread_local const Owner owner;
  KATANA_CHECK(owner.context != nullptr);
  return owner.context;
}

void write_digest(Hash hash, Bytes octets, char* to) noexcept {
  EVP_MD_CTX* const context = scratch();
  KATANA_CHECK(EVP_DigestInit_ex(context, md_of(hash), nullptr) == 1 &&
               EVP_DigestUpdate(context, octets.data(), octets.size()) == 1 &&
               EVP_DigestFinal_ex(context, reinterpret_cast<unsigned char*>(to), nullptr) == 1);
}

std::size_t hash_block_bytes(Hash hash) noexcept {
  return hash == Hash::sha256 || hash == Hash::sha1 ? 64 : 128;
}

}  // namespace

Sha256 sha256(Bytes octets) noexcept {
  Sha256 digest;
  write_digest(Hash::sha256, octets, digest.octets.data());
  return digest;
}
Sha384 sha384(Bytes octets) noexcept {
  Sha384 digest;
  write_digest(Hash::sha384, octets, digest.octets.data());
  return digest;
}
Sha512 sha512(Bytes octets) noexcept {
  Sha512 digest;
  write_digest(Hash::sha512, octets, digest.octets.data());
  return digest;
}

void Hmac::FreeContext::operator()(evp_md_ctx_st* context) const noexcept {
  EVP_MD_CTX_free(context);  // overwrites the state
}

Hmac::Hmac(Hash hash, Bytes key) : inner_(EVP_MD_CTX_new()), outer_(EVP_MD_CTX_new()), hash_(hash) {
  std::array<char, 128> block{};
  if (key.size() > hash_block_bytes(hash)) {
    write_digest(hash, key, block.data());
  } else {
    std::ranges::copy(key, block.begin());
  }
  const auto begin = [&](EVP_MD_CTX* context, char pad) {
    std::array<char, 128> padded{};
    std::ranges::transform(block, padded.begin(),
                           [pad](char octet) { return static_cast<char>(octet ^ pad); });
    KATANA_CHECK(context != nullptr && EVP_DigestInit_ex(context, md_of(hash), nullptr) == 1 &&
                 EVP_DigestUpdate(context, padded.data(), hash_block_bytes(hash)) == 1);
    erase_secret(padded);
  };
  begin(inner_.get(), 0x36);
  begin(outer_.get(), 0x5c);
  erase_secret(block);
}

Mac Hmac::of(Bytes message) const noexcept {
  Mac mac;
  mac.size_ = digest_bytes(hash_);
  auto* const to = reinterpret_cast<unsigned char*>(mac.octets_.data());
  EVP_MD_CTX* const context = scratch();
  KATANA_CHECK(EVP_MD_CTX_copy_ex(context, inner_.get()) == 1 &&
               EVP_DigestUpdate(context, message.data(), message.size()) == 1 &&
               EVP_DigestFinal_ex(context, to, nullptr) == 1 &&
               EVP_MD_CTX_copy_ex(context, outer_.get()) == 1 &&
               EVP_DigestUpdate(context, to, mac.size_) == 1 &&
               EVP_DigestFinal_ex(context, to, nullptr) == 1);
  return mac;
}

bool Hmac::matches(Bytes message, Bytes mac) const noexcept {
  return equal_in_constant_time(of(message).bytes(), mac);
}

SecretText hkdf(Hash hash, Bytes secret, Bytes salt, Bytes info, std::size_t size) {
  const std::size_t each = digest_bytes(hash);
  KATANA_REQUIRE(size <= 255 * each);
  const std::string zeros(each, '\0');  // the salt if none is given (§2.2)
  const Hmac expand(hash, Hmac(hash, salt.empty() ? Bytes(zeros) : salt).of(secret).bytes());
  std::string made;
  made.reserve(size + each);
  std::string message;
  message.reserve(each + info.size() + 1);
  for (unsigned char count = 1; made.size() < size; ++count) {
    message.append(info).push_back(static_cast<char>(count));
    const Mac block = expand.of(message);
    made += block.bytes();
    message = block.bytes();
  }
  SecretText key(Bytes(made).substr(0, size));
  erase_secret(made);
  erase_secret(message);
  return key;
}

void pbkdf2(Hash hash, Bytes password, Bytes salt, std::uint32_t iterations,
            std::span<char> key) noexcept {
  constexpr std::size_t size_max = std::numeric_limits<int>::max();
  KATANA_REQUIRE(iterations > 0 && iterations <= size_max && !key.empty());
  KATANA_REQUIRE(password.size() <= size_max && salt.size() <= size_max && key.size() <= size_max);
  // OpenSSL takes a null password for one of another length.
  const char* const characters = password.empty() ? "" : password.data();
  KATANA_CHECK(PKCS5_PBKDF2_HMAC(characters, static_cast<int>(password.size()),
                                 reinterpret_cast<const unsigned char*>(salt.data()),
                                 static_cast<int>(salt.size()), static_cast<int>(iterations),
                                 md_of(hash), static_cast<int>(key.size()),
                                 reinterpret_cast<unsigned char*>(key.data())) == 1);
}

}  // namespace katana::crypto

// SPDX-License-Identifier: Apache-2.0
