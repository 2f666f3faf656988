#include "lab/load/verdict.hpp"

#include <gtest/gtest.h>

#include "lab/load/json_report.hpp"
#include "lab/load/json_writer.hpp"

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
  OwnFigures own;
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
  const std::string json = write_json({plan, target, result, verdict, "http://a/\"", "GET"});
  for (const char* piece :
       {"\"requests\": 1000,", "\"rate_per_s\": 100.000,", "\"duration_s\": 10.000000,",
        "\"p999\": 5000.000", "\"samples\": 1000", "\"reset\": 1,", "\"connect_refused\": 0,",
        "\"cpu_share\": 0.5000", "\"saturated\": false", "\"send_lag_us\": {", "\"void\": false",
        "\"url\": \"http://a/\\\"\""}) {
    EXPECT_NE(json.find(piece), std::string::npos) << piece << "\n" << json;
  }
}

TEST(JsonWriter, puts_commas_and_escapes_where_they_belong) {
  JsonWriter json;
  json.begin_object();
  json.begin_array("empty");
  json.end_array();
  json.begin_array("two");
  json.integer({}, 1);
  json.text({}, "a\"\\\n");
  json.end_array();
  json.number("infinite", 1.0 / 0.0);
  json.end_object();
  EXPECT_EQ(json.take(),
            "{\n \"empty\": [],\n \"two\": [\n  1,\n  \"a\\\"\\\\\\u000a\"\n ],\n"
            " \"infinite\": null\n}\n");
}

}  // namespace
}  // namespace katana::load
