// Event: what a topic publishes.
//
// Borrows    its texts, for the call that is given it.
// Thread     values.
#pragma once

#include "katana/base/text/bytes.hpp"

namespace katana {

struct Event {
  Bytes data;
  Bytes name = {};  // empty: "message", to a reader
  Bytes key = {};   // whose it is (EventTopic::subscribe()); empty: it is everybody's
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
