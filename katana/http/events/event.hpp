// Event: one event that a topic publishes.
//
// Borrows    its texts, for the call that is given it.
// Thread     values.
#pragma once

#include "katana/base/text/bytes.hpp"

namespace katana {

struct Event {
  Bytes data;
  Bytes name = {};  // empty: "message", for a reader
  Bytes key = {};   // selects readers (EventTopic::subscribe()); empty: all readers
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
