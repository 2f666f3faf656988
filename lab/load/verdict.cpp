#include "lab/load/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "katana/base/text/short_number.hpp"

namespace katana::load {
namespace {

struct Sums {
  std::int64_t wall_ns = 0;
  std::int64_t stalled_ns = 0;
  std::uint64_t unsent = 0;
  std::uint64_t held_back = 0;
  std::uint64_t in_flight = 0;
};

Sums sum_of(const RunResult& result) {
  Sums sums;
  for (const OwnStatistics& own : result.threads) {
    sums.wall_ns = std::max(sums.wall_ns, own.wall_ns);
    sums.stalled_ns = std::max(sums.stalled_ns, own.stalled_ns);
    sums.unsent += own.unsent;
    sums.held_back += own.held_back;
    sums.in_flight += own.in_flight_at_end;
  }
  return sums;
}

double ms(std::int64_t ns) { return static_cast<double>(ns) / 1e6; }

void judge_threads(const RunResult& result, Verdict& verdict) {
  for (const OwnStatistics& own : result.threads) {
    if (own.wall_ns <= 0) continue;
    const auto wall = static_cast<double>(own.wall_ns);
    const double cpu =
        static_cast<double>(std::max<std::int64_t>(0, own.cpu_ns - own.spun_ns)) / wall;
    const double waited = static_cast<double>(own.run_delay_ns) / wall;
    verdict.cpu_share = std::max(verdict.cpu_share, cpu);
    verdict.wait_share = std::max(verdict.wait_share, waited);
    if (cpu + waited > Verdict::busy_share_max) verdict.saturated = true;
  }
}

void judge_lag(const LoadPlan& plan, const RunResult& result, Verdict& verdict) {
  const Histogram& lag = result.total.send_lag;
  const std::int64_t lag_p99 = lag.percentile_ns(99);
  const std::int64_t lag_p999 = lag.percentile_ns(99.9);
  const std::int64_t latency_p999 = result.total.latency.percentile_ns(99.9);
  if (lag_p99 > plan.send_lag_max.ns) {
    verdict.void_reasons.push_back(
        fmt::format("1 % of the requests were sent {} ms or more after they could have been "
                    "(limit {} ms)",
                    short_number(ms(lag_p99), 3), short_number(ms(plan.send_lag_max.ns), 3)));
  } else if (lag_p999 > plan.send_lag_max.ns && lag_p999 > latency_p999 / 2) {
    verdict.void_reasons.push_back(
        fmt::format("the latency's tail is the generator's own: send lag p99.9 is {} ms, "
                    "latency p99.9 is {} ms",
                    short_number(ms(lag_p999), 3), short_number(ms(latency_p999), 3)));
  }
}

void judge_schedule(const LoadPlan& plan, const RunResult& result, const Sums& sums,
                    Verdict& verdict) {
  judge_lag(plan, result, verdict);
  const auto stalled = static_cast<double>(sums.stalled_ns);
  if (stalled > Verdict::stalled_share_max * static_cast<double>(sums.wall_ns)) {
    verdict.void_reasons.push_back(
        fmt::format("a thread of the generator stood still for {:.0f} ms of {:.0f} ms",
                    ms(sums.stalled_ns), ms(sums.wall_ns)));
  }
  const std::uint64_t all = result.total.counts.sent + sums.unsent;
  if (sums.unsent == 0) return;
  const auto share = static_cast<double>(sums.unsent) / static_cast<double>(all);
  std::string sentence = fmt::format("{} of {} requests were due and never sent", sums.unsent, all);
  if (verdict.saturated && share > Verdict::unsent_share_max) {
    verdict.void_reasons.push_back(sentence + ", and the generator was saturated");
  } else {
    verdict.notes.push_back(sentence +
                            ": no connection was free. The server was slower than the "
                            "rate, or there are too few connections (-c, --pipeline, --streams)");
  }
}

}  // namespace

Verdict judge(const LoadPlan& plan, const RunResult& result) {
  Verdict verdict;
  const Sums sums = sum_of(result);
  judge_threads(result, verdict);
  if (plan.is_open_loop()) judge_schedule(plan, result, sums, verdict);
  if (verdict.saturated && !plan.is_open_loop()) {
    verdict.notes.push_back(
        fmt::format("the generator was the limit (its busiest thread used {:.0f} % of a CPU and "
                    "waited {:.0f} % for one): the rate is a lower bound",
                    100 * verdict.cpu_share, 100 * verdict.wait_share));
  }
  if (sums.held_back > 0) {
    verdict.notes.push_back(fmt::format(
        "{} requests were sent late because no connection was free; their latency has that wait",
        sums.held_back));
  }
  if (sums.in_flight > 0) {
    verdict.notes.push_back(
        fmt::format("{} requests were in flight when the run was cut off", sums.in_flight));
  }
  if (!result.tls_problem.empty()) verdict.notes.push_back(result.tls_problem);
  if (result.total.counts.all_failures() > 0) {
    verdict.notes.push_back("percentiles are of the requests that were answered as expected only");
  }
  return verdict;
}

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
