// The screen of `katana top`, and the findings of `katana doctor` in documents and a made /proc.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "katana/data/container/json_write.hpp"
#include "katana_tool/live/findings.hpp"
#include "katana_tool/live/metrics_text.hpp"
#include "katana_tool/live/stack_view.hpp"
#include "katana_tool/live/top_view.hpp"

namespace katana::tool {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

TEST(MetricsText, has_labels_with_any_text_and_leaves_out_other_lines) {
  const auto samples = read_samples(
      "# HELP a_total Help.\n"
      "a_total{route=\"/x\\\"{id},\\\\\",status=\"5xx\"} 12\n"
      "a_total 3.5\n"
      "a_total{route=\"never ends} 1\n"
      "a_total{route=\"/\"} word\n"
      "b_total 9",
      "a_");
  ASSERT_THAT(samples, SizeIs(2));
  EXPECT_EQ(samples[0].label("route"), "/x\"{id},\\");
  EXPECT_EQ(samples[0].label("status"), "5xx");
  EXPECT_EQ(samples[0].value, 12);
  EXPECT_EQ(samples[1].label("route"), "");
  EXPECT_EQ(samples[1].value, 3.5);
}

app::StateDocument a_state() {
  app::StateDocument state{.program = "notes", .version = "1.4.0", .pid = 4711};
  state.uptime_ms = 65'000;
  state.requests_listed = true;
  state.reactors.push_back({.number = 0, .answered = true, .connections = 12, .cpu_ms = 1'000});
  state.reactors.push_back({.number = 1, .answered = true, .connections = 8, .cpu_ms = 500});
  state.requests.push_back({.method = "GET",
                            .route = "/forever/{id}",
                            .age_ms = 12'000,
                            .state = "handling",
                            .client = "192.0.2.1:5000"});
  state.memory.push_back({"reactor 0: output", 65'536, 1 << 20});
  return state;
}

std::string metrics_of(int requests, double seconds) {
  return fmt::format(
      "katana_http_route_requests_total{{method=\"GET\",route=\"/users\",status=\"2xx\"}} {}\n"
      "katana_http_route_requests_total{{method=\"GET\",route=\"/users\",status=\"5xx\"}} {}\n"
      "katana_http_route_duration_seconds_sum{{method=\"GET\",route=\"/users\"}} {}\n"
      "katana_http_route_duration_seconds_count{{method=\"GET\",route=\"/users\"}} {}\n"
      "katana_http_route_requests_total{{method=\"GET\",route=\"/slow\",status=\"2xx\"}} 7\n"
      "katana_http_route_duration_seconds_sum{{method=\"GET\",route=\"/slow\"}} 70\n"
      "katana_http_route_duration_seconds_count{{method=\"GET\",route=\"/slow\"}} 7\n",
      requests, requests / 10, seconds, requests);
}

Snapshot snapshot(int requests, double seconds, Instant at) {
  const std::string json = container::to_json(a_state());
  auto read = read_snapshot(json, metrics_of(requests, seconds), at);
  EXPECT_TRUE(read) << read.error().describe();
  return *std::move(read);
}

TEST(Top, rates_are_those_between_two_looks) {
  const Snapshot before = snapshot(100, 1, {});
  const Snapshot now = snapshot(300, 1.4, Instant{} + seconds(2));
  const auto found = rates(before.routes, now.routes, seconds(2), TopOrder::rate);
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].name, "GET /users");
  EXPECT_DOUBLE_EQ(found[0].per_s, 110);  // 200 with 2xx and 20 with 5xx
  EXPECT_NEAR(found[0].mean_ms, 2, 1e-9);
  EXPECT_DOUBLE_EQ(found[0].failures_per_s, 10);
  EXPECT_EQ(found[1].name, "GET /slow");
  EXPECT_EQ(found[1].per_s, 0);
  EXPECT_EQ(rates({}, now.routes, seconds(2), TopOrder::mean)[0].name, "GET /slow");
  EXPECT_EQ(rates({}, now.routes, seconds(2), TopOrder::name)[0].name, "GET /slow");
  EXPECT_EQ(rates({}, now.routes, seconds(2), TopOrder::failures)[0].name, "GET /users");
}

TEST(Top, a_screen_has_80_columns_and_24_lines) {
  Snapshot now = snapshot(300, 1.4, Instant{} + seconds(2));
  now.state.requests[0].route = "/" + std::string(200, 'x');
  now.state.reactors[0].busy_with = "GET /" + std::string(200, 'y');
  for (int more = 0; more < 50; ++more) now.state.memory.push_back({std::string(99, 'm'), 1, 0});
  const auto lines = top_lines(snapshot(100, 1, {}), now, {});
  EXPECT_THAT(lines, SizeIs(24));
  EXPECT_THAT(lines, Each(SizeIs(testing::Le(80u))));
  EXPECT_THAT(lines[0], HasSubstr("notes 1.4.0"));
  EXPECT_THAT(lines, Contains(AllOf(HasSubstr("GET /users"), HasSubstr("110"))));
  EXPECT_THAT(lines, Contains(AllOf(HasSubstr("12.0s"), HasSubstr("192.0.2.1:5000"))));
}

TEST(Top, a_filter_leaves_out_other_routes_and_holders) {
  const Snapshot now = snapshot(300, 1.4, Instant{} + seconds(2));
  const auto lines = top_lines({}, now, {.filter = "users"});
  EXPECT_THAT(lines, Contains(HasSubstr("GET /users")));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("/slow"))));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("reactor 0: output"))));
}

TEST(Top, a_program_cannot_control_the_terminal) {
  Snapshot now = snapshot(1, 1, Instant{} + seconds(2));
  now.state.program = "\x1b[2Jnotes\n\x9b";
  now.state.requests[0].route = "/\x1b]0;title\x07";
  for (const std::string& line : top_lines({}, now, {})) {
    EXPECT_TRUE(std::ranges::none_of(line, [](char c) {
      return (c >= 0 && c < 0x20) || c == 0x7f;
    })) << line;
  }
  EXPECT_EQ(shown("\xc3\xa4\xc3\xb6\xc3\xbc", 2), "\xc3\xa4\xc3\xb6") << "width is in characters";
}

TEST(Top, a_reactor_that_does_not_answer_is_named_with_its_work) {
  Snapshot now = snapshot(1, 1, Instant{} + seconds(2));
  now.state.reactors[1].answered = false;
  now.state.reactors[1].busy_with = "GET /spin";
  now.state.reactors[1].busy_ms = 4'200;
  EXPECT_THAT(top_lines({}, now, {}),
              Contains(AllOf(HasSubstr("DOES NOT ANSWER"), HasSubstr("GET /spin for 4.2s"))));
}

TEST(Top, a_page_of_another_version_is_an_error) {
  EXPECT_FALSE(read_snapshot("{\"pid\":\"one\"}", "", {}));
  EXPECT_FALSE(read_snapshot("<html>", "", {}));
}

std::vector<std::string> texts_of(const std::vector<Finding>& findings) {
  std::vector<std::string> texts;
  for (const Finding& each : findings) {
    EXPECT_FALSE(each.remedy.empty()) << each.what;
    texts.push_back(each.what);
  }
  return texts;
}

TEST(Doctor, a_program_without_faults_has_no_findings) {
  app::StateDocument state = a_state();
  EXPECT_THAT(judge_state(state, ""), IsEmpty());
}

TEST(Doctor, finds_each_fault_that_a_program_tells) {
  app::StateDocument state = a_state();
  state.requests[0].age_ms = 90'000;
  state.reactors[1].answered = false;
  state.reactors[1].busy_with = "GET /spin";
  state.statements.push_back({.statement = "SELECT users", .age_ms = 30'000, .state = "running"});
  state.database = {.system = "postgresql", .usable = false, .problem = "connection refused"};
  state.pools.push_back({.name = "work", .threads = 2, .queued = 62});
  state.jobs.push_back({.name = "purge", .overdue = true, .last_failure = "no disk"});
  state.queues.push_back({.queue = "letters", .dead = 3});
  state.memory.push_back({"reactor 0: held for requests and messages", 95, 100});
  state.insecure.emplace_back("http.address is 0.0.0.0: without TLS; set http.tls");
  const auto findings = judge_state(state, "katana_crash_reports 2\n");
  EXPECT_THAT(
      texts_of(findings),
      ElementsAre(HasSubstr("reactor 1 does not answer"), HasSubstr("GET /forever/{id} is 90 s"),
                  HasSubstr("'SELECT users' runs for 30 s"), HasSubstr("62 jobs wait for the 2"),
                  HasSubstr("'purge' is overdue: no disk"), HasSubstr("3 dead letters"),
                  HasSubstr("connection refused"), HasSubstr("held for requests"),
                  HasSubstr("insecure: http.address"), HasSubstr("2 crash reports")));
  EXPECT_EQ(findings[8].remedy, "set http.tls");
}

TEST(Doctor, a_full_pool_of_connections_is_found) {
  app::StateDocument state = a_state();
  state.database = {.system = "postgresql",
                    .usable = true,
                    .connections = 4,
                    .connections_busy = 4,
                    .reads_waiting = 9};
  EXPECT_THAT(texts_of(judge_state(state, "")), ElementsAre(HasSubstr("all 4 connections")));
}

class DoctorOfProcess : public testing::Test {
 protected:
  DoctorOfProcess() {
    std::string name = (std::filesystem::temp_directory_path() / "doctor_XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    root_ = name + "/";
    write("proc/42/limits",
          "Limit  Soft Limit  Hard\nMax open files            10    4096  files\n");
    for (int file = 0; file < 9; ++file) write("proc/42/fd/" + std::to_string(file), "");
    write("proc/42/status", "Name:\tnotes\nThreads:\t4\n");
    write("proc/42/stat", stat(0));
    write("proc/42/net/netstat", netstat(5));
    write("proc/42/cgroup", "0::/system.slice/notes.service\n");
    write("proc/sys/net/core/somaxconn", "128\n");
    write("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n");
    write("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
    write(group + "cpu.stat", "usage_usec 1\nnr_periods 100\nnr_throttled 10\n");
    write(group + "memory.current", "950\n");
    write(group + "memory.max", "1000\n");
  }
  ~DoctorOfProcess() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  static std::string stat(int ticks) {
    return fmt::format("42 (a (b) c) S 1 1 1 0 -1 0 0 0 0 0 {} 0 0 0 20 0 4 0 0\n", ticks);
  }
  static std::string netstat(int overflows) {
    return fmt::format(
        "TcpExt: SyncookiesSent ListenOverflows ListenDrops\nTcpExt: 0 {} 7\nIpExt: A\nIpExt: 1\n",
        overflows);
  }

  const std::string group = "sys/fs/cgroup/system.slice/notes.service/";
  std::string root_;
};

TEST_F(DoctorOfProcess, finds_each_fault_of_the_machine) {
  const ProcessFacts before = read_process_facts(42, root_);
  write("proc/42/stat", stat(200));
  write("proc/42/net/netstat", netstat(8));
  write(group + "cpu.stat", "usage_usec 1\nnr_periods 110\nnr_throttled 16\n");
  const auto findings = judge_process(before, read_process_facts(42, root_), 1);
  EXPECT_THAT(texts_of(findings),
              ElementsAre("9 of 10 file descriptors are open", HasSubstr("somaxconn is 128"),
                          HasSubstr("ListenOverflows rose by 3"), HasSubstr("6 of 10 periods"),
                          HasSubstr("0 of 0 MiB"), HasSubstr("uses 2.0 CPUs"),
                          HasSubstr("'always'"), HasSubstr("hpet")));
}

TEST_F(DoctorOfProcess, what_cannot_be_read_is_no_finding) {
  EXPECT_THAT(judge_process(read_process_facts(43, root_ + "nothing/"),
                            read_process_facts(43, root_ + "nothing/"), 1),
              IsEmpty());
}

TEST_F(DoctorOfProcess, a_machine_in_order_has_no_findings) {
  write("proc/42/limits", "Max open files            1024    4096  files\n");
  write("proc/42/net/netstat", netstat(0));
  write("proc/sys/net/core/somaxconn", "4096\n");
  write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  write("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
  write(group + "memory.max", "max\n");
  const ProcessFacts facts = read_process_facts(42, root_);
  EXPECT_EQ(facts.files_open, 9);
  EXPECT_EQ(facts.threads, 4);
  EXPECT_THAT(judge_process(facts, facts, 1), IsEmpty());
}

app::CoroutineEntry a_coroutine(std::string request_id, std::int64_t waiting_ms) {
  app::CoroutineEntry entry{
      .route = "GET /price/{id}", .request_id = std::move(request_id), .waiting_ms = waiting_ms};
  entry.frames.push_back({.depth = 0, .function = "show", .at = "shop/main.cpp:33"});
  entry.frames.push_back({.depth = 1,
                          .function = "find_price",
                          .at = "shop/prices.cpp:8",
                          .awaits = "katana::net::Sleep"});
  return entry;
}

TEST(StackView, equal_stacks_are_one_with_their_number_and_times) {
  app::CoroutinesDocument document{.matched = 3};
  document.coroutines = {a_coroutine("a", 45'000), a_coroutine("b", 12'300)};
  document.coroutines.push_back(a_coroutine("c", 900));
  document.coroutines[2].frames[1].at = "shop/prices.cpp:9";  // another place
  EXPECT_THAT(
      stack_lines(document, false),
      ElementsAre("2 wait for 12.3 s to 45.0 s: GET /price/{id}",
                  "    show          shop/main.cpp:33",
                  "      find_price  shop/prices.cpp:8  awaits katana::net::Sleep", "",
                  "1 waits for 900 ms: GET /price/{id}", "    show          shop/main.cpp:33",
                  "      find_price  shop/prices.cpp:9  awaits katana::net::Sleep"));
}

TEST(StackView, single_stacks_name_their_request) {
  app::CoroutinesDocument document{.matched = 2};
  document.coroutines = {a_coroutine("a", 45'000), a_coroutine("b", 12'300)};
  const auto lines = stack_lines(document, true);
  ASSERT_THAT(lines, SizeIs(7));
  EXPECT_EQ(lines[0], "waits for 45.0 s: GET /price/{id}, request a, reactor 0");
  EXPECT_EQ(lines[4], "waits for 12.3 s: GET /price/{id}, request b, reactor 0");
}

TEST(StackView, takes_any_answer) {
  app::CoroutinesDocument document{.matched = 1};
  document.coroutines = {a_coroutine("\x1b[2J", 1)};
  document.coroutines[0].frames[0].depth = -1;
  document.coroutines[0].frames[1].depth = 1'000'000'000;
  document.coroutines[0].frames[1].function = "a\nb\x1b[31m";
  for (const std::string& line : stack_lines(document, true)) {
    EXPECT_LT(line.size(), 1000u);
    for (const char each : line) EXPECT_GE(static_cast<unsigned char>(each), 0x20) << line;
  }
}

TEST(StackView, says_what_it_does_not_show) {
  EXPECT_THAT(stack_lines({}, false), ElementsAre("no coroutine waits"));
  app::CoroutinesDocument document{.matched = 7, .silent_reactors = {1}, .unlisted_reactors = {2}};
  document.coroutines = {a_coroutine("a", 1)};
  const auto lines = stack_lines(document, false);
  EXPECT_THAT(lines, Contains("6 more were left out: choose by --older or --route"));
  EXPECT_THAT(lines, Contains(HasSubstr("reactor 1 did not answer")));
  EXPECT_THAT(lines, Contains(HasSubstr("reactor 2 are not known")));
}

}  // namespace
}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
