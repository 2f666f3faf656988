// SqliteHandle: SQLite's own calls on a file of a simulated disk.
//
// Owns       its connection.
// Thread     one.
// Fails      by the result codes that it returns.
#pragma once

#include <sqlite3.h>

#include <string>
#include <vector>

namespace katana::testing {

class SqliteHandle {
 public:
  SqliteHandle(const std::string& path, const std::string& vfs) {
    constexpr int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    opened = sqlite3_open_v2(path.c_str(), &handle_, flags, vfs.empty() ? nullptr : vfs.c_str());
    sqlite3_extended_result_codes(handle_, 1);
  }
  SqliteHandle(const SqliteHandle&) = delete;
  SqliteHandle& operator=(const SqliteHandle&) = delete;
  ~SqliteHandle() { sqlite3_close(handle_); }

  // The result code; the values of all rows go to `rows`.
  int run(const std::string& text, std::vector<std::string>* rows = nullptr) {
    const auto add = [](void* to, int count, char** columns, char**) {
      if (to == nullptr) return 0;
      for (int index = 0; index < count; ++index) {
        static_cast<std::vector<std::string>*>(to)->push_back(
            columns[index] != nullptr ? columns[index] : "(null)");
      }
      return 0;
    };
    const int code = sqlite3_exec(handle_, text.c_str(), add, rows, nullptr);
    return code == SQLITE_OK ? code : sqlite3_extended_errcode(handle_);
  }
  // The values of all rows, or the error.
  std::string ask(const std::string& text) {
    std::vector<std::string> rows;
    const int code = run(text, &rows);
    std::string joined = code == SQLITE_OK ? "" : sqlite3_errstr(code);
    for (const std::string& row : rows) joined += (joined.empty() ? "" : " ") + row;
    return joined;
  }
  sqlite3* handle() const noexcept { return handle_; }

  int opened = SQLITE_OK;

 private:
  sqlite3* handle_ = nullptr;
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
