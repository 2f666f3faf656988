// The bookkeeping of the generator: stamps, the ledger, the schedule, and the verdict about itself.
#include <gtest/gtest.h>

#include <string>

#include "lab/chat_load/ledger.hpp"
#include "lab/chat_load/plan.hpp"
#include "lab/chat_load/report.hpp"
#include "lab/chat_load/stamp.hpp"

namespace katana::chat_load {
namespace {

TEST(Stamp, comes_out_as_it_went_in) {
  const Stamp stamp{0xbeef, false, 0xabcdef, 0xffffffff, (std::uint64_t{1} << 60) - 1};
  std::string message(64, '?');
  write_message(stamp, message.data(), message.size());
  EXPECT_EQ(message.back(), '\n');
  Stamp read;
  ASSERT_TRUE(read_stamp(std::string_view(message).substr(0, 63), read));
  EXPECT_EQ(read.run, stamp.run);
  EXPECT_FALSE(read.probe);
  EXPECT_EQ(read.sender, stamp.sender);
  EXPECT_EQ(read.sequence, stamp.sequence);
  EXPECT_EQ(read.due_ns, stamp.due_ns);
}

TEST(Stamp, of_something_else_is_refused) {
  Stamp read;
  std::string message(message_bytes_min, '?');
  write_message({1, true, 2, 3, 4}, message.data(), message.size());
  message.pop_back();
  EXPECT_TRUE(read_stamp(message, read));
  EXPECT_TRUE(read.probe);
  EXPECT_FALSE(read_stamp(message.substr(1), read));
  for (std::size_t at = 0; at < stamp_bytes; ++at) {
    std::string other = message;
    other[at] = 'G';
    EXPECT_FALSE(read_stamp(other, read)) << at;
  }
}

TEST(Ledger, counts_what_comes_once_in_order) {
  Ledger ledger(2, 3);
  for (std::uint32_t sequence = 0; sequence < 10; ++sequence) {
    ledger.note(0, 1, sequence);
    ledger.note(1, 1, sequence);
  }
  EXPECT_EQ(ledger.delivered(), 20U);
  EXPECT_EQ(ledger.duplicated() + ledger.out_of_order(), 0U);
}

TEST(Ledger, tells_what_is_missing_from_what_is_late_and_from_what_comes_twice) {
  Ledger ledger(1, 1);
  for (const std::uint32_t sequence : {0U, 1U, 5U, 6U, 3U, 3U, 5U, 0U, 9U, 4U, 2U, 8U, 7U, 7U}) {
    ledger.note(0, 0, sequence);
  }
  EXPECT_EQ(ledger.delivered(), 10U);
  EXPECT_EQ(ledger.out_of_order(), 5U);  // 3, 4, 2, 8, 7
  EXPECT_EQ(ledger.duplicated(), 4U);    // 3, 5, 0, 7
}

TEST(ChatPlan, smooth_pacing_spreads_the_senders_over_the_interval) {
  ChatPlan plan;
  plan.connections = 4;
  plan.rate_per_s = 10;
  EXPECT_EQ(plan.due_ns(0, 0), 0);
  EXPECT_EQ(plan.due_ns(1, 0), 25'000'000);
  EXPECT_EQ(plan.due_ns(3, 2), 275'000'000);
}

TEST(ChatPlan, a_burst_is_a_second_s_messages_at_once) {
  ChatPlan plan;
  plan.rate_per_s = 10;
  plan.burst = true;
  EXPECT_EQ(plan.due_ns(5, 0), 0);
  EXPECT_EQ(plan.due_ns(7, 9), 0);
  EXPECT_EQ(plan.due_ns(0, 10), 1'000'000'000);
}

TEST(Summary, a_generator_that_is_the_limit_says_so) {
  ChatPlan plan;
  Statistics busy;
  busy.wall_ns = 1'000'000'000;
  busy.cpu_ns = 950'000'000;
  busy.sent = 10;
  busy.expected = 100;
  busy.delivered = 90;
  Statistics calm;
  calm.wall_ns = 1'000'000'000;
  calm.cpu_ns = 100'000'000;
  const Summary summary = summarise(plan, {&calm, &busy});
  EXPECT_TRUE(summary.saturated);
  EXPECT_EQ(summary.missing, 10U);
  EXPECT_NE(to_text(plan, summary).find("SATURATED"), std::string::npos);
  EXPECT_NE(to_json(plan, summary).find("\"saturated\": true"), std::string::npos);
  EXPECT_FALSE(summarise(plan, {&calm}).saturated);
}

TEST(Summary, the_unit_of_a_rate_is_its_own) {
  ChatPlan plan;
  plan.duration_s = 20;
  Statistics statistics;
  statistics.wall_ns = 20'000'000'000;
  statistics.sent = 440'000;
  statistics.sent_bytes = 440'000 * 64;
  const std::string text = to_text(plan, summarise(plan, {&statistics}));
  EXPECT_NE(text.find("22000.0 msg/s, 1.41 MB/s"), std::string::npos) << text;
  EXPECT_EQ(text.find("interrupted"), std::string::npos) << text;
}

TEST(Summary, what_comes_after_the_sending_takes_time_too) {
  ChatPlan plan;
  plan.duration_s = 2;
  Statistics statistics;
  statistics.wall_ns = 2'000'000'000;
  statistics.delivering_ns = 5'000'000'000;
  statistics.expected = statistics.delivered = 10'000'000;
  const Summary late = summarise(plan, {&statistics});
  EXPECT_DOUBLE_EQ(late.behind_s, 3);
  const std::string text = to_text(plan, late);
  EXPECT_NE(text.find("10000000 of 10000000: 2000000.0 per second"), std::string::npos) << text;
  EXPECT_NE(text.find("the last delivery came 3.00 s after"), std::string::npos) << text;
  EXPECT_NE(to_json(plan, late).find("\"deliveries_per_s\": 2000000.0"), std::string::npos);
  EXPECT_NE(to_json(plan, late).find("\"behind\": true"), std::string::npos);

  statistics.delivering_ns = 1'990'000'000;
  const Summary in_time = summarise(plan, {&statistics});
  EXPECT_DOUBLE_EQ(in_time.behind_s, 0);
  EXPECT_FALSE(in_time.behind);
  EXPECT_NE(to_text(plan, in_time).find("5000000.0 per second"), std::string::npos);
  EXPECT_EQ(to_text(plan, in_time).find("sustained"), std::string::npos);
}

TEST(Summary, a_run_that_ended_early_says_so) {
  ChatPlan plan;
  plan.duration_s = 600;
  Statistics statistics;
  statistics.wall_ns = 20'000'000'000;
  const Summary summary = summarise(plan, {&statistics});
  EXPECT_TRUE(summary.interrupted);
  EXPECT_NE(to_text(plan, summary).find("interrupted after 20.0 of 600 s"), std::string::npos);
}

}  // namespace
}  // namespace katana::chat_load

// SPDX-License-Identifier: Apache-2.0
