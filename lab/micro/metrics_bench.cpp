// What does it cost to count, and to tell a scraper? KATANA's metrics beside what their users would
// otherwise pick: prometheus-cpp (package prometheus-cpp-dev), one shared atomic, and what one
// would write by hand.
#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstring>
#include <ctime>
#include <iterator>
#include <latch>
#include <memory>
#include <thread>

#include "katana/observe/metrics/exposition.hpp"
#include "katana/observe/metrics/registry.hpp"
#include "lab/micro/micro.hpp"

#ifdef KATANA_HAS_PROMETHEUS_CPP
#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <sstream>
#endif

namespace {

using namespace katana;
using micro::Sample;
using micro::Subject;

// Many short rounds: each fits a slice of a busy machine's time, and the median takes those that
// did.
constexpr int rounds = 31;

// ---- the rivals that one writes by hand

// One slot for each thread and counter: nothing that counts can cost less.
constexpr std::size_t slots = 64;
thread_local constinit std::array<std::uint64_t, slots> slot_here{};

// The slot of a series is known at run time and is in memory, as any handle is. A program that
// counts in a thousand places keeps it in no register.
struct HandMadeHandle {
  std::size_t slot;
  explicit HandMadeHandle(std::size_t number) : slot(number) { asm volatile("" : "+m"(slot)); }
};
HandMadeHandle counter_handle(7), histogram_handle(2), log_histogram_handle(1);

std::atomic<std::uint64_t> shared_counter = 0;

// Eleven bounds, as prometheus client libraries have them, and values that fall into all of them.
constexpr std::array<double, 11> bounds{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};

struct HandHistogram {
  std::array<std::uint64_t, bounds.size() + 1> counts;
  double sum;
};
thread_local constinit std::array<HandHistogram, 4> histogram_here{};

struct HandLogHistogram {
  std::array<std::uint64_t, 2048> counts;
  std::uint64_t sum;
};
thread_local constinit std::array<HandLogHistogram, 4> log_histogram_here{};

// Code by hand would stop at the bound. With values that cannot be predicted, a loop without a
// branch is faster: the benchmark compares with this loop.
[[gnu::always_inline]] inline std::size_t hand_bucket(double value) {
  std::size_t bucket = 0;
  for (const double bound : bounds) bucket += value > bound ? 1 : 0;
  return bucket;
}

[[gnu::always_inline]] inline std::size_t hand_log_bucket(std::uint64_t value) {
  const auto shift = static_cast<unsigned>(std::bit_width(value | 32)) - 6;
  return (std::size_t{shift} << 5) + static_cast<std::size_t>(value >> shift);
}

struct Values {
  static constexpr std::size_t count = 4096;
  std::array<double, count> seconds;
  std::array<std::uint64_t, count> ns;
  Values() {
    std::uint64_t state = 88172645463325252u;
    for (std::size_t index = 0; index < count; ++index) {
      state ^= state << 13, state ^= state >> 7, state ^= state << 17;
      // Evenly over the orders of magnitude from 1 us to 16 s.
      const double order = static_cast<double>(state % 10'000) / 10'000 * 24;
      seconds[index] = 1e-6 * std::exp2(order);
      ns[index] = static_cast<std::uint64_t>(seconds[index] * 1e9);
    }
  }
};

// Runs `work(operations)` in this thread, or in `threads` that begin together; ns per operation of
// one thread.
template <class Work>
Sample run_threads(unsigned threads, std::uint64_t operations, Work work) {
  if (threads == 1) return micro::time_operations(operations, [&] { work(operations); });
  std::latch ready(threads + 1);
  std::vector<double> ns(threads);
  std::vector<std::thread> all;
  for (unsigned number = 0; number < threads; ++number) {
    all.emplace_back([&, number] {
      work(1);  // its cells and its caches
      ready.arrive_and_wait();
      ns[number] = micro::time_operations(operations, [&] { work(operations); }).value;
    });
  }
  ready.arrive_and_wait();
  for (std::thread& thread : all) thread.join();
  double sum = 0;
  for (const double each : ns) sum += each;
  return {sum / threads, std::nullopt};
}

// A loop whose body the compiler may neither merge nor hoist.
template <class Body>
[[gnu::always_inline]] inline void repeat(std::uint64_t operations, Body&& body) {
  for (std::uint64_t count = 0; count < operations; ++count) {
    body(count);
    asm volatile("" ::: "memory");
  }
}

Subject slot_by_hand(unsigned threads, std::uint64_t operations, std::uint64_t expected) {
  return {"per-thread slot by hand", [=] {
            std::atomic<std::uint64_t> sum = 0;
            const Sample sample = run_threads(threads, operations, [&](std::uint64_t count) {
              const std::uint64_t before = slot_here[counter_handle.slot];
              repeat(count, [](std::uint64_t) { slot_here[counter_handle.slot] += 1; });
              sum += slot_here[counter_handle.slot] - before;
            });
            micro::expect(sum == expected, "additions");
            return sample;
          }};
}

// The same where the compiler knows the place: what no library that names its series can do.
Subject slot_without_handle(unsigned threads, std::uint64_t operations, std::uint64_t expected) {
  return {"thread_local variable, no handle", [=] {
            std::atomic<std::uint64_t> sum = 0;
            const Sample sample = run_threads(threads, operations, [&](std::uint64_t count) {
              const std::uint64_t before = slot_here[3];
              repeat(count, [](std::uint64_t) { slot_here[3] += 1; });
              sum += slot_here[3] - before;
            });
            micro::expect(sum == expected, "additions");
            return sample;
          }};
}

void ask_counters(micro::Suite& suite, metrics::Registry& registry) {
  static const metrics::Counter counter = *registry.counter("bench_adds", "Additions.");
#ifdef KATANA_HAS_PROMETHEUS_CPP
  static prometheus::Registry other;
  static prometheus::Counter& theirs =
      prometheus::BuildCounter().Name("bench_adds_total").Help("x").Register(other).Add({});
#endif
  const std::uint64_t operations = suite.operations(4'000'000);
  for (const unsigned threads : {1u, 2u}) {
    const std::string many = threads == 1 ? "one thread" : "two threads at once";
    // Separate threads do one addition more, to have their memory.
    const std::uint64_t expected = threads == 1 ? operations : threads * (operations + 1);
    std::vector<Subject> subjects{
        {"katana",
         [=] {
           const std::uint64_t before = counter.value();
           const Sample sample = run_threads(threads, operations, [](std::uint64_t count) {
             repeat(count, [](std::uint64_t) { counter.add(); });
           });
           micro::expect(counter.value() - before == expected, "additions");
           return sample;
         }},
        slot_by_hand(threads, operations, expected),
        slot_without_handle(threads, operations, expected),
        {"shared atomic, relaxed", [=] {
           const std::uint64_t before = shared_counter;
           const Sample sample = run_threads(threads, operations, [](std::uint64_t count) {
             repeat(count,
                    [](std::uint64_t) { shared_counter.fetch_add(1, std::memory_order_relaxed); });
           });
           micro::expect(shared_counter - before == expected, "additions");
           return sample;
         }}};
#ifdef KATANA_HAS_PROMETHEUS_CPP
    subjects.push_back({"prometheus-cpp", [=] {
                          const double before = theirs.Value();
                          const Sample sample =
                              run_threads(threads, operations / 4, [](std::uint64_t count) {
                                repeat(count, [](std::uint64_t) { theirs.Increment(); });
                              });
                          micro::expect(theirs.Value() > before, "additions");
                          return sample;
                        }});
#endif
    const auto* answers =
        suite.ask({"counter, " + many + ": time of an addition", "ns"}, subjects, rounds);
    suite.target("counter, " + many + ": at most 1.5 x a per-thread slot by hand", answers,
                 "katana", "per-thread slot by hand", 1.5, micro::at_most);
  }
}

void ask_histograms(micro::Suite& suite, metrics::Registry& registry, unsigned threads) {
  static const Values values;
  static const metrics::Histogram histogram =
      *registry.histogram("bench_times", "Times.", {bounds.begin(), bounds.end()});
#ifdef KATANA_HAS_PROMETHEUS_CPP
  static prometheus::Registry other;
  static prometheus::Histogram& theirs =
      prometheus::BuildHistogram()
          .Name("bench_times")
          .Help("x")
          .Register(other)
          .Add({}, prometheus::Histogram::BucketBoundaries{bounds.begin(), bounds.end()});
#endif
  const std::uint64_t operations = suite.operations(1'000'000);
  const std::uint64_t expected = threads == 1 ? operations : threads * (operations + 1);
  std::vector<Subject> subjects{
      {"katana",
       [=] {
         const std::uint64_t before = histogram.count();
         const Sample sample = run_threads(threads, operations, [](std::uint64_t count) {
           repeat(count, [](std::uint64_t index) {
             histogram.observe(values.seconds[index % Values::count]);
           });
         });
         micro::expect(histogram.count() - before == expected, "observations");
         return sample;
       }},
      {"per-thread histogram by hand", [=] {
         std::atomic<std::uint64_t> sum = 0;
         const Sample sample = run_threads(threads, operations, [&](std::uint64_t count) {
           HandHistogram& own = histogram_here[histogram_handle.slot];
           own = {};
           repeat(count, [](std::uint64_t index) {
             const double value = values.seconds[index % Values::count];
             HandHistogram& mine = histogram_here[histogram_handle.slot];
             mine.counts[hand_bucket(value)] += 1;
             mine.sum += value;
           });
           for (const std::uint64_t bucket : own.counts) sum += bucket;
         });
         micro::expect(sum == expected, "observations");
         return sample;
       }}};
#ifdef KATANA_HAS_PROMETHEUS_CPP
  subjects.push_back(
      {"prometheus-cpp", [=] {
         const auto before = theirs.Collect().histogram.sample_count;
         const Sample sample = run_threads(threads, operations / 4, [](std::uint64_t count) {
           repeat(count, [](std::uint64_t index) {
             theirs.Observe(values.seconds[index % Values::count]);
           });
         });
         micro::expect(theirs.Collect().histogram.sample_count > before, "observations");
         return sample;
       }});
#endif
  const std::string many = threads == 1 ? "one thread" : "two threads at once";
  const auto* answers = suite.ask(
      {"histogram of 11 bounds, " + many + ": time of an observation", "ns"}, subjects, rounds);
  suite.target("histogram, " + many + ": at most 1.3 x a per-thread one by hand", answers, "katana",
               "per-thread histogram by hand", 1.3, micro::at_most);
  suite.target("histogram, " + many + ": at most 12 ns", answers, "katana", 12, micro::at_most);
}

void ask_log_histograms(micro::Suite& suite, metrics::Registry& registry) {
  static const Values values;
  static const metrics::LogHistogram histogram =
      *registry.log_histogram("bench_log_times", "Times.");
  const std::uint64_t operations = suite.operations(1'000'000);
  const auto* answers = suite.ask(
      {"log-linear histogram (3 %), one thread: time of an observation", "ns"},
      {{"katana",
        [=] {
          const std::uint64_t before = histogram.snapshot().count;
          const Sample sample = micro::time_operations(operations, [&] {
            repeat(operations, [](std::uint64_t index) {
              histogram.observe(values.ns[index % Values::count]);
            });
          });
          micro::expect(histogram.snapshot().count - before == operations, "observations");
          return sample;
        }},
       {"per-thread histogram by hand",
        [=] {
          HandLogHistogram& own = log_histogram_here[log_histogram_handle.slot];
          own = {};
          const Sample sample = micro::time_operations(operations, [&] {
            repeat(operations, [](std::uint64_t index) {
              const std::uint64_t value = values.ns[index % Values::count];
              HandLogHistogram& mine = log_histogram_here[log_histogram_handle.slot];
              mine.counts[hand_log_bucket(value)] += 1;
              mine.sum += value;
            });
          });
          std::uint64_t sum = 0;
          for (const std::uint64_t bucket : own.counts) sum += bucket;
          micro::expect(sum == operations, "observations");
          return sample;
        }}},
      rounds);
  suite.target("log-linear histogram: at most 1.3 x a per-thread one by hand", answers, "katana",
               "per-thread histogram by hand", 1.3, micro::at_most);
  suite.target("log-linear histogram: at most 12 ns", answers, "katana", 12, micro::at_most);
}

// ---- exposition

std::uint64_t value_of(std::size_t index) { return index * 7919 % 10'000'000; }

// The floor: the text before each value stands ready, the values lie in one array, and the output
// in one buffer that is large enough.
struct Floor {
  std::vector<std::string> prefixes;
  std::vector<std::uint64_t> values;
  std::vector<char> out;

  explicit Floor(std::size_t series) {
    for (std::size_t index = 0; index < series; ++index) {
      prefixes.push_back(
          fmt::format("bench_requests_total{{route=\"/users/{}\",status=\"200\"}} ", index));
      values.push_back(value_of(index));
    }
    out.resize(series * 96);
  }
  std::size_t write() {
    char* at = out.data();
    for (std::size_t index = 0; index < prefixes.size(); ++index) {
      std::memcpy(at, prefixes[index].data(), prefixes[index].size());
      at += prefixes[index].size();
      at = std::to_chars(at, at + 24, values[index]).ptr;
      *at++ = '\n';
    }
    return static_cast<std::size_t>(at - out.data());
  }
};

struct Ours {
  metrics::Registry registry{{.series_per_family_max = 1'000'000}};
  std::vector<char> piece = std::vector<char>(64 * 1024);

  Ours(std::size_t series, unsigned threads) {
    auto requests = registry.counters(
        {.name = "bench_requests", .help = "Requests.", .labels = {"route", "status"}});
    const auto add = [&](std::size_t begin, std::size_t step) {
      for (std::size_t index = begin; index < series; index += step) {
        requests->with(fmt::format("/users/{}", index), "200").add(value_of(index));
      }
    };
    add(0, 1);
    // Cells of more threads, which are alive while it is scraped and add nothing more.
    for (unsigned number = 1; number < threads; ++number) {
      std::latch touched(1);
      others.emplace_back([&](std::stop_token stop) {
        for (std::size_t index = 0; index < series; ++index) {
          requests->with(fmt::format("/users/{}", index), "200").add(0);
        }
        touched.count_down();
        while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      });
      touched.wait();
    }
  }
  std::size_t write() {
    metrics::Exposition exposition(registry, metrics::Format::prometheus);
    std::size_t bytes = 0;
    while (!exposition.done()) bytes += exposition.fill(piece);
    return bytes;
  }
  std::vector<std::jthread> others;
};

#ifdef KATANA_HAS_PROMETHEUS_CPP
struct Theirs {
  prometheus::Registry registry;
  explicit Theirs(std::size_t series) {
    auto& family = prometheus::BuildCounter()
                       .Name("bench_requests_total")
                       .Help("Requests.")
                       .Register(registry);
    for (std::size_t index = 0; index < series; ++index) {
      family.Add({{"route", fmt::format("/users/{}", index)}, {"status", "200"}})
          .Increment(static_cast<double>(value_of(index)));
    }
  }
  std::size_t write() const {
    return prometheus::TextSerializer().Serialize(registry.Collect()).size();
  }
};
#endif

void ask_exposition(micro::Suite& suite, std::size_t series) {
  const std::string question = fmt::format("text of {} series", series);
  if (!suite.wants(question)) return;
  const auto floor = std::make_shared<Floor>(series);
  const auto ours = std::make_shared<Ours>(series, 1);
  const auto of_two = std::make_shared<Ours>(series, 2);
  const std::uint64_t repeats = std::max<std::uint64_t>(1, suite.operations(200'000) / series);
  const auto run = [repeats, series](auto& subject, std::size_t least) {
    Sample sample = micro::time_operations(repeats, [&] {
      for (std::uint64_t count = 0; count < repeats; ++count) {
        micro::expect(subject.write() >= least + series * 40, "bytes of text");
      }
    });
    sample.value /= 1e6;
    return sample;
  };
  const std::size_t bytes = floor->write();
  micro::expect(ours->write() > bytes && ours->write() < bytes + 200, "the same text and a head");
  std::vector<Subject> subjects{
      {"katana", [=] { return run(*ours, 0); }},
      {"katana, two threads have counted", [=] { return run(*of_two, 0); }},
      {"floor: ready text and to_chars", [=] { return run(*floor, 0); }}};
#ifdef KATANA_HAS_PROMETHEUS_CPP
  const auto theirs = std::make_shared<Theirs>(series);
  subjects.push_back({"prometheus-cpp", [=] {
                        Sample sample = micro::time_operations(1, [&] {
                          micro::expect(theirs->write() >= series * 40, "bytes of text");
                        });
                        sample.value /= 1e6;
                        return sample;
                      }});
#endif
  const auto* answers = suite.ask({question, "ms"}, subjects);
  suite.target(question + ": at most 3 x the floor", answers, "katana",
               "floor: ready text and to_chars", 3, micro::at_most);
}

// Does a writer wait for a scrape? The longest pause between two additions while another thread
// scrapes, against the same without it: the machine makes its own pauses.
void ask_writers(micro::Suite& suite) {
  const std::string question = "addition while another thread scrapes 100000 series";
  if (!suite.wants(question)) return;
  const auto ours = std::make_shared<Ours>(suite.smoke() ? 1'000 : 100'000, 1);
  static const metrics::Counter counter = *ours->registry.counter("bench_other", "Others.");
  const std::uint64_t operations = suite.operations(20'000'000);
  const auto work = [operations] {
    return micro::time_operations(
        operations, [&] { repeat(operations, [](std::uint64_t) { counter.add(); }); });
  };
  suite.ask({question, "ns"},
            {{"nobody scrapes", work}, {"scraped all the time", [=] {
                                          std::atomic<int> scrapes = 0;
                                          std::latch first(1);
                                          std::jthread scraper([&](std::stop_token stop) {
                                            while (!stop.stop_requested()) {
                                              ours->write();
                                              if (scrapes++ == 0) first.count_down();
                                            }
                                          });
                                          first.wait();
                                          const Sample sample = work();
                                          micro::expect(scrapes > 0, "scrapes");
                                          return sample;
                                        }}});
}

}  // namespace

int main(int count, char** arguments) {
  micro::Suite suite("metrics", count, arguments);
  metrics::Registry registry;
  ask_counters(suite, registry);
  ask_histograms(suite, registry, 1);
  ask_histograms(suite, registry, 2);
  ask_log_histograms(suite, registry);
  for (const std::size_t series : {1'000u, 10'000u, 100'000u}) {
    if (suite.smoke() && series > 10'000) continue;
    ask_exposition(suite, series);
  }
  ask_writers(suite);
  return suite.finish();
}

// SPDX-License-Identifier: Apache-2.0
