// Bare: SQLite's own calls with prepared statements, written by hand, as the comparison for the
// database layer.
//
// Owns       one connection with the settings of the layer's, and its statements.
// Thread     one.
// Allocates  as SQLite does.
// Fails      by ending the program: a subject that did not do its work has no figure.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <string>

#include "lab/micro/micro.hpp"

namespace bench {

struct Person {
  std::int64_t id = 0;
  std::string name;
  std::string city;
  std::int64_t age = 0;
};

class Bare {
 public:
  explicit Bare(const std::string& path) {
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    micro::expect(sqlite3_open_v2(path.c_str(), &handle_, flags, nullptr) == SQLITE_OK, "open");
    run("PRAGMA journal_mode = WAL");
    run("PRAGMA synchronous = FULL");
    run("PRAGMA cache_size = -8192");
  }
  Bare(const Bare&) = delete;
  Bare& operator=(const Bare&) = delete;
  ~Bare() {
    for (sqlite3_stmt* const each : {read_, write_, begin_, commit_}) sqlite3_finalize(each);
    sqlite3_close(handle_);
  }

  void run(const char* text) {
    micro::expect(sqlite3_exec(handle_, text, nullptr, nullptr, nullptr) == SQLITE_OK, text);
  }
  void prepare() {
    read_ = prepared("SELECT id, name, city, age FROM people WHERE id = $1");
    write_ = prepared("INSERT INTO visits (person, place) VALUES ($1, $2)");
    begin_ = prepared("BEGIN");
    commit_ = prepared("COMMIT");
  }
  void begin() { step(begin_); }
  void commit() { step(commit_); }

  bool read(std::int64_t id, Person& out) {
    sqlite3_bind_int64(read_, 1, id);
    const bool found = sqlite3_step(read_) == SQLITE_ROW;
    if (found) {
      out.id = sqlite3_column_int64(read_, 0);
      out.name.assign(reinterpret_cast<const char*>(sqlite3_column_text(read_, 1)),
                      static_cast<std::size_t>(sqlite3_column_bytes(read_, 1)));
      out.city.assign(reinterpret_cast<const char*>(sqlite3_column_text(read_, 2)),
                      static_cast<std::size_t>(sqlite3_column_bytes(read_, 2)));
      out.age = sqlite3_column_int64(read_, 3);
      micro::expect(sqlite3_step(read_) == SQLITE_DONE, "one row");
    }
    sqlite3_reset(read_);
    return found;
  }
  void write(std::int64_t person, const std::string& place) {
    sqlite3_bind_int64(write_, 1, person);
    sqlite3_bind_text(write_, 2, place.data(), static_cast<int>(place.size()), SQLITE_STATIC);
    step(write_);
  }

 private:
  sqlite3_stmt* prepared(const char* text) {
    sqlite3_stmt* made = nullptr;
    micro::expect(sqlite3_prepare_v3(handle_, text, -1, SQLITE_PREPARE_PERSISTENT, &made,
                                     nullptr) == SQLITE_OK,
                  text);
    return made;
  }
  static void step(sqlite3_stmt* statement) {
    micro::expect(sqlite3_step(statement) == SQLITE_DONE, sqlite3_sql(statement));
    sqlite3_reset(statement);
  }

  sqlite3* handle_ = nullptr;
  sqlite3_stmt* read_ = nullptr;
  sqlite3_stmt* write_ = nullptr;
  sqlite3_stmt* begin_ = nullptr;
  sqlite3_stmt* commit_ = nullptr;
};

}  // namespace bench

// SPDX-License-Identifier: Apache-2.0
