#include "lab/load/json_report.hpp"

#include <algorithm>

#include "lab/load/json_writer.hpp"

namespace katana::load {
namespace {

double us(double ns) { return ns / 1e3; }
double us(std::int64_t ns) { return us(static_cast<double>(ns)); }

void write_histogram(JsonWriter& json, std::string_view key, const Histogram& histogram) {
  json.begin_object(key);
  json.number("p50", us(histogram.percentile_ns(50)));
  json.number("p75", us(histogram.percentile_ns(75)));
  json.number("p90", us(histogram.percentile_ns(90)));
  json.number("p99", us(histogram.percentile_ns(99)));
  json.number("p999", us(histogram.percentile_ns(99.9)));
  json.number("p9999", us(histogram.percentile_ns(99.99)));
  json.number("max", us(std::max<std::int64_t>(0, histogram.max_ns())));
  json.number("min", us(histogram.min_ns()));
  json.number("mean", us(histogram.mean_ns()));
  json.number("stddev", us(histogram.deviation_ns()));
  json.integer("samples", histogram.count());
  json.end_object();
}

void write_parameters(JsonWriter& json, const ReportInput& input) {
  const LoadPlan& plan = input.plan;
  const auto seconds_of = [](Duration duration) { return static_cast<double>(duration.ns) / 1e9; };
  json.begin_object("parameters");
  json.text("url", input.url);
  json.text("method", input.method);
  json.integer("urls", input.target.requests.size());
  const bool is_tls = input.target.url.tls;
  json.text("protocol", plan.websocket ? "websocket"
                        : !plan.http2  ? "http/1.1"
                        : is_tls       ? "h2"
                                       : "h2c");
  json.boolean("tls", is_tls);
  if (is_tls) json.boolean("tls_resume", plan.tls_resume);
  json.text("loop", plan.is_open_loop() ? "open" : "closed");
  json.integer("threads", plan.threads);
  json.integer("connections", plan.connections);
  json.boolean("connection_ramp", !plan.connection_ramp.empty());
  json.integer(plan.http2 ? "streams" : "pipeline", plan.pipeline);
  json.integer("requests_per_connection", plan.requests_per_connection);
  json.integer("requests_max", plan.requests_max);
  json.number("duration_s", seconds_of(plan.duration));
  json.number("warmup_s", seconds_of(plan.warm_up));
  if (plan.is_open_loop()) {
    const Instant begin{plan.warm_up.ns};
    const Instant end{plan.rates.duration().ns};
    const double due = plan.rates.count_until(end) - plan.rates.count_until(begin);
    json.number("rate_per_s", due / std::max(1e-9, seconds_of(end - begin)));
    json.text("arrivals", plan.poisson ? "poisson" : "constant");
    json.integer("burst", plan.burst);
    json.integer("seed", plan.seed);
    json.number("busy_tail_us", us(plan.busy_tail.ns));
    json.number("send_lag_limit_us", us(plan.send_lag_max.ns));
  }
  json.number("timeout_s", seconds_of(plan.timeout));
  json.number("connect_timeout_s", seconds_of(plan.connect_timeout));
  json.boolean("pinned", plan.pin);
  json.end_object();
}

void write_failures(JsonWriter& json, const Counts& counts) {
  json.begin_object("errors");
  for (std::size_t index = 0; index < failure_count; ++index) {
    json.integer(failure_names[index], counts.failures[index]);
  }
  json.integer("total", counts.all_failures());
  json.end_object();
}

void write_statuses(JsonWriter& json, const Counts& counts) {
  json.begin_object("statuses");
  for (std::size_t status = 0; status < counts.statuses.size(); ++status) {
    if (counts.statuses[status] == 0) continue;
    json.integer(std::to_string(status), counts.statuses[status]);
  }
  json.end_object();
}

void write_generator(JsonWriter& json, const ReportInput& input) {
  const RunResult& result = input.result;
  std::int64_t stall_max_ns = 0;
  json.begin_object("generator");
  json.number("cpu_share", input.verdict.cpu_share, 4);
  json.number("wait_share", input.verdict.wait_share, 4);
  json.boolean("saturated", input.verdict.saturated);
  write_histogram(json, "send_lag_us", result.total.send_lag);
  write_histogram(json, "receive_lag_us", result.total.receive_lag);
  json.begin_array("threads");
  for (const OwnFigures& own : result.threads) {
    stall_max_ns = std::max(stall_max_ns, own.stall_max_ns);
    json.begin_object();
    json.number("wall_s", static_cast<double>(own.wall_ns) / 1e9, 6);
    json.number("cpu_s", static_cast<double>(own.cpu_ns) / 1e9, 6);
    json.number("spun_s", static_cast<double>(own.spun_ns) / 1e9, 6);
    json.number("wait_s", static_cast<double>(own.run_delay_ns) / 1e9, 6);
    json.integer("stalls", own.stalls);
    json.number("stalled_s", static_cast<double>(own.stalled_ns) / 1e9, 6);
    json.end_object();
  }
  json.end_array();
  json.number("stall_max_us", us(stall_max_ns));
  json.integer("memory_bytes_max", result.memory_bytes_max);
  json.integer("rss_kib_max", result.rss_kib_max);
  json.end_object();
}

void write_series(JsonWriter& json, const RunResult& result) {
  json.begin_array("intervals");
  for (const IntervalFigures& row : result.series) {
    json.begin_object();
    json.number("begin_s", row.begin_s);
    json.number("duration_s", row.duration_s);
    json.boolean("warmup", row.warm_up);
    json.integer("requests", row.requests);
    json.number("rate_per_s",
                row.duration_s > 0 ? static_cast<double>(row.requests) / row.duration_s : 0);
    json.integer("errors", row.failures);
    json.integer("bytes", row.bytes_received);
    json.number("p50_us", us(row.p50_ns));
    json.number("p99_us", us(row.p99_ns));
    json.number("max_us", us(row.max_ns));
    json.integer("connections", row.open);
    json.integer("in_flight", row.in_flight);
    json.end_object();
  }
  json.end_array();
}

void write_sentences(JsonWriter& json, std::string_view key, const std::vector<std::string>& all) {
  json.begin_array(key);
  for (const std::string& sentence : all) json.text({}, sentence);
  json.end_array();
}

void write_tls(JsonWriter& json, const RunResult& result, double duration_s) {
  const Counts& counts = result.total.counts;
  json.begin_object("tls");
  json.text("agreed", result.tls_agreed);
  json.text("problem", result.tls_problem);
  json.integer("handshakes", counts.handshakes);
  json.integer("full", counts.handshakes - counts.resumed);
  json.integer("resumed", counts.resumed);
  json.number("handshakes_per_s", static_cast<double>(counts.handshakes_in_window) / duration_s);
  write_histogram(json, "handshake_us", result.total.handshake);
  json.end_object();
}

void write_schedule(JsonWriter& json, const RunResult& result) {
  std::uint64_t unsent = 0;
  std::uint64_t held_back = 0;
  for (const OwnFigures& own : result.threads) {
    unsent += own.unsent;
    held_back += own.held_back;
  }
  json.begin_object("schedule");
  json.integer("due", result.total.counts.sent + unsent);
  json.integer("unsent", unsent);
  json.integer("held_back", held_back);
  json.end_object();
}

}  // namespace

std::string write_json(const ReportInput& input) {
  const RunResult& result = input.result;
  const Counts& counts = result.total.counts;
  const double duration_s = std::max(1e-9, result.duration_s);
  std::uint64_t in_flight = 0;
  for (const OwnFigures& own : result.threads) in_flight += own.in_flight_at_end;
  JsonWriter json;
  json.begin_object();
  json.text("program", "katana-load");
  json.text("version", KATANA_VERSION);
  json.integer("schema", 1);
  write_parameters(json, input);
  json.number("began_epoch_s", result.began_epoch_s);
  json.number("duration_s", result.duration_s, 6);
  json.integer("requests", counts.requests);
  json.number("rate_per_s", static_cast<double>(counts.completions) / duration_s);
  json.integer("sent", counts.sent);
  json.integer("in_flight_at_end", in_flight);
  json.integer("warmup_requests", counts.warm_up);
  json.integer("bytes", counts.bytes_received);
  json.integer("bytes_sent", counts.bytes_sent);
  json.integer("content_bytes", counts.content_bytes);
  write_histogram(json, "latency_us", result.total.latency);
  write_failures(json, counts);
  write_statuses(json, counts);
  json.integer("interim_replies", counts.interims);
  json.begin_object("connections");
  json.integer("opened", counts.connects);
  json.integer("closed_idle", counts.closed_idle);
  write_histogram(json, "connect_us", result.total.connect);
  json.end_object();
  if (input.target.url.tls) write_tls(json, result, duration_s);
  if (input.plan.is_open_loop()) write_schedule(json, result);
  write_generator(json, input);
  json.boolean("void", input.verdict.is_void());
  write_sentences(json, "void_reasons", input.verdict.void_reasons);
  write_sentences(json, "notes", input.verdict.notes);
  json.boolean("interrupted", result.interrupted);
  write_series(json, result);
  json.end_object();
  return json.take();
}

}  // namespace katana::load
