#include "katana/http/server/operations.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "katana/http/handlers/dispatcher.hpp"
#include "katana/http/handlers/framework_problems.hpp"
#include "katana/http/server/listener_options.hpp"
#include "katana/wire/http/characters.hpp"
#include "katana/wire/http/forwarded.hpp"
#include "katana/wire/http/url.hpp"

namespace katana::server {
namespace {

// An address in one form for all spellings: IPv6, with IPv4 mapped into it.
using Address = std::array<std::uint8_t, 16>;

std::optional<Address> address_of(Bytes text) noexcept {
  std::array<char, INET6_ADDRSTRLEN> copy{};
  if (text.size() >= copy.size()) return std::nullopt;
  std::memcpy(copy.data(), text.data(), text.size());
  Address address{};
  if (text.find(':') != Bytes::npos) {
    if (inet_pton(AF_INET6, copy.data(), address.data()) != 1) return std::nullopt;
    return address;
  }
  address[10] = address[11] = 0xff;
  if (inet_pton(AF_INET, copy.data(), address.data() + 12) == 1) return address;
  return std::nullopt;
}

bool is_v4(const Address& address) noexcept {
  static constexpr std::array<std::uint8_t, 12> mapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::equal(mapped.begin(), mapped.end(), address.begin());
}

bool is_loopback_address(const Address& address) noexcept {
  if (is_v4(address)) return address[12] == 127;
  Address one{};
  one[15] = 1;
  return address == one;
}

bool is_any(const Address& address) noexcept {
  const std::size_t first = is_v4(address) ? 12 : 0;
  return std::all_of(address.begin() + first, address.end(), [](auto octet) { return octet == 0; });
}

// Returns the name without the port, the brackets of IPv6, and a dot at its end.
Bytes name_in(Bytes authority) noexcept {
  const auto parts = http::split_authority(authority);
  if (!parts) return {};
  Bytes host = parts->host;
  if (!parts->bracketed && host.ends_with('.')) host.remove_suffix(1);
  return host;
}

// Compares in a time that depends only on the size of `given`.
bool is_token(Bytes given, Bytes token) noexcept {
  unsigned difference = given.size() == token.size() ? 0 : 1;
  for (std::size_t index = 0; index < given.size(); ++index) {
    difference |= static_cast<unsigned char>(given[index] ^ token[index % token.size()]);
    asm volatile("" : "+r"(difference));  // keeps the compiler from an early exit
  }
  return difference == 0;
}

bool has_token(const RequestView& request, Bytes token) noexcept {
  constexpr Bytes scheme = "Bearer ";
  const Bytes field = request.field("authorization").value_or(Bytes());
  if (!http::equals_ignoring_case(field.substr(0, scheme.size()), scheme)) return false;
  return is_token(field.substr(std::min(field.size(), scheme.size())), token);
}

}  // namespace

Reply strange_host() {
  return problem(problem_types::misdirected,
                 "This server does not answer to the name that Host, or the target, says. If it is "
                 "one of its names, add it to http.hosts.");
}

bool is_loopback(Bytes address) noexcept {
  if (is_unix(address)) return true;
  const auto parsed = address_of(address);
  return parsed && is_loopback_address(*parsed);
}

bool is_loopback(const engine::PeerEndpoint& client) noexcept {
  const std::optional<IpAddress> address = client.ip();
  return address && is_loopback_address(address->octets());
}

HostList::HostList(std::vector<std::string> addresses, std::vector<std::string> names)
    : names_(std::move(names)) {
  for (std::string& name : names_) name = name_in(name);
  for (const std::string& each : addresses) {
    if (const auto address = address_of(each)) addresses_.push_back(*address);
  }
  any_address_ = std::ranges::any_of(addresses_, is_any);
}

bool HostList::has(Bytes host) const noexcept {
  const Bytes name = name_in(host);
  if (name.empty()) return false;
  if (http::equals_ignoring_case(name, "localhost")) return true;
  const auto is_name = [name](const std::string& each) {
    return http::equals_ignoring_case(name, each);
  };
  if (std::ranges::any_of(names_, is_name)) return true;
  const auto address = address_of(name);
  if (!address) return false;
  if (any_address_ || is_loopback_address(*address)) return true;
  return std::ranges::find(addresses_, *address) != addresses_.end();
}

OperationsGuard::OperationsGuard(OperationsRules rules)
    : rules_(std::move(rules)),
      names_(addresses_of(rules_), rules_.hosts),
      exposed_(
          !std::ranges::all_of(rules_.addresses, [](Bytes each) { return is_loopback(each); })),
      off_(reason_of_off()) {}

std::vector<std::string> OperationsGuard::addresses_of(const OperationsRules& rules) {
  std::vector<std::string> addresses = rules.addresses;
  if (!rules.listener_address.empty()) addresses.push_back(rules.listener_address);
  return addresses;
}

OperationsOff OperationsGuard::reason_of_off() const {
  if (rules_.listener || !rules_.token.empty()) return OperationsOff::no;
  if (exposed_) return OperationsOff::exposed;
  const auto is_socket = [](Bytes each) { return is_unix(each); };
  if (std::ranges::all_of(rules_.addresses, is_socket)) return OperationsOff::sockets;
  if (rules_.behind_proxy) return OperationsOff::proxies;
  // Loopback names, which mean this machine.
  const HostList here({}, {});
  const auto is_here = [&](const std::string& each) { return here.has(each); };
  return std::ranges::all_of(rules_.hosts, is_here) ? OperationsOff::no : OperationsOff::names;
}

// Returns whether the client is local, as far as that can be known.
bool OperationsGuard::is_local(const RequestView& request,
                               session::Exchange& exchange) const noexcept {
  if (!rules_.every_client_is_local && !is_loopback(exchange.arrival().peer)) return false;
  return !http::has_trace_of_proxy(request.head());
}

OperationsGuard::Verdict OperationsGuard::judge_name_and_token(
    const RequestView& request) const noexcept {
  if (!names_.has(request.authority())) return Verdict::strange;
  if (!rules_.token.empty() && !has_token(request, rules_.token)) return Verdict::unknown;
  return Verdict::passes;
}

OperationsGuard::Verdict OperationsGuard::judge(const RequestView& request,
                                                session::Exchange& exchange) const noexcept {
  if (rules_.listener) {
    if (exchange.listener() != *rules_.listener) return Verdict::off;
  } else if (rules_.token.empty()) {
    if (off_ != OperationsOff::no || !is_local(request, exchange)) return Verdict::off;
  }
  return judge_name_and_token(request);
}

Middleware OperationsGuard::pages() const {
  Middleware middleware;
  middleware.admit = [this](const RequestView& request,
                            session::Exchange& exchange) -> std::optional<Reply> {
    switch (judge(request, exchange)) {
      case Verdict::passes: break;
      case Verdict::off: return detail::no_route(request);
      case Verdict::strange: return strange_host();
      case Verdict::unknown:
        return problem(problem_types::login_needed,
                       "This page is for those who have the token: Authorization: Bearer …")
            .with("WWW-Authenticate", "Bearer realm=\"operations\"");
    }
    return std::nullopt;
  };
  return middleware;
}

Middleware OperationsGuard::shell() const {
  Middleware middleware;
  middleware.admit = [this](const RequestView& request,
                            session::Exchange& exchange) -> std::optional<Reply> {
    const Verdict verdict = judge(request, exchange);
    if (verdict == Verdict::off) return detail::no_route(request);
    if (verdict == Verdict::strange) return strange_host();
    return std::nullopt;
  };
  return middleware;
}

Middleware OperationsGuard::details() const {
  Middleware middleware;
  middleware.amend = [this](const RequestView& request, session::Exchange& exchange, Reply& reply) {
    if (judge(request, exchange) == Verdict::passes) return;
    const bool passed = reply.status() == 200;
    reply = passed ? Reply::json(R"({"status":"pass"})") : Reply::json(R"({"status":"fail"})");
    reply.set_status(passed ? 200 : 503);
    reply.add_field("Cache-Control", "no-store");
  };
  return middleware;
}

Middleware OperationsGuard::application() const {
  Middleware middleware;
  middleware.admit = [this](const RequestView& request,
                            session::Exchange& exchange) -> std::optional<Reply> {
    if (rules_.listener && exchange.listener() == *rules_.listener)
      return detail::no_route(request);
    if (rules_.hosts.empty()) return std::nullopt;
    // A proxy may pass one of these on and set the other, and the client may have sent either.
    const Bytes named = request.authority();
    const Bytes forwarded = request.client().host;
    if (!names_.has(named)) return strange_host();
    if (forwarded.data() != named.data() && !names_.has(forwarded)) return strange_host();
    return std::nullopt;
  };
  return middleware;
}

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
