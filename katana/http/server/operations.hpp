// Operations: decides which requests may see the operations pages: figures, checks, log lines.
//
// An address does not distinguish an operator from other clients. Behind a proxy or a tunnel, every
// client comes from an address of this machine. Access therefore depends on the operator's
// configuration, and never on claims of a request:
//
//   their own listener        on that listener only
//   a token                   with the token
//   neither                   only while the server is set up for local use. It listens on loopback
//                             addresses alone, and has neither names nor proxies in its
//                             configuration. The pages are then for clients of a loopback address
//                             that use a loopback name, without a proxy that leaves a trace. For
//                             all others the pages do not exist
//
// One case is left: an unconfigured proxy or tunnel on this machine that leaves no trace and passes
// a loopback name on. Its requests look like those of local clients; the start says so
// (docs/guides/application.md).
//
// Every web site that the owner visits can reach a page on a loopback address. A name that resolves
// to 127.0.0.1 makes the browser send requests in the name of that site (DNS rebinding). The
// authority of a request (RequestView::authority()) must therefore be a name of the server; any
// other gets 421.
//
// The names are: localhost, the loopback addresses, the addresses listened on, and those that the
// configuration adds. A server that listens on every address accepts any address as its name: a
// name can be made to lie, an address cannot.
//
//   const OperationsGuard guard({.addresses = {"127.0.0.1"}});
//   Group pages = router.group("");
//   pages.use(guard.pages());              // all or nothing
//   health.use(guard.details());           // the reply's body, or its status alone
//   router.use(guard.application());       // the routes that follow; nothing without `hosts`
//
// Owns       the names and the token.
// Thread     any: it does not change.
// Allocates  replies of refusal.
// Fails      404 where the pages are not served, 421 for a name that is not the server's, 401
//            without the token.
// Invariant  a client behind a configured proxy sees a page only with the token. The comparison of
//            the token takes the same time, however much of it is right.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/net/engine/endpoints.hpp"

namespace katana::server {

// Returns whether an address in the form of a listener's is local to this machine: a loopback
// address, or a Unix socket ("unix:PATH").
bool is_loopback(Bytes address) noexcept;
// Returns whether a client has a loopback address; a client of a Unix socket has none.
bool is_loopback(const engine::PeerEndpoint& client) noexcept;

// The names that a server answers to.
class HostList {
 public:
  // `addresses`: numeric addresses of the listeners. `names`: hosts without a port.
  HostList(std::vector<std::string> addresses, std::vector<std::string> names);
  // `host`: a Host field or an :authority; its port does not matter.
  bool has(Bytes host) const noexcept;

 private:
  std::vector<std::array<std::uint8_t, 16>> addresses_;  // IPv4 as mapped into IPv6
  std::vector<std::string> names_;
  bool any_address_ = false;
};

// 421, for a request with a name that is not the server's.
Reply strange_host();

// Rules for requests to /metrics, /health, /ready and the operations pages.
struct OperationsRules {
  std::vector<std::string> addresses = {};  // all public listeners' addresses
  std::vector<std::string> hosts = {};      // http.hosts: other names of the server
  std::string token = {};                   // `Authorization: Bearer …`; empty: none is asked for
  // The only listener that serves the pages, the same on each reactor; none: all listeners do.
  std::optional<engine::Listener> listener = {};
  std::string listener_address = {};  // its address: a name of the server, too
  // Proxies are configured: some are trusted, or a listener expects one.
  bool behind_proxy = false;
  // For a simulated network without loopback addresses: each client counts as local.
  bool every_client_is_local = false;
};

// The reason why pages without a separate listener and a token are off.
enum class OperationsOff : std::uint8_t {
  no,       // they are not
  exposed,  // other machines can connect
  sockets,  // all listeners are Unix sockets, which proxies connect to
  proxies,  // proxies are configured
  names,    // the server has names, which other clients know
};

// Decides whether a request sees the operations pages. Immutable after construction.
class OperationsGuard {
 public:
  explicit OperationsGuard(OperationsRules rules);

  //   off      not served here
  //   strange  the name in the request is not the server's
  //   unknown  the token is missing or wrong
  enum class Verdict : std::uint8_t { passes, off, strange, unknown };
  // Any reactor. It does not answer the request.
  Verdict judge(const RequestView& request, session::Exchange& exchange) const noexcept;

  // These borrow the guard, which outlives the service. That of shell() wants no token. It is for
  // files that say nothing of the program, such as the page that asks for the token.
  Middleware pages() const, shell() const;
  // For /health and /ready: everybody sees the status, and clients that pass see the checks.
  Middleware details() const;
  // For the program's routes: they are not served on the operations' listener. With `hosts` they
  // are served only for names of the server. The name in the request, and the name that a trusted
  // proxy states, must both be such names.
  Middleware application() const;
  // True if some address can be reached from other machines.
  bool exposed() const noexcept { return exposed_; }
  OperationsOff off() const noexcept { return off_; }
  // True if application() has an effect.
  bool guards_application() const noexcept {
    return rules_.listener.has_value() || !rules_.hosts.empty();
  }

 private:
  static std::vector<std::string> addresses_of(const OperationsRules& rules);
  OperationsOff reason_of_off() const;
  bool is_local(const RequestView& request, session::Exchange& exchange) const noexcept;
  Verdict judge_name_and_token(const RequestView& request) const noexcept;

  const OperationsRules rules_;
  const HostList names_;
  const bool exposed_;
  const OperationsOff off_;
};

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
