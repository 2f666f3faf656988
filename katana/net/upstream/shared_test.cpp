#include "katana/net/upstream/shared.hpp"

#include <functional>

#include "katana/net/upstream/upstream_fixture_test.hpp"

namespace katana::upstream {
namespace {

using testing::HasSubstr;

TEST(ParseServer, a_server_is_a_host_with_a_port_or_a_path) {
  const std::pair<const char*, Server> right[] = {
      {"redis", {.host = "redis", .port = 6379}},
      {"redis:1", {.host = "redis", .port = 1}},
      {"a_b-c.example:65535", {.host = "a_b-c.example", .port = 65535}},
      {"192.0.2.1:80", {.host = "192.0.2.1", .port = 80}},
      {"[::1]", {.host = "::1", .port = 6379}},
      {"[2001:db8::1]:99", {.host = "2001:db8::1", .port = 99}},
      {"/run/redis.sock", {.host = "/run/redis.sock", .port = 0}},
      {"azAZ09:1", {.host = "azAZ09", .port = 1}},
  };
  for (const auto& [text, server] : right) {
    const auto parsed = parse_server(text, 6379);
    ASSERT_TRUE(parsed) << parsed.error().describe();
    EXPECT_EQ(*parsed, server) << text;
    if (std::string_view(text).find_last_of(":/") < 90 && server.port != 6379) {
      EXPECT_EQ(parsed->text(), text);
    }
  }
  for (const char* const text :
       {"", ":1", "a:", "a:0", "a:65536", "a:1x", "a:-1", "a b", "::1", "[::1", "[::1]x", "[]:1",
        "a/b", "user@host", "a::", "a{b", "a~", "a[", "a@"}) {
    const auto parsed = parse_server(text, 6379);
    ASSERT_FALSE(parsed) << text;
    EXPECT_THAT(parsed.error().describe(), HasSubstr("expected host:port"));
  }
  EXPECT_THAT(parse_server("a::", 1).error().describe(), HasSubstr("IPv6 without brackets"));
  EXPECT_TRUE(parse_server(std::string(253, 'a'), 1));
  EXPECT_FALSE(parse_server(std::string(254, 'a'), 1));
}

TEST(UpstreamShared, an_option_that_cannot_be_is_named) {
  const std::pair<std::function<void(Options&)>, const char*> wrong[] = {
      {[](Options& options) { options.servers.clear(); }, "servers must be one or more"},
      {[](Options& options) { options.servers_max = 1; }, "at most servers_max"},
      {[](Options& options) { options.servers[0].port = 0; }, "a host with a port, or a path"},
      {[](Options& options) { options.connect_timeout = {}; }, "connect_timeout"},
      {[](Options& options) { options.backoff_min = {}; }, "backoff_min"},
      {[](Options& options) { options.backoff_max = milliseconds(1); }, "backoff_max"},
      {[](Options& options) { options.vanished_after = seconds(1); }, "vanished_after"},
      {[](Options& options) { options.outgoing_bytes_max = 0; }, "outgoing_bytes_max"},
      {[](Options& options) {
         options.tls.emplace();
         options.tls->authorities_file = "/nowhere/ca.pem";
       },
       "/nowhere/ca.pem"},
  };
  for (const auto& [change, words] : wrong) {
    Options options = test_options();
    change(options);
    const auto made = Shared::make(options);
    ASSERT_FALSE(made) << words;
    EXPECT_THAT(made.error().describe(), HasSubstr(words));
    EXPECT_THAT(made.error().describe(), HasSubstr("Test"));
  }
  Options full = test_options();
  full.servers_max = full.servers.size();
  EXPECT_TRUE(Shared::make(full)) << "as many as there may be";
}

TEST(UpstreamShared, what_a_cluster_announces_comes_behind_the_options_and_replaces_what_it_said) {
  Options options = test_options();
  options.servers_max = 4;
  const auto shared = Shared::make(options).value();
  const Server third{.host = "192.0.2.3", .port = 1}, fourth{.host = "192.0.2.4", .port = 1},
      fifth{.host = "192.0.2.5", .port = 1};
  EXPECT_TRUE(shared->announce({options.servers[1], third}));
  EXPECT_EQ(shared->server_count(), 3u);
  EXPECT_EQ(shared->server(2), third);
  EXPECT_EQ(shared->server(3), options.servers[0]) << "in turn";
  EXPECT_FALSE(shared->announce({third, fourth, fifth})) << "one too many";
  EXPECT_EQ(shared->server_count(), 4u);
  EXPECT_EQ(shared->server(3), fourth);
  EXPECT_TRUE(shared->announce({}));
  EXPECT_EQ(shared->server_count(), 2u);
}

TEST(UpstreamShared, each_other_reason_of_an_outage_is_told_once_and_none_is_swallowed) {
  Outages outages;
  Options options = test_options();
  options.observer = &outages;
  const auto shared = Shared::make(options).value();
  const Server server = options.servers[0];
  Instant now{};
  const auto fail_with = [&](const char* why, bool is_first = false) {
    shared->note_failure(server, Error(Code::unavailable, why), false, is_first, now);
  };
  std::vector<std::string> others;
  const auto told = [&](const char* why) {
    others.push_back(std::string("192.0.2.1:4000: ") + why);
    return outages.others == others;
  };
  fail_with("lost", true);
  fail_with("lost");
  fail_with("refused");
  EXPECT_TRUE(told("refused")) << "the first other reason, at once";
  fail_with("wrong password");
  now = now + milliseconds(999);
  fail_with("wrong password");
  EXPECT_EQ(outages.others, others) << "within the period";
  now = now + milliseconds(1);
  fail_with("wrong password");
  EXPECT_TRUE(told("wrong password")) << "it still holds";
  now = now + seconds(2);
  fail_with("wrong password");
  EXPECT_EQ(outages.others, others);
  fail_with("refused");
  EXPECT_TRUE(told("refused"));
  EXPECT_EQ(outages.notes, (std::vector<std::string>{"down 192.0.2.1:4000: lost"}));
  shared->note_up(server, true, now);
  EXPECT_EQ(outages.notes.size(), 2u);
  fail_with("lost", true);
  fail_with("refused");
  EXPECT_TRUE(told("refused")) << "of another outage";
}

}  // namespace
}  // namespace katana::upstream

// SPDX-License-Identifier: Apache-2.0
