// The machine's ends are its own BIO: OpenSSL reads from the input that next() was given, and
// writes to the Outbox. Neither holds anything between calls.
#include "katana/wire/tls/machine.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "katana/base/system/check.hpp"

namespace katana::tls {

// The callbacks of OpenSSL's BIO.
struct MachineBio {
  static int read(BIO* bio, char* to, int count) noexcept {
    auto& machine = *static_cast<Machine*>(BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    if (count <= 0) return 0;
    if (machine.input_.empty()) {
      BIO_set_retry_read(bio);
      return -1;
    }
    const std::size_t size = std::min(static_cast<std::size_t>(count), machine.input_.size());
    std::memcpy(to, machine.input_.data(), size);
    machine.input_.remove_prefix(size);
    return static_cast<int>(size);
  }

  static int write(BIO* bio, const char* from, int count) noexcept {
    auto& machine = *static_cast<Machine*>(BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    if (count <= 0) return 0;
    // Out of blocks in the midst of a handshake or an alert, which cannot be waited for: it fails.
    return machine.output_->write({from, static_cast<std::size_t>(count)}) ? count : -1;
  }

  static long control(BIO*, int command, long, void*) noexcept {
    return command == BIO_CTRL_FLUSH ? 1 : 0;
  }

  static const BIO_METHOD* method() noexcept {
    static BIO_METHOD* const made = [] {
      BIO_METHOD* const method =
          BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "katana machine");
      if (method == nullptr) return method;
      BIO_meth_set_read(method, &MachineBio::read);
      BIO_meth_set_write(method, &MachineBio::write);
      BIO_meth_set_ctrl(method, &MachineBio::control);
      return method;
    }();
    return made;
  }

  // A ClientHello is complete. Not admitted: OpenSSL comes here again.
  static int hello(SSL* ssl, int*, void*) noexcept {
    return Machine::of(*ssl).admitted_ ? SSL_CLIENT_HELLO_SUCCESS : SSL_CLIENT_HELLO_RETRY;
  }

  // OpenSSL refuses a renegotiation by a warning only, and would go on (SSL_OP_NO_RENEGOTIATION).
  static void note_alert(const SSL* ssl, int where, int alert) noexcept {
    if (where == SSL_CB_WRITE_ALERT && (alert & 0xff) == SSL_AD_NO_RENEGOTIATION) {
      Machine::of(*ssl).renegotiation_refused_ = true;
    }
  }

  // 1: the reference is ours.
  static int session(SSL* ssl, SSL_SESSION* session) noexcept {
    const Machine& machine = Machine::of(*ssl);
    if (machine.store_ == nullptr) return 0;
    machine.store_->keep(*session, machine.now_);
    return 1;
  }
};

namespace {

// The failure that an OpenSSL error means. `error` is the earliest of the queue, the cause.
Failure failure_of(unsigned long error, bool opened) noexcept {
  const int reason = ERR_GET_REASON(error);
  if (ERR_GET_LIB(error) != ERR_LIB_SSL) return Failure::other;
  if (reason > SSL_AD_REASON_OFFSET) return Failure::peer_alert;
  switch (reason) {
    case SSL_R_HTTP_REQUEST: return Failure::plain_http;
    case SSL_R_HTTPS_PROXY_REQUEST: return Failure::plain_http;
    case SSL_R_WRONG_VERSION_NUMBER: return opened ? Failure::broken_record : Failure::not_tls;
    case SSL_R_UNKNOWN_PROTOCOL: return Failure::not_tls;
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_VERSION_TOO_LOW:
    case SSL_R_NO_PROTOCOLS_AVAILABLE: return Failure::version;
    case SSL_R_NO_SHARED_CIPHER:
    case SSL_R_NO_SHARED_SIGNATURE_ALGORITHMS:
    case SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM:
    case SSL_R_NO_SUITABLE_KEY_SHARE:
    case SSL_R_NO_SUITABLE_GROUPS: return Failure::no_shared_cipher;
    case SSL_R_NO_APPLICATION_PROTOCOL: return Failure::application_protocol;
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
    case SSL_R_CERTIFICATE_VERIFY_FAILED: return Failure::client_certificate;
    case SSL_R_BAD_RECORD_TYPE:
    case SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC:
    case SSL_R_DATA_LENGTH_TOO_LONG:
    case SSL_R_ENCRYPTED_LENGTH_TOO_LONG:
    case SSL_R_PACKET_LENGTH_TOO_LONG: return Failure::broken_record;
    default: return Failure::other;
  }
}

}  // namespace

void Machine::prepare(SSL_CTX& context) noexcept {
  SSL_CTX_set_client_hello_cb(&context, &MachineBio::hello, nullptr);
}

// OpenSSL keeps none of them: it would not know whose they are.
void Machine::prepare_to_resume(SSL_CTX& context) noexcept {
  SSL_CTX_set_session_cache_mode(&context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(&context, &MachineBio::session);
}

Machine& Machine::of(const SSL& ssl) noexcept {
  return *static_cast<Machine*>(SSL_get_app_data(&ssl));
}

Machine::Machine(SSL_CTX& context, Side side) noexcept : ssl_(SSL_new(&context)) {
  const BIO_METHOD* const method = MachineBio::method();  // without a create(): it is initialised
  BIO* const bio = method != nullptr ? BIO_new(method) : nullptr;
  if (ssl_ == nullptr || bio == nullptr || SSL_set_app_data(ssl_, this) != 1) {
    BIO_free(bio);
    SSL_free(std::exchange(ssl_, nullptr));
    return;
  }
  BIO_set_data(bio, this);
  SSL_set_bio(ssl_, bio, bio);  // owns it
  SSL_set_info_callback(ssl_, &MachineBio::note_alert);
  if (side == Side::server) {
    SSL_set_accept_state(ssl_);
  } else {
    SSL_set_connect_state(ssl_);
  }
}

Machine::~Machine() { SSL_free(ssl_); }

bool Machine::expect_name(const char* name) noexcept {
  X509_VERIFY_PARAM* const wanted = SSL_get0_param(ssl_);
  if (X509_VERIFY_PARAM_set1_ip_asc(wanted, name) == 1) return true;
  // The common name of the subject is no identity (RFC 9110 §4.3.4), because no authority verifies
  // it as a host. This holds also where a certificate has no other name.
  X509_VERIFY_PARAM_set_hostflags(
      wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  const bool expected = X509_VERIFY_PARAM_set1_host(wanted, name, 0) == 1 &&
                        SSL_set_tlsext_host_name(ssl_, name) == 1;
  ERR_clear_error();
  return expected;
}

bool Machine::announce_name(const char* name) noexcept {
  if (ASN1_OCTET_STRING* const address = a2i_IPADDRESS(name)) {
    ASN1_OCTET_STRING_free(address);
    return true;
  }
  const bool announced = SSL_set_tlsext_host_name(ssl_, name) == 1;
  ERR_clear_error();
  return announced;
}

void Machine::resume(SSL_SESSION* session, SessionStore& store) noexcept {
  store_ = &store;
  if (session != nullptr) SSL_set_session(ssl_, session);
  ERR_clear_error();
}

const char* Machine::certificate_problem() const noexcept {
  const long problem = SSL_get_verify_result(ssl_);
  return problem == X509_V_OK ? nullptr : X509_verify_cert_error_string(problem);
}

// Without input and output: a call ends.
void Machine::begin(Bytes input, Outbox* output) noexcept {
  ERR_clear_error();  // SSL_get_error() reads earlier errors of the thread
  input_ = input;
  given_ = input.size();
  output_ = output;
}

Step Machine::next(Bytes input, std::span<char> plain, Outbox& output, Instant now) noexcept {
  KATANA_REQUIRE(!plain.empty());
  begin(input, &output);
  now_ = now;
  if (has_failed()) return {Event::failed, given_, 0};
  if (ended_) return {Event::ended, given_, 0};
  Step step = opened_ ? read(plain) : shake_hands();
  // OpenSSL asks for bytes when it has read all there are; should it ask before, it is asked again
  // as long as it takes some.
  for (std::size_t left = given_; step.event == Event::need_bytes && !input_.empty();) {
    if (input_.size() == left) {
      step = fail();
      break;
    }
    left = input_.size();
    step = opened_ ? read(plain) : shake_hands();
  }
  begin({}, nullptr);
  return step;
}

Step Machine::shake_hands() noexcept {
  const int done = SSL_do_handshake(ssl_);
  if (done == 1) {
    opened_ = true;
    return {Event::opened, consumed(), 0};
  }
  switch (SSL_get_error(ssl_, done)) {
    case SSL_ERROR_WANT_READ: return {Event::need_bytes, consumed(), 0};
    case SSL_ERROR_WANT_CLIENT_HELLO_CB: return {Event::hello, consumed(), 0};
    default: return fail();
  }
}

Step Machine::read(std::span<char> plain) noexcept {
  std::size_t produced = 0;
  for (;;) {
    std::size_t count = 0;
    const int done = SSL_read_ex(ssl_, plain.data() + produced, plain.size() - produced, &count);
    produced += count;
    if (renegotiation_refused_) {
      // RFC 9113 §9.2.1 asks for it on HTTP/2; no client needs it with other protocols either.
      noted_ = Failure::renegotiation;
      const Step failed = fail();
      return produced == 0 ? failed : Step{Event::bytes, consumed(), produced};
    }
    if (done == 1) {
      // Without further input nothing follows: OpenSSL holds the rest of a record only if it does
      // not fit into `plain`.
      if (input_.empty() || produced == plain.size()) return {Event::bytes, consumed(), produced};
      continue;
    }
    const int error = SSL_get_error(ssl_, done);
    if (error == SSL_ERROR_ZERO_RETURN) {
      ended_ = true;
    } else if (error != SSL_ERROR_WANT_READ) {
      const Step failed = fail();
      if (produced == 0) return failed;
    }
    // The plaintext before goes first; the next call reports the end or the failure.
    if (produced != 0) return {Event::bytes, consumed(), produced};
    return {ended_ ? Event::ended : Event::need_bytes, consumed(), 0};
  }
}

Step Machine::fail() noexcept {
  const unsigned long error = ERR_peek_error();
  failure_ = noted_ != Failure::none ? noted_ : failure_of(error, opened_);
  return {Event::failed, given_, 0};
}

std::size_t Machine::seal(Bytes plain, Outbox& output) noexcept {
  KATANA_REQUIRE(opened_ && !plain.empty());
  const std::size_t size = std::min(plain.size(), record_bytes_max);
  if (!can_seal() || !output.has_capacity(size + record_overhead_max)) return 0;
  begin({}, &output);
  std::size_t written = 0;
  if (SSL_write_ex(ssl_, plain.data(), size, &written) != 1) fail();
  begin({}, nullptr);
  return written;
}

void Machine::end(Outbox& output) noexcept {
  if (!opened_ || has_failed() || end_said_ || !output.has_capacity(record_overhead_max)) return;
  end_said_ = true;
  begin({}, &output);
  SSL_shutdown(ssl_);  // writes close_notify; that of the other side is not awaited
  begin({}, nullptr);
}

X509* Machine::peer_certificate() const noexcept {
  X509* const shown = SSL_get0_peer_certificate(ssl_);
  return SSL_get_verify_result(ssl_) == X509_V_OK ? shown : nullptr;
}

Bytes Machine::application_protocol() const noexcept {
  const unsigned char* text = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl_, &text, &size);
  return {reinterpret_cast<const char*>(text), size};
}

Bytes Machine::server_name() const noexcept {
  const char* const name = SSL_get_servername(ssl_, TLSEXT_NAMETYPE_host_name);
  return name != nullptr ? Bytes(name) : Bytes();
}

}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
