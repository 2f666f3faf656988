#include "katana/identity/jose/signer.hpp"

#include <openssl/ec.h>
#include <openssl/rsa.h>

#include <cstring>
#include <optional>
#include <utility>

#include "katana/base/system/check.hpp"

namespace katana::jose::detail {
namespace {

// SHA-256, -384 and -512, looked up once: each lookup by name takes longer than hashing a token.
const EVP_MD* hash_of(Algorithm algorithm) {
  static const std::array<EVP_MD*, 3> hashes = {EVP_MD_fetch(nullptr, "SHA2-256", nullptr),
                                                EVP_MD_fetch(nullptr, "SHA2-384", nullptr),
                                                EVP_MD_fetch(nullptr, "SHA2-512", nullptr)};
  return hashes[(hash_bytes(algorithm) - 32) / 16];
}

std::size_t slot_of_thread(std::size_t slots) noexcept {
  static constinit std::atomic<std::size_t> threads = 0;
  // Relaxed: the number orders no other memory access.
  thread_local const std::size_t number = threads.fetch_add(1, std::memory_order_relaxed);
  return number % slots;
}

// The DER of a signature of ECDSA: SEQUENCE { INTEGER r, INTEGER s }.
struct DerSignature {
  std::array<unsigned char, 2 * (66 + 3) + 3> octets = {};
  std::size_t size = 0;

  void add(unsigned value) { octets[size++] = static_cast<unsigned char>(value); }
  void add_integer(Bytes digits) {
    while (digits.size() > 1 && digits.front() == '\0') digits.remove_prefix(1);
    const bool is_high = (static_cast<unsigned char>(digits.front()) & 0x80) != 0;
    add(0x02);
    add(static_cast<unsigned>(digits.size()) + (is_high ? 1 : 0));
    if (is_high) add(0);
    std::memcpy(octets.data() + size, digits.data(), digits.size());
    size += digits.size();
  }
};

// Converts r and s of equal size to DER. REQUIRES both.
DerSignature der_of(Bytes signature) {
  const Bytes r = signature.substr(0, signature.size() / 2);
  const Bytes s = signature.substr(signature.size() / 2);
  DerSignature integers;
  integers.add_integer(r);
  integers.add_integer(s);
  DerSignature der;
  der.add(0x30);
  if (integers.size > 127) der.add(0x81);
  der.add(static_cast<unsigned>(integers.size));
  std::memcpy(der.octets.data() + der.size, integers.octets.data(), integers.size);
  der.size += integers.size;
  return der;
}

std::string halves_of(Bytes der, std::size_t half_bytes) {
  using OwnedSignature = std::unique_ptr<ECDSA_SIG, Releases<ECDSA_SIG_free>>;
  const unsigned char* at = octets(der);
  const OwnedSignature parsed(d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size())));
  if (!parsed) return {};
  std::string halves(2 * half_bytes, '\0');
  const int size = static_cast<int>(half_bytes);
  if (BN_bn2binpad(ECDSA_SIG_get0_r(parsed.get()), octets(halves), size) != size ||
      BN_bn2binpad(ECDSA_SIG_get0_s(parsed.get()), octets(halves) + half_bytes, size) != size) {
    return {};
  }
  return halves;
}

bool set_up(EVP_PKEY_CTX* context, Algorithm algorithm) {
  if (EVP_PKEY_CTX_set_signature_md(context, hash_of(algorithm)) <= 0) return false;
  const Family family = family_of(algorithm);
  if (family == Family::rsa) {
    return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) > 0;
  }
  if (family == Family::rsa_pss) {
    return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) > 0 &&
           EVP_PKEY_CTX_set_rsa_mgf1_md(context, hash_of(algorithm)) > 0 &&
           EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) > 0;
  }
  return true;
}

}  // namespace

struct Signer::Contexts {
  OwnedHashContext hash;
  OwnedMacContext mac;
  OwnedKeyContext verifying;
  OwnedKeyContext signing;
};

// Gives the contexts back at the end of the call.
class Signer::Borrowed {
 public:
  explicit Borrowed(const Signer& signer) : signer_(signer), contexts_(signer.take()) {}
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  ~Borrowed() {
    ERR_clear_error();
    signer_.give(std::move(contexts_));
  }
  Contexts& operator*() const noexcept { return *contexts_; }
  Contexts* operator->() const noexcept { return contexts_.get(); }

 private:
  const Signer& signer_;
  std::unique_ptr<Contexts> contexts_;
};

Signer::Signer(Algorithm algorithm, OwnedKey key, bool has_private_part)
    : algorithm_(algorithm), key_(std::move(key)), has_private_part_(has_private_part) {
  KATANA_REQUIRE(key_ != nullptr && family_of(algorithm) != Family::hmac);
}

Signer::Signer(Algorithm algorithm, SecretText secret)
    : algorithm_(algorithm), secret_(std::move(secret)), has_private_part_(true) {
  KATANA_REQUIRE(family_of(algorithm) == Family::hmac);
}

Signer::~Signer() {
  // Relaxed: no other thread has the key.
  for (Slot& slot : slots_) delete slot.idle.load(std::memory_order_relaxed);
}

std::unique_ptr<Signer::Contexts> Signer::make_contexts() const {
  auto made = std::make_unique<Contexts>();
  made->hash.reset(EVP_MD_CTX_new());
  KATANA_CHECK(made->hash != nullptr);
  const Family family = family_of(algorithm_);
  if (family == Family::eddsa) return made;
  if (family == Family::hmac) {
    static EVP_MAC* const hmac = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
    made->mac.reset(EVP_MAC_CTX_new(hmac));
    std::string hash = EVP_MD_get0_name(hash_of(algorithm_));
    const std::array<OSSL_PARAM, 2> parameters = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, hash.data(), 0),
        OSSL_PARAM_construct_end()};
    const Bytes secret = secret_.reveal();
    KATANA_CHECK(EVP_MAC_init(made->mac.get(), octets(secret), secret.size(), parameters.data()) ==
                 1);
    return made;
  }
  made->verifying.reset(EVP_PKEY_CTX_new_from_pkey(nullptr, key_.get(), nullptr));
  KATANA_CHECK(made->verifying && EVP_PKEY_verify_init(made->verifying.get()) == 1 &&
               set_up(made->verifying.get(), algorithm_));
  if (!has_private_part_) return made;
  made->signing.reset(EVP_PKEY_CTX_new_from_pkey(nullptr, key_.get(), nullptr));
  KATANA_CHECK(made->signing && EVP_PKEY_sign_init(made->signing.get()) == 1 &&
               set_up(made->signing.get(), algorithm_));
  return made;
}

std::unique_ptr<Signer::Contexts> Signer::take() const {
  Slot& slot = slots_[slot_of_thread(slots_.size())];
  // Acquire: sees all writes of the thread that gave the contexts back.
  std::unique_ptr<Contexts> taken(slot.idle.exchange(nullptr, std::memory_order_acquire));
  return taken ? std::move(taken) : make_contexts();
}

void Signer::give(std::unique_ptr<Contexts> contexts) const noexcept {
  Slot& slot = slots_[slot_of_thread(slots_.size())];
  // Release: see take(). Contexts that another thread of the group has left there are deleted.
  delete slot.idle.exchange(contexts.release(), std::memory_order_acq_rel);
}

std::string Signer::mac_of(Bytes input, Contexts& with) const {
  std::string mac(hash_bytes(algorithm_), '\0');
  std::size_t size = 0;
  const bool done = EVP_MAC_init(with.mac.get(), nullptr, 0, nullptr) == 1 &&
                    EVP_MAC_update(with.mac.get(), octets(input), input.size()) == 1 &&
                    EVP_MAC_final(with.mac.get(), octets(mac), &size, mac.size()) == 1;
  KATANA_CHECK(done && size == mac.size());
  return mac;
}

namespace {

struct Hash {
  std::array<unsigned char, EVP_MAX_MD_SIZE> octets;
  unsigned size = 0;
};

Hash hash(Bytes input, Algorithm algorithm, EVP_MD_CTX* context) {
  Hash made;
  KATANA_CHECK(EVP_DigestInit_ex2(context, hash_of(algorithm), nullptr) == 1 &&
               EVP_DigestUpdate(context, input.data(), input.size()) == 1 &&
               EVP_DigestFinal_ex(context, made.octets.data(), &made.size) == 1);
  return made;
}

}  // namespace

bool Signer::verify(Bytes input, Bytes signature) const {
  const Borrowed with(*this);
  switch (family_of(algorithm_)) {
    case Family::hmac: return equal_in_constant_time(mac_of(input, *with), signature);
    case Family::eddsa:
      return EVP_DigestVerifyInit(with->hash.get(), nullptr, nullptr, nullptr, key_.get()) == 1 &&
             EVP_DigestVerify(with->hash.get(), octets(signature), signature.size(), octets(input),
                              input.size()) == 1;
    case Family::ecdsa: {
      if (signature.size() != 2 * coordinate_bytes(algorithm_)) return false;
      const DerSignature der = der_of(signature);
      const Hash made = hash(input, algorithm_, with->hash.get());
      return EVP_PKEY_verify(with->verifying.get(), der.octets.data(), der.size, made.octets.data(),
                             made.size) == 1;
    }
    case Family::rsa:
    case Family::rsa_pss: break;
  }
  const Hash made = hash(input, algorithm_, with->hash.get());
  return EVP_PKEY_verify(with->verifying.get(), octets(signature), signature.size(),
                         made.octets.data(), made.size) == 1;
}

std::string Signer::sign(Bytes input) const {
  KATANA_REQUIRE(has_private_part_);
  const Borrowed with(*this);
  const Family family = family_of(algorithm_);
  if (family == Family::hmac) return mac_of(input, *with);
  std::string signature(static_cast<std::size_t>(EVP_PKEY_get_size(key_.get())), '\0');
  std::size_t size = signature.size();
  const auto is_signed = [&] {
    if (family == Family::eddsa) {
      return EVP_DigestSignInit(with->hash.get(), nullptr, nullptr, nullptr, key_.get()) == 1 &&
             EVP_DigestSign(with->hash.get(), octets(signature), &size, octets(input),
                            input.size()) == 1;
    }
    const Hash made = hash(input, algorithm_, with->hash.get());
    return EVP_PKEY_sign(with->signing.get(), octets(signature), &size, made.octets.data(),
                         made.size) == 1;
  };
  if (!is_signed()) return {};
  signature.resize(size);
  if (family == Family::ecdsa) return halves_of(signature, coordinate_bytes(algorithm_));
  return signature;
}

}  // namespace katana::jose::detail

// SPDX-License-Identifier: Apache-2.0
