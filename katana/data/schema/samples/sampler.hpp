// Sampler: data that a schema takes, drawn from a seed: for mock servers, load and tests.
//
//   schema::Sampler sampler(4711);
//   Result<container::Value> user = sampler.draw(schema);
//
// `const`, `enum`, `example`, `examples` and `default` are used where they are there, by choice.
// Otherwise bounds, lengths, patterns and formats decide, and where they leave it open a name such
// as "email" or "city" does, so that what is drawn reads well. Random parts stay small: a few
// items, optional members now and then, and fewer of both the deeper they are.
//
// Owns       its random numbers.
// Borrows    the schema, for the call.
// Thread     one.
// Allocates  freely.
// Fails      when nothing that was drawn fits, as for a schema that takes nothing, with the first
//            fault of the last try.
// Invariant  what is drawn fits: it was checked. The same seed, options and schemas give the same
//            data on every machine.
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

  // Code::unavailable after SampleOptions::tries_max, Code::resource_exhausted after steps_max.
  // Draws before it count.
  Result<container::Value> draw(const Schema& schema);
  // The same within a budget, of a request for example.
  Result<container::Value> draw(const Schema& schema, StepBudget& budget);
  // For callers that draw more from the same seed.
  Random& random() noexcept { return random_; }

 private:
  Random random_;
  SampleOptions options_;
};

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
