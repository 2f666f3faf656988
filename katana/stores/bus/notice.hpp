// Notice: tells a subscriber that it missed messages, or that the connection to the server changed.
//
// A gap lies where its notice comes: between the messages before and behind it. The place of a
// `may_have_missed` is not known exactly: the gap is there or earlier.
//
// Owns       nothing.
// Borrows    the subject, for the call.
// Thread     its subscriber's.
#pragma once

#include <cstdint>

#include "katana/base/text/bytes.hpp"

namespace katana::bus {

// The event that a notice reports.
enum class NoticeKind : std::uint8_t {
  missed,           // `count` messages, from one publisher to `subject` if that is known
  may_have_missed,  // some, or none: they could not be counted
  disconnected,     // from the server; what others publish from here on is not received
  connected,        // again
  denied,           // the server does not allow this subscription: nothing will come
  closed,           // the subscription has ended: its subscriber was too slow, and wanted that
};
Bytes name_of(NoticeKind kind) noexcept;  // as the enumerator is spelt

// The cause of missed messages.
enum class MissReason : std::uint8_t {
  none,          // of notices that are no gap
  network,       // between the processes: a gap in a publisher's numbers, or an outage
  slow_reactor,  // too much waited for the subscriber's reactor
  slow_reader,   // too much waited in its Messages
  expired,       // a stream did not keep them so long
};
Bytes name_of(MissReason reason) noexcept;  // as the enumerator is spelt

struct Notice {
  NoticeKind kind = NoticeKind::missed;  // says which of the members below count
  MissReason reason = MissReason::none;  // of missed, may_have_missed and closed
  std::uint64_t count = 0;               // of `missed`
  Bytes subject = {};                    // empty: any that the subscriber is subscribed to
};

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
