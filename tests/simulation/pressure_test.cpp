// Slow readers that hold what output memory there is, and those who ask for little beside them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "tests/simulation/requests.hpp"
#include "tests/simulation/scripted_client.hpp"
#include "tests/simulation/world.hpp"

namespace katana::simulation {
namespace {

// 200 readers and 512 blocks: each could hold 16 by the high mark.
constexpr std::size_t readers = 200;

WorldOptions few_blocks() {
  WorldOptions options;
  options.reactor.output_blocks_max = 512;
  options.reactor.output_blocks_reserve = 64;
  return options;
}

class SlowReaders {
 public:
  SlowReaders(World& world, const std::string& target) {
    for (std::size_t number = 0; number < readers; ++number) {
      talks_.push_back(std::make_unique<ScriptedClient>(world, Site::hello, 4'096));
      talks_.back()->peer().stop_reading();
      talks_.back()->send(get(target, ""));
    }
    world.run_for(milliseconds(200));
  }
  std::size_t reset_count() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        talks_, [](const auto& client) { return client->peer().saw_reset(); }));
  }
  void leave() {
    for (const auto& client : talks_) client->peer().reset();
  }

 private:
  std::vector<std::unique_ptr<ScriptedClient>> talks_;
};

// Turns of the reactor until the reply is here; 0: it did not come in so many.
std::uint64_t turns_until_reply(World& world, ScriptedClient& client, std::uint64_t turns_max) {
  const std::uint64_t before = world.turns();
  const std::size_t replies = client.replies().size();
  while (client.replies().size() == replies) {
    if (world.turns() - before == turns_max) return 0;
    world.turn(milliseconds(1));
  }
  return world.turns() - before;
}

TEST(SlowReaders, those_who_ask_for_13_octets_get_them_within_8_turns) {
  World world(few_blocks());
  SlowReaders slow(world, "/bytes/100000000");
  for (int number = 0; number < 50; ++number) {
    ScriptedClient client(world, Site::hello);
    client.send(get("/plaintext", ""));
    const std::uint64_t turns = turns_until_reply(world, client, 8);
    ASSERT_NE(turns, 0u) << "client " << number;
    EXPECT_EQ(client.content(), "Hello, World!");
    client.send(get("/plaintext", ""));
    EXPECT_NE(turns_until_reply(world, client, 8), 0u);
    client.peer().close();
  }
  // No request had to go for that.
  EXPECT_EQ(slow.reset_count(), 0u);
  EXPECT_EQ(world.reactor().counters().output_shed, 0u);
  slow.leave();
  expect_rest(world);
}

TEST(SlowReaders, they_hold_less_each_the_more_they_are) {
  World world(few_blocks());
  SlowReaders slow(world, "/bytes/100000000");
  const net::ReactorOptions& options = world.reactor().options();
  const std::size_t all = options.output_blocks_max * options.output_block_bytes;
  EXPECT_LE(world.memory_peak().output,
            all - options.output_blocks_reserve / 2 * options.output_block_bytes);
  slow.leave();
  expect_rest(world);
}

TEST(SlowReaders, a_download_beside_them_is_served_when_they_had_their_second) {
  World world(few_blocks());
  SlowReaders slow(world, "/bytes/100000000");
  ScriptedClient client(world, Site::hello);
  client.send(get("/bytes/1000000", ""));
  EXPECT_TRUE(client.wait_for(1, seconds(20)));
  EXPECT_EQ(client.content(), hello_bytes(1'000'000));
  EXPECT_EQ(world.reactor().counters().output_shed, slow.reset_count());
  EXPECT_LT(slow.reset_count(), readers);
  client.peer().close();
  slow.leave();
  expect_rest(world);
}

TEST(SlowReaders, a_whole_reply_that_does_not_fit_now_goes_out_in_pieces) {
  World world(few_blocks());
  SlowReaders slow(world, "/bytes/100000000");
  ScriptedClient client(world, Site::trial);
  client.send(get("/text/50000", ""));
  EXPECT_TRUE(client.wait_for(1, seconds(20)));
  EXPECT_EQ(client.content(), trial_text(50'000));
  EXPECT_EQ(world.http_counters().replies_aborted, 0u);
  client.peer().close();
  slow.leave();
  expect_rest(world);
}

// ---- what one turn sends -----------------------------------------------------------------------

// Clients that ask for much at once. Their system takes the bytes of the replies, or the clients
// read them.
class Crowd {
 public:
  Crowd(World& world, bool reads, std::size_t window) {
    for (std::size_t number = 0; number < readers; ++number) {
      talks_.push_back(std::make_unique<ScriptedClient>(world, Site::hello, window));
      if (!reads) talks_.back()->peer().stop_reading();
    }
    // All arrive before the next turn.
    for (const auto& client : talks_) {
      for (int request = 0; request < 16; ++request) client->send(get("/bytes/100000000", ""));
    }
  }
  // The least and the most bytes that one of them has read.
  std::pair<std::uint64_t, std::uint64_t> octets() const {
    const auto [least, most] = std::ranges::minmax(
        talks_ | std::views::transform([](const auto& client) { return client->octets(); }));
    return {least, most};
  }
  void leave() {
    for (const auto& client : talks_) client->peer().reset();
  }

 private:
  std::vector<std::unique_ptr<ScriptedClient>> talks_;
};

WorldOptions small_turns() {
  WorldOptions options;
  options.reactor.turn_bytes_max = std::size_t{256} * 1024;
  options.faults.turn_us = {100, 100};  // as long as there and back
  return options;
}

// The bytes that are sent at once in any case. They are a block for each client, and the bytes of
// the last round before the turn had sent enough. These were written in it, or left by earlier
// rounds.
std::size_t turn_bytes_bound(World& world) {
  const net::ReactorOptions& options = world.reactor().options();
  constexpr std::size_t write_bytes_max = 16 * 1024;
  return 2 * (options.turn_bytes_max + options.outbox_high_bytes + write_bytes_max) +
         readers * options.output_block_bytes;
}

struct Turns {
  std::uint64_t bytes_most = 0;  // the most that one of them sent
  std::uint64_t wait_most = 0;   // until /plaintext was answered; UINT64_MAX: it was not
};

// A connection that has been served before.
void greet(ScriptedClient& client) {
  client.send(get("/plaintext", ""));
  EXPECT_TRUE(client.wait_for(1));
}

// Asks for 13 bytes again and again, on a connection that is there already, until so many turns
// are over.
Turns probe(World& world, ScriptedClient& client, std::uint64_t turns) {
  Turns seen;
  std::uint64_t asked_at = 0;
  std::size_t replies = client.replies().size();
  const std::uint64_t begin = world.turns();
  std::uint64_t sent = world.reactor().counters().bytes_sent;
  while (world.turns() - begin < turns) {
    if (client.replies().size() == replies) {
      client.send(get("/plaintext", ""));
      asked_at = world.turns();
      ++replies;
    }
    world.turn(milliseconds(1));
    const std::uint64_t now_sent = world.reactor().counters().bytes_sent;
    seen.bytes_most = std::max(seen.bytes_most, now_sent - std::exchange(sent, now_sent));
    if (client.replies().size() == replies) {
      seen.wait_most = std::max(seen.wait_most, world.turns() - asked_at);
    }
  }
  if (replies < turns / 8) seen.wait_most = UINT64_MAX;
  client.peer().close();
  return seen;
}

TEST(TurnBytes, while_the_buffers_of_many_readers_fill_13_octets_take_4_turns_at_most) {
  World world(small_turns());
  ScriptedClient client(world, Site::hello);
  greet(client);
  Crowd crowd(world, false, 1024 * 1024);
  const Turns seen = probe(world, client, 1'000);
  EXPECT_LE(seen.bytes_most, turn_bytes_bound(world));
  EXPECT_LE(seen.wait_most, 4u);
  EXPECT_GT(world.reactor().counters().output_deferrals, 0u);
  EXPECT_GE(world.reactor().counters().bytes_sent, readers * 1024 * 1024);
  // A reply that waits for its turn is not made before: it would only take blocks from others.
  EXPECT_EQ(world.reactor().counters().pool_pauses, 0u);
  crowd.leave();
  expect_rest(world);
}

TEST(TurnBytes, who_reads_as_fast_as_others_gets_as_much) {
  World world(small_turns());
  ScriptedClient client(world, Site::hello);
  greet(client);
  Crowd crowd(world, true, 256 * 1024);
  const Turns seen = probe(world, client, 1'000);
  EXPECT_LE(seen.bytes_most, turn_bytes_bound(world));
  EXPECT_LE(seen.wait_most, 4u);
  const auto [least, most] = crowd.octets();
  EXPECT_GT(least, 0u);
  EXPECT_LE(most, 2 * least);
  crowd.leave();
  expect_rest(world);
}

}  // namespace
}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
