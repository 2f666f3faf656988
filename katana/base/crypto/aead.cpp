#include "katana/base/crypto/aead.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstring>
#include <span>

#include "katana/base/system/check.hpp"
#include "katana/base/values/secrets.hpp"

namespace katana::crypto {
namespace {

constexpr std::size_t block_bytes = 16;
constexpr std::size_t inner_nonce_bytes = 12;  // the nonce of AES-GCM, the second half of ours

// A cipher of this thread. It is chosen once, because OpenSSL 3 makes a new state at each choice.
struct CipherContext {
  CipherContext(const char* name, bool encrypts) : context(EVP_CIPHER_CTX_new()) {
    EVP_CIPHER* const cipher = EVP_CIPHER_fetch(nullptr, name, nullptr);
    KATANA_CHECK(context != nullptr && cipher != nullptr &&
                 EVP_CipherInit_ex2(context, cipher, nullptr, nullptr, encrypts ? 1 : 0, nullptr) ==
                     1 &&
                 EVP_CIPHER_CTX_set_padding(context, 0) == 1);
    EVP_CIPHER_free(cipher);
  }
  CipherContext(const CipherContext&) = delete;
  CipherContext& operator=(const CipherContext&) = delete;
  ~CipherContext() { EVP_CIPHER_CTX_free(context); }

  EVP_CIPHER_CTX* const context;
  std::uint64_t key_number = 0;  // number of its key; 0: none
};

// Encrypts whole blocks by AES-256. `number` identifies the key, which is set up only when it
// changes.
void encrypt_blocks(const unsigned char* key, std::uint64_t number, const unsigned char* from,
                    std::size_t size, unsigned char* to) noexcept {
  thread_local CipherContext cipher("AES-256-ECB", true);
  if (cipher.key_number != number) {
    KATANA_CHECK(EVP_EncryptInit_ex2(cipher.context, nullptr, key, nullptr, nullptr) == 1);
    cipher.key_number = number;
  }
  int written = 0;
  KATANA_CHECK(EVP_EncryptUpdate(cipher.context, to, &written, from, static_cast<int>(size)) == 1);
}

EVP_CIPHER_CTX* sealing_context() noexcept {
  thread_local const CipherContext cipher("AES-256-GCM", true);
  return cipher.context;
}
EVP_CIPHER_CTX* opening_context() noexcept {
  thread_local const CipherContext cipher("AES-256-GCM", false);
  return cipher.context;
}

std::uint64_t next_key_number() noexcept {
  static std::atomic<std::uint64_t> last = 0;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;  // only a number: no memory order
}

const unsigned char* unsigned_of(Bytes octets) noexcept {
  return reinterpret_cast<const unsigned char*>(octets.data());
}

template <std::size_t size>
void erase(std::array<unsigned char, size>& octets) noexcept {
  erase_secret(std::span(reinterpret_cast<char*>(octets.data()), size));
}

}  // namespace

Aead::Aead(Bytes key) : number_(next_key_number()) {
  KATANA_REQUIRE(key.size() == key_bytes);
  std::memcpy(key_.data(), key.data(), key_bytes);
  const std::array<unsigned char, block_bytes> zero{};
  encrypt_blocks(key_.data(), number_, zero.data(), block_bytes, subkey_.data());
  // Doubled in GF(2^128); without a branch on the secret bit.
  const auto carry = static_cast<unsigned char>(-(subkey_[0] >> 7) & 0x87);
  for (std::size_t index = 0; index + 1 < block_bytes; ++index) {
    subkey_[index] = static_cast<unsigned char>(subkey_[index] << 1 | subkey_[index + 1] >> 7);
  }
  subkey_[block_bytes - 1] = static_cast<unsigned char>(subkey_[block_bytes - 1] << 1 ^ carry);
}

Aead::~Aead() {
  erase(key_);
  erase(subkey_);
}

// Two blocks of SP 800-108 in counter mode with CMAC: 16-bit counter, label "X", no length.
Aead::Key Aead::derive(Bytes nonce) const noexcept {
  std::array<unsigned char, 2 * block_bytes> blocks{};
  for (unsigned char count = 1; count <= 2; ++count) {
    unsigned char* const block = blocks.data() + (count - 1) * block_bytes;
    block[1] = count;
    block[2] = 'X';
    std::memcpy(block + 4, nonce.data(), inner_nonce_bytes);
    for (std::size_t index = 0; index < block_bytes; ++index) block[index] ^= subkey_[index];
  }
  Key derived;
  encrypt_blocks(key_.data(), number_, blocks.data(), blocks.size(), derived.data());
  return derived;
}

std::string Aead::seal(Bytes plain, Bytes associated) const {
  std::array<char, nonce_bytes> nonce;
  fill_random(nonce);
  return seal_with({nonce.data(), nonce.size()}, plain, associated);
}

std::string Aead::seal_with(Bytes nonce, Bytes plain, Bytes associated) const {
  KATANA_REQUIRE(nonce.size() == nonce_bytes && plain.size() < INT_MAX / 2 &&
                 associated.size() < INT_MAX / 2);
  std::string sealed(plain.size() + overhead_bytes, '\0');
  std::ranges::copy(nonce, sealed.begin());
  auto* const to = reinterpret_cast<unsigned char*>(sealed.data()) + nonce_bytes;
  Key key = derive(nonce);
  EVP_CIPHER_CTX* const context = sealing_context();
  int written = 0;
  KATANA_CHECK(EVP_EncryptInit_ex2(context, nullptr, key.data(),
                                   unsigned_of(nonce.substr(inner_nonce_bytes)), nullptr) == 1 &&
               EVP_EncryptUpdate(context, nullptr, &written, unsigned_of(associated),
                                 static_cast<int>(associated.size())) == 1 &&
               EVP_EncryptUpdate(context, to, &written, unsigned_of(plain),
                                 static_cast<int>(plain.size())) == 1 &&
               EVP_EncryptFinal_ex(context, to + plain.size(), &written) == 1 &&
               EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, tag_bytes, to + plain.size()) ==
                   1);
  erase(key);
  return sealed;
}

std::optional<std::string> Aead::open(Bytes sealed, Bytes associated) const {
  if (sealed.size() < overhead_bytes || sealed.size() >= INT_MAX / 2) return std::nullopt;
  KATANA_REQUIRE(associated.size() < INT_MAX / 2);
  const Bytes nonce = sealed.substr(0, nonce_bytes);
  const Bytes text = sealed.substr(nonce_bytes, sealed.size() - overhead_bytes);
  std::array<unsigned char, tag_bytes> tag;
  std::memcpy(tag.data(), text.data() + text.size(), tag_bytes);
  std::string plain(text.size(), '\0');
  auto* const to = reinterpret_cast<unsigned char*>(plain.data());
  Key key = derive(nonce);
  EVP_CIPHER_CTX* const context = opening_context();
  int written = 0;
  KATANA_CHECK(EVP_DecryptInit_ex2(context, nullptr, key.data(),
                                   unsigned_of(nonce.substr(inner_nonce_bytes)), nullptr) == 1 &&
               EVP_DecryptUpdate(context, nullptr, &written, unsigned_of(associated),
                                 static_cast<int>(associated.size())) == 1 &&
               EVP_DecryptUpdate(context, to, &written, unsigned_of(text),
                                 static_cast<int>(text.size())) == 1 &&
               EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, tag_bytes, tag.data()) == 1);
  const bool is_authentic = EVP_DecryptFinal_ex(context, to + text.size(), &written) == 1;
  erase(key);
  if (is_authentic) return plain;
  erase_secret(plain);  // unauthenticated text must not be used
  return std::nullopt;
}

}  // namespace katana::crypto

// SPDX-License-Identifier: Apache-2.0
