#include "katana/observe/metrics/health.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <stdexcept>
#include <thread>

namespace katana::metrics {
namespace {

Check check_named(std::string name) {
  return {.name = std::move(name),
          .kind = CheckKind::readiness,
          .run = [](std::stop_token) -> Result<void> { return {}; }};
}

constexpr Instant at_ms(std::int64_t ms) { return Instant{} + milliseconds(ms); }

TEST(CheckState, is_unknown_until_it_ran_and_then_has_an_age) {
  CheckState state(check_named("a"));
  EXPECT_EQ(state.report(at_ms(5)).status, CheckStatus::unknown);
  EXPECT_TRUE(state.begin_if_due(at_ms(10)));
  EXPECT_FALSE(state.all_finished(at_ms(11)));
  EXPECT_EQ(state.report(at_ms(12)).status, CheckStatus::unknown);
  state.finish({}, at_ms(40));
  const CheckReport report = state.report(at_ms(100));
  EXPECT_EQ(report.status, CheckStatus::passed);
  EXPECT_EQ(report.took, milliseconds(30));
  EXPECT_EQ(report.age, milliseconds(60));
  EXPECT_TRUE(state.all_finished(at_ms(100)));
}

TEST(CheckState, a_fresh_result_is_not_asked_for_again_and_never_twice_at_once) {
  CheckState state(check_named("a"));
  EXPECT_TRUE(state.begin_if_due(at_ms(0)));
  EXPECT_FALSE(state.begin_if_due(at_ms(50'000)));  // still running
  state.finish({}, at_ms(50'000));
  EXPECT_FALSE(state.begin_if_due(at_ms(50'999)));
  EXPECT_TRUE(state.begin_if_due(at_ms(51'000)));
}

TEST(CheckState, who_waits_for_a_run_is_called_once_when_it_ends) {
  CheckState state(check_named("a"));
  int calls = 0;
  const auto call = std::make_shared<const std::function<void()>>([&] { ++calls; });
  EXPECT_FALSE(state.call_at_end(call, at_ms(0))) << "nothing runs";
  state.begin_if_due(at_ms(0));
  EXPECT_TRUE(state.call_at_end(call, at_ms(1)));
  EXPECT_TRUE(state.call_at_end(call, at_ms(2)));
  EXPECT_FALSE(state.call_at_end(call, at_ms(2'001))) << "it is overdue: what is kept is bounded";
  EXPECT_EQ(calls, 0);
  state.finish({}, at_ms(3'000));
  EXPECT_EQ(calls, 2);
  state.begin_if_due(at_ms(5'000));
  state.finish({}, at_ms(5'001));
  EXPECT_EQ(calls, 2);
}

TEST(CheckState, running_for_too_long_is_a_timeout_and_the_age_is_that_of_the_last_result) {
  CheckState state(check_named("a"));
  state.begin_if_due(at_ms(0));
  state.finish({}, at_ms(1));
  state.begin_if_due(at_ms(5'000));
  EXPECT_EQ(state.report(at_ms(7'000)).status, CheckStatus::passed);  // the last one, until then
  const CheckReport late = state.report(at_ms(7'001));
  EXPECT_EQ(late.status, CheckStatus::timed_out);
  EXPECT_EQ(late.took, milliseconds(2'001));
  EXPECT_EQ(late.age, milliseconds(7'000));
  EXPECT_EQ(late.detail, "has been running for 2001 ms; its limit is 2000 ms");
  EXPECT_TRUE(state.all_finished(at_ms(7'001)));
  state.finish({}, at_ms(9'000));  // passed, but too late
  EXPECT_EQ(state.report(at_ms(9'000)).status, CheckStatus::timed_out);
  EXPECT_TRUE(state.begin_if_due(at_ms(10'000)));
  state.finish(fail(Code::unavailable, "no answer"), at_ms(10'001));
  EXPECT_EQ(state.report(at_ms(10'001)).status, CheckStatus::failed);
  EXPECT_EQ(state.report(at_ms(10'001)).detail, "no answer");
}

TEST(HealthReport, is_healthy_when_every_check_passed) {
  HealthReport report;
  EXPECT_TRUE(report.healthy());
  report.checks.push_back({.name = "a", .status = CheckStatus::passed, .detail = ""});
  EXPECT_TRUE(report.healthy());
  for (const CheckStatus status :
       {CheckStatus::failed, CheckStatus::timed_out, CheckStatus::unknown}) {
    report.checks[0].status = status;
    EXPECT_FALSE(report.healthy());
  }
}

TEST(HealthReport, is_told_as_json_whatever_a_check_says) {
  HealthReport report;
  EXPECT_EQ(report.to_json().bytes(), R"({"status":"pass","checks":[]})");
  report.checks.push_back({.name = "da\"ta",
                           .kind = CheckKind::liveness,
                           .status = CheckStatus::failed,
                           .detail = "a\n\xff\\",
                           .took = microseconds(1500),
                           .age = milliseconds(20)});
  report.checks.push_back({.name = "b", .status = CheckStatus::passed, .detail = ""});
  EXPECT_EQ(
      report.to_json().bytes(),
      "{\"status\":\"fail\",\"checks\":["
      "{\"name\":\"da\\\"ta\",\"kind\":\"liveness\",\"status\":\"fail\",\"duration_ms\":1.500,"
      "\"age_ms\":20.000,\"detail\":\"a\\n\xef\xbf\xbd\\\\\"},"
      "{\"name\":\"b\",\"kind\":\"readiness\",\"status\":\"pass\",\"duration_ms\":0.000,"
      "\"age_ms\":0.000}]}");
}

TEST(HealthReport, a_check_that_is_not_required_makes_a_warning_of_a_pass_and_never_a_failure) {
  HealthReport report;
  report.checks.push_back({.name = "job", .status = CheckStatus::failed, .required = false});
  report.checks.push_back({.name = "database", .status = CheckStatus::passed});
  EXPECT_TRUE(report.healthy());
  EXPECT_TRUE(report.to_json().bytes().starts_with(
      R"({"status":"warn","checks":[{"name":"job","kind":"readiness","status":"fail",)"));
  EXPECT_NE(report.to_json().bytes().find(R"("required":false)"), Bytes::npos);
  report.checks[1].status = CheckStatus::failed;
  EXPECT_FALSE(report.healthy());
  EXPECT_TRUE(report.to_json().bytes().starts_with(R"({"status":"fail")"));
}

class HealthChecksTest : public testing::Test {
 protected:
  HealthReport run_checks(CheckKind kind) {
    checks.refresh(kind);
    while (!checks.all_finished(kind)) std::this_thread::yield();
    return checks.report(kind);
  }
  std::atomic<std::int64_t> now_ms = 0;  // outlives the threads that read it
  HealthChecks checks{{.clock = [this] { return at_ms(now_ms); }}};
};

TEST_F(HealthChecksTest, run_beside_and_only_those_of_the_kind_that_is_asked_for) {
  std::atomic<int> alive = 0, ready = 0;
  ASSERT_TRUE(checks.add(
      {.name = "alive", .kind = CheckKind::liveness, .run = [&](std::stop_token) -> Result<void> {
         ++alive;
         return {};
       }}));
  ASSERT_TRUE(checks.add(
      {.name = "ready", .kind = CheckKind::readiness, .run = [&](std::stop_token) -> Result<void> {
         ++ready;
         return fail(Code::unavailable, "warming up");
       }}));
  const HealthReport report = run_checks(CheckKind::readiness);
  ASSERT_EQ(report.checks.size(), 1u);
  EXPECT_EQ(report.checks[0].detail, "warming up");
  EXPECT_EQ(alive, 0);
  EXPECT_TRUE(run_checks(CheckKind::liveness).healthy());
  run_checks(CheckKind::readiness);
  EXPECT_EQ(ready, 1);  // fresh
  now_ms += 1'000;
  run_checks(CheckKind::readiness);
  EXPECT_EQ(ready, 2);
}

TEST_F(HealthChecksTest, a_check_that_throws_has_failed_and_says_what_it_threw) {
  ASSERT_TRUE(checks.add(
      {.name = "a", .kind = CheckKind::readiness, .run = [](std::stop_token) -> Result<void> {
         throw std::runtime_error("lost");
       }}));
  ASSERT_TRUE(checks.add({.name = "b",
                          .kind = CheckKind::readiness,
                          .run = [](std::stop_token) -> Result<void> { throw 5; }}));
  const HealthReport report = run_checks(CheckKind::readiness);
  EXPECT_EQ(report.checks[0].detail, "the check threw: lost");
  EXPECT_EQ(report.checks[1].status, CheckStatus::failed);
}

TEST_F(HealthChecksTest, one_that_hangs_times_out_keeps_nobody_waiting_and_may_recover) {
  std::latch release(1);
  ASSERT_TRUE(checks.add(
      {.name = "hangs", .kind = CheckKind::readiness, .run = [&](std::stop_token) -> Result<void> {
         release.wait();
         return {};
       }}));
  ASSERT_TRUE(checks.add(check_named("works")));
  checks.refresh(CheckKind::readiness);
  EXPECT_FALSE(checks.all_finished(CheckKind::readiness));
  while (checks.report(CheckKind::readiness).checks[1].status != CheckStatus::passed) {
    std::this_thread::yield();
  }
  now_ms += 2'001;
  const HealthReport report = run_checks(CheckKind::readiness);
  EXPECT_EQ(report.checks[0].status, CheckStatus::timed_out);
  EXPECT_EQ(report.checks[1].status, CheckStatus::passed);
  EXPECT_FALSE(report.healthy());
  release.count_down();
  while (!checks.report(CheckKind::readiness).checks[0].detail.starts_with("took")) {
    std::this_thread::yield();
  }
  now_ms += 5'000;
  EXPECT_TRUE(run_checks(CheckKind::readiness).healthy());
}

TEST_F(HealthChecksTest, one_that_does_not_block_is_run_by_who_asks) {
  std::thread::id ran_on;
  bool passes = false;
  ASSERT_TRUE(checks.add({.name = "job",
                          .kind = CheckKind::readiness,
                          .run = [&](std::stop_token) -> Result<void> {
                            ran_on = std::this_thread::get_id();
                            if (passes) return {};
                            return fail(Code::unavailable, "late");
                          },
                          .required = false,
                          .may_block = false}));
  checks.refresh(CheckKind::readiness);
  EXPECT_TRUE(checks.all_finished(CheckKind::readiness));
  EXPECT_EQ(ran_on, std::this_thread::get_id());
  EXPECT_EQ(checks.report(CheckKind::readiness).checks[0].detail, "late");
  EXPECT_TRUE(checks.report(CheckKind::readiness).healthy());
  passes = true;
  now_ms += 1'001;
  checks.refresh(CheckKind::readiness);
  EXPECT_EQ(checks.report(CheckKind::readiness).checks[0].status, CheckStatus::passed);
}

TEST_F(HealthChecksTest, wrong_checks_are_refused_by_name) {
  EXPECT_TRUE(checks.add(check_named("a")));
  EXPECT_NE(checks.add(check_named("a")).error().describe().find("'a' is there already"),
            std::string::npos);
  EXPECT_NE(checks.add({.name = "b", .kind = CheckKind::liveness, .run = {}})
                .error()
                .describe()
                .find("health check 'b'"),
            std::string::npos);
  Check hasty = check_named("c");
  hasty.timeout = {};
  EXPECT_FALSE(checks.add(std::move(hasty)));
  EXPECT_FALSE(checks.add(check_named("")));
}

TEST(HealthChecks, that_end_tell_a_running_check_to_stop) {
  std::atomic<bool> begun = false, told = false;
  {
    HealthChecks checks;
    ASSERT_TRUE(checks.add({.name = "a",
                            .kind = CheckKind::liveness,
                            .run = [&](std::stop_token stop) -> Result<void> {
                              begun = true;
                              while (!stop.stop_requested()) std::this_thread::yield();
                              told = true;
                              return {};
                            }}));
    checks.refresh(CheckKind::liveness);
    while (!begun) std::this_thread::yield();
  }
  EXPECT_TRUE(told);
}

TEST(HealthChecks, that_end_do_not_wait_for_one_that_hangs) {
  static std::latch release(1), ended(1);  // a check left behind still refers to these
  static std::atomic<bool> begun = false;
  {
    HealthChecks checks({.clock = {}, .stop_timeout = milliseconds(1)});
    ASSERT_TRUE(checks.add(
        {.name = "a", .kind = CheckKind::liveness, .run = [](std::stop_token) -> Result<void> {
           begun = true;
           release.wait();
           ended.count_down();
           return {};
         }}));
    checks.refresh(CheckKind::liveness);
    while (!begun) std::this_thread::yield();
  }
  release.count_down();
  ended.wait();
}

}  // namespace
}  // namespace katana::metrics

// SPDX-License-Identifier: Apache-2.0
