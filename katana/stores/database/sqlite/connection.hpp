// Connection: one connection to the file, with its prepared statements.
//
// Owns       the sqlite3 and its statements, kept by their text; the least recently used goes when
//            there are too many.
// Thread     one at a time; interrupt() any, while the connection lives.
// Allocates  for a statement that is prepared; nothing of ours when it is run.
// Fails      by an Error, or by SQLite's result code where the caller decides. Values never get
//            into an Error: SQLite's message about a statement that ran is not repeated.
// Invariant  statements of the program can neither begin nor end a transaction, nor attach files,
//            nor change a pragma. Such statements are refused when they are prepared: only the
//            connection runs them.
#pragma once

#include <sqlite3.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "katana/base/values/instant.hpp"
#include "katana/stores/database/sql.hpp"
#include "katana/stores/database/sqlite/options.hpp"
#include "katana/stores/database/sqlite/statement.hpp"
#include "katana/stores/database/work.hpp"

namespace katana::database::sqlite {

// The mode in which a connection opens the file.
enum class Access : std::uint8_t {
  create,  // reads and writes; makes the file if it is missing
  write,   // reads and writes
  again,   // as write, after the file failed: makes an index of the log anew that may be wrong
  read,    // reads; a write is an Error
};

// Limits of one run of a statement.
struct Limits {
  std::size_t rows_max = SIZE_MAX;  // one row more is an Error
  Instant deadline = never;         // then it is interrupted
  Duration budget = {};             // or this long after it was first looked at; 0: none
  const Work* work = nullptr;       // or when no caller waits for this any more
  bool keep_values = false;         // copies parameters, because the rows are read after the call
};

// The commands that we run ourselves.
enum class Command : std::uint8_t {
  begin,      // a snapshot, from its first read on
  begin_now,  // and takes the lock for writing
  commit,     // makes the transaction durable
  rollback,   // undoes the transaction
  savepoint,  // marks a place to return to
  release,    // forgets the savepoint, and keeps what was done
  undo,       // to the savepoint, and releases it
};

class Connection {
 public:
  // `options` and `clock` are borrowed.
  static Result<std::unique_ptr<Connection>> open(const Options& options, Access access,
                                                  const std::function<Instant()>& clock);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  // The program's statement.
  Result<Statement*> find(const Sql& sql);
  // Runs the statement. SQLITE_DONE: it ran to its end, and is reset. SQLITE_ROW: the outcome wants
  // no more rows at present; resume() or reset it. Any other code: it has failed, and is reset; the
  // outcome may have an Error with more than the code.
  int run(Statement& statement, std::span<const Value> values, Outcome& outcome,
          const Limits& limits) noexcept;
  int resume(Statement& statement, Outcome& outcome, const Limits& limits) noexcept;
  int run(Command command) noexcept;
  // Our own text, without values: pragmas, migrations. Among several statements, all.
  int run_text(const char* text) noexcept;
  // Runs every statement of a foreign text, such as a migration. The limits of the program's
  // statements hold for it, too. The Error has the statement that failed.
  Result<void> run_script(const std::string& text);
  // The first column of the first row of such a text.
  Result<std::string> ask(const char* text);
  Result<std::string> ask_for_log();

  // False also after SQLite rolled back on its own.
  bool in_transaction() const noexcept { return sqlite3_get_autocommit(handle_) == 0; }
  // Foreign keys that are violated and may be mended until the commit.
  bool has_deferred_violations() const noexcept;
  // A statement that is only about to run does not notice.
  void interrupt() noexcept { sqlite3_interrupt(handle_); }
  // The reason why the last run was interrupted. True: its time was up. False: no caller waits, or
  // interrupt() was called.
  bool deadline_exceeded() const noexcept { return deadline_exceeded_; }
  // Sets the time that run() may wait for a lock of another process from now on.
  void wait_for_locks(Duration wait) noexcept { lock_wait_ = wait; }
  std::uint64_t lock_retries() const noexcept { return lock_retries_; }
  std::uint64_t prepared() const noexcept { return prepared_; }

  // The Error for `code`, which a statement that ran has just returned. `text`: the statement.
  Error error(int code, Bytes text) const;
  // log_pages(): the pages of the log since it was last written back. checkpoint() writes them
  // back; `is_whole`: all of them. Returns SQLite's code.
  int log_pages() const noexcept { return log_pages_; }
  int checkpoint(bool& is_whole) noexcept;
  // Writes the bytes of the log once more, and syncs them. After a failed sync the system may show
  // bytes that are not on the disk, and that no later sync writes. A loss of power would then undo
  // the commits behind them, and may leave a damaged file after a checkpoint. Call it before the
  // first write of a connection. Does nothing while another process holds the lock for writing,
  // and has done it. SQLITE_OK, or the code of the failure.
  int renew_log() noexcept;
  // Leaves the log as it is when the connection closes: the file under its name is another one.
  void leave_log() noexcept;
  sqlite3* handle() noexcept { return handle_; }

  std::uint64_t generation = 0;  // Watch::generation() when the connection was opened

 private:
  Connection(const Options& options, const std::function<Instant()>& clock)
      : options_(options), clock_(clock) {}
  Result<void> set_up(Access access);
  Result<Statement*> prepare(const Sql& sql);
  Statement* own(Command command) noexcept;
  int step_all(Statement& statement, Outcome& outcome) noexcept;
  void evict();

  static int on_progress(void* self) noexcept;
  static int on_busy(void* self, int count) noexcept;
  static int on_log(void* self, sqlite3*, const char*, int pages) noexcept;
  static int on_authorize(void* self, int action, const char* first, const char* second,
                          const char*, const char*) noexcept;

  const Options& options_;
  const std::function<Instant()>& clock_;
  sqlite3* handle_ = nullptr;

  std::array<Statement*, 64> recent_{};  // by hash; the statement asked for is mostly here
  std::unordered_map<std::string_view, std::unique_ptr<Statement>> statements_;
  std::array<std::unique_ptr<Statement>, 8> commands_;
  std::uint64_t uses_ = 0;
  std::uint64_t prepared_ = 0;

  Limits limits_;
  bool deadline_exceeded_ = false;
  bool trusted_ = true;  // what is prepared is ours
  Duration lock_wait_ = {};
  Instant lock_until_ = never;
  std::uint64_t lock_retries_ = 0;
  int log_pages_ = 0;
};

// The file itself failed, or is full, or may not be written: not the statement's fault.
bool is_outage(int code) noexcept;
bool is_corrupt(int code) noexcept;
// "the disk is full"; names the result code.
std::string words_of(int code);

}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
