// ClientPlace: a request among those of its client, until it is destroyed.
//
// Borrows    the ClientLimits that gave it.
// Thread     any.
// Allocates  never.
// Fails      never.
#pragma once

#include <cstdint>
#include <utility>

namespace katana::net {

class ClientLimits;
// Names an entry of ClientLimits; 0: none, for whom nothing is counted.
using ClientSlot = std::uint32_t;

// A place among the requests of a client that are in progress. It belongs to the work of its
// request, and goes where that goes: from a connection to the task that outlives it. Gives itself
// back when it is destroyed, on any thread; nothing else does. The limits outlive it.
class [[nodiscard]] ClientPlace {
 public:
  // Of a client whose requests are not counted.
  ClientPlace() noexcept = default;
  ClientPlace(ClientPlace&& other) noexcept
      : limits_(std::exchange(other.limits_, nullptr)), slot_(other.slot_) {}
  ClientPlace& operator=(ClientPlace&& other) noexcept {
    std::swap(limits_, other.limits_);
    std::swap(slot_, other.slot_);
    return *this;
  }
  ~ClientPlace() {
    if (limits_ != nullptr) [[unlikely]]
      end();
  }
  // It is counted.
  explicit operator bool() const noexcept { return limits_ != nullptr; }

 private:
  friend class ClientLimits;
  void end() noexcept;
  ClientPlace(ClientLimits& limits, ClientSlot slot) noexcept : limits_(&limits), slot_(slot) {}
  ClientLimits* limits_ = nullptr;  // null: nothing is counted
  ClientSlot slot_ = 0;
};

}  // namespace katana::net

// SPDX-License-Identifier: Apache-2.0
