// Security settings: sessions, the audit log, and the middleware against requests of other sites.
// Each is off unless it is enabled.
//
// Owns       values only.
// Thread     values.
// Allocates  as strings do.
// Fails      as Config does; Security::check() judges values that depend on one another.
// Invariant  all of it needs a restart.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "katana/base/values/described.hpp"
#include "katana/http/middleware/csrf_options.hpp"
#include "katana/http/middleware/security_headers_options.hpp"
#include "katana/identity/sessions/memory_store_options.hpp"
#include "katana/identity/sessions/session_options.hpp"
#include "katana/observe/audit/audit_options.hpp"

namespace katana {

// The words of the settings.
KATANA_DESCRIBE_ENUM(SameSite, lax, strict, none)

namespace app {

// `http.csrf`: see http/middleware/csrf.hpp.
struct CsrfSettings : CsrfOptions {
  bool enabled = false;  // in front of every route of the program
};

// `http.security_headers`: see http/middleware/security_headers.hpp.
struct SecurityHeaderSettings {
  bool enabled = false;
  std::string content_security_policy =
      "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; "
      "frame-ancestors 'none'";
  bool policy_report_only = false;
  bool nosniff = true;
  std::string frame_options = SecurityHeaderOptions().frame_options;
  std::string referrer_policy = SecurityHeaderOptions().referrer_policy;
  std::string opener_policy = SecurityHeaderOptions().opener_policy;
  std::string resource_policy = SecurityHeaderOptions().resource_policy;
  std::string embedder_policy;
  std::string permissions_policy = SecurityHeaderOptions().permissions_policy;
};

// Where sessions are kept.
enum class SessionPlace : std::uint8_t { off, cookies, memory, database, redis };
KATANA_DESCRIBE_ENUM(SessionPlace, off, cookies, memory, database, redis)

// `sessions`: see identity/sessions/sessions.hpp.
struct SessionSettings : sessions::SessionOptions {
  SessionPlace store = SessionPlace::off;
  std::vector<std::string> keys;
  std::string keys_file;
  sessions::MemoryStoreOptions memory;  // limits of the store in memory; other stores ignore them
  bool make_table = true;
};

// `audit`: see observe/audit/audit_log.hpp.
struct AuditSettings {
  std::string file;
  std::string key;
  std::string key_file;
  audit::Sync sync = audit::Sync::each;
  Duration sync_interval = audit::AuditOptions().sync_interval;
  std::uint64_t file_bytes_max = audit::AuditOptions().file_bytes_max;
  std::size_t waiting_max = audit::AuditOptions().waiting_max;
};

}  // namespace app
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
