// Bus: publish and subscribe between the reactors of a process, and between processes.
//
//   bus.publish({.subject = "prices.tea", .payload = "42"});         // from any thread
//
//   auto subscribed = bus.subscribe("prices.*", [](const bus::Delivery& message) { … });
//   bus::Subscription subscription = *std::move(subscribed);         // until it is destroyed
//
//   Result<bus::HeldMessage> answer = co_await bus.request("stock.tea", "how much?", seconds(1));
//
// Bus::delivery_guarantee() says what happens to a message that publish() accepted:
//
//   in_process     MemoryBus. Each subscriber that this process has during the call gets the
//                  message once. Messages of one publisher arrive in the order of publication.
//                  When too much waits for a subscriber's reactor, the newest messages are dropped.
//                  The subscriber is told how many were dropped, or that there were some.
//   at_most_once   NATS. Within the process as above, with or without a server. Other processes get
//                  the message once, in the order of its publisher and subject, or not at all.
//                  Receivers find a loss by the publisher's numbers, and are told `missed`. The
//                  publisher repeats these numbers when it falls silent (sequence.hpp). After an
//                  outage all subscribers are told `may_have_missed`, until the numbers say how
//                  many messages were lost.
//   at_least_once  Messages that a stream acknowledged (streams.hpp). A consumer reads them from
//                  any position, and gets each again until it acknowledges it. The stream stores
//                  one message of each id.
//
// The bus gives each message to one subscriber of a queue group. Groups are not told of gaps that
// the numbers would show, because each subscriber sees only a part of the messages.
//
// Bounds, each with a counter in BusStatistics:
//
//   messages that wait for a reactor   queue_messages_max, queue_bytes_max: the newest is dropped,
//                                      and its subscribers are told
//   a Messages (messages.hpp)          its own bounds: drop_oldest, drop_newest, or disconnect; its
//                                      reader is told
//   requests that are waiting          requests_max for each reactor: resource_exhausted
//   messages that wait for a server    AwayOptions: refused, or kept up to a bound; publish() says
//                                      which
//
// Owns       the messages that are not delivered yet. Subscriptions refer to it: it outlives them.
// Borrows    a Publication, for the call.
// Thread     publish(), health() and statistics() any; subscribe() and request() a reactor's. The
//            handler is called there, never within a call of the bus. It is called in the same turn
//            when a message comes from the same reactor or from a thread that was in time.
// Allocates  a block for each message; an entry for each reactor that has subscribers.
// Fails      publish() and subscribe() with an Error: invalid_argument for a subject,
//            out_of_range for a payload, permission_denied for a subject that the server does not
//            allow. Also unavailable, when the server is away and AwayOptions keep nothing.
// Invariant  a message that a publisher publishes first is given first to each of its subscribers.
//            A handler is not called once its Subscription is destroyed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/stores/bus/message.hpp"
#include "katana/stores/bus/notice.hpp"

namespace katana::bus {

class FanOut;
class Streams;

// The guarantee of a bus for a published message; see above.
enum class DeliveryGuarantee : std::uint8_t {
  in_process,    // there is no other process: nothing is lost but by the bounds of queues
  at_most_once,  // others may miss messages: subscribers should heed notices
};

// Options of one subscription.
struct SubscribeOptions {
  // One token. Each message goes to one of the subscribers to the same pattern in this group.
  // Empty: no group.
  std::string queue_group = {};
  // False: this subscriber does not get the messages that this process publishes, because they are
  // delivered to it in another way.
  bool own = true;
  // False: the handler has no span (message_span.hpp), because it only keeps messages for others.
  bool traced = true;
  // Receives notices of missed messages and of the connection's state. None: they are only counted.
  std::move_only_function<void(const Notice&)> on_notice = {};
};

// Called on the subscriber's reactor for each message, which is borrowed for the call.
using Handler = std::move_only_function<void(const Delivery&)>;

// The holder of subscriptions, each of which has a number.
class SubscriptionOwner {
 public:
  // Does nothing when the subscription is gone.
  virtual void cancel(std::uint64_t number) noexcept = 0;

 protected:
  ~SubscriptionOwner() = default;
};

// Unsubscribes when it is destroyed, on its reactor's thread, or once that reactor is gone.
class [[nodiscard]] Subscription {
 public:
  Subscription() noexcept = default;
  Subscription(std::shared_ptr<SubscriptionOwner> owner, std::uint64_t number) noexcept
      : owner_(std::move(owner)), number_(number) {}
  Subscription(Subscription&& other) noexcept = default;
  Subscription& operator=(Subscription&& other) noexcept {
    std::swap(owner_, other.owner_);
    std::swap(number_, other.number_);
    return *this;
  }
  ~Subscription() { cancel(); }

  // Cancels, as the destructor does. May be called within its handler.
  void cancel() noexcept {
    // The handler that has this object may be destroyed by it.
    if (const auto owner = std::move(owner_)) owner->cancel(number_);
  }
  // False: it was never made, or was cancelled.
  explicit operator bool() const noexcept { return owner_ != nullptr; }

 private:
  std::shared_ptr<SubscriptionOwner> owner_;
  std::uint64_t number_ = 0;
};

// A request; see Bus::request().
struct Request {
  std::string subject = {};       // of the responder; the bus makes the subject of the answer
  std::string payload = {};       // at most BusOptions::payload_bytes_max bytes
  Duration timeout = seconds(5);  // to the answer; the coroutine's deadline may be earlier
  std::string id = {};            // as Publication::id
};

// The subscribers that a message accepted by publish() may have; both false: nothing is known.
struct Published {
  // There is no subscriber. The bus knows this in process; a server tells it only in the answer to
  // a request.
  bool nobody = false;
  bool is_here = false;  // this process has a subscriber outside of queue groups
};

// The connection of the bus to its server.
enum class BusState : std::uint8_t {
  in_process,    // there is no server
  connecting,    // for the first time
  connected,     // messages go to the server and come from it
  reconnecting,  // it was connected; see Health::since
  closed,        // for good: Health::detail says why
};
Bytes name_of(BusState state) noexcept;  // as the enumerator is spelt; for logs and health pages

// The state when health() was called.
struct Health {
  // True: published messages leave the process now, and every stream in use goes on. Always true
  // without a server.
  bool ready = false;
  BusState state = BusState::connecting;  // `ready` is true for in_process and connected alone
  Instant since = {};                     // it has been in this state
  std::string detail =
      {};  // the server, or why there is none, or which stream cannot go on and why
};

// Counts over all reactors since the bus was made.
struct BusStatistics {
  std::uint64_t published = 0;          // calls of publish() whose subject and sizes are right
  std::uint64_t published_bytes = 0;    // payloads
  std::uint64_t refused = 0;            // publications, with an Error
  std::uint64_t delivered = 0;          // calls of handlers
  std::uint64_t received = 0;           // from other processes
  std::uint64_t received_bytes = 0;     // payloads
  std::uint64_t dropped = 0;            // for one reactor, because too much waited for it
  std::uint64_t stream_dropped = 0;     // by the bounds of a Messages
  std::uint64_t missed = 0;             // that the numbers of publishers showed
  std::uint64_t uncertain = 0;          // times that `may_have_missed` was told
  std::uint64_t duplicates = 0;         // found by the numbers, and not delivered
  std::uint64_t requests = 0;           // begun, whatever came of them
  std::uint64_t requests_failed = 0;    // unanswered, or refused
  std::uint64_t reconnects = 0;         // the first connection is none
  std::uint64_t kept = 0;               // at present, for a server that is away
  std::uint64_t kept_bytes = 0;         // of these: memory, with the texts of each message
  std::uint64_t kept_refused = 0;       // publications for which there was no room
  std::uint64_t subscriptions = 0;      // at present
  std::uint64_t waiting = 0;            // at present, for reactors
  std::uint64_t waiting_bytes = 0;      // of these: memory
  std::uint64_t stream_recoveries = 0;  // consumers that were made again
  std::uint64_t stream_gaps = 0;        // times that a consumer told data_loss
  std::uint64_t stream_missed = 0;      // StoredMessage::missed of all that was given
  std::uint64_t streams_stalled = 0;    // at present: consumers and submissions that cannot go on
  std::uint64_t submitted = 0;          // at present: kept until a stream has acknowledged them
  std::uint64_t not_stored = 0;         // of these: left when the process or its reactor ended
};

// Bounds of a bus, fixed when it is made.
struct BusOptions {
  std::size_t payload_bytes_max = 1024 * 1024;  // beyond it publish() is out_of_range
  // The following bounds are for each reactor.
  std::size_t queue_messages_max = 64 * 1024;
  std::size_t queue_bytes_max = std::size_t{64} * 1024 * 1024;
  std::size_t requests_max = 4096;
  std::size_t subscriptions_max = 64 * 1024;
};

// The policy of publish() while there is no server. Subscribers of this process get the message in
// any case.
enum class WhenAway : std::uint8_t {
  refuse,  // unavailable
  keep,    // for when the server is there again, in order; beyond the bounds: resource_exhausted
};
// Bounds of the messages that wait for a server. Messages that wait for the home reactor count,
// too: the bounds also hold while there is a server.
struct AwayOptions {
  WhenAway policy = WhenAway::keep;                      // holds before the first connection, too
  std::size_t messages_max = 8 * 1024;                   // of all threads together
  std::size_t bytes_max = std::size_t{8} * 1024 * 1024;  // memory, with the texts of each message
};

class Bus {
 public:
  virtual ~Bus() = default;
  Bus(const Bus&) = delete;
  Bus& operator=(const Bus&) = delete;

  // Never waits. Subscribers of this process get the message even after unavailable or
  // resource_exhausted.
  virtual Result<Published> publish(const Publication& publication) = 0;
  // The same without headers, id and reply subject.
  Result<Published> publish(Bytes subject, Bytes payload) {
    return publish({.subject = subject, .payload = payload});
  }
  // Lasts until the Subscription is destroyed. Earlier messages are not given.
  virtual Result<Subscription> subscribe(Bytes pattern, Handler handler,
                                         SubscribeOptions options = {}) = 0;
  // Returns the first answer. Fails with deadline_exceeded at the earlier of `timeout` and the
  // coroutine's deadline. Fails with unavailable at once when the bus knows of no responder.
  Task<Result<HeldMessage>> request(Request request);
  Task<Result<HeldMessage>> request(std::string subject, std::string payload,
                                    Duration timeout = seconds(5)) {
    return request({std::move(subject), std::move(payload), timeout, {}});
  }

  virtual DeliveryGuarantee delivery_guarantee()
      const noexcept = 0;             // the same for the life of the bus
  virtual Health health() const = 0;  // takes a lock: for probes, not for each message
  virtual BusStatistics statistics()
      const = 0;  // takes locks and sums over the reactors: for metrics
  // The streams, which keep messages. Null: this bus keeps none.
  virtual Streams* streams() noexcept { return nullptr; }
  // The part that delivers to the reactors of this process.
  virtual FanOut& fan_out() noexcept = 0;

 protected:
  Bus() = default;
};

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
