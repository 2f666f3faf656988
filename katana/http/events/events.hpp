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
// numbers them, and each process keeps the last of them in memory. A reader that reconnects to any
// process goes on where it was.
//
//   EventTopic prices({.bus = &bus, .name = "prices"});
//   app.on_start([&] { return app.spawn([&] { return prices.follow(); }, "events"); });
//
// follow() continues through losses of servers and of the stream. Events that were lost with them
// are told to each reader as an event "lost". A stream that cannot be read makes the bus not ready
// (bus::Health), and its log says why.
//
//   id           every event has one. A reader that comes again with Last-Event-ID is told what it
//                missed, as far as it is kept; also after a restart, when that is all that is kept.
//   lost         an event of that name says how many events a reader was not told, in its data.
//                Without data: an unknown number.
//   retry        said once, at the beginning of a stream.
//   heartbeat    a comment whenever nothing was sent for so long, so that no proxy takes the
//                connection for dead, and a reader that has left is noticed. A reader of keys
//                is sent its new id with it when events of other keys have passed.
//   slow reader  one that takes less than is published. Its place in what is kept is overtaken: it
//                loses the oldest events, and an event "lost" says how many; or its stream ends.
//   leaving      ends the subscription at once.
//   draining     a reader is sent what it has not been sent yet, and its stream ends.
//
// Owns       the events that are kept: one copy of each, whatever the number of readers.
// Borrows    the bus, which outlives it. Nothing else after a call. Its subscribers refer to it: it
//            outlives the server.
// Thread     subscribe() a reactor's; the rest any.
// Allocates  for each event once, for each subscriber once.
// Fails      publish(): invalid_argument for a name with a line end, or a key that begins with a
//            blank or has a line end; out_of_range for an event above event_bytes_max, or a key
//            above key_bytes_max; with a bus as bus::Streams::submit(): resource_exhausted.
//            follow() never: it tries again. subscribe(): 503 when there are subscribers_max
//            already.
// Invariant  a reader is told events in the order of their ids, each at most once, and none that
//            it asked for is passed over without being told as lost. An event whose key it did not
//            ask for is never sent to it.
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

// What happens to a subscriber that falls behind what is kept.
enum class SlowReader : std::uint8_t { drop_oldest, disconnect };

// Limits of a topic.
struct EventTopicOptions {
  // What happens to a subscriber that falls behind.
  SlowReader slow_reader = SlowReader::drop_oldest;
  std::size_t events_kept_max = 256;  // for readers that come back with Last-Event-ID; at least 1
  std::size_t bytes_kept_max = 1024 * 1024;  // bytes of the same; the older events go first
  std::size_t event_bytes_max = 64 * 1024;   // of data and name; publish() fails above it
  std::size_t subscribers_max = 1024;        // of all reactors; more are answered 503
  // So many of the kept events are sent to a reader that connects for the first time.
  std::size_t recent_for_new = 0;
  Duration heartbeat = seconds(15);
  Duration retry = seconds(2);  // 0: none is sent
  // Tells the ids of one run of the program from those of another. 0: the time at construction. Not
  // used with a bus: there the ids are of the stream, the same in every process.
  std::uint64_t epoch = 0;
  // Together with a name of letters, digits, '-' and '_': the subject "events.NAME" and the stream
  // "events-NAME" of that bus. Null: a topic of this process.
  bus::Bus* bus = nullptr;
  std::string name = {};
};

// What a topic has done since it was made.
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

  // The number of the event, from 1: its id is "EPOCH-NUMBER". With a bus 0: the stream numbers it,
  // and the event is kept until the stream has it (bus::Streams::submit()).
  Result<std::uint64_t> publish(const Event& event);
  // For a topic with a bus: takes over what its stream has, and what comes, until the reactor
  // drains. On one reactor of the process; its frame, once.
  Task<void> follow();
  // Returns 200 with a stream of all events, whatever their keys. It ends when the client leaves or
  // the server drains.
  Reply subscribe(const RequestView& request);
  // The same with the events of these keys, and those without a key. No keys: only those without a
  // key.
  Reply subscribe(const RequestView& request, std::vector<std::string> keys);
  EventTopicStatistics statistics() const;
  // The kept events from that number on, as they are sent. For tests.
  std::vector<std::shared_ptr<const std::string>> kept_from(std::uint64_t number) const;

 private:
  class State;
  const std::unique_ptr<State> state_;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
