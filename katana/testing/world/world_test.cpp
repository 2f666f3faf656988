#include "katana/testing/world/world.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <set>
#include <stdexcept>

#include "katana/testing/world/properties.hpp"
#include "katana/testing/world/sample_programs_test.hpp"

namespace katana::testing {
namespace {

using sample::json_of;

void add_both(World& world) {
  world.add("store", sample::store_options(), sample::configure_store);
  world.add("front", sample::front_options(), sample::configure_front);
}

TEST(World, a_client_asks_one_node_which_asks_another_by_its_name) {
  World world;
  add_both(world);
  world.script("ada", [](WorldClient& ada) -> Task<void> {
    const Operation written = co_await ada.put("store", "/values/tea", json_of("green"));
    EXPECT_EQ(written.status, 204u) << written.reply << written.why;
    const Operation read = co_await ada.get("front", "/tea");
    EXPECT_EQ(read.status, 200u) << read.reply << read.why;
    EXPECT_EQ(read.reply, "green");
    EXPECT_GT(read.returned.ns, read.invoked.ns);
  });
  EXPECT_TRUE(world.finish()) << world.report();
  EXPECT_EQ(world.history().size(), 2u) << world.report();
}

TEST(World, an_unknown_name_is_an_error_that_lists_the_nodes) {
  World world;
  world.add("front", sample::front_options(), sample::configure_front);
  const Operation asked = world.ask("front", "GET", "/tea");
  EXPECT_EQ(asked.status, 502u);
  EXPECT_NE(asked.reply.find("front"), std::string::npos) << asked.reply;
}

TEST(World, a_killed_node_loses_its_memory_and_keeps_its_files) {
  World world;
  add_both(world);
  EXPECT_EQ(world.ask("store", "PUT", "/values/tea", json_of("green")).status, 204u);
  WorldNode& store = world.node("store");
  store.kill();
  EXPECT_FALSE(store.is_up());
  const Operation refused = world.ask("store", "GET", "/values/tea");
  EXPECT_EQ(refused.outcome, Outcome::refused) << world.report();
  EXPECT_EQ(world.ask("front", "GET", "/tea").status, 502u);
  store.restart();
  EXPECT_TRUE(store.is_up());
  EXPECT_EQ(store.lives(), 2u);
  EXPECT_EQ(world.ask("front", "GET", "/tea").reply, "green") << world.report();
}

// Writes values until the power fails behind a reply. How many acknowledged ones are gone?
int lost_by_power_loss(const std::string& durability, std::uint64_t seed) {
  World world({.seed = seed});
  world.add("store", sample::store_options(), sample::configure_store,
            {.settings = {"database.durability=" + durability}});
  std::vector<std::string> written;
  for (int round = 0; round < 3; ++round) {
    for (int index = 0; index < 4; ++index) {
      written.push_back("v" + std::to_string(written.size()));
      const Operation put = world.ask("store", "PUT", "/values/" + written.back(), json_of("x"));
      EXPECT_EQ(put.status, 204u) << world.report();
    }
    world.node("store").kill(Crash::power);
    world.node("store").restart();
  }
  int lost = 0;
  for (const std::string& name : written) {
    if (world.ask("store", "GET", "/values/" + name).status != 200) ++lost;
  }
  EXPECT_TRUE(world.finish()) << world.report();
  return lost;
}

TEST(World, a_loss_of_power_takes_what_was_not_synced_and_nothing_else) {
  int lost = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    EXPECT_EQ(lost_by_power_loss("full", seed), 0) << "seed " << seed;
    lost += lost_by_power_loss("normal", seed);
  }
  EXPECT_GT(lost, 0) << "durability: normal may lose the last writes, and some seed shows it";
}

TEST(World, a_killed_process_keeps_what_it_acknowledged_without_a_sync) {
  World world;
  world.add("store", sample::store_options(), sample::configure_store,
            {.settings = {"database.durability=normal"}});
  EXPECT_EQ(world.ask("store", "PUT", "/values/tea", json_of("green")).status, 204u);
  world.node("store").kill();
  world.node("store").restart();
  EXPECT_EQ(world.ask("store", "GET", "/values/tea").status, 200u) << world.report();
}

TEST(World, a_node_without_power_answers_nothing_until_it_is_back) {
  World world({.request_timeout = seconds(4)});
  add_both(world);
  world.node("store").kill(Crash::power);
  const Operation lost = world.ask("store", "GET", "/values/tea");
  EXPECT_EQ(lost.outcome, Outcome::unknown) << world.report();
  EXPECT_GE((lost.returned - lost.invoked).ns, seconds(4).ns);
  world.node("store").restart();
  EXPECT_EQ(world.ask("store", "GET", "/values/tea").status, 404u) << world.report();
}

// The client of the front keeps its connection to the store: it finds out by a reset.
TEST(World, a_connection_from_before_a_power_loss_is_reset_when_it_is_used) {
  World world;
  add_both(world);
  EXPECT_EQ(world.ask("front", "GET", "/tea").status, 404u);
  world.node("store").kill(Crash::power);
  world.run(seconds(1));
  world.node("store").restart();
  world.run(seconds(1));
  EXPECT_EQ(world.ask("front", "GET", "/tea").status, 404u) << world.report();
}

TEST(World, a_request_in_progress_at_a_kill_has_an_unknown_outcome) {
  World world;
  world.add("store", sample::store_options(), sample::configure_store,
            {.database_delay_min = seconds(1), .database_delay_max = seconds(1)});
  const WorldCall call = world.client("ada").put("store", "/values/tea", json_of("green"));
  world.run(milliseconds(500));
  EXPECT_FALSE(call.operation().is_over());
  world.node("store").kill();
  world.run(milliseconds(500));
  EXPECT_EQ(call.operation().outcome, Outcome::unknown) << world.report();
  world.node("store").restart();
  EXPECT_EQ(world.ask("store", "GET", "/values/tea").status, 404u) << world.report();
}

TEST(World, a_stopped_node_drains_and_starts_again) {
  World world;
  world.add("store", sample::store_options(), sample::configure_store,
            {.database_delay_min = seconds(1), .database_delay_max = seconds(1)});
  WorldNode& store = world.node("store");
  const WorldCall call = world.client("ada").put("store", "/values/tea", json_of("green"));
  world.run(milliseconds(500));
  store.stop();
  EXPECT_TRUE(store.is_up());
  EXPECT_TRUE(world.run_until([&] { return !store.is_up(); }, seconds(60))) << world.report();
  EXPECT_EQ(call.operation().status, 204u) << world.report();
  store.restart();
  EXPECT_EQ(world.ask("store", "GET", "/values/tea").reply, "green") << world.report();
}

TEST(World, a_node_is_killed_at_a_call_of_its_database) {
  World world;
  world.add("store", sample::store_options(), sample::configure_store);
  WorldNode& store = world.node("store");
  store.kill_at_call(1, 0, Crash::process, seconds(1));
  const Operation lost = world.ask("store", "PUT", "/values/tea", json_of("green"));
  EXPECT_EQ(lost.outcome, Outcome::unknown) << world.report();
  EXPECT_FALSE(store.is_up());
  world.run(seconds(2));
  EXPECT_TRUE(store.is_up());
  EXPECT_EQ(world.ask("store", "GET", "/values/tea").status, 404u) << world.report();
}

TEST(World, a_one_way_partition_holds_back_replies_and_loses_nothing) {
  World world;
  add_both(world);
  (void)world.client("ada");
  world.block("store", "ada");
  const WorldCall call = world.client("ada").put("store", "/values/tea", json_of("green"));
  world.run(seconds(3));
  EXPECT_FALSE(call.operation().is_over()) << world.report();
  // The handshake did not end: the store knows of nothing.
  EXPECT_EQ(world.ask("store", "GET", "/values/tea").status, 404u);
  world.heal();
  world.run(seconds(1));
  EXPECT_EQ(call.operation().status, 204u) << world.report();
}

TEST(World, a_reply_that_is_held_back_was_a_write_that_happened) {
  World world;
  world.add("store", sample::store_options(), sample::configure_store,
            {.database_delay_min = seconds(1), .database_delay_max = seconds(1)});
  const WorldCall call = world.client("ada").put("store", "/values/tea", json_of("green"));
  world.run(milliseconds(500));
  world.block("store", "ada");
  world.run(seconds(2));
  EXPECT_FALSE(call.operation().is_over()) << world.report();
  EXPECT_EQ(world.ask("store", "GET", "/values/tea").reply, "green") << world.report();
  world.reset("ada", "store");
  world.run(milliseconds(10));
  EXPECT_EQ(call.operation().outcome, Outcome::unknown) << world.report();
}

TEST(World, a_slow_link_takes_its_time_in_one_direction) {
  World world({.latency_us = {100, 100}});
  add_both(world);
  (void)world.client("ada");
  world.set_path("ada", "store", {.extra_us = {400'000, 400'000}});
  const WorldCall call = world.client("ada").get("store", "/values/tea");
  world.run(seconds(5));
  const Operation& got = call.operation();
  EXPECT_EQ(got.status, 404u) << world.report();
  EXPECT_GE((got.returned - got.invoked).ns, milliseconds(800).ns);  // the handshake, the request
  EXPECT_LT((got.returned - got.invoked).ns, milliseconds(1'300).ns);
}

TEST(World, a_name_may_change_its_node) {
  World world;
  world.add("blue", sample::store_options(), sample::configure_store);
  world.add("green", sample::store_options(), sample::configure_store);
  world.add("front", sample::front_options(), sample::configure_front);
  EXPECT_EQ(world.ask("blue", "PUT", "/values/tea", json_of("from blue")).status, 204u);
  EXPECT_EQ(world.ask("green", "PUT", "/values/tea", json_of("from green")).status, 204u);
  world.resolve("store", "blue");
  EXPECT_EQ(world.ask("front", "GET", "/tea").reply, "from blue") << world.report();
  world.resolve("store", "green");
  world.reset("front", "blue");
  EXPECT_EQ(world.ask("front", "GET", "/tea").reply, "from green") << world.report();
}

TEST(World, an_upstream_outside_is_reached_by_every_node) {
  World world;
  world.add("front", sample::front_options(), sample::configure_front);
  world.upstream("http://store", [](Router& router) {
    router.get("/values/{name}", [](Path<std::string> name) { return Reply::text(*name); });
  });
  EXPECT_EQ(world.ask("front", "GET", "/tea").reply, "tea") << world.report();
}

TEST(World, a_property_that_fails_stops_the_world_and_is_reported) {
  World world;
  add_both(world);
  world.always("no 404", [](World& of) -> std::string {
    for (const Operation& each : of.history()) {
      if (each.status == 404) return each.key() + " got 404";
    }
    return {};
  });
  world.script("ada", [](WorldClient& ada) -> Task<void> {
    (void)co_await ada.get("store", "/values/tea");
    (void)co_await ada.get("store", "/values/tea");
  });
  EXPECT_FALSE(world.finish());
  ASSERT_EQ(world.failures().size(), 1u);
  EXPECT_EQ(world.failures()[0].text, "ada#1 got 404");
  EXPECT_NE(world.report().find("FAILURE: no 404"), std::string::npos) << world.report();
}

TEST(World, a_script_that_throws_is_a_failure) {
  World world;
  world.script("ada", [](WorldClient& ada) -> Task<void> {
    co_await ada.sleep(seconds(1));
    throw std::runtime_error("out of tea");
  });
  EXPECT_FALSE(world.finish());
  EXPECT_NE(world.report().find("out of tea"), std::string::npos) << world.report();
}

TEST(World, a_node_that_does_not_start_is_a_failure_with_its_reason) {
  World world;
  world.add("store", sample::store_options(), sample::configure_store, {.settings = {"tea=1"}});
  ASSERT_EQ(world.failures().size(), 1u);
  EXPECT_NE(world.failures()[0].text.find("'store' did not start"), std::string::npos);
}

std::string time_at(World& world, const char* node) {
  return world.ask(node, "GET", "/time").reply.substr(0, 16);  // to the minute
}

TEST(World, a_clock_that_is_ahead_is_that_of_one_node) {
  World world;
  world.add("store", sample::store_options(), sample::configure_store);
  world.add("other", sample::store_options(), sample::configure_store);
  EXPECT_EQ(time_at(world, "store"), "2026-01-01T00:00");
  world.node("store").set_clock_skew(seconds(600));
  EXPECT_EQ(time_at(world, "store"), "2026-01-01T00:10");
  EXPECT_EQ(time_at(world, "other"), "2026-01-01T00:00");
  world.node("store").set_clock_skew(seconds(-600));
  EXPECT_EQ(time_at(world, "store"), "2025-12-31T23:50");
}

TEST(World, a_node_reads_its_settings_again_or_refuses_wrong_ones) {
  const std::string file = ::testing::TempDir() + "katana_world_settings.yaml";
  std::ofstream(file) << "http:\n  drain_timeout: 3s\n";
  World world;
  WorldNode& store =
      world.add("store", sample::store_options(), sample::configure_store, {.config_file = file});
  ASSERT_TRUE(store.is_up()) << world.report();
  EXPECT_TRUE(store.reload());
  std::ofstream(file) << "tea: 1\n";
  EXPECT_FALSE(store.reload());
  EXPECT_EQ(world.ask("store", "GET", "/values/tea").status, 404u);
  std::remove(file.c_str());
}

// The former process answers what it has; connections that come meanwhile are the new one's.
TEST(World, a_node_hands_over_to_a_new_process_and_no_request_fails) {
  World world;
  WorldNode& store =
      world.add("store", sample::store_options(), sample::configure_store,
                {.database_delay_min = seconds(1), .database_delay_max = seconds(1)});
  const WorldCall slow = world.client("ada").put("store", "/values/tea", json_of("green"));
  world.run(milliseconds(500));
  store.hand_over();
  EXPECT_EQ(store.lives(), 2u);
  const WorldCall next = world.client("bob").get("store", "/values/tea");
  world.run(seconds(10));
  EXPECT_EQ(slow.operation().status, 204u) << world.report();
  EXPECT_EQ(next.operation().outcome, Outcome::replied) << world.report();
  EXPECT_NE(world.report().find("its former process ended"), std::string::npos) << world.report();
  EXPECT_EQ(world.ask("store", "GET", "/values/tea").reply, "green");
  EXPECT_TRUE(world.finish()) << world.report();
}

TEST(World, a_node_may_be_killed_at_the_moment_of_its_stop) {
  World world;
  WorldNode& store = world.add("store", sample::store_options(), sample::configure_store);
  store.stop();
  store.kill();
  EXPECT_FALSE(store.is_up());
  store.restart();
  EXPECT_EQ(world.ask("store", "GET", "/values/tea").status, 404u) << world.report();
}

TEST(World, a_kill_ends_both_processes_of_a_hand_over) {
  World world;
  WorldNode& store =
      world.add("store", sample::store_options(), sample::configure_store,
                {.database_delay_min = seconds(1), .database_delay_max = seconds(1)});
  const WorldCall slow = world.client("ada").put("store", "/values/tea", json_of("green"));
  world.run(milliseconds(500));
  store.hand_over();
  store.kill();
  world.run(milliseconds(10));
  EXPECT_EQ(slow.operation().outcome, Outcome::unknown) << world.report();
  store.restart();
  EXPECT_EQ(world.ask("store", "GET", "/values/tea").status, 404u) << world.report();
}

// The disk is part of the digest: the network sees nothing of it.
TEST(World, operations_of_a_disk_change_the_digest) {
  World one;
  one.add("store", sample::store_options(), sample::configure_store);
  World other;
  other.add("store", sample::store_options(), sample::configure_store,
            {.files = make_memory_files()});
  EXPECT_EQ(one.timeline().digest(), other.timeline().digest());
  EXPECT_NE(one.trace_digest(), other.trace_digest());
}

TEST(World, keep_names_the_only_clients_and_requests_that_are_there) {
  World world({.keep = {"ada", "ada#2"}});
  world.add("store", sample::store_options(), sample::configure_store);
  world.users({"ada", "bob"}, [](WorldClient& user) -> Task<void> {
    (void)co_await user.get("store", "/values/a");
    (void)co_await user.get("store", "/values/b");
  });
  EXPECT_TRUE(world.finish()) << world.report();
  ASSERT_EQ(world.history().size(), 2u);
  EXPECT_EQ(world.history()[0].outcome, Outcome::dropped);
  EXPECT_EQ(world.history()[1].status, 404u);
  // A question of the test is never left out: a property would judge without it.
  EXPECT_EQ(world.ask("store", "GET", "/values/a").status, 404u);
  EXPECT_EQ(world.keys(), (std::vector<std::string>{"ada", "ada#2"}));
}

TEST(World, a_script_may_kill_a_node_and_goes_on) {
  World world;
  add_both(world);
  world.script("ada", [&world](WorldClient& ada) -> Task<void> {
    (void)co_await ada.put("store", "/values/tea", json_of("green"));
    world.node("store").kill();
    EXPECT_TRUE(world.node("store").is_up());  // until the end of the turn
    co_await ada.sleep(milliseconds(10));
    EXPECT_FALSE(world.node("store").is_up());
    world.node("store").restart();
    co_await ada.sleep(milliseconds(1));
    const Operation read = co_await ada.get("front", "/tea");
    EXPECT_EQ(read.reply, "green");
  });
  EXPECT_TRUE(world.finish()) << world.report();
}

TEST(World, numbers_of_a_client_do_not_depend_on_other_clients) {
  World world({.drop = {"bob", "ada#1"}});
  world.add("store", sample::store_options(), sample::configure_store);
  const WorldCall dropped = world.client("ada").get("store", "/values/tea");
  (void)world.client("bob").get("store", "/values/tea");
  const WorldCall sent = world.client("ada").get("store", "/values/tea");
  EXPECT_TRUE(world.finish()) << world.report();
  EXPECT_EQ(dropped.operation().outcome, Outcome::dropped);
  EXPECT_EQ(sent.operation().key(), "ada#2");
  EXPECT_EQ(sent.operation().status, 404u);
  EXPECT_EQ(world.history()[1].outcome, Outcome::dropped);
}

TEST(World, a_client_gives_up_at_its_limit) {
  World world({.request_timeout = seconds(3)});
  world.add("store", sample::store_options(), sample::configure_store,
            {.database_delay_min = seconds(10), .database_delay_max = seconds(10)});
  const WorldCall call = world.client("ada").get("store", "/values/tea");
  world.run(seconds(20));
  EXPECT_EQ(call.operation().outcome, Outcome::unknown);
  EXPECT_EQ((call.operation().returned - call.operation().invoked).ns / 1'000'000'000, 3);
}

TEST(World, actions_run_in_the_order_of_their_time) {
  World world;
  std::string order;
  world.after(seconds(2), [&] { order += "b"; });
  world.after(seconds(1), [&] { order += "a"; });
  world.after(seconds(2), [&] { order += "c"; });
  world.run(seconds(3));
  EXPECT_EQ(order, "abc");
}

TEST(FaultPlan, a_fault_does_not_depend_on_those_of_other_kinds) {
  const std::vector<std::string> hosts{"a", "b", "c"};
  const auto plan = [&](std::uint64_t seed, const FaultBounds& bounds) {
    std::string text;
    for (const PlannedFault& each : plan_faults(seed, bounds, hosts, hosts, {}, 1)) {
      if (each.kind != FaultKind::partition) continue;
      text += each.describe().substr(each.key.size()) + "\n";
    }
    return text;
  };
  unsigned counted = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::string alone = plan(seed, {.partitions_max = 5});
    EXPECT_EQ(plan(seed, {.partitions_max = 5}), alone);
    EXPECT_EQ(plan(seed, {.kills_max = 3, .partitions_max = 5, .resets_max = 4}), alone);
    counted += alone.empty() ? 0 : 1;
  }
  EXPECT_GT(counted, 10u);
  EXPECT_NE(plan(1, {.partitions_max = 50}), plan(2, {.partitions_max = 50}));
}

TEST(Timeline, equal_lines_have_equal_digests_and_long_ones_are_cut_in_the_middle) {
  Timeline one;
  Timeline other;
  for (Timeline* const each : {&one, &other}) {
    for (int line = 0; line < 10; ++line) each->add({line}, "ada", std::to_string(line));
  }
  EXPECT_EQ(one.digest(), other.digest());
  const std::string text = one.describe(4);
  other.add({11}, "ada", "more");
  EXPECT_NE(one.digest(), other.digest());
  EXPECT_NE(text.find("6 lines"), std::string::npos) << text;
  EXPECT_NE(text.find("ada        1\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("ada        4\n"), std::string::npos) << text;
  EXPECT_NE(text.find("ada        9\n"), std::string::npos) << text;
}

std::uint64_t digest_of_run(std::uint64_t seed) {
  World world({.seed = seed});
  add_both(world);
  for (const char* const name : {"ada", "bob", "eve"}) {
    world.script(name, [](WorldClient& client) -> Task<void> {
      for (int index = 0; index < 20; ++index) {
        (void)co_await client.put("store", "/values/tea", json_of(client.name()));
        (void)co_await client.get("front", "/tea");
      }
    });
  }
  world.faults({.within = milliseconds(300),
                .kills_max = 2,
                .kills_at_call_max = 2,
                .stops_max = 1,
                .partitions_max = 3,
                .slow_links_max = 2,
                .resets_max = 3,
                .clock_jumps_max = 1,
                .reloads_max = 1,
                .hand_overs_max = 2});
  world.at_end("descriptors", descriptors_return_to_rest());
  world.at_end("memory", memory_returns_to_rest());
  EXPECT_TRUE(world.finish()) << world.report();
  return world.trace_digest();
}

TEST(World, a_seed_gives_the_same_trace_each_time_and_other_seeds_others) {
  std::set<std::uint64_t> digests;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const std::uint64_t digest = digest_of_run(seed);
    EXPECT_EQ(digest_of_run(seed), digest) << "seed " << seed;
    digests.insert(digest);
  }
  EXPECT_EQ(digests.size(), 4u);
}

}  // namespace
}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
