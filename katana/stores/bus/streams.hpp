// Streams: messages that are kept, in the order in which they were stored, and read from any
// position. Stream: subjects whose messages are kept, up to its bounds.
//
//   bus::Streams& streams = *bus.streams();
//   bus::StreamOptions orders{.name = "orders", .subjects = {"orders.>"}, .messages_max = 100'000};
//   co_await streams.ensure(orders);
//
//   bus::StoreOptions once{.id = order_id};
//   Result<bus::Stored> stored = co_await streams.store("orders.new", json, once);
//
//   bus::ConsumeOptions billing{.stream = "orders", .durable = "billing"};
//   auto consumer = co_await streams.consume(billing);
//   while (auto message = co_await (*consumer)->next()) {
//     if (!*message) …                            // an Error that is told; the consumer goes on
//     if (co_await bill(**message)) (*consumer)->acknowledge(**message);
//   }
//
//   auto last = co_await streams.last("rooms", "rooms.lobby.said", 50);    // the history of a room
//
// At least once: every consumer gets the messages that store() has acknowledged, from its position
// on. It gets a message again after ack_wait, until it acknowledges it or got it deliveries_max
// times. Within duplicate_window a stream stores one message of each id. Subscribers of the bus get
// a stored message, too, as any other. submit() is store() without waiting. It keeps a message and
// stores it again until the stream has acknowledged it.
//
// A Consumer goes on without help, whatever becomes of the servers, of the consumer, or of the
// stream. It recognises each of these events, and next() tells it once, as an Error:
//
//   the server is away, or has no leader     unavailable; it goes on when the server answers
//   the consumer is gone                     nothing, when no message was lost: it is made again
//                                            behind the last message that it gave
//   the stream is gone                       not_found, until somebody makes it again. A process
//                                            that called ensure() makes it again without a call
//   the stream was made again, or its        data_loss; then all that it keeps, from its first
//   sequences went back                      message on, which has StoredMessage::is_anew
//   messages left the stream before they     StoredMessage::missed of the next one says how many,
//   were given                               where that can be counted; behind an outage data_loss
//
//                in process                        JetStream
//   kept         by the process, while it runs     by the servers, on disk or in memory
//   acknowledged when it is kept                   when a majority of the replicas has it
//   durable      while the process runs            until it is removed
//
// Owns       its streams (in process), or the state of its requests.
// Thread     a reactor's; a Consumer that of who made it. submit() any.
// Allocates  what is kept and what waits to be read.
// Fails      with an Error: invalid_argument for a name or a pattern, not_found for a stream,
//            already_exists when a stream is there with other subjects. Also deadline_exceeded, and
//            unavailable without a server. submit() also with resource_exhausted.
// Invariant  a Consumer has at most unacknowledged_max messages that are not acknowledged. Messages
//            come in the order of their sequence, but for those that are given again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/base/values/timestamp.hpp"
#include "katana/stores/bus/message.hpp"

namespace katana::bus {

// A stream for ensure() to make. A stream that exists with these subjects gets the other options.
struct StreamOptions {
  std::string name = {};                   // letters, digits, '-' and '_'
  std::vector<std::string> subjects = {};  // patterns
  // When one of these is exceeded, the oldest messages go. 0: no such bound (in process: 65,536
  // messages, 64 MiB).
  std::uint64_t messages_max = 0;
  std::uint64_t messages_per_subject_max = 0;
  std::uint64_t bytes_max = 0;
  Duration age_max = {};
  Duration duplicate_window = seconds(120);
  // The following options are for JetStream alone.
  unsigned replicas = 1;
  bool in_memory = false;
};

// Options of one store().
struct StoreOptions {
  std::string id = {};  // of the same within duplicate_window one is stored; empty: no check
  Duration timeout = seconds(5);  // for the server's answer; in process nothing is waited for
};

// The acknowledgement of a message.
struct Stored {
  std::uint64_t sequence = 0;  // in its stream, from 1
  bool is_duplicate = false;   // its id was there: it was not stored again
};

// A message of a stream, with its sequence and the other facts that the stream has of it.
struct StoredMessage {
  HeldMessage message;           // of the reactor that read it
  std::uint64_t sequence = 0;    // in its stream, from 1; a filter leaves gaps
  std::uint32_t deliveries = 1;  // how often this consumer was given it
  std::uint64_t waiting = 0;     // that come after it, when it was given
  Timestamp stored_at = {};      // wall clock of who keeps it, in microseconds
  std::string ack_to = {};       // where it is acknowledged; of JetStream
  // The number of messages between the last one that this consumer gave and this one: they left the
  // stream too early. Not counted with a filter, nor for a durable consumer, which others may read.
  std::uint64_t missed = 0;
  // True for the first message of a stream that was made again, or whose sequences went back.
  // `sequence` then begins anew, and older messages may have been missed.
  bool is_anew = false;
};

// The first message of a consumer that has no position yet, among those that its filter passes.
enum class StartAt : std::uint8_t {
  first,             // the oldest that is kept
  next,              // only what is stored from now on
  last,              // the newest that is kept, and what follows it
  last_per_subject,  // the newest of each subject, and what is stored from now on
  sequence,          // ConsumeOptions::start_sequence, or the first behind it that is kept
  time,              // the first that was stored at ConsumeOptions::start_time or later
};

// Options of a consumer. A durable one that exists goes on at its position, whatever `start` says.
struct ConsumeOptions {
  std::string stream = {};   // its name, which ensure() has made; else not_found
  std::string durable = {};  // its position is kept under this name; empty: it ends with its reader
  std::string filter = {};   // a pattern; empty: all
  StartAt start = StartAt::first;        // of a durable one when it is made
  std::uint64_t start_sequence = 1;      // of StartAt::sequence
  Timestamp start_time = {};             // of StartAt::time
  Duration ack_wait = seconds(30);       // then it is given again; above the slowest handling
  std::uint32_t deliveries_max = 0;      // 0: until it is acknowledged
  std::size_t unacknowledged_max = 256;  // while so many are, no new ones are given
};

// Reads one stream; one coroutine waits in next() at a time. Destroying it ends it.
class Consumer {
 public:
  virtual ~Consumer() = default;
  // Waits for a message. Nothing: it was closed. An Error tells an event of the table above, once
  // for each cause; the next call waits on. Destroying the coroutine loses no message.
  virtual Task<std::optional<Result<StoredMessage>>> next() = 0;
  virtual void acknowledge(const StoredMessage& message) noexcept = 0;
  // Requests that the message be given again, after `delay`.
  virtual void reject(const StoredMessage& message, Duration delay = {}) noexcept = 0;
  virtual void close() noexcept = 0;
  // The number of messages that waited for the consumer when it was made.
  virtual std::uint64_t waiting_at_begin() const noexcept = 0;
};

class Streams {
 public:
  virtual ~Streams() = default;
  // Makes the stream, or checks that it exists with these subjects and gives it the other options.
  // Options are a variable here and below: g++ 12 destroys a temporary in a `co_await` twice
  // (decision 0018).
  Task<Result<void>> ensure(const StreamOptions& options) { return do_ensure(options); }
  Task<Result<void>> ensure(const StreamOptions&& options) = delete;
  Task<Result<Stored>> store(std::string subject, std::string payload) {
    return do_store(std::move(subject), std::move(payload), StoreOptions());
  }
  Task<Result<Stored>> store(std::string subject, std::string payload,
                             const StoreOptions& options) {
    return do_store(std::move(subject), std::move(payload), options);
  }
  Task<Result<Stored>> store(std::string subject, std::string payload,
                             const StoreOptions&& options) = delete;
  Task<Result<std::unique_ptr<Consumer>>> consume(const ConsumeOptions& options) {
    return do_consume(options);
  }
  Task<Result<std::unique_ptr<Consumer>>> consume(const ConsumeOptions&& options) = delete;
  // Stores the message at least once, in the order of the calls of one thread, and does not wait.
  // Any thread. This process keeps it within the bounds of AwayOptions until a stream has
  // acknowledged it. A stream that is made later stores it then. Messages left when the process
  // ends are counted in BusStatistics::not_stored, and logged. resource_exhausted: the bounds are
  // reached.
  virtual Result<void> submit(const Publication& publication) = 0;
  // The last `count` messages of that subject that are kept, the oldest first. At most 1,000.
  virtual Task<Result<std::vector<StoredMessage>>> last(std::string stream, std::string subject,
                                                        std::size_t count) = 0;
  // The messages behind `sequence` that match the pattern `filter`, the oldest first, at most
  // `count`.
  virtual Task<Result<std::vector<StoredMessage>>> after(std::string stream, std::string filter,
                                                         std::uint64_t sequence,
                                                         std::size_t count) = 0;

  // A module calls this when it cannot make or read its stream. The log says so, and Health::ready
  // is false until it can. `of` is the module. Any thread. In process nothing happens.
  virtual void note_stalled(const void* of, const std::string& what, const Error& why) {
    (void)of, (void)what, (void)why;
  }
  // The module can go on, after `away`.
  virtual void note_going(const void* of, const std::string& what, Duration away) {
    (void)of, (void)what, (void)away;
  }
  // The module does not need the stream any more.
  virtual void forget(const void* of) noexcept { (void)of; }

 private:
  virtual Task<Result<void>> do_ensure(StreamOptions options) = 0;
  virtual Task<Result<Stored>> do_store(std::string subject, std::string payload,
                                        StoreOptions options) = 0;
  virtual Task<Result<std::unique_ptr<Consumer>>> do_consume(ConsumeOptions options) = 0;
};

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
