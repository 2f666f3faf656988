#include "lab/load/verdict.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "lab/load/json_report.hpp"

namespace katana::load {
namespace {

LoadPlan open_plan() {
  LoadPlan plan;
  plan.rates.add(seconds(10), 100, 100);
  return plan;
}

// Ten seconds with a thousand requests of 5 ms, sent without lag, at half a CPU.
RunResult calm_result() {
  RunResult result;
  result.duration_s = 10;
  OwnStatistics own;
  own.wall_ns = 10'000'000'000;
  own.cpu_ns = 5'000'000'000;
  result.threads.push_back(own);
  result.total.counts.sent = result.total.counts.requests = 1000;
  result.total.latency.record_many(5'000'000, 1000);
  result.total.send_lag.record_many(10'000, 1000);
  return result;
}

TEST(Verdict, a_calm_run_stands) {
  const Verdict verdict = judge(open_plan(), calm_result());
  EXPECT_FALSE(verdict.is_void());
  EXPECT_FALSE(verdict.saturated);
  EXPECT_TRUE(verdict.notes.empty());
  EXPECT_DOUBLE_EQ(verdict.cpu_share, 0.5);
}

TEST(Verdict, late_requests_void_an_open_loop) {
  RunResult result = calm_result();
  result.total.send_lag.record_many(20'000'000, 20);
  const Verdict verdict = judge(open_plan(), result);
  ASSERT_TRUE(verdict.is_void());
  EXPECT_EQ(verdict.void_reasons[0],
            "1 % of the requests were sent 20 ms or more after they could have been (limit 1 ms)");
}

TEST(Verdict, a_tail_that_is_the_generators_own_voids_an_open_loop) {
  RunResult result = calm_result();
  result.total.send_lag.record_many(4'000'000, 5);
  const Verdict verdict = judge(open_plan(), result);
  ASSERT_TRUE(verdict.is_void());
  EXPECT_TRUE(verdict.void_reasons[0].starts_with("the latency's tail is the generator's own"));
}

TEST(Verdict, standing_still_voids_an_open_loop) {
  RunResult result = calm_result();
  result.threads[0].stalled_ns = 200'000'000;
  const Verdict verdict = judge(open_plan(), result);
  ASSERT_TRUE(verdict.is_void());
  EXPECT_EQ(verdict.void_reasons[0],
            "a thread of the generator stood still for 200 ms of 10000 ms");
}

TEST(Verdict, unsent_requests_void_only_when_the_generator_was_saturated) {
  RunResult result = calm_result();
  result.threads[0].unsent = 500;
  EXPECT_FALSE(judge(open_plan(), result).is_void());
  EXPECT_EQ(judge(open_plan(), result).notes.size(), 1u);
  result.threads[0].cpu_ns = 9'900'000'000;
  EXPECT_TRUE(judge(open_plan(), result).is_void());
}

TEST(Verdict, waiting_for_a_cpu_is_saturation_and_the_busy_tail_is_not) {
  RunResult result = calm_result();
  result.threads[0].run_delay_ns = 4'500'000'000;
  EXPECT_TRUE(judge({}, result).saturated);
  result = calm_result();
  result.threads[0].cpu_ns = 9'900'000'000;
  result.threads[0].spun_ns = 9'000'000'000;
  EXPECT_FALSE(judge({}, result).saturated);
}

TEST(Verdict, a_saturated_closed_loop_is_a_lower_bound_and_not_void) {
  RunResult result = calm_result();
  result.threads[0].cpu_ns = 9'900'000'000;
  const Verdict verdict = judge({}, result);
  EXPECT_FALSE(verdict.is_void());
  ASSERT_EQ(verdict.notes.size(), 1u);
  EXPECT_TRUE(verdict.notes[0].ends_with("the rate is a lower bound"));
}

TEST(JsonReport, has_what_is_promised) {
  RunResult result = calm_result();
  result.total.counts.completions = 1000;
  result.total.counts.count(Failure::reset);
  const LoadPlan plan = open_plan();
  const Target target{.url = {}, .address = {}, .requests = {Request{}}};
  const Verdict verdict = judge(plan, result);
  const Json json = Json::parse(write_json({plan, target, result, verdict, "http://a/\"", "GET"}));
  EXPECT_EQ(json["requests"], 1000);
  EXPECT_EQ(json["rate_per_s"], 100.0);
  EXPECT_EQ(json["duration_s"], 10.0);
  EXPECT_EQ(json["latency_us"]["p999"], 5000.0);
  EXPECT_EQ(json["latency_us"]["samples"], 1000);
  EXPECT_EQ(json["errors"]["reset"], 1);
  EXPECT_EQ(json["errors"]["connect_refused"], 0);
  EXPECT_EQ(json["generator"]["cpu_share"], 0.5);
  EXPECT_EQ(json["generator"]["saturated"], false);
  EXPECT_TRUE(json["generator"]["send_lag_us"].is_object());
  EXPECT_EQ(json["void"], false);
  EXPECT_EQ(json["parameters"]["url"], "http://a/\"");
  EXPECT_EQ(json.begin().key(), "program");  // in the order in which people read it
}

TEST(JsonResult, is_text_whatever_its_strings_and_numbers_are) {
  EXPECT_EQ(text_of({{"text", "a\"\\\n\xff"}, {"infinite", rounded(1.0 / 0.0)}}),
            "{\n \"text\": \"a\\\"\\\\\\n\ufffd\",\n \"infinite\": null\n}\n");
  EXPECT_EQ(rounded(1.23456, 2), 1.23);
}

}  // namespace
}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
