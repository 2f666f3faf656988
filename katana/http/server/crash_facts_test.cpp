#include "katana/http/server/crash_facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "katana/base/system/monotonic_clock.hpp"
#include "katana/http/server/requests_in_flight.hpp"

namespace katana::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::SizeIs;

std::vector<std::string> told_lines() {
  const auto text = std::make_unique<crash::ThreadText>();
  tell_requests_in_flight(*text);
  std::vector<std::string> found;
  for (Bytes rest = text->text(); !rest.empty();) {
    const std::size_t end = rest.find('\n');
    found.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  return found;
}

const std::string told_route = "GET /users/{id}";

TEST(RequestsInFlight, have_their_age_id_and_route) {
  const Activity activity{.site = &told_route, .name = "01JABC"};
  const RequestInFlight request(activity, monotonic_now() - seconds(2));
  EXPECT_THAT(
      told_lines(),
      ElementsAre(MatchesRegex("in-flight age-ms=2... request=01JABC on GET /users/\\{id\\}")));
}

TEST(RequestsInFlight, without_an_id_and_a_route_are_listed_too) {
  const Activity activity;
  const RequestInFlight request(activity, monotonic_now());
  EXPECT_THAT(told_lines(), ElementsAre(MatchesRegex("in-flight age-ms=[0-9]+ request=- on -")));
}

TEST(RequestsInFlight, end_in_any_order) {
  std::vector<Activity> activities(3);
  const std::vector<std::string> names = {"first", "second", "third"};
  for (const std::vector<std::size_t>& order :
       std::vector<std::vector<std::size_t>>{{0, 1, 2}, {1, 0, 2}, {2, 1, 0}, {1, 2, 0}}) {
    std::vector<std::optional<RequestInFlight>> requests(3);
    for (std::size_t index = 0; index < 3; ++index) {
      activities[index].name = names[index];
      requests[index].emplace(activities[index], monotonic_now());
    }
    for (std::size_t ended = 0; ended < 3; ++ended) {
      EXPECT_THAT(told_lines(), SizeIs(3 - ended));
      requests[order[ended]].reset();
      for (const std::string& line : told_lines()) {
        EXPECT_EQ(line.find(names[order[ended]]), std::string::npos) << line;
      }
    }
    EXPECT_THAT(told_lines(), IsEmpty());
  }
}

TEST(RequestsInFlight, beyond_a_number_are_counted) {
  const Activity activity;
  std::vector<std::unique_ptr<RequestInFlight>> requests;
  for (std::size_t count = 0; count < in_flight_told_max + 5; ++count) {
    requests.push_back(std::make_unique<RequestInFlight>(activity, monotonic_now()));
  }
  const auto told = told_lines();
  ASSERT_THAT(told, SizeIs(in_flight_told_max + 1));
  EXPECT_EQ(told.back(), "in-flight and 5 more");
}

TEST(RequestsInFlight, of_another_thread_are_not_told_and_may_outlive_it) {
  const Activity activity;
  std::unique_ptr<RequestInFlight> request;
  std::thread([&] {
    request = std::make_unique<RequestInFlight>(activity, monotonic_now());
    EXPECT_THAT(told_lines(), SizeIs(1));
  }).join();
  EXPECT_THAT(told_lines(), IsEmpty());
  request.reset();
}

// The handler runs on the thread whose list it reads, in the middle of a change of it.
std::atomic<int> lists_read{0};
std::atomic<int> lists_wrong{0};
crash::ThreadText handler_text;

void read_own_list(int) {
  handler_text.clear();
  tell_requests_in_flight(handler_text);
  const Bytes text = handler_text.text();
  const auto told = std::ranges::count(text, '\n');
  const bool is_whole = text.empty() || text.ends_with("request=name on -\n");
  if (told > 3 || !is_whole) ++lists_wrong;
  ++lists_read;
}

TEST(RequestsInFlight, are_whole_in_a_signal_handler_that_interrupts_a_change) {
  struct sigaction action{};
  action.sa_handler = read_own_list;
  struct sigaction before{};
  ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);
  const pthread_t self = ::pthread_self();
  constexpr int signals_max = 2'000;
  std::atomic<bool> done{false};
  std::thread sender([&] {
    for (int sent = 0; sent < signals_max; ++sent) {
      ::pthread_kill(self, SIGUSR1);
      while (lists_read <= sent && !done) std::this_thread::yield();
    }
  });
  const Activity activity{.name = "name"};
  while (lists_read < signals_max) {
    const RequestInFlight outer(activity, monotonic_now());
    std::optional<RequestInFlight> first(std::in_place, activity, monotonic_now());
    const RequestInFlight inner(activity, monotonic_now());
    first.reset();
  }
  done = true;
  sender.join();
  ASSERT_EQ(::sigaction(SIGUSR1, &before, nullptr), 0);
  EXPECT_EQ(lists_wrong, 0);
}

}  // namespace
}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
