// Behind a proxy: what settings say of the proxies in front of a program, what follows for the
// pages of operations, and which settings do not fit together then. For the start and for
// --check-config.
//
// Owns       copies of what it names.
// Thread     any; there is no state.
// Allocates  texts.
// Fails      check_operations() for settings that no listener comes of.
// Invariant  no text has a secret.
#pragma once

#include <string>
#include <vector>

#include "katana/app/insecure_settings.hpp"
#include "katana/app/settings.hpp"
#include "katana/base/system/result.hpp"
#include "katana/http/server/operations.hpp"

namespace katana::app {

// Proxies are trusted, a listener takes the header of the PROXY protocol, or one leads to https
// that this server does not have.
bool counts_on_proxy(const HttpSettings& http);
// Some name in http.hosts is not one of loopback: strangers know it.
bool has_public_names(const HttpSettings& http);

// All but the listener, which the sockets of the process tell. `sockets`: addresses of those that
// were opened for it, which stand in place of http.address.
server::OperationsRules operations_rules_of(const ApplicationSettings& settings,
                                            std::vector<std::string> sockets);
Result<void> check_operations(const ApplicationSettings& settings);
// Why the pages are off, as part of a sentence. REQUIRES that they are.
std::string reason_of(server::OperationsOff off, const HttpSettings& http);
// What to do about it.
inline constexpr std::string_view operations_remedy =
    "set operations.port to a port that the proxy does not lead to, or operations.token";

// Settings that are insecure behind a proxy: part of insecure_settings().
std::vector<InsecureSetting> insecure_behind_proxy(const ApplicationSettings& settings);
// What is secure, and should be known before it is deployed.
std::vector<InsecureSetting> deployment_notes(const ApplicationSettings& settings);

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
