// What does it cost a pool of workers to be watched, each kind of metric to be written, and all of
// them to be told?
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>

#include "katana/base/thread/pool.hpp"
#include "katana/observe/metrics/exposition.hpp"
#include "katana/observe/metrics/registry.hpp"
#include "lab/e2e/bench.hpp"
#include "lab/e2e/places.hpp"
#include "lab/micro/micro.hpp"

namespace e2e {
namespace {

using namespace katana;

constexpr unsigned workers = 4;
constexpr std::uint64_t jobs_a_round = 100'000;

struct JobMetrics {
  metrics::Counter jobs;
  metrics::Gauge last;
  metrics::Histogram sizes;
};

JobMetrics make_metrics(metrics::Registry& registry) {
  return {*registry.counter("e2e_jobs", "Jobs that ran."),
          *registry.gauge("e2e_last", "What the last job was given."),
          *registry.histogram("e2e_sizes", "What jobs were given.", {1, 10, 100, 1000, 10'000})};
}

enum class Watch : std::uint8_t {
  nothing,
  pool,  // the pool's own figures, told by one exposition in each batch of jobs
  jobs,  // and a counter, a gauge and a histogram in every job
};

// A pool, and jobs that add 1.
class Worked {
 public:
  explicit Worked(Watch watch) : watch_(watch) {
    auto made = thread::Pool::create({.name = "jobs", .threads_min = workers});
    micro::expect(made.has_value(), "a pool");
    pool_ = std::move(*made);
    if (watch == Watch::nothing) return;
    registry_ = std::make_unique<metrics::Registry>();
    metrics_ = make_metrics(*registry_);
    ran_metric_ = registry_->observed_counters({.name = "e2e_pool_ran", .help = "Jobs."})->with();
    registry_->before_scrape(
        [this] { ran_metric_.observe(static_cast<double>(pool_->snapshot().ran)); });
  }

  // Returns when all have run.
  void run(std::uint64_t count) {
    const std::uint64_t before = ran_.load();
    for (std::uint64_t index = 0; index < count; ++index) post(index);
    if (watch_ != Watch::nothing) tell();
    while (ran_.load(std::memory_order_acquire) != before + count) std::this_thread::yield();
  }

  thread::Snapshot snapshot() const { return pool_->snapshot(); }
  void check(std::uint64_t count) const {
    micro::expect(ran_ == count, "jobs");
    micro::expect(watch_ != Watch::jobs || metrics_.jobs.value() == count, "counted jobs");
  }

 private:
  void post(std::uint64_t index) {
    const thread::JobOptions options{.when_full = thread::WhenFull::wait};
    if (watch_ == Watch::jobs) {
      (void)pool_->post(
          [this, index] {
            metrics_.jobs.add();
            metrics_.last.set(static_cast<double>(index));
            metrics_.sizes.observe(static_cast<double>(index));
            ran_.fetch_add(1, std::memory_order_release);
          },
          options);
    } else {
      (void)pool_->post([this] { ran_.fetch_add(1, std::memory_order_release); }, options);
    }
  }
  void tell() {
    std::string text;
    metrics::write_exposition(*registry_, metrics::Format::prometheus, text);
    micro::expect(text.find("e2e_pool_ran") != std::string::npos, "an exposition");
  }

  const Watch watch_;
  std::atomic<std::uint64_t> ran_ = 0;
  std::unique_ptr<metrics::Registry> registry_;
  JobMetrics metrics_;
  metrics::ObservedCounter ran_metric_;
  std::unique_ptr<thread::Pool> pool_;  // ends first: its jobs use what stands above
};

// The pool's threads go where servers go; the caller stays alone on its CPU.
std::unique_ptr<Worked> make_worked(Watch watch) {
  pin_to_server_cpus();
  auto worked = std::make_unique<Worked>(watch);
  pin_to_client_cpu();
  return worked;
}

void time_jobs(benchmark::State& state, Watch watch) {
  const auto worked = make_worked(watch);
  constexpr std::int64_t batch = 10'000;
  while (state.KeepRunningBatch(batch)) worked->run(batch);
  worked->check(static_cast<std::uint64_t>(state.iterations()));
  const thread::Snapshot seen = worked->snapshot();
  state.counters["wait_p50_ns"] = static_cast<double>(seen.wait.quantile(0.5).ns);
  state.counters["wait_p99_ns"] = static_cast<double>(seen.wait.quantile(0.99).ns);
  state.counters["run_p99_ns"] = static_cast<double>(seen.run.quantile(0.99).ns);
  state.SetItemsProcessed(state.iterations());
}

// Nanoseconds by the clock per job.
std::function<double()> job_cost(Watch watch) {
  const std::shared_ptr<Worked> worked = make_worked(watch);
  return [worked] {
    const std::uint64_t count = settings().requests(jobs_a_round);
    const std::int64_t begin_ns = micro::now_ns();
    worked->run(count);
    return static_cast<double>(micro::now_ns() - begin_ns) / static_cast<double>(count);
  };
}

void add_pools() {
  const std::pair<const char*, Watch> forms[] = {
      {"unwatched", Watch::nothing}, {"pool_watched", Watch::pool}, {"jobs_watched", Watch::jobs}};
  for (const auto& [name, watch] : forms) {
    benchmark::RegisterBenchmark(
        fmt::format("WorkerPool/{}", name).c_str(),
        [watch = watch](benchmark::State& state) { time_jobs(state, watch); })
        ->UseRealTime();
  }
  in_rounds(benchmark::RegisterBenchmark("WorkerPool/cost_of_watching", [](auto& state) {
    compare_made(state, "ns", [] {
      return std::vector<Compared>{{"unwatched", job_cost(Watch::nothing)},
                                   {"pool_watched", job_cost(Watch::pool)},
                                   {"jobs_watched", job_cost(Watch::jobs)}};
    });
  }));
}

// ---- one metric -------------------------------------------------------------------------------

metrics::Registry& shared_registry() {
  static metrics::Registry registry;
  return registry;
}
const JobMetrics& shared_metrics() {
  static const JobMetrics metrics = make_metrics(shared_registry());
  return metrics;
}

void write_counter(benchmark::State& state) {
  const metrics::Counter counter = shared_metrics().jobs;
  for (auto unused : state) {
    (void)unused;
    counter.add();
  }
}
void write_gauge(benchmark::State& state) {
  const metrics::Gauge gauge = shared_metrics().last;
  double value = 0;
  for (auto unused : state) {
    (void)unused;
    gauge.set(value += 1);
  }
}
void write_histogram(benchmark::State& state) {
  const metrics::Histogram histogram = shared_metrics().sizes;
  double value = 0;
  for (auto unused : state) {
    (void)unused;
    histogram.observe(value = value < 20'000 ? value + 7 : 0);
  }
}
void write_all(benchmark::State& state) {
  const JobMetrics all = shared_metrics();
  double value = 0;
  for (auto unused : state) {
    (void)unused;
    value = value < 20'000 ? value + 7 : 0;
    all.jobs.add();
    all.last.set(value);
    all.sizes.observe(value);
  }
}

void add_metrics() {
  for (const int threads : {1, 2}) {
    benchmark::RegisterBenchmark("WorkerPool/metric/counter", write_counter)->Threads(threads);
    benchmark::RegisterBenchmark("WorkerPool/metric/gauge", write_gauge)->Threads(threads);
    benchmark::RegisterBenchmark("WorkerPool/metric/histogram", write_histogram)->Threads(threads);
    benchmark::RegisterBenchmark("WorkerPool/metric/all_three", write_all)->Threads(threads);
  }
}

// ---- all of them, told ------------------------------------------------------------------------

void tell_series(benchmark::State& state) {
  const auto series = static_cast<std::size_t>(state.range(0));
  metrics::Registry registry;
  auto family = registry.counters({.name = "e2e_requests",
                                   .help = "Requests.",
                                   .labels = {"route", "status"},
                                   .series_max = series});
  micro::expect(family.has_value(), "a family");
  for (std::size_t index = 0; index < series; ++index) {
    family->with(fmt::format("/route/{}", index / 4), fmt::format("{}", 200 + index % 4))
        .add(index);
  }
  std::string text;
  for (auto unused : state) {
    (void)unused;
    text.clear();
    metrics::write_exposition(registry, metrics::Format::prometheus, text);
  }
  const auto lines = std::ranges::count(text, '\n');
  micro::expect(lines >= static_cast<std::int64_t>(series), "a line for each series");
  state.counters["kib"] = static_cast<double>(text.size()) / 1024;
  state.counters["each_s"] = benchmark::Counter(
      static_cast<double>(series),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

}  // namespace

void add_worker_pool() {
  add_pools();
  add_metrics();
  benchmark::RegisterBenchmark("WorkerPool/exposition", tell_series)
      ->RangeMultiplier(10)
      ->Range(100, 100'000)
      ->Unit(benchmark::kMillisecond);
}

}  // namespace e2e

// SPDX-License-Identifier: Apache-2.0
