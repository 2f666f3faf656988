// The keywords of a connection string: those of libpq 15 to 18, and how KATANA treats each.
//
//   used      the value changes the connection
//   ignored   the value cannot weaken the connection, and has no effect; `note` says why
//   refused   a value that is not empty is an error; `note` says why and what to do
//
// The table draws docs/reference/postgres-parameters.md.
//
// Owns       texts of static lifetime.
// Thread     any.
// Allocates  never.
// Fails      find_keyword() returns nothing for an unknown name.
// Invariant  a keyword whose loss would weaken a connection is used or refused, never ignored.
// Source     PostgreSQL 18, "Parameter Key Words", "Environment Variables"
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "katana/base/text/bytes.hpp"

namespace katana::database::postgres::target {

// In the order of libpq's own list.
enum class Keyword : std::uint8_t {
  // Named as in a connection string; keywords() says what each of them does.
  service,
  user,
  password,
  passfile,
  channel_binding,
  connect_timeout,
  dbname,
  host,
  hostaddr,
  port,
  client_encoding,
  options,
  application_name,
  fallback_application_name,
  keepalives,
  keepalives_idle,
  keepalives_interval,
  keepalives_count,
  tcp_user_timeout,
  sslmode,
  sslnegotiation,
  sslcompression,
  sslcert,
  sslkey,
  sslcertmode,
  sslpassword,
  sslrootcert,
  sslcrl,
  sslcrldir,
  sslsni,
  requirepeer,
  require_auth,
  min_protocol_version,
  max_protocol_version,
  ssl_min_protocol_version,
  ssl_max_protocol_version,
  gssencmode,
  krbsrvname,
  gsslib,
  gssdelegation,
  replication,
  target_session_attrs,
  load_balance_hosts,
  scram_client_key,
  scram_server_key,
  sslkeylogfile,
  oauth_issuer,
  oauth_client_id,
  oauth_client_secret,
  oauth_scope,
  count_,
};
// The number of keywords.
inline constexpr std::size_t keyword_count = static_cast<std::size_t>(Keyword::count_);

// How KATANA treats a keyword.
enum class Handling : std::uint8_t { used, ignored, refused };

// The facts about a keyword.
struct KeywordFacts {
  // The keyword itself.
  Keyword keyword = Keyword::count_;
  std::string_view name = {};         // as it is written in a connection string
  const char* environment = nullptr;  // the variable with the same meaning; null: none
  const char* fallback = nullptr;     // the value if no source has one; null: none
  int since = 0;                      // the first libpq with the keyword; 0: every supported one
  // The treatment by KATANA.
  Handling handling = Handling::used;
  std::string_view note = {};  // a sentence for the documentation and for errors
};

// All keywords, in the order of the enumeration.
const std::array<KeywordFacts, keyword_count>& keywords() noexcept;
// The row of a keyword. REQUIRES a keyword below `count_`.
const KeywordFacts& facts_of(Keyword keyword) noexcept;
// The keyword with exactly this name.
std::optional<Keyword> find_keyword(Bytes name) noexcept;

}  // namespace katana::database::postgres::target

// SPDX-License-Identifier: Apache-2.0
