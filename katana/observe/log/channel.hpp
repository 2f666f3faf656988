// Channel: the data that logging threads share with the writer of their Log.
//
// Thread     any.
// Allocates  never; the first record of a thread takes one of the rings that exist.
// Fails      reserve() returns null: the record is dropped and counted.
#pragma once

#include <atomic>
#include <cstdint>

#include "katana/base/system/hints.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/observe/log/ring_set.hpp"

namespace katana::log {

// The policy of a thread whose ring is full. Either way lost records are counted, and the log
// reports them.
enum class WhenFull : std::uint8_t {
  drop,   // at once
  block,  // waits for room, up to block_max, then drops
};

// The settings of a channel, from Options and from its Log.
struct ChannelOptions {
  std::size_t index = 0;                // of the Log in live_logs()
  std::uint64_t generation = 0;         // of the Log; see LogPlace
  WhenFull when_full = WhenFull::drop;  // when a ring has no room
  Duration block_max = {};              // of WhenFull::block; 0: as drop
  bool synchronous = false;             // Mode::synchronous
};

class Channel {
 public:
  Channel(const ChannelOptions& options, RingSet& rings) noexcept
      : index_(options.index), generation_(options.generation), how_(options), rings_(rings) {}
  virtual ~Channel() = default;

  // The calling thread's ring; null when none is available.
  Ring* ring() noexcept {
    const ThreadSlot& slot = thread_slots[index_];
    if (slot.generation == generation_.load(std::memory_order_relaxed)) [[likely]]
      return slot.ring;
    return attach_rarely();
  }
  // Room for a record, by the policy; null when there is none, which is counted.
  char* reserve(Ring* ring, std::uint64_t bytes, Level level) noexcept {
    if (ring != nullptr) [[likely]] {
      if (char* const capacity = ring->reserve(bytes, level)) [[likely]]
        return capacity;
    }
    return reserve_rarely(ring, bytes, level);
  }
  void commit(Ring& ring, std::uint64_t bytes) noexcept {
    ring.commit(bytes);
    if (ring.hurry()) [[unlikely]]
      after_commit(ring);
  }

  // Records that no thread's ring could take: there was no ring, or the Log had stopped.
  std::uint64_t dropped_without_ring() const noexcept {
    return dropped_without_ring_.load(std::memory_order_relaxed);
  }
  std::uint64_t refused_when_stopped() const noexcept {
    return refused_when_stopped_.load(std::memory_order_relaxed);
  }
  bool synchronous() const noexcept { return how_.synchronous; }

 protected:
  // Writes all committed records, on this thread.
  virtual void write_now() noexcept = 0;
  // Ends the writer's sleep, if it sleeps.
  virtual void wake_writer() noexcept = 0;
  // From now on no thread's ring has this generation: its next record takes the rare path.
  void set_stopped() noexcept { generation_.store(stopped, std::memory_order_relaxed); }
  // Likewise, until that record: it ends the doze and wakes the writer. A record in progress may
  // not see it. The writer therefore looks once more before it sleeps for long.
  void doze() noexcept { exchange_generation(how_.generation, dozing); }
  void end_doze() noexcept { exchange_generation(dozing, how_.generation); }
  bool dozes() const noexcept { return generation_.load(std::memory_order_relaxed) == dozing; }
  RingSet& rings() noexcept { return rings_; }

 private:
  KATANA_RARE char* reserve_rarely(Ring* ring, std::uint64_t bytes, Level level) noexcept;
  KATANA_RARE void after_commit(Ring& ring) noexcept;

  static constexpr std::uint64_t stopped = UINT64_MAX;
  static constexpr std::uint64_t dozing = UINT64_MAX - 1;
  KATANA_RARE Ring* attach_rarely() noexcept;
  // Changes nothing when the channel has stopped meanwhile.
  void exchange_generation(std::uint64_t from, std::uint64_t to) noexcept {
    generation_.compare_exchange_strong(from, to, std::memory_order_relaxed);
  }

  const std::size_t index_;  // with the next member: all that an ordinary record reads
  std::atomic<std::uint64_t> generation_;
  const ChannelOptions how_;
  RingSet& rings_;
  std::atomic<std::uint64_t> dropped_without_ring_{0};
  std::atomic<std::uint64_t> refused_when_stopped_{0};
};

}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
