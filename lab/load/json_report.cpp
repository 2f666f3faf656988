#include "lab/load/json_report.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace katana::load {
namespace {

double us(double ns) { return rounded(ns / 1e3); }
double us(std::int64_t ns) { return us(static_cast<double>(ns)); }
double seconds_of(Duration duration) { return rounded(static_cast<double>(duration.ns) / 1e9); }
double seconds_of(std::int64_t ns) { return rounded(static_cast<double>(ns) / 1e9, 6); }

Json parameters_of(const ReportInput& input) {
  const LoadPlan& plan = input.plan;
  const bool is_tls = input.target.url.tls;
  Json json = {
      {"url", input.url},
      {"method", input.method},
      {"urls", input.target.requests.size()},
      {"protocol", plan.websocket ? "websocket"
                   : !plan.http2  ? "http/1.1"
                   : is_tls       ? "h2"
                                  : "h2c"},
      {"tls", is_tls},
  };
  if (is_tls) json["tls_resume"] = plan.tls_resume;
  json.update({{"loop", plan.is_open_loop() ? "open" : "closed"},
               {"threads", plan.threads},
               {"connections", plan.connections},
               {"connection_ramp", !plan.connection_ramp.empty()},
               {plan.http2 ? "streams" : "pipeline", plan.pipeline},
               {"requests_per_connection", plan.requests_per_connection},
               {"requests_max", plan.requests_max},
               {"duration_s", seconds_of(plan.duration)},
               {"warmup_s", seconds_of(plan.warm_up)}});
  if (plan.is_open_loop()) {
    const Instant begin{plan.warm_up.ns};
    const Instant end{plan.rates.duration().ns};
    const double due = plan.rates.count_until(end) - plan.rates.count_until(begin);
    json.update({{"rate_per_s", rounded(due / std::max(1e-9, seconds_of(end - begin)))},
                 {"arrivals", plan.poisson ? "poisson" : "constant"},
                 {"burst", plan.burst},
                 {"seed", plan.seed},
                 {"busy_tail_us", us(plan.busy_tail.ns)},
                 {"send_lag_limit_us", us(plan.send_lag_max.ns)}});
  }
  json.update({{"timeout_s", seconds_of(plan.timeout)},
               {"connect_timeout_s", seconds_of(plan.connect_timeout)},
               {"pinned", plan.pin}});
  return json;
}

Json failures_of(const Counts& counts) {
  Json json;
  for (std::size_t index = 0; index < failure_count; ++index) {
    json[std::string(failure_names[index])] = counts.failures[index];
  }
  json["total"] = counts.all_failures();
  return json;
}

Json statuses_of(const Counts& counts) {
  Json json = Json::object();
  for (std::size_t status = 0; status < counts.statuses.size(); ++status) {
    if (counts.statuses[status] > 0) json[std::to_string(status)] = counts.statuses[status];
  }
  return json;
}

Json generator_of(const ReportInput& input) {
  const RunResult& result = input.result;
  std::int64_t stall_max_ns = 0;
  Json threads = Json::array();
  for (const OwnStatistics& own : result.threads) {
    stall_max_ns = std::max(stall_max_ns, own.stall_max_ns);
    threads.push_back({{"wall_s", seconds_of(own.wall_ns)},
                       {"cpu_s", seconds_of(own.cpu_ns)},
                       {"spun_s", seconds_of(own.spun_ns)},
                       {"wait_s", seconds_of(own.run_delay_ns)},
                       {"stalls", own.stalls},
                       {"stalled_s", seconds_of(own.stalled_ns)}});
  }
  return {{"cpu_share", rounded(input.verdict.cpu_share, 4)},
          {"wait_share", rounded(input.verdict.wait_share, 4)},
          {"saturated", input.verdict.saturated},
          {"send_lag_us", times_of(result.total.send_lag)},
          {"receive_lag_us", times_of(result.total.receive_lag)},
          {"threads", std::move(threads)},
          {"stall_max_us", us(stall_max_ns)},
          {"memory_bytes_max", result.memory_bytes_max},
          {"rss_kib_max", result.rss_kib_max}};
}

Json series_of(const RunResult& result) {
  Json json = Json::array();
  for (const IntervalStatistics& row : result.series) {
    const double rate = row.duration_s > 0 ? static_cast<double>(row.requests) / row.duration_s : 0;
    json.push_back({{"begin_s", rounded(row.begin_s)},
                    {"duration_s", rounded(row.duration_s)},
                    {"warmup", row.warm_up},
                    {"requests", row.requests},
                    {"rate_per_s", rounded(rate)},
                    {"errors", row.failures},
                    {"bytes", row.bytes_received},
                    {"p50_us", us(row.p50_ns)},
                    {"p99_us", us(row.p99_ns)},
                    {"max_us", us(row.max_ns)},
                    {"connections", row.open},
                    {"in_flight", row.in_flight}});
  }
  return json;
}

Json tls_of(const RunResult& result, double duration_s) {
  const Counts& counts = result.total.counts;
  return {
      {"agreed", result.tls_agreed},
      {"problem", result.tls_problem},
      {"handshakes", counts.handshakes},
      {"full", counts.handshakes - counts.resumed},
      {"resumed", counts.resumed},
      {"handshakes_per_s", rounded(static_cast<double>(counts.handshakes_in_window) / duration_s)},
      {"handshake_us", times_of(result.total.handshake)}};
}

Json schedule_of(const RunResult& result) {
  std::uint64_t unsent = 0;
  std::uint64_t held_back = 0;
  for (const OwnStatistics& own : result.threads) {
    unsent += own.unsent;
    held_back += own.held_back;
  }
  return {{"due", result.total.counts.sent + unsent}, {"unsent", unsent}, {"held_back", held_back}};
}

}  // namespace

double rounded(double value, int digits) {
  const double scale = std::pow(10, digits);
  return std::round(value * scale) / scale;
}

Json times_of(const Histogram& histogram) {
  return {{"p50", us(histogram.percentile_ns(50))},
          {"p75", us(histogram.percentile_ns(75))},
          {"p90", us(histogram.percentile_ns(90))},
          {"p99", us(histogram.percentile_ns(99))},
          {"p999", us(histogram.percentile_ns(99.9))},
          {"p9999", us(histogram.percentile_ns(99.99))},
          {"max", us(std::max<std::int64_t>(0, histogram.max_ns()))},
          {"min", us(histogram.min_ns())},
          {"mean", us(histogram.mean_ns())},
          {"stddev", us(histogram.deviation_ns())},
          {"samples", histogram.count()}};
}

std::string text_of(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string write_json(const ReportInput& input) {
  const RunResult& result = input.result;
  const Counts& counts = result.total.counts;
  const double duration_s = std::max(1e-9, result.duration_s);
  std::uint64_t in_flight = 0;
  for (const OwnStatistics& own : result.threads) in_flight += own.in_flight_at_end;
  Json json = {
      {"program", "katana-load"},
      {"version", KATANA_VERSION},
      {"schema", 1},
      {"parameters", parameters_of(input)},
      {"began_epoch_s", rounded(result.began_epoch_s)},
      {"duration_s", rounded(result.duration_s, 6)},
      {"requests", counts.requests},
      {"rate_per_s", rounded(static_cast<double>(counts.completions) / duration_s)},
      {"sent", counts.sent},
      {"in_flight_at_end", in_flight},
      {"warmup_requests", counts.warm_up},
      {"bytes", counts.bytes_received},
      {"bytes_sent", counts.bytes_sent},
      {"content_bytes", counts.content_bytes},
      {"latency_us", times_of(result.total.latency)},
      {"errors", failures_of(counts)},
      {"statuses", statuses_of(counts)},
      {"interim_replies", counts.interims},
      {"connections",
       {{"opened", counts.connects},
        {"closed_idle", counts.closed_idle},
        {"connect_us", times_of(result.total.connect)}}},
  };
  if (input.target.url.tls) json["tls"] = tls_of(result, duration_s);
  if (input.plan.is_open_loop()) json["schedule"] = schedule_of(result);
  json.update({{"generator", generator_of(input)},
               {"void", input.verdict.is_void()},
               {"void_reasons", input.verdict.void_reasons},
               {"notes", input.verdict.notes},
               {"interrupted", result.interrupted},
               {"intervals", series_of(result)}});
  return text_of(json);
}

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
