#include "katana/testing/world/simulate.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "katana/testing/world/properties.hpp"
#include "katana/testing/world/sample_programs_test.hpp"

namespace katana::testing {
namespace {

using sample::json_of;

// Sets a variable of the environment for the length of a test.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* const name_;
};

// Ten requests of two clients. It fails when bob's third one is answered after a kill of the store.
void world_that_fails(World& world) {
  world.add("store", sample::store_options(), sample::configure_store);
  for (const char* const name : {"ada", "bob"}) {
    world.script(name, [](WorldClient& client) -> Task<void> {
      for (int index = 0; index < 5; ++index) {
        (void)co_await client.get("store", "/values/tea");
        co_await client.sleep(milliseconds(20));
      }
    });
  }
  world.faults({.within = milliseconds(50), .kills_max = 3, .resets_max = 2});
  world.always("bob's third request is before a crash", [](World& of) -> std::string {
    const bool was_killed = of.node("store").lives() > 1;
    for (const Operation& each : of.history()) {
      if (each.key() == "bob#3" && each.is_over() && each.outcome != Outcome::dropped &&
          was_killed) {
        return "it was over after one";
      }
    }
    return {};
  });
}

// The environment of the whole test program must not decide these tests.
SimulateOptions alone(std::uint64_t seeds) { return {.seeds = seeds, .reads_environment = false}; }

TEST(Simulate, a_function_without_a_failure_holds_for_all_seeds) {
  const Simulated found = simulate(alone(5), [](World& world) {
    world.script("ada", [](WorldClient& ada) -> Task<void> { co_await ada.sleep(seconds(1)); });
  });
  EXPECT_TRUE(found.holds) << found;
  EXPECT_EQ(found.seeds, 5u);
}

TEST(Simulate, a_failing_seed_is_made_small_and_its_line_repeats_it) {
  const Simulated found = simulate(alone(40), world_that_fails);
  ASSERT_FALSE(found.holds) << found;
  const Finding& finding = *found.finding;
  EXPECT_EQ(finding.property, "bob's third request is before a crash");
  // The request and the kill.
  EXPECT_EQ(finding.events, 2u) << found;
  EXPECT_NE(finding.timeline.find("started again"), std::string::npos);
  EXPECT_NE(finding.timeline.find("bob        #3"), std::string::npos) << found;
  EXPECT_EQ(finding.timeline.find("ada "), std::string::npos) << found;

  std::string drop;
  for (const std::string& each : finding.drop) drop += each + ",";
  const Variable seed("KATANA_SEED", std::to_string(finding.seed));
  const Variable dropped("KATANA_DROP", drop);
  const Simulated again = simulate({}, world_that_fails);
  ASSERT_FALSE(again.holds);
  EXPECT_EQ(again.seeds, 1u);
  EXPECT_EQ(again.finding->timeline, finding.timeline);
}

TEST(Simulate, an_exception_of_the_function_is_a_finding) {
  const Simulated found =
      simulate(alone(3), [](World&) { throw std::runtime_error("out of tea"); });
  ASSERT_FALSE(found.holds);
  EXPECT_EQ(found.finding->seed, 1u);
  EXPECT_NE(found.describe().find("out of tea"), std::string::npos);
}

TEST(Simulate, two_runs_of_a_seed_that_differ_are_a_finding_with_the_first_difference) {
  int calls = 0;
  const Simulated found = simulate(alone(3), [&calls](World& world) {
    const std::string name = "tea " + std::to_string(++calls);
    world.note("test", "the same");
    world.note("test", name);
  });
  ASSERT_FALSE(found.holds);
  EXPECT_EQ(found.finding->property, "two runs of a seed are the same");
  EXPECT_NE(found.finding->text.find("tea 3"), std::string::npos) << found;
  EXPECT_NE(found.finding->text.find("tea 4"), std::string::npos) << found;
  EXPECT_EQ(found.finding->text.find("the same\n"), std::string::npos) << found;
}

TEST(Simulate, the_environment_chooses_seeds) {
  std::vector<std::uint64_t> seeds;
  const auto note_seed = [&seeds](World& world) {
    if (seeds.empty() || seeds.back() != world.seed()) seeds.push_back(world.seed());
  };
  {
    const Variable count("KATANA_SEEDS", "3");
    EXPECT_TRUE(simulate({}, note_seed).holds);
    EXPECT_EQ(seeds, (std::vector<std::uint64_t>{1, 2, 3}));
  }
  seeds.clear();
  {
    const Variable range("KATANA_SEEDS", "100+2");
    EXPECT_TRUE(simulate({}, note_seed).holds);
    EXPECT_EQ(seeds, (std::vector<std::uint64_t>{100, 101}));
  }
  const Variable wrong("KATANA_SEEDS", "many");
  const Simulated found = simulate({}, note_seed);
  EXPECT_FALSE(found.holds);
  EXPECT_NE(found.describe().find("KATANA_SEEDS='many'"), std::string::npos) << found;
}

TEST(Simulate, the_report_is_a_line_for_each_call) {
  const std::string file = ::testing::TempDir() + "katana_simulate_report.json";
  std::remove(file.c_str());
  {
    const Variable report("KATANA_SIMULATE_REPORT", file);
    EXPECT_TRUE(simulate({.seeds = 2}, [](World&) {}).holds);
    EXPECT_FALSE(simulate({.seeds = 2}, [](World& world) { world.expect(false, "no"); }).holds);
  }
  std::ifstream in(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NE(lines[0].find(R"("seeds":2)"), std::string::npos) << lines[0];
  EXPECT_NE(lines[0].find(R"("finding":null)"), std::string::npos) << lines[0];
  EXPECT_NE(lines[1].find(R"("property":"expect")"), std::string::npos) << lines[1];
  std::remove(file.c_str());
}

// ---- properties

Operation operation(const std::string& client, std::size_t number, Outcome outcome,
                    unsigned status) {
  return {.client = client,
          .number = number,
          .node = "store",
          .method = "PUT",
          .target = "/values/tea",
          .content = client,
          .outcome = outcome,
          .status = status};
}

TEST(Properties, a_request_without_a_reply_is_stuck_unless_a_fault_explains_it) {
  for (const bool disturbed : {false, true}) {
    World world({.request_timeout = seconds(2)});
    world.add("store", sample::store_options(), sample::configure_store,
              {.database_delay_min = seconds(10), .database_delay_max = seconds(10)});
    world.at_end("no request is stuck", nothing_is_stuck());
    (void)world.client("ada").get("store", "/values/tea");
    if (disturbed) {
      (void)world.client("bob");
      world.faults(
          {.within = milliseconds(1), .partitions_max = 1'000, .partition_max = milliseconds(10)});
      ASSERT_FALSE(world.planned().empty());
    }
    EXPECT_EQ(world.finish(), disturbed) << world.report();
  }
}

TEST(Properties, a_reply_with_the_mark_of_another_client_is_wrong) {
  for (const bool leaks : {false, true}) {
    World world;
    world.add("store", sample::store_options(), sample::configure_store);
    world.at_end("replies", replies_stay_with_their_client({{"ada", "ada's"}, {"bob", "bob's"}}));
    (void)world.ask("store", "PUT", "/values/tea", json_of("ada's"));
    const WorldCall call = world.client(leaks ? "bob" : "ada").get("store", "/values/tea");
    EXPECT_EQ(world.finish(), !leaks) << world.report();
    EXPECT_EQ(call.operation().reply, "ada's");
  }
}

TEST(Properties, an_acknowledged_write_must_be_there_and_only_writes_that_were_asked_for) {
  const auto judge = [](std::set<std::string> present, bool only_these) {
    World world;
    world.add("store", sample::store_options(), sample::configure_store);
    (void)world.client("ada").put("store", "/values/tea", json_of("green"));
    world.at_end("kept",
                 acknowledged_are_kept(
                     {.write = [](const Operation& each) { return each.is_to("PUT", "/values/"); },
                      .id = [](const Operation& each) { return each.target; },
                      .present = [present](World&) { return present; },
                      .only_these = only_these}));
    return world.finish();
  };
  EXPECT_TRUE(judge({"/values/tea"}, true));
  EXPECT_FALSE(judge({}, true));
  EXPECT_FALSE(judge({"/values/tea", "/values/coffee"}, true));
  EXPECT_TRUE(judge({"/values/tea", "/values/coffee"}, false));
}

TEST(Properties, a_job_is_done_at_least_once_and_never_behind_a_later_holder) {
  const auto judge = [](std::vector<JobRun> runs) {
    World world;
    world.add("store", sample::store_options(), sample::configure_store);
    (void)world.client("ada").put("store", "/values/tea", json_of("green"));
    world.at_end(
        "jobs", jobs_are_done_and_fenced([](const Operation& each) { return each.method == "PUT"; },
                                         [](const Operation& each) { return each.target; },
                                         [runs](World&) { return runs; }));
    return world.finish();
  };
  EXPECT_FALSE(judge({}));
  EXPECT_TRUE(judge({{"/values/tea", 1}}));
  EXPECT_TRUE(judge({{"/values/tea", 1}, {"/values/tea", 1}, {"/values/tea", 2}}));
  EXPECT_FALSE(judge({{"/values/tea", 2}, {"/values/tea", 1}}));
}

TEST(Properties, an_end_of_a_connection_alone_is_not_at_rest) {
  World world;
  world.add("store", sample::store_options(), sample::configure_store,
            {.database_delay_min = seconds(1), .database_delay_max = seconds(1)});
  EXPECT_EQ(descriptors_return_to_rest()(world), "");
  EXPECT_EQ(memory_returns_to_rest()(world), "");
  const WorldCall call = world.client("ada").get("store", "/values/tea");
  world.run(milliseconds(500));
  EXPECT_NE(descriptors_return_to_rest()(world), "") << world.report();
  EXPECT_NE(memory_returns_to_rest()(world), "") << world.report();
  world.run(seconds(2));
  EXPECT_EQ(descriptors_return_to_rest()(world), "") << world.report();
  EXPECT_EQ(memory_returns_to_rest()(world), "") << call.operation().why;
}

TEST(Simulate, a_first_world_has_ten_lines) {
  const Simulated found = simulate(alone(5), [](World& world) {
    world.add("api", sample::store_options(), sample::configure_store);
    world.users({"ada", "bob"}, [](WorldClient& user) -> Task<void> {
      for (int each = 0; each < 10; ++each) (void)co_await user.get("api", "/values/tea");
    });
    world.faults(FaultBounds::usual(milliseconds(100)));
    world.at_end("no request is stuck", nothing_is_stuck());
    world.at_end("descriptors", descriptors_return_to_rest());
    world.at_end("memory", memory_returns_to_rest());
  });
  EXPECT_TRUE(found.holds) << found;
}

TEST(Simulate, a_finding_prints_a_test_with_the_parts_that_it_needs) {
  SimulateOptions options = alone(1);
  options.name = "users_read";
  const Simulated found = simulate(options, [](World& world) {
    world.add("api", sample::store_options(), sample::configure_store);
    world.users({"ada", "bob"}, [](WorldClient& user) -> Task<void> {
      for (int each = 0; each < 5; ++each) (void)co_await user.get("api", "/values/tea");
    });
    world.always("bob never asks twice", [](World& of) -> std::string {
      for (const Operation& each : of.history()) {
        if (each.key() == "bob#2" && each.outcome == Outcome::replied) return "he did";
      }
      return {};
    });
  });
  ASSERT_FALSE(found.holds);
  const std::string& test = found.finding->test;
  EXPECT_NE(test.find("World world({.seed = 1, .keep = {\"bob\", \"bob#2\"}});"), std::string::npos)
      << test;
  EXPECT_NE(test.find("users_read(world);"), std::string::npos) << test;
}

TEST(Properties, a_second_effect_of_one_id_is_wrong) {
  World world;
  EXPECT_EQ(
      at_most_once([](World&) { return std::map<std::string, std::size_t>{{"a", 1}}; })(world), "");
  EXPECT_EQ(
      at_most_once([](World&) { return std::map<std::string, std::size_t>{{"a", 2}}; })(world),
      "'a' had 2 effects");
}

TEST(Properties, an_operation_becomes_a_call_of_a_register) {
  const Operation lost = operation("ada", 1, Outcome::unknown, 0);
  EXPECT_TRUE(register_call(lost, RegisterCall::Kind::write, "tea", "a").is_open);
  const Operation done = operation("ada", 2, Outcome::replied, 204);
  const RegisterCall call = register_call(done, RegisterCall::Kind::write, "tea", "a");
  EXPECT_FALSE(call.is_open);
  EXPECT_NE(call.text.find("ada#2 PUT store/values/tea -> 204"), std::string::npos) << call.text;
}

// The store is one object: with crashes, partitions and resets its values are linearizable.
TEST(Properties, the_values_of_the_store_are_linearizable) {
  const Simulated found = simulate(alone(5), [](World& world) {
    world.add("store", sample::store_options(), sample::configure_store);
    world.add("front", sample::front_options(), sample::configure_front);
    for (const char* const name : {"ada", "bob", "eve"}) {
      world.script(name, [](WorldClient& client) -> Task<void> {
        for (int index = 0; index < 6; ++index) {
          const std::string value = client.name() + std::to_string(index);
          (void)co_await client.put("store", "/values/tea", json_of(value));
          (void)co_await client.get("front", "/tea");
        }
      });
    }
    world.faults({.within = milliseconds(200),
                  .kills_max = 1,
                  .kills_at_call_max = 2,
                  .partitions_max = 2,
                  .resets_max = 2});
    world.at_end(
        "linearizable", linearizable_registers([](const History& history) {
          std::vector<RegisterCall> calls;
          for (const Operation& each : history) {
            if (each.method == "PUT" && (each.succeeded() || each.is_open())) {
              const auto value = each.content.substr(10, each.content.size() - 12);
              calls.push_back(register_call(each, RegisterCall::Kind::write, "tea", value));
            }
            if (each.method == "GET" && (each.status == 200 || each.status == 404)) {
              auto read = each.status == 200 ? std::optional(each.reply) : std::nullopt;
              calls.push_back(register_call(each, RegisterCall::Kind::read, "tea", read));
            }
          }
          return calls;
        }));
    world.at_end("no request is stuck", nothing_is_stuck());
  });
  EXPECT_TRUE(found.holds) << found;
}

}  // namespace
}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
