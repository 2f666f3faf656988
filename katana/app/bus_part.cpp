#include "katana/app/bus_part.hpp"

#include "katana/app/bus_descriptions.hpp"
#include "katana/app/system_metrics.hpp"
#include "katana/stores/bus/memory_bus.hpp"

namespace katana::app {

KATANA_DESCRIBE(MemoryBusSettings, KATANA_APP_BUS_LIMITS_)

namespace {

class MemoryBusPart final : public PartWith<MemoryBusSettings> {
 public:
  MemoryBusPart() : PartWith("bus", "messages between the reactors of the process") {}

  Result<void> start(const PartContext&) override {
    bus_ = std::make_unique<bus::MemoryBus>(settings());
    return {};
  }
  void provide(registry::Registry& registry) override { registry.instance<bus::Bus>(*bus_); }
  Result<void> observe(metrics::Registry& metrics, metrics::HealthChecks&) override {
    return add_bus_metrics(metrics, *bus_);
  }
  void stop() noexcept override { bus_.reset(); }

 private:
  std::unique_ptr<bus::Bus> bus_;
};

}  // namespace

std::unique_ptr<Part> memory_bus() { return std::make_unique<MemoryBusPart>(); }

}  // namespace katana::app

KATANA_CONFIG_DEFINE_GROUP(katana::app::MemoryBusSettings)

// SPDX-License-Identifier: Apache-2.0
