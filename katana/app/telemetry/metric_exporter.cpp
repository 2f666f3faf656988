#include "katana/app/telemetry/metric_exporter.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/net/reactor/timeout.hpp"

namespace katana::app {
namespace {

// The time in which reactors give their figures. For a late reactor those of the export before are
// sent.
constexpr Duration answer_time = milliseconds(100);

Task<Result<void>> until_set(AsyncEvent& event) {
  co_await event.wait();
  co_return Result<void>();
}

}  // namespace

Instant MetricExporter::now() noexcept { return net::Reactor::current()->now(); }

MetricExporter::MetricExporter(metrics::Registry& registry, client::HttpClient http,
                               MetricExporterOptions options, log::Logger logger)
    : registry_(registry),
      options_(std::move(options)),
      sender_(std::move(http), options_.sender, std::move(logger)),
      encoder_(options_.encoder) {}

Task<void> MetricExporter::run() {
  Instant due = now() + options_.interval;
  while (!sender_.is_finishing()) {
    co_await wait_until(due);
    if (sender_.is_finishing()) break;
    const bool is_drain = drain_ == Drain::wanted;
    if (!is_drain && now() < due) continue;
    if (is_drain) drain_ = Drain::done;
    co_await export_now();
    due = std::max(due + options_.interval, now());
  }
  // A program that has not served has nothing to tell.
  if (drain_ != Drain::none) co_await export_now();
}

// Until then, or a call of drain() or finish(). One that came during an export has set the event,
// too, and is not waited for.
Task<void> MetricExporter::wait_until(Instant due) {
  if (drain_ == Drain::wanted || sender_.is_finishing()) co_return;
  changed_.reset();
  if (now() < due) (void)co_await net::with_timeout(until_set(changed_), due - now());
}

Task<void> MetricExporter::export_now() {
  registry_.ask();
  if (!sender_.is_finishing()) co_await net::sleep_for(answer_time);
  registry_.refresh();
  std::vector<otlp::MetricsMessage> messages = encoder_.collect(registry_, options_.wall_ns());
  for (const otlp::MetricsMessage& each : messages) unsent_ += each.points;
  for (otlp::MetricsMessage& each : messages) {
    std::string metrics = std::move(each.metrics);
    const bool is_taken = co_await sender_.send(std::move(metrics), each.points);
    if (is_taken) encoder_.commit(each);
    unsent_ -= each.points;
  }
}

void MetricExporter::drain() {
  if (drain_ == Drain::none) drain_ = Drain::wanted;
  changed_.set();
}

void MetricExporter::finish() {
  sender_.finish();
  changed_.set();
}

void MetricExporter::drop_rest() noexcept {
  sender_.count(OtlpFate::shutdown, std::exchange(unsent_, 0));
  sender_.note_lost();
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
