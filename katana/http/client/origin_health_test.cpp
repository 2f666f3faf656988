#include "katana/http/client/origin_health.hpp"

#include <cerrno>

#include "katana/http/client/client_fixture_test.hpp"

namespace katana::client {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using Pass = CircuitBreaker::Pass;
using Outcome = CircuitBreaker::Outcome;
using State = CircuitBreaker::State;

constexpr Instant start{1'000'000'000'000};

TEST(RetryBudgetTest, retries_are_a_share_of_requests_and_a_number_per_second) {
  RetryBudget shared;
  const RetryOptions tenth{.share_percent = 10, .per_second_min = 0};
  int retries = 0;
  for (int request = 0; request < 1000; ++request) {
    shared.earn(tenth, start);
    if (shared.spend()) ++retries;
  }
  EXPECT_EQ(retries, 100);

  RetryBudget timed;
  const RetryOptions five{.share_percent = 0, .per_second_min = 5};
  retries = 0;
  for (int request = 0; request < 10'000; ++request) {  // 10 s
    timed.earn(five, start + milliseconds(request));
    if (timed.spend()) ++retries;
  }
  EXPECT_GE(retries, 5 + 45);
  EXPECT_LE(retries, 5 + 50);
}

TEST(CircuitBreakerTest, it_opens_at_the_share_of_failures_and_not_before_the_minimum) {
  const BreakerOptions options{.failures_percent = 50, .requests_min = 10};
  CircuitBreaker breaker;
  for (int request = 0; request < 9; ++request) {
    ASSERT_TRUE(breaker.admit(options, "x", start));
    EXPECT_FALSE(breaker.note(options, Pass::usual, Outcome::failure, start));
  }
  EXPECT_TRUE(breaker.note(options, Pass::usual, Outcome::failure, start));
  const auto refused = breaker.admit(options, "https://a:443", start + seconds(1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::unavailable);
  EXPECT_THAT(refused.error().describe(),
              AllOf(HasSubstr("the circuit breaker of https://a:443 is open"),
                    HasSubstr("10 of 10 requests failed within 10000 ms"),
                    HasSubstr("it is asked again in 4000 ms")));
}

TEST(CircuitBreakerTest, failures_leave_the_window) {
  const BreakerOptions options{.failures_percent = 50, .requests_min = 10};
  CircuitBreaker breaker;
  for (int second = 0; second < 100; ++second) {  // nine requests in a window
    const Instant now = start + milliseconds(second * 1150);
    EXPECT_FALSE(breaker.note(options, Pass::usual, Outcome::failure, now)) << second;
  }
  EXPECT_EQ(breaker.state(), State::closed);
}

TEST(CircuitBreakerTest, half_open_lets_one_through_and_its_outcome_decides) {
  const BreakerOptions options{.failures_percent = 1, .requests_min = 1};
  CircuitBreaker breaker;
  ASSERT_TRUE(breaker.note(options, Pass::usual, Outcome::failure, start));
  Instant now = start + seconds(5);
  auto probe = breaker.admit(options, "x", now);
  ASSERT_TRUE(probe);
  EXPECT_EQ(*probe, Pass::probe);
  const auto second = breaker.admit(options, "x", now);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().describe(), HasSubstr("half open"));
  breaker.note(options, Pass::probe, Outcome::cancelled, now);
  ASSERT_TRUE(breaker.admit(options, "x", now));
  // A request that was sent before the breaker opened says nothing.
  breaker.note(options, Pass::usual, Outcome::success, now);
  EXPECT_EQ(breaker.state(), State::half_open);
  EXPECT_TRUE(breaker.note(options, Pass::probe, Outcome::failure, now));
  EXPECT_FALSE(breaker.admit(options, "x", now + seconds(4)));
  now = now + seconds(5);
  ASSERT_TRUE(breaker.admit(options, "x", now));
  breaker.note(options, Pass::probe, Outcome::success, now);
  EXPECT_EQ(breaker.state(), State::closed);
}

const std::string unavailable = "HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n";
const std::string fine = ok + "Content-Length: 0\r\n\r\n";

class OriginHealthTest : public ClientTest {
 protected:
  void use(void (*change)(HttpClientOptions&)) {
    HttpClientOptions options = test_options();
    change(options);
    ClientTest::use(options);
  }
  std::uint32_t last() const { return static_cast<std::uint32_t>(links() - 1); }
  ClientCounters counted() { return http().counters(reactor()); }
};

TEST_F(OriginHealthTest, transient_failures_are_retried_by_choice_within_the_budget) {
  use([](HttpClientOptions& options) {
    options.retry = {.transient = true, .share_percent = 0, .per_second_min = 1};
    options.retries_max = 5;
  });
  Reply& reply = get();
  answer(0);
  say(0, unavailable);
  EXPECT_FALSE(reply.done());
  turn(milliseconds(51));  // all of the backoff
  turn();
  say(0, unavailable);
  EXPECT_EQ(error_of(reply), "status 503");
  EXPECT_EQ(counted().retries, 1u);
  EXPECT_EQ(counted().retries_denied, 1u);
  Reply& post = fetch(Request("POST", "http://server.test/"));
  say(0, unavailable);
  EXPECT_EQ(error_of(post), "status 503");
  EXPECT_EQ(counted().retries_denied, 1u);
}

TEST_F(OriginHealthTest, what_does_not_pass_is_not_sent_again_whatever_retry_after_says) {
  use([](HttpClientOptions& options) {
    options.retry.transient = true;
    options.retry_after_max = seconds(10);
  });
  for (const unsigned status : {404u, 413u, 500u, 501u}) {
    for (const char* const more : {"", "Retry-After: 1\r\n"}) {
      Reply& reply = get();
      answer(0);
      say(0, "HTTP/1.1 " + std::to_string(status) + " No\r\n" + more + "Content-Length: 0\r\n\r\n");
      EXPECT_EQ(error_of(reply), "status " + std::to_string(status));
    }
  }
  EXPECT_EQ(counted().retries, 0u);
}

TEST_F(OriginHealthTest, a_refused_connection_is_transient) {
  use([](HttpClientOptions& options) { options.retry.transient = true; });
  Reply& reply = get();
  lose(0, ECONNREFUSED);
  turn(milliseconds(51));
  turn();
  ASSERT_EQ(links(), 2u);
  answer(1);
  say(1, fine);
  EXPECT_EQ(error_of(reply), "status 200");
}

TEST_F(OriginHealthTest, retry_after_is_obeyed_up_to_the_deadline) {
  use([](HttpClientOptions& options) { options.retry.transient = true; });
  Reply& reply = fetch(Request("http://server.test/").timeout(seconds(10)));
  answer(0);
  take_sent(0);
  say(0, "HTTP/1.1 429 Slow\r\nRetry-After: 3\r\nContent-Length: 0\r\n\r\n");
  turn(milliseconds(2'900));
  turn();
  EXPECT_EQ(take_sent(0), "");
  turn(milliseconds(200));
  turn();
  EXPECT_THAT(take_sent(0), testing::StartsWith("GET / "));
  say(0, "HTTP/1.1 429 Slow\r\nRetry-After: 9\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(error_of(reply), "status 429");
}

TEST_F(OriginHealthTest, a_hedged_request_goes_out_twice_and_the_first_reply_wins) {
  for (const bool second_wins : {false, true}) {
    use([](HttpClientOptions& options) { options.hedge_after = milliseconds(50); });
    Reply& reply = get();
    const std::uint32_t first = last();
    answer(first);
    turn(milliseconds(40));
    EXPECT_EQ(last(), first);
    turn(milliseconds(20));
    turn();
    ASSERT_EQ(last(), first + 1);
    answer(first + 1);
    EXPECT_THAT(take_sent(first + 1), testing::StartsWith("GET / "));
    const std::uint32_t winner = first + (second_wins ? 1 : 0);
    say(winner, fine);
    EXPECT_EQ(error_of(reply), "status 200");
    turn();
    EXPECT_TRUE(open(winner));
    EXPECT_FALSE(open(second_wins ? first : first + 1));
    EXPECT_EQ(counted().hedges, 1u);
    EXPECT_EQ(counted().hedges_won, second_wins ? 1u : 0u);
  }
}

TEST_F(OriginHealthTest, when_one_of_two_fails_the_other_is_waited_for) {
  use([](HttpClientOptions& options) { options.hedge_after = milliseconds(50); });
  Reply& reply = get();
  answer(0);
  turn(milliseconds(60));
  turn();
  answer(1);
  close_by_server(0);
  EXPECT_FALSE(reply.done());
  say(1, fine);
  EXPECT_EQ(error_of(reply), "status 200");
}

TEST_F(OriginHealthTest, when_both_fail_the_first_failure_is_told) {
  use([](HttpClientOptions& options) {
    options.hedge_after = milliseconds(50);
    options.retries_max = 0;
  });
  Reply& reply = get();
  answer(0);
  turn(milliseconds(60));
  turn();
  answer(1);
  say(0, "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n");
  EXPECT_FALSE(reply.done());
  close_by_server(1);
  EXPECT_THAT(error_of(reply), Not(testing::HasSubstr("closed the connection")));
}

TEST_F(OriginHealthTest,
       what_is_not_idempotent_is_not_hedged_and_a_cancelled_hedge_leaves_nothing) {
  use([](HttpClientOptions& options) { options.hedge_after = milliseconds(50); });
  fetch(Request("POST", "http://server.test/"));
  answer(0);
  turn(milliseconds(100));
  turn();
  EXPECT_EQ(links(), 1u);
  get();
  answer(1);
  turn(milliseconds(60));
  turn();
  ASSERT_EQ(links(), 3u);
  replies.clear();
  turn();
  turn();
  EXPECT_EQ(counted().connections, 0u);
}

TEST_F(OriginHealthTest, the_breaker_stops_requests_to_its_origin_alone) {
  use([](HttpClientOptions& options) {
    options.breaker = {.failures_percent = 50, .requests_min = 2};
  });
  for (int request = 0; request < 2; ++request) {
    Reply& failed = get();
    answer(0);
    say(0, unavailable);
    EXPECT_EQ(error_of(failed), "status 503");
  }
  Reply& refused = get();
  EXPECT_THAT(error_of(refused), AllOf(testing::StartsWith("GET http://server.test/: "),
                                       HasSubstr("circuit breaker of http://server.test:80")));
  EXPECT_EQ(counted().breaker_openings, 1u);
  EXPECT_EQ(counted().breaker_refusals, 1u);
  EXPECT_EQ(counted().breakers_open, 1u);
  Reply& other = get("http://two.test/");
  answer(last());
  say(last(), fine);
  EXPECT_EQ(error_of(other), "status 200");

  turn(seconds(5));
  get();               // the probe
  replies.pop_back();  // and it is cancelled
  turn();
  Reply& probe = get();
  answer(last());
  say(last(), fine);
  EXPECT_EQ(error_of(probe), "status 200");
  EXPECT_EQ(counted().breakers_open, 0u);
}

}  // namespace
}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
