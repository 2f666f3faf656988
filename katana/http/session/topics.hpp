// Topics: publish and subscribe, across reactors.
//
// A message is framed once, whatever the number of subscribers: their outboxes all refer to the
// same bytes (base/memory/batch.hpp). Reactors without a subscriber are not asked.
//
// With a bus what is published in one process reaches the subscribers of all: those of this process
// as ever, without the bus; others once it is there, as the bus promises (stores/bus/bus.hpp). Each
// reactor with a subscriber of a topic is subscribed to "topics.NAME" then.
//
//   auto topics = std::make_shared<Topics>();        // or Topics({.bus = &bus})
//   topics->subscribe(socket, "prices");           // in a handler
//   topics->publish("prices", "42", MessageKind::text);  // anywhere
//
// Owns       the topics that have subscribers. A share of its reactors' posts.
// Borrows    the bus, which outlives it.
// Thread     any, but for subscribe() and unsubscribe(): those of the socket's reactor.
// Allocates  a topic, a subscription, a message.
// Fails      std::bad_alloc. A subscriber whose queue is full: WebSocketOptions::slow_peer. One
//            that has subscriptions_max already is told so, and nothing is changed.
// Invariant  messages that one thread publishes reach every subscriber in their order, whole, once.
//            A connection that ends is subscribed to nothing.
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

namespace katana::session {

struct Topic;

// How topics reach other processes.
struct TopicsOptions {
  bus::Bus* bus = nullptr;          // null: of this process
  std::string subjects = "topics";  // of a topic "SUBJECTS.NAME", with the name escaped
  // Called when messages of other processes were missed, or may have been, on a reactor that has
  // subscribers of the topic.
  std::function<void(Bytes topic, const bus::Notice& notice)> on_notice = {};
};

// Result of subscribe().
enum class SubscribeOutcome : std::uint8_t {
  subscribed,  // now; messages from here on reach the connection
  already,     // the connection had subscribed before
  full,        // the connection has WebSocketOptions::subscriptions_max
};

// Result of publish().
struct Published {
  std::size_t subscribers = 0;  // of this process, that the message is on its way to
  std::size_t missed = 0;       // on reactors that have too much queued
  // Why other processes do not get it; none: the bus has it, or there is none.
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
  // False: it is not.
  bool unsubscribe(WebSocket& socket, Bytes topic);
  Published publish(Bytes topic, Bytes payload, MessageKind kind);
  std::size_t subscribers(Bytes topic) const;

  // Figures of the table of names, for tests.
  struct Statistics {
    std::size_t names = 0;       // at most three times the topics that had subscribers at once
    std::uint64_t examined = 0;  // names, whether somebody is still subscribed: three a new topic
  };
  Statistics statistics() const;  // any thread; takes a lock

 private:
  struct Names;
  const std::unique_ptr<Names> names_;
};

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
