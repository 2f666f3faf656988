#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "katana/net/reactor/connection.hpp"
#include "tests/simulation/requests.hpp"
#include "tests/simulation/scripted_client.hpp"
#include "tests/simulation/world.hpp"

namespace katana::simulation {
namespace {

// ---- limits of content -----------------------------------------------------------------------

TEST(ContentLimit, a_length_above_it_is_refused_before_any_content_comes) {
  World world;
  ScriptedClient client(world);
  const Planned request = expecting(post("/collect-small", content_of(1'001), ""), true);
  client.expect_reply();
  client.send_bytes(request.head);
  EXPECT_TRUE(client.wait_for_end());
  EXPECT_EQ(client.status(), 413u);
  EXPECT_EQ(client.reader().continues_in_all(), 0u);
  expect_rest(world);
}

TEST(ContentLimit, chunks_are_refused_as_soon_as_they_exceed_it) {
  World world;
  ScriptedClient client(world);
  client.expect_reply();
  client.send_bytes(head_of("POST", "/collect-small", "Transfer-Encoding: chunked\r\n"));
  for (int number = 0; number < 2; ++number) {
    client.send_bytes("1f4\r\n" + content_of(500) + "\r\n");
    world.run_for(milliseconds(10));
    EXPECT_EQ(client.status(), 0u);
  }
  client.send_bytes("1\r\nx");
  EXPECT_TRUE(client.wait_for_end());
  EXPECT_EQ(client.status(), 413u);
  expect_rest(world);
}

TEST(ContentLimit, content_of_just_that_size_is_served) {
  World world;
  ScriptedClient client(world);
  Random random(1);
  const std::string content = content_of(1'000);
  client.send(post("/collect-small", content, ""));
  client.send(post_chunked("/collect-small", content, "", random));
  EXPECT_TRUE(client.wait_for(2));
  for (const ReceivedReply& each : client.replies()) EXPECT_EQ(each.content, trial_digest(content));
  client.peer().close();
  expect_rest(world);
}

// ---- pipelining ------------------------------------------------------------------------------

TEST(Pipelining, requests_behind_a_suspended_handler_wait_in_bounded_memory_and_in_order) {
  World world;
  ScriptedClient client(world);
  client.send(get("/sleep/5000", ""));
  constexpr std::size_t count = 4'000;
  for (std::size_t number = 0; number < count; ++number) {
    client.send(get(fmt::format("/text/{}", number % 100), ""));
  }
  world.run_for(seconds(4));
  EXPECT_EQ(client.replies().size(), 0u);
  // The client's kernel has the rest.
  EXPECT_GT(client.peer().unsent(), 10'000u);
  const net::ReactorOptions& options = world.reactor().options();
  const std::size_t large = options.engine.receive_bytes_max + options.carry_extra_bytes;
  EXPECT_LE(world.memory_peak().carry, large);
  EXPECT_TRUE(client.wait_for(count + 1));
  for (std::size_t number = 0; number < count; ++number) {
    ASSERT_EQ(client.replies()[number + 1].content, trial_text(number % 100));
  }
  client.peer().close();
  expect_rest(world);
}

TEST(Pipelining, every_one_of_many_suspended_handlers_is_answered_in_order) {
  World world;
  ScriptedClient client(world);
  for (int number = 0; number < 500; ++number) {
    client.send(get(fmt::format("/sleep/{}", number % 7), ""));
  }
  EXPECT_TRUE(client.wait_for(500));
  for (std::size_t number = 0; number < 500; ++number) {
    ASSERT_EQ(client.replies()[number].content, fmt::format("slept {} ms", number % 7));
  }
  client.peer().close();
  expect_rest(world);
}

TEST(Pipelining, a_burst_whose_replies_exceed_the_outbox_is_answered_completely) {
  World world;
  ScriptedClient client(world);
  constexpr std::size_t count = 3'000;
  for (std::size_t number = 0; number < count; ++number) client.send(get("/text/900", ""));
  EXPECT_TRUE(client.wait_for(count));
  EXPECT_GT(client.octets(), 10 * world.reactor().options().outbox_high_bytes);
  EXPECT_LE(world.memory_peak().output, 2 * world.reactor().options().outbox_high_bytes);
  client.peer().close();
  expect_rest(world);
}

// The handler answers, and the client ends its side, in one turn; the request that was pipelined
// behind is still carried then.
TEST(Pipelining, the_end_of_input_does_not_overtake_what_is_carried) {
  struct Opener : engine::Watcher {
    explicit Opener(Trial& given) : trial(given) {}
    void on_ready(engine::Readiness) noexcept override { trial.open_gate(); }
    Trial& trial;
  };
  World world;
  Opener opener(world.trial());
  ASSERT_TRUE(world.reactor().watch(7, {.read = true}, opener));
  ScriptedClient client(world);
  client.send(get("/gate", ""));
  client.send(get("/ready/3", ""));
  world.run_for(milliseconds(10));
  client.peer().finish();
  world.network().run_until(world.now() + milliseconds(1));  // it has come, and no turn was taken
  world.network().make_ready(7);
  EXPECT_TRUE(client.wait_for_end());
  ASSERT_EQ(client.replies().size(), 2u);
  EXPECT_EQ(client.content(), trial_text(3));
  world.reactor().unwatch(7);
  expect_rest(world);
}

// ---- backpressure ----------------------------------------------------------------------------

TEST(Backpressure, a_handler_that_does_not_read_stops_the_client) {
  World world;
  ScriptedClient client(world);
  client.send(post("/read-never", content_of(1'000'000), ""));
  world.run_for(seconds(20));
  EXPECT_GT(client.peer().unsent(), 800'000u);
  EXPECT_LT(world.reactor().counters().bytes_received, 140'000u);
  EXPECT_LE(world.reactor().memory_used().carry, 2 * 100'000u);
  client.peer().reset();
  expect_rest(world);
}

TEST(Backpressure, a_handler_that_reads_slowly_is_sent_no_more_than_it_reads) {
  World world;
  ScriptedClient client(world);
  const std::string content = content_of(600'000);
  client.send(post("/read/500", content, ""));
  while (client.replies().empty() && !client.peer().over()) {
    world.run_for(milliseconds(100));
    EXPECT_LE(world.reactor().counters().bytes_received, world.trial().octets_read() + 140'000);
  }
  EXPECT_EQ(client.content(), trial_digest(content));
  client.peer().close();
  expect_rest(world);
}

TEST(Backpressure, a_streamed_reply_takes_no_more_memory_than_the_outbox_may) {
  World world;
  ScriptedClient client(world);
  client.peer().stop_reading();
  client.send(get("/endless", ""));
  world.run_for(seconds(10));
  const std::size_t high = world.reactor().options().outbox_high_bytes;
  EXPECT_GE(world.trial().octets_made(), high);
  EXPECT_LE(world.trial().octets_made(), high + 64 * 1024 + 3 * 4'096);
  EXPECT_LE(world.memory_peak().output, high + 3 * 4'096 + high / 16);
  client.peer().reset();
  expect_rest(world);
}

TEST(Backpressure, an_echo_that_nobody_reads_stops_the_upload_and_goes_on_later) {
  World world;
  ScriptedClient client(world, Site::hello);
  const std::string content = content_of(900'000);
  client.peer().stop_reading();
  client.send(post("/echo", content, ""));
  world.run_for(seconds(20));
  EXPECT_GT(client.peer().unsent(), 400'000u);
  EXPECT_LE(world.memory_peak().output, 200'000u);
  client.peer().start_reading();
  EXPECT_TRUE(client.wait_for(1));
  EXPECT_TRUE(client.content() == content);
  client.peer().close();
  expect_rest(world);
}

TEST(Backpressure, one_endless_download_leaves_the_others_their_turns) {
  World world;
  ScriptedClient endless(world);
  ScriptedClient other(world);
  endless.send(get("/endless", ""));
  world.run_for(milliseconds(50));
  const Instant begin = world.now();
  other.send(get("/sleep/1", ""));
  EXPECT_TRUE(other.wait_for(1));
  EXPECT_LE(other.received_at(), begin + milliseconds(5));
  EXPECT_GT(endless.octets(), 1'000'000u);
  endless.peer().reset();
  other.peer().close();
  expect_rest(world);
}

TEST(Streaming, the_reply_to_head_ends_with_its_head_however_long_its_content_would_be) {
  World world;
  ScriptedClient client(world);
  client.send(as_head(get("/endless", "")));
  client.send(as_head(get("/ticks/1000/1000", "")));
  client.send(get("/ready/1", ""));
  EXPECT_TRUE(client.wait_for(3, seconds(2)));
  EXPECT_LE(world.trial().octets_made(), 4'096u);
  EXPECT_NE(client.replies()[0].head.find("Content-Length: 1099511627776"), std::string::npos);
  EXPECT_NE(client.replies()[1].head.find("Transfer-Encoding: chunked"), std::string::npos);
  EXPECT_EQ(client.content(), trial_text(1));
  client.peer().close();
  expect_rest(world);
}

// ---- full tables and empty pools -------------------------------------------------------------

TEST(Descriptors, a_burst_of_failed_accepts_delays_connections_and_loses_none) {
  WorldOptions options;
  options.faults.accept_failure = 600;
  options.faults.accept_failures = SimRange{1, 5};
  World world(options);
  std::vector<std::unique_ptr<ScriptedClient>> clients;
  for (int number = 0; number < 30; ++number) {
    clients.push_back(std::make_unique<ScriptedClient>(world));
    clients.back()->send(get("/sleep/3", ""));
  }
  for (const auto& each : clients) {
    EXPECT_TRUE(each->wait_for(1));
    EXPECT_EQ(each->content(), "slept 3 ms");
    each->peer().close();
  }
  EXPECT_GT(world.reactor().counters().accept_failures, 5u);
  EXPECT_EQ(world.reactor().counters().accepted, 30u);
  expect_rest(world);
}

TEST(Descriptors, accepting_goes_on_when_a_connection_ends_and_not_only_with_time) {
  WorldOptions options;
  options.reactor.accept_retry = seconds(100);
  World world(options);
  ScriptedClient first(world);
  first.send(get("/ready/1", ""));
  EXPECT_TRUE(first.wait_for(1));
  SimFaults faults = options.faults;
  faults.accept_failure = 1024;
  faults.accept_failures = SimRange{1, 1};
  world.network().set_faults(faults);
  ScriptedClient second(world);
  second.send(get("/ready/2", ""));
  world.run_for(seconds(1));
  EXPECT_EQ(world.reactor().counters().accept_failures, 1u);
  world.network().set_faults(options.faults);
  EXPECT_EQ(second.status(), 0u);
  first.peer().close();
  EXPECT_TRUE(second.wait_for(1, seconds(1)));
  second.peer().close();
  expect_rest(world);
}

TEST(Links, a_full_table_lets_connections_wait_until_others_have_ended) {
  WorldOptions options;
  options.reactor.engine.links_max = 3;
  World world(options);
  std::vector<std::unique_ptr<ScriptedClient>> clients;
  for (int number = 0; number < 20; ++number) {
    clients.push_back(std::make_unique<ScriptedClient>(world));
    clients.back()->send(get("/sleep/200", ""));
  }
  for (const auto& each : clients) {
    EXPECT_TRUE(each->wait_for(1));
    EXPECT_EQ(each->content(), "slept 200 ms");
    each->peer().close();
  }
  EXPECT_EQ(world.reactor().counters().accepted, 20u);
  EXPECT_LE(world.memory_peak().connections, 3 * 512u);
  expect_rest(world);
}

TEST(Pools, without_output_blocks_connections_break_and_are_counted_and_the_rest_goes_on) {
  WorldOptions options;
  options.reactor.output_blocks_max = 24;
  options.reactor.output_blocks_reserve = 0;
  for (const char* const target : {"/text/60000", "/endless"}) {
    World world(options);
    std::vector<std::unique_ptr<ScriptedClient>> clients;
    for (int number = 0; number < 4; ++number) {
      clients.push_back(std::make_unique<ScriptedClient>(world, Site::trial, 4'096));
      clients.back()->peer().stop_reading();
      clients.back()->send(get(target, ""));
    }
    world.run_for(seconds(1));
    std::uint64_t broken = 0;
    for (const auto& each : clients) broken += each->peer().saw_reset();
    EXPECT_GE(broken, 1u) << target;
    EXPECT_LT(broken, 4u) << target;
    EXPECT_EQ(world.http_counters().replies_aborted, broken) << target;
    EXPECT_LT(world.trial().octets_made(), 600'000u);
    for (const auto& each : clients) each->peer().reset();
    ScriptedClient later(world);
    later.send(get("/text/50000", ""));
    EXPECT_TRUE(later.wait_for(1)) << target;
    EXPECT_EQ(later.content(), trial_text(50'000)) << target;
    later.peer().close();
    expect_rest(world);
  }
}

TEST(Pools, with_few_output_blocks_replies_wait_for_each_other_and_none_is_lost) {
  WorldOptions options;
  options.reactor.output_blocks_max = 32;
  options.reactor.output_blocks_reserve = 8;
  options.reactor.shed_after = seconds(10);
  World world(options);
  std::vector<std::unique_ptr<ScriptedClient>> clients;
  for (int number = 0; number < 8; ++number) {
    clients.push_back(std::make_unique<ScriptedClient>(world, Site::trial, 4'096));
    clients.back()->peer().stop_reading();
    for (int behind = 0; behind < 20; ++behind) clients.back()->send(get("/text/6000", ""));
    clients.back()->send(get("/ticks/3/10", ""));
  }
  world.run_for(seconds(1));
  EXPECT_GE(world.reactor().counters().pool_pauses, 4u);
  for (const auto& each : clients) each->peer().start_reading();
  for (const auto& each : clients) {
    EXPECT_TRUE(each->wait_for(21));
    EXPECT_EQ(each->content(), trial_ticks(3));
    each->peer().close();
  }
  EXPECT_EQ(world.http_counters().replies_aborted, 0u);
  EXPECT_EQ(world.reactor().counters().pool_exhausted, 0u);
  expect_rest(world);
}

TEST(Pools, without_carry_blocks_connections_break_and_are_counted_and_the_rest_goes_on) {
  WorldOptions options;
  options.reactor.carry_large_max = 2;
  World world(options);
  std::vector<std::unique_ptr<ScriptedClient>> clients;
  for (int number = 0; number < 5; ++number) {
    clients.push_back(std::make_unique<ScriptedClient>(world));
    clients.back()->send(get("/sleep/1000", ""));
    for (int behind = 0; behind < 300; ++behind) clients.back()->send(get("/text/1", ""));
  }
  world.run_for(seconds(3));
  std::uint64_t broken = 0;
  for (const auto& each : clients) {
    broken += each->peer().saw_reset();
    EXPECT_TRUE(each->peer().saw_reset() || each->replies().size() == 301);
    each->peer().close();
  }
  EXPECT_EQ(broken, 3u);
  EXPECT_EQ(world.reactor().counters().pool_exhausted, broken);
  expect_rest(world);
}

// ---- what a connection costs -----------------------------------------------------------------

TEST(IdleConnection, it_holds_no_pooled_block_and_takes_at_most_512_octets) {
  World world;
  EXPECT_LE(sizeof(net::Connection) + world.protocol(Site::trial).session_bytes(), 512u);
  std::vector<std::unique_ptr<ScriptedClient>> clients;
  for (int number = 0; number < 50; ++number) {
    clients.push_back(std::make_unique<ScriptedClient>(world));
    clients.back()->send(get("/owned/5", ""));
    clients.back()->send(post("/mirror/1", content_of(10'000), ""));
    EXPECT_TRUE(clients.back()->wait_for(2));
  }
  world.run_for(milliseconds(1));
  const net::MemoryBudget used = world.reactor().memory_used();
  EXPECT_EQ(used.output, 0u);
  EXPECT_EQ(used.carry, 0u);
  EXPECT_EQ(world.reactor().links_open(), 50u);
  EXPECT_LE(used.connections, 50 * 512u);
  EXPECT_EQ(world.trial().frames(), 0);
  for (const auto& each : clients) each->peer().close();
  expect_rest(world);
}

TEST(IdleConnection, a_deadline_that_every_request_moves_costs_no_timer_operation) {
  World world;
  ScriptedClient client(world);
  client.send(get("/text/1", ""));
  EXPECT_TRUE(client.wait_for(1));
  const std::uint64_t operations = world.reactor().timers().operations();
  for (std::size_t number = 2; number <= 1'000; ++number) {
    client.send(get("/text/1", ""));
    client.wait_for(number);
  }
  EXPECT_EQ(client.replies().size(), 1'000u);
  EXPECT_EQ(world.reactor().timers().operations(), operations);
  client.peer().close();
  expect_rest(world);
}

}  // namespace
}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
