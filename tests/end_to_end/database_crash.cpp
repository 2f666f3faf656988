// database_crash FILE FIRST CALLERS: writes until it is killed, and reports the acknowledged
// writes.
//
// Rows are (id, part): every second id is written as a transaction of three parts, the others as
// one insert. A line "id\n" on standard output says that the write of that id was acknowledged. It
// is written with one system call as soon as the write is acknowledged: it then survives a kill.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/thread/loop.hpp"
#include "katana/stores/database/sqlite/sqlite.hpp"

namespace {

using namespace katana;

[[noreturn]] void end(const std::string& why) {
  std::fprintf(stderr, "database_crash: %s\n", why.c_str());
  std::exit(1);
}

class Writers {
 public:
  Writers(database::Database& database, std::int64_t first) : db_(database), next_(first) {}

  Task<bool> create() {
    const auto created = co_await db_.execute(
        "CREATE TABLE IF NOT EXISTS rows (id INT, part INT, filling TEXT, PRIMARY KEY (id, part))");
    co_return bool(created);
  }

  Task<void> write_for_ever() {
    while (true) {
      const std::int64_t id = next_++;
      bool done = false;
      if (id % 2 == 0) {
        done = co_await write_whole(id);
      } else {
        done = co_await write_one(id);
      }
      if (done) say(id);
    }
  }

 private:
  Task<bool> write_one(std::int64_t id) {
    const auto written =
        co_await db_.execute("INSERT INTO rows VALUES ($1, 0, $2)", id, std::string(200, 'x'));
    co_return bool(written);
  }

  Task<bool> write_whole(std::int64_t id) {
    auto transaction = co_await db_.begin();
    if (!transaction) co_return false;
    for (int part = 0; part < 3; ++part) {
      const auto written =
          co_await transaction->execute("INSERT INTO rows VALUES ($1, $2, 'x')", id, part);
      if (!written) co_return false;
    }
    const auto committed = co_await transaction->commit();
    co_return bool(committed);
  }

  static void say(std::int64_t id) {
    const std::string line = std::to_string(id) + "\n";
    if (write(STDOUT_FILENO, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
      end("nobody reads what was acknowledged");
    }
  }

  database::Database& db_;
  std::int64_t next_;
};

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) end("usage: database_crash FILE FIRST CALLERS");
  database::sqlite::Options options;
  options.path = arguments[1];
  options.checkpoint_pages = 50;  // kills then meet checkpoints, too
  auto opened = database::sqlite::open(options);
  if (!opened) end(opened.error().describe());
  Writers writers(*opened, std::atoll(arguments[2]));
  thread::Loop loop;
  if (!loop.run(writers.create())) end("cannot create the table");
  std::vector<Task<void>> tasks;
  for (int caller = 0; caller < std::atoi(arguments[3]); ++caller) {
    tasks.push_back(writers.write_for_ever());
  }
  for (Task<void>& task : tasks) loop.start(task);
  while (true) loop.turn();
}

// SPDX-License-Identifier: Apache-2.0
