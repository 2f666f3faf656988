// Walks of reactors: the requests and connections that a server has at one moment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "katana/base/coroutine/synchronization.hpp"
#include "katana/http/server/client_test.hpp"
#include "katana/http/server/http_server.hpp"
#include "katana/http/server/live_connections.hpp"
#include "katana/http/server/live_coroutines.hpp"
#include "katana/http/server/live_requests.hpp"
#include "katana/http/server/observability.hpp"
#include "katana/http/server/reactor_probe.hpp"
#include "katana/http/server/request_telemetry.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/net/reactor/task_scope.hpp"
#include "katana/net/reactor/timeout.hpp"

namespace katana::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string users_route = "GET /users/{id}";
const std::string carts_route = "POST /carts";

// Requests that were made by hand, on the thread of the reactor that serves /add.
struct MadeRequests {
  void add(const net::Reactor& reactor, Duration age, const std::string* route) {
    auto& activity = activities.emplace_back(std::make_unique<Activity>());
    activity->site = route;
    activity->name = "made";
    requests.push_back(
        std::make_unique<RequestInFlight>(*activity, reactor.now() - age, nullptr, &reactor));
  }
  std::vector<std::unique_ptr<Activity>> activities;
  std::vector<std::unique_ptr<RequestInFlight>> requests;
};

class LiveTest : public testing::Test {
 protected:
  LiveTest() {
    options.port = 0;
    options.reactors = 1;
    options.reactor.engine.links_max = 64;
    router.get("/hello", [] { return Reply::text("hello there"); });
  }

  template <class Clients>
  void serve(Clients clients) {
    auto made = Observability::make({});
    ASSERT_TRUE(made) << made.error().describe();
    observability = std::move(*made);
    auto service = std::move(router).build();
    ASSERT_TRUE(service);
    RequestTelemetry telemetry({});
    ASSERT_TRUE(telemetry.prepare(*service));
    options.http.observer = &telemetry;
    options.observability = observability.get();
    HttpServer server(options, *service);
    ASSERT_TRUE(server.start());
    serve_clients(server, clients);
  }
  // Walks the only reactor, and waits for the end.
  template <class Walk>
  std::shared_ptr<Walk> walked(std::shared_ptr<Walk> walk) {
    EXPECT_TRUE(observability->ask_reactors()[0]->begin(walk));
    while (!walk->is_over()) std::this_thread::yield();
    return walk;
  }
  std::shared_ptr<LiveRequests> requests(const LiveRequestFilter& filter) {
    return walked(std::make_shared<LiveRequests>(filter));
  }

  HttpServerOptions options;
  Router router;
  std::unique_ptr<Observability> observability;
};

std::vector<std::int64_t> ages_s(const LiveRequests& requests) {
  std::vector<std::int64_t> ages;
  for (std::size_t index = 0; index < requests.size(); ++index) {
    ages.push_back(requests.at(index).age.count_ms() / 1000);
  }
  return ages;
}

TEST_F(LiveTest, requests_are_listed_oldest_first_and_filtered) {
  MadeRequests made;
  router.get("/add", [&made] {
    const net::Reactor& reactor = *net::Reactor::current();
    for (const int age_s : {50, 40, 30, 20}) {
      made.add(reactor, seconds(age_s), age_s % 20 == 0 ? &users_route : &carts_route);
    }
    return Reply(204);
  });
  serve([&](std::uint16_t port) {
    Client(port).ask("/add");
    EXPECT_THAT(ages_s(*requests({})), ElementsAre(50, 40, 30, 20));
    EXPECT_THAT(ages_s(*requests({.older = seconds(35)})), ElementsAre(50, 40));
    EXPECT_THAT(ages_s(*requests({.route = "GET /users/{id}"})), ElementsAre(40, 20));
    EXPECT_THAT(ages_s(*requests({.route = "/carts"})), ElementsAre(50, 30));
    const auto limited = requests({.limit = 3});
    EXPECT_THAT(ages_s(*limited), ElementsAre(50, 40, 30));
    EXPECT_EQ(limited->matched(), 4u) << "those beyond the limit are counted";
  });
}

TEST_F(LiveTest, requests_are_read_in_slices_of_a_number_and_each_is_in_one) {
  constexpr std::size_t count = 10 * LiveRequests::slice_max + 7;
  MadeRequests made;
  router.get("/add", [&made] {
    const net::Reactor& reactor = *net::Reactor::current();
    for (std::size_t number = 0; number < count; ++number) {
      made.add(reactor, seconds(static_cast<std::int64_t>(2 * count - number)), &users_route);
    }
    return Reply(204);
  });
  serve([&](std::uint16_t port) {
    Client(port).ask("/add");
    const auto all = requests({.limit = 2 * count});
    ASSERT_EQ(all->size(), count);
    EXPECT_EQ(all->slices(), 11u);
    std::set<std::int64_t> ages;
    for (std::size_t index = 0; index < count; ++index) ages.insert(all->at(index).age.count_ms());
    EXPECT_EQ(ages.size(), count);
    EXPECT_GE(all->held_bytes(), count * sizeof(LiveRequest));
  });
}

// A walk that notes in which turns its slices were.
class TurnsWalk final : public ReactorWalk {
 public:
  std::vector<std::uint64_t> turns;

 private:
  bool slice(net::Reactor& reactor) noexcept override {
    turns.push_back(reactor.counters().turns);
    return turns.size() == 20;
  }
};

TEST_F(LiveTest, the_reactor_has_a_turn_between_two_slices) {
  serve([&](std::uint16_t) {
    const auto walk = walked(std::make_shared<TurnsWalk>());
    ASSERT_EQ(walk->turns.size(), 20u);
    EXPECT_EQ(std::ranges::adjacent_find(walk->turns), walk->turns.end());
  });
}

// A walk that has no end, unless the test lets it.
class EndlessWalk final : public ReactorWalk {
 public:
  explicit EndlessWalk(const std::atomic<bool>& ends) : ends_(ends) {}

 private:
  bool slice(net::Reactor&) noexcept override { return ends_; }
  const std::atomic<bool>& ends_;
};

// Waits until nothing but the test has the walk. Returns false if that does not come.
bool is_let_go(const std::shared_ptr<EndlessWalk>& walk) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (walk.use_count() > 1 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  return walk.use_count() == 1;
}

TEST_F(LiveTest, a_walk_is_abandoned_when_its_page_or_its_client_no_longer_waits) {
  std::atomic<bool> ends = false, begun = false;
  std::shared_ptr<EndlessWalk> walk;
  router.get("/walk/{patience_ms}", [&](Path<int> patience_ms) -> Task<Reply> {
    std::vector<std::shared_ptr<ReactorWalk>> walks = {walk};
    EXPECT_TRUE(observability->ask_reactors()[0]->begin(walk));
    begun = true;
    (void)co_await net::with_timeout(walk_ends(walks), milliseconds(*patience_ms));
    co_return Reply::text("late");
  });
  serve([&](std::uint16_t port) {
    walk = std::make_shared<EndlessWalk>(ends);
    EXPECT_THAT(Client(port).ask("/walk/1"), HasSubstr("late"));
    EXPECT_TRUE(is_let_go(walk));

    begun = false;
    walk = std::make_shared<EndlessWalk>(ends);
    {
      Client leaves(port);
      leaves.send_get("/walk/3600000");
      while (!begun) std::this_thread::yield();
    }
    EXPECT_TRUE(is_let_go(walk));
    EXPECT_FALSE(walk->is_over());
    ends = true;
  });
}

TEST_F(LiveTest, a_walk_that_is_to_go_on_ends_however_late) {
  std::atomic<bool> ends = false;
  const auto walk = std::make_shared<EndlessWalk>(ends);
  router.get("/walk", [&]() -> Task<Reply> {
    std::vector<std::shared_ptr<ReactorWalk>> walks = {walk};
    EXPECT_TRUE(observability->ask_reactors()[0]->begin(walk));
    (void)co_await net::with_timeout(walk_ends(walks, WhenLate::go_on), milliseconds(1));
    co_return Reply::text("late");
  });
  serve([&](std::uint16_t port) {
    EXPECT_THAT(Client(port).ask("/walk"), HasSubstr("late"));
    EXPECT_FALSE(walk->is_over());
    ends = true;
    EXPECT_TRUE(is_let_go(walk));
    EXPECT_TRUE(walk->is_over());
  });
}

TEST_F(LiveTest, a_request_says_what_it_does_and_who_sent_it) {
  std::atomic<int> waiting = 0;
  std::atomic<bool> release = false;
  router.get("/wait/{id}", [&](Path<int>) -> Task<Reply> {
    ++waiting;
    while (!release) co_await net::sleep_for(milliseconds(1));
    co_return Reply::text("done");
  });
  router.post("/upload", [](Request request) {
    return Reply::text(format_text("{}", request.content().size()));
  });
  serve([&](std::uint16_t port) {
    Client waits(port), sends(port);
    waits.send_get("/wait/7", "X-Request-Id: req-7\r\n");
    while (waiting == 0) std::this_thread::yield();
    sends.send("POST /upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf");
    std::shared_ptr<LiveRequests> found;
    do found = requests({});
    while (found->size() < 2);
    const LiveRequest& first = found->at(0);
    EXPECT_EQ(*first.route, "GET /wait/{id}");
    EXPECT_EQ(first.id, "req-7");
    EXPECT_EQ(first.method, "GET");
    EXPECT_EQ(first.step, session::RequestStep::handling);
    EXPECT_EQ(first.status, 0u);
    EXPECT_EQ(ClientAddress::of(first.client), ClientAddress::read("127.0.0.1"));
    EXPECT_EQ(*found->at(1).route, "POST /upload");
    EXPECT_EQ(found->at(1).step, session::RequestStep::receiving);
    EXPECT_EQ(requests({.client = ClientAddress::read("127.0.0.1")})->size(), 2u);
    EXPECT_EQ(requests({.client = ClientAddress::read("127.0.0.2")})->size(), 0u);
    release = true;
    EXPECT_THAT(waits.receive_reply(), HasSubstr("done"));
    sends.send("-full");
    EXPECT_THAT(sends.receive_reply(), HasSubstr("\r\n\r\n9"));
    EXPECT_EQ(requests({})->size(), 0u);
  });
}

TEST_F(LiveTest, connections_are_listed_oldest_first_with_why_they_are_not_read) {
  std::atomic<bool> waits = false, release = false;
  router.get("/wait", [&]() -> Task<Reply> {
    waits = true;
    while (!release) co_await net::sleep_for(milliseconds(1));
    co_return Reply::text("done");
  });
  serve([&](std::uint16_t port) {
    Client first(port);
    first.ask("/hello");
    first.ask("/hello");
    std::this_thread::sleep_for(std::chrono::milliseconds(40));  // two steps of opened_at()
    Client second(port);
    second.send_get("/wait");
    while (!waits) std::this_thread::yield();
    const auto all = walked(std::make_shared<LiveConnections>(LiveConnectionFilter{}));
    auto& heap = all->heap();
    ASSERT_EQ(heap.size(), 2u);
    EXPECT_EQ(all->matched(), 2u);
    EXPECT_EQ(heap[0].protocol, "http/1.1");
    EXPECT_EQ(heap[0].requests, 2u);
    EXPECT_EQ(heap[0].state, net::ConnectionState::open);
    EXPECT_EQ(pause_text(heap[0].pause_reasons), "");
    EXPECT_GT(heap[0].age, heap[1].age);
    EXPECT_GT(heap[0].bytes_sent, 0u);
    EXPECT_EQ(pause_text(heap[1].pause_reasons), "handler_pending");

    const auto oldest = walked(std::make_shared<LiveConnections>(LiveConnectionFilter{.limit = 1}));
    ASSERT_EQ(oldest->heap().size(), 1u);
    EXPECT_EQ(oldest->heap()[0].requests, 2u);
    EXPECT_EQ(oldest->matched(), 2u);
    const auto paused =
        walked(std::make_shared<LiveConnections>(LiveConnectionFilter{.paused = true}));
    ASSERT_EQ(paused->heap().size(), 1u);
    EXPECT_EQ(paused->heap()[0].requests, 1u);
    const auto other = walked(std::make_shared<LiveConnections>(
        LiveConnectionFilter{.client = ClientAddress::read("127.0.0.2")}));
    EXPECT_EQ(other->matched(), 0u);
    release = true;
    second.receive_reply();
  });
}

TEST_F(LiveTest, the_connections_of_a_client_are_closed_and_those_of_others_stay) {
  serve([&](std::uint16_t port) {
    const auto closed = [this](const char* client) {
      return walked(std::make_shared<ClientCloser>(*ClientAddress::read(client)))->closed();
    };
    Client here(port);
    here.ask("/hello");
    EXPECT_EQ(closed("127.0.0.2"), 0u);
    EXPECT_THAT(here.ask("/hello"), HasSubstr("hello there"));
    EXPECT_EQ(closed("::FFFF:127.0.0.1"), 1u) << "compared by value";
    EXPECT_EQ(here.receive_until(""), "");
    EXPECT_THAT(Client(port).ask("/hello"), HasSubstr("hello there"));
  });
}

Task<void> wait_below(AsyncEvent& event, int depth) {
  if (depth == 0) {
    co_await event.wait();
  } else {
    co_await wait_below(event, depth - 1);
  }
}

TEST_F(LiveTest, coroutines_are_read_in_slices_and_each_is_in_one) {
  constexpr std::size_t count = 10 * LiveCoroutines::slice_max + 5;
  AsyncEvent never_set;
  net::TaskScope scope;
  router.get("/spawn", [&] {
    for (std::size_t number = 0; number < count; ++number) {
      EXPECT_TRUE(scope.spawn(wait_below(never_set, 1)));
    }
    return Reply(204);
  });
  router.get("/end", [&] {
    scope.cancel();
    return Reply(204);
  });
  serve([&](std::uint16_t port) {
    Client client(port);
    client.ask("/spawn");
    const auto all = walked(std::make_shared<LiveCoroutines>(LiveCoroutineFilter{}));
    EXPECT_EQ(all->matched(), count);
    EXPECT_EQ(all->heap().size(), 100u) << "the limit";
    for (const LiveCoroutine& each : all->heap()) {
      ASSERT_EQ(each.frames.size(), 2u);
      EXPECT_EQ(*each.route, "GET /spawn");
    }
    const auto none = walked(std::make_shared<LiveCoroutines>(LiveCoroutineFilter{.route = "/x"}));
    EXPECT_EQ(none->matched(), 0u);
    client.ask("/end");
    const auto left = walked(std::make_shared<LiveCoroutines>(LiveCoroutineFilter{}));
    EXPECT_EQ(left->matched(), 0u) << "a task that is destroyed leaves the list";
  });
}

// As a span does.
Task<void> wait_in_own_activity(AsyncEvent& event) {
  const Activity own{.name = "own"};
  const ActivityScope as(&own);
  co_await event.wait();
}

TEST_F(LiveTest, a_coroutine_that_began_in_a_span_has_the_activity_of_its_request) {
  AsyncEvent first;
  AsyncEvent second;
  std::atomic<bool> has_begun = false;
  router.get("/spans", [&]() -> Task<Reply> {
    has_begun = true;
    co_await wait_in_own_activity(first);
    co_await second.wait();
    co_return Reply(204);
  });
  router.get("/first", [&] {
    first.set();
    return Reply(204);
  });
  router.get("/second", [&] {
    second.set();
    return Reply(204);
  });
  serve([&](std::uint16_t port) {
    Client waiting(port);
    waiting.send_get("/spans");
    while (!has_begun) std::this_thread::yield();
    const auto found = [&] {
      return walked(std::make_shared<LiveCoroutines>(LiveCoroutineFilter{.route = "/spans"}));
    };
    ASSERT_EQ(found()->heap().size(), 1u);
    const std::string id = found()->heap()[0].id;
    EXPECT_NE(id, "own");
    EXPECT_FALSE(id.empty());
    Client(port).ask("/first");  // the span and its activity are gone
    ASSERT_EQ(found()->heap().size(), 1u);
    EXPECT_EQ(found()->heap()[0].id, id);
    Client(port).ask("/second");
    waiting.receive_reply();
    EXPECT_EQ(found()->matched(), 0u);
  });
}

TEST_F(LiveTest, a_coroutine_whose_client_leaves_is_listed_no_more) {
  AsyncEvent never_set;
  router.get("/left", [&]() -> Task<Reply> {
    co_await wait_below(never_set, 1);
    co_return Reply(204);
  });
  serve([&](std::uint16_t port) {
    const auto matched = [&] {
      return walked(std::make_shared<LiveCoroutines>(LiveCoroutineFilter{.route = "/left"}))
          ->matched();
    };
    {
      Client leaving(port);
      leaving.send_get("/left");
      while (matched() != 1) std::this_thread::yield();
    }
    while (matched() != 0) std::this_thread::yield();
  });
}

TEST_F(LiveTest, a_timeout_is_no_wait_of_its_own) {
  AsyncEvent never_set;
  router.get("/timed", [&]() -> Task<Reply> {
    (void)co_await net::with_timeout(wait_below(never_set, 0), seconds(3600));
    co_return Reply(204);
  });
  serve([&](std::uint16_t port) {
    Client waiting(port);
    waiting.send_get("/timed");
    std::shared_ptr<LiveCoroutines> walk;
    do {
      walk = walked(std::make_shared<LiveCoroutines>(LiveCoroutineFilter{.route = "/timed"}));
    } while (walk->matched() == 0);
    ASSERT_EQ(walk->heap().size(), 1u);
    EXPECT_EQ(walk->heap()[0].frames.back().awaits, "katana::AsyncEvent::Waiter");
    const auto sleeps = std::ranges::count_if(walk->heap()[0].frames, [](const LiveFrame& frame) {
      return frame.awaits.ends_with("Sleep");
    });
    EXPECT_EQ(sleeps, 0);
  });
}

TEST_F(LiveTest, a_coroutine_has_a_bounded_number_of_frames) {
  AsyncEvent never_set;
  net::TaskScope scope;
  router.get("/deep", [&] {
    EXPECT_TRUE(scope.spawn(wait_below(never_set, 3 * LiveCoroutines::frames_max)));
    return Reply(204);
  });
  router.get("/end", [&] {
    scope.cancel();
    return Reply(204);
  });
  serve([&](std::uint16_t port) {
    Client client(port);
    client.ask("/deep");
    const auto walk = walked(std::make_shared<LiveCoroutines>(LiveCoroutineFilter{}));
    ASSERT_EQ(walk->heap().size(), 1u);
    EXPECT_EQ(walk->heap()[0].frames.size(), LiveCoroutines::frames_max);
    client.ask("/end");
  });
}

TEST_F(LiveTest, a_reactor_that_is_held_up_leaves_the_walk_unfinished_and_its_route_known) {
  std::atomic<bool> held = false, release = false;
  router.get("/spin", [&] {
    held = true;
    while (!release) std::this_thread::yield();
    return Reply::text("done");
  });
  serve([&](std::uint16_t port) {
    Client client(port);
    client.send_get("/spin");
    while (!held) std::this_thread::yield();
    const auto status = observability->ask_reactors()[0];
    const auto walk = std::make_shared<LiveRequests>(LiveRequestFilter{});
    EXPECT_TRUE(status->begin(walk));
    EXPECT_EQ(status->busy_with(), "GET /spin");
    EXPECT_FALSE(walk->is_over());
    walk->abandon();
    release = true;
    client.receive_reply();
    // A later walk ends after this one.
    (void)requests({});
    EXPECT_FALSE(walk->is_over()) << "nothing may read what an abandoned walk has found";
    EXPECT_EQ(walk.use_count(), 1);
  });
  EXPECT_EQ(observability->ask_reactors()[0]->busy_with(), "");
  EXPECT_FALSE(
      observability->ask_reactors()[0]->begin(std::make_shared<LiveRequests>(LiveRequestFilter{})));
}

}  // namespace
}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
