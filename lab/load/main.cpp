// katana-load: loads an HTTP server, and says what came back and whether to believe it.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <optional>

#include "lab/load/flags.hpp"
#include "lab/load/hdr_log.hpp"
#include "lab/load/http2_requests.hpp"
#include "lab/load/json_report.hpp"
#include "lab/load/progress.hpp"
#include "lab/load/run.hpp"
#include "lab/load/summary.hpp"
#include "lab/load/verdict.hpp"
#include "lab/load/websocket_messages.hpp"

namespace {

using namespace katana;
using namespace katana::load;

constexpr int exit_failure = 1;
constexpr int exit_usage = 2;

int fail_with(int status, std::string_view message) {
  fmt::print(stderr, "katana-load: {}\n", message);
  return status;
}

class Observer : public RunObserver {
 public:
  Observer(Progress* progress, HdrLog* log, std::string url)
      : progress_(progress), log_(log), url_(std::move(url)) {}

  void on_interval(const IntervalStatistics& interval, const Statistics& counted,
                   const RunResult& so_far) override {
    if (progress_ != nullptr) progress_->show(interval, so_far);
    if (log_ == nullptr) return;
    if (!has_header_) {
      log_->write_header(so_far.began_epoch_s,
                         fmt::format("katana-load {} {}", KATANA_VERSION, url_));
    }
    has_header_ = true;
    if (!interval.warm_up) {
      log_->write_interval(interval.begin_s, interval.duration_s, counted.latency);
    }
  }

 private:
  Progress* progress_;
  HdrLog* log_;
  std::string url_;
  bool has_header_ = false;
};

Result<Target> make_target(const Flags& flags) {
  Target target;
  auto url = parse_url(flags.url);
  if (!url) return std::unexpected(url.error());
  std::string list;
  if (!flags.url_file.empty()) {
    auto read = read_file(flags.url_file);
    if (!read) return fail(Code::invalid_argument, "--urls " + read.error().describe());
    list = *read + "\n";
  }
  if (!flags.requests_file.empty()) {
    auto read = read_file(flags.requests_file);
    if (!read) return fail(Code::invalid_argument, "--requests-file " + read.error().describe());
    list = *std::move(read);
  }
  auto requests = flags.requests_file.empty() ? make_requests(*url, flags.request, list)
                                              : read_requests(*url, flags.request, list);
  if (!requests) return std::unexpected(requests.error());
  auto address = resolve(*url);
  if (!address) return std::unexpected(address.error());
  target.url = *url;
  target.requests = std::move(*requests);
  target.address = *address;
  if (url->tls) {
    auto trusting = make_tls(flags.tls, flags.plan);
    if (!trusting) return std::unexpected(trusting.error());
    target.tls = std::move(*trusting);
  }
  if (flags.plan.websocket) {
    if (auto made = make_messages(target, flags.request); !made) {
      return std::unexpected(made.error());
    }
  }
  if (flags.plan.http2) {
    if (auto added = add_blocks(target, flags.request); !added) {
      return std::unexpected(added.error());
    }
  }
  return target;
}

Result<void> write_file(const std::string& path, const std::string& text) {
  std::FILE* file = path == "-" ? stdout : std::fopen(path.c_str(), "we");
  if (file == nullptr)
    return fail(Code::unavailable, fmt::format("--json {}: {}", path, std::strerror(errno)));
  const bool is_whole = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool is_flushed = path == "-" ? std::fflush(file) == 0 : std::fclose(file) == 0;
  if (is_whole && is_flushed) return {};
  return fail(Code::data_loss, fmt::format("--json {}: {}", path, std::strerror(errno)));
}

std::string failures_of(const RunResult& result) {
  const Counts& counts = result.total.counts;
  std::string text;
  for (std::size_t index = 0; index < failure_count; ++index) {
    if (counts.failures[index] == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", counts.failures[index],
                        failure_names[index]);
  }
  if (!result.tls_problem.empty()) text += " (" + result.tls_problem + ")";
  if (!text.empty()) return text;
  return result.connected ? "no request was sent" : "no connection was established in time";
}

// Returns the exit status, and prints a line about each problem.
int conclude(const Flags& flags, const RunResult& result, const Verdict& verdict) {
  const Counts& counts = result.total.counts;
  if (result.interrupted) return 0;
  if (counts.requests == 0) {
    return fail_with(exit_failure, fmt::format("{} answered nothing as expected: {}", flags.url,
                                               failures_of(result)));
  }
  if (flags.strict && (counts.all_failures() > 0 || verdict.is_void())) {
    return fail_with(exit_failure,
                     verdict.is_void() ? "the result is void" : "errors: " + failures_of(result));
  }
  return 0;
}

int load_server(const Flags& flags) {
  auto target = make_target(flags);
  if (!target) {
    const bool is_usage = target.error().code() == Code::invalid_argument;
    return fail_with(is_usage ? exit_usage : exit_failure, target.error().describe());
  }
  std::optional<HdrLog> log;
  if (!flags.hdr_file.empty()) {
    auto created = HdrLog::create(flags.hdr_file);
    if (!created) return fail_with(exit_failure, created.error().describe());
    log = std::move(*created);
  }
  // People's text goes to standard error when the JSON takes standard output.
  std::FILE* const out = flags.json_file == "-" ? stderr : stdout;
  Progress progress(flags.plan, out, isatty(fileno(out)) == 1);
  Observer observer(flags.quiet ? nullptr : &progress, log ? &*log : nullptr, flags.url);
  auto result = run_load(flags.plan, *target, &observer);
  progress.clear();
  if (!result) return fail_with(exit_failure, result.error().describe());

  const Verdict verdict = judge(flags.plan, **result);
  const ReportInput input{flags.plan, *target, **result, verdict, flags.url, flags.request.method};
  const bool has_file = !flags.json_file.empty() || !flags.hdr_file.empty();
  if (!flags.quiet || !has_file) fmt::print(out, "{}", summary(input));
  if (flags.print_memory) {
    fmt::print(out, "memory      at most {} by the parameters, {} resident at most\n",
               short_bytes(static_cast<double>((*result)->memory_bytes_max)),
               short_bytes(static_cast<double>((*result)->rss_kib_max) * 1024));
  }
  std::fflush(out);
  if (log) {
    if (auto closed = log->close(); !closed)
      return fail_with(exit_failure, closed.error().describe());
  }
  if (!flags.json_file.empty()) {
    if (auto written = write_file(flags.json_file, write_json(input)); !written) {
      return fail_with(exit_failure, written.error().describe());
    }
  }
  return conclude(flags, **result, verdict);
}

}  // namespace

int main(int count, char** arguments) {
  auto parsed = parse_flags(count, arguments);
  if (!parsed) return fail_with(exit_usage, parsed.error().describe());
  if (const auto* information = std::get_if<Information>(&*parsed)) {
    fmt::print("{}", information->text);
    return 0;
  }
  try {
    return load_server(std::get<Flags>(*parsed));
  } catch (const std::exception& error) {
    return fail_with(exit_failure, error.what());
  }
}

// SPDX-License-Identifier: Apache-2.0
