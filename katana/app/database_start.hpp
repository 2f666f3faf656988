// DatabaseStart: opens the database of a program. A database that cannot be reached yet is awaited.
// The program starts, is not ready, and its calls fail with 503, until an attempt has succeeded.
//
//   start()   the database, or an AwaitedBackend in its place
//   go_on()   the program has started: the results of further attempts are reported from here on
//   stop()    no attempt goes on, and no result is reported any more
//
// Owns       a thread, while the database is awaited.
// Borrows    the objects that its functions use, and the database that start() returned, until
//            stop().
// Thread     one; its reports come from its own thread.
// Allocates  for each attempt.
// Fails      start(), for an error that waiting cannot mend (any Code but unavailable): a wrong
//            password, an unknown database, a refused migration. With wait_max 0 for every error.
// Invariant  between two attempts is a backoff. stop() does not wait for a look-up of a name.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>

#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/observe/log/log.hpp"
#include "katana/stores/database/awaited.hpp"
#include "katana/stores/database/database.hpp"
#include "katana/stores/database/opening.hpp"

namespace katana::app {

// The options of one start of a database.
struct DatabaseStartOptions {
  // One attempt. With a wait_max above 0 it runs on the thread of the DatabaseStart.
  std::function<Result<database::Database>(const database::Opening&)> open = {};
  // For each Opening.
  std::function<void(std::span<const database::Migration>)> on_migrated = {};
  Duration wait_max = {};                    // for the database to come; 0: it has to be there
  Duration timeout = {};                     // of its calls that are given none
  std::string_view system = {};              // Backend::system() of the awaited database
  log::Logger logger = {};                   // of attempts that fail, and of the one that succeeds
  Duration backoff_min = milliseconds(200);  // the first wait; chance takes up to half of it
  Duration backoff_max = seconds(5);         // the longest wait, likewise
  Duration answer_max = seconds(1);          // how long start() waits for the first attempt
};

// Called with a lock held: neither calls the DatabaseStart.
struct DatabaseNews {
  std::function<void()> on_there = {};               // the database is used from now on
  std::function<void(const Error&)> on_failed = {};  // the database will never be used
};

class DatabaseStart {
 public:
  explicit DatabaseStart(DatabaseStartOptions options);
  ~DatabaseStart();
  DatabaseStart(const DatabaseStart&) = delete;
  DatabaseStart& operator=(const DatabaseStart&) = delete;

  // Called once.
  Result<database::Database> start();
  // Why the database is awaited; none: it is open.
  std::optional<std::string> awaits() const;
  // REQUIRES start(). Earlier events are reported at once.
  void go_on(DatabaseNews news);
  void stop() noexcept;

 private:
  struct Shared;
  static void run(const std::shared_ptr<Shared>& shared);

  const std::shared_ptr<Shared> shared_;  // the thread may be left behind in a look-up of a name
  std::thread thread_;
};

// How long a program waits for its database: as long as `told`, if it is given. Without `told` it
// waits for ever (never.ns) where a service manager (NOTIFY_SOCKET, INVOCATION_ID) or Kubernetes
// (KUBERNETES_SERVICE_HOST) has started it. At a terminal it waits as long as a person may wait.
Duration database_wait(const std::optional<Duration>& told,
                       const std::function<const char*(const char* name)>& variables);

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
