// WebSocketPost: lets other threads reach the WebSocket connections of one reactor.
//
// A connection that other threads may reach has a slot: an index and a generation, which no other
// connection ever has. Jobs for a slot, or for the subscribers of a topic, are queued under a lock.
// The reactor takes them all at once within its turn.
//
// Owns       the slots, the queue, the lists of local subscribers.
// Borrows    sessions, from open() to close(); the reactor, while a slot is open.
// Thread     post() any; everything else the reactor's.
// Allocates  slots, subscriptions, and the queue.
// Fails      post() returns when no session can be reached, or when too much is queued.
// Invariant  the reactor is not touched when no slot is open. A session closes its slot before its
//            reactor is destroyed, and the lock is held while the reactor is woken.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "katana/base/memory/batch.hpp"
#include "katana/http/session/websocket.hpp"
#include "katana/http/session/websocket_handle.hpp"
#include "katana/net/reactor/reactor.hpp"

namespace katana::session {

class WebSocketSession;
struct Topic;

// A message framed once, or a request to close.
struct PostedJob {
  Slot slot = {};                      // the receiver; generation 0: the topic's subscribers
  std::shared_ptr<Topic> topic = {};   // with generation 0; otherwise null
  Block* block = nullptr;              // with a share; null: close
  CloseCode code = CloseCode::normal;  // of a close
  std::string reason = {};             // of a close; at most 123 bytes of UTF-8
};

class WebSocketPost : public std::enable_shared_from_this<WebSocketPost> {
 public:
  explicit WebSocketPost(std::size_t bytes_max) noexcept : bytes_max_(bytes_max) {}
  ~WebSocketPost();
  WebSocketPost(const WebSocketPost&) = delete;
  WebSocketPost& operator=(const WebSocketPost&) = delete;

  // ---- from any thread ----
  // Takes the job's share of its block in any case.
  SendOutcome post(PostedJob&& job);

  // ---- on the reactor's thread ----
  // True if the caller is on that thread.
  bool is_here() const noexcept {
    // relaxed: on the reactor's thread the last value is that thread's.
    net::Reactor* const reactor = reactor_.load(std::memory_order_relaxed);
    return reactor != nullptr && net::Reactor::current() == reactor;
  }
  Slot open(net::Reactor& reactor, WebSocketSession& session);
  void close(Slot slot) noexcept;
  WebSocketSession* find(Slot slot) noexcept;
  std::size_t subscriptions(Slot slot) const noexcept {
    return entries_[slot.index].subscriptions.size();
  }
  bool is_subscribed(Slot slot, const Topic& topic) const noexcept;
  // Returns false if the slot was subscribed already.
  bool subscribe(Slot slot, const std::shared_ptr<Topic>& topic);
  bool unsubscribe(Slot slot, const std::shared_ptr<Topic>& topic) noexcept;
  void deliver(const Topic& topic, Batch& batch) noexcept;

 private:
  struct Subscription {
    std::shared_ptr<Topic> topic;
    std::uint32_t place;  // in the topic's list
  };
  struct Entry {
    WebSocketSession* session = nullptr;  // null: free
    std::uint32_t generation = 1;
    std::vector<Subscription> subscriptions;
  };
  struct Doorbell : Message {
    explicit Doorbell(WebSocketPost& owner) noexcept;
    WebSocketPost& post;
  };

  // Charges the bytes for as long as a queue refers to them.
  void charge(Batch& batch) noexcept {
    batch.charge_to(reactor_.load(std::memory_order_relaxed)->memory());
  }
  void take_jobs() noexcept;
  void run(const PostedJob& job) noexcept;
  void leave_list(const Topic& topic, std::uint32_t place) noexcept;

  const std::size_t bytes_max_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;
  // The subscribers of a topic on this reactor.
  struct Subscribers {
    std::vector<std::uint32_t> entries;                    // indices
    std::unique_ptr<net::Attachment> elsewhere = nullptr;  // see Topic::hear()
  };
  std::unordered_map<const Topic*, Subscribers> subscribers_;
  Doorbell doorbell_{*this};

  std::atomic<net::Reactor*> reactor_ = nullptr;  // null until the first slot
  std::mutex mutex_;                              // guards the members below
  std::uint32_t open_ = 0;
  std::size_t bytes_ = 0;
  bool rung_ = false;
  std::vector<PostedJob> jobs_;
};

// False for text that is not UTF-8: no text message may have it (RFC 6455 §5.6).
bool is_sendable(Bytes payload, MessageKind kind) noexcept;

// Makes the bytes of a complete message of the server, which many queues may refer to.
Batch& frame_message(Bytes payload, MessageKind kind);

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
