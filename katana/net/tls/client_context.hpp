// ClientContext: everything that handshakes of a client need, ready to use and never changed.
// ClientTransforms: TLS for one connection that we begin, as the reactor's Transform.
//
// Owns       the SSL_CTX, which connections share; ClientTransforms a share of the context, and the
//            result of its last connection.
// Thread     a ClientContext any; ClientTransforms its reactor's.
// Allocates  at make(), and for each connection the memory of OpenSSL.
// Fails      ClientContext::make() names the option or file. A connection that fails says why in
//            ClientTransforms::problem().
// Invariant  bytes are sealed or received only after the server has shown a certificate. One of the
//            authorities has signed it, and it is for the name. The option
//            dangerously_accept_any_certificate is the only exception.
#pragma once

#include <memory>
#include <string>

#include "katana/base/system/result.hpp"
#include "katana/net/reactor/transform.hpp"
#include "katana/net/tls/client_options.hpp"
#include "katana/net/tls/kept_sessions.hpp"
#include "katana/net/tls/openssl.hpp"
#include "katana/net/tls/prelude.hpp"
#include "katana/wire/tls/machine.hpp"

namespace katana::tls {

class ClientContext {
 public:
  // Reads authorities and the client certificate. An Error names the option or file.
  static Result<std::shared_ptr<const ClientContext>> make(const ClientTlsOptions& options);

  SSL_CTX& get() const noexcept { return *context_; }  // shared by all connections; never changed
  // The lifetime of a session, from the verification of the server.
  Duration session_lifetime() const noexcept { return session_lifetime_; }

 private:
  ClientContext(OwnedContext context, Duration session_lifetime) noexcept
      : context_(std::move(context)), session_lifetime_(session_lifetime) {}
  OwnedContext context_;
  const Duration session_lifetime_;
};

// Describes the failure of a client's machine, with the server `name`. REQUIRES that it has failed.
std::string describe_failure(const Machine& machine, const std::string& name);

// Makes the TLS of connections to one server, one after another.
class ClientTransforms final : public net::TransformFactory {
 public:
  // `name`: the server's DNS name, or its numeric address without brackets.
  ClientTransforms(std::shared_ptr<const ClientContext> context, std::string name) noexcept
      : context_(std::move(context)), name_(std::move(name)) {}

  std::unique_ptr<net::Transform> make(BlockPool& blocks) noexcept override;

  // Called before make(): the next connection asks for the youngest of `sessions`, and keeps there
  // the sessions that the server offers. REQUIRES that all of them are of this context and this
  // name, and that they outlive the connection.
  void resume(KeptSessions& sessions, Instant now) noexcept;
  // Whether the last connection resumed a session that an earlier one had verified.
  bool resumed() const noexcept { return resumed_; }

  // Called before make(): the prelude runs before TLS on the next connection, and outlives it.
  void set_prelude(Prelude& prelude) noexcept { prelude_ = &prelude; }

  // The reason why the last connection failed or broke; empty: TLS was not the cause.
  const std::string& problem() const noexcept { return problem_; }

 private:
  friend class ClientTransform;

  const std::shared_ptr<const ClientContext> context_;
  const std::string name_;
  std::string problem_;
  KeptSessions* sessions_ = nullptr;
  Prelude* prelude_ = nullptr;
  KeptSession asked_for_;  // by the next connection, or the last
  bool resumed_ = false;
};

}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
