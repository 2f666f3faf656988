// MemoryBus: the bus of one process.
//
// Owns       the messages that are not delivered yet, and those that its streams keep.
// Thread     any, as Bus says.
// Allocates  as Bus says.
// Fails      as Bus says; it is never unavailable.
// Invariant  DeliveryGuarantee::in_process.
#pragma once

#include "katana/stores/bus/bus.hpp"
#include "katana/stores/bus/fan_out.hpp"
#include "katana/stores/bus/memory_streams.hpp"

namespace katana::bus {

class MemoryBus final : public Bus {
 public:
  explicit MemoryBus(const BusOptions& options = {});
  ~MemoryBus() override;

  using Bus::publish;
  Result<Published> publish(const Publication& publication) override;
  Result<Subscription> subscribe(Bytes pattern, Handler handler,
                                 SubscribeOptions options = {}) override;
  DeliveryGuarantee delivery_guarantee() const noexcept override {
    return DeliveryGuarantee::in_process;
  }
  Health health() const override;
  BusStatistics statistics() const override;
  Streams* streams() noexcept override { return &streams_; }
  FanOut& fan_out() noexcept override { return fan_out_; }

 private:
  Result<Published> publish_storing(const Publication& publication, Stored* stored);
  Result<Published> publish_now(const Publication& publication, Stored* stored);

  FanOut fan_out_;
  MemoryStreams streams_;
};

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
