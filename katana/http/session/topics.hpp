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

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "katana/http/session/websocket_post.hpp"
#include "katana/stores/bus/bus.hpp"

namespace katana::session {

struct TopicsOptions {
  bus::Bus* bus = nullptr;          // null: of this process
  std::string subjects = "topics";  // of a topic "SUBJECTS.NAME", with the name escaped
  // Called when messages of other processes were missed, or may have been, on a reactor that has
  // subscribers of the topic.
  std::function<void(Bytes topic, const bus::Notice& notice)> on_notice = {};
};

// Reactors with subscribers, and how many.
struct Topic {
  struct Share {
    std::shared_ptr<WebSocketPost> post;
    std::size_t subscribers;
  };
  Topic(std::string given, const TopicsOptions& how);
  // Of the reactor of `post`, which has its first subscriber. Nothing: there is no bus, or it
  // refuses.
  std::optional<bus::Subscription> hear(WebSocketPost& post);

  const std::string name;
  const TopicsOptions& options;
  const std::string subject;  // empty: there is no bus
  std::mutex mutex;           // guards what follows
  std::vector<Share> shares;

  void add(const std::shared_ptr<WebSocketPost>& post);
  void remove(const WebSocketPost& post) noexcept;
};

enum class SubscribeOutcome : std::uint8_t {
  subscribed,
  already,  // it was
  full,     // the connection has WebSocketOptions::subscriptions_max
};

struct Published {
  std::size_t subscribers = 0;  // of this process, that the message is on its way to
  std::size_t missed = 0;       // on reactors that have too much queued
  // Why other processes do not get it; none: the bus has it, or there is none.
  std::optional<Error> bus_problem = std::nullopt;
};

class Topics {
 public:
  explicit Topics(TopicsOptions options = {}) : options_(std::move(options)) {}
  Topics(const Topics&) = delete;
  Topics& operator=(const Topics&) = delete;

  SubscribeOutcome subscribe(WebSocket& socket, Bytes topic);
  // False: it is not.
  bool unsubscribe(WebSocket& socket, Bytes topic);
  Published publish(Bytes topic, Bytes payload, MessageKind kind);
  std::size_t subscribers(Bytes topic) const;

  struct Statistics {
    std::size_t names = 0;       // at most three times the topics that had subscribers at once
    std::uint64_t examined = 0;  // names, whether somebody is still subscribed: three a new topic
  };
  Statistics statistics() const;

 private:
  // Ordered, not hashed: peers may choose the names, and can choose such as collide.
  using Names = std::map<std::string, std::weak_ptr<Topic>, std::less<>>;
  std::shared_ptr<Topic> find(Bytes topic) const;
  std::shared_ptr<Topic> find_or_add(Bytes topic);
  // With the mutex held.
  void forget_some();

  const TopicsOptions options_;
  mutable std::mutex mutex_;  // guards what follows
  Names topics_;
  Names::iterator sweep_ = topics_.end();  // the next name to examine
  std::uint64_t examined_ = 0;
};

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
