#include "katana/net/tls/credentials.hpp"

#include <utility>

#include "katana/net/tls/development.hpp"

namespace katana::tls {

Credentials::Credentials(const TlsOptions& options)
    : options_(options), tickets_(options.ticket_lifetime) {}

Result<std::unique_ptr<Credentials>> Credentials::load(const TlsOptions& options) {
  std::unique_ptr<Credentials> made(new Credentials(options));
  if (options.development) {
    // Made once: after a reload, clients that trust it must not refuse the server.
    auto certificate = make_development_certificate(options.development_names);
    if (!certificate) return std::unexpected(certificate.error());
    made->options_.certificates.push_back(*std::move(certificate));
    made->options_.development = false;
  }
  auto contexts = Contexts::make(made->options_, made->tickets_);
  if (!contexts) return std::unexpected(contexts.error());
  made->present_ = *std::move(contexts);
  return made;
}

Result<std::vector<std::string>> Credentials::reload() {
  const std::lock_guard one(reloading_);
  auto contexts = Contexts::make(options_, tickets_);
  if (!contexts) return std::unexpected(contexts.error());
  std::vector<std::string> notes = (*contexts)->notes();
  {
    const std::lock_guard lock(mutex_);
    present_ = *std::move(contexts);
  }
  // release: a thread that sees the new number also sees its contexts.
  generation_.fetch_add(1, std::memory_order_release);
  return notes;
}

std::shared_ptr<const Contexts> Credentials::present() const {
  const std::lock_guard lock(mutex_);
  return present_;
}

}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
