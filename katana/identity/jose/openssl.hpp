// Owners of OpenSSL objects for this module.
//
// Owns       each handle its object.
// Thread     a value.
// Allocates  never directly.
// Fails      last_error() is never empty.
#pragma once

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include <memory>
#include <string>

#include "katana/base/text/bytes.hpp"

namespace katana::jose::detail {

template <auto release>
struct Releases {
  template <class T>
  void operator()(T* object) const noexcept {
    release(object);
  }
};

using OwnedBio = std::unique_ptr<BIO, Releases<BIO_free>>;
using OwnedNumber = std::unique_ptr<BIGNUM, Releases<BN_clear_free>>;
using OwnedKey = std::unique_ptr<EVP_PKEY, Releases<EVP_PKEY_free>>;
using OwnedKeyContext = std::unique_ptr<EVP_PKEY_CTX, Releases<EVP_PKEY_CTX_free>>;
using OwnedHashContext = std::unique_ptr<EVP_MD_CTX, Releases<EVP_MD_CTX_free>>;
using OwnedMacContext = std::unique_ptr<EVP_MAC_CTX, Releases<EVP_MAC_CTX_free>>;
using OwnedParameters = std::unique_ptr<OSSL_PARAM, Releases<OSSL_PARAM_free>>;
using OwnedBuilder = std::unique_ptr<OSSL_PARAM_BLD, Releases<OSSL_PARAM_BLD_free>>;

inline const unsigned char* octets(Bytes bytes) noexcept {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}
inline unsigned char* octets(std::string& bytes) noexcept {
  return reinterpret_cast<unsigned char*>(bytes.data());
}

// The reason of the thread's last error. It clears the error queue of the thread, because TLS would
// take a left entry for its error.
inline std::string last_error() {
  const unsigned long error = ERR_peek_last_error();
  ERR_clear_error();
  const char* const reason = error != 0 ? ERR_reason_error_string(error) : nullptr;
  return reason != nullptr ? reason : "OpenSSL gives no reason";
}

}  // namespace katana::jose::detail

// SPDX-License-Identifier: Apache-2.0
