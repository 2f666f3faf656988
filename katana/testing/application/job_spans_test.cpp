// Spans of scheduled jobs and of jobs from a queue, in virtual time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "katana/app/sqlite/sqlite.hpp"
#include "katana/app/telemetry/telemetry.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/observe/trace/span.hpp"
#include "katana/testing/application/span_capture.hpp"
#include "katana/testing/application/test_application.hpp"

namespace katana::testing {

struct Parcel {
  std::string to;
};
KATANA_DESCRIBE(Parcel, to)

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

using Shop = app::Application<app::SettingsWithDatabase>;

class JobSpansTest : public ::testing::Test {
 protected:
  template <class F>
  void make(F configure, std::vector<std::string> settings = {}) {
    auto program =
        std::make_unique<Shop>(app::ApplicationOptions{.name = "shop", .database = app::sqlite()});
    program->use(app::telemetry());
    configure(*program);
    app_ = std::make_unique<TestApplication>(
        std::move(program), TestApplicationOptions{.settings = std::move(settings)});
    ASSERT_TRUE(app_->start());
  }
  std::vector<CapturedSpan> named(const std::string& name) {
    std::vector<CapturedSpan> found;
    for (const CapturedSpan& each : app_->spans().all()) {
      if (each.name == name) found.push_back(each);
    }
    return found;
  }
  // A field of the log's record with this message.
  std::string field_of(const std::string& message, const char* field) {
    const auto found = app_->log().find(message);
    if (found != nullptr) return found->field(field);
    ADD_FAILURE() << "no record '" << message << "' in\n" << app_->log().describe();
    return "";
  }

  std::unique_ptr<TestApplication> app_;
};

Task<Result<void>> purge(const registry::Services& services) {
  const trace::Span span("old sessions");
  co_await net::sleep_for(seconds(1));
  auto done = co_await services.get<database::Database>().execute("CREATE TABLE old (id INT)");
  if (!done) co_return fail(Code::unavailable, "no disk");
  co_return Result<void>();
}

TEST_F(JobSpansTest, each_run_of_a_scheduled_job_is_a_trace_with_what_it_calls_below) {
  make([](Shop& program) { program.job("purge", jobs::every(seconds(60)), purge); });
  app_->advance(seconds(62));
  const auto runs = named("job purge");
  ASSERT_THAT(runs, SizeIs(1)) << app_->spans().describe();
  EXPECT_EQ(runs[0].kind, trace::SpanKind::internal);
  EXPECT_EQ(runs[0].parent_id, "");
  EXPECT_FALSE(runs[0].failed());
  EXPECT_EQ(runs[0].attribute("katana.job.name"), "purge");
  EXPECT_EQ(runs[0].attribute("katana.job.attempt"), "1");
  EXPECT_GE(runs[0].ended - runs[0].began, seconds(1));
  const auto below = app_->spans().children(runs[0]);
  ASSERT_THAT(below, SizeIs(1)) << app_->spans().describe();
  EXPECT_EQ(below[0].name, "old sessions");
  EXPECT_THAT(app_->spans().children(below[0]), SizeIs(1)) << "the statement";
  // The second run fails, for the table is there: another trace.
  app_->advance(seconds(60));
  const auto both = named("job purge");
  ASSERT_THAT(both, SizeIs(2));
  EXPECT_NE(both[0].trace_id, both[1].trace_id);
  EXPECT_TRUE(both[1].failed());
  EXPECT_EQ(both[1].attribute("error.type"), "error");
  EXPECT_THAT(app_->spans().describe(), Not(HasSubstr("no disk")));
}

TEST_F(JobSpansTest, retries_are_traces_with_their_number_and_an_exception_is_named) {
  make([](Shop& program) {
    program.job("sync", jobs::every(seconds(3600)),
                []() -> Task<void> {
                  co_await net::sleep_for(milliseconds(1));
                  throw std::runtime_error("secret cause");
                },
                {.run_at_start = true, .retry = {.retries_max = 2, .delay = seconds(1)}});
  });
  app_->advance(seconds(60));
  std::vector<std::string> attempts;
  for (const CapturedSpan& run : named("job sync")) {
    attempts.push_back(run.attribute("katana.job.attempt"));
    EXPECT_EQ(run.attribute("error.type"), "exception");
  }
  EXPECT_THAT(attempts, ElementsAre("1", "2", "3"));
  EXPECT_THAT(app_->spans().describe(), Not(HasSubstr("secret cause")));
}

TEST_F(JobSpansTest, a_run_that_the_end_of_the_program_cancels_says_so) {
  make(
      [](Shop& program) {
        program.job("long", jobs::every(seconds(10)),
                    []() -> Task<void> { co_await net::sleep_for(seconds(3600)); });
      },
      {"http.drain_timeout=1s"});
  app_->advance(seconds(11));
  app_->stop();
  ASSERT_THAT(named("job long"), SizeIs(1)) << app_->spans().describe();
  EXPECT_EQ(named("job long")[0].attribute("error.type"), "cancelled");
}

TEST_F(JobSpansTest, a_job_of_a_queue_is_a_trace_that_names_the_request_that_queued_it) {
  int attempts = 0;
  make([&](Shop& program) {
    program.routes([](const registry::Services&, Router& router) {
      router.post("/parcels", [](Inject<queue::JobQueue> queue) -> Task<Result<Reply>> {
        const Parcel parcel{"ada"};
        auto queued = co_await queue->enqueue("parcels", parcel);
        if (!queued) co_return std::unexpected(queued.error());
        co_return Reply::no_content();
      });
    });
    program.queue<Parcel>("parcels", [&](Parcel) -> Task<Result<void>> {
      const trace::Span span("pack");
      co_await net::sleep_for(milliseconds(20));
      if (++attempts == 1) co_return fail(Code::unavailable, "no paper");
      co_return Result<void>();
    });
  });
  EXPECT_EQ(app_->post("/parcels", "").status(), 204u);
  app_->advance(seconds(60));
  EXPECT_EQ(attempts, 2);
  const auto runs = named("queue parcels");
  ASSERT_THAT(runs, SizeIs(2)) << app_->spans().describe();
  EXPECT_EQ(runs[0].kind, trace::SpanKind::consumer);
  EXPECT_EQ(runs[0].parent_id, "");
  EXPECT_TRUE(runs[0].failed());
  EXPECT_FALSE(runs[1].failed());
  EXPECT_EQ(runs[0].attribute("katana.queue.name"), "parcels");
  EXPECT_EQ(runs[0].attribute("katana.queue.attempt"), "1");
  EXPECT_EQ(runs[1].attribute("katana.queue.attempt"), "2");
  EXPECT_EQ(runs[0].attribute("katana.queue.job_id"), runs[1].attribute("katana.queue.job_id"));
  EXPECT_NE(runs[0].attribute("katana.request_id"), "");
  for (const CapturedSpan& run : runs) {
    const auto below = app_->spans().children(run);
    ASSERT_THAT(below, SizeIs(1)) << app_->spans().describe();
    EXPECT_EQ(below[0].name, "pack");
  }
  ASSERT_THAT(named("POST /parcels"), SizeIs(1));
  EXPECT_NE(named("POST /parcels")[0].trace_id, runs[0].trace_id);
  EXPECT_EQ(runs[0].link_id, named("POST /parcels")[0].span_id);
  EXPECT_EQ(runs[1].link_id, runs[0].link_id) << "each attempt has the link";
}

TEST_F(JobSpansTest, jobs_at_once_do_not_see_one_anothers_spans) {
  make([](Shop& program) {
    for (const char* name : {"one", "two", "three"}) {
      program.job(name, jobs::every(seconds(10)), [name = std::string(name)]() -> Task<void> {
        for (int step = 0; step < 5; ++step) {
          const trace::Span span(Bytes("step of " + name));
          co_await net::sleep_for(milliseconds(3));
        }
      });
    }
  });
  app_->advance(seconds(12));
  for (const char* const name : {"one", "two", "three"}) {
    const auto runs = named(std::string("job ") + name);
    ASSERT_THAT(runs, SizeIs(1));
    const auto below = app_->spans().children(runs[0]);
    ASSERT_THAT(below, SizeIs(5)) << app_->spans().describe();
    for (const CapturedSpan& each : below) EXPECT_EQ(each.name, std::string("step of ") + name);
  }
}

TEST_F(JobSpansTest, the_sampler_and_the_switch_hold_for_jobs) {
  for (const char* setting : {"telemetry.ratio=0", "telemetry.traces=false"}) {
    int runs = 0;
    make(
        [&](Shop& program) {
          program.job("quiet", jobs::every(seconds(10)), [&]() -> Task<void> {
            ++runs;
            co_return;
          });
        },
        {setting});
    app_->advance(seconds(31));
    EXPECT_EQ(runs, 3);
    EXPECT_THAT(app_->spans().all(), IsEmpty()) << setting;
  }
}

TEST_F(JobSpansTest, records_of_a_run_have_the_ids_of_its_span) {
  make([](Shop& program) {
    program.job("purge", jobs::every(seconds(10)),
                [](const registry::Services& services) -> Task<void> {
                  co_await net::sleep_for(milliseconds(5));
                  services.get<log::Log>().logger("purge").info("purged");
                });
  });
  app_->advance(seconds(11));
  const auto runs = named("job purge");
  ASSERT_THAT(runs, SizeIs(1));
  EXPECT_EQ(field_of("purged", "trace_id"), runs[0].trace_id);
  EXPECT_EQ(field_of("purged", "span_id"), runs[0].span_id);
}

}  // namespace
}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
