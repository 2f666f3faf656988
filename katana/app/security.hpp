// Security: the objects and the middleware that an Application makes of the settings of sessions,
// the audit log, CSRF and security headers.
//
// Owns       sessions and the audit log.
// Borrows    the database, which outlives it.
// Thread     made and used by the start; each registered object has its own rules.
// Allocates  yes.
// Fails      with an Error that names the key.
// Invariant  security headers are on every reply of the program's routes, refusals of other
//            middleware included; sessions are the last before the program's own.
#pragma once

#include <memory>
#include <optional>

#include "katana/app/settings.hpp"
#include "katana/base/registry/registry.hpp"
#include "katana/base/system/result.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/identity/sessions/memory_store.hpp"
#include "katana/identity/sessions/sessions.hpp"
#include "katana/observe/audit/audit_log.hpp"
#include "katana/observe/metrics/health.hpp"
#include "katana/observe/metrics/registry.hpp"
#include "katana/stores/database/database.hpp"

namespace katana::app {

class Security {
 public:
  // `database`: null: the program has none. `redis`: the store of sessions that are kept there;
  // null: they are not.
  static Result<std::unique_ptr<Security>> make(const ApplicationSettings& settings,
                                                database::Database* database,
                                                std::shared_ptr<sessions::SessionStore> redis);
  // Fails where make() would refuse, without opening anything.
  static Result<void> check(const ApplicationSettings& settings, bool has_database);

  // Registers sessions::Sessions and audit::AuditLog, if they are on.
  void register_in(registry::Registry& registry);
  // Adds katana_audit_… and, for a memory store, katana_sessions_…; borrows this until the last
  // scrape.
  Result<void> add_metrics(metrics::Registry& registry) const;
  // Adds the check "audit log", if it is on; borrows this until the last check.
  Result<void> add_checks(metrics::HealthChecks& checks) const;
  // use_first() adds the middleware in front of others, and use_last() that behind them.
  void use_first(Router& router) const;
  void use_last(Router& router) const;

 private:
  std::optional<Middleware> headers_;
  std::optional<Middleware> csrf_;
  std::optional<sessions::Sessions> sessions_;
  std::shared_ptr<sessions::MemorySessionStore> memory_;  // null: sessions are kept elsewhere
  std::unique_ptr<audit::AuditLog> audit_;
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
