// postgres_query FOLDER PORT USER DATABASE ROWS QUERIES [epoll|uring]
//
// Runs queries of so many rows through the driver, one after another. They run on a reactor with
// that engine, or on a thread without a reactor. A row has four columns. docs/decisions/0198 counts
// the instructions: `valgrind --tool=callgrind` runs it with two numbers of QUERIES. The cost of a
// query for its client is the difference of the two counts, divided by the difference of the
// numbers. `strace -f -c` counts system calls in the same way.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "katana/base/thread/loop.hpp"
#include "katana/net/engine/epoll/epoll_engine.hpp"
#include "katana/net/engine/uring/uring_engine.hpp"
#include "katana/net/reactor/reactor_on.hpp"
#include "katana/stores/database/postgres/postgres.hpp"

namespace {

using namespace katana;

struct Item {
  std::int64_t id = 0;
  int price = 0;
  std::string name;
  std::string place;
};
KATANA_DESCRIBE(Item, id, price, name, place)

Task<int> run(database::Database& database, std::int64_t rows, int queries) {
  std::int64_t sum = 0;
  for (int query = 0; query < queries; ++query) {
    const auto found = co_await database.query<Item>(
        "SELECT g AS id, g::int4 AS price, 'name ' || g AS name, 'place' AS place "
        "FROM generate_series(1::int8, $1) AS g",
        rows);
    if (!found) {
      std::fprintf(stderr, "%s\n", found.error().describe().c_str());
      co_return 1;
    }
    for (const Item& item : *found) sum += item.id + item.price;
  }
  co_return sum == queries* rows*(rows + 1) ? 0 : 1;
}

// Begins the task within a turn, as a handler is begun.
struct Begin : Message {
  explicit Begin(Task<int> given) noexcept : Message(&arrive), task(std::move(given)) {}
  static void arrive(Message& message) noexcept { (void)static_cast<Begin&>(message).task.start(); }
  Task<int> task;
};

template <template <class> class EngineOf>
int run_on_reactor(Task<int> task) {
  net::ReactorOptions options;
  options.engine.links_max = 64;
  net::ReactorOn<EngineOf> reactor(options, 64);
  if (const auto started = reactor.start(); !started) {
    return std::fprintf(stderr, "%s\n", started.error().describe().c_str()), 1;
  }
  reactor.turn({});
  Begin begin(std::move(task));
  reactor.post(begin);
  while (!begin.task.done()) reactor.turn(seconds(1));
  return begin.task.result();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7 && argc != 8) return std::fprintf(stderr, "see the first lines of this file\n"), 2;
  database::postgres::Options options;
  options.hosts = {{argv[1], static_cast<std::uint16_t>(std::atoi(argv[2]))}};
  options.user = argv[3];
  options.database = argv[4];
  options.connections_max = 2;
  auto opened = database::postgres::open(options);
  if (!opened) return std::fprintf(stderr, "%s\n", opened.error().describe().c_str()), 1;
  auto task = run(*opened, std::atoi(argv[5]), std::atoi(argv[6]));
  const std::string_view engine = argc == 8 ? argv[7] : "";
  if (engine == "epoll") return run_on_reactor<engine::EpollEdgeEngine>(std::move(task));
  if (engine == "uring") return run_on_reactor<engine::UringEngine>(std::move(task));
  thread::Loop loop;
  return loop.run(std::move(task));
}

// SPDX-License-Identifier: Apache-2.0
