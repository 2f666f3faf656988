// Count and HubCounters: what one hub did, for any thread to read at any time.
//
// Owns       its numbers.
// Thread     one writes, any reads: no lock prefix, no message, no torn value. Different counts may
//            be read from different moments.
// Allocates  never.
// Invariant  once nothing is queued: due == delivered + the sum of dropped.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "katana/base/text/bytes.hpp"

namespace katana::chat {

class Count {
 public:
  // relaxed: an independent number.
  void add(std::uint64_t more) noexcept {
    value_.store(value_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
  void subtract(std::uint64_t less) noexcept { add(0 - less); }
  void raise_to(std::uint64_t value) noexcept {
    if (value > value_.load(std::memory_order_relaxed)) {
      value_.store(value, std::memory_order_relaxed);
    }
  }
  std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_ = 0;
};

// The reasons why a message was not delivered to one of its recipients. Bytes that an engine was
// sending when the connection was lost count as lost. The client may have received them, but the
// server cannot know that.
enum class Loss : std::uint8_t {
  slow_reader,   // its queue was full: the oldest messages in it went
  disconnected,  // its queue was full, and the policy is to disconnect
  left,          // it was gone, or went, before it had taken the message
  draining,      // the server stopped before it had taken the message
  bus,           // it was said on another server, and lost on its way from there
  count_,
};
// The label values of metrics, by Loss.
inline constexpr std::array<Bytes, static_cast<std::size_t>(Loss::count_)> loss_names = {
    "slow_reader", "disconnected", "left", "draining", "bus"};

struct HubCounters {
  Count messages;       // accepted from members
  Count message_bytes;  // as they were framed
  Count refused;        // lines that were not accepted
  Count due;            // one for each message and recipient
  Count due_bytes;      // bytes of these messages, as they were framed
  Count delivered;      // the part of them that the kernel took whole
  // The lost messages by Loss; one for each message and recipient.
  std::array<Count, static_cast<std::size_t>(Loss::count_)> dropped;
  Count batches;           // blocks that were framed
  Count relayed;           // batches handed to other reactors
  Count relay_waits;       // times that a reactor's share was full and senders had to wait
  Count throttles;         // times that a member had to wait for its rate
  Count disconnects;       // slow readers that were disconnected
  Count turned_away;       // connections above the limit
  Count timeouts;          // connections that were idle for too long
  Count pings;             // asked for
  Count members;           // present number
  Count queued_bytes;      // present number: charged to members for what waits behind their outbox
  Count queue_peak_bytes;  // the most that one member has had queued

  // The sum of `dropped`. Any thread.
  std::uint64_t lost() const noexcept {
    std::uint64_t sum = 0;
    for (const Count& each : dropped) sum += each.value();
    return sum;
  }
  // REQUIRES one that is not count_.
  Count& of(Loss loss) noexcept { return dropped[static_cast<std::size_t>(loss)]; }
};

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
