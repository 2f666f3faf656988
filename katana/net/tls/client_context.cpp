#include "katana/net/tls/client_context.hpp"

#include <fmt/format.h>

#include <new>
#include <utility>

#include "katana/net/tls/identity.hpp"
#include "katana/net/tls/machine_transform.hpp"
#include "katana/net/tls/setup.hpp"

namespace katana::tls {
namespace {

Result<void> trust(SSL_CTX& context, Bytes text, const std::string& source) {
  auto authorities = read_certificates(text, source);
  if (!authorities) return std::unexpected(authorities.error().within("authorities"));
  X509_STORE* const store = SSL_CTX_get_cert_store(&context);
  for (const OwnedCertificate& each : *authorities) {
    if (X509_STORE_add_cert(store, each.get()) == 1) continue;
    return fail(Code::invalid_argument,
                fmt::format("authorities '{}' cannot be used: {}", source, last_error()));
  }
  return {};
}

Result<void> set_authorities(SSL_CTX& context, const ClientTlsOptions& options) {
  if (options.dangerously_accept_any_certificate) {
    SSL_CTX_set_verify(&context, SSL_VERIFY_NONE, nullptr);
    return {};
  }
  SSL_CTX_set_verify(&context, SSL_VERIFY_PEER, nullptr);
  if (options.system_authorities && SSL_CTX_set_default_verify_paths(&context) != 1) {
    return fail(Code::unavailable,
                "the authorities that this machine trusts cannot be read (" + last_error() +
                    "): install ca-certificates, or say system_authorities = false");
  }
  if (!options.authorities_file.empty()) {
    auto text = read_file(options.authorities_file, "authorities");
    if (!text) return std::unexpected(text.error());
    auto trusted = trust(context, *text, options.authorities_file);
    if (!trusted) return trusted;
  }
  if (options.authorities_text.empty()) return {};
  return trust(context, options.authorities_text, "(given as text)");
}

Result<void> set_identity(SSL_CTX& context, const Certificate& certificate) {
  if (certificate.chain_file.empty() && certificate.chain_text.empty()) return {};
  std::vector<std::string> notes;
  auto identity = load_identity(certificate, notes);
  if (!identity) return std::unexpected(identity.error());
  return use_identity(context, *identity);
}

}  // namespace

std::string describe_failure(const Machine& machine, const std::string& name) {
  // A certificate that is not checked has its problems, too.
  const char* const problem = machine.certificate_problem();
  if (machine.failure() == Failure::client_certificate && problem != nullptr) {
    return fmt::format("the certificate of '{}' is refused: {}", name, problem);
  }
  return fmt::format("TLS with '{}' failed: {}", name, name_of(machine.failure()));
}

class ClientTransform final : public MachineTransform, private SessionStore {
 public:
  ClientTransform(ClientTransforms& owner, BlockPool& blocks) noexcept
      : MachineTransform(blocks, owner.context_, owner.context_->get(), Side::client),
        owner_(owner),
        prelude_(owner.prelude_) {
    if (valid() && owner.sessions_ != nullptr) {
      machine_.resume(owner.asked_for_.session.get(), *this);
    }
  }

  net::TransformStep receive(Bytes input, std::span<char> plain, Instant now) noexcept override {
    if (prelude_ == nullptr) return MachineTransform::receive(input, plain, now);
    if (!std::exchange(asked_, true) && !output_.write(prelude_->request())) {
      return {net::TransformEvent::failed};
    }
    const Prelude::Step said = prelude_->next(input);
    if (said.state == Prelude::State::going) {
      return {net::TransformEvent::need_bytes, said.consumed};
    }
    if (said.state == Prelude::State::failed) return {net::TransformEvent::failed, said.consumed};
    prelude_ = nullptr;
    net::TransformStep step = MachineTransform::receive(input.substr(said.consumed), plain, now);
    step.consumed += said.consumed;
    return step;
  }

  bool expect(const std::string& name) noexcept { return machine_.expect_name(name.c_str()); }

  void cut(net::TransformCut why) noexcept override {
    if (machine_.has_failed() || machine_.opened()) return;
    owner_.problem_ = why == net::TransformCut::timed_out
                          ? "the TLS handshake took too long"
                          : "the server ended the connection in the midst of the TLS handshake";
  }

 private:
  void note_opened() noexcept override { owner_.resumed_ = machine_.resumed(); }
  // The certificate behind a resumed session was verified with the first session.
  void keep(SSL_SESSION& session, Instant now) noexcept override {
    const Instant verified_at = machine_.resumed() ? owner_.asked_for_.verified_at : now;
    owner_.sessions_->keep({OwnedSession(&session), verified_at});
  }
  void note_failed(Failure) noexcept override {
    // The session with a server that caused a failure is not continued (RFC 5246 §7.2.2).
    if (owner_.sessions_ != nullptr) owner_.sessions_->clear();
    owner_.problem_ = describe_failure(machine_, owner_.name_);
  }

  ClientTransforms& owner_;
  Prelude* prelude_;  // null: it is over, or there is none
  bool asked_ = false;
};

Result<std::shared_ptr<const ClientContext>> ClientContext::make(const ClientTlsOptions& options) {
  OwnedContext made(SSL_CTX_new(TLS_client_method()));
  if (made == nullptr) return fail(Code::internal, "OpenSSL: " + last_error());
  SSL_CTX& context = *made;
  auto set = set_up(context, options.version_min,
                    {options.ciphers_1_2, options.ciphers_1_3, options.groups});
  if (set) set = set_authorities(context, options);
  if (set) set = set_identity(context, options.certificate);
  if (!set) return std::unexpected(set.error());
  if (options.session_lifetime < Duration{}) {
    return fail(Code::invalid_argument, "TLS session_lifetime has to be zero or above");
  }
  if (options.session_lifetime > Duration{}) Machine::prepare_to_resume(context);
  auto protocols = encode_protocols(options.protocols);
  if (!protocols) return std::unexpected(protocols.error());
  // Returns 0 for success, unlike its kin.
  if (SSL_CTX_set_alpn_protos(&context, reinterpret_cast<const unsigned char*>(protocols->data()),
                              static_cast<unsigned>(protocols->size())) != 0) {
    return fail(Code::internal, "OpenSSL: " + last_error());
  }
  ERR_clear_error();
  return std::shared_ptr<const ClientContext>(
      new ClientContext(std::move(made), options.session_lifetime));
}

std::unique_ptr<net::Transform> ClientTransforms::make(BlockPool& blocks) noexcept {
  problem_.clear();
  resumed_ = false;
  std::unique_ptr<ClientTransform> made(new (std::nothrow) ClientTransform(*this, blocks));
  if (made == nullptr || !made->valid() || !made->expect(name_)) return nullptr;
  return made;
}

void ClientTransforms::resume(KeptSessions& sessions, Instant now) noexcept {
  if (context_->session_lifetime() <= Duration{}) return;
  sessions_ = &sessions;
  asked_for_ = sessions.take(now, context_->session_lifetime());
}

}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
