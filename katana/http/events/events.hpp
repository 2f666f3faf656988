// EventTopic: server-sent events (HTML §9.2.6, text/event-stream). publish() sends an event to
// every subscriber, on any reactor.
//
//   EventTopic prices({.events_kept_max = 100});
//   router.get("/prices", [&](const RequestView& request) { return prices.subscribe(request); });
//   prices.publish({.data = R"({"tea":3})", .name = "price"});   // from any thread
//
// An event with a key goes to subscribers of that key, and to subscribers of all events:
//
//   router.get("/orders", [&](const RequestView& request) {
//     return orders.subscribe(request, {"user:" + user_of(request)});
//   });
//   orders.publish({.data = json, .key = "user:" + order.user});
//
// With a bus and a name it is one topic of all processes. Its events are a stream of the bus, which
// numbers them, and each process keeps the latest in memory. A reader may reconnect to any process,
// and continues where it was.
//
//   EventTopic prices({.bus = &bus, .name = "prices"});
//   app.on_start([&] { return app.spawn([&] { return prices.follow(); }, "events"); });
//
// follow() continues after a loss of servers or of the stream. Each reader is told the lost events
// with an event "lost". A stream that cannot be read makes the bus not ready (bus::Health), and its
// log says why.
//
//   id           every event has one. A reader that reconnects with Last-Event-ID gets the kept
//                events that it missed. After a restart it gets all kept events.
//   lost         an event of this name tells a reader how many events it missed, in its data.
//                Without data the number is unknown.
//   retry        sent once, at the beginning of a stream.
//   heartbeat    a comment that is sent when nothing else was sent for this time. It keeps proxies
//                from closing the connection, and shows when a reader has left. After events of
//                other keys it has a new id for a reader of keys.
//   slow reader  one that takes less than is published. It falls behind the kept events and loses
//                the oldest ones. An event "lost" then says how many, or its stream ends.
//   leaving      ends the subscription at once.
//   draining     a reader gets the events that were not sent yet, and its stream ends.
//
// Owns       the kept events: one copy of each for all readers.
// Borrows    the bus, which outlives it. A call borrows nothing after it returns. Its subscribers
//            refer to it: it outlives the server.
// Thread     subscribe() a reactor's; the rest any.
// Allocates  for each event once, for each subscriber once.
// Fails      publish() returns invalid_argument for a name with a line end, or a key that begins
//            with a blank or has a line end. It returns out_of_range for an event above
//            event_bytes_max, or a key above key_bytes_max. With a bus it fails as
//            bus::Streams::submit(): resource_exhausted. follow() never fails: it tries again. The
//            reply of subscribe() is 503 when there are subscribers_max already.
// Invariant  a reader gets events in the order of their ids, each at most once. Every event that it
//            asked for and missed is reported as lost. An event with a key that it did not ask for
//            is never sent to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/http/events/event.hpp"
#include "katana/http/handlers/reply.hpp"
#include "katana/http/handlers/request.hpp"

namespace katana {

namespace bus {
class Bus;
}

// The treatment of a subscriber that falls behind the kept events.
enum class SlowReader : std::uint8_t { drop_oldest, disconnect };

// Limits of a topic.
struct EventTopicOptions {
  // The treatment of a subscriber that falls behind.
  SlowReader slow_reader = SlowReader::drop_oldest;
  std::size_t events_kept_max = 256;  // for readers that come back with Last-Event-ID; at least 1
  std::size_t bytes_kept_max = 1024 * 1024;  // bytes of the same; the older events go first
  std::size_t event_bytes_max = 64 * 1024;   // of data and name; publish() fails above it
  std::size_t subscribers_max = 1024;        // of all reactors; more are answered 503
  // The number of kept events that are sent to a reader that connects for the first time.
  std::size_t recent_for_new = 0;
  Duration heartbeat = seconds(15);
  Duration retry = seconds(2);  // 0: none is sent
  // Distinguishes the ids of this run of the program from those of other runs. 0: the time at
  // construction. Not used with a bus: its ids are those of the stream, the same in every process.
  std::uint64_t epoch = 0;
  // Together with a name of letters, digits, '-' and '_': the subject "events.NAME" and the stream
  // "events-NAME" of that bus. Null: a topic of this process.
  bus::Bus* bus = nullptr;
  std::string name = {};
};

// Counters of one topic since it was made.
struct EventTopicStatistics {
  std::uint64_t published = 0;     // calls of publish() that succeeded
  std::uint64_t delivered = 0;     // given to connections
  std::uint64_t lost = 0;          // events that readers missed, as far as that was counted
  std::uint64_t gaps = 0;          // times that readers were told "lost" without a number
  std::uint64_t disconnected = 0;  // slow readers, by SlowReader::disconnect
  std::uint64_t refused = 0;       // no more subscribers than subscribers_max
  std::size_t subscribers = 0;     // at present
  std::size_t events_kept = 0;     // at present
};

class EventTopic {
 public:
  static constexpr std::size_t key_bytes_max = 256;  // an event with a longer key is refused

  explicit EventTopic(const EventTopicOptions& options = {});
  // REQUIRES that no subscriber is left.
  ~EventTopic();
  EventTopic(const EventTopic&) = delete;
  EventTopic& operator=(const EventTopic&) = delete;

  // Returns the number of the event, from 1: its id is "EPOCH-NUMBER". With a bus it returns 0,
  // because the stream numbers the event. The event is kept until the stream has it
  // (bus::Streams::submit()).
  Result<std::uint64_t> publish(const Event& event);
  // For a topic with a bus: reads the events that its stream has and gets, until the reactor
  // drains. Run it once in the process, on one reactor.
  Task<void> follow();
  // Returns 200 with a stream of all events, whatever their keys. It ends when the client leaves or
  // the server drains.
  Reply subscribe(const RequestView& request);
  // The same with the events of these keys, and those without a key. No keys: only events without a
  // key.
  Reply subscribe(const RequestView& request, std::vector<std::string> keys);
  EventTopicStatistics statistics() const;
  // The kept events from that number on, in the form in which they are sent. For tests.
  std::vector<std::shared_ptr<const std::string>> kept_from(std::uint64_t number) const;

 private:
  class State;
  const std::unique_ptr<State> state_;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
