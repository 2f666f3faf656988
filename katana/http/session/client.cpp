#include "katana/http/session/client.hpp"

#include "katana/base/system/hints.hpp"
#include "katana/wire/http/url.hpp"

namespace katana::session {
namespace {

KATANA_RARE void add_forwarding(Client& client, const ProxyTrust& trust,
                                const http::Head& head) noexcept {
  const http::Forwarding said = http::read_forwarding(head, trust.rules(), trust.proxies());
  client.is_malformed = said.is_malformed;
  if (said.client.address) {
    client.set_endpoint(
        engine::PeerEndpoint::of(*said.client.address, said.client.port.value_or(0)));
    client.is_forwarded = true;
  }
  if (said.scheme) {
    client.scheme = *said.scheme;
    client.is_forwarded = true;
  }
  if (!said.host.empty()) {
    client.host = said.host;
    client.is_forwarded = true;
  }
}

}  // namespace

Bytes https_problem(const Arrival& arrival) noexcept {
  if (arrival.is_secure || arrival.from_proxy()) return {};
  return "The target asks for https, and its connection has no TLS. A proxy in front that ends "
         "TLS has to be a trusted one (RFC 9110 §7.4).";
}

std::string Client::origin() const {
  if (host.empty()) return {};
  std::string origin(http::name_of(scheme));
  origin += "://";
  origin += host;
  return origin;
}

std::shared_ptr<const ProxyTrust> ProxyTrust::make(std::span<const Network> proxies,
                                                   const http::ForwardedRules& rules) {
  if (proxies.empty()) return nullptr;
  return std::make_shared<const ProxyTrust>(proxies, rules);
}

bool ProxyTrust::trusts(const engine::PeerEndpoint& peer) const noexcept {
  if (peer.family == engine::PeerEndpoint::Family::local) return proxies_.has_local();
  const auto address = peer.ip();
  return address && proxies_.contains(*address);
}

Bytes authority_of(const http::Head& head) noexcept {
  if (!head.target().starts_with('/')) {
    const auto named = http::split_target(head.target(), head.method());
    if (named && !named->authority.empty()) return named->authority;
  }
  return head.find("host").value_or(Bytes());
}

Client client_of(const Arrival& arrival, const http::Head& head) noexcept {
  Client client(arrival.peer);
  client.scheme = arrival.is_secure ? http::Scheme::https : http::Scheme::http;
  client.host = authority_of(head);
  if (arrival.from_proxy()) add_forwarding(client, *arrival.trust, head);
  return client;
}

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
