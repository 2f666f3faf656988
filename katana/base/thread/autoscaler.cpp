#include "katana/base/thread/autoscaler.hpp"
#include <fmt/format.h>

#include "katana/base/text/text.hpp"

namespace katana::thread {

Result<void> Autoscaler::check(const AutoscaleOptions& options) {
  const auto wrong = [](const char* name, auto value, const char* remedy) {
    return fail(Code::invalid_argument,
                fmt::format("autoscale.{} is {}: give {}", name, value, remedy));
  };
  if (!(options.scale_up_share > 0 && options.scale_up_share <= 1)) {
    return wrong("scale_up_share", options.scale_up_share, "a share above 0 and at most 1");
  }
  if (!(options.scale_down_share >= 0 && options.scale_down_share <= options.scale_up_share / 2)) {
    return wrong("scale_down_share", options.scale_down_share,
                 "a share from 0 to half of scale_up_share");
  }
  if (options.interval < milliseconds(1)) {
    return wrong("interval", fmt::format("{} ns", options.interval.ns), "at least 1 ms");
  }
  if (options.scale_up_intervals == 0 || options.scale_down_intervals == 0) {
    return wrong("scale_up_intervals or scale_down_intervals", 0, "at least 1");
  }
  return {};
}

}  // namespace katana::thread

// SPDX-License-Identifier: Apache-2.0
