// micro_log: the cost of a record for the thread that logs, and the records a second that reach a
// file.
//
// Paced: one record every 2 microseconds from one thread. The clock is read before and after each
// call, and both readings are part of the figure, for all subjects alike. Hundreds: a hundred
// records in one go, then a pause in which they are written. This is the cost of a call without the
// clock's. Burst: one thread logs a million records as fast as it can; the time runs until the last
// of them is in the file. All subjects take turns in every round, and each must have written every
// record.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>

#include "lab/micro/flags.hpp"
#include "measure.hpp"
#include "subjects.hpp"

namespace {

using log_bench::Row;
using log_bench::Subject;
using log_bench::SubjectKind;
using log_bench::Target;
using micro::Flags;

constexpr std::string_view text = "a text of 16 oct";
static_assert(text.size() == 16);

struct Paced {
  double p50_ns, p99_ns, p999_ns;
};

void require_all(const SubjectKind& kind, std::uint64_t expected, std::uint64_t found) {
  if (found == expected) return;
  fmt::print(stderr, "micro_log: {} wrote {} of {} records\n", kind.name, found, expected);
  std::exit(1);
}

std::uint64_t finish(Subject& subject) {
  subject.finish();
  return subject.found();
}

// The time that the clock adds to each paced figure.
double clock_cost_ns() {
  std::vector<double> costs;
  for (int count = 0; count < 10'000; ++count) {
    const std::uint64_t begin = log_bench::ordered_ticks();
    costs.push_back(static_cast<double>(log_bench::ordered_ticks() - begin) * micro::ns_per_tick());
  }
  return log_bench::grouped_percentile(costs, 0.5);
}

// The median over many hundreds, per record.
double measure_hundreds(const SubjectKind& kind, const std::string& path, int hundreds) {
  constexpr int size = 100;
  const auto subject = kind.make(path);
  subject->burst(size, text);
  const auto pause = static_cast<std::uint64_t>(200'000 / micro::ns_per_tick());
  std::vector<double> costs;
  for (int count = 0; count < hundreds; ++count) {
    const std::uint64_t due = log_bench::ordered_ticks() + pause;
    while (log_bench::ordered_ticks() < due) {
    }
    const std::uint64_t begin = log_bench::ordered_ticks();
    subject->burst(size, text);
    costs.push_back(static_cast<double>(log_bench::ordered_ticks() - begin) * micro::ns_per_tick() /
                    size);
  }
  require_all(kind, static_cast<std::uint64_t>(hundreds + 1) * size, finish(*subject));
  return micro::median(std::move(costs));
}

Paced measure_paced(const SubjectKind& kind, const std::string& path, int records) {
  constexpr int warm_up = 2'000;
  const auto subject = kind.make(path);
  subject->prepare();
  const auto gap = static_cast<std::uint64_t>(2'000 / micro::ns_per_tick());
  std::vector<double> costs;
  costs.reserve(static_cast<std::size_t>(records));
  std::uint64_t due = log_bench::ordered_ticks() + gap;
  for (int index = -warm_up; index < records; ++index, due += gap) {
    while (log_bench::ordered_ticks() < due) {
    }
    const std::uint64_t begin = log_bench::ordered_ticks();
    subject->log(index, index * 0.1, text);
    const auto cost = static_cast<double>(log_bench::ordered_ticks() - begin);
    if (index >= 0) costs.push_back(cost * micro::ns_per_tick());
    // A pause of this thread is not made up for by a burst.
    if (log_bench::ordered_ticks() > due + 10 * gap) due = log_bench::ordered_ticks();
  }
  require_all(kind, static_cast<std::uint64_t>(records + warm_up), finish(*subject));
  return {log_bench::grouped_percentile(costs, 0.5), log_bench::grouped_percentile(costs, 0.99),
          log_bench::grouped_percentile(costs, 0.999)};
}

// For a call alone: so few that no ring is full and no caller waits.
std::optional<double> count_instructions(const SubjectKind& kind, const std::string& path) {
  constexpr std::uint64_t records = 1'000;
  const auto subject = kind.make(path);
  subject->prepare();
  subject->burst(10, text);
  const katana::lab::HardwareCounter counter(katana::lab::Event::instructions);
  const auto before = counter.read_count();
  subject->burst(records, text);
  const auto after = counter.read_count();
  subject->finish();
  const auto counted = katana::lab::counted_between(before, after);
  return counted ? std::optional(*counted / records) : std::nullopt;
}

double measure_burst(const SubjectKind& kind, const std::string& path, std::uint64_t records) {
  const auto subject = kind.make(path);
  subject->prepare();
  const std::uint64_t begin = log_bench::ordered_ticks();
  subject->burst(records, text);
  subject->finish();
  const std::uint64_t end = log_bench::ordered_ticks();
  require_all(kind, records, subject->found());
  const double s = static_cast<double>(end - begin) * micro::ns_per_tick() * 1e-9;
  return static_cast<double>(records) / s / 1e6;
}

using Values = std::map<std::string, std::vector<double>>;

double median_ratio(const Values& values, const std::string& one, const std::string& other) {
  std::vector<double> ratios;
  const auto& upper = values.at(one);
  const auto& lower = values.at(other);
  for (std::size_t round = 0; round < upper.size(); ++round) {
    ratios.push_back(upper[round] / lower[round]);
  }
  return micro::median(std::move(ratios));
}

void ask_paced(const Flags& flags, const std::string& folder, std::vector<Row>& rows,
               std::vector<Target>& targets) {
  const int rounds = flags.quick ? 2 : 7;
  const int records = flags.quick ? 50'000 : 200'000;
  Values p50, p99, p999, instructions;
  for (int round = 0; round < rounds; ++round) {
    for (const SubjectKind& kind : log_bench::subjects()) {
      std::filesystem::remove(folder + "/paced");
      const Paced paced = measure_paced(kind, folder + "/paced", records);
      p50[kind.name].push_back(paced.p50_ns);
      p99[kind.name].push_back(paced.p99_ns);
      p999[kind.name].push_back(paced.p999_ns);
      std::filesystem::remove(folder + "/paced");
      const auto count = count_instructions(kind, folder + "/paced");
      if (count) instructions[kind.name].push_back(*count);
    }
  }
  const auto add_rows = [&](const char* what, Values& values, bool with_instructions) {
    for (const SubjectKind& kind : log_bench::subjects()) {
      rows.push_back({fmt::format("paced every 2 us: ns per call {}", what), kind.name, "ns",
                      "lower", values[kind.name],
                      with_instructions ? instructions[kind.name] : std::vector<double>()});
    }
  };
  rows.push_back(
      {"paced: of each figure the clock's", "clock", "ns", "lower", {clock_cost_ns()}, {}});
  add_rows("p50", p50, true);
  add_rows("p99", p99, false);
  add_rows("p99.9", p999, false);
  targets.push_back({"paced p50, katana to the hand-written ring",
                     median_ratio(p50, "katana", "hand-written ring"), 1.2, true});
  targets.push_back({"paced p50 of katana, ns", micro::median(p50["katana"]), 40, true});
  targets.push_back({"paced p99 of katana, ns", micro::median(p99["katana"]), 120, true});
}

void ask_hundreds(const Flags& flags, const std::string& folder, std::vector<Row>& rows,
                  std::vector<Target>& targets) {
  const int rounds = flags.quick ? 2 : 7;
  Values costs;
  for (int round = 0; round < rounds; ++round) {
    for (const SubjectKind& kind : log_bench::subjects()) {
      std::filesystem::remove(folder + "/hundreds");
      costs[kind.name].push_back(
          measure_hundreds(kind, folder + "/hundreds", flags.quick ? 100 : 1'000));
    }
  }
  for (const SubjectKind& kind : log_bench::subjects()) {
    rows.push_back(
        {"hundreds, then a pause: ns per call", kind.name, "ns", "lower", costs[kind.name], {}});
  }
  targets.push_back({"hundreds, katana to the hand-written ring",
                     median_ratio(costs, "katana", "hand-written ring"), 1.2, true});
}

void ask_burst(const Flags& flags, const std::string& folder, std::vector<Row>& rows,
               std::vector<Target>& targets) {
  const int rounds = flags.quick ? 2 : 7;
  const std::uint64_t records = flags.quick ? 200'000 : 1'000'000;
  Values rates;
  for (int round = 0; round < rounds; ++round) {
    for (const SubjectKind& kind : log_bench::subjects()) {
      if (!kind.writes) continue;  // there is no file of it
      const std::string path = folder + "/burst";
      rates[kind.name].push_back(measure_burst(kind, path, records));
      std::filesystem::remove(path);
    }
  }
  for (const SubjectKind& kind : log_bench::subjects()) {
    if (!kind.writes) continue;
    rows.push_back({fmt::format("burst of {}: million records per second", records),
                    kind.name,
                    "M/s",
                    "higher",
                    rates[kind.name],
                    {}});
  }
#if defined(KATANA_WITH_SPDLOG)
  targets.push_back({"burst of text, katana to spdlog async",
                     median_ratio(rates, "katana", "spdlog async"), 2, false});
#endif
  targets.push_back({"burst of text, katana to fmt and write",
                     median_ratio(rates, "katana", "fmt and write"), 0.9, false});
  targets.push_back({"burst, katana's binary sink to its text sink",
                     median_ratio(rates, "katana binary", "katana"), 3, false});
}

}  // namespace

int main(int count, char** arguments) {
  const Flags flags = micro::parse_flags("log", count, arguments);
  std::string folder = (std::filesystem::temp_directory_path() / "micro_log_XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return std::perror("micro_log: mkdtemp"), 1;
  std::vector<Row> rows;
  std::vector<Target> targets;
  if (flags.wants("paced")) ask_paced(flags, folder, rows, targets);
  if (flags.wants("hundreds")) ask_hundreds(flags, folder, rows, targets);
  if (flags.wants("burst")) ask_burst(flags, folder, rows, targets);
  std::filesystem::remove_all(folder);
  log_bench::print(rows, targets);
  if (flags.json_path.empty() || log_bench::write_json(flags.json_path, rows, targets)) return 0;
  std::perror(("micro_log: " + flags.json_path).c_str());
  return 1;
}

// SPDX-License-Identifier: Apache-2.0
