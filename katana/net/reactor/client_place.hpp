// ClientPlace: the place of a request among those of its client, until it is destroyed.
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
// Names an entry of ClientLimits; 0: none, and nothing is counted.
using ClientSlot = std::uint32_t;

// A place among the requests of a client that are in progress. It belongs to the work of its
// request and moves with it, from a connection to a task that outlives the connection. Only its
// destructor gives it back, on any thread. The limits outlive it.
class [[nodiscard]] ClientPlace {
 public:
  // The place of a client whose requests are not counted.
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
  // Whether the request is counted.
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
