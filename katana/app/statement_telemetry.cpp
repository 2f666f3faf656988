#include "katana/app/statement_telemetry.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "katana/observe/metrics/standard_names.hpp"
#include "katana/observe/trace/span.hpp"

namespace katana::app {
namespace {

// Bounds of the histogram, from a statement that is answered in memory to a deadline.
std::vector<std::uint64_t> told_ns() {
  return {10'000,      50'000,      100'000,       250'000,       500'000,       1'000'000,
          2'500'000,   5'000'000,   10'000'000,    25'000'000,    50'000'000,    100'000'000,
          250'000'000, 500'000'000, 1'000'000'000, 5'000'000'000, 30'000'000'000};
}

// Kinds of errors, and "ok".
constexpr std::size_t outcomes_max = static_cast<std::size_t>(database::Kind::unknown_outcome) + 2;

std::string outcome_of(const database::StatementReport& report) {
  std::string outcome(report.failure ? database::kind_name(*report.failure) : "ok");
  std::ranges::replace(outcome, ' ', '_');
  return outcome;
}

}  // namespace

StatementTelemetry::StatementTelemetry(StatementTelemetryOptions options)
    : options_(std::move(options)),
      slow_after_ns_(options_.slow_after.ns),
      limit_(std::make_unique<log::RateLimit>(records_max, period)),
      series_(database::StatementNames::count_max) {}

StatementTelemetry::~StatementTelemetry() = default;

Result<void> StatementTelemetry::prepare() {
  if (options_.metrics == nullptr) return {};
  constexpr std::size_t names_max = database::StatementNames::count_max;
  auto statements = options_.metrics->counters(
      {.name = "katana_database_statements",
       .help = "Statements by name, and by 'ok' or the kind of the error.",
       .labels = {"statement", "outcome"},
       .series_max = names_max * outcomes_max});
  if (!statements) return std::unexpected(statements.error());
  auto durations = options_.metrics->log_histograms(
      {.name = "katana_database_statement_duration_seconds",
       .help = "From the call of a statement until its answer, with what it waited; by name.",
       .labels = {"statement"},
       .unit = "seconds",
       .series_max = names_max},
      {metrics::LogBuckets(3, 600'000'000'000), 1e9, told_ns()});
  if (!durations) return std::unexpected(durations.error());
  auto rows = options_.metrics->counters({.name = "katana_database_statement_rows",
                                          .help = "Rows that statements read or changed, by name.",
                                          .labels = {"statement"},
                                          .series_max = names_max});
  if (!rows) return std::unexpected(rows.error());
  std::optional<metrics::Family<metrics::LogHistogram>> standard;
  if (options_.standard != server::StandardMetricUse::off) {
    const bool is_exposed = options_.standard == server::StandardMetricUse::exposed;
    auto made = options_.metrics->log_histograms(
        metrics::description_of(metrics::db_client_operation_duration(), is_exposed),
        metrics::standard_shape());
    if (!made) return std::unexpected(made.error());
    standard = *made;
  }
  families_.emplace(*statements, *durations, *rows, standard);
  return {};
}

Instant StatementTelemetry::now() const noexcept {
  return options_.clock ? options_.clock() : StatementObserver::now();
}

void StatementTelemetry::on_statement(const database::StatementReport& report) noexcept {
  try {
    if (families_) count(report);
    const std::int64_t slow_after_ns = slow_after_ns_.load(std::memory_order_relaxed);
    if (slow_after_ns > 0 && report.duration.ns > slow_after_ns) [[unlikely]] {
      warn_of(report, slow_after_ns);
    }
  } catch (const std::exception&) {
    // Without memory there is no series; the statement itself is done.
  }
  if (options_.on_statement) call_hook(report);
  if (trace::current_span() != nullptr) [[unlikely]]
    record(report);
}

// Below the span that is current for who awaits the statement.
void StatementTelemetry::record(const database::StatementReport& report) noexcept {
  trace::record_span(report.name, trace::SpanKind::client, report.began,
                     report.began + report.duration, [&](trace::SpanRecord& span) {
                       span.add("db.system.name", report.system);
                       span.add("db.query.summary", report.name);
                       if (!report.text.empty())
                         span.add("db.query.text", report.text.substr(0, span_text_bytes_max));
                       if (!report.failure) return;
                       span.fail();
                       span.add("error.type", database::kind_name(*report.failure));
                     });
}

const StatementTelemetry::Series& StatementTelemetry::series_of(
    const database::StatementReport& report) {
  std::atomic<const Series*>& place = series_[report.number];
  // acquire: the series that it points to is visible, too
  if (const Series* const made = place.load(std::memory_order_acquire)) [[likely]]
    return *made;
  const std::lock_guard lock(mutex_);
  if (const Series* const made = place.load(std::memory_order_relaxed)) return *made;
  made_.push_back(std::make_unique<const Series>(
      Series{families_->statements.with(report.name, "ok"), families_->durations.with(report.name),
             families_->rows.with(report.name), standard_of(report, {})}));
  place.store(made_.back().get(), std::memory_order_release);
  return *made_.back();
}

metrics::LogHistogram StatementTelemetry::standard_of(const database::StatementReport& report,
                                                      Bytes error) const {
  if (!families_->standard) return {};
  return families_->standard->with(report.system, report.name, error);
}

void StatementTelemetry::count(const database::StatementReport& report) {
  const Series& series = series_of(report);
  series.duration.observe(report.duration);
  if (report.rows > 0) series.rows.add(static_cast<std::uint64_t>(report.rows));
  if (!report.failure) [[likely]] {
    if (families_->standard) series.standard.observe(report.duration);
    return series.succeeded.add();
  }
  if (families_->standard) {
    standard_of(report, database::kind_name(*report.failure)).observe(report.duration);
  }
  families_->statements.with(report.name, outcome_of(report)).add();
}

void StatementTelemetry::warn_of(const database::StatementReport& report,
                                 std::int64_t slow_after_ns) {
  const std::int64_t duration_us = report.duration.ns / 1'000;
  const std::int64_t slow_after_us = slow_after_ns / 1'000;
  const std::string outcome = outcome_of(report);
  const Bytes text = report.text.empty() ? report.name : report.text.substr(0, text_bytes_max);
  options_.slow.warn(*limit_, "slow statement: {}", report.name, log::field("statement", text),
                     log::field("database", report.system), log::field("outcome", outcome),
                     log::field("rows", report.rows), log::field("duration_us", duration_us),
                     log::field("slow_after_us", slow_after_us));
}

void StatementTelemetry::call_hook(const database::StatementReport& report) noexcept {
  try {
    options_.on_statement(report);
  } catch (...) {
    // A hook that throws does not affect the statement.
    options_.slow.error(KATANA_AT_MOST(1, seconds(60)), "on_statement threw");
  }
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
