#include "katana_tool/doctor_command.hpp"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/command_line.hpp"
#include "katana/data/container/json_read.hpp"
#include "katana_tool/live/fetch.hpp"
#include "katana_tool/live/findings.hpp"

namespace katana::tool {
namespace {

struct DoctorFlags {
  std::string target;
  std::string token_file;
};

int fail_doctor(int status, std::string_view message) {
  return command_line::fail("katana doctor", status, message);
}

std::optional<std::int64_t> pid_in(std::string_view target) {
  std::int64_t pid = 0;
  const auto read = std::from_chars(target.data(), target.data() + target.size(), pid);
  if (read.ec != std::errc() || read.ptr != target.data() + target.size()) return std::nullopt;
  return pid;
}

bool is_here(std::string_view url) {
  return url.contains("://127.") || url.contains("://localhost") || url.contains("://[::1]");
}

bool exists(std::int64_t pid) {
  std::error_code failure;
  return std::filesystem::exists(fmt::format("/proc/{}", pid), failure);
}

int print(std::vector<Finding> findings, std::string_view of) {
  std::ranges::partition(findings, &Finding::is_problem);
  for (const Finding& each : findings) {
    fmt::print("{}: {}\n  remedy: {}\n", each.is_problem ? "problem" : "note", each.what,
               each.remedy);
  }
  const auto problems = std::ranges::count(findings, true, &Finding::is_problem);
  fmt::print("{}: {} {}, {} {}\n", of, problems, problems == 1 ? "problem" : "problems",
             static_cast<std::ptrdiff_t>(findings.size()) - problems,
             static_cast<std::ptrdiff_t>(findings.size()) - problems == 1 ? "note" : "notes");
  if (std::fflush(stdout) != 0) return fail_doctor(1, "cannot write to standard output");
  return problems == 0 ? 0 : 1;
}

// Watches the process for a second.
std::vector<Finding> findings_of_process(std::int64_t pid) {
  const ProcessFacts before = read_process_facts(pid);
  const timespec second{.tv_sec = 1, .tv_nsec = 0};
  ::nanosleep(&second, nullptr);
  return judge_process(before, read_process_facts(pid), 1);
}

int look_at_process(std::int64_t pid) {
  if (pid <= 0 || !exists(pid)) return fail_doctor(1, fmt::format("there is no process {}", pid));
  return print(findings_of_process(pid), fmt::format("process {}", pid));
}

int look_at_program(const DoctorFlags& flags) {
  const auto fetcher = Fetcher::with_token_file(flags.target, flags.token_file);
  if (!fetcher) return fail_doctor(2, fetcher.error().describe());
  const auto text = (*fetcher)->get("/operations/state");
  if (!text) return fail_doctor(1, text.error().describe());
  const auto metrics = (*fetcher)->get("/metrics");
  if (!metrics) return fail_doctor(1, metrics.error().describe());
  app::StateDocument state;
  container::Findings mistakes;
  if (!container::read_json(Bytes(*text), state, mistakes)) {
    return fail_doctor(1, (*fetcher)->url() +
                              "/operations/state is not as expected: is the program of the "
                              "version of this tool?");
  }
  std::vector<Finding> findings = judge_state(state, *metrics);
  if (is_here((*fetcher)->url()) && exists(state.pid)) {
    for (Finding& each : findings_of_process(state.pid)) findings.push_back(std::move(each));
  }
  return print(std::move(findings), fmt::format("{} {}", state.program, (*fetcher)->url()));
}

int run(const DoctorFlags& flags) {
  const auto pid = pid_in(flags.target);
  return pid ? look_at_process(*pid) : look_at_program(flags);
}

}  // namespace

void add_doctor_command(CLI::App& app, std::function<int()>& chosen) {
  auto flags = std::make_shared<DoctorFlags>();
  CLI::App* const command = app.add_subcommand(
      "doctor", "Say what is wrong with a running program, and what to do about it.");
  command
      ->add_option("TARGET", flags->target,
                   "URL of the program or its operations listener, or the id of its process")
      ->type_name("URL|PID")
      ->required();
  command->add_option("--token-file", flags->token_file, "file with operations.token")
      ->type_name("FILE");
  command->callback([flags, &chosen] { chosen = [flags] { return run(*flags); }; });
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
