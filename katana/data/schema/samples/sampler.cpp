#include "katana/data/schema/samples/sampler.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "katana/data/container/findings.hpp"
#include "katana/data/schema/compiled.hpp"
#include "katana/data/schema/samples/drawing.hpp"

namespace katana::schema {
namespace {

std::unexpected<Error> spent(const Schema& schema, const StepBudget& budget) {
  return fail(Code::resource_exhausted,
              fmt::format("data for the schema {} takes more than {} steps to draw",
                          schema.root().where, budget.steps_max()));
}

}  // namespace

Result<container::Value> Sampler::draw(const Schema& schema) {
  StepBudget budget(options_.steps_max);
  return draw(schema, budget);
}

Result<container::Value> Sampler::draw(const Schema& schema, StepBudget& budget) {
  std::string fault = "nothing was tried";
  for (std::size_t tries = 0; tries < options_.tries_max; ++tries) {
    SampleOptions options = options_;
    // The last tries draw as little as possible: fewer choices, fewer contradictions.
    if (tries > options_.tries_max / 2) options.optional_per_1024 = 0;
    container::Value value = Drawing(random_, options, tries, budget).draw({&schema.root()}, {}, 0);
    container::Findings findings(1);
    if (schema.check(value, findings, budget)) return value;
    if (budget.is_spent()) return spent(schema, budget);
    fault = findings.error().message();
  }
  return fail(Code::unavailable,
              fmt::format("no data was found for the schema {} in {} tries; of the last one: {}",
                          schema.root().where, options_.tries_max, fault));
}

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
