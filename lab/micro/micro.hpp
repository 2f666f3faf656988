// micro: the tools of all micro-benchmarks: rounds, clocks and counted instructions.
//
//   micro::Suite suite("metrics", count, arguments);
//   const auto* add = suite.ask({"add", "ns", "lower"}, {{"katana", […]}, {"rival", […]}});
//   suite.target("at most 1.5 x the rival", add, "katana", "rival", 1.5, micro::at_most);
//   return suite.finish();
//
// Owns       its results.
// Thread     one; a subject may start its own threads, and joins them.
// Allocates  freely, outside of the timed code.
// Fails      wrong usage exits with 2; a subject that did not do its work (micro::expect) with 1.
// Invariant  the subjects of a question run interleaved, A B C A B C …, in one process. Other work
//            of the machine then disturbs all of them. Ratios are medians of the ratios of one
//            round.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "katana/base/system/monotonic_clock.hpp"
#include "lab/micro/flags.hpp"
#include "lab/micro/report.hpp"
#include "lab/process/usage.hpp"

namespace micro {

// Keeps the compiler from dropping a value, or from knowing it.
template <class T>
inline void use(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

[[noreturn]] inline void fail(int status, std::string_view message) {
  fmt::print(stderr, "micro: {}\n", message);
  std::exit(status);
}

// The work was done, or the figure would be one of something else.
inline void expect(bool done, std::string_view what) {
  if (!done) fail(1, fmt::format("a subject did not do its work: {}", what));
}

inline std::int64_t now_ns() { return katana::monotonic_now().ns; }

inline std::uint64_t ticks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return static_cast<std::uint64_t>(now_ns());
#endif
}

// Nanoseconds of one tick, measured once over 20 ms. For calls that are timed one by one.
inline double ns_per_tick() {
  static const double measured = [] {
    const std::int64_t begin_ns = now_ns();
    const std::uint64_t begin = ticks();
    while (now_ns() - begin_ns < 20'000'000) {
    }
    const std::uint64_t end = ticks();
    return static_cast<double>(now_ns() - begin_ns) / static_cast<double>(end - begin);
  }();
  return measured;
}

// The result of one subject's round: the figure in the question's unit, and instructions per
// operation.
struct Sample {
  double value = 0;
  std::optional<double> instructions = {};
};

// Nanoseconds of processor time per operation of `work()`, which does `operations` of them. Time in
// which another program has the processor does not count; time in which a cache line travels does.
// For work that sleeps use now_ns().
template <class Work>
Sample time_operations(std::uint64_t operations, Work&& work) {
  thread_local const katana::lab::HardwareCounter counter(katana::lab::Event::instructions);
  const auto counted = counter.read_count();
  const std::int64_t begin_ns = katana::lab::thread_cpu_ns();
  work();
  const std::int64_t end_ns = katana::lab::thread_cpu_ns();
  auto instructions = katana::lab::counted_between(counted, counter.read_count());
  const auto count = static_cast<double>(operations);
  if (instructions) *instructions /= count;
  return {static_cast<double>(end_ns - begin_ns) / count, instructions};
}

inline double median(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return (values[middle - 1] + values[middle]) / 2;
}

struct Question {
  std::string text;
  std::string unit;              // "ns", "ms", "1/s"
  std::string better = "lower";  // or "higher"
};

struct Subject {
  std::string name;
  std::function<Sample()> run;  // one round
};

// The samples of a question, by subject and round.
struct Answers {
  Question question;
  std::vector<std::string> subjects;
  std::vector<std::vector<Sample>> samples;

  std::vector<double> values(std::size_t subject) const {
    std::vector<double> found;
    for (const Sample& sample : samples[subject]) found.push_back(sample.value);
    return found;
  }
  std::optional<std::size_t> find(std::string_view name) const {
    const auto at = std::find(subjects.begin(), subjects.end(), name);
    if (at == subjects.end()) return std::nullopt;
    return static_cast<std::size_t>(at - subjects.begin());
  }
};

enum Direction { at_most, at_least };

class Suite {
 public:
  Suite(std::string system, int count, char** arguments)
      : system_(std::move(system)), flags_(parse_flags(system_, count, arguments)) {}

  bool quick() const { return flags_.quick; }
  // A test run: one hundredth of the work is enough to see that it is done right.
  bool smoke() const { return flags_.smoke; }
  std::uint64_t operations(std::uint64_t full) const {
    return std::max<std::uint64_t>(1, smoke() ? full / 100 : quick() ? full / 4 : full);
  }
  bool wants(std::string_view question) const { return flags_.wants(question); }

  // Runs the subjects in turn, one round to warm up and then those that count. Null when --only
  // leaves the question out.
  const Answers* ask(Question question, std::vector<Subject> subjects, int rounds = 9) {
    if (!wants(question.text)) return nullptr;
    if (quick()) rounds = 2;
    Answers& answers = answers_.emplace_back();
    answers.question = std::move(question);
    answers.samples.resize(subjects.size());
    for (const Subject& subject : subjects) {
      answers.subjects.push_back(subject.name);
      if (!smoke()) subject.run();
    }
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t index = 0; index < subjects.size(); ++index) {
        answers.samples[index].push_back(subjects[index].run());
      }
    }
    print(answers);
    return &answers;
  }

  // subject / other ≤ or ≥ limit, as the median of the rounds' ratios. Left out with its question,
  // or when the rival is missing.
  void target(std::string_view text, const Answers* answers, std::string_view subject,
              std::string_view other, double limit, Direction direction) {
    if (answers == nullptr) return;
    const auto above = answers->find(subject), below = answers->find(other);
    if (!above || !below) return;
    std::vector<double> ratios;
    for (std::size_t round = 0; round < answers->samples[*above].size(); ++round) {
      ratios.push_back(answers->samples[*above][round].value /
                       answers->samples[*below][round].value);
    }
    add_target(text, median(std::move(ratios)), limit, direction);
  }
  // The median itself ≤ or ≥ limit.
  void target(std::string_view text, const Answers* answers, std::string_view subject, double limit,
              Direction direction) {
    if (answers == nullptr) return;
    if (const auto at = answers->find(subject)) {
      add_target(text, median(answers->values(*at)), limit, direction);
    }
  }

  // Writes the JSON. 0: every figure was taken; whether targets are met is the reader's to judge.
  int finish() {
    if (answers_.empty()) fail(2, fmt::format("no question has '{}' in it", flags_.only));
    const std::string& path = flags_.json_path;
    if (!path.empty() && !report().write(path)) fail(1, fmt::format("cannot write '{}'", path));
    return 0;
  }

 private:
  struct Target {
    std::string text;
    double value;
    double limit;
    Direction direction;
    bool met() const { return direction == at_most ? value <= limit : value >= limit; }
  };

  void add_target(std::string_view text, double value, double limit, Direction direction) {
    targets_.push_back({std::string(text), value, limit, direction});
  }

  static std::optional<double> instructions(const std::vector<Sample>& samples) {
    std::vector<double> counted;
    for (const Sample& sample : samples) {
      if (!sample.instructions) return std::nullopt;
      counted.push_back(*sample.instructions);
    }
    return median(std::move(counted));
  }

  void print(const Answers& answers) const {
    for (std::size_t index = 0; index < answers.subjects.size(); ++index) {
      const std::vector<double> values = answers.values(index);
      fmt::print(stderr, "{}: {}: {:.4g} {} ({:.4g} to {:.4g})\n", answers.question.text,
                 answers.subjects[index], median(values), answers.question.unit,
                 *std::min_element(values.begin(), values.end()),
                 *std::max_element(values.begin(), values.end()));
    }
  }

  Report report() const {
    Report report(system_);
    for (const Answers& answers : answers_) {
      const Question& question = answers.question;
      for (std::size_t index = 0; index < answers.subjects.size(); ++index) {
        const std::vector<double> values = answers.values(index);
        const auto [low, high] = std::ranges::minmax(values);
        report.add({question.text, answers.subjects[index], question.unit, question.better,
                    median(values), low, high, instructions(answers.samples[index])});
      }
    }
    for (const Target& target : targets_) {
      report.add_target(target.text, target.value, target.limit, target.direction == at_most,
                        target.met());
    }
    return report;
  }

  std::string system_;
  Flags flags_;
  std::deque<Answers> answers_;  // never moved: ask() returns a pointer
  std::vector<Target> targets_;
};

}  // namespace micro

// SPDX-License-Identifier: Apache-2.0
