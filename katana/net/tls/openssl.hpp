// Handles that own the objects of OpenSSL, and the reason of its last error.
//
// Owns       each handle owns its object.
// Thread     any.
// Allocates  for last_error() only.
#pragma once

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <array>
#include <memory>
#include <string>

#include "katana/base/text/bytes.hpp"

namespace katana::tls {

// Deleter of a handle: `release` is OpenSSL's function for it.
template <auto release>
struct Releases {
  template <class T>
  void operator()(T* object) const noexcept {
    release(object);
  }
};

// Handles that own their object; null: there is none.
using OwnedBio = std::unique_ptr<BIO, Releases<BIO_free>>;
using OwnedCertificate = std::unique_ptr<X509, Releases<X509_free>>;
using OwnedKey = std::unique_ptr<EVP_PKEY, Releases<EVP_PKEY_free>>;
using OwnedSession = std::unique_ptr<SSL_SESSION, Releases<SSL_SESSION_free>>;
using OwnedContext = std::unique_ptr<SSL_CTX, Releases<SSL_CTX_free>>;

// A BIO from which OpenSSL reads the text; borrows the text.
inline OwnedBio reader_of(Bytes text) {
  return OwnedBio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// Returns the reason of the thread's last error, and clears its errors.
inline std::string last_error() {
  const unsigned long error = ERR_peek_last_error();
  ERR_clear_error();
  const char* const reason = error != 0 ? ERR_reason_error_string(error) : nullptr;
  return reason != nullptr ? reason : "no reason is known";
}

}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
