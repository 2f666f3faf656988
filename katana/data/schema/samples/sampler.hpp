// Sampler: draws data that fits a schema from a seed, for mock servers, load and tests.
//
//   schema::Sampler sampler(4711);
//   Result<container::Value> user = sampler.draw(schema);
//
// The sampler uses `const` and `enum`, and optionally `example`, `examples` and `default`.
// Otherwise bounds, lengths, patterns and formats decide. If they do not, the name of the member
// does, such as "email" or "city", for realistic data. Random parts stay small: a few items,
// optional members now and then, and fewer of both at deeper levels.
//
// Owns       its random numbers.
// Borrows    the schema, for the call.
// Thread     one.
// Allocates  freely.
// Fails      when no try fits, as for a schema that accepts nothing, with the first finding of the
//            last try.
// Invariant  drawn data fits, because it was checked. The same seed, options and schemas give the
//            same data on every machine.
#pragma once

#include <cstdint>

#include "katana/base/system/result.hpp"
#include "katana/base/values/random.hpp"
#include "katana/data/container/value.hpp"
#include "katana/data/schema/samples/sample_options.hpp"
#include "katana/data/schema/schema.hpp"

namespace katana::schema {

class Sampler {
 public:
  explicit Sampler(std::uint64_t seed, SampleOptions options = {}) noexcept
      : random_(seed), options_(options) {}

  // Draws a value. Fails with Code::unavailable after SampleOptions::tries_max tries, and with
  // Code::resource_exhausted after steps_max steps. The result depends on earlier draws.
  Result<container::Value> draw(const Schema& schema);
  // The same within a budget, such as that of a request.
  Result<container::Value> draw(const Schema& schema, StepBudget& budget);
  // The random numbers, for callers that draw more from the same seed.
  Random& random() noexcept { return random_; }

 private:
  Random random_;
  SampleOptions options_;
};

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
