// MemoryStreams: streams that one process keeps while it runs.
//
// Owns       the streams, and the positions of durable consumers.
// Borrows    the FanOut, by which it tells readers of other reactors that there are messages.
// Thread     store(), consume(), last() and after() a reactor's; capture(), submit() any.
// Allocates  the messages that are kept.
// Fails      as Streams says.
// Invariant  a message that is published to a subject of a stream is stored in it, by whatever
//            call.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "katana/stores/bus/fan_out.hpp"
#include "katana/stores/bus/stream_log.hpp"
#include "katana/stores/bus/streams.hpp"

namespace katana::bus {

class MemoryStreams final : public Streams {
 public:
  // Publishes as the bus does, which calls capture() with `stored`.
  using Publish = std::function<Result<void>(const Publication&, Stored* stored)>;

  // The streams and positions, which several nodes of a simulation share.
  struct State;
  static std::shared_ptr<State> make_state();  // without streams; given to several, they share all

  MemoryStreams(FanOut& fan_out, Publish publish, std::shared_ptr<State> state = make_state());
  ~MemoryStreams() override;

  // There are streams; this or another node made them.
  bool is_used() const noexcept;
  // Stores the publication in each stream that has its subject. `made` is the message if there is
  // one. Writes the acknowledgement of the first of these streams to `stored`.
  void capture(const Publication& publication, std::optional<HeldMessage>& made, Stored* stored);
  // False: calls fail with `unavailable`, readers wait, and submitted messages are kept.
  void set_available(bool available);
  // Drops all streams and positions, as if the servers had lost their state. For simulations.
  static void lose(State& state);
  // The number of messages that submit() accepted and no stream has stored.
  std::size_t submitted() const;

  Result<void> submit(const Publication& publication) override;
  Task<Result<std::vector<StoredMessage>>> last(std::string stream, std::string subject,
                                                std::size_t count) override;
  Task<Result<std::vector<StoredMessage>>> after(std::string stream, std::string filter,
                                                 std::uint64_t sequence,
                                                 std::size_t count) override;

 private:
  class Reader;
  Task<Result<void>> do_ensure(StreamOptions options) override;
  Task<Result<Stored>> do_store(std::string subject, std::string payload,
                                StoreOptions options) override;
  Task<Result<std::unique_ptr<Consumer>>> do_consume(ConsumeOptions options) override;
  struct Stream;
  Result<std::shared_ptr<Stream>> find(const std::string& name) const;
  static std::vector<StoredMessage> messages_of(const Stream& stream,
                                                const std::vector<std::uint64_t>& sequences);
  Result<void> check_available() const;
  // REQUIRES that the mutex of the state is held.
  Result<void> keep(std::deque<Posted>& where, const HeldMessage& message) const;

  FanOut& fan_out_;
  const Publish publish_;
  const std::shared_ptr<State> state_;
  std::atomic<bool> is_available_ = true;
  std::deque<Posted> kept_;  // what is submitted meanwhile; guarded by the mutex of the state
};

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
