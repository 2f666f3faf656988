// Invariant: any text is an expression or an error that quotes it. The next time of an expression
// is later and matches. The text of an expression parses to an equal one.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "katana/base/system/check.hpp"
#include "katana/stores/jobs/schedule.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace katana;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto schedule = jobs::Schedule::parse(text)) {
    const auto again = jobs::Schedule::parse(schedule->text());
    KATANA_CHECK(again && *again == *schedule);
    const Timestamp now(std::chrono::seconds(1'795'000'000));
    const Timestamp next = schedule->next(now);
    KATANA_CHECK(next > now);
    KATANA_CHECK(next == Timestamp::max() || schedule->passed(next, next).count == 1);
  }
  const auto parsed = jobs::CronExpression::parse(text);
  if (!parsed) {
    KATANA_CHECK(!parsed.error().message().empty());
    return 0;
  }
  std::chrono::sys_seconds time{std::chrono::seconds(1'795'000'000)};
  for (int count = 0; count < 3 && time != std::chrono::sys_seconds::max(); ++count) {
    const auto next = parsed->next(time);
    KATANA_CHECK(next > time);
    KATANA_CHECK(next == std::chrono::sys_seconds::max() || parsed->matches(next));
    time = next;
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
