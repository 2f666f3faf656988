#include "lab/load/benchmark/report.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <thread>

#include "lab/load/summary.hpp"
#include "lab/load/verdict.hpp"

namespace katana::load {
namespace {

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const auto colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

std::string head(const ReportContext& context) {
  utsname system{};
  uname(&system);
  const std::time_t now = std::time(nullptr);
  std::string text = fmt::format("# Benchmark of {}\n\n", context.url);
  text += fmt::format("`{}`, {:%Y-%m-%d %H:%M} UTC, took {:.0f} s.\n\n", context.command,
                      fmt::gmtime(now), context.took_s);
  text += fmt::format("- machine: {} CPUs, {}, {} {}\n", std::thread::hardware_concurrency(),
                      cpu_model(), system.sysname, system.release);
  text += fmt::format("- server: {}{}\n", context.server,
                      context.server_rss_mib > 0
                          ? fmt::format(", {:.1f} MiB resident at the end", context.server_rss_mib)
                          : std::string());
  text += fmt::format("- generator: katana-load {} in this process, {} {}\n", KATANA_VERSION,
                      context.threads, context.threads == 1 ? "thread" : "threads");
  return text;
}

std::string row_of(const Section& section, const Row& row) {
  const std::string server = row.server_us < 0 ? "n/a"
                                               : fmt::format("{:.2f} us | {:.0f} %", row.server_us,
                                                             100 * row.server_share);
  const std::string errors = row.errors == 0 ? "0" : row.error_text;
  const double rate = section.counts_connections ? row.connects_per_s : row.rate_per_s;
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {}{} | {:.0f} % | {} |\n",
                     row.label, short_count(rate), short_duration(row.p50_ns),
                     short_duration(row.p90_ns), short_duration(row.p99_ns),
                     short_duration(row.p999_ns), short_duration(row.max_ns), row.samples, errors,
                     server, row.server_us < 0 ? " | n/a" : "", 100 * row.generator_share,
                     row.remark);
}

std::string table(const Section& section) {
  std::string text = fmt::format("\n## {}\n\n{}\n\n", section.title, section.question);
  text += fmt::format(
      "| load | {} | p50 | p90 | p99 | p99.9 | max | n | errors | server CPU per request | server "
      "CPU | generator CPU | remark |\n",
      section.counts_connections ? "connections/s" : "requests/s");
  text += "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|\n";
  for (const Row& row : section.rows) text += row_of(section, row);
  return text;
}

struct Tally {
  std::size_t rows = 0;
  std::size_t voids = 0;
  std::size_t saturated = 0;
  std::uint64_t errors = 0;
  std::uint64_t samples = 0;
  double server_share_max = -1;
  double others_max = 0;
};

Tally tally_of(const std::vector<Section>& sections) {
  Tally tally;
  for (const Section& section : sections) {
    for (const Row& row : section.rows) {
      ++tally.rows;
      tally.voids += row.void_reasons.empty() ? 0 : 1;
      tally.saturated += row.saturated ? 1 : 0;
      tally.errors += row.errors;
      tally.samples += row.samples;
      tally.server_share_max = std::max(tally.server_share_max, row.server_share);
      tally.others_max = std::max(tally.others_max, row.others);
    }
  }
  return tally;
}

// What an expert asks first: how far may one believe it?
std::string limits(const std::vector<Section>& sections) {
  const Tally tally = tally_of(sections);
  std::string text = "\n## What limits these figures\n\n";
  text += fmt::format("- {} replies were measured, {} requests or connections failed.\n",
                      tally.samples, tally.errors);
  text += fmt::format("- {} of {} rows are void: the generator did not keep its schedule there.\n",
                      tally.voids, tally.rows);
  text += fmt::format(
      "- In {} of {} rows the generator used, or waited for, more than {:.0f} % of a CPU: rates of "
      "closed loops are lower bounds there.\n",
      tally.saturated, tally.rows, 100 * Verdict::busy_share_max);
  if (tally.server_share_max >= 0) {
    text += fmt::format(
        "- The server used at most {:.2f} CPUs, other programs up to {:.2f}: what they take, "
        "server and generator wait for.\n",
        tally.server_share_max, tally.others_max);
  } else {
    text += "- The server's CPU is unknown: no process that this user may look at listens there.\n";
  }
  text +=
      "- Server and generator ran on one machine and shared its CPUs, caches and memory; the "
      "network was the loopback if the address is local.\n"
      "- Latency of open loops counts from the instant at which the request was to be sent. That "
      "of closed loops counts from the instant at which it was, and hides what a stall does to "
      "others.\n"
      "- One run of each load, a few seconds long: compare two servers only by interleaved runs "
      "(`lab/cost.py`).\n";
  return text;
}

}  // namespace

std::string write_report(const ReportContext& context, const std::vector<Section>& sections) {
  std::string text = head(context);
  for (const Section& section : sections) text += table(section);
  return text + limits(sections);
}

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
