// Machine: one side of one TLS connection, as a function of bytes: ciphertext in, plaintext out,
// and the other way round. TLS 1.2 (RFC 5246) and 1.3 (RFC 8446), by OpenSSL.
//
//   handshake ── hello ──> admit() ── opened ──> bytes … ── ended (close_notify)
//       └───────────────── failed ─────────────────┘
//
// Owns       its SSL, and through it a share of the SSL_CTX. An idle one holds no record buffers.
// Borrows    input and Outbox for the call.
// Thread     one at a time.
// Allocates  by OpenSSL only.
// Fails      Event::failed, and failure() says why. The alert is in the outbox; nothing can be
//            received or sealed after it. valid() is false when there was no memory.
// Invariant  the events of next() are a function of the bytes, however they are cut. It consumes
//            all input before it reports need_bytes, and holds no plaintext back.
//
// The caller sets the handshake's deadline and limits how many handshakes are answered at a time.
// When a ClientHello is complete, next() reports Event::hello until admit(), before it does any
// costly work. A client's machine never reports hello and speaks first: its first next() is given
// no bytes.
#pragma once

#include <openssl/ssl.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "katana/base/memory/outbox.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/wire/tls/failure.hpp"

namespace katana::tls {

// The events of Machine::next().
enum class Event : std::uint8_t {
  need_bytes,  // nothing to report until more bytes come
  hello,       // answering costs a signature: goes on after admit()
  opened,      // the handshake is complete
  bytes,       // `produced` bytes of plaintext; there may be more when they fill the room given
  ended,       // close_notify: the other side sends no more
  failed,      // failure() says why; nothing follows
};

// Result of Machine::next().
struct Step {
  Event event = Event::need_bytes;  // at most one for each call
  std::size_t consumed = 0;         // bytes of the input that were used
  std::size_t produced = 0;         // bytes of plaintext that were written
};

// The most plaintext of one record (RFC 8446 §5.1), and the most bytes that sealing adds to it.
inline constexpr std::size_t record_bytes_max = 16 * 1024;
inline constexpr std::size_t record_overhead_max = 64;

// Told of the sessions that a server lets its client resume. They come while next() is called.
class SessionStore {
 public:
  virtual ~SessionStore() = default;
  // Takes over a reference.
  virtual void keep(SSL_SESSION& session, Instant now) noexcept = 0;
};

// Which side this machine is. The client speaks first.
enum class Side : std::uint8_t { server, client };

class Machine {
 public:
  // Prepares a context for machines. Called once, before the first machine of the context.
  static void prepare(SSL_CTX& context) noexcept;
  // The same for a client's context whose machines resume sessions.
  static void prepare_to_resume(SSL_CTX& context) noexcept;
  // The machine that `ssl` belongs to, for callbacks of the context.
  static Machine& of(const SSL& ssl) noexcept;

  // The context decides whether the other side's certificate is examined, and how.
  explicit Machine(SSL_CTX& context, Side side = Side::server) noexcept;
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  bool valid() const noexcept { return ssl_ != nullptr; }  // false: there was no memory for it

  // At most one event. REQUIRES valid(); `plain` is not empty.
  Step next(Bytes input, std::span<char> plain, Outbox& output, Instant now) noexcept;
  // The handshake may go on.
  void admit() noexcept { admitted_ = true; }

  // One record of the first bytes of `plain`. Returns how many: 0 when the outbox has no room, or
  // the machine has failed; nothing is then written. REQUIRES opened(); plain is not empty.
  std::size_t seal(Bytes plain, Outbox& output) noexcept;
  bool can_seal() const noexcept { return opened_ && !end_said_ && !has_failed(); }
  // close_notify (RFC 8446 §6.1), once; nothing when the handshake is not complete.
  void end(Outbox& output) noexcept;
  // The other side sends no more. True: it sent no close_notify, and an attacker on the way may
  // have cut its data short.
  bool end_of_input() const noexcept { return opened_ && !ended_; }

  bool opened() const noexcept { return opened_; }  // the handshake is complete
  // Nothing can be received or sealed.
  bool has_failed() const noexcept { return failure_ != Failure::none; }
  Failure failure() const noexcept { return failure_; }  // Failure::none: it has not failed
  // For a client: the problem of the certificate that the server has shown; null: there is none.
  const char* certificate_problem() const noexcept;
  // For a client, before the first next(): sets the name that the server's certificate must have,
  // a DNS name or a numeric address. A DNS name is also sent as SNI (RFC 6066 §3). False: there is
  // no memory, or the name is neither.
  bool expect_name(const char* name) noexcept;
  // For a client, before the first next(): sends the DNS name as SNI and demands nothing of the
  // certificate. A numeric address is not sent. False: there is no memory, or the name is neither.
  bool announce_name(const char* name) noexcept;
  // For a client, before the first next(): asks to resume the session of an earlier connection with
  // the same server. Takes a share of the session; null: there is none to resume. `store` receives
  // the sessions that the server offers for later, and must outlive the machine. The certificate of
  // a resumed session is not verified again.
  void resume(SSL_SESSION* session, SessionStore& store) noexcept;
  // For a server, before the first next(): sets the protocols that ALPN chooses from, in place of
  // the context's. They are encoded as they are sent (RFC 7301 §3.1). Borrows them; they outlive
  // the machine.
  void set_protocols(Bytes encoded) noexcept { protocols_ = encoded; }
  // For callbacks: the protocols of set_protocols(); empty: none were set.
  Bytes protocols() const noexcept { return protocols_; }
  // For callbacks: a failure that OpenSSL does not tell from others.
  void note_failure(Failure failure) noexcept { noted_ = failure; }
  Instant now() const noexcept { return now_; }

  // ---- once opened
  int version() const noexcept { return SSL_version(ssl_); }  // TLS1_2_VERSION, TLS1_3_VERSION
  // Without a full handshake.
  bool resumed() const noexcept { return SSL_session_reused(ssl_) == 1; }
  Bytes application_protocol() const noexcept;  // of ALPN (RFC 7301); empty: none was agreed on
  // The name that the other side asked for (SNI); empty: none.
  Bytes server_name() const noexcept;
  // The verified certificate of the other side; null: it has shown none.
  X509* peer_certificate() const noexcept;
  // The certificate that the other side has shown, verified or not; null: none. Without a
  // verification it is no identity.
  X509* shown_certificate() const noexcept { return SSL_get0_peer_certificate(ssl_); }
  const char* cipher() const noexcept { return SSL_get_cipher_name(ssl_); }

 private:
  friend struct MachineBio;

  Step shake_hands() noexcept;
  Step read(std::span<char> plain) noexcept;
  Step fail() noexcept;
  std::size_t consumed() const noexcept { return given_ - input_.size(); }
  void begin(Bytes input, Outbox* output) noexcept;

  SSL* ssl_;
  Bytes input_;  // of the call, and what is left of it
  std::size_t given_ = 0;
  Outbox* output_ = nullptr;
  Instant now_;
  bool admitted_ = false;
  bool opened_ = false;
  bool ended_ = false;
  bool end_said_ = false;
  Failure failure_ = Failure::none;
  Failure noted_ = Failure::none;
  bool renegotiation_refused_ = false;
  SessionStore* store_ = nullptr;
  Bytes protocols_;
};

}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
