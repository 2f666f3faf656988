// JetStreams: streams that the NATS servers keep (JetStream), by requests to their API.
//
// Names and subjects are those of the bus: with a prefix "shop" the stream "orders" is
// "shop_orders" on the server.
//
// Owns       the options of the streams that this process made, to make them again.
// Borrows    the bus and the observer.
// Thread     a reactor's; a Consumer that of its maker. note_…, forget() and stalled() any.
// Allocates  as Streams says.
// Fails      as Streams says; a refusal of the server is an Error with the server's text.
// Invariant  a stream that cannot go on is in stalled() until it does, and is told to the observer
//            once.
// Source     docs.nats.io/reference/reference-protocols/nats_api_reference (2.9)
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "katana/stores/bus/bus.hpp"
#include "katana/stores/bus/nats/jet_json.hpp"
#include "katana/stores/bus/nats/options.hpp"
#include "katana/stores/bus/streams.hpp"

namespace katana::bus {

// The names of streams and subjects on the server.
struct JetNames {
  std::string prefix = {};  // as NatsOptions::prefix, without the dot behind it
  std::string full_subject(Bytes subject) const;  // "orders.new" is "shop.orders.new"
  std::string subject_of(Bytes full) const;       // the way back; others stay as they are
  std::string full_stream(Bytes name) const;      // "shop_orders"; a prefix's dots become '-'
};

class JetStreams final : public Streams {
 public:
  // Timeouts of an answer of the API. The shorter one is for a recovery, in which the server may
  // have ended meanwhile.
  static constexpr Duration api_timeout = seconds(5);
  static constexpr Duration recovery_timeout = seconds(2);
  // A stream is made again when it is gone for this long. This leaves time to a program that
  // replaces it: nats-server 2.9 still removes files after its answer to STREAM.DELETE.
  static constexpr Duration gone_min = seconds(1);

  // The bus gives this function, which keeps a message until a stream stores it. Without one,
  // submit() fails with Code::unsupported.
  using Submit = std::function<Result<void>(const Publication&)>;
  JetStreams(Bus& bus, std::string prefix, Submit submit = {}, NatsObserver* observer = nullptr)
      : bus_(bus), names_{std::move(prefix)}, submit_(std::move(submit)), observer_(observer) {}

  Result<void> submit(const Publication& publication) override;
  Task<Result<std::vector<StoredMessage>>> last(std::string stream, std::string subject,
                                                std::size_t count) override;
  Task<Result<std::vector<StoredMessage>>> after(std::string stream, std::string filter,
                                                 std::uint64_t sequence,
                                                 std::size_t count) override;

  // ---- for consumers
  Bus& bus() noexcept { return bus_; }
  const JetNames& names() const noexcept { return names_; }
  // The text of an answer without an error.
  Task<Result<std::string>> ask(std::string api, std::string json, Duration timeout);
  // The state of the stream. `makes`: a stream that is gone is made again, if this process had made
  // it.
  Task<Result<jet::Stream>> look(std::string stream, bool makes, Duration timeout);
  Task<Result<jet::ConsumerState>> create(ConsumeOptions options, bool acknowledges,
                                          Duration timeout);

  // ---- the state of streams; `of` is the caller: a consumer, or the sender of submitted messages
  void note_stalled(const void* of, const ConsumeOptions& options, const Error& why);
  void note_stalled(const void* of, const std::string& what, const Error& why) override;
  // The consumer was made again, or messages are stored again, after `away`.
  void note_going(const void* of, const ConsumeOptions& options, Duration away);
  void note_going(const void* of, const std::string& what, Duration away) override;
  void note_gap(const ConsumeOptions& options, const Error& what);
  // Messages submitted to that subject are given up.
  void note_not_stored(const std::string& subject, const Error& why);
  // `count` messages are lost with the process.
  void note_not_stored(std::uint64_t count);
  void count_missed(std::uint64_t count) noexcept {
    missed_.fetch_add(count, std::memory_order_relaxed);
  }
  void forget(const void* of) noexcept override;
  // A text that names one stalled stream, and the number of them. Empty: all go on.
  std::string stalled() const;
  void add_figures(BusStatistics& statistics) const;

 private:
  Task<Result<void>> do_ensure(StreamOptions options) override;
  Task<Result<Stored>> do_store(std::string subject, std::string payload,
                                StoreOptions options) override;
  Task<Result<std::unique_ptr<Consumer>>> do_consume(ConsumeOptions options) override;
  Task<Result<std::vector<StoredMessage>>> read(ConsumeOptions options, std::size_t keep);
  Task<Result<std::uint64_t>> first_of_last(ConsumeOptions options, std::size_t count);
  // The options by which a stream that is gone is made again. An Error: it is not made again, or
  // not yet.
  Result<StreamOptions> options_of_gone(const std::string& stream);

  Bus& bus_;
  const JetNames names_;
  const Submit submit_;
  NatsObserver* const observer_;
  std::atomic<std::uint64_t> recoveries_ = 0;
  std::atomic<std::uint64_t> gaps_ = 0;
  std::atomic<std::uint64_t> missed_ = 0;
  std::atomic<std::uint64_t> not_stored_ = 0;

  mutable std::mutex mutex_;  // guards what follows; not held across a suspension
  std::map<std::string, StreamOptions, std::less<>> ensured_;  // by name
  std::map<std::string, Instant, std::less<>> gone_since_;     // likewise
  std::map<const void*, std::string> stalled_;
};

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
