// Target: everything that a connection string and its surroundings say about a connection.
// read_target() makes it.
//
// Owns       its texts. Passwords are overwritten when it goes.
// Thread     a value; move-only.
// Allocates  its texts.
// Fails      never.
// Invariant  no text of describe() has a byte of a password.
// Source     PostgreSQL 18, "Parameter Key Words", "Specifying Multiple Hosts"
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/values/instant.hpp"
#include "katana/base/values/secrets.hpp"
#include "katana/wire/postgres/startup.hpp"

namespace katana::database::postgres::target {

// The largest number of servers of one target.
inline constexpr std::size_t servers_max = 64;

// One server of the list.
struct Server {
  std::string host = {};         // the name that TLS checks; or the folder of a Unix socket
  std::string address = {};      // of `hostaddr`; empty: the name is looked up
  std::uint16_t port = 5432;     // of TCP; also part of the name of a Unix socket
  std::string socket_path = {};  // empty: TCP. '@' in front: an abstract socket
  SecretText password = {};      // of this server; empty: none is known

  // "db1:5432", "10.0.0.1:5432" or "/run/postgresql:5432".
  std::string describe() const;
};

// How TLS is used and the server is checked (sslmode).
enum class TlsMode : std::uint8_t { disable, allow, prefer, require, verify_ca, verify_full };
// Versions of TLS; older ones are never used.
enum class TlsVersion : std::uint8_t { v1_2, v1_3 };
// Whether the client's certificate is sent: never, if there is one, or the server has to ask.
enum class CertificateUse : std::uint8_t { disable, allow, require };

// A file of TLS. The connection reads it; nothing here does.
struct TlsFile {
  std::string path = {};    // empty: none
  bool is_default = false;  // no source names it, and it need not exist
};

// The options of TLS.
struct TlsOptions {
  // The keyword sslmode. A Unix socket has no TLS, whatever the mode is.
  TlsMode mode = TlsMode::prefer;
  bool is_direct = false;         // sslnegotiation=direct: no SSLRequest
  bool has_system_roots = false;  // sslrootcert=system
  bool has_server_name = true;    // sslsni
  TlsFile roots = {};    // authorities of servers. A default one makes `require` check them
  TlsFile revoked = {};  // a list of revoked certificates
  std::string revoked_folder = {};
  TlsFile certificate = {};  // of the client
  TlsFile key = {};          // of the client
  SecretText key_password = {};
  CertificateUse certificate_use = CertificateUse::allow;
  // The bounds of the version.
  TlsVersion version_min = TlsVersion::v1_2;
  std::optional<TlsVersion> version_max = {};
};

// Keepalive of TCP. Without a value the caller has its own; zero is the system's.
struct Keepalive {
  // The keywords keepalives, keepalives_idle, keepalives_interval and so on.
  bool is_on = true;
  std::optional<Duration> idle = {};
  std::optional<Duration> interval = {};
  std::optional<unsigned> count = {};
  std::optional<Duration> user_timeout = {};
};

// The kind of session that is wanted (target_session_attrs).
enum class SessionKind : std::uint8_t {
  // The values of target_session_attrs, with '_' for '-'.
  any,
  read_write,
  read_only,
  primary,
  standby,
  prefer_standby,
};

struct Target {
  std::vector<Server> servers = {};  // at least one, in the order of the list
  std::string user = {};             // of the session
  std::string database = {};         // its name
  TlsOptions tls = {};               // of each server
  // The keyword channel_binding.
  katana::postgres::ChannelBinding binding = katana::postgres::ChannelBinding::preferred;
  // The methods that require_auth allows; nothing: it has no value.
  std::optional<katana::postgres::Methods> methods = {};
  std::string peer_user = {};  // requirepeer: the user of a Unix socket's server; empty: any
  // For each address; nothing: no value; zero: no limit.
  std::optional<Duration> connect_timeout = {};
  Keepalive keepalive = {};
  // Further parameters of the startup message: client_encoding, application_name, options, TimeZone
  // and geqo.
  std::vector<std::pair<std::string, std::string>> parameters = {};
  // The bounds of the protocol's version.
  std::uint32_t version_min = katana::postgres::version_3_0;
  std::uint32_t version_max = katana::postgres::version_3_0;
  // The keyword target_session_attrs.
  SessionKind session = SessionKind::any;
  bool is_balanced = false;                // load_balance_hosts=random
  std::string password_file = {};          // empty: none; the passwords are of the keyword
  std::vector<std::string> warnings = {};  // for the log

  // "app@db1:5432,db2:5432/shop", for the log.
  std::string describe() const;
};

}  // namespace katana::database::postgres::target

// SPDX-License-Identifier: Apache-2.0
