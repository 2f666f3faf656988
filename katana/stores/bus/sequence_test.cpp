#include "katana/stores/bus/sequence.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "katana/base/values/random.hpp"

namespace katana::bus {
namespace {

constexpr Instant start{seconds(1000).ns};

TEST(Sequencer, counts_each_subject_by_itself) {
  Sequencer numbers(7);
  EXPECT_EQ(numbers.next("a", start).sequence, 1u);
  EXPECT_EQ(numbers.next("b", start).sequence, 1u);
  EXPECT_EQ(numbers.next("a", start).sequence, 2u);
  EXPECT_EQ(numbers.next("a", start).publisher, 7u);
}

TEST(Sequencer, repeats_the_last_number_three_times_and_falls_silent) {
  Sequencer numbers(7, {.repeat_after = seconds(2)});
  EXPECT_EQ(numbers.due(), never);
  (void)numbers.next("a", start);
  (void)numbers.next("a", start + seconds(1));
  std::vector<std::int64_t> at;
  for (Instant now = start; now < start + seconds(100); now = now + seconds(1)) {
    numbers.repeat(now, 10, [&](const Sequencer::Repeat& repeat) {
      EXPECT_EQ(repeat.subject, "a");
      EXPECT_EQ(repeat.origin.sequence, 2u);
      EXPECT_EQ(repeat.age, now - start);
      at.push_back((now - start).count_ms() / 1000);
    });
  }
  EXPECT_EQ(at, (std::vector<std::int64_t>{2, 6, 14}));
  EXPECT_EQ(numbers.due(), never);
  (void)numbers.next("a", start + seconds(100));
  EXPECT_EQ(numbers.due(), start + seconds(102));
}

TEST(Sequencer, repeats_while_messages_come) {
  Sequencer numbers(7, {.repeat_after = seconds(2)});
  int repeats = 0;
  for (Instant now = start; now < start + seconds(60); now = now + milliseconds(100)) {
    (void)numbers.next("a", now);
    numbers.repeat(now, 10, [&](const Sequencer::Repeat&) { ++repeats; });
  }
  EXPECT_GE(repeats, 14);
}

TEST(Sequencer, a_full_table_gives_the_place_of_the_most_silent) {
  Sequencer numbers(7, {.subjects_max = 2});
  (void)numbers.next("a", start);
  (void)numbers.next("a", start);
  (void)numbers.next("b", start);
  (void)numbers.next("c", start);  // a goes
  EXPECT_EQ(numbers.subjects(), 2u);
  EXPECT_EQ(numbers.next("b", start).sequence, 2u);
  const std::uint64_t again = numbers.next("a", start).sequence;
  EXPECT_EQ(again & ((std::uint64_t{1} << generation_shift) - 1), 1u);
  EXPECT_GT(again, std::uint64_t{1} << generation_shift);
  // A receiver takes that for no gap.
  GapDetector gaps;
  gaps.add(1, start);
  (void)gaps.on_message(1, "a", {7, 1});
  (void)gaps.on_message(1, "a", {7, 2});
  EXPECT_EQ(gaps.on_message(1, "a", {7, again}).missed, 0u);
}

TEST(Sequencer, a_full_table_keeps_a_subject_that_was_used_again) {
  Sequencer numbers(7, {.subjects_max = 2});
  (void)numbers.next("a", start);
  (void)numbers.next("b", start);
  (void)numbers.next("a", start);
  (void)numbers.next("c", start);  // b goes
  EXPECT_EQ(numbers.next("a", start).sequence, 3u);
}

TEST(Sequencer, a_subject_that_was_forgotten_is_repeated_no_more) {
  Sequencer numbers(7, {.subjects_max = 1, .repeat_after = seconds(2)});
  (void)numbers.next("a", start);
  (void)numbers.next("b", start + seconds(1));
  EXPECT_EQ(numbers.due(), start + seconds(3));
  std::vector<std::string> repeated;
  numbers.repeat(start + seconds(60), 10,
                 [&](const Sequencer::Repeat& repeat) { repeated.emplace_back(repeat.subject); });
  EXPECT_EQ(repeated, std::vector<std::string>{"b"});
}

TEST(Sequencer, a_message_at_the_instant_of_the_last_repeat_is_repeated_three_times_again) {
  Sequencer numbers(7, {.repeat_after = seconds(2)});
  (void)numbers.next("a", start);
  int repeats = 0;
  const auto count = [&](const Sequencer::Repeat&) { ++repeats; };
  for (const int second : {2, 6, 14}) numbers.repeat(start + seconds(second), 1, count);
  ASSERT_EQ(repeats, 3);
  ASSERT_EQ(numbers.due(), never);
  (void)numbers.next("a", start + seconds(14));
  EXPECT_EQ(numbers.due(), start + seconds(16));
  numbers.repeat(numbers.due(), 1, count);
  EXPECT_EQ(numbers.due(), start + seconds(20)) << "it does not fall silent after one";
  numbers.repeat(numbers.due(), 1, count);
  EXPECT_EQ(numbers.due(), start + seconds(28));
}

TEST(Sequencer, no_more_is_repeated_at_once_than_was_asked_for) {
  Sequencer numbers(7, {.repeat_after = seconds(2)});
  for (const char* const subject : {"a", "b", "c"}) (void)numbers.next(subject, start);
  int repeats = 0;
  numbers.repeat(start + seconds(2), 2, [&](const Sequencer::Repeat&) { ++repeats; });
  EXPECT_EQ(repeats, 2);
  numbers.repeat(start + seconds(2), 2, [&](const Sequencer::Repeat&) { ++repeats; });
  EXPECT_EQ(repeats, 3);
}

TEST(GapDetector, sees_what_is_missing_in_front_of_a_number_of_a_new_generation) {
  constexpr std::uint64_t later = std::uint64_t{5} << generation_shift;
  GapDetector gaps;
  gaps.add(1, start);
  (void)gaps.on_message(1, "a", {7, 2});
  EXPECT_EQ(gaps.on_message(1, "a", {7, later | 4}).missed, 3u);
  (void)gaps.on_message(1, "b", {7, 2});
  EXPECT_EQ(gaps.on_repeat(1, "b", {7, later | 4}, seconds(1), start).missed, 4u);
  (void)gaps.on_message(1, "c", {7, 2});
  EXPECT_EQ(gaps.on_message(1, "c", {7, later | 1}).missed, 0u);
}

TEST(GapDetector, a_full_table_forgets_the_least_used_and_not_the_first_seen) {
  GapDetector gaps(2);
  gaps.add(1, start);
  (void)gaps.on_message(1, "a", {7, 1});
  (void)gaps.on_message(1, "b", {7, 1});
  (void)gaps.on_message(1, "a", {7, 2});
  (void)gaps.on_message(1, "c", {7, 1});  // b goes
  EXPECT_EQ(gaps.on_message(1, "a", {7, 5}).missed, 2u);
  EXPECT_TRUE(gaps.on_message(1, "b", {7, 9}).may_have_missed);
}

TEST(GapDetector, a_repeat_of_what_left_a_full_table_may_have_been_missed_and_counts_nothing) {
  GapDetector gaps(1);
  gaps.add(1, start);
  gaps.add(2, start);
  (void)gaps.on_message(1, "a", {7, 1});
  (void)gaps.on_message(1, "b", {7, 1});
  const Instant now = start + seconds(60);
  const auto verdict = gaps.on_repeat(1, "a", {7, 3}, seconds(10), now);
  EXPECT_TRUE(verdict.may_have_missed);
  EXPECT_EQ(verdict.missed, 0u);
  EXPECT_EQ(gaps.on_repeat(2, "a", {7, 3}, seconds(10), now).missed, 3u)
      << "the other subscription has forgotten nothing";
}

TEST(GapDetector, a_subscription_is_blamed_for_a_number_only_if_it_is_older_by_the_slack) {
  const Instant now = start + seconds(20);
  for (const bool is_older : {false, true}) {
    GapDetector gaps;
    gaps.add(1, start + seconds(9) + (is_older ? nanoseconds(-1) : nanoseconds(0)));
    EXPECT_EQ(gaps.on_repeat(1, "a", {7, 3}, seconds(10), now).missed, is_older ? 3u : 0u);
  }
}

TEST(GapDetector, a_subscription_that_was_removed_is_told_nothing) {
  GapDetector gaps;
  gaps.add(1, start);
  (void)gaps.on_message(1, "a", {7, 1});
  gaps.remove(1);
  EXPECT_EQ(gaps.on_message(1, "a", {7, 9}).missed, 0u);
  EXPECT_EQ(gaps.on_repeat(1, "a", {7, 9}, seconds(1), start + seconds(60)).missed, 0u);
}

TEST(GapDetector, tells_how_many_numbers_are_missing) {
  GapDetector gaps;
  gaps.add(1, start);
  EXPECT_EQ(gaps.on_message(1, "a", {7, 1}).missed, 0u);
  EXPECT_EQ(gaps.on_message(1, "a", {7, 2}).missed, 0u);
  EXPECT_EQ(gaps.on_message(1, "a", {7, 6}).missed, 3u);
  EXPECT_EQ(gaps.on_message(1, "b", {7, 1}).missed, 0u);
  EXPECT_EQ(gaps.on_message(1, "a", {8, 1}).missed, 0u);
  EXPECT_TRUE(gaps.on_message(1, "a", {7, 6}).is_duplicate);
  EXPECT_TRUE(gaps.on_message(1, "a", {7, 4}).is_duplicate);
  EXPECT_EQ(gaps.on_message(1, "a", {7, 7}).missed, 0u);
}

TEST(GapDetector, a_repeated_number_shows_what_was_lost_at_the_end) {
  GapDetector gaps;
  gaps.add(1, start);
  (void)gaps.on_message(1, "a", {7, 1});
  EXPECT_EQ(gaps.on_repeat(1, "a", {7, 1}, seconds(1), start + seconds(1)).missed, 0u);
  EXPECT_EQ(gaps.on_repeat(1, "a", {7, 4}, seconds(5), start + seconds(5)).missed, 3u);
  EXPECT_EQ(gaps.on_repeat(1, "a", {7, 4}, seconds(6), start + seconds(6)).missed, 0u);
  EXPECT_EQ(gaps.on_message(1, "a", {7, 5}).missed, 0u);
}

TEST(GapDetector, the_first_number_is_judged_by_the_age_of_its_subject) {
  GapDetector gaps;
  gaps.add(1, start);
  gaps.add(2, start + seconds(50));
  // The subject is 10 s old: the first subscription was there before it, the second one was not.
  EXPECT_EQ(gaps.on_message(1, "a", {7, 5}).missed, 0u);
  EXPECT_EQ(gaps.on_message(2, "a", {7, 5}).missed, 0u);
  const Instant now = start + seconds(55);
  EXPECT_EQ(gaps.on_repeat(1, "a", {7, 5}, seconds(10), now).missed, 4u);
  EXPECT_EQ(gaps.on_repeat(2, "a", {7, 5}, seconds(10), now).missed, 0u);
  EXPECT_EQ(gaps.on_repeat(1, "a", {7, 5}, seconds(10), now).missed, 0u);  // once
  // Nothing of it has come at all.
  EXPECT_EQ(gaps.on_repeat(1, "b", {7, 3}, seconds(10), now).missed, 3u);
  EXPECT_EQ(gaps.on_repeat(2, "b", {7, 3}, seconds(10), now).missed, 0u);
}

TEST(GapDetector, what_left_a_full_table_may_have_been_missed) {
  GapDetector gaps(2);
  gaps.add(1, start);
  (void)gaps.on_message(1, "a", {7, 1});
  (void)gaps.on_message(1, "b", {7, 1});
  (void)gaps.on_message(1, "c", {7, 1});
  EXPECT_EQ(gaps.entries(), 2u);
  EXPECT_TRUE(gaps.on_message(1, "a", {7, 9}).may_have_missed);
}

TEST(GapDetector, numbers_that_nobody_gives_do_no_harm) {
  GapDetector gaps;
  gaps.add(1, start);
  EXPECT_EQ(gaps.on_message(1, "a", {0, 0}).missed, 0u);
  EXPECT_EQ(gaps.on_message(1, "a", {7, 0}).missed, 0u);
  EXPECT_EQ(gaps.on_repeat(1, "a", {7, 0}, seconds(9), start + seconds(10)).missed, 0u);
  EXPECT_EQ(gaps.on_repeat(1, "a", {0, 4}, seconds(9), start + seconds(10)).missed, 0u);
  EXPECT_EQ(gaps.on_repeat(2, "a", {7, 4}, seconds(9), start + seconds(10)).missed, 0u);
  EXPECT_EQ(gaps.on_message(2, "a", {7, 9}).missed, 0u);
  EXPECT_EQ(gaps.entries(), 0u);
  (void)gaps.on_message(1, "a", {7, UINT64_MAX});
  EXPECT_TRUE(gaps.on_message(1, "a", {7, 1}).is_duplicate);
}

// Whatever is lost, the delivered and the missed messages add up to the published ones.
TEST(GapDetector, losses_add_up) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    Sequencer numbers(7, {.subjects_max = 64});
    GapDetector gaps;
    gaps.add(1, start);
    std::uint64_t published = 0, delivered = 0, missed = 0;
    Instant now = start + seconds(5);
    for (int round = 0; round < 500; ++round) {
      now = now + milliseconds(static_cast<std::int64_t>(random.below(300)));
      const std::string subject(1, static_cast<char>('a' + random.below(4)));
      const Origin origin = numbers.next(subject, now);
      ++published;
      if (random.chance(700)) {
        const auto verdict = gaps.on_message(1, subject, origin);
        EXPECT_FALSE(verdict.is_duplicate || verdict.may_have_missed);
        ++delivered;
        missed += verdict.missed;
      }
    }
    for (int round = 0; round < 3; ++round) {
      now = now + seconds(20);
      numbers.repeat(now, SIZE_MAX, [&](const Sequencer::Repeat& repeat) {
        missed += gaps.on_repeat(1, repeat.subject, repeat.origin, repeat.age, now).missed;
      });
    }
    EXPECT_EQ(published, delivered + missed) << "seed " << seed;
  }
}

}  // namespace
}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
