// Scram: the client of SCRAM-SHA-256 and SCRAM-SHA-256-PLUS.
//
//   client-first    n,,n=,r=NONCE                       flag n, y or p: see ChannelBinding
//   server-first    r=NONCE+MORE,s=SALT,i=ITERATIONS    read_challenge()
//   client-final    c=BINDING,r=NONCE+MORE,p=PROOF      write_proof()
//   server-final    v=SIGNATURE                         verify()
//
// The password is not an argument of the machine. Its caller derives ScramKeys. This takes
// milliseconds and may run on any thread. The caller may keep the keys for the next connection:
// they hold as long as the server names the same salt and iterations.
//
// Owns       the nonce, the binding and the server's first message, in 1.5 KB.
// Thread     one at a time; derive_scram_keys() any.
// Allocates  OpenSSL's contexts of HMAC, for the proof.
// Fails      with a Refusal; the exchange is over then.
// Invariant  verify() accepts only a server that knows the keys of the password. That server has
//            seen the same messages, the same flag, and for -PLUS the same certificate.
// Source     RFC 5802, RFC 7677, RFC 5929 §4 (tls-server-end-point); PostgreSQL 18,
//            "SASL Authentication"
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/secrets.hpp"
#include "katana/wire/postgres/limits.hpp"
#include "katana/wire/postgres/refusal.hpp"

namespace katana::postgres {

// The mechanism without channel binding (RFC 7677).
inline constexpr Bytes scram_sha_256 = "SCRAM-SHA-256";
// The mechanism with channel binding (RFC 7677).
inline constexpr Bytes scram_sha_256_plus = "SCRAM-SHA-256-PLUS";

inline constexpr std::size_t scram_nonce_bytes = 18;         // random bytes of the client
inline constexpr std::size_t scram_salt_bytes_max = 256;     // PostgreSQL has 16
inline constexpr std::size_t scram_server_first_max = 1024;  // a whole message
inline constexpr std::size_t scram_binding_bytes_max = 64;   // a digest of a certificate
// The longest message that is written.
inline constexpr std::size_t scram_message_bytes_max = 1536;

// The flag in the first message (RFC 5802 §7, gs2-cbind-flag).
enum class BindingFlag : char {
  unsupported = 'n',  // the client does not bind: no TLS, or it is turned off
  not_offered = 'y',  // the client would, and the server did not offer it. A server that did knows
                      // that somebody removed its offer, and ends the exchange
  bound = 'p',        // SCRAM-SHA-256-PLUS
};

// The server's parameters of a password.
struct ScramChallenge {
  // The salt of the stored password, decoded.
  Bytes salt;
  // The iterations of PBKDF2.
  std::uint32_t iterations = 0;
};

// The keys of a password by a salt and iterations. They are as secret as the password, but hold for
// this salt alone.
class ScramKeys {
 public:
  ScramKeys() = default;
  ScramKeys(const ScramKeys&) = default;
  ScramKeys& operator=(const ScramKeys&) = default;
  ~ScramKeys() {
    erase_secret(client_);
    erase_secret(server_);
  }

  // ClientKey of RFC 5802 §3.
  Bytes client() const noexcept KATANA_VIEW { return {client_.data(), client_.size()}; }
  // ServerKey of RFC 5802 §3.
  Bytes server() const noexcept KATANA_VIEW { return {server_.data(), server_.size()}; }

 private:
  friend ScramKeys derive_scram_keys(Bytes password, const ScramChallenge& challenge);
  std::array<char, 32> client_{};
  std::array<char, 32> server_{};
};

// Some 0.4 µs for each iteration. REQUIRES a challenge that read_challenge() accepted, and for
// passwords beyond ASCII their prepared form (is_prepared_password()).
ScramKeys derive_scram_keys(Bytes password, const ScramChallenge& challenge);

// The proof of a client and the signature of a server for AuthMessage, which is all messages of an
// exchange (RFC 5802 §3).
struct ScramProof {
  // ClientProof of RFC 5802 §3.
  std::array<char, 32> proof{};
  // ServerSignature of RFC 5802 §3, which the server must send.
  std::array<char, 32> signature{};
};
// `messages` is the AuthMessage of RFC 5802 §3.
ScramProof prove_scram(const ScramKeys& keys, Bytes messages);

class Scram {
 public:
  // REQUIRES `nonce` of scram_nonce_bytes random bytes, which are used once, and at most
  // scram_binding_bytes_max of `binding`, which is empty unless the flag is `bound`.
  Scram(Bytes nonce, BindingFlag flag, Bytes binding) noexcept;

  // The first message, in `to`, which has room for scram_message_bytes_max.
  Bytes write_first(std::span<char> to) const noexcept;
  // Reads the server's first message. Afterwards challenge() has its parameters.
  Refusal read_challenge(Bytes message, const Limits& limits) noexcept;
  // The salt is a view into this object.
  ScramChallenge challenge() const noexcept KATANA_VIEW {
    return {{salt_.data(), salt_size_}, iterations_};
  }
  // The last message, in `to`, which has room for scram_message_bytes_max.
  Bytes write_proof(const ScramKeys& keys, std::span<char> to) noexcept;
  // Reads the server's last message. REQUIRES write_proof() before.
  Refusal verify(Bytes message) const noexcept;

 private:
  Bytes nonce() const noexcept { return {nonce_.data(), nonce_.size()}; }
  Bytes server_first() const noexcept { return {server_first_.data(), server_first_size_}; }

  std::array<char, 24> nonce_{};  // in Base64
  BindingFlag flag_;
  std::array<char, scram_binding_bytes_max> binding_{};
  std::size_t binding_size_ = 0;
  std::array<char, scram_server_first_max> server_first_{};
  std::size_t server_first_size_ = 0;
  std::size_t server_nonce_size_ = 0;  // in server_first_, behind "r="
  std::array<char, scram_salt_bytes_max> salt_{};
  std::size_t salt_size_ = 0;
  std::uint32_t iterations_ = 0;
  std::array<char, 32> signature_{};  // what the server has to send
  bool is_proven_ = false;            // signature_ is set
};

}  // namespace katana::postgres

// SPDX-License-Identifier: Apache-2.0
