// JetReader: a consumer of a stream that NATS servers keep, which goes on whatever becomes of the
// servers, of the consumer, and of the stream.
//
//   going ──silence, 409, 503, connected again──▶ suspected ──next()──▶ looks, and makes it again
//     ▲                                               ▲                      │           │
//     │                                               └──── a pause ◀── it failed        │
//     └──────────────────── behind the last message that was given ◀─────────────────────┘
//
//   event                      recognised by
//   the server does not answer no heartbeat for three times its interval
//   the consumer is gone       CONSUMER.INFO of a durable one: 404. Another one is made again in
//                              any case, because its server may not come back
//   the stream is gone         STREAM.INFO: 404
//   it is another stream       STREAM.INFO: created at another time
//   its sequences went back    its last sequence is below the position, or the message at the
//                              position was stored at another time
//   messages left before       its first sequence is behind the position
//
// Owns       its subscription, and the messages that were fetched and not read.
// Borrows    the streams, and through them the bus.
// Thread     its reactor's.
// Allocates  for each message.
// Fails      as Consumer says. One that reads once ends with an Error instead of going on.
// Invariant  it asks for no more messages than it has places. Only a durable consumer gives an
//            acknowledged message again.
// Source     docs.nats.io/reference/reference-protocols/nats_api_reference (2.9)
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>

#include "katana/base/coroutine/synchronization.hpp"
#include "katana/net/reactor/timer_wheel.hpp"
#include "katana/stores/bus/nats/jet_json.hpp"
#include "katana/stores/bus/nats/jet_streams.hpp"

namespace katana::bus {

class JetReader final : public Consumer, private net::TimerEntry {
 public:
  // `follows` false: it reads without acknowledgements, and ends when no more messages are there.
  JetReader(JetStreams& streams, ConsumeOptions options, bool follows);
  ~JetReader() override;

  // Makes the consumer on the server. Call it once, before anything else.
  Task<Result<void>> begin();

  Task<std::optional<Result<StoredMessage>>> next() override;
  void acknowledge(const StoredMessage& message) noexcept override;
  void reject(const StoredMessage& message, Duration delay) noexcept override;
  void close() noexcept override;
  std::uint64_t waiting_at_begin() const noexcept override { return waiting_at_begin_; }
  // Closes, and removes the consumer from the server. After close() alone the server removes it
  // a while later.
  void remove() noexcept;

 private:
  // ---- messages from the server
  Result<void> listen();
  void on_notice(const Notice& notice);
  void on_message(const Delivery& message);
  void on_status(const Delivery& message);
  void on_time() noexcept;

  // ---- messages to the caller
  std::optional<StoredMessage> take();
  bool is_known(std::uint64_t sequence) const noexcept;
  void count(StoredMessage& message);
  void pull();
  void arm(Duration time);

  // ---- going on
  void suspect(Error why);
  void note_answer();
  Task<void> recover();
  Task<void> wait_for_server();
  Task<Result<void>> make_again();
  Task<Result<bool>> is_same(const jet::Stream& stream);
  void begin_anew(const jet::Stream& stream);
  void note_expired(const jet::Stream& stream);
  Task<Result<jet::ConsumerState>> attach();
  void tell(const Error& why);
  void note_failure(const Error& why);
  std::uint64_t go_on_at() const noexcept;
  bool is_server_away() const;

  JetStreams& streams_;
  Bus& bus_;
  const ConsumeOptions options_;
  const std::string stream_;  // as the servers know it
  const bool follows_;
  const std::size_t places_;
  std::string name_;  // of the consumer, on the server
  std::string inbox_;
  Subscription subscription_;
  std::deque<StoredMessage> queue_;  // at most what was asked for
  std::size_t asked_ = 0;
  bool is_closed_ = false;
  AsyncEvent arrived_;
  std::deque<Error> problems_;  // to be told

  std::uint64_t waiting_at_begin_ = 0;
  std::uint64_t given_ = 0;       // messages
  std::string created_;           // of the stream
  std::uint64_t position_ = 0;    // the highest sequence that was given, or passed over
  Timestamp position_stored_at_;  // of a message that was given
  bool has_given_ = false;        // of this stream
  bool is_anew_ = false;          // the next message is the first of another stream
  std::set<std::uint64_t> unacknowledged_;
  std::uint64_t last_number_ = 0;  // of the consumer's deliveries
  bool has_others_ = false;        // other readers of the durable consumer were given some
  std::uint64_t floor_ = 0;        // of the durable consumer, when it was last seen

  std::optional<Error> suspicion_;
  Instant suspected_at_{};
  Instant retry_at_{};
  Duration pause_{};
  std::string told_;           // the last failure
  bool has_answered_ = true;   // a pull to the present consumer, by a message or a heartbeat
  bool is_fruitless_ = false;  // it did not answer, though it had been made again
};

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
