// Topics: publish and subscribe, across reactors.
//
// A message is framed once, whatever the number of subscribers: their outboxes all refer to the
// same bytes (base/memory/batch.hpp). Reactors without a subscriber get no message.
//
// With a bus a message that is published in one process reaches the subscribers of all processes.
// Those of this process get it directly. Others get it from the bus, with its guarantees
// (stores/bus/bus.hpp). Each reactor with a subscriber of a topic then subscribes to "topics.NAME".
//
//   auto topics = std::make_shared<Topics>();        // or Topics({.bus = &bus})
//   topics->subscribe(socket, "prices");           // in a handler
//   topics->publish("prices", "42", MessageKind::text);  // anywhere
//
// Owns       the topics that have subscribers. A share of its reactors' posts.
// Borrows    the bus, which outlives it.
// Thread     any, except for subscribe() and unsubscribe(): those run on the socket's reactor.
// Allocates  a topic, a subscription, a message.
// Fails      std::bad_alloc. A subscriber with a full queue: WebSocketOptions::slow_peer.
//            subscribe() reports a connection that has subscriptions_max already, and changes
//            nothing.
// Invariant  messages that one thread publishes reach every subscriber in their order, complete,
//            and once. A connection that ends has no subscription left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "katana/base/system/function.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/http/session/websocket.hpp"

namespace katana::bus {
class Bus;
struct Notice;
}  // namespace katana::bus

namespace katana {

using session::MessageKind, session::SendOutcome, session::WebSocket;

// Options for topics that reach other processes.
struct TopicsOptions {
  bus::Bus* bus = nullptr;          // null: this process only
  std::string subjects = "topics";  // prefix of a subject "SUBJECTS.NAME", with the name escaped
  // Called on a reactor that has subscribers of the topic when messages of other processes were
  // missed, or may have been.
  std::function<void(Bytes topic, const bus::Notice& notice)> on_notice = {};
};

// Result of subscribe().
enum class SubscribeOutcome : std::uint8_t {
  subscribed,  // new; messages from now on reach the connection
  already,     // the connection had subscribed before
  full,        // the connection has WebSocketOptions::subscriptions_max
};

// Result of Topics::publish().
struct TopicPublished {
  std::size_t subscribers = 0;  // in this process; the message is on its way to them
  std::size_t missed = 0;       // on reactors that have too much queued
  bool not_utf8 = false;        // the text is not UTF-8; neither subscribers nor the bus get it
  // The reason why other processes do not get it; empty: the bus has it, or there is no bus.
  std::optional<Error> bus_problem = std::nullopt;
};

class Topics {
 public:
  explicit Topics(TopicsOptions options = {});
  ~Topics();
  Topics(const Topics&) = delete;
  Topics& operator=(const Topics&) = delete;

  // The reactor's thread of `socket`. The subscription ends with the connection.
  SubscribeOutcome subscribe(WebSocket& socket, Bytes topic);
  // Returns false if the socket is not subscribed.
  bool unsubscribe(WebSocket& socket, Bytes topic);
  TopicPublished publish(Bytes topic, Bytes payload, MessageKind kind);
  std::size_t subscribers(Bytes topic) const;

  // Figures of the table of names, for tests.
  struct Statistics {
    std::size_t names = 0;       // at most three times the most topics that had subscribers at once
    std::uint64_t examined = 0;  // names checked for subscribers: three for each new topic
  };
  Statistics statistics() const;  // any thread; takes a lock

 private:
  struct SharedTopic;
  struct Names;
  const std::unique_ptr<Names> names_;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
