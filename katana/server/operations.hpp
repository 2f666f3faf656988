// Operations: who is shown the pages of those who run the server: figures, checks, log lines.
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
// Invariant  the token is compared in a time that does not depend on how much of it is right.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/bytes.hpp"
#include "katana/engine/engine.hpp"
#include "katana/service/router.hpp"

namespace katana::server {

// Whether an address, as a listener is given it, is of this machine alone: a loopback one, or that
// of a Unix socket ("unix:PATH").
bool is_loopback(Bytes address) noexcept;

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

// Who may read /metrics, /health, /ready and the pages of operations.
struct OperationsRules {
  std::vector<std::string> addresses = {};  // that are listened on; all of them
  std::vector<std::string> hosts = {};      // http.hosts: other names of the server
  std::string token = {};                   // `Authorization: Bearer …`; empty: none is asked for
  // Of each reactor, the listener on which alone they are served; none: on every one.
  std::optional<engine::Listener> listener = {};
  // Off but for those who have the token: the addresses are not of this machine alone.
  bool exposed = false;
};

class OperationsGuard {
 public:
  explicit OperationsGuard(OperationsRules rules);

  //   off      not served here
  //   strange  what the request calls the server is no name of it
  //   unknown  the token is missing or wrong
  enum class Verdict : std::uint8_t { passes, off, strange, unknown };
  Verdict judge(const RequestView& request, session::Exchange& exchange) const noexcept;

  // These borrow the guard, which outlives the service.
  Middleware pages() const;
  // For /health and /ready: anybody may know whether, and who passes also why.
  Middleware details() const;
  // Of the program's own routes: they are not served on the operations' listener, and with `hosts`
  // for names of the server alone. Behind a trusted proxy that is the name which the client used;
  // for the pages above it is always the one that the request itself has.
  Middleware application() const;
  // Nobody is let pass.
  // Some address is not loopback.
  bool exposed() const noexcept { return rules_.exposed; }
  bool off() const noexcept { return !rules_.listener && rules_.exposed && rules_.token.empty(); }
  // Whether application() does anything.
  bool guards_application() const noexcept {
    return rules_.listener.has_value() || !rules_.hosts.empty();
  }

 private:
  const OperationsRules rules_;
  const HostList names_;
};

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
