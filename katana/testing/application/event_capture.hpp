// EventCapture: the events that are published to an EventTopic from now on, as values.
//
//   testing::EventCapture changes(app.service<EventTopic>());
//   app.post("/orders", order);
//   EXPECT_EQ(changes.events().at(0).name, "created");
//
// Owns       nothing; it reads the events that the topic keeps.
// Borrows    the topic, which must outlive it.
// Thread     any.
// Allocates  for each call.
// Fails      never. The topic keeps only its last events (events_kept_max); missed() counts earlier
//            ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "katana/http/events/events.hpp"

namespace katana::testing {

// A published event.
struct CapturedEvent {
  std::string id;    // as readers get it in "id:"
  std::string name;  // empty: the event has none
  std::string data;
};

class EventCapture {
 public:
  explicit EventCapture(const EventTopic& topic)
      : topic_(topic), published_before_(topic.statistics().published) {}

  // The events since the capture was made, in the order of publication.
  std::vector<CapturedEvent> events() const;
  // Events that the topic had dropped before they were read.
  std::uint64_t missed() const;

 private:
  const EventTopic& topic_;
  const std::uint64_t published_before_;
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
