// simple_benchmark: what a running server does under each kind of load, in about a minute.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>

#include "apps/command_line.hpp"
#include "katana/base/system/monotonic_clock.hpp"
#include "lab/load/benchmark/report.hpp"
#include "lab/load/benchmark/trial.hpp"
#include "lab/load/run.hpp"
#include "lab/load/summary.hpp"

namespace {

using namespace katana;
using namespace katana::load;

constexpr const char* program = "simple_benchmark";
constexpr std::uint32_t usual_connections = 64;

struct Flags {
  std::uint16_t port = 0;
  std::string report_file;
  std::string host = "127.0.0.1";
  std::string path;
  unsigned threads = 1;
  bool quick = false;
};

int fail_with(int status, std::string_view message) {
  fmt::print(stderr, "{}: {}\n", program, message);
  return status;
}

class Benchmark {
 public:
  Benchmark(const Flags& flags, Url url, Address address)
      : flags_(flags),
        url_(std::move(url)),
        address_(address),
        server_(lab::ServerProcess::listening_on(flags.port)),
        began_(monotonic_now()) {}

  Result<std::string> operator()(std::string_view command) {
    for (const auto part : {&Benchmark::throughput, &Benchmark::latency, &Benchmark::scaling,
                            &Benchmark::fan_out, &Benchmark::churn, &Benchmark::headers}) {
      if (auto done = (this->*part)(); !done) return std::unexpected(done.error());
    }
    ReportContext context;
    context.command = command;
    context.url = fmt::format("http://{}{}", url_.authority, url_.path);
    context.server = server_.name();
    context.server_rss_mib = server_.usage().rss_mib;
    context.threads = flags_.threads;
    context.took_s = static_cast<double>((monotonic_now() - began_).ns) / 1e9;
    return write_report(context, sections_);
  }

 private:
  Trial closed(std::string label, std::uint32_t connections, double time_s) const {
    Trial trial;
    trial.label = std::move(label);
    trial.plan.threads = flags_.threads;
    trial.plan.connections = std::max(connections, flags_.threads);
    const double scale = flags_.quick ? 0.1 : 1;
    trial.plan.duration = Duration{std::llround(time_s * scale * 1e9)};
    trial.plan.warm_up = Duration{std::llround(0.3 * scale * 1e9)};
    trial.plan.timeout = seconds(2);
    return trial;
  }

  Trial open(std::string label, double rate, std::uint32_t connections, double time_s) const {
    Trial trial = closed(std::move(label), connections, time_s);
    trial.plan.rates.add(Duration{trial.plan.warm_up.ns + trial.plan.duration.ns}, rate, rate);
    return trial;
  }

  Result<void> add(const Trial& trial) {
    if (isatty(STDERR_FILENO) == 1) {
      const double at_s = static_cast<double>((monotonic_now() - began_).ns) / 1e9;
      fmt::print(stderr, "\r\x1b[K{:3.0f} s  {}: {}", at_s, sections_.back().title, trial.label);
    }
    auto row = measure(trial, url_, address_, server_);
    if (!row) return std::unexpected(row.error());
    if (row->samples == 0) {
      return fail(Code::unavailable,
                  fmt::format("{}, {}: no reply as expected ({})", sections_.back().title,
                              trial.label, row->error_text));
    }
    sections_.back().rows.push_back(std::move(*row));
    return {};
  }

  Result<void> add_all(const std::vector<Trial>& trials) {
    for (const Trial& trial : trials) {
      if (auto added = add(trial); !added) return added;
    }
    return {};
  }

  Result<void> throughput() {
    sections_.push_back({"Throughput",
                         "How many requests does it answer when each connection sends the next as "
                         "soon as it has its reply? (closed loop)",
                         false,
                         {}});
    Trial pipelined = closed(fmt::format("{} connections, 16 in flight on each", usual_connections),
                             usual_connections, 3);
    pipelined.plan.pipeline = 16;
    return add_all({closed(fmt::format("{} connections", usual_connections), usual_connections, 3),
                    pipelined});
  }

  Result<void> latency() {
    const double capacity = sections_.front().rows.front().rate_per_s;
    sections_.push_back({"Core latency",
                         "How long does a request take at a constant rate, whatever the server "
                         "does meanwhile? (open loop, shares of the first rate above)",
                         false,
                         {}});
    std::vector<Trial> trials;
    for (const double share : {0.05, 0.25, 0.5}) {
      const double rate = std::max(50.0, share * capacity);
      trials.push_back(open(fmt::format("{:.0f} %, {}/s", 100 * share, short_count(rate)), rate,
                            usual_connections, 4));
    }
    return add_all(trials);
  }

  Result<void> scaling() {
    sections_.push_back({"Scaling",
                         "What do more connections bring, and what do they cost each other? "
                         "(closed loop)",
                         false,
                         {}});
    std::vector<Trial> trials;
    for (const std::uint32_t connections : {1u, 4u, 16u, 64u, 256u, 1024u}) {
      const char* noun = connections == 1 ? "connection" : "connections";
      trials.push_back(closed(fmt::format("{} {}", connections, noun), connections, 2));
    }
    return add_all(trials);
  }

  Result<void> fan_out() {
    sections_.push_back({"Fan-out",
                         "When so many clients ask at the same instant, ten times a second: how "
                         "long until the median one and the last ones have their replies? (open "
                         "loop)",
                         false,
                         {}});
    std::vector<Trial> trials;
    for (const std::uint32_t clients : {16u, 64u, 256u}) {
      Trial trial = open(fmt::format("{} at once", clients), 10.0 * clients, clients, 2.5);
      trial.plan.burst = clients / flags_.threads;
      // All are due at once, and one is sent after the other. The trial measures this wait: it is
      // not a fault of the generator.
      trial.plan.send_lag_max = milliseconds(20);
      trials.push_back(trial);
    }
    return add_all(trials);
  }

  Result<void> churn() {
    sections_.push_back({"Churn",
                         "What do new connections cost? (closed loop, 32 connections at a time, "
                         "ended after so many requests)",
                         true,
                         {}});
    std::vector<Trial> trials;
    for (const std::uint32_t requests : {1u, 10u}) {
      Trial trial = closed(fmt::format("{} per connection", requests), 32, 2.5);
      trial.plan.requests_per_connection = requests;
      trials.push_back(trial);
    }
    return add_all(trials);
  }

  Result<void> headers() {
    sections_.push_back({"Header sizes",
                         "What do the fields of a request cost? (closed loop, 64 connections)",
                         false,
                         {}});
    std::vector<Trial> trials;
    for (const auto& [name, count] : {std::pair("minimal", 0), {"medium", 8}, {"large", 40}}) {
      Trial trial = closed("", usual_connections, 2.5);
      for (int index = 0; index < count; ++index) {
        trial.request.headers.push_back(
            fmt::format("X-Benchmark-{:02}: {}", index, std::string(60, 'v')));
      }
      const auto requests = make_requests(url_, trial.request, "");
      trial.label = fmt::format("{}: Host and {} more, {} octets", name, count,
                                requests->front().octets.size());
      trials.push_back(trial);
    }
    return add_all(trials);
  }

  const Flags& flags_;
  Url url_;
  Address address_;
  lab::ServerProcess server_;
  Instant began_;
  std::vector<Section> sections_;
};

// A path that the server answers with success: the one given, or the first of the usual ones.
Result<std::string> choose_path(const Flags& flags, const Url& url, const Address& address) {
  const std::vector<std::string> candidates =
      flags.path.empty() ? std::vector<std::string>{"/plaintext", "/"} : std::vector{flags.path};
  std::string statuses;
  for (const std::string& path : candidates) {
    Url one = url;
    one.path = path;
    Target target{one, address, {}};
    auto requests = make_requests(one, {}, "");
    if (!requests) return std::unexpected(requests.error());
    target.requests = std::move(*requests);
    LoadPlan plan;
    plan.connections = 1;
    plan.requests_max = 1;
    plan.duration = plan.timeout = seconds(3);
    const auto result = run_load(plan, target, nullptr);
    if (!result) return std::unexpected(result.error());
    if ((*result)->total.counts.requests == 1) return path;
    for (std::size_t index = 0; index < failure_count; ++index) {
      if ((*result)->total.counts.failures[index] == 0) continue;
      statuses += fmt::format(", {}: {}", path, failure_names[index]);
    }
  }
  return fail(Code::unavailable,
              fmt::format("http://{} does not answer 2xx or 3xx{}", url.authority, statuses));
}

int run_benchmark(const Flags& flags, std::string_view command) {
  const bool is_v6 = flags.host.find(':') != std::string::npos;
  const std::string host = is_v6 ? "[" + flags.host + "]" : flags.host;
  auto url = parse_url(fmt::format("http://{}:{}{}", host, flags.port, flags.path));
  if (!url) return fail_with(2, url.error().describe());
  auto address = resolve(*url);
  if (!address) return fail_with(1, address.error().describe());
  auto path = choose_path(flags, *url, *address);
  if (!path) return fail_with(1, path.error().describe());
  url->path = *path;
  auto report = Benchmark(flags, *url, *address)(command);
  if (isatty(STDERR_FILENO) == 1) fmt::print(stderr, "\r\x1b[K");
  if (!report) return fail_with(1, report.error().describe());
  fmt::print("{}", *report);
  if (flags.report_file.empty()) return 0;
  std::FILE* file = std::fopen(flags.report_file.c_str(), "we");
  const bool is_whole =
      file != nullptr && std::fwrite(report->data(), 1, report->size(), file) == report->size();
  if (is_whole && std::fclose(file) == 0) return 0;
  return fail_with(1, fmt::format("{}: {}", flags.report_file, std::strerror(errno)));
}

}  // namespace

int main(int count, char** arguments) {
  CLI::App app("Measure a running HTTP server for about a minute, and print a Markdown report.",
               program);
  app.set_version_flag("--version", fmt::format("{} {}", program, KATANA_VERSION));
  Flags flags;
  app.add_option("port", flags.port, "port that the server listens on")
      ->required()
      ->check(CLI::Range(1u, 65535u));
  app.add_option("report", flags.report_file, "also write the report to this file");
  app.add_option("--host", flags.host, "name or address of the server")->capture_default_str();
  app.add_option("--path", flags.path, "path of the requests (default: /plaintext, else /)");
  app.add_option("--threads", flags.threads, "threads of the generator")
      ->check(CLI::Range(1u, 16u))
      ->capture_default_str();
  app.add_flag("--quick", flags.quick, "take a tenth of the time; for a trial, not for figures");
  if (const auto status = command_line::parse(app, count, arguments)) return *status;
  std::string command = "simple_benchmark";
  for (int index = 1; index < count; ++index) command.append(" ").append(arguments[index]);
  try {
    return run_benchmark(flags, command);
  } catch (const std::exception& error) {
    return fail_with(1, error.what());
  }
}

// SPDX-License-Identifier: Apache-2.0
