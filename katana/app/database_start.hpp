// DatabaseStart: opens the database of a program. One that is not there yet is awaited: the program
// starts, is not ready, and its calls fail with 503, until an attempt has succeeded.
//
//   start()   the database, or an AwaitedBackend in its place
//   go_on()   the program has started: what comes of further attempts is told from here on
//   stop()    no attempt goes on, and nothing is told any more
//
// Owns       a thread, while the database is awaited.
// Borrows    what its functions use, until stop().
// Thread     one; what it tells is told on its own.
// Allocates  for each attempt.
// Fails      start(): what waiting cannot mend (any Code but unavailable): a wrong password, an
//            unknown database, a refused migration; and with wait_max 0 everything.
// Invariant  between two attempts is a backoff. stop() does not wait for a look-up of a name.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/observe/log/log.hpp"
#include "katana/stores/database/awaited.hpp"
#include "katana/stores/database/database.hpp"
#include "katana/stores/database/opening.hpp"

namespace katana::app {

// What one start of a database needs.
struct DatabaseStartOptions {
  // One attempt. With a wait_max above 0 it runs on the thread of the DatabaseStart.
  std::function<Result<database::Database>(const database::Opening&)> open = {};
  Duration wait_max = {};        // for the database to come; 0: it has to be there
  Duration timeout = {};         // of its calls that are given none
  std::string_view system = {};  // Backend::system() of what is awaited
  log::Logger logger = {};       // told of attempts that fail, and of the one that succeeds
  Duration backoff_min = milliseconds(200);  // the first wait; chance takes up to half of it
  Duration backoff_max = seconds(5);         // the longest wait, likewise
  Duration answer_max = seconds(1);          // what start() waits for the first attempt to reach it
};

// Called with a lock held: neither calls the DatabaseStart.
struct DatabaseNews {
  std::function<void()> on_there = {};               // it is used from now on
  std::function<void(const Error&)> on_failed = {};  // it never will be
};

class DatabaseStart {
 public:
  explicit DatabaseStart(DatabaseStartOptions options);
  ~DatabaseStart();
  DatabaseStart(const DatabaseStart&) = delete;
  DatabaseStart& operator=(const DatabaseStart&) = delete;

  // Once.
  Result<database::Database> start();
  // Why it is awaited; none: it is there.
  std::optional<std::string> awaits() const;
  // REQUIRES start(). Earlier events are told at once.
  void go_on(DatabaseNews news);
  void stop() noexcept;

 private:
  struct Shared;
  static void run(const std::shared_ptr<Shared>& shared);

  const std::shared_ptr<Shared> shared_;  // the thread may be left behind in a look-up of a name
  std::thread thread_;
};

// For how long a program waits for its database: as it was told; for ever (never.ns) where a
// service manager (NOTIFY_SOCKET, INVOCATION_ID) or Kubernetes (KUBERNETES_SERVICE_HOST) has
// started it; and else for as long as a person may wait at a terminal.
Duration database_wait(const std::optional<Duration>& told,
                       const std::function<const char*(const char* name)>& variables);

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
