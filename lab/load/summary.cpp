#include "lab/load/summary.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace katana::load {
namespace {

std::string latency_line(const Histogram& latency) {
  std::string line = "latency     ";
  constexpr std::pair<const char*, double> columns[] = {
      {"p50", 50}, {"p90", 90}, {"p99", 99}, {"p99.9", 99.9}};
  for (const auto& [name, percent] : columns) {
    line += fmt::format("{} {}   ", name, short_duration(latency.percentile_ns(percent)));
  }
  return line + fmt::format("max {}   (n = {})\n",
                            short_duration(std::max<std::int64_t>(0, latency.max_ns())),
                            latency.count());
}

std::string error_line(const Counts& counts) {
  if (counts.all_failures() == 0) return "errors      none\n";
  std::string line = fmt::format("errors      {}:", counts.all_failures());
  for (std::size_t index = 0; index < failure_count; ++index) {
    if (counts.failures[index] == 0) continue;
    line += fmt::format(" {} {}", failure_names[index], counts.failures[index]);
  }
  return line + "\n";
}

std::string status_line(const Counts& counts) {
  std::string line = "statuses   ";
  for (std::size_t status = 0; status < counts.statuses.size(); ++status) {
    if (counts.statuses[status] > 0)
      line += fmt::format(" {}: {}", status, counts.statuses[status]);
  }
  return line + "\n";
}

std::string tls_line(const RunResult& result, double duration_s) {
  const Counts& counts = result.total.counts;
  if (counts.handshakes == 0) return {};
  const Histogram& handshake = result.total.handshake;
  return fmt::format(
      "TLS         {}: {} handshakes, {} of them resumed, {} per second, p50 {}, "
      "p99 {}\n",
      result.tls_agreed, counts.handshakes, counts.resumed,
      short_count(static_cast<double>(counts.handshakes_in_window) / duration_s),
      short_duration(handshake.percentile_ns(50)), short_duration(handshake.percentile_ns(99)));
}

}  // namespace

std::string short_duration(std::int64_t ns) {
  const auto value = static_cast<double>(ns);
  if (value < 1e3) return fmt::format("{} ns", ns);
  if (value < 1e6) return fmt::format("{:.4g} us", value / 1e3);
  if (value < 1e9) return fmt::format("{:.4g} ms", value / 1e6);
  return fmt::format("{:.4g} s", value / 1e9);
}

std::string short_count(double count) {
  if (count < 1e4) return fmt::format("{:.4g}", count);
  if (count < 1e6) return fmt::format("{:.4g} k", count / 1e3);
  return fmt::format("{:.4g} M", count / 1e6);
}

std::string short_bytes(double bytes) {
  if (bytes < 1024) return fmt::format("{:.0f} B", bytes);
  if (bytes < 1024 * 1024) return fmt::format("{:.1f} KiB", bytes / 1024);
  if (bytes < 1024 * 1024 * 1024) return fmt::format("{:.1f} MiB", bytes / 1024 / 1024);
  return fmt::format("{:.2f} GiB", bytes / 1024 / 1024 / 1024);
}

std::string summary(const ReportInput& input) {
  const RunResult& result = input.result;
  const Counts& counts = result.total.counts;
  const LoadPlan& plan = input.plan;
  const double duration_s = std::max(1e-9, result.duration_s);
  const Histogram& lag = plan.is_open_loop() ? result.total.send_lag : result.total.receive_lag;
  const std::string protocol = plan.http2       ? fmt::format(" of {} streams", plan.pipeline)
                               : plan.websocket ? " of WebSocket"
                                                : "";
  std::string text =
      fmt::format("{} {}: {} loop, {} threads, {} connections{}{}\n", input.method, input.url,
                  plan.is_open_loop() ? "open" : "closed", plan.threads, plan.connections, protocol,
                  result.interrupted ? ", interrupted" : "");
  text += fmt::format("requests    {} in {:.2f} s: {} per second, {} per second received\n",
                      counts.requests, result.duration_s,
                      short_count(static_cast<double>(counts.completions) / duration_s),
                      short_bytes(static_cast<double>(counts.bytes_received) / duration_s));
  text += latency_line(result.total.latency);
  text += tls_line(result, duration_s);
  if (!plan.websocket) text += status_line(counts);
  text += error_line(counts);
  text += fmt::format("generator   CPU {:.0f} %, {} lag p50 {}, p99 {}, max {}\n",
                      100 * input.verdict.cpu_share, plan.is_open_loop() ? "send" : "receive",
                      short_duration(lag.percentile_ns(50)), short_duration(lag.percentile_ns(99)),
                      short_duration(std::max<std::int64_t>(0, lag.max_ns())));
  for (const std::string& note : input.verdict.notes) text += "note        " + note + "\n";
  for (const std::string& reason : input.verdict.void_reasons) {
    text += "VOID        " + reason + "\n";
  }
  return text;
}

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
