// add_live_actions(): what an operator may do to a running program, as pages of operations.
//
//   POST /operations/actions/log-level     {"levels": "warn,http=debug", "for": "10m"}
//   POST /operations/actions/reload        reads the configuration again, as SIGHUP does
//   POST /operations/actions/drain         begins a graceful shutdown, as SIGTERM does
//   POST /operations/actions/shed          {"utilisation_max": 0.5, "for": "5m"}
//   POST /operations/actions/close-client  {"client": "192.0.2.1"}
//
// Each leaves a record in the log. If the program has an audit log, the event is written there
// before the action is done. An action without its event does not happen.
//
// Owns       LiveActions its timers.
// Borrows    the objects of its hooks, which outlive the service.
// Thread     any reactor's; the hooks are called there, and reload() on a thread of the pool.
// Allocates  replies.
// Fails      400 names wrong levels, or mistakes of the configuration. 422 names any other wrong
//            member, and 409 an action that the program does not have. 503: the audit log cannot be
//            written, or the pool takes no timer. Nothing is changed then.
// Invariant  a request that a page of another origin sends is refused. A value that is changed for
//            a time goes back to the configured one, also after a second change. A reload that
//            changes a setting ends it at once.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "katana/app/live_state.hpp"
#include "katana/app/timed_change.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/thread/pool.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/observe/audit/audit_log.hpp"
#include "katana/observe/log/logger.hpp"

namespace katana::app {

// The ways in which actions change the program.
struct ActionHooks {
  audit::AuditLog* audit = nullptr;           // null: there is none
  log::Logger logger = {};                    // for a record of each action
  thread::Pool* pool = nullptr;               // runs the ends of changes for a time
  std::function<Result<void>()> reload = {};  // reads the configuration again
  std::function<void()> drain = {};           // begins a graceful shutdown
  std::function<Result<void>(const std::string& levels)> set_levels = {};  // as `log.levels`
  std::function<void()> reset_levels = {};                                 // to the configured ones
  // Empty: http.load_shedding is not enabled.
  std::function<void(double)> set_utilisation_max = {};
  std::function<double()> utilisation_max = {};  // the configured one
};

struct LevelChange;
struct ShedChange;
struct ClientToClose;

// The pages that change the program.
class LiveActions {
 public:
  explicit LiveActions(ActionHooks hooks) : hooks_(std::move(hooks)) {}
  LiveActions(const LiveActions&) = delete;
  LiveActions& operator=(const LiveActions&) = delete;

  // `state` and this outlive the service. An Error: see csrf().
  Result<void> add_to(Group& group, const LiveState& state);

 private:
  // Records the action in both logs.
  Task<Result<void>> record(std::string action, std::string object, std::string client) const;
  Task<Result<Reply>> change_levels(LevelChange change, std::string client);
  Task<Result<Reply>> shed(ShedChange change, std::string client);
  Task<Result<Reply>> reload(std::string client) const;
  Task<Result<Reply>> drain(std::string client) const;
  Task<Result<Reply>> close_client(const LiveState& state, ClientToClose which,
                                   std::string client) const;
  TimedChange::Later later() const;

  const ActionHooks hooks_;
  TimedChange levels_;
  TimedChange shed_;
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
