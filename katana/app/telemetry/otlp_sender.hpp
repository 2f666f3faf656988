// OtlpSender: sends export messages of one signal to a collector, by OTLP over HTTP.
//
// An export that the collector cannot take now (429, 502, 503, 504, or no reply) is repeated for at
// most retry_time_max. The pause is random and grows, and is never shorter than Retry-After. An
// export that it refuses is not repeated, nor one that it has taken in part (OTLP 1.11).
//
// Owns       the client's handle.
// Thread     that of its reactor; exports() any.
// Allocates  the messages that it sends.
// Fails      never: send() returns the result for the message. The log has one record when exports
//            fail and one when they succeed again.
// Invariant  send() ends within retry_time_max and one timeout; after finish(), within a timeout.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/base/values/random.hpp"
#include "katana/http/client/http_client.hpp"
#include "katana/observe/log/logger.hpp"
#include "katana/observe/otlp/export_message.hpp"

namespace katana::app {

// The collector of one signal, and how it is asked.
struct OtlpSenderOptions {
  std::string signal = "spans";                                   // as the log calls the items
  std::string url = {};                                           // whole, with /v1/traces
  std::vector<std::pair<std::string, std::string>> headers = {};  // name and value
  Duration timeout = seconds(10);                                 // of one attempt
  bool gzip = true;                                               // false: as it is
  otlp::Resource resource = {};                                   // of every export
  otlp::Scope scope = {};                                         // likewise
  std::uint64_t seed = 1;                                         // of the pauses
};

// Outcome of an item.
enum class OtlpFate : std::uint8_t {
  sent,        // and taken
  rejected,    // of an export that was taken in part
  refused,     // the collector does not take the export, however often it is repeated
  failed,      // it could not take it for retry_time_max
  queue_full,  // too many were waiting
  shutdown,    // the program has ended before
  count,
};
// "sent", "queue_full": the label of a metric.
const char* fate_name(OtlpFate fate) noexcept;

class OtlpSender {
 public:
  static constexpr Duration look_interval = milliseconds(250);  // how late finish() may be seen
  static constexpr Duration backoff_min = seconds(1);           // the first pause, at most
  static constexpr Duration backoff_max = seconds(30);          // the longest
  static constexpr Duration retry_time_max = seconds(120);      // of one export

  OtlpSender(client::HttpClient http, OtlpSenderOptions options, log::Logger logger);

  // Sends a message of that many items, and counts each by its fate. True: it was taken, in whole
  // or in part.
  Task<bool> send(std::string items, std::size_t count);
  // No export is repeated from here on.
  void finish() noexcept { is_finishing_ = true; }
  bool is_finishing() const noexcept { return is_finishing_; }
  // Items that were not sent.
  void count(OtlpFate fate, std::uint64_t items) noexcept {
    fates_[static_cast<std::size_t>(fate)].fetch_add(items, std::memory_order_relaxed);
  }

  // Items that have come to this end.
  std::uint64_t counted(OtlpFate fate) const noexcept {
    return fates_[static_cast<std::size_t>(fate)].load(std::memory_order_relaxed);
  }
  // Attempts that the collector has taken, or not.
  std::uint64_t exports(bool succeeded) const noexcept {
    return (succeeded ? exported_ : failed_).load(std::memory_order_relaxed);
  }
  const std::string& signal() const noexcept { return options_.signal; }
  // Writes the count of counted(shutdown) to the log, if it is not 0.
  void note_lost() noexcept;

 private:
  // How an attempt ended.
  struct Attempt {
    enum class Kind : std::uint8_t { taken, refused, later } kind = Kind::taken;
    Duration pause = {};  // that the collector wants
    std::uint64_t rejected = 0;
    std::string why = {};
  };

  static Instant now() noexcept;  // of the reactor
  std::string content_of(const std::string& items) const;
  Task<Attempt> attempt(std::string content);
  Attempt judge(const Result<client::Response>& reply) const;
  Task<void> pause(Duration duration);
  void note_taken(const Attempt& how, std::size_t count);
  void note_failure(const std::string& why, bool again);
  void note_success();

  const client::HttpClient http_;
  const OtlpSenderOptions options_;
  const log::Logger logger_;
  Random random_;
  bool is_finishing_ = false;
  bool is_failing_ = false;
  std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(OtlpFate::count)> fates_{};
  std::atomic<std::uint64_t> exported_{0};
  std::atomic<std::uint64_t> failed_{0};
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
