#include "katana_tool/simulate_command.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "apps/command_line.hpp"
#include "katana/base/text/format.hpp"
#include "katana/data/container/json_read.hpp"
#include "katana_tool/child.hpp"

namespace katana::tool {
namespace {

using Clock = std::chrono::steady_clock;

// A line of KATANA_SIMULATE_REPORT.
struct Found {
  std::uint64_t seed = 0;
  std::string property;
  std::uint64_t events = 0;
  std::string repeat;
  std::string text;
};
KATANA_DESCRIBE(Found, seed, property, events, repeat, text)
struct Report {
  std::uint64_t seeds = 0;
  std::uint64_t operations = 0;
  std::uint64_t unknown = 0;
  std::map<std::string, std::uint64_t> faults;
  std::optional<Found> finding;
};
KATANA_DESCRIBE(Report, seeds, operations, unknown, faults, finding)

struct SimulateFlags {
  std::uint64_t seeds = 1'000;
  std::uint64_t first = 1;
  std::uint64_t minutes = 0;
  unsigned jobs = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::string> program;
};

constexpr std::uint64_t part_max = 200;  // seeds of one process
constexpr std::uint64_t most_seeds = 1'000'000'000;
constexpr int look_interval_ms = 200;
constexpr std::size_t output_bytes_max = 4'000;  // of a program that failed

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

class Simulation {
 public:
  Simulation(SimulateFlags flags, std::filesystem::path folder)
      : flags_(std::move(flags)), folder_(std::move(folder)), begun_(Clock::now()) {}

  int run() {
    while (starts_more() || !running_.empty()) {
      while (starts_more() && running_.size() < flags_.jobs) {
        if (auto started = start_part(); !started) {
          return command_line::fail("katana simulate", 1, started.error().describe());
        }
      }
      wait();
    }
    return report();
  }

 private:
  struct Part {
    Child child;
    std::filesystem::path report;
    std::filesystem::path output;
  };

  std::int64_t seconds_left() const {
    const auto took = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begun_);
    return static_cast<std::int64_t>(flags_.minutes) * 60 - took.count();
  }
  bool starts_more() const {
    const bool has_seeds = next_ < flags_.seeds;
    return has_seeds && findings_.empty() && !failed_ &&
           (flags_.minutes == 0 || seconds_left() > 0);
  }

  Result<void> start_part() {
    const std::uint64_t each = (flags_.seeds + flags_.jobs - 1) / flags_.jobs;
    const std::uint64_t count =
        std::min({std::max<std::uint64_t>(each, 1), part_max, flags_.seeds - next_});
    const auto name = folder_ / std::to_string(next_);
    const std::filesystem::path report = name.string() + ".json";
    const std::filesystem::path output = name.string() + ".log";
    std::vector<std::string> command{"/bin/sh",
                                     "-c",
                                     R"(exec "$@" > "$0" 2>&1)",
                                     output.string(),
                                     "env",
                                     fmt::format("KATANA_SEEDS={}+{}", flags_.first + next_, count),
                                     "KATANA_SIMULATE_REPORT=" + report.string()};
    if (flags_.minutes > 0) {
      command.push_back(fmt::format("KATANA_SIMULATE_SECONDS={}", seconds_left()));
    }
    command.insert(command.end(), flags_.program.begin(), flags_.program.end());
    auto child = Child::start(command);
    if (!child) return std::unexpected(child.error());
    next_ += count;
    running_.push_back({*std::move(child), report, output});
    return {};
  }

  void wait() {
    std::vector<pollfd> watched;
    for (const Part& each : running_) watched.push_back({each.child.descriptor(), POLLIN, 0});
    (void)::poll(watched.data(), watched.size(), look_interval_ms);
    std::size_t index = 0;
    for (auto each = running_.begin(); each != running_.end(); ++index) {
      const auto part = each++;
      if (watched[index].revents == 0) continue;
      finish(*part);
      running_.erase(part);
    }
  }

  void finish(Part& part) {
    const std::string status = part.child.reap();
    std::ifstream lines(part.report);
    bool explains = false;
    for (std::string line; std::getline(lines, line);) {
      auto read = container::read_json<Report>(line);
      if (!read) continue;
      add(*read);
      explains = explains || read->finding.has_value();
    }
    if (status.empty() || explains || std::exchange(failed_, true)) return;
    std::string output = text_of(part.output);
    if (output.size() > output_bytes_max) output.erase(0, output.size() - output_bytes_max);
    fmt::print("{}\nThe program ended with {}, without a finding.\n", output, status);
  }

  void add(const Report& read) {
    total_.seeds += read.seeds;
    total_.operations += read.operations;
    total_.unknown += read.unknown;
    for (const auto& [kind, count] : read.faults) total_.faults[kind] += count;
    if (!read.finding || findings_.contains(read.finding->property)) return;
    findings_[read.finding->property] = read.finding->repeat;
    fmt::print("{}\n", read.finding->text);
    std::fflush(stdout);
  }

  int report() const {
    const double took = std::chrono::duration<double>(Clock::now() - begun_).count();
    fmt::print("{} worlds in {:.1f} s, {} requests, {} of them with an unknown outcome\n",
               total_.seeds, took, total_.operations, total_.unknown);
    for (const auto& [kind, count] : total_.faults) {
      fmt::print("{:>10} {}{}\n", count, kind, count == 0 ? ": never tried" : "");
    }
    for (const auto& [property, repeat] : findings_) {
      fmt::print("finding: {}\n  {}\n", property, repeat);
    }
    if (total_.seeds == 0 && !failed_) {
      return command_line::fail(
          "katana simulate", 1,
          "the program ran no world: name a test program that calls testing::simulate()");
    }
    return findings_.empty() && !failed_ ? 0 : 1;
  }

  const SimulateFlags flags_;
  const std::filesystem::path folder_;
  const Clock::time_point begun_;
  std::uint64_t next_ = 0;  // seeds that were given out
  std::list<Part> running_;
  Report total_;
  std::map<std::string, std::string> findings_;  // by property: the line that repeats it
  bool failed_ = false;
};

// Whether env(1) would find the program.
bool is_there(const std::string& program) {
  if (program.find('/') != std::string::npos) return ::access(program.c_str(), X_OK) == 0;
  const char* const path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/bin:/bin";
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string file = std::string(rest.substr(0, end)) + "/" + program;
    if (::access(file.c_str(), X_OK) == 0) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

int run(const SimulateFlags& flags) {
  if (!is_there(flags.program.front())) {
    return command_line::fail("katana simulate", 2,
                              fmt::format("there is no program '{}' that can be run: name the path "
                                          "of a test program, such as ./{}",
                                          flags.program.front(), flags.program.front()));
  }
  std::string name = (std::filesystem::temp_directory_path() / "katana_simulate_XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    return command_line::fail("katana simulate", 1, fmt::format("no folder '{}'", name));
  }
  int status = 0;
  {
    Simulation simulation(flags, name);
    status = simulation.run();
  }
  std::error_code ignored;  // of a folder of temporary files
  std::filesystem::remove_all(name, ignored);
  return status;
}

}  // namespace

void add_simulate_command(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* const simulate = app.add_subcommand(
      "simulate", "Run the worlds of a test program over many seeds, on all cores.");
  auto flags = std::make_shared<SimulateFlags>();
  simulate->add_option("--seeds", flags->seeds, "seeds for each call of simulate()")
      ->check(CLI::Range(std::uint64_t{1}, most_seeds))
      ->capture_default_str();
  simulate->add_option("--first", flags->first, "the first seed")->capture_default_str();
  simulate->add_option("--minutes", flags->minutes, "end after so many minutes; 0: no limit")
      ->capture_default_str();
  simulate->add_option("--jobs", flags->jobs, "processes at a time; default: one for each core")
      ->check(CLI::Range(1U, 1024U));
  simulate->add_option("program", flags->program, "a test program, and its arguments")->required();
  simulate->positionals_at_end();
  simulate->callback([flags, &chosen] { chosen = [flags] { return run(*flags); }; });
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
