#include "katana/stores/bus/memory_bus.hpp"

#include <optional>
#include <utility>

#include "katana/stores/bus/message_span.hpp"

namespace katana::bus {

MemoryBus::MemoryBus(const BusOptions& options)
    : fan_out_(options),
      streams_(fan_out_, [this](const Publication& publication, Stored* stored) -> Result<void> {
        auto published = publish_storing(publication, stored);
        if (!published) return std::unexpected(published.error());
        return {};
      }) {}

MemoryBus::~MemoryBus() = default;

Result<Published> MemoryBus::publish(const Publication& publication) {
  return publish_storing(publication, nullptr);
}

Result<Published> MemoryBus::publish_storing(const Publication& given, Stored* stored) {
  return publish_within_span(
      fan_out_.system(), given, header_bytes_max,
      [&](const Publication& publication) { return publish_now(publication, stored); });
}

Result<Published> MemoryBus::publish_now(const Publication& publication, Stored* stored) {
  if (auto checked = fan_out_.check(publication); !checked) {
    return std::unexpected(checked.error());
  }
  std::optional<HeldMessage> made;
  if (streams_.is_used()) streams_.capture(publication, made, stored);
  const bool has_some = fan_out_.deliver(publication, true, made);
  return Published{.nobody = !has_some, .is_here = has_some};
}

Result<Subscription> MemoryBus::subscribe(Bytes pattern, Handler handler,
                                          SubscribeOptions options) {
  return fan_out_.subscribe(pattern, std::move(handler), std::move(options));
}

Health MemoryBus::health() const {
  return {.ready = true, .state = BusState::in_process, .detail = "in process"};
}

BusStatistics MemoryBus::statistics() const {
  BusStatistics statistics;
  fan_out_.add_figures(statistics);
  statistics.submitted = streams_.submitted();
  return statistics;
}

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
