// Bare: SQLite's own calls on a file, for tests that look at it from outside, or are another
// program that uses it.
//
// Owns       its connection.
// Thread     one.
// Fails      by failing the test.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>

namespace katana::database::sqlite {

class Bare {
 public:
  explicit Bare(const std::string& path) {
    EXPECT_EQ(sqlite3_open(path.c_str(), &handle_), SQLITE_OK) << path;
  }
  Bare(const Bare&) = delete;
  Bare& operator=(const Bare&) = delete;
  ~Bare() { sqlite3_close(handle_); }

  void run(const std::string& text) {
    EXPECT_EQ(sqlite3_exec(handle_, text.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << text << ": " << sqlite3_errmsg(handle_);
  }
  // The first column of every row.
  std::multiset<std::string> list(const std::string& text) {
    std::multiset<std::string> found;
    const auto add = [](void* to, int, char** columns, char**) {
      static_cast<std::multiset<std::string>*>(to)->insert(columns[0] != nullptr ? columns[0] : "");
      return 0;
    };
    EXPECT_EQ(sqlite3_exec(handle_, text.c_str(), add, &found, nullptr), SQLITE_OK)
        << text << ": " << sqlite3_errmsg(handle_);
    return found;
  }
  std::string one(const std::string& text) {
    const auto found = list(text);
    return found.size() == 1 ? *found.begin() : std::to_string(found.size()) + " rows";
  }

 private:
  sqlite3* handle_ = nullptr;
};

}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
