#include "katana/app/telemetry/log_exporter.hpp"

#include <algorithm>
#include <utility>

#include "katana/net/reactor/reactor.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/observe/otlp/logs.hpp"

namespace katana::app {
namespace {

constexpr std::size_t piece_bytes = 64 * 1024;

class QueueOutput final : public log::Output {
 public:
  explicit QueueOutput(std::shared_ptr<LogQueue> queue) : queue_(std::move(queue)) {}
  const std::string& name() const noexcept override { return name_; }
  bool may_block() const noexcept override { return false; }
  Result<void> open(const log::Layout&) override { return {}; }
  Result<void> write(Bytes records) override {
    queue_->put(records);
    return {};
  }

 private:
  const std::shared_ptr<LogQueue> queue_;
  const std::string name_ = "the collector";
};

}  // namespace

void LogQueue::set_wake(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  wake_ = std::move(wake);
}

bool LogQueue::call_at_next() {
  const std::lock_guard lock(mutex_);
  calls_at_next_ = wake_ && records_ == 0;
  return calls_at_next_;
}

void LogQueue::put(Bytes records) {
  const std::lock_guard lock(mutex_);
  if (is_closed_) return;
  // Under the lock: set_wake(nullptr) is then the end of all calls.
  if (std::exchange(calls_at_next_, false) && wake_) wake_();
  while (!records.empty()) {
    std::size_t count = 1;
    const std::size_t size = otlp::cut_records(records, count);
    if (count == 0) return;
    if (records_ == records_max_ || bytes_ + size > bytes_max) {
      dropped_.fetch_add(1, std::memory_order_relaxed);
    } else {
      if (pieces_.empty() || pieces_.back().size() >= piece_bytes) pieces_.emplace_back();
      pieces_.back() += records.substr(0, size);
      bytes_ += size;
      ++records_;
    }
    records.remove_prefix(size);
  }
}

std::string LogQueue::take(std::size_t& count) {
  const std::size_t wanted = std::exchange(count, 0);
  std::string taken;
  const std::lock_guard lock(mutex_);
  while (count < wanted && !pieces_.empty()) {
    std::string& piece = pieces_.front();
    std::size_t records = wanted - count;
    const std::size_t size = otlp::cut_records(piece, records);
    taken.append(piece, 0, size);
    count += records;
    if (size == piece.size()) {
      pieces_.pop_front();
    } else {
      piece.erase(0, size);
    }
  }
  bytes_ -= taken.size();
  records_ -= count;
  return taken;
}

std::size_t LogQueue::size() const {
  const std::lock_guard lock(mutex_);
  return records_;
}

void LogQueue::close() {
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
  pieces_.clear();
  bytes_ = records_ = 0;
}

log::SinkOptions otlp_output(std::shared_ptr<LogQueue> queue, log::Level level) {
  log::SinkOptions options;
  options.output = std::make_shared<QueueOutput>(std::move(queue));
  options.own_layout = [] { return std::make_unique<otlp::LogLayout>(); };
  options.level = level;
  return options;
}

LogExporter::LogExporter(std::shared_ptr<LogQueue> queue, client::HttpClient http,
                         LogExporterOptions options, log::Logger logger)
    : queue_(std::move(queue)),
      options_(std::move(options)),
      sender_(std::move(http), options_.sender, std::move(logger)) {}

Task<void> LogExporter::run() {
  Instant due = net::Reactor::current()->now() + options_.interval;
  while (!sender_.is_finishing()) {
    const Instant now = net::Reactor::current()->now();
    const bool is_full = queue_->size() >= options_.batch_records_max;
    if (now >= due || is_full) {
      co_await send_all();
      due = now + options_.interval;
    }
    woken_.reset();
    const bool rests = !sender_.is_finishing() && queue_->call_at_next();
    if (rests) {
      co_await woken_.wait();
      due = net::Reactor::current()->now() + options_.interval;
    }
    if (!sender_.is_finishing()) {
      co_await net::sleep_for(std::min(options_.interval, OtlpSender::look_interval));
    }
  }
  co_await send_all();
}

Task<void> LogExporter::send_all() {
  for (;;) {
    sender_.count(OtlpFate::queue_full, queue_->take_dropped());
    std::size_t count = options_.batch_records_max;
    std::string records = queue_->take(count);
    if (count == 0) co_return;
    sending_.store(count, std::memory_order_relaxed);
    (void)co_await sender_.send(std::move(records), count);
    sending_.store(0, std::memory_order_relaxed);
  }
}

void LogExporter::drop_rest() noexcept {
  sender_.count(OtlpFate::queue_full, queue_->take_dropped());
  sender_.count(OtlpFate::shutdown,
                queue_->size() + sending_.exchange(0, std::memory_order_relaxed));
  queue_->close();
  sender_.note_lost();
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
