#include "katana/app/nats/bus_settings.hpp"

#include "katana/app/bus_descriptions.hpp"
#include "katana/app/option_tables.hpp"

namespace katana::app {

KATANA_DESCRIBE(
    BusSettings,
    (url, length(1, 4000),
     help("memory:, of this process; or nats://host:port,… (tls://… with TLS), of all that name "
          "the same servers")),
    (required, help("not ready while no server is connected")),
    (user, length(0, 200), help("of password_file")),
    (password_file, length(0, 4000), help("a file with the user's password")),
    (token_file, length(0, 4000), help("a file with a token")),
    (nkey_file, length(0, 4000), help("a file with the seed of an nkey (SU…)")),
    (creds_file, length(0, 4000), help("a .creds file: a JWT and its nkey")),
    (tls, help("of tls://…")),
    (prefix, length(0, 200),
     help("in front of every subject, so that programs share servers; empty: none")),
    (when_away, help("without a server: keep what is published, or refuse it")),
    (kept_messages_max, range(1, 1 << 24), help("messages kept for a server; more are refused")),
    (kept_bytes_max, byte_count, at_least(std::size_t{1} << 16), help("and their bytes")),
    KATANA_APP_BUS_LIMITS_,
    (ping_interval, range(milliseconds(10), seconds(3600)),
     help("a server that does not answer is given up after twice that")),
    (connect_timeout, option_rules::timeout, help("of one attempt")),
    (reconnect_max, range(milliseconds(20), seconds(3600)),
     help("longest pause between two attempts; the pauses are drawn")))

}  // namespace katana::app

KATANA_CONFIG_DEFINE_GROUP(katana::app::BusSettings)

// SPDX-License-Identifier: Apache-2.0
