// LogExporter: an output of the log that sends its records to a collector.
//
//   log's writer ─► LogQueue, at most queue_records_max records ─► one export at a time ─► sent, or
//                                                                                          dropped
//
// Owns       a share of the queue; the output of the log has the other.
// Thread     the queue any; the exporter that of its reactor; counts any.
// Allocates  the records that wait.
// Fails      never: records that are not sent are counted by their reason. The log does not wait.
// Invariant  of the records that the output was given each is sent, rejected, dropped or queued.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "katana/app/telemetry/signal_exporter.hpp"
#include "katana/base/coroutine/synchronization.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/observe/log/sink.hpp"

namespace katana::app {

// Records that wait for the exporter, as otlp::LogLayout writes them.
class LogQueue {
 public:
  // The most memory of the records that wait, whatever queue_records_max is.
  static constexpr std::size_t bytes_max = 16 * 1024 * 1024;

  explicit LogQueue(std::size_t records_max) noexcept : records_max_(records_max) {}

  // `wake` is called from put() after call_at_next(), once. Set it before records are put, or null.
  void set_wake(std::function<void()> wake);
  // False: records wait, or there is nothing to call.
  bool call_at_next();
  // Adds whole records. Records without room are dropped and counted.
  void put(Bytes records);
  // The oldest records, at most that many; `count` becomes how many they are.
  std::string take(std::size_t& count);
  std::size_t size() const;  // records that wait
  // Records without room since the last call.
  std::uint64_t take_dropped() noexcept { return dropped_.exchange(0, std::memory_order_relaxed); }
  // Drops later records without counting them: the exporter has ended.
  void close();

 private:
  const std::size_t records_max_;
  mutable std::mutex mutex_;
  std::deque<std::string> pieces_;  // one record or more
  std::size_t bytes_ = 0;
  std::size_t records_ = 0;
  bool is_closed_ = false;
  bool calls_at_next_ = false;
  std::function<void()> wake_;
  std::atomic<std::uint64_t> dropped_{0};
};

// The output of a log that fills the queue. Its records are those of `level` and above.
log::SinkOptions otlp_output(std::shared_ptr<LogQueue> queue, log::Level level);

// How often and how much is sent.
struct LogExporterOptions {
  OtlpSenderOptions sender = {};        // of the signal
  Duration interval = seconds(1);       // between two exports of records that do not fill a batch
  std::size_t batch_records_max = 512;  // of one export
};

class LogExporter final : public SignalExporter {
 public:
  LogExporter(std::shared_ptr<LogQueue> queue, client::HttpClient http, LogExporterOptions options,
              log::Logger logger);
  ~LogExporter() override { queue_->close(); }

  Task<void> run() override;
  // Records have come.
  void collect() override { woken_.set(); }
  void finish() override {
    sender_.finish();
    woken_.set();
  }
  void drop_rest() noexcept override;
  const OtlpSender& sender() const noexcept override { return sender_; }
  // Records that wait, with those that are being sent.
  std::size_t queued() const { return queue_->size() + sending_.load(std::memory_order_relaxed); }

 private:
  Task<void> send_all();

  const std::shared_ptr<LogQueue> queue_;
  const LogExporterOptions options_;
  OtlpSender sender_;
  AsyncEvent woken_;
  std::atomic<std::size_t> sending_{0};
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
