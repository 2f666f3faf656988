// Sampler: decides whether a trace that begins or continues here is recorded.
//
//   auto sampler = Sampler::make("parentbased_traceidratio", 0.01);
//   sampler->samples(trace, &parent)
//
// A ratio decides by the last 56 bits of the trace id, which are random (level 2). Every service
// with the same ratio, or a greater one, therefore takes the same traces.
//
// Owns       values only.
// Thread     a value.
// Allocates  never.
// Fails      make() names the unknown sampler or the invalid ratio.
// Invariant  a sampler that follows its parent never breaks a trace that the parent has begun.
#pragma once

#include <cstdint>
#include <string_view>

#include "katana/base/system/result.hpp"
#include "katana/observe/trace/span_context.hpp"

namespace katana::trace {

class Sampler {
 public:
  // Follows the parent; samples without one.
  Sampler() noexcept = default;

  // `name` as in OTEL_TRACES_SAMPLER: always_on, always_off, traceidratio, and the same behind
  // "parentbased_". `ratio`: 0 to 1, for traceidratio.
  static Result<Sampler> make(std::string_view name, double ratio = 1);
  // parentbased_traceidratio. REQUIRES 0 ≤ ratio ≤ 1.
  static Sampler of_ratio(double ratio) noexcept { return {true, threshold_of(ratio)}; }

  // `parent`: null or not valid: the trace begins here.
  bool samples(const TraceId& trace, const SpanContext* parent) const noexcept {
    if (follows_parent_ && parent != nullptr && parent->is_valid()) return parent->is_sampled();
    return (trace.low & random_bits) >= threshold_;
  }

 private:
  static constexpr std::uint64_t random_bits = (std::uint64_t{1} << 56) - 1;

  Sampler(bool follows_parent, std::uint64_t threshold) noexcept
      : follows_parent_(follows_parent), threshold_(threshold) {}
  static std::uint64_t threshold_of(double ratio) noexcept;

  bool follows_parent_ = true;
  std::uint64_t threshold_ = 0;  // a trace below it is not sampled
};

}  // namespace katana::trace

// SPDX-License-Identifier: Apache-2.0
