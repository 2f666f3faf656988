// FakeJetStream: a bus to a simulated NATS server with JetStream, in virtual time. It keeps streams
// and consumers as nats-server 2.9 does. A test can make it lose them, or fall silent.
//
// Owns       its streams, its consumers, and the pulls that wait.
// Thread     one: that of its reactor.
// Allocates  a test's tool.
// Invariant  every answer comes in a later turn. It answers requests as the real server was seen
//            to do (recovery_test.cpp asks the real one).
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "katana/net/reactor/reactor.hpp"
#include "katana/stores/bus/fan_out.hpp"
#include "katana/stores/bus/nats/jet_streams.hpp"

namespace katana::bus {

class FakeJetStream final : public Bus {
 public:
  struct Message {
    std::uint64_t sequence;
    std::string subject;
    std::string payload;
    Timestamp time;
  };
  struct Stream {
    std::string created = {};
    std::vector<std::string> subjects = {};
    std::deque<Message> messages = {};
    std::uint64_t last = 0;
  };
  struct Consumer {
    std::string stream = {};
    std::string filter = {};
    bool acknowledges = true;
    std::uint64_t next = 1;
    std::uint64_t number = 0;  // deliveries
    std::map<std::uint64_t, Instant> unacknowledged = {};
    std::uint64_t floor = 0;
  };
  struct Pull {
    std::string consumer;
    std::string inbox;
    std::size_t left;
    Instant end;
    Instant heartbeat;
  };

  explicit FakeJetStream(net::Reactor& reactor);
  ~FakeJetStream() override;

  // ---- controls of a test
  // Lose the connection, and make it again. The server keeps its state.
  void disconnect();
  void connect();
  // kill -9 and a start: consumers that are not durable are gone.
  void restart();
  // Restarts the server, and drops the store, too.
  void lose_state();
  std::uint64_t store(std::string subject, std::string payload);
  void expire(const std::string& stream, std::uint64_t below);
  // Sets a stream back to `last`, as a store that was restored from a copy.
  void go_back(const std::string& stream, std::uint64_t last);
  void delete_consumer(const std::string& name, bool tells);
  // Called before its reactor ends.
  void stop() { timer_.cancel(); }

  bool answers_api = true;
  bool answers_pulls = true;
  std::string api_error;     // of each answer; as JSON of "error"
  std::string pull_refusal;  // "409 Exceeded MaxWaiting"
  std::map<std::string, Stream> streams_kept;
  std::map<std::string, FakeJetStream::Consumer> consumers;
  std::vector<std::string> asked;  // of the API, without "$JS.API."
  std::vector<std::string> acknowledged;
  std::size_t count_asked(Bytes beginning) const;

  // ---- Bus
  using Bus::publish;
  Result<Published> publish(const Publication& publication) override;
  Result<Subscription> subscribe(Bytes pattern, Handler handler, SubscribeOptions options) override;
  DeliveryGuarantee delivery_guarantee() const noexcept override {
    return DeliveryGuarantee::at_most_once;
  }
  bus::Health health() const override;
  BusStatistics statistics() const override;
  bus::Streams* streams() noexcept override { return &jet_; }
  FanOut& fan_out() noexcept override { return fan_out_; }
  JetStreams& jet() noexcept { return jet_; }

  struct Told final : NatsObserver {
    void on_connected(const std::string&, bool, Duration) noexcept override {}
    void on_disconnected(const std::string&, const Error&) noexcept override {}
    void on_unreachable(const std::string&, const Error&) noexcept override {}
    void on_server_error(const std::string&, const std::string&) noexcept override {}
    void on_missed(Bytes, Bytes, std::uint64_t) noexcept override {}
    void on_stream_stalled(const std::string& what, const Error& why) noexcept override {
      lines.push_back("stalled: " + what + ": " + why.describe());
    }
    void on_stream_going(const std::string& what, Duration) noexcept override {
      lines.push_back("going: " + what);
    }
    void on_stream_gap(const std::string& what, const Error& gap) noexcept override {
      lines.push_back("gap: " + what + ": " + gap.describe());
    }
    std::vector<std::string> lines;
  } told;

 private:
  struct Timer : net::TimerEntry {
    explicit Timer(FakeJetStream& of) noexcept
        : TimerEntry(
              [](TimerEntry& entry) noexcept { static_cast<Timer&>(entry).owner.on_time(); }),
          owner(of) {}
    FakeJetStream& owner;
  };
  std::string answer(Bytes api, Bytes json);
  std::string answer_stream(Bytes verb, const std::string& name, Bytes json);
  std::string answer_consumer(Bytes verb, Bytes rest, Bytes json);
  std::string create_consumer(const std::string& stream, const std::string& durable, Bytes json);
  std::string describe(const std::string& name) const;
  void begin_pull(Bytes rest, Bytes json, Bytes inbox);
  void take_ack(Bytes subject, Bytes payload);
  void give();
  bool give_one(Pull& pull);
  void on_time();
  void send(Bytes inbox, Bytes subject, Bytes payload, Bytes reply_to, std::uint16_t status = 0);
  Timestamp wall() const;

  net::Reactor& reactor_;
  FanOut fan_out_;
  JetStreams jet_;
  bool is_up_ = true;
  std::deque<Pull> pulls_;
  std::uint64_t names_ = 0;
  std::uint64_t lives_ = 0;
  Timer timer_{*this};
};

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
