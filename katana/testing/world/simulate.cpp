#include "katana/testing/world/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <set>
#include <string_view>
#include <utility>

#include "katana/base/system/failure.hpp"
#include "katana/data/container/json_write.hpp"

namespace katana::testing {
namespace {

constexpr std::size_t compared_lines_max = 200'000;

// One run of a seed, without its world.
struct Run {
  std::vector<WorldFailure> failures;
  std::uint64_t digest = 0;
  std::uint64_t operations = 0;
  std::uint64_t unknown = 0;
  std::array<std::uint64_t, fault_kinds> faults = {};
  std::vector<std::string> keys;
  std::string timeline;
  std::string trace;
  std::string plan;  // the faults, as comments

  bool has(const std::string& property) const {
    return !failures.empty() && failures.front().property == property;
  }
};

Run run_world(const WorldOptions& options, const WorldFunction& f) {
  Run run;
  World world(options);
  try {
    f(world);
    (void)world.finish();
  } catch (...) {
    world.fail("exception", describe(std::current_exception()));
  }
  run.failures = world.failures();
  run.digest = world.trace_digest();
  run.operations = world.history().size();
  for (const Operation& each : world.history()) {
    run.unknown += each.outcome == Outcome::unknown ? 1 : 0;
  }
  for (const PlannedFault& each : world.planned()) {
    ++run.faults[static_cast<std::size_t>(each.kind)];
  }
  run.keys = world.keys();
  if (!run.failures.empty() || options.trace_lines_max > 0) {
    run.timeline = world.timeline().describe();
    run.trace = world.network_trace();
    for (const PlannedFault& each : world.planned()) run.plan += "// " + each.describe() + '\n';
  }
  return run;
}

// ---- the environment

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

std::set<std::string> parts_of(std::string_view list) {
  std::set<std::string> parts;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    if (end > 0) parts.emplace(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return parts;
}

// Whether the environment names one seed. `wrong`: the name of a variable that is no number.
bool read_environment(SimulateOptions& options, std::string& wrong) {
  const std::string_view seeds = variable("KATANA_SEEDS");
  if (const std::size_t plus = seeds.find('+'); plus != std::string_view::npos) {
    const auto first = number_in(seeds.substr(0, plus));
    const auto count = number_in(seeds.substr(plus + 1));
    if (!first || !count) wrong = "KATANA_SEEDS";
    options.first_seed = first.value_or(options.first_seed);
    options.seeds = count.value_or(options.seeds);
  } else if (!seeds.empty()) {
    const auto count = number_in(seeds);
    if (!count) wrong = "KATANA_SEEDS";
    options.seeds = count.value_or(options.seeds);
  }
  const std::string_view seed = variable("KATANA_SEED");
  if (seed.empty()) return false;
  const auto only = number_in(seed);
  if (!only) wrong = "KATANA_SEED";
  options.first_seed = only.value_or(1);
  options.seeds = 1;
  options.twice_every = 1;
  options.world.drop = parts_of(variable("KATANA_DROP"));
  if (!options.world.drop.empty()) options.shrink_runs_max = 0;
  return true;
}

std::string repeat_line(std::uint64_t seed, const std::set<std::string>& drop) {
  std::string list;
  for (const std::string& each : drop) list += (list.empty() ? "" : ",") + each;
  if (!list.empty()) list = fmt::format(" KATANA_DROP={}", list);
  return fmt::format("KATANA_SEED={}{} {}", seed, list, ::program_invocation_name);
}

// ---- a smaller failing case

class Shrinker {
 public:
  Shrinker(const SimulateOptions& options, const WorldOptions& world, const WorldFunction& f,
           Run failing)
      : options_(options), world_(world), f_(f), best_(std::move(failing)) {
    property_ = best_.failures.front().property;
  }

  void search() {
    bool goes_on = true;
    while (goes_on && runs_ < options_.shrink_runs_max) {
      goes_on = false;
      for (std::size_t size = std::max<std::size_t>(best_.keys.size() / 2, 1); size > 0;
           size /= 2) {
        goes_on = try_parts(size) || goes_on;
      }
    }
  }

  const Run& best() const noexcept { return best_; }
  const std::set<std::string>& drop() const noexcept { return world_.drop; }
  unsigned runs() const noexcept { return runs_; }

 private:
  bool try_parts(std::size_t size) {
    bool is_smaller = false;
    // From the end: what happened after the failure goes first.
    std::vector<std::string> keys = best_.keys;
    for (std::size_t end = keys.size(); end > 0 && runs_ < options_.shrink_runs_max;) {
      const std::size_t begin = end > size ? end - size : 0;
      WorldOptions smaller = world_;
      for (std::size_t index = begin; index < end; ++index) smaller.drop.insert(keys[index]);
      end = begin;
      if (smaller.drop.size() == world_.drop.size()) continue;
      ++runs_;
      Run run = run_world(smaller, f_);
      if (!run.has(property_)) continue;
      is_smaller = true;
      best_ = std::move(run);
      world_ = std::move(smaller);
    }
    return is_smaller;
  }

  const SimulateOptions& options_;
  WorldOptions world_;
  const WorldFunction& f_;
  Run best_;
  std::string property_;
  unsigned runs_ = 0;
};

std::string listed(const std::vector<std::string>& keys) {
  std::string list;
  for (const std::string& each : keys)
    list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", each);
  return list;
}

// A test of the failing case, with the parts that are left or those that are left out.
std::string test_of(const SimulateOptions& options, const Finding& finding, const Run& run) {
  std::string parts;
  if (run.keys.size() <= finding.drop.size() && !run.keys.empty()) {
    parts = fmt::format(", .keep = {{{}}}", listed(run.keys));
  } else if (!finding.drop.empty()) {
    parts = fmt::format(", .drop = {{{}}}", listed(finding.drop));
  }
  return fmt::format(
      "// {}\n{}TEST(Found, seed_{}) {{\n  katana::testing::World world({{.seed = {}{}}});\n  "
      "{}(world);\n"
      "  EXPECT_TRUE(world.finish()) << world.report();\n}}\n",
      finding.property, run.plan, finding.seed, finding.seed, parts, options.name);
}

Finding finding_of(std::uint64_t seed, const Run& run, const std::set<std::string>& drop) {
  Finding finding;
  finding.seed = seed;
  finding.property = run.failures.front().property;
  finding.text = run.failures.front().text;
  finding.drop.assign(drop.begin(), drop.end());
  finding.timeline = run.timeline;
  finding.repeat = repeat_line(seed, drop);
  finding.events = static_cast<std::size_t>(std::ranges::count_if(run.keys, [](const auto& each) {
    return each.find('#') != std::string::npos || each.starts_with('f');
  }));
  return finding;
}

// The first line in which two texts differ.
std::string first_difference(std::string_view one, std::string_view other) {
  while (!one.empty() || !other.empty()) {
    const std::string_view left = one.substr(0, one.find('\n'));
    const std::string_view right = other.substr(0, other.find('\n'));
    if (left != right) return fmt::format("first:  {}\nsecond: {}\n", left, right);
    one.remove_prefix(std::min(left.size() + 1, one.size()));
    other.remove_prefix(std::min(right.size() + 1, other.size()));
  }
  return {};
}

// Two runs of a seed were not the same.
Finding difference_of(WorldOptions world, const WorldFunction& f) {
  world.trace_lines_max = compared_lines_max;
  const Run one = run_world(world, f);
  const Run other = run_world(world, f);
  std::string difference = first_difference(one.timeline, other.timeline);
  if (difference.empty()) difference = first_difference(one.trace, other.trace);
  if (difference.empty()) {
    difference = "two more runs were the same: the difference is rare, or depends on memory\n";
  }
  Finding finding;
  finding.seed = world.seed;
  finding.property = "two runs of a seed are the same";
  finding.text =
      "they differ, so that a finding cannot be repeated. The program uses threads, real clocks, "
      "addresses, the system's random numbers or the order of a hash table. The first "
      "difference:\n" +
      difference;
  finding.timeline = one.timeline;
  finding.repeat = repeat_line(world.seed, world.drop);
  return finding;
}

// ---- the report for `katana simulate`

std::string json_text(std::string_view text) {
  std::string json;
  container::write_json(std::string(text), json);
  return json;
}

void append_report(const Simulated& simulated, std::string_view file) {
  if (file.empty()) return;
  std::string faults;
  for (std::size_t index = 0; index < fault_kinds; ++index) {
    faults +=
        fmt::format("{}{}:{}", index == 0 ? "" : ",",
                    json_text(fault_name(static_cast<FaultKind>(index))), simulated.faults[index]);
  }
  std::string finding = "null";
  if (simulated.finding) {
    const Finding& found = *simulated.finding;
    finding = fmt::format(R"({{"seed":{},"property":{},"events":{},"repeat":{},"text":{}}})",
                          found.seed, json_text(found.property), found.events,
                          json_text(found.repeat), json_text(simulated.describe()));
  }
  std::ofstream(std::string(file), std::ios::app)
      << fmt::format(R"({{"seeds":{},"operations":{},"unknown":{},"faults":{{{}}},"finding":{}}})",
                     simulated.seeds, simulated.operations, simulated.unknown, faults, finding)
      << '\n';
}

Finding wrong_variable(const std::string& name) {
  Finding finding;
  finding.property = "the environment";
  finding.text = fmt::format("{}='{}' is not a number of seeds", name, variable(name.c_str()));
  return finding;
}

// Runs one seed. A finding ends the search.
std::optional<Finding> run_seed(const SimulateOptions& options, std::uint64_t seed, bool twice,
                                const WorldFunction& f, Simulated& simulated) {
  WorldOptions world = options.world;
  world.seed = seed;
  Run run = run_world(world, f);
  ++simulated.seeds;
  simulated.operations += run.operations;
  simulated.unknown += run.unknown;
  for (std::size_t index = 0; index < fault_kinds; ++index) {
    simulated.faults[index] += run.faults[index];
  }
  if (twice && run_world(world, f).digest != run.digest) return difference_of(world, f);
  if (run.failures.empty()) return std::nullopt;
  Shrinker shrinker(options, world, f, std::move(run));
  shrinker.search();
  Finding finding = finding_of(seed, shrinker.best(), shrinker.drop());
  finding.test = test_of(options, finding, shrinker.best());
  finding.runs = shrinker.runs();
  return finding;
}

}  // namespace

std::string Simulated::describe() const {
  std::string text =
      fmt::format("{} seeds, {} requests, {} of them with an unknown outcome; faults:", seeds,
                  operations, unknown);
  for (std::size_t index = 0; index < fault_kinds; ++index) {
    if (faults[index] == 0) continue;
    text += fmt::format(" {} {},", faults[index], fault_name(static_cast<FaultKind>(index)));
  }
  text.back() = '\n';
  if (!finding) return text;
  return text +
         fmt::format(
             "seed {}: {}\n  {}\n{}\nThe failure needs {} requests and faults ({} runs found "
             "that out). To repeat it:\n\n  {}\n\nAs a test:\n\n{}",
             finding->seed, finding->property, finding->text, finding->timeline, finding->events,
             finding->runs, finding->repeat, finding->test);
}

Simulated simulate(SimulateOptions options, const WorldFunction& f) {
  Simulated simulated;
  std::string wrong;
  std::optional<std::uint64_t> seconds_max;
  if (options.reads_environment) {
    (void)read_environment(options, wrong);
    seconds_max = number_in(variable("KATANA_SIMULATE_SECONDS"));
  }
  const auto begun = std::chrono::steady_clock::now();
  if (!wrong.empty()) simulated.finding = wrong_variable(wrong);
  for (std::uint64_t index = 0; index < options.seeds && !simulated.finding; ++index) {
    const auto took = std::chrono::steady_clock::now() - begun;
    if (seconds_max && took >= std::chrono::seconds(*seconds_max)) break;
    const bool twice = options.twice_every != 0 && index % options.twice_every == 0;
    simulated.finding = run_seed(options, options.first_seed + index, twice, f, simulated);
  }
  simulated.holds = !simulated.finding;
  if (options.reads_environment) {
    append_report(simulated, variable("KATANA_SIMULATE_REPORT"));
  }
  return simulated;
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
