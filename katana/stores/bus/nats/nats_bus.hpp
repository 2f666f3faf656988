// NatsBus: a bus between processes, by NATS servers.
//
//   NatsOptions options;
//   if (auto parsed = bus::parse_nats_url("nats://a,b,c", options); !parsed) …
//   std::unique_ptr<bus::NatsBus> bus = *bus::NatsBus::make(options);
//   bus->start(reactor);                      // on the thread of that reactor, its home
//
// One connection serves the process. Messages of other reactors and threads go to its home
// reactor, in one batch a turn. Received messages go to each reactor likewise. All messages
// published in a turn are one send.
//
//   SUB a.>             messages of other processes; the own ones are delivered without the server
//   SUB _numbers.a.>    the repeated numbers of other publishers (sequence.hpp)
//
// The first queue group makes a second connection: the server chooses among all members, also those
// of the publisher's process.
//
// A message carries its publisher's number as the header "Katana-Seq: PUBLISHER-NUMBER", in
// hexadecimal; other clients of NATS see a header more.
//
// The home reactor sends a message that is submitted to a stream until the stream has acknowledged
// it (store_queue.hpp). A drain waits for these acknowledgements, at most store_drain_max.
//
// Owns       its connections, which live on the home reactor, and the messages that wait for a
//            server.
// Borrows    the observer of its options.
// Thread     as Bus says; start() that of the home reactor.
// Allocates  as Bus says.
// Fails      make() with an Error for options that are wrong; start() never: health() says that a
//            server is away. The bus ends after its home reactor, or on its thread.
// Invariant  DeliveryGuarantee::at_most_once.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "katana/net/upstream/shared.hpp"
#include "katana/stores/bus/fan_out.hpp"
#include "katana/stores/bus/nats/jet_streams.hpp"
#include "katana/stores/bus/nats/options.hpp"
#include "katana/stores/bus/nats/store_queue.hpp"

namespace katana::bus {

class NatsBus final : public Bus, private Interest {
 public:
  // A drain waits at most this long for the server to store the messages of the queue.
  static constexpr Duration store_drain_max = seconds(3);

  // Does not connect. Until start() NatsOptions::away decides about published messages.
  static Result<std::unique_ptr<NatsBus>> make(NatsOptions options);
  ~NatsBus() override;

  // Connects, and goes on until the reactor ends. Call it once.
  void start(net::Reactor& home);

  using Bus::publish;
  Result<Published> publish(const Publication& publication) override;
  Result<Subscription> subscribe(Bytes pattern, Handler handler,
                                 SubscribeOptions options = {}) override;
  DeliveryGuarantee delivery_guarantee() const noexcept override {
    return DeliveryGuarantee::at_most_once;
  }
  Health health() const override;
  BusStatistics statistics() const override;
  Streams* streams() noexcept override;
  FanOut& fan_out() noexcept override { return fan_out_; }

  // Any thread. The secrets are in it.
  const NatsOptions& options() const noexcept { return options_; }
  // The subject as the server knows it.
  std::string full_subject(Bytes subject) const;

 private:
  class Home;
  struct Change {
    std::shared_ptr<Pattern> pattern;
    std::string group;
    std::uint64_t number;
    bool is_wanted;
  };

  NatsBus(NatsOptions options, std::shared_ptr<upstream::Shared> shared,
          std::shared_ptr<upstream::Shared> groups_shared);
  void on_wanted(const std::shared_ptr<Pattern>& pattern, Bytes group) noexcept override;
  void on_unwanted(const std::shared_ptr<Pattern>& pattern, Bytes group) noexcept override;
  void change(const std::shared_ptr<Pattern>& pattern, Bytes group, bool is_wanted);
  Result<void> enqueue(HeldMessage& message);
  Result<void> check_sendable(const Publication& publication);
  Result<void> submit(const Publication& publication);
  Result<Published> submit_now(const Publication& publication);
  Result<Published> publish_now(const Publication& publication);
  // The bytes that headers may grow by: below the server's max_payload, and 0 if it takes none.
  std::size_t headers_room(const Publication& publication) const noexcept;
  void ring();

  const NatsOptions options_;
  const std::shared_ptr<upstream::Shared> shared_;
  const std::shared_ptr<upstream::Shared> groups_shared_;
  std::unique_ptr<JetStreams> streams_;
  StoreQueue to_store_;
  const std::string id_prefix_;  // of what is submitted without an id
  std::atomic<std::uint64_t> last_id_ = 0;
  std::atomic<bool> is_up_ = false;
  // The home reactor: publications on it need no lock.
  std::atomic<const net::Reactor*> home_reactor_ = nullptr;
  std::atomic<bool> has_changes_ = false;
  std::atomic<bool> has_outgoing_ = false;
  std::atomic<std::uint64_t> payload_max_ = UINT64_MAX;  // of the server
  std::atomic<bool> takes_headers_ = true;               // the server understands them
  std::atomic<std::uint64_t> reconnects_ = 0;
  std::atomic<std::uint64_t> kept_refused_ = 0;

  mutable std::mutex mutex_;  // guards what follows
  Home* home_ = nullptr;      // null: not begun, or its reactor has ended
  std::vector<Change> changes_;
  std::map<std::pair<const Pattern*, std::string>, std::uint64_t> numbers_;
  std::uint64_t last_number_ = 0;
  std::deque<Posted> outgoing_;  // for the home reactor, or a server
  std::size_t outgoing_bytes_ = 0;
  bool rung_ = false;
  Health health_;
  std::string groups_problem_;  // why the connection of queue groups is away; empty: it is not

  FanOut fan_out_;  // the last member: what it cancels when it ends is told to the others
};

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
