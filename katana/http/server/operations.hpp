// Operations: who is shown the pages of those who run the server: figures, checks, log lines.
//
// An address does not tell an operator from a stranger: behind a proxy or a tunnel every stranger
// comes from an address of this machine. Therefore the pages are shown by what the operator has set
// up for them, and by nothing that a request says of itself:
//
//   their own listener   there alone
//   a token                   with the token
//   neither                   only while nothing is set up for anybody else: the server listens on
//                             loopback addresses alone, and neither names of the server nor
//                             proxies are configured. Then they are for clients of a loopback
//                             address that call the server by a loopback name and have passed no
//                             proxy that leaves a trace; for all others they do not exist
//
// One case is left: a proxy or a tunnel on this machine that is configured nowhere, leaves no
// trace and passes a loopback name on. Its requests cannot be told from those of the machine's own
// clients; the start says so (docs/guides/application.md).
//
// A page on a loopback address is within reach of every web site that its owner visits: a name
// that resolves to 127.0.0.1 makes the browser ask it in the name of that site (DNS rebinding). So
// what a request calls the server (RequestView::authority()) has to be a name of the server; any
// other gets 421. The names are: localhost, the loopback addresses, the addresses listened on, and
// those that the configuration adds. A server that listens on every address takes any address for
// its own: a name can be made to lie, an address cannot.
//
//   const OperationsGuard guard({.addresses = {"127.0.0.1"}});
//   Group pages = router.group("");
//   pages.use(guard.pages());              // all or nothing
//   health.use(guard.details());           // the reply's content, or its status alone
//   router.use(guard.application());       // the routes that follow; nothing without `hosts`
//
// Owns       the names and the token.
// Thread     any: it does not change.
// Allocates  replies of refusal.
// Fails      404 where the pages are not served, 421 for a name that is not the server's, 401
//            without the token.
// Invariant  nothing that a client behind a configured proxy sends shows it a page, but the token.
//            The token is compared in a time that does not depend on how much of it is right.
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

// Whether an address, as a listener is given it, is of this machine alone: a loopback one, or that
// of a Unix socket ("unix:PATH").
bool is_loopback(Bytes address) noexcept;
// Whether a client has a loopback address; one of a Unix socket has none.
bool is_loopback(const engine::PeerEndpoint& client) noexcept;

// The names that a server answers to.
class HostList {
 public:
  // `addresses`: numeric ones that are listened on. `names`: hosts without a port.
  HostList(std::vector<std::string> addresses, std::vector<std::string> names);
  // `host`: a Host field or an :authority; its port does not matter.
  bool has(Bytes host) const noexcept;

 private:
  std::vector<std::array<std::uint8_t, 16>> addresses_;  // IPv4 as mapped into IPv6
  std::vector<std::string> names_;
  bool any_address_ = false;
};

// 421, for a request that calls the server by no name of it.
Reply strange_host();

// Which requests may read /metrics, /health, /ready and the operations pages.
struct OperationsRules {
  std::vector<std::string> addresses = {};  // that are listened on for everybody; all of them
  std::vector<std::string> hosts = {};      // http.hosts: other names of the server
  std::string token = {};                   // `Authorization: Bearer …`; empty: none is asked for
  // Of each reactor, the listener on which alone they are served; none: on every one.
  std::optional<engine::Listener> listener = {};
  std::string listener_address = {};  // of that one: a name of the server, too
  // Proxies are configured: some are trusted, or a listener counts on one.
  bool behind_proxy = false;
  // Of a simulated network, where no client has a loopback address: each is taken for one.
  bool every_client_is_local = false;
};

// Why pages with neither their own listener nor a token are off.
enum class OperationsOff : std::uint8_t {
  no,       // they are not
  exposed,  // others than this machine connect
  sockets,  // all listeners are Unix sockets, which proxies connect to
  proxies,  // proxies are configured
  names,    // the server has names, which strangers know
};

// Decides whether a request sees the operations pages. Immutable after construction.
class OperationsGuard {
 public:
  explicit OperationsGuard(OperationsRules rules);

  //   off      not served here
  //   strange  what the request calls the server is no name of it
  //   unknown  the token is missing or wrong
  enum class Verdict : std::uint8_t { passes, off, strange, unknown };
  // Any reactor. Does not answer the request.
  Verdict judge(const RequestView& request, session::Exchange& exchange) const noexcept;

  // These borrow the guard, which outlives the service.
  Middleware pages() const;
  // For /health and /ready: anybody may know whether, and who passes also why.
  Middleware details() const;
  // For the program's own routes: they are not served on the operations' listener, and with `hosts`
  // for names of the server alone: what the request itself calls the server, and what a trusted
  // proxy says that the client called it, have to be names of it.
  Middleware application() const;
  // Some address is not of this machine alone.
  bool exposed() const noexcept { return exposed_; }
  OperationsOff off() const noexcept { return off_; }
  // Whether application() does anything.
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
