// Order, drops and rings, with time stamps that the test gives and no writer thread.
#include "katana/observe/log/writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "katana/observe/log/log_fixture_test.hpp"

namespace katana::log {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t small_ring_bytes = 4096;

// A channel without a writer thread, and a Writer that the test drives.
class ChannelAlone final : public Channel {
 public:
  ChannelAlone(RingSet& rings, std::uint64_t generation)
      : Channel(ChannelOptions{logs_max - 1, generation, WhenFull::drop, {}, false}, rings) {}
  int wakes = 0;

 private:
  void write_now() noexcept override {}
  void wake_writer() noexcept override { ++wakes; }
};

class WriterTest : public testing::Test {
 protected:
  WriterTest() {
    EXPECT_TRUE(prepare_thread_ends());
    SinkOptions sink;
    sink.output = output;
    writer = std::make_unique<Writer>(*rings, std::vector{sink}, report_to_standard_error,
                                      ticks::TickScale::of_nanoseconds());
    state.channel = &channel;
    state.level = Level::trace;
  }
  ~WriterTest() override { rings->remove_user(); }

  template <class Work>
  static void on_a_thread(Work work) {
    std::thread(work).join();
  }
  std::vector<std::string> lines() {
    writer->push({});
    auto all = lines_of(output->text());
    std::ranges::transform(all, all.begin(), without_time);
    return all;
  }

  static inline std::uint64_t generations = 1'000'000;  // none of a Log
  RingSet* rings = *RingSet::make(4, small_ring_bytes);
  ChannelAlone channel{*rings, ++generations};
  LoggerState state;
  std::shared_ptr<MemoryOutput> output = std::make_shared<MemoryOutput>();
  std::unique_ptr<Writer> writer;
  Logger logger{state};
};

TEST_F(WriterTest, records_of_several_threads_come_out_by_their_time_stamps) {
  on_a_thread([&] {
    for (std::uint64_t at : {10u, 40u, 41u, 90u}) logger.write_at(at, Level::info, "a{}", at);
  });
  on_a_thread([&] {
    for (std::uint64_t at : {20u, 30u, 80u}) logger.write_at(at, Level::info, "b{}", at);
  });
  logger.write_at(35, Level::info, "c35");
  writer->pass(Writer::everything, {});
  EXPECT_THAT(lines(), ElementsAre("info  a10", "info  b20", "info  b30", "info  c35", "info  a40",
                                   "info  a41", "info  b80", "info  a90"));
}

TEST_F(WriterTest, what_is_younger_than_the_horizon_waits_for_late_records) {
  logger.write_at(50, Level::info, "second");
  EXPECT_EQ(writer->pass(49, {}), 0u);
  on_a_thread([&] { logger.write_at(30, Level::info, "first, but late"); });
  writer->pass(100, {});
  EXPECT_THAT(lines(), ElementsAre("info  first, but late", "info  second"));
}

TEST_F(WriterTest, ticks_become_wall_clock_time) {
  logger.write_at(1'769'903'999'123'456'789u, Level::info, "m");
  writer->pass(Writer::everything, {});
  writer->push({});
  EXPECT_EQ(output->text(), "2026-01-31T23:59:59.123456Z info  m\n");
}

TEST_F(WriterTest, what_waits_in_a_ring_is_known_and_nothing_waits_once_it_is_written) {
  const auto waiting = [this] {
    std::uint64_t bytes = 0;
    for (const Ring& ring : rings->rings()) bytes += ring.waiting();
    return bytes;
  };
  EXPECT_EQ(waiting(), 0u);
  logger.write_at(10, Level::info, "one");
  const std::uint64_t one = waiting();
  EXPECT_GE(one, sizeof(RecordHead));
  logger.write_at(20, Level::info, "one");
  EXPECT_EQ(waiting(), 2 * one);
  writer->pass(15, {});
  EXPECT_EQ(waiting(), one);
  writer->pass(Writer::everything, {});
  EXPECT_EQ(waiting(), 0u);
}

TEST_F(WriterTest, a_full_ring_drops_counts_and_says_how_many) {
  int accepted = 0, refused = 0;
  for (int count = 0; count < 200; ++count) (logger.info("{}", count) ? accepted : refused)++;
  EXPECT_GT(accepted, 40);
  EXPECT_GT(refused, 50);
  writer->pass(Writer::everything, {});
  writer->note_drops(channel);
  writer->pass(Writer::everything, {});
  const auto all = lines();
  ASSERT_EQ(all.size(), static_cast<std::size_t>(accepted + 1));
  EXPECT_THAT(all.back(), HasSubstr(fmt::format("warn  log: {} records were dropped", refused)));
  writer->note_drops(channel);
  EXPECT_EQ(writer->pass(Writer::everything, {}), 0u) << "it is said once";
}

TEST_F(WriterTest, a_flood_of_lesser_records_leaves_room_for_warnings) {
  while (logger.info("flood")) {
  }
  EXPECT_TRUE(logger.warn("found by the flood"));
  EXPECT_FALSE(logger.info("flood"));
  EXPECT_TRUE(logger.error("and another"));
  std::uint64_t dropped = 0, warnings = 0;
  const auto count = [&] {
    dropped = warnings = 0;
    for (const Ring& ring : rings->rings()) {
      dropped += ring.dropped();
      warnings += ring.dropped_warnings();
    }
  };
  count();
  EXPECT_EQ(dropped, 2u);
  EXPECT_EQ(warnings, 0u);
  while (logger.warn("the reserve has an end, too")) {
  }
  count();
  EXPECT_EQ(warnings, 1u);
  writer->pass(Writer::everything, {});
  EXPECT_TRUE(logger.info("room again"));
}

TEST_F(WriterTest, the_records_before_a_drop_are_all_there_and_in_order) {
  std::vector<std::string> expected;
  for (int round = 0; round < 20; ++round) {
    for (int count = 0; count < 90; ++count) {
      if (logger.info("{} {}", count, std::string(count % 50, 'x'))) {
        expected.push_back(fmt::format("info  {} {}", count, std::string(count % 50, 'x')));
      }
    }
    writer->pass(Writer::everything, {});
  }
  EXPECT_EQ(lines(), expected);
}

TEST_F(WriterTest, a_ring_that_is_half_full_wakes_the_writer_once) {
  for (int count = 0; count < 20; ++count) logger.info("{}", count);
  EXPECT_EQ(channel.wakes, 0);
  EXPECT_FALSE(writer->is_pressed());
  for (int count = 0; count < 30; ++count) logger.info("{}", count);
  EXPECT_EQ(channel.wakes, 1);
  EXPECT_TRUE(writer->is_pressed());
}

TEST_F(WriterTest, a_record_larger_than_its_ring_is_dropped_and_counted) {
  EXPECT_FALSE(logger.info("{}", std::string(small_ring_bytes, 'x')));
  EXPECT_TRUE(logger.info("small"));
  writer->note_drops(channel);
  writer->pass(Writer::everything, {});
  EXPECT_THAT(lines(), ElementsAre("info  small", HasSubstr("1 records were dropped")));
}

TEST_F(WriterTest, threads_that_end_give_their_rings_back_once_they_are_drained) {
  for (int round = 0; round < 5; ++round) {
    for (int thread = 0; thread < 4; ++thread) {
      on_a_thread([&] { EXPECT_TRUE(logger.info("{}.{}", round, thread)); });
    }
    on_a_thread([&] { EXPECT_FALSE(logger.info("no ring is left")); });
    writer->pass(Writer::everything, {});
  }
  EXPECT_EQ(channel.dropped_without_ring(), 5u);
  EXPECT_EQ(lines().size(), 20u);
  writer->note_drops(channel);
  writer->pass(Writer::everything, {});
  EXPECT_THAT(lines().back(), HasSubstr("5 records were dropped: more threads log than"));
}

TEST_F(WriterTest, a_thread_local_object_may_log_while_its_thread_ends) {
  struct Farewell {
    const Logger* logger = nullptr;
    ~Farewell() { EXPECT_TRUE(logger->info("farewell")); }
  };
  on_a_thread([&] {
    static thread_local Farewell farewell;
    farewell.logger = &logger;
    logger.info("hello");
  });
  writer->pass(Writer::everything, {});
  EXPECT_THAT(lines(), ElementsAre("info  hello", "info  farewell"));
  for (const Ring& ring : rings->rings()) EXPECT_EQ(ring.state, Ring::State::free);
}

TEST_F(WriterTest, each_call_site_is_met_once) {
  for (int count = 0; count < 10; ++count) logger.info("one {}", count);
  for (int count = 0; count < 10; ++count) logger.info("other {}", count);
  writer->pass(Writer::everything, {});
  EXPECT_EQ(writer->site_count(), 2u);
}

TEST_F(WriterTest, a_thousand_call_sites_are_told_apart) {
  // The same place with other levels is another site: 5 levels by 200 loggers.
  std::vector<LoggerState> states(200);
  std::vector<std::string> names(200);
  for (std::size_t index = 0; index < states.size(); ++index) {
    states[index].channel = &channel;
    states[index].level = Level::trace;
    states[index].name = names[index] = fmt::format("n{}", index);
    for (int level = 0; level < 5; ++level) {
      ASSERT_TRUE(Logger(states[index]).write(static_cast<Level>(level), "m"));
    }
    writer->pass(Writer::everything, {});
  }
  const auto all = lines();
  EXPECT_EQ(writer->site_count(), 1000u);
  ASSERT_EQ(all.size(), 1000u);
  EXPECT_EQ(all[999], "error n199: m");
  EXPECT_EQ(all[1], "debug n0: m");
}

}  // namespace
}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
