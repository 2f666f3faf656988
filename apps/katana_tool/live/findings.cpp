#include "katana_tool/live/findings.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "katana_tool/live/metrics_text.hpp"

namespace katana::tool {
namespace {

constexpr std::int64_t somaxconn_min = 4096;  // the backlog that a listener asks for
constexpr double files_share_max = 0.8;
constexpr double memory_share_max = 0.9;
constexpr std::int64_t busy_ms_max = 1'000;
constexpr std::int64_t request_ms_max = 60'000;
constexpr std::int64_t statement_ms_max = 10'000;
constexpr double throttled_share_max = 0.05;

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::optional<std::int64_t> number_in(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::int64_t number = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc()) {
    return std::nullopt;
  }
  return number;
}

// The number behind a word that begins a line.
std::optional<std::int64_t> number_after(std::string_view text, std::string_view word) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (line.starts_with(word)) return number_in(line.substr(word.size()));
    at = end + 1;
  }
  return std::nullopt;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(' '), line.size());
    if (end > 0) words.push_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return words;
}

// /proc/net/netstat: a line of names, then one of their values.
std::optional<std::int64_t> listen_overflows(std::string_view text) {
  const std::size_t names_at = text.find("TcpExt:");
  if (names_at == std::string_view::npos) return std::nullopt;
  const std::size_t values_at = text.find("TcpExt:", names_at + 1);
  if (values_at == std::string_view::npos) return std::nullopt;
  const auto line_at = [text](std::size_t at) {
    return text.substr(at, std::min(text.find('\n', at), text.size()) - at);
  };
  const auto names = words_of(line_at(names_at));
  const auto values = words_of(line_at(values_at));
  for (std::size_t index = 0; index < names.size() && index < values.size(); ++index) {
    if (names[index] == "ListenOverflows") return number_in(values[index]);
  }
  return std::nullopt;
}

// "always [madvise] never": the word in brackets.
std::string chosen_in(std::string_view text) {
  const std::size_t begin = text.find('[');
  const std::size_t end = text.find(']');
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return {};
  return std::string(text.substr(begin + 1, end - begin - 1));
}

// The folder of its control group (version 2): the path behind "0::" of /proc/PID/cgroup.
std::string group_folder(const std::string& root, std::string_view text) {
  const std::size_t at = text.find("0::");
  if (at == std::string_view::npos) return {};
  const std::string_view path = text.substr(at + 3, text.find('\n', at) - at - 3);
  if (path.contains("..")) return {};
  return root + "sys/fs/cgroup" + std::string(path) + (path.ends_with('/') ? "" : "/");
}

// Fields 14 and 15 of /proc/PID/stat, behind the name, which may have spaces: times in ticks.
std::optional<double> cpu_seconds(std::string_view stat) {
  const std::size_t end = stat.rfind(')');
  if (end == std::string_view::npos || end + 2 > stat.size()) return std::nullopt;
  const auto words = words_of(stat.substr(end + 2));
  if (words.size() < 13) return std::nullopt;
  const auto user = number_in(words[11]), system = number_in(words[12]);
  if (!user || !system) return std::nullopt;
  return static_cast<double>(*user + *system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

std::string without_end(std::string text) {
  while (text.ends_with('\n') || text.ends_with(' ')) text.pop_back();
  return text;
}

double share_of(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

class Findings {
 public:
  void problem(std::string what, std::string remedy) {
    found_.push_back({std::move(what), std::move(remedy), true});
  }
  void note(std::string what, std::string remedy) {
    found_.push_back({std::move(what), std::move(remedy), false});
  }
  std::vector<Finding> take() { return std::move(found_); }

 private:
  std::vector<Finding> found_;
};

void judge_limits(Findings& found, const ProcessFacts& before, const ProcessFacts& now) {
  if (now.files_open && now.files_max &&
      share_of(*now.files_open, *now.files_max) > files_share_max) {
    found.problem(
        fmt::format("{} of {} file descriptors are open", *now.files_open, *now.files_max),
        "raise LimitNOFILE= of the unit (ulimit -n), or lower http.connections_max");
  }
  if (now.somaxconn && *now.somaxconn < somaxconn_min) {
    found.problem(fmt::format("net.core.somaxconn is {}: the queue of connections to be accepted "
                              "is short",
                              *now.somaxconn),
                  fmt::format("sysctl -w net.core.somaxconn={}", somaxconn_min));
  }
  if (before.listen_overflows && now.listen_overflows &&
      *now.listen_overflows > *before.listen_overflows) {
    found.problem(fmt::format("connections are dropped because a queue of a listener is full "
                              "(ListenOverflows rose by {})",
                              *now.listen_overflows - *before.listen_overflows),
                  "look for a reactor that is held up (katana top); otherwise give the program "
                  "more reactors (http.reactors), and raise net.core.somaxconn");
  } else if (now.listen_overflows && *now.listen_overflows > 0) {
    found.note(fmt::format("connections were dropped since the machine's start, because a queue "
                           "of a listener was full (ListenOverflows {})",
                           *now.listen_overflows),
               "compare with the next run; if it rises, raise net.core.somaxconn");
  }
}

void judge_group(Findings& found, const ProcessFacts& before, const ProcessFacts& now) {
  if (before.periods && now.periods && before.periods_throttled && now.periods_throttled) {
    const std::int64_t throttled = *now.periods_throttled - *before.periods_throttled;
    if (share_of(throttled, *now.periods - *before.periods) > throttled_share_max) {
      found.problem(fmt::format("the control group throttles its CPU time: {} of {} periods",
                                throttled, *now.periods - *before.periods),
                    "raise its CPU limit (CPUQuota=, resources.limits.cpu), or set http.reactors "
                    "to the number of CPUs that it may use");
    }
  }
  if (now.memory_bytes && now.memory_max_bytes &&
      share_of(*now.memory_bytes, *now.memory_max_bytes) > memory_share_max) {
    found.problem(fmt::format("the control group uses {} of {} MiB of memory",
                              *now.memory_bytes >> 20, *now.memory_max_bytes >> 20),
                  "look for the holder (katana top), or raise its limit: the kernel ends the "
                  "program at the limit");
  }
}

void judge_machine(Findings& found, const ProcessFacts& now) {
  if (now.huge_pages == "always") {
    found.note(
        "transparent huge pages are 'always': memory grows in steps of 2 MiB, and the "
        "kernel stops threads to compact it",
        "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
  }
  if (now.clock_source == "hpet" || now.clock_source == "acpi_pm" ||
      now.clock_source == "refined-jiffies") {
    found.problem(fmt::format("the clock source is {}: each reading of the clock is a slow call",
                              now.clock_source),
                  "see 'dmesg | grep -i clocksource' for why the kernel gave up tsc; a virtual "
                  "machine needs kvm-clock or an invariant tsc");
  }
}

void judge_reactors(Findings& found, const app::StateDocument& state) {
  for (const app::ReactorEntry& each : state.reactors) {
    if (each.answered && each.busy_ms < busy_ms_max) continue;
    const std::string on = each.busy_with.empty() ? "" : ", on " + each.busy_with;
    found.problem(fmt::format("reactor {} does not answer: its turn lasts {} ms{}", each.number,
                              each.busy_ms, on),
                  "move what blocks or computes to a pool (co_await pool.run(…)); docs: 'Debug a "
                  "service'");
  }
}

void judge_work(Findings& found, const app::StateDocument& state) {
  if (!state.requests_listed) {
    found.note("requests in flight are not listed: they have no ids", "set requests.ids: true");
  } else if (!state.requests.empty() && state.requests[0].age_ms > request_ms_max &&
             state.requests[0].state != "replying") {
    const app::RequestEntry& each = state.requests[0];
    found.problem(fmt::format("a request for {} {} is {} s old", each.method, each.route,
                              each.age_ms / 1'000),
                  "see what it waits for in /operations/statements and the log, by its id " +
                      each.request_id);
  }
  for (const app::StatementEntry& each : state.statements) {
    if (each.age_ms < statement_ms_max || each.state != "running") continue;
    found.problem(
        fmt::format("the statement '{}' runs for {} s", each.statement, each.age_ms / 1'000),
        "look at its plan (EXPLAIN) and at locks; docs: 'Find a slow request'");
    break;
  }
  for (const app::PoolEntry& each : state.pools) {
    if (each.queued == 0 || each.threads_parked > 0) continue;
    found.problem(fmt::format("{} jobs wait for the {} threads of the pool '{}'", each.queued,
                              each.threads, each.name),
                  fmt::format("give it more threads (pools.{}.threads_max), or find the jobs that "
                              "take long",
                              each.name));
  }
  for (const app::JobEntry& each : state.jobs) {
    if (!each.overdue) continue;
    found.problem(fmt::format("the job '{}' is overdue{}", each.name,
                              each.last_failure.empty() ? "" : ": " + each.last_failure),
                  "see the log of its last run");
  }
  for (const app::QueueEntry& each : state.queues) {
    if (each.dead == 0) continue;
    found.problem(fmt::format("the queue '{}' has {} dead letters", each.queue, each.dead),
                  "katana queue list, then retry or discard them");
  }
}

void judge_stores(Findings& found, const app::StateDocument& state) {
  if (state.database && !state.database->usable) {
    found.problem("the database is not usable: " + state.database->problem,
                  "see its server; the program connects again as soon as it can");
  } else if (state.database && state.database->connections > 0 &&
             state.database->connections_busy >= state.database->connections &&
             state.database->reads_waiting + state.database->writes_waiting > 0) {
    found.problem(fmt::format("all {} connections to the database are busy, and {} calls wait",
                              state.database->connections,
                              state.database->reads_waiting + state.database->writes_waiting),
                  "look for slow statements (katana top), before you raise the number of "
                  "connections");
  }
  for (const app::MemoryEntry& each : state.memory) {
    if (share_of(each.used_bytes, each.limit_bytes) <= memory_share_max) continue;
    // Pools of connections and input are as large as http.connections_max needs.
    found.problem(fmt::format("{} uses {} of {} KiB", each.holder, each.used_bytes >> 10,
                              each.limit_bytes >> 10),
                  "see docs: 'Memory and limits'; /operations/connections shows who holds it");
  }
}

}  // namespace

ProcessFacts read_process_facts(std::int64_t pid, const std::string& root) {
  const std::string own = fmt::format("{}proc/{}/", root, pid);
  ProcessFacts facts;
  std::error_code failure;
  std::filesystem::directory_iterator files(own + "fd", failure);
  if (!failure) facts.files_open = std::distance(std::filesystem::begin(files), {});
  facts.files_max = number_after(text_of(own + "limits"), "Max open files");
  facts.threads = number_after(text_of(own + "status"), "Threads:");
  facts.cpu_seconds = cpu_seconds(text_of(own + "stat"));
  facts.somaxconn = number_in(text_of(root + "proc/sys/net/core/somaxconn"));
  facts.listen_overflows = listen_overflows(text_of(own + "net/netstat"));
  facts.huge_pages = chosen_in(text_of(root + "sys/kernel/mm/transparent_hugepage/enabled"));
  facts.clock_source = without_end(
      text_of(root + "sys/devices/system/clocksource/clocksource0/current_clocksource"));
  const std::string group = group_folder(root, text_of(own + "cgroup"));
  if (group.empty()) return facts;
  const std::string cpu = text_of(group + "cpu.stat");
  facts.periods = number_after(cpu, "nr_periods");
  facts.periods_throttled = number_after(cpu, "nr_throttled");
  facts.memory_bytes = number_in(text_of(group + "memory.current"));
  facts.memory_max_bytes = number_in(text_of(group + "memory.max"));
  return facts;
}

std::vector<Finding> judge_process(const ProcessFacts& before, const ProcessFacts& now,
                                   double seconds) {
  Findings found;
  judge_limits(found, before, now);
  judge_group(found, before, now);
  if (before.cpu_seconds && now.cpu_seconds && now.threads && seconds > 0) {
    const double cpus = (*now.cpu_seconds - *before.cpu_seconds) / seconds;
    if (cpus > 0.95) {
      found.note(fmt::format("the process uses {:.1f} CPUs", cpus),
                 "with little traffic something spins: katana top names the reactor and its "
                 "route");
    }
  }
  judge_machine(found, now);
  return found.take();
}

std::vector<Finding> judge_state(const app::StateDocument& state, std::string_view metrics) {
  Findings found;
  judge_reactors(found, state);
  judge_work(found, state);
  judge_stores(found, state);
  for (const std::string& each : state.insecure) {
    const std::size_t cut = each.rfind("; ");
    found.problem("insecure: " + each.substr(0, cut),
                  cut != std::string::npos ? each.substr(cut + 2) : "see docs: 'Configuration'");
  }
  for (const Sample& each : read_samples(metrics, "katana_crash_reports")) {
    if (each.value <= 0) continue;
    found.problem(fmt::format("there are {:.0f} crash reports", each.value),
                  "katana crash FILE prints one; they are in the folder of the log");
  }
  return found.take();
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
