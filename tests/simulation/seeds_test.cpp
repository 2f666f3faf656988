// The seeds of one shard.
//
//   KATANA_SHARD       which of the shards, from 0
//   KATANA_SHARDS      how many there are
//   KATANA_SEEDS       how many seeds, of all shards
//   KATANA_FIRST_SEED  the first of them
//   KATANA_TRACE       a number: prints so many lines of what happened, however it ends
//
// tools/replay SEED runs one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/simulation/seed_run.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/common_interface_defs.h>
#define KATANA_DEATH_CALLBACK 1
#endif
#endif

namespace katana::simulation {
namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::uint64_t present_seed = 0;

// What aborts cannot say which seed it was.
void name_seed() {
  std::fprintf(stderr, "simulation: seed %llu. Replay it: tools/replay %llu\n",
               static_cast<unsigned long long>(present_seed),
               static_cast<unsigned long long>(present_seed));
}

void on_abort(int) {
  name_seed();
  std::signal(SIGABRT, SIG_DFL);
  std::abort();
}

void name_seed_on_death() {
  std::signal(SIGABRT, &on_abort);
#if defined(KATANA_DEATH_CALLBACK)
  __sanitizer_set_death_callback(&name_seed);
#endif
}

TEST(Seeds, every_request_gets_its_reply_whatever_the_kernel_and_the_network_do) {
  const std::uint64_t shard = number_from("KATANA_SHARD", 0);
  const std::uint64_t shards = number_from("KATANA_SHARDS", 1);
  const std::uint64_t first = number_from("KATANA_FIRST_SEED", 1);
  const std::uint64_t count = number_from("KATANA_SEEDS", KATANA_SEEDS_DEFAULT);
  const std::uint64_t trace = number_from("KATANA_TRACE", 0);
  name_seed_on_death();
  std::uint64_t requests = 0;
  int failures_left = 3;  // the reports of more would hide the first
  for (std::uint64_t seed = first + shard; seed < first + count; seed += shards) {
    present_seed = seed;
    const SeedVerdict verdict = run_seed(seed, trace != 0 ? trace : 60, trace != 0);
    requests += verdict.requests;
    if (trace != 0) fmt::print("{}\n", verdict.explanation);
    if (verdict.faults.empty()) continue;
    std::string report;
    for (const std::string& fault : verdict.faults) report += "  " + fault + "\n";
    ADD_FAILURE() << "seed " << seed << ":\n"
                  << report << "Replay it: tools/replay " << seed << "\n\n"
                  << (trace != 0 ? "" : verdict.explanation);
    if (--failures_left == 0) return;
  }
  RecordProperty("requests", static_cast<int>(requests));
}

}  // namespace
}  // namespace katana::simulation
