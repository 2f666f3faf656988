// Tests of a worker: its claims, its reports, its metrics and its spans.
#include "katana/observe/metrics/exposition.hpp"
#include "katana/observe/trace/root.hpp"
#include "katana/observe/trace/tracer.hpp"
#include "katana/stores/jobs/queue/queue_fixture_test.hpp"

namespace katana::queue {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class QueueWorkerTest : public QueueTest {
 protected:
  // Queues a job without waiting for it: the database may be slow.
  void put_later(std::int64_t number) {
    queued_.push_back(enqueue_later(queue(), number));
    queued_.back().start();
  }
  static Task<Result<Enqueued>> enqueue_later(JobQueue& queue, std::int64_t number) {
    const Note note{number, "note"};
    co_return co_await queue.enqueue("notes", note);
  }
  bool execute(database::SqlFor<> statement) {
    auto changed = run(change(db(), statement));
    EXPECT_TRUE(changed) << changed.error().describe();
    return changed.has_value();
  }
  static Task<database::Result<std::int64_t>> change(database::Database& database,
                                                     database::SqlFor<> statement) {
    co_return co_await database.execute(statement);
  }

  std::vector<Task<Result<Enqueued>>> queued_;
};

// ---- claims

TEST_F(QueueWorkerTest, a_single_free_place_is_used_at_once_while_the_others_are_taken) {
  takes = seconds(100);
  work({.concurrency = 4, .lease = seconds(60)});
  for (int number = 1; number <= 3; ++number) put(number);
  pass(milliseconds(100));
  EXPECT_THAT(taken, SizeIs(3));
  put(4);
  pass(milliseconds(100));
  EXPECT_THAT(taken, SizeIs(4)) << "well before the lease or the poll";
}

TEST_F(QueueWorkerTest, a_job_that_is_claimed_during_a_renewal_keeps_its_lease) {
  takes = seconds(20);
  work({.concurrency = 100, .lease = seconds(3), .poll = milliseconds(100)});
  put(0);
  pass(milliseconds(500));
  faults().delay(milliseconds(400));  // claims and renewals take their time, and overlap
  for (int number = 1; number <= 60; ++number) {
    put_later(number);
    pass(milliseconds(150));
  }
  pass(seconds(40));
  EXPECT_EQ(ended(Ended::lost), 0u);
  EXPECT_EQ(taken.size(), 61u) << "none is begun twice";
  EXPECT_EQ(done.size(), 61u);
}

TEST_F(QueueWorkerTest, a_worker_that_was_stopped_before_its_first_turn_begins_nothing) {
  Worker& worker = work();
  worker.stop();
  put(1);
  pass(seconds(20));
  EXPECT_THAT(taken, IsEmpty());
  begin(worker);
  pass(milliseconds(100));
  EXPECT_THAT(done, ElementsAre(1));
}

TEST_F(QueueWorkerTest, a_worker_whose_reactor_has_too_many_tasks_begins_later) {
  struct Waits {
    static Task<void> for_a_second() { co_await net::sleep_for(seconds(1)); }
  };
  int spawned = 0;
  while (reactor().tasks().spawn(Waits::for_a_second(), "test")) ++spawned;
  ASSERT_GT(spawned, 0);
  work({.poll = seconds(2)});
  pass(milliseconds(500));
  EXPECT_THAT(failures.lines,
              ElementsAre(HasSubstr("queue notes: it could not begin, and tries again: ")));
  put(1);
  EXPECT_THAT(taken, IsEmpty());
  pass(seconds(3));
  EXPECT_THAT(done, ElementsAre(1));
}

// ---- reports

TEST_F(QueueWorkerTest, a_single_failure_of_the_database_is_counted_and_not_told) {
  work({.poll = milliseconds(100)});
  pass(seconds(1));
  const auto instruments = QueueInstruments::make(metrics_, "notes");
  ASSERT_TRUE(instruments);
  faults().fail_next(database::Error(database::Kind::unavailable, "the database is busy"));
  pass(seconds(1));
  EXPECT_EQ(instruments->failures.value(), 1u);
  EXPECT_THAT(failures.lines, IsEmpty());
  faults().fail_next(database::Error(database::Kind::unavailable, "the database is busy"), 2);
  pass(seconds(1));
  EXPECT_EQ(instruments->failures.value(), 3u);
  EXPECT_THAT(failures.lines, SizeIs(1)) << "the second in a row";
}

TEST_F(QueueWorkerTest, leases_that_cannot_be_renewed_are_told) {
  takes = seconds(60);
  work({.lease = seconds(9), .poll = seconds(3600)});
  put(1);
  pass(seconds(1));
  faults().unavailable();
  pass(seconds(6));
  EXPECT_THAT(failures.lines, Contains(HasSubstr("leases could not be renewed")));
}

TEST_F(QueueWorkerTest, without_its_table_a_worker_asks_for_no_lost_leases) {
  faults().unavailable();
  work({.lease = seconds(2), .poll = milliseconds(500), .stop_grace = seconds(1)});
  pass(seconds(10));
  EXPECT_THAT(failures.lines, Contains(HasSubstr("its table cannot be made or found")));
  EXPECT_THAT(failures.lines, Not(Contains(HasSubstr("leases that are over"))));
}

TEST_F(QueueWorkerTest, a_depth_that_cannot_be_read_is_told_and_its_gauges_stay) {
  work({.lease = seconds(2), .poll = seconds(3600), .stop_grace = seconds(1)});
  for (const int number : {1, 2}) put(number, {.delay = seconds(500)});
  pass(seconds(4));
  const auto instruments = QueueInstruments::make(metrics_, "notes");
  ASSERT_TRUE(instruments);
  EXPECT_EQ(instruments->delayed.value(), 2);
  // A column that only claims and depths name.
  ASSERT_TRUE(execute("ALTER TABLE katana_queue_jobs RENAME COLUMN rank_us TO other_us"));
  pass(seconds(6));
  EXPECT_THAT(failures.lines, Contains(HasSubstr("its depth could not be read")));
  EXPECT_EQ(instruments->delayed.value(), 2);
}

// ---- spans

TEST_F(QueueWorkerTest, a_span_names_the_queue_the_job_the_attempt_and_the_request) {
  trace::Tracer tracer({.sampler = trace::Sampler::of_ratio(1)});
  std::vector<std::string> spans;
  const auto drain = [&] {
    spans.clear();
    tracer.drain([&](const trace::SpanRecord& span) {
      std::string text(span.name());
      for (std::size_t index = 0; index < span.attribute_count(); ++index) {
        const auto& each = span.attribute(index);
        text += fmt::format(" {}={}", Bytes(each.key, each.key_size),
                            each.type == trace::SpanRecord::Type::text
                                ? std::string(span.text(each.text))
                                : std::to_string(each.integer));
      }
      spans.push_back(text);
    });
  };
  Worker& worker = *workers_.emplace_back(std::make_unique<Worker>(queue()));
  bool fails = false;
  worker.handle<Note>("notes",
                      [&fails](Note, Delivery&) -> Task<Result<void>> {
                        if (fails) throw std::runtime_error("no disk");
                        co_return {};
                      },
                      {.attempts_max = 1});
  ASSERT_TRUE(worker.start(
      reactor(), {.metrics = metrics_, .failures = &failures, .seed = 7, .tracer = &tracer}));
  const std::int64_t plain = put(1);
  pass(milliseconds(100));
  drain();
  EXPECT_THAT(spans,
              ElementsAre(fmt::format("queue notes katana.queue.name=notes katana.queue.job_id={} "
                                      "katana.queue.attempt=1",
                                      plain)));
  fails = true;
  std::int64_t of_request = 0;
  {
    const Activity activity{.name = "request-7"};
    const ActivityScope as(&activity);
    of_request = put(2);
  }
  pass(milliseconds(100));
  drain();
  EXPECT_THAT(spans,
              ElementsAre(fmt::format("queue notes error.type=exception katana.queue.name=notes "
                                      "katana.queue.job_id={} katana.queue.attempt=1 "
                                      "katana.request_id=request-7",
                                      of_request)));
}

TEST_F(QueueWorkerTest, the_span_of_an_attempt_is_linked_to_the_span_that_queued_the_job) {
  trace::Tracer tracer({.sampler = trace::Sampler::of_ratio(1)});
  std::vector<trace::SpanContext> links;
  Worker& worker = *workers_.emplace_back(std::make_unique<Worker>(queue()));
  worker.handle<Note>("notes", [](Note, Delivery&) -> Task<Result<void>> { co_return {}; });
  ASSERT_TRUE(worker.start(
      reactor(), {.metrics = metrics_, .failures = &failures, .seed = 7, .tracer = &tracer}));
  trace::RootRef producer = trace::Root::begin(tracer);
  {
    Activity activity;
    activity.span = &producer->current();
    const ActivityScope as(&activity);
    put(1);
  }
  put(2);  // outside of any span
  pass(milliseconds(100));
  tracer.drain([&](const trace::SpanRecord& span) { links.push_back(span.link); });
  trace::SpanContext expected = producer->context();
  expected.is_remote = true;
  EXPECT_THAT(links, UnorderedElementsAre(expected, trace::SpanContext()));
}

// ---- metrics

TEST(QueueInstruments, a_metric_of_another_kind_with_one_of_their_names_is_an_error) {
  for (const char* const name :
       {"katana_queue_attempts", "katana_queue_leases_expired", "katana_queue_removed",
        "katana_queue_database_failures", "katana_queue_claims", "katana_queue_running",
        "katana_queue_ready", "katana_queue_delayed", "katana_queue_dead",
        "katana_queue_oldest_seconds", "katana_queue_run_seconds", "katana_queue_wait_seconds"}) {
    metrics::Registry registry;
    ASSERT_TRUE(registry.histogram(name, "Another metric.", {1})) << name;
    const auto instruments = QueueInstruments::make(registry, "notes");
    ASSERT_FALSE(instruments) << name;
    EXPECT_THAT(instruments.error().describe(), HasSubstr(name));
  }
}

TEST(QueueInstruments, each_has_the_label_of_its_queue_and_a_series_for_each_outcome) {
  metrics::Registry registry;
  auto instruments = QueueInstruments::make(registry, "notes");
  ASSERT_TRUE(instruments) << instruments.error().describe();
  instruments->expired.add(1);
  instruments->removed.add(2);
  instruments->failures.add(3);
  instruments->claims.add(4);
  instruments->running.set(5);
  instruments->ready.set(6);
  instruments->delayed.set(7);
  instruments->dead.set(8);
  instruments->oldest.set(9);
  instruments->run.observe(seconds(1));
  instruments->wait.observe(seconds(1));
  instruments->wait.observe(seconds(1));
  for (std::size_t how = 0; how < ended_count; ++how) instruments->attempts[how].add(10 + how);
  std::string text(metrics::Exposition::piece_bytes_min * 4, '\0');
  metrics::Exposition exposition(registry, metrics::Format::prometheus);
  text.resize(exposition.fill(text));
  ASSERT_TRUE(exposition.done());
  for (const char* const line :
       {"leases_expired_total{queue=\"notes\"} 1\n", "removed_total{queue=\"notes\"} 2\n",
        "database_failures_total{queue=\"notes\"} 3\n", "claims_total{queue=\"notes\"} 4\n",
        "running{queue=\"notes\"} 5\n", "ready{queue=\"notes\"} 6\n",
        "delayed{queue=\"notes\"} 7\n", "dead{queue=\"notes\"} 8\n",
        "oldest_seconds{queue=\"notes\"} 9\n", "run_seconds_count{queue=\"notes\"} 1\n",
        "wait_seconds_count{queue=\"notes\"} 2\n",
        "attempts_total{queue=\"notes\",outcome=\"done\"} 10\n",
        "attempts_total{queue=\"notes\",outcome=\"retried\"} 11\n",
        "attempts_total{queue=\"notes\",outcome=\"dead\"} 12\n",
        "attempts_total{queue=\"notes\",outcome=\"lost\"} 13\n",
        "attempts_total{queue=\"notes\",outcome=\"given_back\"} 14\n",
        "attempts_total{queue=\"notes\",outcome=\"unknown\"} 15\n"}) {
    EXPECT_THAT(text, HasSubstr(std::string("katana_queue_") + line));
  }
  EXPECT_THAT(text, Not(HasSubstr("outcome=\"\"")));
}

}  // namespace
}  // namespace katana::queue

// SPDX-License-Identifier: Apache-2.0
