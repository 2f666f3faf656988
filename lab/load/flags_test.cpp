#include "lab/load/flags.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace katana::load {
namespace {

Result<Flags> parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "katana-load");
  auto parsed = parse_flags(static_cast<int>(arguments.size()), arguments.data());
  if (!parsed) return std::unexpected(parsed.error());
  return std::get<Flags>(std::move(*parsed));
}

std::string refusal(std::vector<const char*> arguments) {
  const auto parsed = parse(std::move(arguments));
  return parsed ? "none" : parsed.error().describe();
}

TEST(Flags, without_any_are_a_closed_loop_of_ten_connections_for_ten_seconds) {
  const auto flags = parse({"http://a/"});
  ASSERT_TRUE(flags);
  EXPECT_FALSE(flags->plan.is_open_loop());
  EXPECT_EQ(flags->plan.connections, 10u);
  EXPECT_EQ(flags->plan.duration, seconds(10));
  EXPECT_TRUE(flags->plan.expect.statuses[200]);
  EXPECT_TRUE(flags->plan.expect.statuses[399]);
  EXPECT_FALSE(flags->plan.expect.statuses[404]);
}

TEST(Flags, a_bare_churn_does_not_swallow_the_url) {
  EXPECT_EQ(parse({"--churn", "http://a/"})->plan.requests_per_connection, 1u);
  EXPECT_EQ(parse({"--churn=10", "http://a/"})->plan.requests_per_connection, 10u);
  EXPECT_EQ(parse({"http://a/"})->plan.requests_per_connection, 0u);
}

TEST(Flags, an_unannounced_end_is_of_connections_that_end) {
  EXPECT_FALSE(parse({"--churn=10", "--unannounced", "a"})->request.announces_close);
  EXPECT_TRUE(parse({"--churn=10", "a"})->request.announces_close);
  EXPECT_EQ(refusal({"--unannounced", "a"}),
            "--unannounced is of connections that end; give --churn");
  EXPECT_EQ(refusal({"--churn=10", "--unannounced", "--http2", "a"}),
            "--unannounced is of HTTP/1.1; leave --http2 out");
}

TEST(Flags, a_rate_makes_an_open_loop_that_covers_the_warm_up) {
  const auto flags = parse({"-R", "1000", "-d", "2s", "--warmup", "500ms", "--poisson", "a"});
  ASSERT_TRUE(flags);
  EXPECT_TRUE(flags->plan.is_open_loop());
  EXPECT_TRUE(flags->plan.poisson);
  EXPECT_EQ(flags->plan.rates.duration(), milliseconds(2500));
  EXPECT_NEAR(flags->plan.rates.count_until(Instant{2'500'000'000}), 2500, 1e-6);
}

TEST(Flags, a_file_of_requests_says_all_of_them) {
  EXPECT_EQ(parse({"--requests-file", "x", "a"})->requests_file, "x");
  EXPECT_EQ(refusal({"--requests-file", "x", "--http2", "a"}),
            "--requests-file is of HTTP/1.1; leave --http2 and --websocket out");
  EXPECT_EQ(refusal({"--requests-file", "x", "-b", "y", "a"}),
            "--requests-file says what is sent; leave --method, --body and --urls out");
}

TEST(Flags, a_ramp_has_its_own_time) {
  const auto flags = parse({"--ramp", "2s:100,3s:100", "a"});
  ASSERT_TRUE(flags);
  EXPECT_EQ(flags->plan.duration, seconds(5));
  EXPECT_NEAR(flags->plan.rates.count_until(Instant{5'000'000'000}), 400, 1e-6);
}

TEST(Flags, a_ramp_of_connections_has_its_own_time_and_its_most_connections) {
  const auto flags = parse({"--connection-ramp", "2s:100,3s:100,1s:1", "a"});
  ASSERT_TRUE(flags);
  EXPECT_FALSE(flags->plan.is_open_loop());
  EXPECT_EQ(flags->plan.duration, seconds(6));
  EXPECT_EQ(flags->plan.connections, 100u);
  EXPECT_EQ(flags->plan.connection_ramp.at(Instant{} + seconds(1)), 50u);
}

TEST(Flags, a_number_of_requests_is_not_cut_off_after_ten_seconds) {
  EXPECT_EQ(parse({"-n", "5", "a"})->plan.duration, seconds(3600));
  EXPECT_EQ(parse({"-n", "5", "-d", "7", "a"})->plan.duration, seconds(7));
}

TEST(Flags, that_are_wrong_are_named_with_the_remedy) {
  EXPECT_EQ(refusal({"-d", "x", "a"}), "--duration: 'x' is no duration such as 500ms, 10s or 2m");
  EXPECT_EQ(refusal({"-d", "0", "a"}), "--duration '0': must not be 0");
  EXPECT_EQ(refusal({"-R", "-5", "a"}), "--rate -5: must be above 0, at most 1e9");
  EXPECT_EQ(refusal({"-R", "nan", "a"}), "--rate nan: must be above 0, at most 1e9");
  EXPECT_EQ(refusal({"-t", "4", "-c", "3", "a"}),
            "4 threads and 3 connections: each thread needs one; give -c 4");
  EXPECT_EQ(refusal({"--poisson", "a"}),
            "--poisson, --burst and --busy-tail are of an open loop; give --rate or --ramp");
  EXPECT_EQ(refusal({"--ramp", "5s", "a"}), "--ramp '5s': '5s' is not TIME:RATE, such as 5s:1000");
  EXPECT_EQ(refusal({"--ramp", "5s:10", "-d", "1", "a"}),
            "--ramp has its own time; leave --duration out");
  EXPECT_EQ(refusal({"--connection-ramp", "5s:0", "a"}),
            "--connection-ramp '5s:0': '5s:0' is not TIME:COUNT, such as 5s:100");
  EXPECT_EQ(refusal({"--connection-ramp", "5s:10", "-n", "7", "a"}),
            "--connection-ramp has its own time; leave --duration and --requests out");
  EXPECT_EQ(refusal({"--connection-ramp", "5s:10", "-R", "7", "a"}),
            "--connection-ramp is of a closed loop; leave --rate and --ramp out");
  EXPECT_EQ(refusal({"--interval", "1ms", "a"}), "--interval '1ms': at least 10ms");
  EXPECT_EQ(refusal({"--body", "@/no/such", "a"}), "--body: /no/such: No such file or directory");
  EXPECT_EQ(refusal({"--expect-status", "2xx,6xx", "a"}),
            "--expect-status '2xx,6xx': '6xx' is neither a status nor 1xx to 5xx");
  EXPECT_EQ(refusal({"--insecure", "http://a"}),
            "--insecure, --ca and --tls-resume are of TLS; 'http://a' is not https://");
  EXPECT_EQ(refusal({"--tls-resume", "a"}),
            "--insecure, --ca and --tls-resume are of TLS; 'a' is not https://");
  EXPECT_EQ(refusal({"-k", "--ca", "x.pem", "https://a"}),
            "--insecure trusts whoever answers, --ca FILE does not: give one of them");
  EXPECT_EQ(refusal({}), "url is required (see --help)");
  EXPECT_NE(refusal({"--nonsense", "a"}).find("--nonsense"), std::string::npos);
}

TEST(Flags, of_tls_say_who_is_trusted_and_whether_sessions_are_resumed) {
  const auto plain = parse({"https://a/"});
  ASSERT_TRUE(plain);
  EXPECT_FALSE(plain->tls.insecure);
  EXPECT_FALSE(plain->plan.tls_resume);
  EXPECT_TRUE(parse({"-k", "https://a/"})->tls.insecure);
  EXPECT_EQ(parse({"--ca", "x.pem", "https://a/"})->tls.authorities_file, "x.pem");
  EXPECT_TRUE(parse({"--tls-resume", "--http2", "https://a/"})->plan.tls_resume);
}

TEST(Flags, of_websocket_make_a_message_that_has_to_come_back) {
  const auto flags = parse({"--websocket", "a"});
  ASSERT_TRUE(flags);
  EXPECT_TRUE(flags->plan.websocket);
  EXPECT_EQ(flags->request.body, "xxxxxxxxxxxxx");
  EXPECT_EQ(flags->plan.expect.body, flags->request.body);
  EXPECT_EQ(parse({"--websocket", "--message-bytes", "2", "a"})->request.body, "xx");
  EXPECT_EQ(parse({"--websocket", "-b", "hi", "--expect-body", "ho", "a"})->plan.expect.body, "ho");
  EXPECT_FALSE(parse({"a"})->plan.expect.body);
  EXPECT_EQ(refusal({"--message-bytes", "2", "a"}),
            "--message-bytes is of WebSocket; give --websocket");
  EXPECT_EQ(refusal({"--websocket", "--http2", "a"}),
            "--websocket is of HTTP/1.1; leave --http2 out");
  EXPECT_EQ(refusal({"--websocket", "-m", "POST", "a"}),
            "--websocket sends messages; leave --method and --urls out");
  EXPECT_EQ(refusal({"--websocket", "--message-bytes", "2", "-b", "hi", "a"}),
            "--message-bytes and --body both say what a message is: give one of them");
  EXPECT_EQ(refusal({"--websocket", "https://a"}),
            "--websocket is without TLS; 'https://a' is https://");
}

TEST(Flags, help_and_version_are_text) {
  for (const char* flag : {"--help", "--version"}) {
    const char* arguments[] = {"katana-load", flag};
    const auto parsed = parse_flags(2, arguments);
    ASSERT_TRUE(parsed);
    EXPECT_FALSE(std::get<Information>(*parsed).text.empty());
  }
}

TEST(Duration, has_units) {
  EXPECT_EQ(parse_duration("250us")->ns, 250'000);
  EXPECT_EQ(parse_duration("1.5s")->ns, 1'500'000'000);
  EXPECT_EQ(parse_duration("2m")->ns, 120'000'000'000);
  EXPECT_EQ(parse_duration("3")->ns, 3'000'000'000);
  EXPECT_FALSE(parse_duration(""));
  EXPECT_FALSE(parse_duration("s"));
  EXPECT_FALSE(parse_duration("1 s"));
  EXPECT_FALSE(parse_duration("-1s"));
  EXPECT_FALSE(parse_duration("1e9h"));
}

TEST(Statuses, are_classes_and_numbers) {
  const auto statuses = parse_statuses("2xx,404");
  ASSERT_TRUE(statuses);
  EXPECT_EQ(statuses->count(), 101u);
  EXPECT_TRUE((*statuses)[404]);
  EXPECT_FALSE(parse_statuses(""));
  EXPECT_FALSE(parse_statuses("20"));
  EXPECT_FALSE(parse_statuses("2xx,,3xx"));
}

}  // namespace
}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
