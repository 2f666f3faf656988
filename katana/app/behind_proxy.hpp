// Behind a proxy: which proxies the settings name in front of a program, and which rules the pages
// of operations have then. Also finds settings that do not fit together behind a proxy. For the
// start and for --check-config.
//
// Owns       copies of the values that it names.
// Thread     any; there is no state.
// Allocates  texts.
// Fails      check_operations() for settings of which no listener can be made.
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

// The rules of the pages of operations, but for the listener, which depends on the sockets of the
// process. `sockets`: addresses of sockets that were opened for it, in place of http.address.
server::OperationsRules operations_rules_of(const ApplicationSettings& settings,
                                            std::vector<std::string> sockets);
Result<void> check_operations(const ApplicationSettings& settings);
// Why the pages are off, as part of a sentence. REQUIRES that they are.
std::string reason_of(server::OperationsOff off, const HttpSettings& http);
// The remedy where the pages are off.
inline constexpr std::string_view operations_remedy =
    "set operations.port to a port that the proxy does not lead to, or operations.token";

// Settings that are insecure behind a proxy: part of insecure_settings().
std::vector<InsecureSetting> insecure_behind_proxy(const ApplicationSettings& settings);
// Settings that are secure, and that an operator should know before the program is deployed.
std::vector<InsecureSetting> deployment_notes(const ApplicationSettings& settings);

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
