#include "katana_tool/queue_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/command_line.hpp"
#include "katana/base/thread/loop.hpp"
#include "katana/data/container/json_write.hpp"
#include "katana/stores/database/postgres/postgres.hpp"
#include "katana/stores/database/sqlite/sqlite.hpp"
#include "katana/stores/jobs/queue/job_queue.hpp"

namespace katana::tool {
namespace {

constexpr std::size_t shown_max = 1000;  // in one call

struct QueueFlags {
  std::string database;
  std::string queue;
  std::string state = "dead";
  std::int64_t after = 0;
  std::size_t count = 100;
  bool with_payload = false;
  bool all = false;
  std::vector<std::int64_t> ids;
};

int fail_queue(int status, std::string_view message) {
  return command_line::fail("katana queue", status, message);
}

int flushed() {
  return std::fflush(stdout) == 0 ? 0 : fail_queue(1, "cannot write to standard output");
}

struct Opened {
  database::Database database;
  std::string where;  // for messages; a URL may hold a password
};

Result<Opened> open(std::string_view url) {
  if (url.starts_with("postgresql:") || url.starts_with("postgres:")) {
    auto options = database::postgres::Options::from_url(url);
    if (!options) return std::unexpected(options.error().within("--database"));
    options->connections_max = 1;
    std::string where = options->describe();
    auto opened = database::postgres::open(*std::move(options));
    if (!opened) return std::unexpected(opened.error());
    return Opened{*std::move(opened), std::move(where)};
  }
  constexpr std::string_view scheme = "sqlite:";
  database::sqlite::Options options;
  options.path = url.substr(url.starts_with(scheme) ? scheme.size() : 0);
  options.create = false;
  options.readers = 1;
  std::string where = options.path;
  auto opened = database::sqlite::open(std::move(options));
  if (!opened) return std::unexpected(opened.error());
  return Opened{*std::move(opened), std::move(where)};
}

// A database without the table is one of a program without a queue: nothing is made there.
class Queues {
 public:
  static Result<std::unique_ptr<Queues>> open(const QueueFlags& flags) {
    auto opened = tool::open(flags.database);
    if (!opened) return std::unexpected(opened.error());
    return std::make_unique<Queues>(*std::move(opened));
  }
  explicit Queues(Opened opened) : opened_(std::move(opened)), queue_(opened_.database, {}) {
    queue_.table().assume_made();
  }

  template <class T>
  T run(Task<T> task) {
    return loop_.run(std::move(task));
  }
  database::Database& database() noexcept { return opened_.database; }
  queue::JobQueue& queue() noexcept { return queue_; }
  const std::string& where() const noexcept { return opened_.where; }
  int fail(const Error& error) const {
    return fail_queue(1, fmt::format("{}: {}", where(), error.describe()));
  }

 private:
  Opened opened_;
  queue::JobQueue queue_;
  thread::Loop loop_;
};

Task<Result<std::vector<std::string>>> names_of(database::Database& database) {
  const database::Result<std::vector<std::string>> names = co_await database.query<std::string>(
      "SELECT queue FROM katana_queue_jobs GROUP BY queue ORDER BY queue");
  if (!names) co_return std::unexpected(names.error());
  co_return *names;
}

int run_list(const QueueFlags& flags) {
  auto queues = Queues::open(flags);
  if (!queues) return fail_queue(1, queues.error().describe());
  const auto names = (*queues)->run(names_of((*queues)->database()));
  if (!names) return (*queues)->fail(names.error());
  fmt::print("{:<24} {:>8} {:>8} {:>8} {:>8} {:>10}\n", "QUEUE", "READY", "DELAYED", "RUNNING",
             "DEAD", "WAITED_S");
  for (const std::string& name : *names) {
    const auto depth = (*queues)->run((*queues)->queue().depth(name));
    if (!depth) return (*queues)->fail(depth.error());
    fmt::print("{:<24} {:>8} {:>8} {:>8} {:>8} {:>10.1f}\n", name, depth->ready, depth->delayed,
               depth->running, depth->dead, static_cast<double>(depth->waited_us) / 1e6);
  }
  return flushed();
}

std::optional<queue::JobState> state_of(const std::string& name) {
  for (const queue::JobState state : {queue::JobState::waiting, queue::JobState::running,
                                      queue::JobState::done, queue::JobState::dead}) {
    if (enumerator_name(state) == name) return state;
  }
  return {};
}

int run_show(const QueueFlags& flags) {
  auto queues = Queues::open(flags);
  if (!queues) return fail_queue(1, queues.error().describe());
  auto jobs = (*queues)->run(
      (*queues)->queue().list(flags.queue, *state_of(flags.state), flags.after, flags.count));
  if (!jobs) return (*queues)->fail(jobs.error());
  for (queue::JobInfo& job : *jobs) {
    if (!flags.with_payload) job.payload.clear();
    fmt::print("{}\n", container::to_json(job));
  }
  return flushed();
}

int run_retry(const QueueFlags& flags) {
  if (flags.all == !flags.ids.empty()) return fail_queue(2, "give the ids of jobs, or --all");
  auto queues = Queues::open(flags);
  if (!queues) return fail_queue(1, queues.error().describe());
  std::int64_t retried = 0;
  for (const std::int64_t id : flags.ids) {
    const auto done = (*queues)->run((*queues)->queue().retry(flags.queue, id));
    if (!done) return (*queues)->fail(done.error());
    ++retried;
  }
  for (bool more = flags.all; more;) {
    const auto some = (*queues)->run((*queues)->queue().retry_all(flags.queue));
    if (!some) return (*queues)->fail(some.error());
    retried += *some;
    more = *some > 0;
  }
  fmt::print("{}: {} jobs of the queue '{}' wait again\n", (*queues)->where(), retried,
             flags.queue);
  return flushed();
}

int run_drop(const QueueFlags& flags) {
  auto queues = Queues::open(flags);
  if (!queues) return fail_queue(1, queues.error().describe());
  for (const std::int64_t id : flags.ids) {
    const auto done = (*queues)->run((*queues)->queue().discard(flags.queue, id));
    if (!done) return (*queues)->fail(done.error());
  }
  fmt::print("{}: {} jobs of the queue '{}' are removed\n", (*queues)->where(), flags.ids.size(),
             flags.queue);
  return flushed();
}

CLI::App* add_part(CLI::App& queue, const char* name, const char* help,
                   const std::shared_ptr<QueueFlags>& flags, std::function<int()>& chosen,
                   int (*run)(const QueueFlags&)) {
  CLI::App* const part = queue.add_subcommand(name, help);
  part->add_option("--database", flags->database,
                   "SQLite file (FILE or sqlite:FILE) or postgresql://USER@HOST/NAME")
      ->type_name("FILE")
      ->required();
  part->callback([flags, &chosen, run] { chosen = [flags, run] { return run(*flags); }; });
  return part;
}

void add_queue_and_ids(CLI::App* part, QueueFlags& flags, bool wants_ids) {
  part->add_option("QUEUE", flags.queue, "name of the queue")->type_name("QUEUE")->required();
  part->add_option("ID", flags.ids, "ids of jobs, as `katana queue show` lists them")
      ->type_name("ID")
      ->check(CLI::Range(std::int64_t{1}, std::numeric_limits<std::int64_t>::max()))
      ->required(wants_ids);
}

}  // namespace

void add_queue_command(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* const queue = app.add_subcommand(
      "queue", "Inspect the job queues of a database, and retry or drop dead letters.");
  queue->require_subcommand(1);
  auto flags = std::make_shared<QueueFlags>();
  add_part(*queue, "list", "List the queues with their ready, delayed, running and dead jobs.",
           flags, chosen, run_list);
  CLI::App* const show =
      add_part(*queue, "show", "Jobs of a queue, oldest first, one line of JSON each.", flags,
               chosen, run_show);
  show->add_option("QUEUE", flags->queue, "name of the queue")->type_name("QUEUE")->required();
  show->add_option("--state", flags->state, "waiting, running, done or dead")
      ->check(CLI::IsMember({"waiting", "running", "done", "dead"}))
      ->capture_default_str();
  show->add_option("--after", flags->after, "print only jobs with a higher id")->type_name("ID");
  show->add_option("--count", flags->count, "most jobs to print")
      ->check(CLI::Range(std::size_t{1}, shown_max))
      ->capture_default_str();
  show->add_flag("--payload", flags->with_payload, "print the payload of each job");
  CLI::App* const retry =
      add_part(*queue, "retry", "Queue dead letters again, with all of their attempts.", flags,
               chosen, run_retry);
  add_queue_and_ids(retry, *flags, false);
  retry->add_flag("--all", flags->all, "all dead letters of the queue instead of ids");
  CLI::App* const drop =
      add_part(*queue, "drop", "Remove jobs that are not running.", flags, chosen, run_drop);
  add_queue_and_ids(drop, *flags, true);
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
