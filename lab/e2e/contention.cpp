// What happens when systems want the same thing: workers, the allocator, the disk, the reactor, the
// caches of a CPU?
#include <fmt/format.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "katana/base/thread/loop.hpp"
#include "katana/base/thread/pool.hpp"
#include "katana/observe/log/log.hpp"
#include "katana/stores/database/sqlite/sqlite.hpp"
#include "lab/e2e/bench.hpp"
#include "lab/e2e/places.hpp"
#include "lab/e2e/users.hpp"
#include "lab/micro/database/bare.hpp"
#include "lab/micro/micro.hpp"
#include "lab/process/usage.hpp"

namespace e2e {
namespace {

using namespace katana;

// ---- workers ----------------------------------------------------------------------------------

// Jobs of one kind that keep a pool busy. A fixed number of them is always under way: each posts
// the next when it ends. Latency is from submission to end.
class Flood {
 public:
  Flood(thread::Pool& pool, std::function<void()> work, int under_way)
      : pool_(pool), work_(std::move(work)), under_way_(under_way) {}

  void begin() {
    left_.store(under_way_);
    for (int count = 0; count < under_way_; ++count) post();
  }
  void end() {
    stopping_.store(true);
    while (left_.load() > 0) std::this_thread::yield();
  }
  std::uint64_t done() const { return latency_.count(); }
  const load::Histogram& latency() const { return latency_; }

 private:
  void post() {
    const std::int64_t asked_ns = micro::now_ns();
    const auto job = [this, asked_ns] {
      work_();
      {
        const std::lock_guard lock(mutex_);
        latency_.record(micro::now_ns() - asked_ns);
      }
      if (stopping_.load()) {
        left_.fetch_sub(1);
      } else {
        post();
      }
    };
    if (pool_.post(job) != thread::Admission::accepted) left_.fetch_sub(1);
  }

  thread::Pool& pool_;
  const std::function<void()> work_;
  const int under_way_;
  std::atomic<bool> stopping_ = false;
  std::atomic<int> left_ = 0;
  mutable std::mutex mutex_;
  load::Histogram latency_;
};

// The work of a network request in a worker: a few microseconds of CPU time.
void network_work() {
  std::uint64_t sum = 0;
  for (std::uint64_t count = 0; count < 2000; ++count) micro::use(sum += count * count);
}

// The work of a query: a scan by SQLite on a connection that belongs to the thread.
class Scans {
 public:
  Scans() : path_(folder_for("scans")) {
    std::filesystem::create_directories(path_);
    path_ += "/people.db";
    bench::Bare bare(path_);
    bare.run("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, city TEXT, age INT)");
    bare.run("CREATE TABLE visits (id INTEGER PRIMARY KEY, person INT, place TEXT)");
    bare.run(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) "
        "INSERT INTO people SELECT i, 'person ' || i, 'city', 30 FROM n");
  }
  void operator()() const {
    thread_local std::unique_ptr<bench::Bare> bare;
    thread_local std::string open_path;
    if (open_path != path_) {
      bare = std::make_unique<bench::Bare>(path_);
      bare->prepare();
      open_path = path_;
    }
    bench::Person person;
    std::int64_t sum = 0;
    for (std::int64_t id = 1; id <= 50; ++id) {
      if (bare->read(id, person)) sum += person.age;
    }
    micro::expect(sum == 50 * 30, "a scan");
  }

 private:
  std::string path_;
};

enum class Jobs : std::uint8_t { network, database, both };

std::unique_ptr<thread::Pool> make_pool(const char* name, unsigned threads) {
  auto pool = thread::Pool::create({.name = name, .threads_min = threads});
  micro::expect(pool.has_value(), "a pool");
  return std::move(*pool);
}

void tell(benchmark::State& state, const std::string& name, const Flood& flood, double seconds) {
  state.counters[name + "_per_s"] = static_cast<double>(flood.done()) / seconds;
  state.counters[name + "_p50_us"] = static_cast<double>(flood.latency().percentile_ns(50)) / 1e3;
  state.counters[name + "_p99_us"] = static_cast<double>(flood.latency().percentile_ns(99)) / 1e3;
}

// Four threads: all for both kinds of jobs, or two each.
void compete(benchmark::State& state, bool shared, Jobs jobs) {
  const Scans scans;
  const auto one = make_pool("network", shared ? 4 : 2);
  const auto other = shared ? nullptr : make_pool("database", 2);
  Flood network(*one, network_work, 16);
  Flood database(other ? *other : *one, scans, 16);
  const std::int64_t begin_ns = micro::now_ns();
  for (auto unused : state) {
    (void)unused;
    if (jobs != Jobs::database) network.begin();
    if (jobs != Jobs::network) database.begin();
    std::this_thread::sleep_for(std::chrono::milliseconds(settings().quick ? 300 : 3000));
    if (jobs != Jobs::database) network.end();
    if (jobs != Jobs::network) database.end();
  }
  const double seconds = static_cast<double>(micro::now_ns() - begin_ns) / 1e9;
  if (jobs != Jobs::database) tell(state, "network", network, seconds);
  if (jobs != Jobs::network) tell(state, "database", database, seconds);
}

void add_workers() {
  const std::tuple<const char*, bool, Jobs> rows[] = {
      {"shared_pool/network_alone", true, Jobs::network},
      {"shared_pool/database_alone", true, Jobs::database},
      {"shared_pool/both", true, Jobs::both},
      {"dedicated_pools/both", false, Jobs::both}};
  for (const auto& [name, shared, jobs] : rows) {
    benchmark::RegisterBenchmark(
        fmt::format("Contention/{}", name).c_str(),
        [shared = shared, jobs = jobs](benchmark::State& state) { compete(state, shared, jobs); })
        ->Iterations(1)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  }
}

// ---- the allocator ----------------------------------------------------------------------------

std::string library(const char* name) {
  for (const char* folder :
       {"/usr/lib/x86_64-linux-gnu/", "/usr/lib/aarch64-linux-gnu/", "/usr/lib64/", "/usr/lib/"}) {
    if (std::filesystem::exists(std::string(folder) + name)) return std::string(folder) + name;
  }
  return {};
}

ServerCommand with_allocator(const std::string& preload) {
  StackOptions options = with_systems(7);
  options.rows = 10'000;
  options.count_heap = true;
  ServerCommand command = serving(options);
  command.preload = preload;
  return command;
}

// Lists of users: replies of some kilobytes, and everything that stands behind them.
void allocate(benchmark::State& state, const ServerCommand& command) {
  ServerProcess* const server = kept_server(state, command);
  if (server == nullptr) return;
  const std::uint16_t port = server->port();
  const double calls = statistic(port, "heap_calls"), bytes = statistic(port, "heap_bytes");
  time_requests(state, command, always({.path = "/users?limit=100"}));
  if (state.error_occurred()) return;
  const auto requests = static_cast<double>(state.iterations());
  state.counters["allocations"] = (statistic(port, "heap_calls") - calls) / requests;
  state.counters["allocated_bytes"] = (statistic(port, "heap_bytes") - bytes) / requests;
  const lab::Usage usage = server->usage();
  state.counters["live_mib"] = statistic(port, "live_bytes") / 1024 / 1024;
  state.counters["anonymous_mib"] = usage.anonymous_mib;
}

void add_allocators() {
  const std::pair<const char*, const char*> allocators[] = {
      {"glibc", ""}, {"jemalloc", "libjemalloc.so.2"}, {"mimalloc", "libmimalloc.so.2"}};
  for (const auto& [name, file] : allocators) {
    const std::string preload = *file == '\0' ? "" : library(file);
    const bool missing = *file != '\0' && preload.empty();
    by_request(benchmark::RegisterBenchmark(
        fmt::format("Contention/allocator/{}", name).c_str(),
        [command = with_allocator(preload), missing, file = file](benchmark::State& state) {
          if (missing) {
            state.SkipWithError(fmt::format("{} is missing: tools/setup", file).c_str());
          } else {
            allocate(state, command);
          }
        }));
  }
}

// ---- the disk ---------------------------------------------------------------------------------

// A log that is written as fast as it can be, by one thread.
class LogWriter {
 public:
  explicit LogWriter(const std::string& folder) {
    log::Options options;
    options.sinks = {log::file(folder + "/flood.log")};
    options.when_full = log::WhenFull::block;
    auto started = log::Log::start(std::move(options));
    micro::expect(started.has_value(), "a log");
    log_ = std::move(*started);
  }
  // Returns how many records went through.
  std::uint64_t run(const std::atomic<bool>& stopping) {
    const log::Logger logger = log_->logger("flood");
    std::uint64_t count = 0;
    while (!stopping.load(std::memory_order_relaxed)) {
      logger.info("request {} answered", count);
      ++count;
    }
    log_->flush();
    return count;
  }

 private:
  std::unique_ptr<log::Log> log_;
};

// Durable inserts of 64 callers at a time.
class RowWriter {
 public:
  explicit RowWriter(const std::string& folder) {
    auto opened = database::sqlite::open({.path = folder + "/rows.db"});
    micro::expect(opened.has_value(), "a database");
    database_ = std::make_unique<database::Database>(std::move(*opened));
    micro::expect(make_users(*database_, 1).has_value(), "a table");
  }
  std::uint64_t run(const std::atomic<bool>& stopping) {
    thread::Loop loop;
    std::uint64_t done = 0;
    std::vector<Task<void>> tasks;
    for (int caller = 0; caller < 64; ++caller)
      tasks.push_back(write(*database_, caller, stopping, done));
    for (Task<void>& task : tasks) loop.start(task);
    for (const Task<void>& task : tasks) {
      while (!task.done()) loop.turn();
    }
    return done;
  }
  std::uint64_t commits() const { return database_->statistics().commits; }

 private:
  static Task<void> write(database::Database& db, int caller, const std::atomic<bool>& stopping,
                          std::uint64_t& done) {
    for (std::int64_t count = 0; !stopping.load(std::memory_order_relaxed); ++count) {
      const std::string email = fmt::format("{}.{}@example.org", caller, count);
      const auto written = co_await db.execute(
          "INSERT OR REPLACE INTO users (name, email) VALUES ($1, $2)", "somebody", email);
      if (written) ++done;
    }
  }

  std::unique_ptr<database::Database> database_;
};

void write_to_disk(benchmark::State& state, bool with_log, bool with_rows) {
  const std::string folder = folder_for("disk");
  std::filesystem::create_directories(folder);
  std::uint64_t records = 0, rows = 0, commits = 0;
  const std::int64_t begin_ns = micro::now_ns();
  for (auto unused : state) {
    (void)unused;
    LogWriter log(folder);
    RowWriter database(folder);
    std::atomic<bool> stopping = false;
    const std::uint64_t commits_before = database.commits();
    std::jthread log_thread, row_thread;
    if (with_log) log_thread = std::jthread([&] { records += log.run(stopping); });
    if (with_rows) row_thread = std::jthread([&] { rows += database.run(stopping); });
    std::this_thread::sleep_for(std::chrono::milliseconds(settings().quick ? 400 : 4000));
    stopping.store(true);
    if (log_thread.joinable()) log_thread.join();
    if (row_thread.joinable()) row_thread.join();
    commits += database.commits() - commits_before;
  }
  const double seconds = static_cast<double>(micro::now_ns() - begin_ns) / 1e9;
  if (with_log) {
    const auto bytes = static_cast<double>(std::filesystem::file_size(folder + "/flood.log"));
    state.counters["log_records_per_s"] = static_cast<double>(records) / seconds;
    state.counters["log_mib_per_s"] = bytes / 1024 / 1024 / seconds;
  }
  if (with_rows) {
    state.counters["rows_per_s"] = static_cast<double>(rows) / seconds;
    state.counters["commits_per_s"] = static_cast<double>(commits) / seconds;
    state.counters["row_us"] = 1e6 * seconds * 64 / static_cast<double>(rows);
  }
}

void add_disk() {
  const std::tuple<const char*, bool, bool> rows[] = {
      {"log_alone", true, false}, {"database_alone", false, true}, {"both", true, true}};
  for (const auto& [name, with_log, with_rows] : rows) {
    benchmark::RegisterBenchmark(
        fmt::format("Contention/disk/{}", name).c_str(),
        [with_log = with_log, with_rows = with_rows](benchmark::State& state) {
          write_to_disk(state, with_log, with_rows);
        })
        ->Iterations(1)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  }
}

// ---- requests and scrapes ---------------------------------------------------------------------

// /metrics is asked for all the time by one more client, which is far more than any scraper does.
std::function<double()> scraped_cost(std::shared_ptr<ServerProcess> server, std::uint64_t count) {
  return [server = std::move(server), count] {
    std::atomic<bool> stopping = false;
    std::uint64_t scrapes = 0;
    std::jthread scraper([&] {
      while (!stopping.load()) {
        scrapes += fetch(server->port(), {.path = "/metrics"}).empty() ? 0 : 1;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    });
    const Driven driven = drive(*server, {count, 64, {{.path = "/plaintext"}}});
    stopping.store(true);
    scraper.join();
    if (driven.failures != 0 || scrapes == 0) throw Failed{"requests or scrapes failed"};
    return driven.percentile_us(99);
  };
}

std::vector<Compared> scraping() {
  const auto server = started(serving(with_systems(7)));
  const std::uint64_t count = settings().requests(16'000);
  return {{"alone",
           [server, count] {
             return drive(*server, {count, 64, {{.path = "/plaintext"}}}).percentile_us(99);
           }},
          {"scraped_100_times_a_second", scraped_cost(server, count)}};
}

// ---- caches -----------------------------------------------------------------------------------

void count_caches(benchmark::State& state, const ServerCommand& command) {
  ServerProcess* const server = kept_server(state, command);
  if (server == nullptr) return;
  const lab::ProcessCounters counters(server->pid());
  time_requests(state, command, always({.path = "/plaintext"}));
  if (state.error_occurred()) return;
  const auto counted = counters.read_counts();
  const auto requests = static_cast<double>(state.iterations());
  if (!counted) {
    state.SetLabel("this machine counts neither instructions nor cache misses");
    return;
  }
  state.counters["instructions"] = counted->instructions / requests;
  state.counters["instructions_per_cycle"] = counted->instructions / counted->cycles;
  state.counters["cache_misses"] = counted->cache_misses / requests;
}

}  // namespace

void add_contention() {
  add_workers();
  add_allocators();
  add_disk();
  in_rounds(benchmark::RegisterBenchmark("Contention/http_and_scraping", [](auto& state) {
    compare_made(state, "p99_us", scraping);
  }));
  for (int systems = 1; systems <= 7; ++systems) {
    by_request(benchmark::RegisterBenchmark(
        fmt::format("Contention/caches/{}_systems", systems).c_str(),
        [command = serving(with_systems(systems))](benchmark::State& state) {
          count_caches(state, command);
        }));
  }
}

}  // namespace e2e

// SPDX-License-Identifier: Apache-2.0
