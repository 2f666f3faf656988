#include "katana/stores/database/postgres/target/server_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "katana/stores/database/postgres/target/read_target.hpp"
#include "katana/stores/database/postgres/target/sources_fixture_test.hpp"

namespace katana::database::postgres::target {
namespace {

using katana::postgres::TlsStart;
using testing::ElementsAre;
using testing::HasSubstr;

Target servers_of(Bytes text) {
  auto target = read_target(text, test::FakeSources().sources());
  EXPECT_TRUE(target) << target.error().describe();
  return *std::move(target);
}

// The result of the tries of one place: a failure, or a session with these facts.
struct Fate {
  std::optional<Failure> failure = {};
  SessionFacts facts = {};
  std::string answer = {};  // of a question; empty: none comes
};

// A network that a test describes: fates by "place" or "place/tls", and addresses of names.
struct Network {
  std::map<std::string, std::vector<std::string>> addresses = {};
  std::map<std::string, Fate> fates = {};
  std::vector<std::string> tried = {};

  Fate fate_of(const std::string& place, TlsStart tls) const {
    const bool has_tls = tls != TlsStart::off;
    const auto exact = fates.find(place + (has_tls ? "/tls" : "/plain"));
    if (exact != fates.end()) return exact->second;
    const auto found = fates.find(place);
    return found == fates.end() ? Fate{.failure = Failure::unreachable} : found->second;
  }
};

std::string place_of_step(const Target& target, const ServerStep& step) {
  const Server& server = target.servers[step.server];
  return step.address.empty() ? server.socket_path : std::string(step.address);
}

// Follows the steps to `use` or `end`.
ServerStep run_choice(const Target& target, Network& network, ServerChoice& choice) {
  for (int steps = 0; steps < 1'000; ++steps) {
    const ServerStep step = choice.step();
    const std::string name = target.servers[step.server].host;
    Fate fate;
    if (step.action == Action::connect || step.action == Action::ask) {
      fate = network.fate_of(network.tried.empty() ? "" : network.tried.back(), step.tls);
    }
    switch (step.action) {
      case Action::use:
      case Action::end: return step;
      case Action::resolve: choice.resolved(network.addresses[name]); break;
      case Action::connect: {
        const std::string place = place_of_step(target, step);
        network.tried.push_back(place);
        fate = network.fate_of(place, step.tls);
        if (fate.failure) choice.failed(*fate.failure, "why");
        if (!fate.failure) choice.established(fate.facts);
        break;
      }
      case Action::ask:
        if (fate.answer.empty()) choice.failed(Failure::no_answer, "why");
        if (!fate.answer.empty()) choice.answered(fate.answer);
        break;
    }
  }
  ADD_FAILURE() << "the steps do not end";
  return {};
}

// The places that were tried, and whether the last is used.
std::string tries(Bytes text, Network network, std::uint64_t seed = 1) {
  const Target target = servers_of(text);
  Random random(seed);
  ServerChoice choice(target, random);
  const ServerStep last = run_choice(target, network, choice);
  std::string list;
  for (const std::string& place : network.tried) list += place + " ";
  return list + (last.action == Action::use ? "used" : "end");
}

constexpr SessionFacts primary_facts = {.in_hot_standby = false, .default_read_only = false};
constexpr SessionFacts standby_facts = {.in_hot_standby = true, .default_read_only = false};
constexpr SessionFacts locked_facts = {.in_hot_standby = false, .default_read_only = true};

TEST(PostgresServerChoice, servers_and_their_addresses_are_tried_in_order) {
  const Network network{.addresses = {{"a", {"1", "2"}}, {"b", {"3"}}},
                        .fates = {{"3", {.facts = primary_facts}}}};
  EXPECT_EQ(tries("host=a,b,c", network), "1 2 3 used");
  EXPECT_EQ(tries("host=b,a", network), "3 used");
  EXPECT_EQ(tries("host=a", network), "1 2 end");
}

TEST(PostgresServerChoice, an_address_or_a_socket_needs_no_look_up) {
  const Target target = servers_of("host=h,/tmp hostaddr=10.0.0.1, connect_timeout=3");
  Random random(1);
  ServerChoice choice(target, random);
  EXPECT_EQ(choice.step().action, Action::connect);
  EXPECT_EQ(choice.step().address, "10.0.0.1");
  EXPECT_EQ(choice.step().timeout, seconds(3));
  choice.failed(Failure::unreachable, "refused");
  EXPECT_EQ(choice.step().action, Action::connect);
  EXPECT_EQ(choice.step().server, 1u);
  EXPECT_EQ(choice.step().address, "");
  EXPECT_EQ(choice.step().tls, TlsStart::off) << "a Unix socket has no TLS";
  choice.established({});
  EXPECT_EQ(choice.step().action, Action::use);
  EXPECT_EQ(choice.step().server, 1u);
}

TEST(PostgresServerChoice, each_failure_has_its_next_step) {
  const std::vector<std::pair<Failure, std::string>> cases = {
      {Failure::unreachable, "1 2 3 used"}, {Failure::timed_out, "1 2 3 used"},
      {Failure::lost, "1 2 3 used"},        {Failure::starting, "1 3 used"},
      {Failure::no_tls, "1 end"},           {Failure::tls, "1 end"},
      {Failure::forbidden, "1 end"},        {Failure::refused, "1 end"},
      {Failure::broken, "1 end"},
  };
  for (const auto& [failure, expected] : cases) {
    Network network{.addresses = {{"a", {"1", "2"}}, {"b", {"3"}}},
                    .fates = {{"1", {.failure = failure}}, {"3", {.facts = primary_facts}}}};
    EXPECT_EQ(tries("host=a,b sslmode=require", network), expected) << static_cast<int>(failure);
  }
  const Network unresolved{.addresses = {{"b", {"3"}}}, .fates = {{"3", {}}}};
  EXPECT_EQ(tries("host=a,b", unresolved), "3 used");
}

TEST(PostgresServerChoice, an_sqlstate_says_whether_another_server_may_help) {
  EXPECT_EQ(failure_of("57P03"), Failure::starting);
  EXPECT_EQ(failure_of("28000"), Failure::forbidden);
  for (const char* const other : {"28P01", "3D000", "53300", "57P01", "08P01", ""}) {
    EXPECT_EQ(failure_of(other), Failure::refused) << other;
  }
}

TEST(PostgresServerChoice, only_prefer_and_allow_try_an_address_in_both_ways) {
  const std::vector<std::tuple<std::string, Failure, std::string>> cases = {
      {"disable", Failure::forbidden, "1/plain"},
      {"allow", Failure::forbidden, "1/plain 1/tls used"},
      {"allow", Failure::refused, "1/plain"},
      {"prefer", Failure::no_tls, "1/tls 1/plain used"},
      {"prefer", Failure::tls, "1/tls 1/plain used"},
      {"prefer", Failure::forbidden, "1/tls 1/plain used"},
      {"prefer", Failure::refused, "1/tls"},  // the password is not sent again without TLS
      {"prefer", Failure::broken, "1/tls"},
      {"require", Failure::no_tls, "1/tls"},
      {"require", Failure::forbidden, "1/tls"},
      {"verify-ca", Failure::tls, "1/tls"},
      {"verify-full", Failure::tls, "1/tls"},
  };
  for (const auto& [mode, failure, expected] : cases) {
    const Target target = servers_of("host=a hostaddr=1.1.1.1 sslmode=" + mode);
    Random random(1);
    ServerChoice choice(target, random);
    std::string seen;
    for (int tried = 0; choice.step().action == Action::connect; ++tried) {
      seen += (tried > 0 ? " " : "") +
              std::string(choice.step().tls == TlsStart::off ? "1/plain" : "1/tls");
      if (tried == 0) choice.failed(failure, "why");
      if (tried > 0) choice.established({});
    }
    if (choice.step().action == Action::use) seen += " used";
    EXPECT_EQ(seen, expected) << mode;
  }
}

TEST(PostgresServerChoice, a_second_failure_of_an_address_ends_or_goes_on) {
  const Network network{
      .addresses = {{"a", {"1"}}, {"b", {"2"}}},
      .fates = {{"1/tls", {.failure = Failure::no_tls}}, {"1/plain", {.failure = Failure::lost}}}};
  EXPECT_EQ(tries("host=a,b", network), "1 1 2 end");
  Network forbidden = network;
  forbidden.fates["1/plain"] = {.failure = Failure::forbidden};
  EXPECT_EQ(tries("host=a,b", forbidden), "1 1 end");
}

TEST(PostgresServerChoice, direct_tls_begins_without_a_request) {
  const Target target = servers_of("host=a hostaddr=1.1.1.1 sslmode=require sslnegotiation=direct");
  Random random(1);
  EXPECT_EQ(ServerChoice(target, random).step().tls, TlsStart::direct);
}

TEST(PostgresServerChoice, a_session_of_another_kind_leads_to_the_next_server) {
  const Network network{.addresses = {{"p", {"1", "2"}}, {"s", {"3"}}, {"l", {"4"}}},
                        .fates = {{"1", {.facts = primary_facts}},
                                  {"3", {.facts = standby_facts}},
                                  {"4", {.facts = locked_facts}}}};
  const auto with = [&](const std::string& kind, const std::string& hosts) {
    return tries("host=" + hosts + " target_session_attrs=" + kind, network);
  };
  EXPECT_EQ(with("any", "s,p"), "3 used");
  EXPECT_EQ(with("read-write", "s,l,p"), "3 4 1 used");
  EXPECT_EQ(with("read-only", "p,l,s"), "1 4 used") << "2 is another address of the same server";
  EXPECT_EQ(with("primary", "s,l,p"), "3 4 used");
  EXPECT_EQ(with("standby", "p,l,s"), "1 4 3 used");
  EXPECT_EQ(with("standby", "p,l"), "1 4 end");
  EXPECT_EQ(with("prefer-standby", "p,s"), "1 3 used");
  EXPECT_EQ(with("prefer-standby", "l,p"), "4 1 4 used") << "the second pass takes any";
}

TEST(PostgresServerChoice, prefer_standby_tries_unreachable_servers_twice_and_then_ends) {
  EXPECT_EQ(tries("host=a,b target_session_attrs=prefer-standby",
                  {.addresses = {{"a", {"1"}}, {"b", {"2"}}}}),
            "1 2 1 2 end");
}

TEST(PostgresServerChoice, a_server_that_does_not_report_is_asked) {
  const auto with = [](const std::string& kind, const std::string& answer,
                       const SessionFacts& facts = {}) {
    return tries("host=a,b target_session_attrs=" + kind,
                 {.addresses = {{"a", {"1"}}, {"b", {"2"}}},
                  .fates = {{"1", {.facts = facts, .answer = answer}}}});
  };
  EXPECT_EQ(with("read-write", "off"), "1 used");
  EXPECT_EQ(with("read-write", "on"), "1 2 end");
  EXPECT_EQ(with("read-only", "on"), "1 used");
  EXPECT_EQ(with("read-only", "off"), "1 2 end");
  EXPECT_EQ(with("primary", "f"), "1 used");
  EXPECT_EQ(with("primary", "t"), "1 2 end");
  EXPECT_EQ(with("standby", "t"), "1 used");
  EXPECT_EQ(with("standby", "f"), "1 2 end");
  EXPECT_EQ(with("standby", "perhaps"), "1 2 end");
  EXPECT_EQ(with("standby", ""), "1 2 end");
  EXPECT_EQ(with("read-write", "off", {.in_hot_standby = false}), "1 used") << "one fact lacks";
  EXPECT_EQ(with("primary", "", {.in_hot_standby = false}), "1 used") << "one fact is enough";
}

TEST(PostgresServerChoice, the_question_is_that_of_libpq) {
  for (const auto& [kind, question] : std::map<std::string, std::string>{
           {"read-write", "SHOW transaction_read_only"},
           {"read-only", "SHOW transaction_read_only"},
           {"primary", "SELECT pg_catalog.pg_is_in_recovery()"},
           {"prefer-standby", "SELECT pg_catalog.pg_is_in_recovery()"}}) {
    const Target target = servers_of("hostaddr=1.1.1.1 target_session_attrs=" + kind);
    Random random(1);
    ServerChoice choice(target, random);
    choice.established({});
    EXPECT_EQ(choice.step().action, Action::ask);
    EXPECT_EQ(choice.step().question, question);
  }
}

TEST(PostgresServerChoice, a_session_reports_its_kind_by_two_parameters) {
  SessionFacts facts;
  facts.note("server_version", "on");
  EXPECT_FALSE(facts.in_hot_standby || facts.default_read_only);
  facts.note("in_hot_standby", "on");
  facts.note("default_transaction_read_only", "off");
  EXPECT_EQ(facts.in_hot_standby, true);
  EXPECT_EQ(facts.default_read_only, false);
  facts.note("in_hot_standby", "?");
  EXPECT_FALSE(facts.in_hot_standby);
}

TEST(PostgresServerChoice, a_random_order_reaches_every_server_first) {
  Network network{.addresses = {{"a", {"1", "2"}}, {"b", {"3"}}, {"c", {"4"}}}};
  std::map<std::string, int> firsts;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const std::string order = tries("host=a,b,c load_balance_hosts=random", network, seed);
    ++firsts[order.substr(0, 1)];
    std::string sorted = order.substr(0, order.find(" end"));
    std::ranges::sort(sorted);
    EXPECT_EQ(sorted, "   1234") << "each is tried once";
    const std::size_t distance = order.find('1') > order.find('2')
                                     ? order.find('1') - order.find('2')
                                     : order.find('2') - order.find('1');
    EXPECT_EQ(distance, 2u) << "addresses of a server stay together: " << order;
  }
  // A third for each server, and a sixth for each address of the first.
  EXPECT_GT(firsts["1"], 30);
  EXPECT_GT(firsts["2"], 30);
  EXPECT_GT(firsts["3"], 90);
  EXPECT_GT(firsts["4"], 90);
  std::set<std::string> orders;
  for (std::uint64_t seed = 0; seed < 20; ++seed) orders.insert(tries("host=a,b,c", network, seed));
  EXPECT_EQ(orders.size(), 1u) << "without load_balance_hosts the order is that of the list";
}

TEST(PostgresServerChoice, the_error_has_the_reasons_of_all_servers) {
  const Target target = servers_of("host=a,/tmp,c hostaddr=,,10.0.0.3 port=1,2,3");
  Random random(1);
  ServerChoice choice(target, random);
  choice.failed(Failure::unresolved, "no such name");
  choice.failed(Failure::unreachable, "no such file");
  choice.failed(Failure::timed_out, std::string(2'000, 'x'));
  ASSERT_EQ(choice.step().action, Action::end);
  const std::string error = choice.error().describe();
  EXPECT_EQ(choice.error().code(), Code::deadline_exceeded) << "of the last failure";
  EXPECT_THAT(error, HasSubstr("server at a:1: no such name; "));
  EXPECT_THAT(error, HasSubstr("server on socket '/tmp/.s.PGSQL.2': no such file; "));
  EXPECT_THAT(error, HasSubstr("server at c:3 (10.0.0.3): xxx"));
  EXPECT_LT(error.size(), 700u);
}

TEST(PostgresServerChoice, addresses_and_reasons_are_bounded) {
  const Target target = servers_of("host=a,b");
  Random random(1);
  ServerChoice choice(target, random);
  std::size_t tried = 0;
  while (choice.step().action != Action::end) {
    if (choice.step().action == Action::resolve) {
      choice.resolved(std::vector<std::string>(1'000, "10.0.0.1"));
    }
    choice.failed(Failure::unreachable, "no");
    ++tried;
  }
  EXPECT_EQ(tried, 2 * addresses_max);
  EXPECT_THAT(choice.error().describe(), HasSubstr("and 16 more failures"));
}

}  // namespace
}  // namespace katana::database::postgres::target

// SPDX-License-Identifier: Apache-2.0
