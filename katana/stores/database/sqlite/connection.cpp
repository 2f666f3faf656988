#include "katana/stores/database/sqlite/connection.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "katana/base/system/check.hpp"

namespace katana::database::sqlite {
namespace {

constexpr int ends_with_null = -1;           // as the size of a text
constexpr int instructions_per_look = 1000;  // of SQLite's machine: some 20 to 50 µs

constexpr std::array<const char*, 7> command_texts = {
    "BEGIN",          "BEGIN IMMEDIATE",   "COMMIT", "ROLLBACK", "SAVEPOINT katana",
    "RELEASE katana", "ROLLBACK TO katana"};

Constraint constraint_of(int code) noexcept {
  switch (code) {
    case SQLITE_CONSTRAINT_UNIQUE: return Constraint::unique;
    case SQLITE_CONSTRAINT_PRIMARYKEY:
    case SQLITE_CONSTRAINT_ROWID: return Constraint::primary_key;
    case SQLITE_CONSTRAINT_FOREIGNKEY: return Constraint::foreign_key;
    case SQLITE_CONSTRAINT_NOTNULL: return Constraint::not_null;
    case SQLITE_CONSTRAINT_CHECK: return Constraint::check;
    default: return Constraint::other;
  }
}

// "UNIQUE constraint failed: users.email" → "users.email": names of the schema, never a value. The
// message that a trigger raises is a literal of the schema, too.
std::string_view which_of(Constraint constraint, std::string_view message) noexcept {
  constexpr std::string_view mark = "constraint failed: ";
  const std::size_t at = message.find(mark);
  if (at != std::string_view::npos) return message.substr(at + mark.size());
  return constraint == Constraint::other ? message : std::string_view();
}

const char* synchronous_of(Durability durability) noexcept {
  switch (durability) {
    case Durability::full: return "FULL";
    case Durability::normal: return "NORMAL";
    case Durability::none: break;
  }
  return "OFF";
}

// SQLite would make a file that all users may read. The log and the index take the mode of the
// database file: the mode of an empty file made here holds for all three. When this function cannot
// make the file, SQLite makes it, or reports the error.
void create_private(const Options& options) {
  constexpr mode_t file_mode = 0640;  // databases name users, as logs do
  if (options.path.empty() || !options.vfs.empty()) return;
  const int file = ::open(options.path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, file_mode);
  if (file >= 0) ::close(file);
}

}  // namespace

bool is_outage(int code) noexcept {
  switch (code & 0xff) {
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
    case SQLITE_READONLY: return true;
    default: return false;
  }
}

bool is_corrupt(int code) noexcept {
  return (code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB;
}

std::string words_of(int code) { return fmt::format("{} ({})", sqlite3_errstr(code), code); }

namespace {

// SQLite's words for a file that cannot be opened are the same for each cause.
std::string why_not_opened(const Options& options, int code, int error_number) {
  // Another VFS has its own folders, if any.
  if ((code & 0xff) != SQLITE_CANTOPEN || !options.vfs.empty()) return words_of(code);
  const std::filesystem::path path(options.path);
  const std::filesystem::path folder = path.parent_path();
  std::error_code ignored;
  if (!folder.empty() && !std::filesystem::exists(folder, ignored)) {
    return fmt::format("the folder '{}' does not exist: create it", folder.string());
  }
  if (!folder.empty() && !std::filesystem::is_directory(folder, ignored)) {
    return fmt::format("'{}' is not a folder", folder.string());
  }
  if (std::filesystem::is_directory(path, ignored)) return "this is a folder, not a file";
  if (error_number == 0) return words_of(code);
  return std::generic_category().message(error_number);
}

}  // namespace

namespace {

// Has the next connection make the index of the log anew, from frames whose checksums are right.
// SQLite recovers an index whose header is invalid (https://sqlite.org/walformat.html). The index
// has commits that were acknowledged before they were synced. A failed sync may have lost their
// frames, and other connections keep the index alive. The lock for writing is held meanwhile; if
// another process has it, the next probe tries again.
void forget_index(sqlite3* handle) noexcept {
  constexpr int header_bytes = 2 * 48;  // both copies
  constexpr int region_bytes = 32 * 1024;
  constexpr int write_lock = 0;  // the slot of it
  sqlite3_file* file = nullptr;
  sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (file == nullptr || file->pMethods == nullptr || file->pMethods->iVersion < 2) return;
  const sqlite3_io_methods& does = *file->pMethods;
  void volatile* memory = nullptr;
  if (does.xShmMap(file, 0, region_bytes, 0, &memory) == SQLITE_OK && memory != nullptr &&
      does.xShmLock(file, write_lock, 1, SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE) == SQLITE_OK) {
    auto* const header = static_cast<volatile char*>(memory);
    for (int at = 0; at < header_bytes; ++at) header[at] = 0;
    does.xShmBarrier(file);
    does.xShmLock(file, write_lock, 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE);
  }
  does.xShmUnmap(file, 0);
}

}  // namespace

// SQLite counts its allocations under a lock of the process, for functions that are not called
// here. This costs a tenth of the CPU of its threads. The call has no effect in a program that used
// SQLite before, and may need these counts.
void omit_memory_statistics() noexcept {
  [[maybe_unused]] static const int code = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

Result<std::unique_ptr<Connection>> Connection::open(const Options& options, Access access,
                                                     const std::function<Instant()>& clock) {
  omit_memory_statistics();
  auto connection = std::unique_ptr<Connection>(new Connection(options, clock));
  const bool forgets_index = access == Access::again && options.durability != Durability::full;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                    (access == Access::create ? SQLITE_OPEN_CREATE : 0);
  if (access == Access::create) create_private(options);
  const char* const vfs = options.vfs.empty() ? nullptr : options.vfs.c_str();
  if (vfs != nullptr && sqlite3_vfs_find(vfs) == nullptr) {
    return fail(Kind::unavailable,
                fmt::format("cannot open the database '{}': SQLite has no VFS '{}': register it "
                            "before the database is opened, and keep it as long",
                            options.path, options.vfs));
  }
  const int code = sqlite3_open_v2(options.path.c_str(), &connection->handle_, flags, vfs);
  if (code != SQLITE_OK) {
    const int error_number = sqlite3_system_errno(connection->handle_);  // of null: 0
    return fail(Kind::unavailable, fmt::format("cannot open the database '{}': {}", options.path,
                                               why_not_opened(options, code, error_number)));
  }
  if (forgets_index) forget_index(connection->handle_);
  if (const auto good = connection->set_up(access); !good) return std::unexpected(good.error());
  return connection;
}

// SQLite does not ask on_busy() while a database gets its log: two may be about to give it one.
Result<std::string> Connection::ask_for_log() {
  lock_until_ = never;
  for (int count = 0;; ++count) {
    auto mode = ask("PRAGMA journal_mode = WAL");
    if (mode || mode.error().kind() != Kind::busy || on_busy(this, count) == 0) return mode;
  }
}

Result<void> Connection::set_up(Access access) {
  lock_wait_ = options_.busy_wait;
  sqlite3_progress_handler(handle_, instructions_per_look, &on_progress, this);
  sqlite3_busy_handler(handle_, &on_busy, this);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
  if (access != Access::read) {
    const auto mode = ask_for_log();
    if (!mode) return std::unexpected(mode.error());
    if (*mode != "wal") {
      return fail(
          Kind::unavailable,
          fmt::format("the database '{}' cannot have a write-ahead log (its journal mode is "
                      "{}): is it on a network file system?",
                      options_.path, *mode));
    }
    sqlite3_wal_hook(handle_, &on_log, this);  // in place of checkpoints within a commit
  }
  const std::string settings = fmt::format(
      "PRAGMA synchronous = {}; PRAGMA foreign_keys = ON; PRAGMA cache_size = -{}; "
      "PRAGMA cell_size_check = ON; PRAGMA query_only = {}",
      synchronous_of(options_.durability), options_.cache_kib,
      access == Access::read ? "ON" : "OFF");
  const int code = run_text(settings.c_str());
  if (code != SQLITE_OK) return std::unexpected(error(code, {}));
  sqlite3_set_authorizer(handle_, &on_authorize, this);
  return {};
}

Connection::~Connection() {
  statements_.clear();
  commands_ = {};
  sqlite3_close_v2(handle_);
}

Result<Statement*> Connection::find(const Sql& sql) {
  Statement*& recent = recent_[sql.hash() % recent_.size()];
  if (recent == nullptr || recent->text() != sql.text()) [[unlikely]] {
    const auto at = statements_.find(sql.text());
    if (at != statements_.end()) {
      recent = at->second.get();
    } else {
      const auto prepared = prepare(sql);
      if (!prepared) return prepared;
      recent = *prepared;
    }
  }
  recent->used_at = ++uses_;
  return recent;
}

Result<Statement*> Connection::prepare(const Sql& sql) {
  const Bytes text = sql.text();
  sqlite3_stmt* prepared = nullptr;
  const char* tail = nullptr;
  trusted_ = false;
  const int code = sqlite3_prepare_v3(handle_, text.data(), static_cast<int>(text.size()),
                                      SQLITE_PREPARE_PERSISTENT, &prepared, &tail);
  trusted_ = true;
  if ((code & 0xff) == SQLITE_AUTH) {
    return fail(Kind::syntax,
                "transactions are begun with Database::begin(), and files, pragmas and extensions "
                "are for the options of the database",
                text);
  }
  // No value has been bound: SQLite's message can only be about the text.
  if ((code & 0xff) == SQLITE_ERROR) return fail(Kind::syntax, sqlite3_errmsg(handle_), text);
  if (code != SQLITE_OK) return std::unexpected(error(code, text));
  if (prepared == nullptr) return fail(Kind::syntax, "there is no statement", text);
  auto statement = std::make_unique<Statement>(prepared, text);
  const Bytes rest = text.substr(static_cast<std::size_t>(tail - text.data()));
  if (rest.find_first_not_of(" \t\r\n;") != Bytes::npos) {
    return fail(Kind::syntax, "one statement at a time, and there are more", text);
  }
  if (statements_.size() >= options_.statements_max) evict();
  ++prepared_;
  const std::string_view key = statement->text();
  return (statements_[key] = std::move(statement)).get();
}

void Connection::evict() {
  const auto oldest = std::min_element(statements_.begin(), statements_.end(),
                                       [](const auto& left, const auto& right) {
                                         return left.second->used_at < right.second->used_at;
                                       });
  if (oldest == statements_.end()) return;
  std::replace(recent_.begin(), recent_.end(), oldest->second.get(),
               static_cast<Statement*>(nullptr));
  const std::unique_ptr<Statement> gone = std::move(oldest->second);  // its text is the key
  statements_.erase(oldest);
}

int Connection::run(Statement& statement, std::span<const Value> values, Outcome& outcome,
                    const Limits& limits) noexcept {
  limits_ = limits;
  deadline_exceeded_ = false;
  const int code = statement.bind(values, limits.keep_values);
  if (code != SQLITE_OK) return code;
  return step_all(statement, outcome);
}

int Connection::resume(Statement& statement, Outcome& outcome, const Limits& limits) noexcept {
  limits_ = limits;
  deadline_exceeded_ = false;
  return step_all(statement, outcome);
}

int Connection::step_all(Statement& statement, Outcome& outcome) noexcept {
  lock_until_ = never;
  int code = SQLITE_ROW;
  try {
    for (std::size_t rows = 0;; ++rows) {
      code = statement.step();
      if (code != SQLITE_ROW) break;
      if (rows == limits_.rows_max) {
        outcome.error.emplace(Kind::too_large,
                              fmt::format("the result has more than {} rows: use a stream, or a "
                                          "LIMIT",
                                          limits_.rows_max),
                              statement.text());
        code = SQLITE_TOOBIG;
        break;
      }
      if (const TypeMismatch misfit = outcome.take(statement)) [[unlikely]] {
        outcome.error.emplace(Kind::mismatch,
                              misfit.column.empty()
                                  ? std::string(misfit.why)
                                  : fmt::format("'{}' {}", misfit.column, misfit.why),
                              statement.text());
        code = SQLITE_MISMATCH;
        break;
      }
      if (!outcome.wants_more()) {
        limits_ = {};
        return SQLITE_ROW;
      }
    }
    if (code == SQLITE_DONE && !statement.reads_only()) {
      outcome.rows_changed = sqlite3_changes64(handle_);
    }
    // Made before the reset, after which the connection does not know the constraint any more.
    if ((code & 0xff) == SQLITE_CONSTRAINT) outcome.error = error(code, statement.text());
  } catch (const std::bad_alloc&) {
    code = SQLITE_NOMEM;
  }
  statement.reset();
  limits_ = {};
  return code;
}

Statement* Connection::own(Command command) noexcept {
  auto& statement = commands_[static_cast<std::size_t>(command)];
  if (!statement) {
    const char* const text = command_texts[static_cast<std::size_t>(command)];
    sqlite3_stmt* prepared = nullptr;
    const int code = sqlite3_prepare_v3(handle_, text, ends_with_null, SQLITE_PREPARE_PERSISTENT,
                                        &prepared, nullptr);
    if (code != SQLITE_OK) return nullptr;
    statement = std::make_unique<Statement>(prepared, text);
  }
  return statement.get();
}

int Connection::run(Command command) noexcept {
  limits_ = {};
  lock_until_ = never;
  Statement* const statement = own(command);
  if (statement == nullptr) return sqlite3_extended_errcode(handle_);
  const int code = statement->step();
  statement->reset();
  if (command == Command::undo && code == SQLITE_DONE) return run(Command::release);
  return code;
}

int Connection::run_text(const char* text) noexcept {
  limits_ = {};
  lock_until_ = never;
  const int code = sqlite3_exec(handle_, text, nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? code : sqlite3_extended_errcode(handle_);
}

Result<void> Connection::run_script(const std::string& text) {
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at < end;) {
    sqlite3_stmt* prepared = nullptr;
    const char* behind = nullptr;
    trusted_ = false;
    int code = sqlite3_prepare_v2(handle_, at, static_cast<int>(end - at), &prepared, &behind);
    trusted_ = true;
    const Bytes piece(at, static_cast<std::size_t>(behind - at));
    if ((code & 0xff) == SQLITE_AUTH) {
      return fail(Kind::syntax,
                  "a migration cannot begin or end a transaction, attach a file or "
                  "set a pragma",
                  piece);
    }
    if (code != SQLITE_OK) return fail(Kind::syntax, sqlite3_errmsg(handle_), piece);
    at = behind;
    if (prepared == nullptr) continue;  // a comment
    Statement statement(prepared, piece);
    while ((code = statement.step()) == SQLITE_ROW) {
    }
    // A migration has no values of users: SQLite's message about it may be repeated.
    if (code != SQLITE_DONE) return fail(Kind::syntax, sqlite3_errmsg(handle_), piece);
  }
  return {};
}

Result<std::string> Connection::ask(const char* text) {
  limits_ = {};
  lock_until_ = never;
  sqlite3_stmt* prepared = nullptr;
  int code = sqlite3_prepare_v2(handle_, text, ends_with_null, &prepared, nullptr);
  if (code != SQLITE_OK) return std::unexpected(error(code, text));
  Statement statement(prepared, text);
  code = statement.step();
  if (code != SQLITE_ROW) return std::unexpected(error(code, text));
  const unsigned char* const found = sqlite3_column_text(prepared, 0);
  return std::string(found != nullptr ? reinterpret_cast<const char*>(found) : "");
}

bool Connection::has_deferred_violations() const noexcept {
  int present = 0, highest = 0;
  sqlite3_db_status(handle_, SQLITE_DBSTATUS_DEFERRED_FKS, &present, &highest, 0);
  return present != 0;
}

Error Connection::error(int code, Bytes text) const {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Error(Kind::busy, "another process holds the lock of the database", text);
    case SQLITE_CONSTRAINT: {
      const Constraint constraint = constraint_of(code);
      return Error::violated(constraint, which_of(constraint, sqlite3_errmsg(handle_)), text);
    }
    case SQLITE_INTERRUPT:
      if (deadline_exceeded_) return Error(Kind::timeout, "deadline exceeded", text);
      return Error(Kind::cancelled, "interrupted", text);
    case SQLITE_TOOBIG:
      return Error(Kind::too_large, "a value is larger than the database takes", text);
    case SQLITE_MISMATCH:
      return Error(Kind::mismatch, "value does not match the column's type", text);
    case SQLITE_ERROR:
    case SQLITE_RANGE:
    case SQLITE_MISUSE:
    case SQLITE_AUTH:
    case SQLITE_SCHEMA:
      return Error(Kind::syntax, fmt::format("the statement failed: {}", words_of(code)), text);
    default:
      return Error(Kind::unavailable, fmt::format("the database failed: {}", words_of(code)), text);
  }
}

int Connection::checkpoint(bool& is_whole) noexcept {
  limits_ = {};
  int pages = 0, written = 0;
  const int code =
      sqlite3_wal_checkpoint_v2(handle_, nullptr, SQLITE_CHECKPOINT_PASSIVE, &pages, &written);
  log_pages_ = 0;
  is_whole = code == SQLITE_OK && pages == written;
  return code == SQLITE_OK ? code : sqlite3_extended_errcode(handle_);
}

namespace {

int write_again(sqlite3_file& file) {
  constexpr sqlite3_int64 chunk_bytes = 64 * 1024;
  const sqlite3_io_methods& does = *file.pMethods;
  sqlite3_int64 size = 0;
  int code = does.xFileSize(&file, &size);
  if (code != SQLITE_OK || size == 0) return code;
  std::string chunk(static_cast<std::size_t>(std::min(chunk_bytes, size)), '\0');
  for (sqlite3_int64 at = 0; at < size && code == SQLITE_OK; at += chunk_bytes) {
    const int bytes = static_cast<int>(std::min(chunk_bytes, size - at));
    code = does.xRead(&file, chunk.data(), bytes, at);
    if (code == SQLITE_OK) code = does.xWrite(&file, chunk.data(), bytes, at);
  }
  return code == SQLITE_OK ? does.xSync(&file, SQLITE_SYNC_NORMAL) : code;
}

}  // namespace

// Only the holder of the lock for writing changes the log.
int Connection::renew_log() noexcept {
  // Nothing is written to a file that may only be read, and so nothing is lost behind its log.
  // BEGIN IMMEDIATE would succeed there without the lock.
  if (sqlite3_db_readonly(handle_, "main") == 1) return SQLITE_OK;
  const Duration wait = std::exchange(lock_wait_, Duration{});
  int code = run(Command::begin_now);
  lock_wait_ = wait;
  if ((code & 0xff) == SQLITE_BUSY) return SQLITE_OK;
  if (code != SQLITE_DONE) return code;
  sqlite3_file* log = nullptr;
  code = sqlite3_file_control(handle_, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (code == SQLITE_OK && log != nullptr && log->pMethods != nullptr) {
    try {
      code = write_again(*log);
    } catch (const std::bad_alloc&) {
      code = SQLITE_NOMEM;
    }
  }
  run(Command::rollback);
  return code;
}

void Connection::leave_log() noexcept {
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

int Connection::on_progress(void* self) noexcept {
  auto& connection = *static_cast<Connection*>(self);
  Limits& limits = connection.limits_;
  if (limits.work != nullptr && limits.work->abandoned_by_now()) return 1;
  if (limits.budget > Duration{}) {
    // The first look begins the budget: short statements never read a clock.
    limits.deadline = std::min(limits.deadline, connection.clock_() + limits.budget);
    limits.budget = {};
  } else if (limits.deadline != never && connection.clock_() >= limits.deadline) {
    connection.deadline_exceeded_ = true;
    return 1;
  }
  return 0;
}

int Connection::on_busy(void* self, int count) noexcept {
  auto& connection = *static_cast<Connection*>(self);
  if (connection.lock_wait_ <= Duration{}) return 0;
  const Work* const work = connection.limits_.work;
  if (work != nullptr && work->abandoned_by_now()) return 0;
  const Instant now = connection.clock_();
  if (connection.lock_until_ == never) {
    connection.lock_until_ = std::min(now + connection.lock_wait_, connection.limits_.deadline);
  }
  if (now >= connection.lock_until_) return 0;
  ++connection.lock_retries_;
  const int wait_ms = std::min(1 << std::min(count, 5), 20);
  std::this_thread::sleep_for(std::chrono::milliseconds(wait_ms));
  return 1;
}

int Connection::on_log(void* self, sqlite3*, const char*, int pages) noexcept {
  static_cast<Connection*>(self)->log_pages_ = pages;
  return SQLITE_OK;
}

int Connection::on_authorize(void* self, int action, const char*, const char* second, const char*,
                             const char*) noexcept {
  if (static_cast<Connection*>(self)->trusted_) return SQLITE_OK;
  switch (action) {
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
    case SQLITE_ATTACH:
    case SQLITE_DETACH: return SQLITE_DENY;
    case SQLITE_PRAGMA: return second == nullptr ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_FUNCTION:
      return second != nullptr && Bytes(second) == "load_extension" ? SQLITE_DENY : SQLITE_OK;
    default: return SQLITE_OK;
  }
}

}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
