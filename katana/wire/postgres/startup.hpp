// Startup: the start of a session, from the first byte of a connection to ReadyForQuery.
//
//   Startup startup(options, nonce);
//   startup.begin(output);
//   for each piece of input:
//     StartStep step = startup.next(input, output);
//       encrypt     make TLS, then startup.encrypted(facts, output)
//       password    startup.answer(password, output)
//       proof       the same, or startup.prove(keys, output) with keys of another thread
//       ready       a Machine takes over the bytes behind step.consumed
//
// A server in the middle gets neither the password nor a session. The rules:
//
//   TLS         is made or the start ends; there is no "if the server offers it". Bytes that came
//               before TLS end the start (CVE-2021-23222). With direct TLS the server has to agree
//               on the name 'postgresql'. An error of the server before TLS is not read.
//   method      only those that the options allow; by default SCRAM alone. A server that asks for
//               nothing is refused like one that asks for too much.
//   SCRAM       AuthenticationOk counts only behind the server's signature.
//   binding     `required` takes SCRAM-SHA-256-PLUS alone. Without an offer, `preferred` sends the
//               flag y: a server that did offer it sees that the offer was removed.
//
// Owns       the state, SCRAM's messages and the nonce: 1.7 KB, needed until `ready`.
// Borrows    the options' texts, until `authenticated`. The input and the output
//            of a call for that call: a step's body is a view of the input.
// Thread     one at a time.
// Allocates  OpenSSL's contexts of HMAC, for the proof.
// Fails      Event::refused with refusal(); Event::error with the server's report. Nothing follows.
// Invariant  no byte of a user, a database or a password is written before TLS, if TLS is required.
// Source     PostgreSQL 18, "Message Flow", "Start-up", "SSL Session Encryption"
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "katana/base/text/bytes.hpp"
#include "katana/wire/postgres/frame.hpp"
#include "katana/wire/postgres/limits.hpp"
#include "katana/wire/postgres/requests.hpp"
#include "katana/wire/postgres/scram.hpp"
#include "katana/wire/postgres/startup_states.hpp"

namespace katana::postgres {

inline constexpr Bytes alpn_name = "postgresql";  // of TLS, for PostgreSQL's protocol

// How TLS begins.
enum class TlsStart : std::uint8_t {
  off,      // a Unix socket, or a network that is trusted
  request,  // SSLRequest: every server
  direct,   // with the first byte, and ALPN: PostgreSQL 17 and later
};

// SCRAM's binding to the server's certificate.
enum class ChannelBinding : std::uint8_t { off, preferred, required };

// The methods of authentication that may be used.
struct Methods {
  // SCRAM-SHA-256, with or without channel binding.
  bool scram = true;
  bool md5 = false;        // its digest is as good as the password
  bool cleartext = false;  // the server learns the password
  bool nothing = false;    // "trust", "peer", client certificates
};

// The wishes of a client.
struct StartupOptions {
  // The user of the session.
  Bytes user = {};
  Bytes database = {};                                // empty: named like the user
  std::span<const StartupParameter> parameters = {};  // others, as client_encoding
  // The version that is asked for.
  std::uint32_t version = version_3_2;
  std::uint32_t version_min = version_3_0;  // an older server is refused
  // The beginning of TLS.
  TlsStart tls = TlsStart::request;
  // The use of channel binding.
  ChannelBinding binding = ChannelBinding::preferred;
  // The methods that the client agrees to.
  Methods methods = {};
};

// The results of a TLS handshake.
struct TlsFacts {
  Bytes alpn = {};              // empty: none
  Bytes server_end_point = {};  // RFC 5929 §4.1: the digest of the certificate; empty: unknown
};

// The findings of next().
enum class StartEvent : std::uint8_t {
  need_bytes,     // at least `size` of them in all
  no_room,        // in the output: call again with the same input
  encrypt,        // make TLS, then call encrypted()
  version,        // the server's protocol is older: version()
  password,       // call answer(); for md5 and cleartext
  scram,          // the first message of SCRAM was written
  proof,          // call answer() or prove()
  verified,       // the server has proved that it knows the password
  authenticated,  // AuthenticationOk
  setting,        // setting_of(body)
  notice,         // report_of(body)
  key,            // backend_key_of(body)
  ready,          // the session begins
  error,          // report_of(body): the server ends the connection
  refused,        // see refusal(); close the connection
};

// The result of one call of next().
struct StartStep {
  // The result of the call.
  StartEvent event = StartEvent::need_bytes;
  std::size_t consumed = 0;  // bytes of the input
  std::size_t size = 0;      // of need_bytes: the least size of the input for a next step
  // The content of the message, without its type and length; in the input.
  Bytes body = {};
};

class Startup {
 public:
  // REQUIRES `nonce` of scram_nonce_bytes random bytes, which no other connection has.
  Startup(const StartupOptions& options, Bytes nonce, const Limits& limits = {}) noexcept;

  // Writes the first bytes; with direct TLS there are none, and next() gives `encrypt`.
  Submitted begin(const Output& output) noexcept;
  // TLS is made. REQUIRES at most scram_binding_bytes_max of TlsFacts::server_end_point.
  Submitted encrypted(const TlsFacts& facts, const Output& output) noexcept;
  // At most one event. `input` has all received bytes that are not consumed: what came behind S is
  // seen.
  StartStep next(Bytes input, const Output& output) noexcept;

  // The parameters of SCRAM's keys. REQUIRES StartEvent::proof.
  ScramChallenge challenge() const noexcept KATANA_VIEW { return scram_->challenge(); }
  // Writes the proof.
  Submitted prove(const ScramKeys& keys, const Output& output) noexcept;
  // Answers `password` or `proof`. With SCRAM it derives the keys, which takes 2 ms and more.
  Submitted answer(Bytes password, const Output& output) noexcept;

  // The present state.
  StartState state() const noexcept { return state_; }
  // The reason of a failure; none: there is no failure.
  Refusal refusal() const noexcept { return refusal_; }
  // The version of the protocol; final from `authenticated` on.
  std::uint32_t version() const noexcept { return version_; }
  // SCRAM was bound to the server's certificate.
  bool is_bound() const noexcept { return is_bound_; }

 private:
  enum class Request : std::uint8_t { none, cleartext, md5 };

  StartStep refuse(Refusal why) noexcept;
  StartStep move(StartCause cause, StartEvent event, const Frame& frame) noexcept;
  StartStep read_tls_answer(Bytes input) noexcept;
  StartStep on_authentication(const Frame& frame, const Output& output) noexcept;
  StartStep on_accepted(const Frame& frame) noexcept;
  StartStep on_password(const Frame& frame, Request request, bool is_allowed) noexcept;
  StartStep on_sasl(const Frame& frame, Bytes mechanisms, const Output& output) noexcept;
  StartStep on_challenge(const Frame& frame, Bytes message) noexcept;
  StartStep on_signature(const Frame& frame, Bytes message) noexcept;
  StartStep on_version(const Frame& frame) noexcept;
  StartStep on_session(const Frame& frame) noexcept;
  Submitted greet(StartCause cause, const Output& output) noexcept;
  bool is_encrypted() const noexcept { return options_.tls != TlsStart::off; }
  Bytes end_point() const noexcept { return {end_point_.data(), end_point_size_}; }

  const StartupOptions options_;
  const Limits limits_;
  StartState state_ = StartState::idle;
  Refusal refusal_ = Refusal::none;
  std::uint32_t version_;
  std::uint32_t messages_ = 0;  // behind authentication
  Request request_ = Request::none;
  bool is_bound_ = false;
  std::array<char, 4> md5_salt_{};
  std::array<char, scram_nonce_bytes> nonce_{};
  std::array<char, scram_binding_bytes_max> end_point_{};
  std::size_t end_point_size_ = 0;
  std::optional<Scram> scram_;
};

// Reads the answer to write_encryption_request(). Nothing: it has not come yet. An error of the
// server before TLS would be anybody's text: it counts as no answer.
struct EncryptionAnswer {
  // True: TLS or GSSAPI begins with the next byte.
  bool is_accepted = false;
  // The reason of a failure; none: there is no failure.
  Refusal refusal = Refusal::none;
};
// The answer to write_encryption_request(). Nothing: it needs more bytes.
std::optional<EncryptionAnswer> read_encryption_answer(Encryption asked, Bytes input) noexcept;

}  // namespace katana::postgres

// SPDX-License-Identifier: Apache-2.0
