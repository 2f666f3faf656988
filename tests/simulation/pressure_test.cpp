// Slow readers that hold what output memory there is, and those who ask for little beside them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tests/simulation/requests.hpp"
#include "tests/simulation/talk.hpp"
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
      talks_.push_back(std::make_unique<Talk>(world, Site::hello, 4'096));
      talks_.back()->peer().stop_reading();
      talks_.back()->send(get(target, ""));
    }
    world.run_for(milliseconds(200));
  }
  std::size_t reset_count() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(talks_, [](const auto& talk) { return talk->peer().saw_reset(); }));
  }
  void leave() {
    for (const auto& talk : talks_) talk->peer().reset();
  }

 private:
  std::vector<std::unique_ptr<Talk>> talks_;
};

// Turns of the reactor until the reply is here; 0: it did not come in so many.
std::uint64_t turns_until_reply(World& world, Talk& talk, std::uint64_t turns_max) {
  const std::uint64_t before = world.turns();
  const std::size_t replies = talk.replies().size();
  while (talk.replies().size() == replies) {
    if (world.turns() - before == turns_max) return 0;
    world.turn(milliseconds(1));
  }
  return world.turns() - before;
}

TEST(SlowReaders, those_who_ask_for_13_octets_get_them_within_8_turns) {
  World world(few_blocks());
  SlowReaders slow(world, "/bytes/100000000");
  for (int client = 0; client < 50; ++client) {
    Talk talk(world, Site::hello);
    talk.send(get("/plaintext", ""));
    const std::uint64_t turns = turns_until_reply(world, talk, 8);
    ASSERT_NE(turns, 0u) << "client " << client;
    EXPECT_EQ(talk.content(), "Hello, World!");
    talk.send(get("/plaintext", ""));
    EXPECT_NE(turns_until_reply(world, talk, 8), 0u);
    talk.peer().close();
  }
  // Nobody had to go for that.
  EXPECT_EQ(slow.reset_count(), 0u);
  EXPECT_EQ(world.reactor().counters().output_shed, 0u);
  slow.leave();
  expect_rest(world);
}

TEST(SlowReaders, they_hold_less_each_the_more_they_are) {
  World world(few_blocks());
  SlowReaders slow(world, "/bytes/100000000");
  const core::ReactorOptions& options = world.reactor().options();
  const std::size_t all = options.output_blocks_max * options.output_block_bytes;
  EXPECT_LE(world.memory_peak().output,
            all - options.output_blocks_reserve / 2 * options.output_block_bytes);
  slow.leave();
  expect_rest(world);
}

TEST(SlowReaders, a_download_beside_them_is_served_when_they_had_their_second) {
  World world(few_blocks());
  SlowReaders slow(world, "/bytes/100000000");
  Talk talk(world, Site::hello);
  talk.send(get("/bytes/1000000", ""));
  EXPECT_TRUE(talk.wait_for(1, seconds(20)));
  EXPECT_EQ(talk.content(), hello_bytes(1'000'000));
  EXPECT_EQ(world.reactor().counters().output_shed, slow.reset_count());
  EXPECT_LT(slow.reset_count(), readers);
  talk.peer().close();
  slow.leave();
  expect_rest(world);
}

TEST(SlowReaders, a_whole_reply_that_does_not_fit_now_goes_out_in_pieces) {
  World world(few_blocks());
  SlowReaders slow(world, "/bytes/100000000");
  Talk talk(world, Site::trial);
  talk.send(get("/text/50000", ""));
  EXPECT_TRUE(talk.wait_for(1, seconds(20)));
  EXPECT_EQ(talk.content(), trial_text(50'000));
  EXPECT_EQ(world.http_counters().replies_aborted, 0u);
  talk.peer().close();
  slow.leave();
  expect_rest(world);
}

}  // namespace
}  // namespace katana::simulation
