// Invariant: any bytes are a time zone or an error. A zone has an offset for every moment, and its
// changes ascend. to_utc(to_local(t)) is not later than t.
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "katana/base/system/check.hpp"
#include "katana/stores/jobs/time_zone.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace katana;
  using std::chrono::seconds;
  using std::chrono::sys_seconds;
  const Bytes file(reinterpret_cast<const char*>(data), size);
  (void)jobs::ZoneRule::parse(file);
  const auto zone = jobs::TimeZone::parse(file);
  if (!zone) return 0;
  for (sys_seconds time{seconds(1'795'000'000)}; time < sys_seconds{seconds(1'900'000'000)};
       time += seconds(7'654'321)) {
    KATANA_CHECK(zone->change_after(time) > time);
    KATANA_CHECK(zone->to_utc(zone->to_local(time)) <= time);
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
