#include "lab/load/benchmark/trial.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "katana/base/system/monotonic_clock.hpp"
#include "lab/load/run.hpp"
#include "lab/load/verdict.hpp"

namespace katana::load {
namespace {

constexpr double others_max = 0.1;

std::string text_of(const Counts& counts) {
  std::string text;
  for (std::size_t index = 0; index < failure_count; ++index) {
    if (counts.failures[index] == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", counts.failures[index],
                        failure_names[index]);
  }
  return text;
}

std::string remark_of(const Row& row, bool is_open_loop) {
  std::string remark;
  if (!row.void_reasons.empty()) {
    remark = "void: " + row.void_reasons.front();
  } else if (row.saturated && !is_open_loop) {
    remark = "the generator was the limit; a lower bound";
  }
  if (row.others <= others_max) return remark;
  return fmt::format("{}{}others took {:.1f} CPUs", remark, remark.empty() ? "" : "; ", row.others);
}

// The CPU seconds that all CPUs have worked for neither the server nor this program.
double others_s(double server_s) {
  return lab::machine_busy_s() - server_s - static_cast<double>(lab::own_cpu_ns()) / 1e9;
}

}  // namespace

Result<Row> measure(const Trial& trial, const Url& url, const Address& address,
                    const lab::ServerProcess& server) {
  auto requests = make_requests(url, trial.request, "");
  if (!requests) return std::unexpected(requests.error());
  const Target target{url, address, std::move(*requests)};
  const double cpu_before_s = server.cpu_s();
  const double others_before_s = others_s(cpu_before_s);
  const auto began = monotonic_now();
  auto run = run_load(trial.plan, target, nullptr);
  if (!run) return std::unexpected(run.error());
  const RunResult& result = **run;
  if (result.interrupted) return fail(Code::cancelled, "interrupted");
  const double wall_s = static_cast<double>((monotonic_now() - began).ns) / 1e9;
  const double cpu_after_s = server.cpu_s();
  const double cpu_s = cpu_after_s - cpu_before_s;
  const double others_took_s = others_s(cpu_after_s) - others_before_s;

  const Counts& counts = result.total.counts;
  const Verdict verdict = judge(trial.plan, result);
  const Histogram& latency = result.total.latency;
  const double duration_s = std::max(1e-9, result.duration_s);
  const auto all = static_cast<double>(counts.sent + counts.warm_up);
  Row row;
  row.label = trial.label;
  row.connections = trial.plan.connections;
  row.rate_per_s = static_cast<double>(counts.completions) / duration_s;
  row.connects_per_s = static_cast<double>(counts.connects) / duration_s;
  row.p50_ns = latency.percentile_ns(50);
  row.p90_ns = latency.percentile_ns(90);
  row.p99_ns = latency.percentile_ns(99);
  row.p999_ns = latency.percentile_ns(99.9);
  row.max_ns = std::max<std::int64_t>(0, latency.max_ns());
  row.samples = latency.count();
  row.errors = counts.all_failures();
  row.error_text = text_of(counts);
  if (server.is_known() && all > 0) {
    row.server_us = 1e6 * cpu_s / all;
    row.server_share = cpu_s / wall_s;
    row.others = std::max(0.0, others_took_s / wall_s);
  }
  row.generator_share = verdict.cpu_share;
  row.saturated = verdict.saturated;
  row.void_reasons = verdict.void_reasons;
  row.remark = remark_of(row, trial.plan.is_open_loop());
  return row;
}

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
