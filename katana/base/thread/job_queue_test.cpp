#include "katana/base/thread/job_queue.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace katana::thread {
namespace {

std::int64_t no_time() { return 7; }

struct Note {
  std::vector<int>* notes;
  int number;
  void operator()() const { notes->push_back(number); }
};

Ended run_next(JobQueue& queue) {
  std::uint64_t position = 0;
  std::int64_t pushed_ns = 0;
  EXPECT_EQ(queue.claim(1, 1, position), 1u);
  Job job = queue.take(position, pushed_ns);
  return job.act(job.payload, Order::run);
}

TEST(JobQueue, jobs_come_out_in_the_order_in_which_they_were_pushed) {
  JobQueue queue(8, 1);
  std::vector<int> notes;
  for (int lap = 0; lap < 5; ++lap) {
    notes.clear();
    for (int number = 0; number < 6; ++number) {
      ASSERT_EQ(queue.push(make_job(Note{&notes, number}), no_time), JobQueue::Push::done);
    }
    while (queue.waiting() != 0) EXPECT_EQ(run_next(queue), Ended::ran);
    EXPECT_EQ(notes, (std::vector{0, 1, 2, 3, 4, 5}));
  }
  EXPECT_EQ(queue.pushed(), 30u);
}

TEST(JobQueue, it_takes_exactly_as_many_jobs_as_it_has_slots) {
  JobQueue queue(4, 1);
  std::vector<int> notes;
  for (int number = 0; number < 4; ++number) {
    EXPECT_EQ(queue.push(make_job(Note{&notes, number}), no_time), JobQueue::Push::done);
  }
  EXPECT_EQ(queue.push(make_job(Note{&notes, 4}), no_time), JobQueue::Push::full);
  EXPECT_EQ(run_next(queue), Ended::ran);
  EXPECT_EQ(queue.push(make_job(Note{&notes, 5}), no_time), JobQueue::Push::done);
  while (queue.waiting() != 0) run_next(queue);
  EXPECT_EQ(notes, (std::vector{0, 1, 2, 3, 5}));
}

TEST(JobQueue, a_claimed_job_keeps_its_slot_until_it_is_taken) {
  JobQueue queue(2, 1);
  std::vector<int> notes;
  ASSERT_EQ(queue.push(make_job(Note{&notes, 0}), no_time), JobQueue::Push::done);
  ASSERT_EQ(queue.push(make_job(Note{&notes, 1}), no_time), JobQueue::Push::done);
  std::uint64_t begin = 9;
  ASSERT_EQ(queue.claim(8, 1, begin), 2u);
  EXPECT_EQ(begin, 0u);
  EXPECT_EQ(queue.waiting(), 0u);
  EXPECT_EQ(queue.push(make_job(Note{&notes, 2}), no_time), JobQueue::Push::full);
  std::int64_t pushed_ns = 0;
  for (std::uint64_t position : {0u, 1u}) {
    Job job = queue.take(position, pushed_ns);
    job.act(job.payload, Order::run);
  }
  EXPECT_EQ(queue.push(make_job(Note{&notes, 2}), no_time), JobQueue::Push::done);
  run_next(queue);
  EXPECT_EQ(notes, (std::vector{0, 1, 2}));
}

TEST(JobQueue, a_claim_leaves_its_share_to_others_and_is_never_empty_while_jobs_wait) {
  JobQueue queue(64, 1);
  std::vector<int> notes;
  for (int number = 0; number < 40; ++number) {
    ASSERT_EQ(queue.push(make_job(Note{&notes, number}), no_time), JobQueue::Push::done);
  }
  std::uint64_t begin = 0;
  std::int64_t pushed_ns = 0;
  std::size_t claimed = 0;
  EXPECT_EQ(queue.claim(32, 4, begin), 10u);
  for (claimed = 10; claimed < 40;) {
    const std::size_t count = queue.claim(32, 4, begin);
    ASSERT_GE(count, 1u);
    ASSERT_EQ(begin, claimed);
    claimed += count;
  }
  EXPECT_EQ(queue.claim(32, 4, begin), 0u);
  for (std::uint64_t position = 0; position < 40; ++position) {
    Job job = queue.take(position, pushed_ns);
    job.act(job.payload, Order::cancel);
  }
  EXPECT_TRUE(notes.empty());
}

TEST(JobQueue, a_closed_lane_takes_nothing_more_and_gives_out_what_it_has) {
  JobQueue queue(4, 1);
  std::vector<int> notes;
  ASSERT_EQ(queue.push(make_job(Note{&notes, 0}), no_time), JobQueue::Push::done);
  queue.close();
  EXPECT_EQ(queue.push(make_job(Note{&notes, 1}), no_time), JobQueue::Push::closed);
  EXPECT_EQ(queue.waiting(), 1u);
  EXPECT_EQ(run_next(queue), Ended::ran);
  EXPECT_EQ(queue.waiting(), 0u);
  EXPECT_EQ(notes, std::vector{0});
}

TEST(JobQueue, one_position_in_so_many_carries_the_time_of_its_push) {
  JobQueue queue(8, 4);
  std::vector<int> notes;
  std::int64_t clock = 100;
  for (int number = 0; number < 8; ++number) {
    ASSERT_EQ(queue.push(make_job(Note{&notes, number}), [&clock] { return clock++; }),
              JobQueue::Push::done);
  }
  EXPECT_EQ(clock, 102);
  for (std::uint64_t position = 0; position < 8; ++position) {
    std::uint64_t begin = 0;
    ASSERT_EQ(queue.claim(1, 1, begin), 1u);
    std::int64_t pushed_ns = 0;
    Job job = queue.take(begin, pushed_ns);
    job.act(job.payload, Order::run);
    EXPECT_EQ(pushed_ns, position == 0 ? 100 : position == 4 ? 101 : JobQueue::not_timed);
  }
}

TEST(Job, a_callable_that_owns_something_is_destroyed_once_whether_run_or_cancelled) {
  for (const Order order : {Order::run, Order::cancel}) {
    auto owned = std::make_shared<int>(0);
    Job job = make_job([owned] { ++*owned; });
    EXPECT_EQ(owned.use_count(), 2);
    EXPECT_EQ(job.act(job.payload, order), order == Order::run ? Ended::ran : Ended::cancelled);
    EXPECT_EQ(owned.use_count(), 1);
    EXPECT_EQ(*owned, order == Order::run ? 1 : 0);
  }
}

TEST(Job, one_whose_token_was_asked_to_stop_is_cancelled_instead_of_run) {
  std::stop_source source;
  int runs = 0;
  Job first = make_job([&runs] { ++runs; }, source.get_token());
  Job second = make_job([&runs] { ++runs; }, source.get_token());
  EXPECT_EQ(first.act(first.payload, Order::run), Ended::ran);
  source.request_stop();
  EXPECT_EQ(second.act(second.payload, Order::run), Ended::cancelled);
  EXPECT_EQ(runs, 1);
}

// Several senders and takers share a small ring that is full most of the time. It is closed while
// they work. Each pushed job runs once, and no other job runs.
TEST(JobQueue, what_was_pushed_before_the_close_is_taken_exactly_once_by_many_threads) {
  constexpr std::size_t senders = 3, takers = 3, each_sends = 20'000;
  JobQueue queue(16, 4);
  std::vector<std::atomic<std::uint8_t>> runs(senders * each_sends);
  std::vector<std::uint8_t> accepted(senders * each_sends, 0);
  std::atomic<bool> closed = false;
  std::vector<std::thread> threads;
  for (std::size_t sender = 0; sender < senders; ++sender) {
    threads.emplace_back([&, sender] {
      for (std::size_t number = 0; number < each_sends; ++number) {
        const std::size_t index = sender * each_sends + number;
        const Job job = make_job([run = &runs[index]] { run->fetch_add(1); });
        JobQueue::Push pushed;
        while ((pushed = queue.push(job, no_time)) == JobQueue::Push::full)
          std::this_thread::yield();
        if (pushed == JobQueue::Push::closed) return;
        accepted[index] = 1;
        if (sender == 0 && number == each_sends * 3 / 4) {
          queue.close();
          closed = true;
        }
      }
    });
  }
  for (std::size_t taker = 0; taker < takers; ++taker) {
    threads.emplace_back([&, taker] {
      while (true) {
        const bool last = closed.load();
        std::uint64_t begin = 0;
        const std::size_t count = queue.claim(1 + taker * 3, takers, begin);
        if (count == 0 && last && queue.waiting() == 0) return;
        if (count == 0) std::this_thread::yield();
        for (std::size_t index = 0; index < count; ++index) {
          std::int64_t pushed_ns = 0;
          Job job = queue.take(begin + index, pushed_ns);
          job.act(job.payload, Order::run);
        }
      }
    });
  }
  for (std::thread& each : threads) each.join();
  std::uint64_t sum = 0;
  for (std::size_t index = 0; index < runs.size(); ++index) {
    ASSERT_EQ(runs[index].load(), accepted[index]) << "job " << index;
    sum += accepted[index];
  }
  EXPECT_EQ(sum, queue.pushed());
  EXPECT_LT(sum, runs.size());  // the close came in the midst
}

}  // namespace
}  // namespace katana::thread

// SPDX-License-Identifier: Apache-2.0
