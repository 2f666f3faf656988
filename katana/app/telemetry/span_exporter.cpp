#include "katana/app/telemetry/span_exporter.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "katana/base/coroutine/when.hpp"
#include "katana/base/values/backoff.hpp"
#include "katana/http/client/retry_after.hpp"
#include "katana/http/coding/codec.hpp"
#include "katana/net/reactor/sleep.hpp"

namespace katana::app {
namespace {

constexpr std::array<const char*, static_cast<std::size_t>(SpanFate::count)> fate_names = {
    "sent", "rejected", "refused", "failed", "queue_full", "shutdown"};

bool may_be_taken_later(unsigned status) noexcept {
  return status == 429 || status == 502 || status == 503 || status == 504;
}

}  // namespace

const char* fate_name(SpanFate fate) noexcept { return fate_names[static_cast<std::size_t>(fate)]; }

SpanExporter::SpanExporter(trace::Tracer& tracer, client::HttpClient http,
                           SpanExporterOptions options, log::Logger logger)
    : tracer_(tracer),
      http_(std::move(http)),
      options_(std::move(options)),
      logger_(std::move(logger)),
      random_(options_.seed) {}

Task<void> SpanExporter::run() { co_await when_all(collect_loop(), send_loop()); }

Task<void> SpanExporter::collect_loop() {
  while (!is_finishing_) {
    collect();
    co_await net::sleep_for(collect_interval);
  }
}

Task<void> SpanExporter::send_loop() {
  for (;;) {
    if (is_due(tracer_.now())) {
      Batch batch = take_batch();
      co_await send(std::move(batch));
    } else if (is_finishing_) {
      co_return;
    } else {
      changed_.reset();
      co_await changed_.wait();
    }
  }
}

void SpanExporter::collect() {
  const Duration wall_offset = options_.wall_offset ? options_.wall_offset() : Duration{};
  tracer_.drain([&](const trace::SpanRecord& record) {
    if (queued() >= options_.queue_spans_max) return count(SpanFate::queue_full, 1);
    if (open_.count == 0) open_.first = tracer_.now();
    otlp::append_span(open_.spans, record, wall_offset);
    queued_.fetch_add(1, std::memory_order_relaxed);
    if (++open_.count == options_.batch_spans_max) full_.push_back(std::exchange(open_, {}));
  });
  if (is_due(tracer_.now())) changed_.set();
}

void SpanExporter::finish() {
  collect();
  is_finishing_ = true;
  changed_.set();
}

bool SpanExporter::is_due(Instant now) const noexcept {
  if (!full_.empty()) return true;
  return open_.count > 0 && (is_finishing_ || now - open_.first >= options_.interval);
}

SpanExporter::Batch SpanExporter::take_batch() noexcept {
  if (full_.empty()) return std::exchange(open_, {});
  Batch batch = std::move(full_.front());
  full_.pop_front();
  return batch;
}

std::string SpanExporter::content_of(const Batch& batch) const {
  std::string request = otlp::traces_request(options_.resource, options_.scope, batch.spans);
  if (!options_.gzip) return request;
  Text coded;
  coding::gzip().make_encoder({.gzip_level = 1})->encode(request, coding::Flush::finish, coded);
  return std::string(coded.bytes());
}

Task<void> SpanExporter::send(Batch batch) {
  const std::string content = content_of(batch);
  const Instant give_up_at = tracer_.now() + retry_time_max;
  for (unsigned failures = 1;; ++failures) {
    const Attempt how = co_await attempt(content);
    if (how.kind == Attempt::Kind::taken) {
      note_success();
      const std::size_t rejected = std::min<std::uint64_t>(how.rejected, batch.count);
      if (rejected > 0) {
        logger_.warn(KATANA_AT_MOST(1, seconds(60)), "{} spans were rejected: {}", rejected,
                     how.why);
      }
      note_fate(rejected, SpanFate::rejected);
      note_fate(batch.count - rejected, SpanFate::sent);
      co_return;
    }
    const bool is_later = how.kind == Attempt::Kind::later;
    const Duration wait =
        std::max(how.pause, backoff(failures, backoff_min, backoff_max, random_.next()));
    const bool again = is_later && !is_finishing_ && tracer_.now() + wait < give_up_at;
    note_failure(how.why, again);
    if (again) co_await pause(wait);
    if (!again || is_finishing_) {
      note_fate(batch.count, !is_later       ? SpanFate::refused
                             : is_finishing_ ? SpanFate::shutdown
                                             : SpanFate::failed);
      co_return;
    }
  }
}

// Until the program ends, or that time is over.
Task<void> SpanExporter::pause(Duration duration) {
  const Instant due = tracer_.now() + duration;
  while (!is_finishing_ && tracer_.now() < due) {
    co_await net::sleep_for(std::min(collect_interval, due - tracer_.now()));
  }
}

Task<SpanExporter::Attempt> SpanExporter::attempt(std::string content) {
  client::Request request("POST", options_.url);
  request.content(std::move(content), "application/x-protobuf");
  if (options_.gzip) request.field("Content-Encoding", "gzip");
  for (const auto& [name, value] : options_.headers) request.field(name, value);
  request.timeout(options_.timeout);
  const Result<client::Response> reply = co_await http_.fetch(std::move(request));
  co_return judge(reply);
}

SpanExporter::Attempt SpanExporter::judge(const Result<client::Response>& reply) const {
  using Kind = Attempt::Kind;
  if (!reply) return {.kind = Kind::later, .why = reply.error().describe()};
  const unsigned status = reply->status();
  if (status >= 200 && status < 300) {
    const auto said = otlp::read_reply(reply->content());
    if (!said) return {.why = "its reply is malformed"};
    return {.rejected = static_cast<std::uint64_t>(said->rejected), .why = said->message};
  }
  std::string why = fmt::format("POST {}: status {}", options_.url, status);
  if (!may_be_taken_later(status)) return {.kind = Kind::refused, .why = std::move(why)};
  const auto asked =
      client::retry_after(*reply, net::Reactor::current()->wall_clock_s()).value_or(Duration{});
  return {.kind = Kind::later, .pause = asked, .why = std::move(why)};
}

void SpanExporter::count(SpanFate fate, std::uint64_t spans) noexcept {
  fates_[static_cast<std::size_t>(fate)].fetch_add(spans, std::memory_order_relaxed);
}

void SpanExporter::note_fate(std::size_t spans, SpanFate fate) noexcept {
  count(fate, spans);
  queued_.fetch_sub(spans, std::memory_order_relaxed);
}

void SpanExporter::drop_rest() noexcept {
  full_.clear();
  open_ = {};
  note_fate(queued(), SpanFate::shutdown);
  count(SpanFate::shutdown, tracer_.drain([](const trace::SpanRecord&) {}));
  const std::uint64_t lost = counted(SpanFate::shutdown);
  if (lost > 0) logger_.warn("{} spans were not exported before the end", lost);
}

void SpanExporter::note_failure(const std::string& why, bool again) {
  failed_.fetch_add(1, std::memory_order_relaxed);
  if (!std::exchange(is_failing_, true)) {
    logger_.warn("spans are not exported{}: {}", again ? ", and are sent again" : "", why);
  }
}

void SpanExporter::note_success() {
  exported_.fetch_add(1, std::memory_order_relaxed);
  if (std::exchange(is_failing_, false)) logger_.info("spans are exported again");
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
