// Security settings: sessions, the audit log, and the middleware that keeps other sites out, each
// off unless it is asked for.
//
// Owns       values only.
// Thread     values.
// Allocates  as strings do.
// Fails      as Config does; what a value alone cannot say, Security::check() does.
// Invariant  all of it needs a restart.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "katana/app/option_descriptions.hpp"
#include "katana/base/values/described.hpp"
#include "katana/http/middleware/csrf.hpp"
#include "katana/http/middleware/security_headers.hpp"
#include "katana/identity/sessions/memory_store.hpp"
#include "katana/identity/sessions/session_options.hpp"
#include "katana/observe/audit/audit_log.hpp"

namespace katana {

// As settings say it.
KATANA_DESCRIBE_ENUM(SameSite, lax, strict, none)

namespace sessions {

KATANA_DESCRIBE(MemoryStoreOptions,
                (sessions_max, range(1, 1 << 24), help("sessions that are kept at a time")),
                (bytes_max, byte_count, at_least(std::size_t{1} << 20),
                 help("memory for them; visitors who have not logged in make room")))

}  // namespace sessions

namespace app {

// `http.csrf`: see http/middleware/csrf.hpp.
struct CsrfSettings : CsrfOptions {
  bool enabled = false;  // in front of every route of the program
};
KATANA_DESCRIBE(CsrfSettings,
                (enabled, help("refuse requests of other origins that change something (403)")),
                (origins, length(0, 256), each(length(1, 300)),
                 help("origins that may send them, such as https://app.example.org")),
                (refuse_unknown,
                 help("refuse what has cookies and neither Sec-Fetch-Site nor Origin")))

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
KATANA_DESCRIBE(
    SecurityHeaderSettings,
    (enabled, help("fields that keep what is answered apart from other sites")),
    (content_security_policy, length(0, 2000),
     help("what pages may load and run; 'nonce' stands for that of the reply; empty: none")),
    (policy_report_only, help("browsers report what breaks it, and do not enforce it")),
    (nosniff, help("X-Content-Type-Options: nosniff")),
    (frame_options, length(0, 100), help("X-Frame-Options; empty: none")),
    (referrer_policy, length(0, 100), help("Referrer-Policy; empty: none")),
    (opener_policy, length(0, 100), help("Cross-Origin-Opener-Policy; empty: none")),
    (resource_policy, length(0, 100), help("Cross-Origin-Resource-Policy; empty: none")),
    (embedder_policy, length(0, 100), help("Cross-Origin-Embedder-Policy; empty: none")),
    (permissions_policy, length(0, 500), help("Permissions-Policy; empty: none")))

// Where sessions are kept.
enum class SessionPlace : std::uint8_t { off, cookies, memory, database, redis };
KATANA_DESCRIBE_ENUM(SessionPlace, off, cookies, memory, database, redis)

// `sessions`: see identity/sessions/sessions.hpp.
struct SessionSettings : sessions::SessionOptions {
  SessionPlace store = SessionPlace::off;
  std::vector<std::string> keys;
  std::string keys_file;
  sessions::MemoryStoreOptions memory;
  bool make_table = true;
};
KATANA_DESCRIBE(SessionSettings,
                (store,
                 help("off; cookies: each session is its own cookie; memory: of this process; "
                      "database: in its table katana_sessions; redis: in that of `redis`")),
                (keys, secret, length(0, 8), each(length(32, 512)),
                 help("cookies: keys of 32 octets or more; the first seals, all open")),
                (keys_file, length(0, 4000), help("a file with those keys, one in a line")),
                (cookie_name, length(1, 100), help("name of the cookie")),
                (same_site, help("which requests of other sites' pages carry it")),
                (secure, help("send it by TLS only; false wants a name without a prefix")),
                (persistent, help("the cookie outlives the browser")),
                (idle_lifetime, range(seconds(1), seconds(366 * 24 * 3600)),
                 help("a session ends without a request for so long")),
                (absolute_lifetime, range(seconds(1), seconds(366 * 24 * 3600)),
                 help("and so long after it began or its user logged in")),
                (touch_after, range(seconds(1), seconds(24 * 3600)),
                 help("how often a request writes that it was seen, at most")),
                (cookie_bytes_max, byte_count, range(64, sessions::cookie_bytes_limit),
                 help("bytes of a session that is a cookie")),
                (stored_bytes_max, byte_count, range(256, 1 << 24),
                 help("bytes of a session in a store")),
                memory, (make_table, help("database: make the table if it is not there")))

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
KATANA_DESCRIBE(
    AuditSettings, (file, length(0, 4000), help("JSON lines in a chain; empty: no audit log")),
    (key, secret, length(0, 512),
     help("key of the chain, 32 octets or more; empty: it is not keyed")),
    (key_file, length(0, 4000), help("a file with that key")),
    (sync, help("flush the disk for each event before it is acknowledged, every sync_interval, "
                "or never but at rotation and end")),
    (sync_interval, range(milliseconds(1), seconds(3600)), help("how often, with interval")),
    (file_bytes_max, byte_count, at_least(std::uint64_t{64} << 10),
     help("size at which the file is rotated; none is deleted")),
    (waiting_max, range(1, 1 << 16),
     help("events that wait to be written; more are refused (503)")))

}  // namespace app
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
