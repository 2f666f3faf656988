#include "katana/net/tls/ticket_keys.hpp"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include <cstring>

namespace katana::tls {
namespace {

void wipe(std::optional<TicketKeys::Key>& key) noexcept {
  if (key) OPENSSL_cleanse(&*key, sizeof *key);
  key.reset();
}

bool set_digest(EVP_MAC_CTX* digest, TicketKeys::Key& key) noexcept {
  char name[] = "SHA256";
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, key.digest.data(), key.digest.size()),
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name, 0), OSSL_PARAM_construct_end()};
  return EVP_MAC_CTX_set_params(digest, parameters) == 1;
}

}  // namespace

TicketKeys::~TicketKeys() {
  wipe(present_);
  wipe(previous_);
}

void TicketKeys::rotate(Instant now) noexcept {
  if (present_ && now < present_until_) return;
  wipe(previous_);
  if (present_ && now < present_until_ + lifetime_) {
    previous_ = present_;
    previous_until_ = present_until_ + lifetime_;
  }
  wipe(present_);
  Key made;
  if (RAND_bytes(made.name.data(), sizeof made.name) == 1 &&
      RAND_priv_bytes(made.cipher.data(), sizeof made.cipher) == 1 &&
      RAND_priv_bytes(made.digest.data(), sizeof made.digest) == 1) {
    present_ = made;
    present_until_ = now + lifetime_;
  }
  OPENSSL_cleanse(&made, sizeof made);
}

std::optional<TicketKeys::Key> TicketKeys::present(Instant now) noexcept {
  const std::lock_guard lock(mutex_);
  rotate(now);
  return present_;
}

std::optional<TicketKeys::Found> TicketKeys::find(const unsigned char* name, Instant now) noexcept {
  const std::lock_guard lock(mutex_);
  rotate(now);
  const auto has_name = [name](const std::optional<Key>& key) {
    return key && std::memcmp(key->name.data(), name, key->name.size()) == 0;
  };
  if (has_name(present_)) return Found{*present_, true};
  if (has_name(previous_) && now < previous_until_) return Found{*previous_, false};
  return std::nullopt;
}

int TicketKeys::prepare(unsigned char* name, unsigned char* vector, EVP_CIPHER_CTX* cipher,
                        EVP_MAC_CTX* digest, bool seal, Instant now) noexcept {
  constexpr int no_ticket = 0, good = 1, renew = 2;
  std::optional<Found> found;
  if (!seal) {
    found = find(name, now);
  } else if (auto key = present(now)) {
    found = Found{*key, true};
  }
  if (!found) return no_ticket;
  Key& key = found->key;
  bool ready = set_digest(digest, key);
  if (seal) {
    std::memcpy(name, key.name.data(), key.name.size());
    ready = ready && RAND_bytes(vector, EVP_CIPHER_get_iv_length(EVP_aes_256_cbc())) == 1 &&
            EVP_EncryptInit_ex(cipher, EVP_aes_256_cbc(), nullptr, key.cipher.data(), vector) == 1;
  } else {
    ready = ready &&
            EVP_DecryptInit_ex(cipher, EVP_aes_256_cbc(), nullptr, key.cipher.data(), vector) == 1;
  }
  OPENSSL_cleanse(&key, sizeof key);
  if (!ready) return no_ticket;
  return found->seals ? good : renew;
}

}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
