// micro_thread: what a job costs on a pool, from the submission to its end.
//
//   micro_thread [--quick] [--only SUBSTRING] [--json FILE]
//
// One thread submits jobs that add 1 to an atomic; time ends when all have run, divided by their
// number. Subjects take turns, round by round, on pools that live through all rounds; the first
// round warms up and is dropped. Every round checks that each job has run.
#include <functional>
#include <future>
#include <string_view>

#include "bench_tools.hpp"
#include "katana/base/coroutine/task.hpp"
#include "katana/base/thread/loop.hpp"
#include "lab/micro/flags.hpp"
#include "subjects.hpp"

namespace bench {
namespace {

using katana::Task;
using katana::lab::HardwareCounter;
using katana::thread::Future;
using katana::thread::Loop;

struct Settings : micro::Flags {
  int rounds() const { return quick ? 2 : 25; }
  int jobs() const { return quick ? 20'000 : 200'000; }
};

std::atomic<std::int64_t> ran = 0;

struct AddOne {
  void operator()() const { ran.fetch_add(1, std::memory_order_relaxed); }
};

struct Subject {
  std::string name;
  std::function<void(int jobs)> run;  // returns when all have run
};

void wait_for(std::int64_t jobs) {
  while (ran.load(std::memory_order_acquire) != jobs) std::this_thread::yield();
}

// ---- throughput -------------------------------------------------------------------------------

void measure(Report& report, const Settings& settings, const HardwareCounter& instructions,
             const std::string& question, const std::vector<Subject>& subjects) {
  report.set_unit(question, "ns");
  const double jobs = settings.jobs();
  for (int round = -1; round < settings.rounds(); ++round) {
    for (const Subject& subject : subjects) {
      ran.store(0);
      const auto counted = instructions.read_count();
      const std::int64_t begin = now_ns();
      subject.run(settings.jobs());
      const std::int64_t took = now_ns() - begin;
      const auto counted_after = instructions.read_count();
      if (ran.load() != settings.jobs()) {
        fmt::print(stderr, "micro_thread: {} ran {} of {} jobs\n", subject.name, ran.load(), jobs);
        std::exit(1);
      }
      if (round < 0) continue;
      Series& series = report.series(question, subject.name);
      series.values.push_back(static_cast<double>(took) / jobs);
      if (const auto each = katana::lab::counted_between(counted, counted_after)) {
        series.instructions.push_back(*each / jobs);
      }
    }
  }
}

void post_all(Pool& pool, int jobs) {
  for (int count = 0; count < jobs; ++count) {
    if (pool.post(AddOne{}, {.when_full = WhenFull::wait}) != Admission::accepted) std::abort();
  }
  wait_for(jobs);
}

// The number of futures, or coroutines, that are under way at a time.
constexpr int window = 1'000;

// Keeps `window` futures that `submit` makes: the oldest is waited for before the next is
// submitted.
template <class F, class Submit>
void keep_window(int jobs, Submit submit) {
  std::vector<F> futures;
  futures.reserve(window);
  for (int count = 0; count < jobs; ++count) {
    if (count < window) {
      futures.push_back(submit());
    } else {
      F& oldest = futures[static_cast<std::size_t>(count % window)];
      (void)oldest.get();
      oldest = submit();
    }
  }
  for (int count = jobs; count < jobs + window; ++count) {
    (void)futures[static_cast<std::size_t>(count % window)].get();
  }
}

void submit_all(Pool& pool, int jobs) {
  keep_window<Future<void>>(
      jobs, [&pool] { return pool.submit(AddOne{}, {.when_full = WhenFull::wait}); });
}

// Submits `window` futures, then waits for all of them, and so on.
template <class F, class Submit>
void in_bursts(int jobs, Submit submit) {
  std::vector<F> futures;
  futures.reserve(window);
  for (int count = 0; count < jobs; ++count) {
    futures.push_back(submit());
    if (futures.size() < static_cast<std::size_t>(window) && count + 1 < jobs) continue;
    for (F& future : futures) (void)future.get();
    futures.clear();
  }
}

// As many coroutines as a window has futures; each awaits one job after another.
Task<void> await_each(Pool& pool, int jobs) {
  for (int count = 0; count < jobs; ++count) {
    if (!co_await pool.run(AddOne{})) std::abort();
  }
}
void await_all(Pool& pool, int jobs) {
  Loop loop;
  std::vector<Task<void>> tasks;
  for (int count = 0; count < window; ++count) tasks.push_back(await_each(pool, jobs / window));
  for (auto& task : tasks) (void)loop.start(task);
  for (auto& task : tasks) {
    while (!task.done()) loop.turn();
  }
}

template <class P>
Subject detached_on(std::string name, std::shared_ptr<P> pool) {
  return {std::move(name), [pool](int jobs) {
            for (int count = 0; count < jobs; ++count) pool->post(AddOne{});
            wait_for(jobs);
          }};
}

template <class P>
Subject promised_on(std::string name, std::shared_ptr<P> pool) {
  return {std::move(name), [pool](int jobs) {
            keep_window<std::future<void>>(jobs, [&pool] {
              auto task = std::make_shared<std::packaged_task<void()>>(AddOne{});
              std::future<void> future = task->get_future();
              pool->post([task = std::move(task)] { (*task)(); });
              return future;
            });
          }};
}

#if defined(HAVE_TBB)
void add_tbb(std::vector<Subject>& subjects, unsigned workers) {
  // Workers only: no slot is kept for the thread that submits.
  auto arena = std::make_shared<tbb::task_arena>(static_cast<int>(workers), 0u);
  arena->initialize();
  subjects.push_back({"TBB arena.enqueue", [arena](int jobs) {
                        for (int count = 0; count < jobs; ++count) arena->enqueue(AddOne{});
                        wait_for(jobs);
                      }});
  // A slot for the thread that submits, which helps while it waits.
  auto shared = std::make_shared<tbb::task_arena>(static_cast<int>(workers) + 1, 1u);
  subjects.push_back({"TBB task_group", [shared](int jobs) {
                        shared->execute([jobs] {
                          tbb::task_group group;
                          for (int count = 0; count < jobs; ++count) group.run(AddOne{});
                          group.wait();
                        });
                      }});
}
#endif

std::string detached_question(unsigned workers) {
  return fmt::format("detached job, {} worker{}: ns per job", workers, workers == 1 ? "" : "s");
}

void measure_throughput(Report& report, const Settings& settings,
                        const HardwareCounter& instructions, unsigned workers) {
  const std::string question = detached_question(workers);
  if (!settings.wants(question)) return;
  // The others have no limit. The first of these has one that is not reached, the second one that
  // is.
  const std::shared_ptr<Pool> pool = make_katana(workers, 256 * 1024);
  const std::shared_ptr<Pool> bounded = make_katana(workers, 16 * 1024);
  std::vector<Subject> subjects;
  subjects.push_back({"katana", [pool](int jobs) { post_all(*pool, jobs); }});
  subjects.push_back({"katana, queue of 16384", [bounded](int jobs) { post_all(*bounded, jobs); }});
#if defined(HAVE_MOODYCAMEL)
  const auto moodycamel = std::make_shared<MoodycamelPool>(workers);
  subjects.push_back(detached_on("moodycamel, bulk of 32", moodycamel));
  subjects.push_back(promised_on("moodycamel, packaged_task", moodycamel));
#endif
  subjects.push_back({"katana, future", [pool](int jobs) { submit_all(*pool, jobs); }});
  subjects.push_back({"katana, futures in bursts", [pool](int jobs) {
                        in_bursts<Future<void>>(jobs, [&pool] { return pool->submit(AddOne{}); });
                      }});
  subjects.push_back({"katana, awaited", [pool](int jobs) { await_all(*pool, jobs); }});
#if defined(HAVE_TBB)
  add_tbb(subjects, workers);
#endif
  subjects.push_back(detached_on("mutex and deque", std::make_shared<DequePool>(workers)));
  measure(report, settings, instructions, question, subjects);

  const auto at = [&question](const char* subject) { return Report::Key(question, subject); };
  report.target(fmt::format("throughput >= 1.0 x the moodycamel pool, {} workers", workers),
                at("moodycamel, bulk of 32"), at("katana"), 1.0, false);
  report.target(fmt::format("throughput >= 2 x TBB arena.enqueue, {} workers", workers),
                at("TBB arena.enqueue"), at("katana"), 2.0, false);
  report.target(fmt::format("future <= 2 x detached, {} workers", workers), at("katana, future"),
                at("katana"), 2.0, true);
  report.target(fmt::format("futures in bursts <= 2 x detached, {} workers", workers),
                at("katana, futures in bursts"), at("katana"), 2.0, true);
  report.target(fmt::format("awaited <= 2 x detached, {} workers", workers), at("katana, awaited"),
                at("katana"), 2.0, true);
}

// ---- a pool that sleeps -----------------------------------------------------------------------

struct Wake {
  double submit_ns;  // until the submission returned
  double begin_ns;   // until the job began
};

template <class Post>
Wake wake_once(Post post) {
  std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the spinning thread has given up
  std::atomic<std::int64_t> began_ns = 0;
  const std::int64_t before = now_ns();
  post([&began_ns] { began_ns.store(now_ns(), std::memory_order_release); });
  const std::int64_t after = now_ns();
  while (began_ns.load(std::memory_order_acquire) == 0) std::this_thread::yield();
  return {static_cast<double>(after - before), static_cast<double>(began_ns.load() - before)};
}

void measure_wakes(Report& report, const Settings& settings) {
  const std::string submit = "sleeping pool, 1 worker: submit returns, p50";
  const std::string begin = "sleeping pool, 1 worker: job begins, p50";
  if (!settings.wants(submit) && !settings.wants(begin)) return;
  report.set_unit(submit, "ns");
  report.set_unit(begin, "ns");
  const auto pool = make_katana(1, 1024);
  std::vector<std::pair<std::string, std::function<Wake()>>> subjects;
  subjects.emplace_back("katana", [&pool] {
    return wake_once([&pool](auto job) {
      if (pool->post(job) != Admission::accepted) std::abort();
    });
  });
#if defined(HAVE_MOODYCAMEL)
  MoodycamelPool moodycamel(1);
  subjects.emplace_back("moodycamel, bulk of 32", [&moodycamel] {
    return wake_once([&moodycamel](auto job) { moodycamel.post(job); });
  });
#endif
#if defined(HAVE_TBB)
  tbb::task_arena arena(1, 0);
  arena.initialize();
  subjects.emplace_back("TBB arena.enqueue",
                        [&arena] { return wake_once([&arena](auto job) { arena.enqueue(job); }); });
#endif
  DequePool deque(1);
  subjects.emplace_back("mutex and deque",
                        [&deque] { return wake_once([&deque](auto job) { deque.post(job); }); });
  const int wakes = settings.quick ? 20 : 100;
  for (int round = 0; round < (settings.quick ? 2 : 9); ++round) {
    std::vector<std::vector<double>> submits(subjects.size()), begins(subjects.size());
    for (int count = 0; count < wakes; ++count) {
      for (std::size_t index = 0; index < subjects.size(); ++index) {
        const Wake wake = subjects[index].second();
        submits[index].push_back(wake.submit_ns);
        begins[index].push_back(wake.begin_ns);
      }
    }
    for (std::size_t index = 0; index < subjects.size(); ++index) {
      report.series(submit, subjects[index].first).values.push_back(median(submits[index]));
      report.series(begin, subjects[index].first).values.push_back(median(begins[index]));
    }
  }
  report.target("submit to a sleeping pool <= the moodycamel pool", {submit, "katana"},
                {submit, "moodycamel, bulk of 32"}, 1.0, true);
  report.target("a job on a sleeping pool begins <= the moodycamel pool", {begin, "katana"},
                {begin, "moodycamel, bulk of 32"}, 1.0, true);
}

// Processor time of this process, whose only thread beside the pool's sleeps meanwhile.
double cpu_ns() { return static_cast<double>(katana::lab::own_cpu_ns()); }

void measure_idle(Report& report, const Settings& settings) {
  const std::string question = "idle pool of 2 and its caller asleep: CPU per second";
  if (!settings.wants(question)) return;
  report.set_unit(question, "us");
  const auto length = std::chrono::milliseconds(settings.quick ? 50 : 200);
  const auto idle_for = [&] {
    const double before = cpu_ns();
    std::this_thread::sleep_for(length);
    return (cpu_ns() - before) / 1e3 / std::chrono::duration<double>(length).count();
  };
  for (int round = 0; round < settings.rounds() / 2 + 1; ++round) {
    report.series(question, "no pool").values.push_back(idle_for());
    const auto pool = make_katana(2, 1024);
    if (pool->post(AddOne{}) != Admission::accepted) std::abort();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    report.series(question, "katana").values.push_back(idle_for());
  }
  const double extra = median(report.series(question, "katana").values) -
                       median(report.series(question, "no pool").values);
  report.add_target("an idle pool uses no CPU: us per second beyond no pool", extra, 50, true);
}

int main_of(int count, char** arguments) {
  const Settings settings{micro::parse_flags("thread", count, arguments)};
  // Counts instructions of the threads of the pools, too.
  const HardwareCounter instructions(katana::lab::Event::instructions, 0, katana::lab::Space::user,
                                     katana::lab::Threads::and_those_it_starts);
#if defined(HAVE_TBB)
  // TBB gives its arenas no more workers than it has CPUs; here it may have as many as the others.
  const tbb::global_control more(tbb::global_control::max_allowed_parallelism, 4);
#endif
  Report report;
  measure_idle(report, settings);
  measure_wakes(report, settings);
  for (const unsigned workers : {1u, 2u}) {
    measure_throughput(report, settings, instructions, workers);
  }
  report.print();
  if (!settings.json_path.empty() && !report.write_json(settings.json_path)) {
    fmt::print(stderr, "micro_thread: cannot write '{}'\n", settings.json_path);
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace bench

int main(int count, char** arguments) { return bench::main_of(count, arguments); }

// SPDX-License-Identifier: Apache-2.0
