#include "katana/app/behind_proxy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "katana/http/server/listener_options.hpp"

namespace katana::app {
namespace {

using Found = std::vector<InsecureSetting>;
using http::ForwardedFields;
using http::ForwardedPart;

bool has_part(const HttpSettings& http, ForwardedPart part) {
  return http.forwarded != ForwardedFields::none &&
         std::ranges::find(http.forwarded_parts, part) != http.forwarded_parts.end();
}

bool takes_proxy_headers(const HttpSettings& http) {
  return http.proxy_protocol == server::ProxyProtocol::required ||
         std::ranges::any_of(http.listeners, [](const server::ListenerOptions& each) {
           return each.proxy_protocol == server::ProxyProtocol::required;
         });
}

// Others than this machine connect.
bool is_exposed(const HttpSettings& http) {
  return !server::is_loopback(http.address) ||
         !std::ranges::all_of(http.listeners, [](const server::ListenerOptions& each) {
           return server::is_loopback(each.address);
         });
}

// The shortest prefix of a network for addresses of proxies: fc00::/7.
constexpr unsigned proxy_bits_min = 7;

void judge_names(const HttpSettings& http, Found& found) {
  if (!http.hosts.empty() || !counts_on_proxy(http)) return;
  if (is_exposed(http)) return;  // the findings on those listeners say it
  found.push_back({"http.hosts", "empty",
                   "a proxy passes every name on, also one that an attacker's page resolves to its "
                   "address",
                   "list the names of this server"});
}

void judge_trust(const HttpSettings& http, Found& found) {
  for (const Network& each : http.trusted_proxies) {
    if (each.is_local() || each.bits() >= proxy_bits_min) continue;
    found.push_back({"http.trusted_proxies", std::string(each.to_text()),
                     "every client may say who it is, and by which scheme it came",
                     "name the addresses of the proxies alone"});
  }
  if (!http.trusted_proxies.empty() && !takes_proxy_headers(http) &&
      !has_part(http, ForwardedPart::client)) {
    const bool is_none = http.forwarded == ForwardedFields::none;
    found.push_back({is_none ? "http.forwarded" : "http.forwarded_parts",
                     is_none ? "none" : "without for",
                     "every client of a trusted proxy has the proxy's address: limits, the login "
                     "throttle and the log do not tell one from another",
                     is_none ? "name the header that the proxies write: forwarded or x_forwarded"
                             : "have the proxies write it, and add for"});
  }
  if (http.trusted_proxies.empty() && has_public_names(http) && !http.tls.given()) {
    found.push_back({"http.trusted_proxies", "empty",
                     "http.hosts has names that clients use, and nothing is served by TLS. "
                     "Limits, the login throttle and the log take the proxy for the client, and "
                     "https is not known",
                     "name the proxy's address, and in http.forwarded the header that it writes"});
  }
}

void judge_unix(const HttpSettings& http, Found& found) {
  if (http.trusted_proxies.empty()) return;
  if (std::ranges::any_of(http.trusted_proxies,
                          [](const Network& each) { return each.is_local(); })) {
    return;
  }
  for (std::size_t index = 0; index < http.listeners.size(); ++index) {
    const std::string& address = http.listeners[index].address;
    if (!server::is_unix(address)) continue;
    found.push_back({fmt::format("http.listeners[{}].address", index), address,
                     "what the proxy on this socket says of its clients is not believed",
                     "add unix to http.trusted_proxies"});
  }
}

void judge_https(const ApplicationSettings& settings, Found& found) {
  const HttpSettings& http = settings.http;
  if (settings.sessions.store == SessionPlace::off || !settings.sessions.secure) return;
  if (http.tls.given()) return;
  if (!is_exposed(http) && !has_public_names(http) && !counts_on_proxy(http)) return;
  if (!http.trusted_proxies.empty() && has_part(http, ForwardedPart::proto)) return;
  found.push_back({"sessions.secure", "true",
                   "nothing here has TLS, and no proxy says whether a client uses https. A client "
                   "without it gets a cookie that it never sends, and no redirect",
                   "set http.tls.certificates; behind a proxy with TLS http.trusted_proxies, "
                   "http.forwarded, and proto in http.forwarded_parts"});
}

void note_operations(const ApplicationSettings& settings, Found& found) {
  const server::OperationsOff off =
      server::OperationsGuard(operations_rules_of(settings, {})).off();
  if (off == server::OperationsOff::no || settings.operations.port != 0) return;
  found.push_back({"operations.port", "0",
                   fmt::format("/metrics, details of /health and /ready, and dashboards are off, "
                               "because {}",
                               reason_of(off, settings.http)),
                   std::string(operations_remedy)});
}

void note_clients(const HttpSettings& http, Found& found) {
  const net::ClientLimitOptions& clients = http.clients;
  const bool limits_connections = clients.connections_max != 0 || clients.connections_per_s != 0 ||
                                  clients.handshakes_max != 0 || clients.received_bytes_per_s != 0;
  if (!limits_connections || http.trusted_proxies.empty() || takes_proxy_headers(http)) return;
  found.push_back({"http.clients", "limits of connections",
                   "connections of trusted_proxies are exempt, and their clients have no "
                   "connections here",
                   "limit connections in the proxy; here set http.clients.requests_max and "
                   "http.rate_limit, which count by client"});
}

void note_host(const HttpSettings& http, Found& found) {
  if (http.trusted_proxies.empty() || !has_part(http, ForwardedPart::host)) return;
  found.push_back({"http.forwarded_parts", "with host",
                   "a proxy that does not write it passes on what its client has sent",
                   "see that every proxy overwrites it; the names in http.hosts are compared with "
                   "it and with Host"});
}

}  // namespace

bool counts_on_proxy(const HttpSettings& http) {
  const bool leads_away =
      !http.tls.given() &&
      std::ranges::any_of(http.listeners, [](const server::ListenerOptions& each) {
        return each.redirect_to_https;
      });
  return !http.trusted_proxies.empty() || takes_proxy_headers(http) || leads_away;
}

bool has_public_names(const HttpSettings& http) {
  const server::HostList here({}, {});
  return !std::ranges::all_of(http.hosts, [&](const std::string& each) { return here.has(each); });
}

server::OperationsRules operations_rules_of(const ApplicationSettings& settings,
                                            std::vector<std::string> sockets) {
  const HttpSettings& http = settings.http;
  server::OperationsRules rules;
  rules.addresses = std::move(sockets);
  rules.hosts = http.hosts;
  rules.token = settings.operations.token;
  rules.behind_proxy = counts_on_proxy(http);
  if (rules.addresses.empty()) rules.addresses.push_back(http.address);
  for (const server::ListenerOptions& each : http.listeners) {
    rules.addresses.push_back(each.address);
  }
  if (settings.operations.port != 0) rules.listener_address = settings.operations.address;
  return rules;
}

Result<void> check_operations(const ApplicationSettings& settings) {
  if (settings.operations.port != 0 ||
      settings.operations.address == OperationsSettings().address) {
    return {};
  }
  return fail(Code::invalid_argument,
              "operations.address is given and operations.port is not: there would be no "
              "listener; set operations.port");
}

std::string reason_of(server::OperationsOff off, const HttpSettings& http) {
  switch (off) {
    case server::OperationsOff::exposed: return "the address is not a loopback one";
    case server::OperationsOff::sockets:
      return "every user who may open the socket would see them, and so would every client of a "
             "proxy that may";
    case server::OperationsOff::proxies:
      return http.trusted_proxies.empty()
                 ? "a listener counts on a proxy, and every client of a proxy has its address"
                 : "http.trusted_proxies are set, and every client of a proxy has its address";
    case server::OperationsOff::names:
      return "http.hosts has names that strangers know: a proxy on this machine passes them on";
    case server::OperationsOff::no: break;
  }
  return {};
}

std::vector<InsecureSetting> insecure_behind_proxy(const ApplicationSettings& settings) {
  Found found;
  judge_names(settings.http, found);
  judge_trust(settings.http, found);
  judge_unix(settings.http, found);
  judge_https(settings, found);
  return found;
}

std::vector<InsecureSetting> deployment_notes(const ApplicationSettings& settings) {
  Found found;
  note_operations(settings, found);
  note_clients(settings.http, found);
  note_host(settings.http, found);
  return found;
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
