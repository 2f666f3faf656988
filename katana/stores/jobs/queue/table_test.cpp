// The rules of the table on SQLite; tests/postgres/queue_test.cpp has the same on PostgreSQL.
#include "katana/stores/jobs/queue/table_suite_test.hpp"

#include "katana/stores/jobs/queue/queue_fixture_test.hpp"

namespace katana::queue {
namespace {

using ::testing::SizeIs;

class QueueTableTest : public QueueTest {};

TEST_F(QueueTableTest, a_worker_that_lost_its_lease_changes_nothing) {
  EXPECT_EQ(run(check_fences(queue())), "");
}
TEST_F(QueueTableTest, a_worker_renews_its_own_leases_and_no_others) {
  EXPECT_EQ(run(check_renewals(queue())), "");
}
TEST_F(QueueTableTest, a_lease_that_is_over_is_found_and_no_other) {
  EXPECT_EQ(run(check_expiry(queue())), "");
}
TEST_F(QueueTableTest, a_lease_is_not_taken_away_in_its_last_second) {
  EXPECT_EQ(run(check_last_seconds(queue())), "");
}
TEST_F(QueueTableTest, a_row_says_how_its_job_ended) { EXPECT_EQ(run(check_ends(queue())), ""); }
TEST_F(QueueTableTest, a_dead_letter_is_revived_with_all_of_its_attempts) {
  EXPECT_EQ(run(check_dead_letters(queue())), "");
}
TEST_F(QueueTableTest, a_job_that_runs_is_not_discarded) {
  EXPECT_EQ(run(check_discards(queue())), "");
}
TEST_F(QueueTableTest, jobs_are_claimed_in_the_order_of_their_times_and_priorities) {
  EXPECT_EQ(run(check_order(queue())), "");
}
TEST_F(QueueTableTest, a_key_keeps_others_out_for_as_long_as_it_lasts) {
  EXPECT_EQ(run(check_keys(queue())), "");
}
TEST_F(QueueTableTest, old_and_surplus_rows_are_removed_and_no_others) {
  EXPECT_EQ(run(check_purges(queue())), "");
}

TEST_F(QueueTableTest, a_table_of_an_earlier_version_gets_its_column_and_keeps_its_rows) {
  JobQueue next(db());
  EXPECT_EQ(run(check_old_table(queue(), next)), "");
}

// PostgreSQL's clock does not stand still, so these are SQLite's alone.
TEST_F(QueueTableTest, a_lease_ends_in_the_microsecond_that_its_row_names) {
  put(1);
  ASSERT_THAT(*run(queue().table().claim("notes", 1, seconds(10), "first")), SizeIs(1));
  turn(milliseconds(9'999));
  EXPECT_THAT(*run(queue().table().expire("notes", 100)), SizeIs(0));
  turn(milliseconds(1));
  EXPECT_THAT(*run(queue().table().expire("notes", 100)), SizeIs(1));
}

TEST_F(QueueTableTest, a_delayed_job_is_claimed_in_the_microsecond_at_which_it_is_due) {
  put(1, {.delay = seconds(10), .priority = 100});
  turn(milliseconds(9'999));
  EXPECT_EQ(run(queue().depth("notes"))->delayed, 1);
  EXPECT_THAT(*run(queue().table().claim("notes", 1, seconds(10), "first")), SizeIs(0));
  turn(milliseconds(1));
  EXPECT_EQ(run(queue().depth("notes"))->ready, 1);
  EXPECT_THAT(*run(queue().table().claim("notes", 1, seconds(10), "first")), SizeIs(1));
}

}  // namespace
}  // namespace katana::queue

// SPDX-License-Identifier: Apache-2.0
