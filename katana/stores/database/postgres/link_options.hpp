// LinkOptions: all that one attempt to connect needs, as values.
//
//   link_options(options, targets, password) ──► Link::begin()
//
// Owns       its texts. The passwords are overwritten when they go.
// Thread     a value. link_options() reads the environment and the user's entry of the system. It
//            also reads the service file, and the password file if no password is given.
// Allocates  as strings do.
// Fails      link_options() names the parameter whose value it does not have, never the password.
// Invariant  a parameter that makes a connection safer is obeyed, or the attempt ends.
// Source     PostgreSQL 18, "Database Connection Control Functions", "Parameter Key Words"
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/base/values/secrets.hpp"
#include "katana/stores/database/postgres/options.hpp"
#include "katana/stores/database/postgres/protocol.hpp"
#include "katana/stores/database/postgres/target/target.hpp"
#include "katana/stores/database/postgres/targets.hpp"
#include "katana/wire/postgres/startup.hpp"

namespace katana::database::postgres {

// Whether a session is encrypted, and what the server's certificate must prove.
struct LinkTlsOptions {
  // preferred: in the clear if the server answers that it has no TLS. It protects against no
  // attacker.
  enum class Mode : std::uint8_t { off, preferred, required };
  // authority: an authority that is trusted has signed it. name: it also is for the host.
  enum class Check : std::uint8_t { nothing, authority, name };

  Mode mode = Mode::preferred;   // of TCP; a Unix socket has no TLS
  Check check = Check::nothing;  // of the server's certificate
  bool is_direct = false;        // TLS begins with the first byte, without SSLRequest
  bool sends_name = true;        // as SNI (RFC 6066 §3)
  bool is_1_3_only = false;      // TLS 1.2 is refused
  bool is_1_2_only = false;      // TLS 1.3 is not offered
  std::string authorities = {};  // a file of PEM; empty: those of the system
  std::string certificate = {};  // of the client, a file of PEM; empty: none
  std::string key = {};          // of the certificate, a file of PEM
  SecretText key_password = {};  // of an encrypted key
  std::string revoked = {};      // certificates that do not count any more: a file of PEM
  std::string revoked_dir = {};  // the same as a folder, by hashes
};

// The probes by which TCP notices that the server's machine is gone.
struct TcpProbes {
  bool are_sent = true;       // on a connection that is idle
  unsigned idle_s = 30;       // before the first one; 0: the system's, as of the next two
  unsigned interval_s = 10;   // between two of them
  unsigned count = 3;         // without an answer: the connection is lost
  unsigned sent_ms = 60'000;  // bytes that are not acknowledged for so long: likewise
};

struct LinkOptions {
  std::vector<Target> targets = {};  // tried in this order
  std::string user = {};             // of the session; never empty
  std::string database = {};         // empty: named like the user
  SecretText password = {};          // empty: none
  // The passwords of the password file, one for each target; none: `password` is for all.
  std::vector<SecretText> target_passwords = {};
  std::vector<std::pair<std::string, std::string>> settings = {};  // of the session, as TimeZone
  std::string server_user = {};  // that owns the server behind a Unix socket; empty: any
  LinkTlsOptions tls = {};       // see there
  protocol::ChannelBinding binding = protocol::ChannelBinding::preferred;  // of SCRAM
  protocol::Methods methods = {};                                          // of authentication
  std::uint32_t version = protocol::version_3_0;      // of the protocol, that is asked for
  std::uint32_t version_min = protocol::version_3_0;  // an older server is refused
  // Which of the servers is wanted.
  target::SessionKind session = target::SessionKind::any;
  TcpProbes probes = {};                   // see there
  std::vector<std::string> warnings = {};  // about files that were not used
};

// The targets are those of the options' hosts, resolved. The service file, PG* variables and the
// password file have the values that the options lack. `seed`: of the order that
// load_balance_hosts=random draws; none: a random one. An Error names a parameter.
katana::Result<LinkOptions> link_options(const Options& options, std::vector<Target> targets,
                                         const std::string& password,
                                         std::optional<std::uint64_t> seed = std::nullopt);

// Checks the values of the parameters, so that open() refuses what no attempt could use.
katana::Result<void> check_parameters(const Options& options);

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
