#include <memory>
#include <optional>
#include <vector>

#include "katana/net/engine/epoll/epoll_engine.hpp"
#include "katana/net/reactor/reactor_on.hpp"
#include "katana/stores/database/postgres/postgres.hpp"
#include "lab/postgres/point_reads.hpp"

namespace katana::lab {
namespace {

struct User {
  std::int64_t id = 0;
  std::string name;
  std::string email;
  std::optional<int> age;
};
KATANA_DESCRIBE(User, id, name, email, age);

struct Reads {
  database::Database& database;
  std::uint64_t done = 0;
  bool stop = false;
  unsigned running = 0;
};

Task<void> reads(Reads& shared, Ids ids) {
  ++shared.running;
  while (!shared.stop) {
    const std::int64_t id = ids.next();
    auto user = co_await shared.database.query_one<User>(
        "SELECT id, name, email, age FROM users WHERE id = $1", id);
    if (!user) give_up(user.error().describe());
    if (!*user || (*user)->id != id) give_up("a row is not the one that was asked for");
    ++shared.done;
  }
  --shared.running;
}

// Begins the callers within a turn, as handlers are begun.
struct Start : Message {
  Start(Reads& of, const PointReads& with) : Message(&arrive), shared(of), options(with) {}
  static void arrive(Message& message) noexcept {
    auto& start = static_cast<Start&>(message);
    for (unsigned caller = 0; caller < start.options.callers; ++caller) {
      start.callers.push_back(
          std::make_unique<Task<void>>(reads(start.shared, Ids(caller, start.options.rows))));
      (void)start.callers.back()->start();
    }
  }
  Reads& shared;
  const PointReads& options;
  std::vector<std::unique_ptr<Task<void>>> callers;
};

}  // namespace

std::uint64_t read_by_katana(const PointReads& options, Begin begin) {
  auto parsed = database::postgres::Options::from_url("postgresql://katana@localhost/bench");
  if (!parsed) give_up(parsed.error().describe());
  parsed->hosts = {{options.folder, options.port}};
  parsed->database = options.database;
  parsed->pipeline_depth = options.callers / options.connections;
  parsed->connections_max = options.connections + 1;  // one is that of health()
  auto opened = database::postgres::open(*std::move(parsed));
  if (!opened) give_up(opened.error().describe());

  net::ReactorOptions reactor_options;
  reactor_options.engine.links_max = 64;
  net::ReactorOn<engine::EpollEdgeEngine> reactor(reactor_options, 64);
  if (auto started = reactor.start(); !started) give_up(started.error().describe());
  Reads shared{*opened};
  Start start(shared, options);
  reactor.post(start);
  const auto turn_until = [&](double seconds) {
    const Until until(seconds);
    while (!until.over()) reactor.turn(milliseconds(100));
  };
  turn_until(0.3);
  begin();
  const std::uint64_t before = shared.done;
  turn_until(options.seconds);
  const std::uint64_t count = shared.done - before;
  shared.stop = true;
  while (shared.running > 0) reactor.turn(milliseconds(100));
  return count;
}

}  // namespace katana::lab

// SPDX-License-Identifier: Apache-2.0
