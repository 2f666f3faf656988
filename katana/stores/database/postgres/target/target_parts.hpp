// The parts of make_target(), each in its own source.
//
// Owns       nothing.
// Thread     any.
// Allocates  the texts of the parts.
// Fails      as make_target().
#pragma once

#include <optional>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/stores/database/postgres/target/settings.hpp"
#include "katana/stores/database/postgres/target/sources.hpp"
#include "katana/stores/database/postgres/target/target.hpp"

namespace katana::database::postgres::target {

// The servers of host, hostaddr and port, without passwords.
katana::Result<std::vector<Server>> read_servers(const Settings& settings, const Sources& sources);
// The options of TLS.
katana::Result<TlsOptions> read_tls(const Settings& settings, const Sources& sources);
// The methods of require_auth; nothing: it has no value.
katana::Result<std::optional<katana::postgres::Methods>> read_methods(const Settings& settings);

}  // namespace katana::database::postgres::target

// SPDX-License-Identifier: Apache-2.0
