#include "katana/observe/trace/sampler.hpp"

#include <fmt/format.h>

namespace katana::trace {

std::uint64_t Sampler::threshold_of(double ratio) noexcept {
  constexpr double all = static_cast<double>(random_bits) + 1;
  return static_cast<std::uint64_t>((1 - ratio) * all);
}

Result<Sampler> Sampler::make(std::string_view name, double ratio) {
  constexpr std::string_view prefix = "parentbased_";
  if (!(ratio >= 0 && ratio <= 1)) {
    return fail(Code::invalid_argument, fmt::format("the ratio is {}; set 0 to 1", ratio));
  }
  std::string_view rule = name;
  const bool follows_parent = rule.starts_with(prefix);
  if (follows_parent) rule.remove_prefix(prefix.size());
  if (rule == "always_on") return Sampler(follows_parent, threshold_of(1));
  if (rule == "always_off") return Sampler(follows_parent, threshold_of(0));
  if (rule == "traceidratio") return Sampler(follows_parent, threshold_of(ratio));
  return fail(Code::invalid_argument,
              fmt::format("unknown sampler '{}': set always_on, always_off or traceidratio, or one "
                          "of them behind parentbased_",
                          name));
}

}  // namespace katana::trace

// SPDX-License-Identifier: Apache-2.0
